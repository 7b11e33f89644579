"""Modules whose public names are loaded on first use, each from the module that the stub of the module names.

The stub (`sim.pyi`, `objects/__init__.pyi`) is the only list of the names: type checkers read it, too. A name that it
imports, but that its `__all__` does not list, can be imported and is not public.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

TYPE_CHECKING = False  # importing `typing` takes longer than the rest of `import kueuepy`
if TYPE_CHECKING:
    from collections.abc import Callable

FACADES = ("kueuepy", "kueuepy.lab", "kueuepy.platform", "kueuepy.sim")
ROOMS = ("kueuepy.jobs", "kueuepy.manifest", "kueuepy.objects")
"""The modules of single rooms, whose names users import too."""

missing: list[Callable[[str, str, dict[str, str]], str]] = []
"""The function that describes an unknown name; `_home` registers it, because it uses other rooms."""

# A stub is read with a regular expression, because importing `ast` takes longer than the rest of `import kueuepy`.
_IMPORT = re.compile(r"^from (\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
_ALL = re.compile(r"^__all__ = \[([^\]]*)\]", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: as \w+)?")


def names_of(facade: str) -> dict[str, str]:
    """Return the public names of a module with a stub, each with the module that defines it."""
    home, listed = _stub(facade)
    return {public: home[public] for public in listed}


def _stub(facade: str) -> tuple[dict[str, str], list[str]]:
    """Return the names that a stub imports, each with its module, and the names that it lists."""
    folder = Path(__file__).parent.joinpath(*facade.split(".")[1:])
    stub = folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")
    text = stub.read_text(encoding="utf-8")
    home = {name: module for module, names in _IMPORT.findall(text) for name in _NAME.findall(names)}
    return home, [public for listed in _ALL.findall(text) for public in _NAME.findall(listed)]


def facade(name: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a module."""
    home, listed = _stub(name)
    public_names = sorted(listed)

    def load(public: str) -> object:
        """Import a name and cache it."""
        if public not in home:
            text = f"module {name!r} has no attribute {public!r}"
            # `from kueuepy.jobs import keys` asks for the attribute before it imports the module of this name.
            if missing and not (public.startswith("_") or (name not in FACADES and find_spec(f"{name}.{public}"))):
                text = missing[0](name, public, home)
            raise AttributeError(text, name=public, obj=sys.modules[name])
        module = home[public]
        # `from kueuepy import sim` names a module, which is not an attribute until it is imported.
        is_module = module in FACADES
        found: object = import_module(f"{module}.{public}") if is_module else getattr(import_module(module), public)
        setattr(sys.modules[name], public, found)
        return found

    return load, lambda: public_names, public_names
