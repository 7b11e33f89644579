"""The outcome of an import for each object, as a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from kueuepy.tables import Columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Outcome: TypeAlias = Literal["admitted", "reserved", "pending", "finished", "imported", "skipped", "not placed"]
"""The outcome for an object.

`imported` is a running pod that now holds quota. `skipped` is an object that does not need to be imported. `not placed`
is a problem: the object holds no quota, or cannot be queued.
"""


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
