"""Old names of modules: each still imports the module that it became, with a `DeprecationWarning`, for one release."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from types import ModuleType

_NEW_NAMES = {
    "checks": "session.checks",
    "decision": "decisions",
    "frames": "engine.tables",
    "html": "display.html",
    "importer_pods": "importer.pods",
    "journal_scheduler": "journal.scheduler",
    "kpis": "simulation.figures",
    "loops": "engine.cycle",
    "manifest.problems": "errors.problems",
    "perf": "simulation.perf",
    "picture": "simulation.picture",
    "policy": "simulation.comparison",
    "policy_history": "simulation.history",
    "policy_run": "simulation.outcomes",
    "statement": "visibility.fidelity",
    "visibility_dump": "visibility.dump",
    "visibility_events": "visibility.events",
    "visibility_status": "visibility.status",
}
NEW_NAMES = {f"kueuepy.{old}": f"kueuepy.{new}" for old, new in _NEW_NAMES.items()}
"""The modules that the documentation named, and where what they held is now."""


class OldNames:
    """A finder and loader of the modules that have moved, for `sys.meta_path`, behind all others."""

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a module that has moved; None for every other."""
        return ModuleSpec(name, cast("Loader", self)) if name in NEW_NAMES else None

    def create_module(self, _spec: ModuleSpec) -> None:
        """None: the usual module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Puts the new module in the place of the old one."""
        new = NEW_NAMES[module.__name__]
        warnings.warn(f"{module.__name__} is {new} now", DeprecationWarning, stacklevel=2)
        sys.modules[module.__name__] = import_module(new)
