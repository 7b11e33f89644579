"""The agreement of kueuepy with a recorded cluster, as figures and tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from kueuepy.objects import Timestamp  # noqa: TC001 - msgspec reads it
from kueuepy.tables import Columns
from kueuepy.tables.columns import times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind: TypeAlias = Literal["admission", "preemption", "replacement", "domains"]
"""`admission`: a workload gets quota. `preemption`: a workload is preempted. `replacement`: pods of an admitted
workload are placed on other nodes. `domains`: the topology domains of an admission."""


class JudgedDecision(msgspec.Struct, frozen=True):
    """A recorded decision, and whether kueuepy decides the same.

    Attributes:
        time: When its write was received, a datetime.
        kind: What was decided.
        workload: The workload, `namespace/name`.
        outcome: `same`; `moment` if it is the same at another moment within the latency; `different`.
    """

    time: Timestamp
    kind: Kind
    workload: str
    outcome: str


class Difference(msgspec.Struct, frozen=True):
    """A decision in which kueuepy and the cluster differ.

    Attributes:
        time: When it was made, a datetime.
        kind: What was decided.
        workload: The workload, `namespace/name`.
        here: What kueuepy decides instead.
        cause: The likely cause.
    """

    time: Timestamp
    kind: Kind
    workload: str
    here: str
    cause: str

    def __str__(self) -> str:
        """The difference in one line."""
        at = self.time.strftime("%Y-%m-%d %H:%M:%S")
        return f"{at} {self.kind} of {self.workload}: {self.here} ({self.cause})"


class Agreement:
    """How far kueuepy decides as the recorded cluster did.

    Attributes:
        differences: The decisions that differ, in the order of time.
        notes: Recorded changes that could not be followed.
    """

    def __init__(
        self,
        decisions: Sequence[JudgedDecision],
        differences: Sequence[Difference],
        domains: Mapping[bool, int],
        notes: tuple[str, ...],
    ) -> None:
        """Keep what was judged."""
        self._decisions = tuple(decisions)
        self._domains = domains
        self.differences = tuple(differences)
        self.notes = notes

    @property
    def decisions(self) -> Columns:
        """One row for each recorded decision: the columns `time`, `kind`, `workload` and `outcome`."""
        names = JudgedDecision.__struct_fields__
        columns: dict[str, Any] = {name: [getattr(one, name) for one in self._decisions] for name in names}
        return Columns(columns | {"time": times(columns["time"])})

    @property
    def share(self) -> float:
        """The fraction of recorded decisions that kueuepy makes as well, from 0 to 1; 1 if there are none."""
        return self.share_of()

    def share_of(self, kind: Kind | None = None) -> float:
        """Return the fraction of recorded decisions of a kind that kueuepy makes as well, from 0 to 1."""
        counts = self.counts(kind)
        total = sum(counts.values())
        return (total - counts["different"]) / total if total else 1.0

    def counts(self, kind: Kind | None = None) -> Counter[str]:
        """Return the number of recorded decisions by outcome; of one kind, if it is given."""
        if kind == "domains":
            return Counter({"same": self._domains.get(True, 0), "different": self._domains.get(False, 0)})
        return Counter(one.outcome for one in self._decisions if kind in (None, one.kind))

    def __str__(self) -> str:
        """The figures by kind, then the first differences."""
        kinds: tuple[Kind, ...] = ("admission", "preemption", "replacement", "domains")
        lines = ["kind          recorded  same  at another moment  different  agreement"]
        for kind in kinds:
            counts = self.counts(kind)
            total = sum(counts.values())
            if total:
                figures = f"{total:>8}  {counts['same']:>4}  {counts['moment']:>17}  {counts['different']:>9}"
                lines.append(f"{kind:<12}  {figures}  {100 * self.share_of(kind):>8.1f}%")
        lines += [str(one) for one in self.differences[:20]]
        if len(self.differences) > 20:  # noqa: PLR2004 - as many as fit a screen
            lines.append(f"and {len(self.differences) - 20} more in `differences`")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """The share in one line."""
        return f"<Agreement: {100 * self.share:.1f}% of {len(self._decisions)} decisions>"
