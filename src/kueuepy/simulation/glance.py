"""The first rows of a table of jobs, in units for display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors.words import counted
from kueuepy.look.notebook import MOST_ROWS, Named, Sheet
from kueuepy.look.numbers import duration
from kueuepy.objects import SECOND
from kueuepy.objects.times import format_time
from kueuepy.simulation.columns import EPOCHAL, NEVER, SPANS, is_resource

if TYPE_CHECKING:
    from kueuepy.tables import Columns

_GIB = 2**30
_TITLES = {"name": "Job", "queue": "LocalQueue", "submit": "Submitted", "min_pods": "Fewest pods"}
"""The titles of columns whose name is not a title in lower case."""
_UNITS = {"cpu": "cores", "memory": "GiB", "ephemeral-storage": "GiB"}


def sheet_of(jobs: Columns) -> Sheet:
    """Return the first 20 rows of the internal columns, with times such as `1 h 30 min`, and the number of rows."""
    head = [_title(name) for name in jobs.names]
    rows = [[_text(name, row[name]) for name in jobs.names] for row in jobs.rows(MOST_ROWS)]
    return Sheet(tuple(head), rows, counted(len(jobs), "job"), len(jobs))


def _title(name: str) -> str | Named:
    """Return the title of a column in words, with its name for Python if the title does not say it."""
    if is_resource(name):
        return Named(f"{name} per pod", f"{name} ({_UNITS[name]})") if name in _UNITS else f"{name} per pod"
    title = _TITLES.get(name) or name.replace("_", " ").capitalize()
    return title if title.lower().replace(" ", "_") == name else Named(title, name)


def _text(name: str, value: Any) -> Any:
    if value is None:
        return ""
    if name in ("submit", "recorded_start"):
        at = int(value.astype("M8[ns]").astype(np.int64)) if isinstance(value, np.datetime64) else int(value)
        return "" if at < 0 else format_time(at) if at >= EPOCHAL else duration(at / SECOND)
    if name in SPANS:
        never = "never ends" if name == "runtime" else ""
        return never if value == NEVER else duration(value / SECOND)
    if name == "min_pods":
        return "" if value == NEVER else value
    if name == "cpu":
        return f"{value / 1000:g}"
    return f"{value / _GIB:.4g}" if name in _UNITS else value
