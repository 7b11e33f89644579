"""The facade modules, and the registration of functions of rooms that import later rooms.

Each public name of a facade is imported on first use, from the module that the facade's stub names.
The `__all__` of a facade's stub (`sim.pyi`) is the only list of its names. Type checkers read the stub itself.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

from kueuepy import sources
from kueuepy.look import html_renderers

TYPE_CHECKING = False  # importing `typing` takes longer than the rest of `import kueuepy`
if TYPE_CHECKING:
    import os
    from collections.abc import Callable

FACADES = ("kueuepy", "kueuepy.answers", "kueuepy.lab", "kueuepy.platform", "kueuepy.sim")
_EAGER = ("kueuepy.objects", "kueuepy.errors")
# A stub is read with a regular expression, because importing `ast` takes longer than the rest of `import kueuepy`.
_IMPORT = re.compile(r"^from (\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
_ALL = re.compile(r"^__all__ = \[([^\]]*)\]", re.MULTILINE)
_NAME = re.compile(r"\w+")


def check_interpreter() -> None:
    """Raise ImportError in an interpreter that the core does not support: a sub-interpreter, or one without the GIL."""
    # Importing the core in a sub-interpreter would wait indefinitely before Python 3.12, and importing it without the
    # GIL would enable the GIL with only a warning.
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise ImportError("kueuepy needs the GIL; set PYTHON_GIL=1, or use a Python that is not free-threaded")
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    except ModuleNotFoundError:  # a Python built without sub-interpreters
        return
    if interpreters.get_current() != interpreters.get_main():
        raise ImportError("kueuepy does not support sub-interpreters; import it in the main interpreter")


def names_of(facade: str) -> dict[str, str]:
    """Return the public names of a facade, each with the module that defines it."""
    folder = Path(__file__).parent.joinpath(*facade.split(".")[1:])
    stub = folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")
    text = stub.read_text(encoding="utf-8")
    home = {name: module for module, names in _IMPORT.findall(text) for name in _NAME.findall(names)}
    return {public: home[public] for listed in _ALL.findall(text) for public in _NAME.findall(listed)}


def facade(name: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a facade module."""
    home = names_of(name)
    public_names = sorted(home)

    def load(public: str) -> object:
        """Import a public name and cache it."""
        if public not in home:
            raise AttributeError(_missing(name, public, home), name=public, obj=sys.modules[name])
        module = home[public]
        # `from kueuepy import sim` names a module, which is not an attribute until it is imported.
        is_module = module in FACADES
        found: object = import_module(f"{module}.{public}") if is_module else getattr(import_module(module), public)
        setattr(sys.modules[name], public, found)
        return found

    return load, lambda: public_names, public_names


def register() -> None:
    """Register the functions that show objects in notebooks, and open running clusters and recordings."""
    html_renderers[:] = [_html]
    sources.read_by(sources.Readers(_cluster, _state, _recording))


def _html(value: object) -> str:
    from kueuepy.pages.html import html  # noqa: PLC0415 - only a notebook asks

    return html(value)


def _cluster(context: str) -> sources.LiveSource:
    from kueuepy.platform.apiserver import ClusterReader, Connection  # noqa: PLC0415 - only a running cluster needs it

    return ClusterReader(Connection.open(context))


def _state(name: str) -> sources.LiveSource:
    from kueuepy.platform.history import RecordedState  # noqa: PLC0415 - imports SQLite

    return RecordedState.open(name)


def _recording(path: str | os.PathLike[str]) -> sources.RecordedJobs:
    from kueuepy.platform.history import Recording  # noqa: PLC0415 - imports SQLite

    return Recording(path)


def _missing(name: str, public: str, known: dict[str, str]) -> str:
    """Return the error message for an unknown name in a facade, with a suggestion: another facade or a similar name."""
    message = f"module {name!r} has no attribute {public!r}"
    if public.startswith("_"):
        return message
    from difflib import get_close_matches  # noqa: PLC0415 - only needed for this message

    from kueuepy.errors.former import FORMER  # noqa: PLC0415 - only needed for this message

    if new_way := FORMER["name"].get(public):
        return f"{message}: {new_way}"
    others = {place: list(names_of(place)) for place in FACADES if place != name}
    others |= {place: import_module(place).__all__ for place in _EAGER}
    places = [place for place, names in others.items() if public in names]
    close = get_close_matches(public, known, 1)
    guess = f"{places[0]}.{public}" if places else f"{name}.{close[0]}" if close else ""
    return f"{message}; did you mean {guess}?" if guess else message
