"""The comparison of kueuepy's own run with the recorded run: decisions, order, times and preemptions."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from kueuepy.errors.words import counted
from kueuepy.objects import SECOND, Timestamp
from kueuepy.platform.live.agreement import Difference, causes_of
from kueuepy.platform.live.following import RETRY_PERIOD
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import categorical, times

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from kueuepy.platform.live.agreement import Kind
    from kueuepy.platform.live.following import Follower
    from kueuepy.platform.live.lives import Life, Run
    from kueuepy.platform.live.recorded import RecordedDecision
    from kueuepy.platform.live.recording import Change
    from kueuepy.platform.visibility import SchedulerEvent

UNEXPLAINED = "another rule, or an input that the recording lacks"
_PERCENTS = (5, 25, 50, 75, 95)


class Made(NamedTuple):
    """An admission in kueuepy's own run.

    Attributes:
        time: The time, in nanoseconds since the Unix epoch.
        cluster_queue: The ClusterQueue.
        pod_sets: The assignments of the pod sets.
    """

    time: int
    cluster_queue: str
    pod_sets: Sequence[Any]


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


class Comparison:
    """The decisions of both sides, compared during kueuepy's own run."""

    def __init__(
        self,
        follower: Follower,
        lives: Sequence[Life],
        decisions: Sequence[RecordedDecision],
        latency: int,
        tolerance: int,
        *,
        explained: int,
    ) -> None:
        """Store the recorded decisions.

        Args:
            follower: kueuepy's own run.
            lives: The recorded histories of the workloads.
            decisions: The recorded decisions.
            latency: The latency of the cluster, in nanoseconds.
            tolerance: Times that differ by less than this tolerance count as equal, in nanoseconds.
            explained: The number of differences to explain.
        """
        self._follower, self._lives, self._decisions = follower, lives, decisions
        self._latency, self._tolerance = latency, tolerance
        self._explain = self._left = explained
        self._made: dict[tuple[int, int], tuple[int, Made]] = {}
        self._explained: dict[tuple[int, int], str] = {}
        self._preempted: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._since: dict[tuple[str, int], tuple[int, str, str]] = {}
        self._admissions: Counter[str] = Counter()
        self._differences: list[tuple[int, str, Difference]] = []
        self._by_retry: set[int] = set()
        self._cohorts: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._configured: list[int] = []

    def configured(self, change: Change) -> None:
        """Record a change of the configuration."""
        insort(self._configured, change.time)
        spec = (change.new or {}).get("spec") or {}
        if change.kind == "ClusterQueue":
            self._cohorts[change.key] = str(spec.get("cohortName") or spec.get("cohort") or "")
        elif change.kind == "Cohort":
            self._parents[change.key] = str(spec.get("parentName") or spec.get("parent") or "")

    def _tree(self, queue: str) -> str:
        """Return the root cohort of a ClusterQueue, or the ClusterQueue itself if it has no cohort."""
        found = self._cohorts.get(queue) or ""
        seen: set[str] = set()
        while found and self._parents.get(found) and found not in seen:
            seen.add(found)
            found = self._parents[found]
        return f"cohort {found}" if found else queue

    def made(self, life: Life, number: int, made: Made) -> None:
        """Compare an admission of kueuepy's own run with the recorded admission.

        Args:
            life: The recorded history of the workload.
            number: The index of the admission among the admissions in `life`.
            made: The admission.
        """
        place = (id(life), number)
        self._made[place] = (len(self._made), made)
        self._admissions[life.key] += 1
        run = life.runs[number] if number < len(life.runs) else None
        if run is None:
            explanation = self._explanation(life.key)
            self._differ((made.time, made.cluster_queue), "admission", life.key, "admitted only here", explanation)
            return
        if run.decision is None:
            return
        what = _difference(run, made, self._latency, self._tolerance)
        if what:
            time = min(made.time, run.reserved - self._latency)
            if run.decision.assigns(made.pod_sets) and abs(made.time - run.reserved) <= self._tolerance + RETRY_PERIOD:
                self._by_retry.add(len(self._differences))
            explanation = self._explained.pop(place, "") or self._explanation(life.key)
            self._differ((time, made.cluster_queue), "admission", life.key, what, explanation)

    def expect(self, life: Life, number: int) -> None:
        """Explain a workload that the cluster has admitted but kueuepy's own run has not."""
        place = (id(life), number)
        if place not in self._made:
            self._explained[place] = self._explanation(life.key)

    def preempted(self, event: SchedulerEvent) -> None:
        """Record a preemption of kueuepy's own run, which evicted a workload."""
        place = (event.preemptor, self._admissions[event.preemptor])
        self._preempted[place].add(event.workload)
        if place not in self._since:
            explanation = self._explanation(event.preemptor)
            self._since[place] = (event.time.value, event.preemptor_cluster_queue, explanation)

    def result(self, gaps: Sequence[tuple[int, int]], notes: tuple[str, ...]) -> ClosedAgreement:
        """Return the agreement at the end of the run.

        Args:
            gaps: The periods in which changes might be missing from the recording, in nanoseconds since the Unix epoch.
            notes: Recorded changes that could not be applied.
        """
        rows = self._rows()
        preemptions = self._preemptions()
        differences = tuple(self._with_causes(gaps, notes))
        return ClosedAgreement(rows, preemptions, differences, self._latency / SECOND, notes)

    def _rows(self) -> Columns:
        table: dict[str, list[Any]] = defaultdict(list)
        for life in self._lives:
            runs = [run for run in life.runs if run.decision is not None]
            skipped = len(life.runs) - len(runs)
            number = skipped
            while number < len(life.runs) or (id(life), number) in self._made:
                self._row(table, life, number, first=number == skipped)
                number += 1
        return Columns(
            {
                "workload": table["workload"],
                "queue": categorical(table["queue"]),
                "recorded": times(table["recorded"]),
                "predicted": times(table["predicted"]),
                **{name: np.array(table[name], np.bool_) for name in ("flavors", "domains", "first")},
                **{name: np.array(table[name], np.int64) for name in ("there", "here")},
            }
        )

    def _row(self, table: dict[str, list[Any]], life: Life, number: int, *, first: bool) -> None:
        run = life.runs[number] if number < len(life.runs) else None
        decision = None if run is None else run.decision
        position, made = self._made.get((id(life), number), (-1, None))
        table["workload"].append(life.key)
        table["queue"].append(made.cluster_queue if made is not None else decision.cluster_queue if decision else "")
        table["recorded"].append(None if run is None else Timestamp.of(run.reserved - self._latency))
        table["predicted"].append(None if made is None else Timestamp.of(made.time))
        flavors = domains = False
        if made is not None and decision is not None:
            flavors, domains = decision.assigns(made.pod_sets), decision.places(made.pod_sets)
        table["flavors"].append(flavors)
        table["domains"].append(domains)
        table["first"].append(first)
        table["there"].append(-1 if decision is None else decision.number)
        table["here"].append(position)
        if made is None and decision is not None:
            explained = self._explained.pop((id(life), number), "")
            where = (decision.time - self._latency, decision.cluster_queue)
            self._differ(where, "admission", life.key, "not admitted here", explained)

    def _preemptions(self) -> dict[str, int]:
        """Compare the workloads that each preemptor evicted between two of its admissions."""
        there: dict[tuple[str, int], set[str]] = defaultdict(set)
        first: dict[tuple[str, int], RecordedDecision] = {}
        admissions: Counter[str] = Counter()
        for one in self._decisions:
            if one.kind == "admission":
                admissions[one.workload] += 1
            elif one.kind == "preemption":
                place = (one.head, admissions[one.head])
                there[place].add(one.workload)
                first.setdefault(place, one)
        counts = dict.fromkeys(("same", "other victims", "only there", "only here"), 0)
        for place in [*there, *(place for place in self._preempted if place not in there)]:
            outcome = _outcome(there.get(place), self._preempted.get(place))
            counts[outcome] += 1
            if outcome != "same":
                self._other_preemption(place, there.get(place), first.get(place))
        return counts

    def _other_preemption(
        self, place: tuple[str, int], there: set[str] | None, recorded: RecordedDecision | None
    ) -> None:
        time, queue, explanation = self._since.get(place, (0, "", ""))
        if recorded is not None:
            time, queue = time or recorded.time - self._latency, queue or recorded.cluster_queue
        here = self._preempted.get(place)
        what = f"preempts {_names(here)} here, {_names(there)} in the cluster"
        self._differ((time, queue), "preemption", place[0], what, explanation)

    def _explanation(self, key: str) -> str:
        """Return an explanation, or an empty string if enough differences have been explained."""
        return self._follower.explanation(key) if self._left > 0 else ""

    def _differ(self, where: tuple[int, str], kind: Kind, key: str, what: str, explanation: str) -> None:
        if explanation:
            self._left -= 1
        time, queue = where
        self._differences.append((time, queue, Difference(Timestamp.of(time), kind, key, what, "", explanation)))

    def _with_causes(self, gaps: Sequence[tuple[int, int]], notes: tuple[str, ...]) -> list[Difference]:
        first: set[str] = set()
        near = self._near()
        explained = 0
        done = []
        for number in sorted(range(len(self._differences)), key=lambda number: self._differences[number][0]):
            time, queue, one = self._differences[number]
            tree = self._tree(queue) if queue else ""
            cause = self._outer_cause(time, one.workload, gaps, notes)
            if not cause and tree in first:
                cause = "follows from an earlier difference"
            elif not cause and number in self._by_retry:
                cause = "the time at which Kueue retries pending workloads, which no object shows"
            elif not cause and _is_near(near[tree], time, self._tolerance):
                cause = "several decisions within the latency of the cluster"
            first.add(tree)
            explained += bool(one.explanation)
            text = one.explanation if explained <= self._explain else ""
            done.append(Difference(one.time, one.kind, one.workload, one.here, cause or UNEXPLAINED, text))
        return done

    def _outer_cause(self, time: int, key: str, gaps: Sequence[tuple[int, int]], notes: tuple[str, ...]) -> str:
        reach = self._latency + self._tolerance
        if any(since - reach <= time <= until + reach for since, until in gaps):
            return "a gap in the recording"
        if any(f"Workload {key}:" in note or f"Workload {key} " in note for note in notes):
            return "a recorded change of the workload could not be applied"
        if _is_near(self._configured, time, self._tolerance):
            return "the configuration changed at that time"
        return ""

    def _near(self) -> dict[str, list[int]]:
        """Return, by cohort tree, the times of recorded decisions that precede another one within the tolerance."""
        times: dict[str, list[int]] = defaultdict(list)
        for one in self._decisions:
            times[self._tree(one.cluster_queue)].append(one.time - self._latency)
        near: dict[str, list[int]] = defaultdict(list)
        for tree, own in times.items():
            own.sort()
            near[tree] = [a for a, b in pairwise(own) if b - a <= self._tolerance]
        return near


