"""Checks of the interpreter, and the registration of functions for rooms that precede the functions' own rooms."""

from __future__ import annotations

import sys
from importlib import import_module

from kueuepy import _stubs, sources
from kueuepy.look import html_renderers

TYPE_CHECKING = False  # importing `typing` takes longer than the rest of `import kueuepy`
if TYPE_CHECKING:
    import os


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


def register() -> None:
    """Register the functions that show objects in notebooks, open clusters and recordings, and answer unknown names."""
    html_renderers[:] = [_html]
    _stubs.missing[:] = [_missing]
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
    """Return the error message for an unknown name in a module, with a suggestion: another module or a similar name."""
    message = f"module {name!r} has no attribute {public!r}"
    from difflib import get_close_matches  # noqa: PLC0415 - only needed for this message

    from kueuepy.errors import __all__ as errors  # noqa: PLC0415 - only needed for this message
    from kueuepy.errors.former import FORMER  # noqa: PLC0415 - only needed for this message

    if new_way := FORMER["name"].get(public):
        return f"{message}: {new_way}"
    others = {place: list(_stubs.names_of(place)) for place in (*_stubs.FACADES, *_stubs.ROOMS) if place != name}
    others["kueuepy.errors"] = errors
    places = [place for place, names in others.items() if public in names]
    close = get_close_matches(public, known, 1)
    guess = f"{places[0]}.{public}" if places else f"{name}.{close[0]}" if close else ""
    return f"{message}; did you mean {guess}?" if guess else message
