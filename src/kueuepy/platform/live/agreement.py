"""The agreement of kueuepy with a recorded cluster, as numbers and tables."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.errors.words import counted
from kueuepy.objects import SECOND, Timestamp
from kueuepy.tables.columns import Categorical, Columns, times

_PERCENTS = (5, 25, 50, 75, 95)

Kind: TypeAlias = Literal["admission", "preemption", "replacement", "domains"]
"""The kind of a decision.

`admission`: quota is reserved for a workload. `preemption`: a workload is preempted. `replacement`: pods of an admitted
workload move to other nodes. `domains`: the topology domains of an admission.
"""


RETRY = "the time at which Kueue retries pending workloads, which no object shows"
CAUSES: dict[str, str] = {
    "a gap in the recording": "Changes might be missing there, so the state of the cluster is not known.",
    "the recording does not contain the ClusterQueue": "Record all objects of Kueue, so that the decision can be made.",
    "a recorded change of the workload could not be applied": "The notes name the change and the reason.",
    "the configuration changed at that time": "The decision can precede the change, or follow it.",
    "several decisions within the latency of the cluster": "The order of the decisions is not known.",
    RETRY: ("The workload is admitted up to a second earlier or later."),
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


def fault_of_recording(time: int, key: str, gaps: Iterable[tuple[int, int]], notes: Iterable[str], reach: int) -> str:
    """Return the cause of a difference if the recording itself is the cause; otherwise, return an empty string.

    Args:
        time: The time of the decision, in nanoseconds since the Unix epoch.
        key: The key of the workload.
        gaps: The periods in which changes might be missing from the recording.
        notes: The changes that could not be applied.
        reach: The time before and after a gap in which a decision can depend on the missing changes, in nanoseconds.
    """
    if any(since - reach <= time <= until + reach for since, until in gaps):
        return "a gap in the recording"
    # The key is followed by the revision or the reason.
    if any(note.startswith((f"Workload {key} ", f"Workload {key}:")) for note in notes):
        return "a recorded change of the workload could not be applied"
    return ""


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
    # The most frequent cause first: the following differences are often its consequence.
    for cause, count in Counter(one.cause for one in differences).most_common():
        first = max((one for one in differences if one.cause == cause), key=lambda one: bool(one.explanation))
        lines += ["", f"{counted(count, 'difference')}: {cause}. {CAUSES[cause]}", f"  example: {first}"]
        lines += [f"  {line}" for line in first.explanation.splitlines()]
    return lines


class Agreement(msgspec.Struct, frozen=True, eq=False):
    """The agreement between kueuepy and a recorded cluster.

    Attributes:
        judged: The recorded decisions.
        differences: The decisions that differ, in chronological order.
        domains: Number of admissions with the same topology domains (True) and with different ones (False).
        notes: Recorded changes that could not be applied.
    """

    judged: tuple[JudgedDecision, ...]
    differences: tuple[Difference, ...]
    domains: Mapping[bool, int]
    notes: tuple[str, ...]

    @property
    def decisions(self) -> Columns:
        """One row for each recorded decision, with columns `time`, `kind`, `workload` and `outcome`."""
        names = JudgedDecision.__struct_fields__
        columns: dict[str, Any] = {name: [getattr(one, name) for one in self.judged] for name in names}
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
            return Counter({"same": self.domains.get(True, 0), "different": self.domains.get(False, 0)})
        return Counter(one.outcome for one in self.judged if kind in (None, one.kind))

    def to_dict(self) -> dict[str, Any]:
        """Return the decisions as data for JSON."""
        return {"decisions": self.decisions.rows()}

    def __str__(self) -> str:
        """Return the number of decisions by kind, and the causes of the differences with an example each."""
        kinds: tuple[Kind, ...] = ("admission", "preemption", "replacement", "domains")
        lines = ["kind          recorded  same  at another time  tie  different  agreement"]
        for kind in kinds:
            counts = self.counts(kind)
            total = sum(counts.values())
            if total:
                figures = f"{total:>8}  {counts['same']:>4}  {counts['moment']:>15}  {counts['tie']:>3}"
                rest = f"{counts['different']:>9}  {100 * self.share_of(kind):>8.1f}%"
                lines.append(f"{kind:<12}  {figures}  {rest}")
        return "\n".join([*lines, *causes_of(self.differences)])

    def __repr__(self) -> str:
        """Return the fraction of decisions that agree, and the number of decisions."""
        return f"<Agreement: {100 * self.share:.1f}% of {len(self.judged)} decisions>"


class ClosedAgreement(msgspec.Struct, frozen=True, eq=False):
    """The agreement of kueuepy's own run with a recorded cluster. `verify_closed` returns an object of this class.

    Attributes:
        admissions: One row per admission that the cluster or kueuepy made: `workload`, `queue` (the ClusterQueue),
            `recorded` and `predicted` (times; NaT if that side did not make the admission), `flavors` and `domains`
            (whether both sides assigned the same ones), `first` (whether it is the first admission of the workload),
            and `there` and `here` (the position of the admission in the order of the cluster and of kueuepy).
            `recorded` is the time at which the write was received, minus `latency`.
        latency: The time that the cluster needs to make and write a decision, in seconds.
        preemptions: The number of preemptions by outcome: `same`, `other victims`, `only there`, `only here`.
        differences: All differences in chronological order; the first differences have explanations.
        notes: Recorded changes that could not be applied.
    """

    admissions: Columns
    preemptions: dict[str, int]
    differences: tuple[Difference, ...]
    latency: float
    notes: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The fraction of common admissions (made by both sides) that have the same flavors.

        The fraction is 1 if there are no common admissions.
        """
        return self._share_of("flavors")

    @property
    def share_of_domains(self) -> float:
        """The fraction of common admissions (made by both sides) that have the same topology domains.

        The fraction is 1 if there are no common admissions.
        """
        return self._share_of("domains")

    def _share_of(self, column: str) -> float:
        same = self.admissions[column][self._both]
        return float(same.mean()) if len(same) else 1.0

    @property
    def order(self) -> dict[str, float]:
        """For each ClusterQueue with two or more first admissions, Kendall's rank correlation of their order."""
        rows = np.flatnonzero(self._both & self.admissions["first"])
        queue: Categorical = self.admissions["queue"]
        found = {}
        for code, name in enumerate(queue.names):
            own = rows[queue.codes[rows] == code]
            if len(own) > 1:
                predicted, recorded = (self.admissions[name][own] for name in ("here", "there"))
                found[str(name)] = kendall_tau(recorded, predicted)
        return dict(sorted(found.items()))

    def timing(self, *percents: float) -> dict[float, float]:
        """Return percentiles of the difference between predicted and recorded time of common admissions, in seconds.

        Args:
            percents: The percentiles; 5, 25, 50, 75 and 95 by default.
        """
        late = self.late
        return {percent: float(np.percentile(late, percent)) if len(late) else 0.0 for percent in percents or _PERCENTS}

    @property
    def late(self) -> NDArray[np.float64]:
        """The predicted minus the recorded time of each admission that both sides made, in seconds."""
        rows = self._both
        late = self.admissions["predicted"][rows] - self.admissions["recorded"][rows]
        return np.asarray(late.astype(np.int64) / SECOND, np.float64)

    @property
    def _both(self) -> NDArray[np.bool_]:
        known = ~np.isnat(self.admissions["recorded"]) & ~np.isnat(self.admissions["predicted"])
        return np.asarray(known, np.bool_)

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics and the admissions as data for JSON."""
        return {
            "order": self.order,
            "latency_seconds": self.latency,
            "late_seconds": {f"p{percent:g}": late for percent, late in self.timing().items()},
            "preemptions": self.preemptions,
            "admissions": self.admissions.rows(),
        }

    def __str__(self) -> str:
        """Return the metrics in several lines, and the differences that have an explanation."""
        both = int(self._both.sum())
        there = int((~np.isnat(self.admissions["recorded"])).sum()) - both
        here = len(self.admissions) - both - there
        order = ", ".join(f"{name} {tau:.3f}" for name, tau in self.order.items())
        percents = ", ".join(f"{percent:g}%: {late:+.2f} s" for percent, late in self.timing().items())
        preempted = ", ".join(f"{count} {name}" for name, count in self.preemptions.items() if count)
        lines = [
            f"admissions         {both} in both, {there} only there, {here} only here",
            f"same flavors       {100 * self.share:.1f}%",
            f"same domains       {100 * self.share_of_domains:.1f}%",
            f"order              Kendall's tau by ClusterQueue: {order or 'too few admissions'}",
            f"latency there      {self.latency:.2f} s (median of admissions that waited for nothing)",
            f"predicted-recorded {percents}",
            f"preemptions        {preempted or 'none'}",
        ]
        return "\n".join([*lines, *causes_of(self.differences)])

    def __repr__(self) -> str:
        """Return the fraction of common admissions with the same flavors, and the number of common admissions."""
        return f"<ClosedAgreement: {100 * self.share:.1f}% of {int(self._both.sum())} admissions>"


def kendall_tau(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return Kendall's rank correlation of two sequences without ties, from -1 to 1, in O(n log n) comparisons.

    >>> kendall_tau(np.array([1, 2, 3]), np.array([1, 3, 2])) == 1 - 2 / 3
    True
    """
    n = len(first)
    seen: list[int] = []
    inversions = 0
    # Each pair in the wrong order is an inversion, which a sorted list counts by bisection.
    for position, value in enumerate(second[np.argsort(first)].tolist()):
        inversions += position - bisect_left(seen, value)
        insort(seen, value)
    return 1 - 4 * inversions / (n * (n - 1))