def _difference(run: Run, made: Made, latency: int, tolerance: int) -> str:
    assert run.decision is not None, "the caller checks it"
    if not run.decision.assigns(made.pod_sets):
        here = _pods((one.count, one.flavors) for one in made.pod_sets)
        return f"admitted with {here} here, {_pods(run.decision.assigned.values())} in the cluster"
    late = made.time - (run.reserved - latency)
    if abs(late) > tolerance:
        return f"admitted {abs(late) / SECOND:.1f} s {'later' if late > 0 else 'earlier'} here"
    return ""


def _pods(assigned: Iterable[tuple[int | None, Mapping[str, str]]]) -> str:
    return " and ".join(
        f"{counted(count or 0, 'pod')} on {', '.join(sorted(set(flavors.values())))}" for count, flavors in assigned
    )


def _is_near(ordered: Sequence[int], time: int, reach: int) -> bool:
    place = bisect_left(ordered, time - reach)
    return place < len(ordered) and ordered[place] <= time + reach


def _outcome(there: set[str] | None, here: set[str] | None) -> str:
    if there is None:
        return "only here"
    if here is None:
        return "only there"
    return "same" if there == here else "other victims"


def _names(victims: set[str] | None) -> str:
    return ", ".join(sorted(victims)) if victims else "nothing"


def kendall_tau(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return Kendall's rank correlation of two sequences without ties, from -1 to 1, in O(n log n) comparisons.

    >>> kendall_tau(np.array([1, 2, 3]), np.array([1, 3, 2])) == 1 - 2 / 3
    True
    """
    n = len(first)
    seen: list[int] = []
    inversions = 0
    for position, value in enumerate(second[np.argsort(first)].tolist()):
        inversions += position - bisect_left(seen, value)
        insort(seen, value)
    return 1 - 4 * inversions / (n * (n - 1))
