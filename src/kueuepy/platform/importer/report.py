"""The progress of an import, and its outcome for each object as a table."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from kueuepy.errors import counted
from kueuepy.files import is_directory, is_file
from kueuepy.manifest.text.text import Text
from kueuepy.tables import Columns

Progress: TypeAlias = Callable[[int, int], None]
"""A function of the number of bytes read and the total number of bytes; in the last call, the two numbers are equal."""

Outcome: TypeAlias = Literal[
    "admitted", "quota reserved", "evicted", "pending", "deactivated", "finished", "imported", "skipped", "not placed"
]
"""The outcome for an object.

`imported` is a running pod that now holds quota. A `finished` job without a Workload, and a `skipped` object, are not
imported. `not placed` is a problem: the object holds no quota, or cannot be queued.
"""


RUNS = "; it runs, but has no Workload"
"""The end of the reason of a running job whose Workload is not in the dump."""


class Imported(msgspec.Struct, frozen=True):
    """The outcome for one object.

    Attributes:
        kind: `Workload`, `Pod`, or the kind of a job.
        key: The key of the object, `namespace/name`.
        outcome: The outcome.
        reason: The reason, if the outcome needs one.
    """

    kind: str
    key: str
    outcome: Outcome
    reason: str = ""


class ImportReport(Columns):
    """The outcome of an import, with one row per Workload, job and pod, in the order in which they were read.

    The columns are `kind`, `key`, `outcome` and `reason`.

    >>> report = import_report([Imported("Pod", "a/b", "not placed", "no mapping found")])
    >>> report.problems
    (Imported(kind='Pod', key='a/b', outcome='not placed', reason='no mapping found'),)
    """

    @property
    def problems(self) -> tuple[Imported, ...]:
        """The objects that could not be placed."""
        return tuple(row for row in self if row.outcome == "not placed")

    @property
    def counts(self) -> dict[str, int]:
        """The number of objects with each outcome."""
        return dict(Counter(self["outcome"]))

    @property
    def notes(self) -> tuple[str, ...]:
        """A note about the running jobs whose Workloads are not in the dump; empty if there are none."""
        found = [row for row in self if row.reason.endswith(RUNS)]
        others = f" and {counted(len(found) - 1, 'other job')}" if found[1:] else ""
        what = "running without a Workload, counted as pending; dump workloads as well"
        return tuple(f"{row.kind} {row.key}{others}: {what}" for row in found[:1])

    def __iter__(self) -> Iterator[Imported]:
        """Iterate over the rows of the report."""
        columns = (self[name] for name in Imported.__struct_fields__)
        return (Imported(*row) for row in zip(*columns, strict=True))

    def __str__(self) -> str:
        """Return the number of objects with each outcome, and one line per problem."""
        numbers = ", ".join(f"{count:,} {outcome}" for outcome, count in self.counts.items()) or "nothing"
        return "\n".join([numbers, *(f"{row.kind} {row.key}: {row.reason}" for row in self.problems)])


def import_report(rows: Sequence[Imported]) -> ImportReport:
    """Return the table of the given rows."""
    return ImportReport({name: [getattr(row, name) for row in rows] for name in Imported.__struct_fields__})


class ByteMeter:
    """A counter of the bytes read, which reports every percent."""

    def __init__(self, source: Any, progress: Progress | None) -> None:
        """Create the reporter, which reports nothing without a function, or if the total size is unknown."""
        self._total = 0 if progress is None else _bytes_of(source)
        self._progress: Progress = progress or (lambda *_: None)
        self._done = self._percent = 0
        self._text: Text | None = None

    def count(self, text: Text) -> None:
        """Count the bytes of the text from which an object was read."""
        # A file has many objects, and its bytes count once.
        if text is self._text or not self._total:
            return
        self._text = text
        self._done += text.size
        percent = 100 * self._done // self._total
        if percent > self._percent and self._done < self._total:
            self._percent = percent
            self._progress(self._done, self._total)

    def finish(self) -> None:
        """Report that everything has been read and placed."""
        if self._total:
            self._progress(self._total, self._total)


def _bytes_of(source: Any) -> int:
    """Return the number of bytes to read; 0 if it is unknown."""
    if isinstance(source, list | tuple):
        sizes = list(map(_bytes_of, source))
        return sum(sizes) if all(sizes) else 0
    if isinstance(source, bytes):
        return len(source)
    if not isinstance(source, str | os.PathLike) or (isinstance(source, str) and "\n" in source):
        return 0
    paths = Path(source).rglob("*") if is_directory(source) else [Path(source)]
    return sum(path.stat().st_size for path in paths if is_file(path))
