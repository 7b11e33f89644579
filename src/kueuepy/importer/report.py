"""What became of each object of an import, as a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from kueuepy.tables import Columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Outcome: TypeAlias = Literal["admitted", "reserved", "pending", "finished", "imported", "skipped", "not placed"]
"""`imported` is a running pod that holds quota from now on; `skipped` is what need not be there; `not placed` is a
problem: it holds no quota, or cannot wait anywhere."""


class Imported(msgspec.Struct, frozen=True):
    """What became of one object.

    Attributes:
        kind: `Workload`, `Pod`, or the kind of a job.
        key: Its `namespace/name`.
        outcome: What became of it.
        reason: Why, where that is not plain.
    """

    kind: str
    key: str
    outcome: Outcome
    reason: str = ""


class ImportReport(Columns):
    """The columns `kind`, `key`, `outcome` and `reason`: a row for each Workload, job and pod, in the order of reading.

    >>> report = import_report([Imported("Pod", "a/b", "not placed", "no mapping found")])
    >>> report.problems
    (Imported(kind='Pod', key='a/b', outcome='not placed', reason='no mapping found'),)
    """

    @property
    def problems(self) -> tuple[Imported, ...]:
        """What could not be placed."""
        return tuple(row for row in self if row.outcome == "not placed")

    @property
    def counts(self) -> dict[str, int]:
        """How many objects came to each outcome."""
        return dict(Counter(self["outcome"]))

    def __iter__(self) -> Iterator[Imported]:
        """The rows."""
        columns = (self[name] for name in Imported.__struct_fields__)
        return (Imported(*row) for row in zip(*columns, strict=True))

    def __str__(self) -> str:
        """The numbers, and a line for each problem."""
        numbers = ", ".join(f"{count:,} {outcome}" for outcome, count in self.counts.items()) or "nothing"
        return "\n".join([numbers, *(f"{row.kind} {row.key}: {row.reason}" for row in self.problems)])


def import_report(rows: Sequence[Imported]) -> ImportReport:
    """The table of these rows."""
    return ImportReport({name: [getattr(row, name) for row in rows] for name in Imported.__struct_fields__})
