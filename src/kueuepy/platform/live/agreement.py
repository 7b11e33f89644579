"""The agreement of kueuepy with a recorded cluster, as numbers and tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from kueuepy.errors.words import counted
from kueuepy.objects import Timestamp  # noqa: TC001 - msgspec reads it
from kueuepy.tables import Columns
from kueuepy.tables.columns import times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind: TypeAlias = Literal["admission", "preemption", "replacement", "domains"]
"""The kind of a decision.

`admission`: quota is reserved for a workload. `preemption`: a workload is preempted. `replacement`: pods of an admitted
workload move to other nodes. `domains`: the topology domains of an admission.
"""


CAUSES: dict[str, str] = {
    "a gap in the recording": "Changes might be missing there, so the state of the cluster is not known.",
    "the recording does not contain the ClusterQueue": "Record all objects of Kueue, so that the decision can be made.",
    "a recorded change of the workload could not be applied": "The notes name the change and the reason.",
    "the configuration changed at that time": "The decision can precede the change, or follow it.",
    "several decisions within the latency of the cluster": "The order of the decisions is not known.",
    "the time at which Kueue retries pending workloads, which no object shows": (
        "The workload is admitted up to a second earlier or later."
    ),
    "follows from an earlier difference": "The state differs because of the earlier difference.",
    "kueuepy assigns other flavors or another number of pods": "The job would run on other nodes, or with other pods.",
    "kueuepy preempts other workloads": "Other jobs would be interrupted, and would wait instead.",
    "kueuepy finds no capacity for the workload": "The job would wait until more quota is released.",
    "kueuepy does not consider the workload": "The job would wait until the workloads before it are decided.",
    "kueuepy assigns other topology domains": "The pods would run on other nodes.",
    "only kueuepy makes the decision": "The job would start or be interrupted earlier than in the cluster.",
    "another rule, or an input that the recording lacks": "Please report this difference with its explanation.",
}
"""The possible causes of differences, each with its consequence."""


class JudgedDecision(msgspec.Struct, frozen=True):
    """A recorded decision, and whether kueuepy makes the same decision.

    Attributes:
        time: The time at which the write that records the decision was received, as a datetime.
        kind: The kind of the decision.
        workload: The key of the workload, `namespace/name`.
        outcome: `same`; `moment` if kueuepy makes the same decision at a different time within the latency; `tie` if
            kueuepy makes the same decision when equal shares are ordered differently, because Kueue chooses between
            them at random; or `different`.
    """

    time: Timestamp
    kind: Kind
    workload: str
    outcome: str


class Difference(msgspec.Struct, frozen=True):
    """A decision that differs between kueuepy and the cluster.

    Attributes:
        time: The time of the decision, as a datetime.
        kind: The kind of the decision.
        workload: The key of the workload, `namespace/name`.
        here: kueuepy's decision.
        cause: The likely cause of the difference, one of the keys of `CAUSES`.
        explanation: The explanation of the workload's state at the time of the decision, as `Scheduler.explain` returns
            it; empty if there is none.
    """

    time: Timestamp
    kind: Kind
    workload: str
    here: str
    cause: str
    explanation: str = ""

    def __str__(self) -> str:
        """Return a one-line description."""
        at = self.time.strftime("%Y-%m-%d %H:%M:%S")
        return f"{at} {self.kind} of {self.workload}: {self.here}"


def causes_of(differences: Sequence[Difference]) -> list[str]:
    """Return lines that describe each cause of differences: its frequency, its consequence and its first example."""
    lines: list[str] = []
    for cause, count in Counter(one.cause for one in differences).most_common():
        first = max((one for one in differences if one.cause == cause), key=lambda one: bool(one.explanation))
        lines += ["", f"{counted(count, 'difference')}: {cause}. {CAUSES[cause]}", f"  example: {first}"]
        lines += [f"  {line}" for line in first.explanation.splitlines()]
    return lines


class Agreement:
    """The agreement between kueuepy and a recorded cluster.

    Attributes:
        differences: The decisions that differ, in chronological order.
        notes: Recorded changes that could not be applied.
    """

    def __init__(
        self,
        decisions: Sequence[JudgedDecision],
        differences: Sequence[Difference],
        domains: Mapping[bool, int],
        notes: tuple[str, ...],
    ) -> None:
        """Store the compared decisions.

        Args:
            decisions: The recorded decisions.
            differences: The decisions that differ between kueuepy and the cluster.
            domains: Number of admissions with the same topology domains (True) and with different ones (False).
            notes: Recorded changes that could not be applied.
        """
        self._decisions = tuple(decisions)
        self._domains = domains
        self.differences = tuple(differences)
        self.notes = notes

    @property
    def decisions(self) -> Columns:
        """One row for each recorded decision, with columns `time`, `kind`, `workload` and `outcome`."""
        names = JudgedDecision.__struct_fields__
        columns: dict[str, Any] = {name: [getattr(one, name) for one in self._decisions] for name in names}
        return Columns(columns | {"time": times(columns["time"])})

    @property
    def share(self) -> float:
        """The fraction of recorded decisions that kueuepy also makes, from 0 to 1; 1 if no decision is recorded."""
        return self.share_of()

    def share_of(self, kind: Kind | None = None) -> float:
        """Return the fraction of recorded decisions of a kind that kueuepy also makes, from 0 to 1.

        Args:
            kind: The kind of the decisions; all kinds by default.
        """
        counts = self.counts(kind)
        total = sum(counts.values())
        return (total - counts["different"]) / total if total else 1.0

    def counts(self, kind: Kind | None = None) -> Counter[str]:
        """Return the number of recorded decisions by outcome.

        Args:
            kind: The kind of the decisions; all kinds by default.
        """
        if kind == "domains":
            return Counter({"same": self._domains.get(True, 0), "different": self._domains.get(False, 0)})
        return Counter(one.outcome for one in self._decisions if kind in (None, one.kind))

    def __str__(self) -> str:
        """Return the number of decisions by kind, and the causes of the differences with an example each."""
        kinds: tuple[Kind, ...] = ("admission", "preemption", "replacement", "domains")
        lines = ["kind          recorded  same  at another moment  tie  different  agreement"]
        for kind in kinds:
            counts = self.counts(kind)
            total = sum(counts.values())
            if total:
                figures = f"{total:>8}  {counts['same']:>4}  {counts['moment']:>17}  {counts['tie']:>3}"
                rest = f"{counts['different']:>9}  {100 * self.share_of(kind):>8.1f}%"
                lines.append(f"{kind:<12}  {figures}  {rest}")
        return "\n".join([*lines, *causes_of(self.differences)])

    def __repr__(self) -> str:
        """Return the fraction of decisions that agree, and the number of decisions."""
        return f"<Agreement: {100 * self.share:.1f}% of {len(self._decisions)} decisions>"
