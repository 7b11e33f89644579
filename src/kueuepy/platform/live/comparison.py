"""The comparison of kueuepy's own run with the recorded run: decisions, order, times and preemptions."""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kueuepy.engine.nodes import nodes_of, roots
from kueuepy.errors.words import counted
from kueuepy.objects import SECOND, Timestamp
from kueuepy.platform.live.agreement import RETRY, ClosedAgreement, Difference, Kind, fault_of_recording
from kueuepy.platform.live.following import RETRY_PERIOD, Follower
from kueuepy.platform.live.recording import Life, RecordedDecision, Run
from kueuepy.platform.visibility import SchedulerEvent
from kueuepy.session.session import session_of
from kueuepy.tables.columns import Columns, categorical, times

UNEXPLAINED = "another rule, or an input that the recording lacks"


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


class _Preemption(NamedTuple):
    """The workloads that a preemptor evicted between two of its admissions, beginning at a time."""

    time: int
    queue: str
    victims: set[str]
    explanation: str = ""


class _Found(NamedTuple):
    """A difference before its cause is known; the time is in nanoseconds since the Unix epoch."""

    time: int
    queue: str
    kind: Kind
    key: str
    here: str
    explanation: str
    by_retry: bool


# Stands for the side that preempted nothing.
_NO_PREEMPTION = _Preemption(0, "", set())
_COLUMNS = ("workload", "queue", "recorded", "predicted", "flavors", "domains", "first", "there", "here")


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
        self._order = {one: position for position, one in enumerate(decisions)}
        self._latency, self._tolerance = latency, tolerance
        self._explain = self._left = explained
        self._made: dict[tuple[int, int], tuple[int, Made]] = {}
        self._explained: dict[tuple[int, int], str] = {}
        self._preempted: dict[tuple[str, int], _Preemption] = {}
        self._admissions: Counter[str] = Counter()
        self._differences: list[_Found] = []
        self._configured: list[int] = []

    def configured(self, time: int) -> None:
        """Record the time of a change of the configuration."""
        insort(self._configured, time)

    def made(self, life: Life, number: int, made: Made) -> None:
        """Compare an admission of kueuepy's own run with the recorded admission.

        Args:
            life: The recorded history of the workload.
            number: The index of the admission among the admissions in `life`.
            made: The admission.
        """
        self._made[id(life), number] = (len(self._made), made)
        self._admissions[life.key] += 1
        if number >= len(life.runs):
            self._differ(made.time, made.cluster_queue, life.key, "admitted only here", self._explanation(life.key))
            return
        run = life.runs[number]
        if run.decision is None or not (what := _difference(run, made, self._latency, self._tolerance)):
            return
        is_near = abs(made.time - run.reserved) <= self._tolerance + RETRY_PERIOD
        explanation = self._explained.pop((id(life), number), "") or self._explanation(life.key)
        time = min(made.time, run.reserved - self._latency)
        by_retry = is_near and run.decision.assigns(made.pod_sets)
        self._differ(time, made.cluster_queue, life.key, what, explanation, by_retry=by_retry)

    def expect(self, life: Life, number: int) -> None:
        """Explain a workload that the cluster has admitted but kueuepy's own run has not."""
        if (id(life), number) not in self._made:
            self._explained[id(life), number] = self._explanation(life.key)

    def preempted(self, event: SchedulerEvent) -> None:
        """Record a preemption of kueuepy's own run, which evicted a workload."""
        attempt = (event.preemptor, self._admissions[event.preemptor])
        if attempt not in self._preempted:
            explanation = self._explanation(event.preemptor)
            self._preempted[attempt] = _Preemption(event.time.value, event.preemptor_cluster_queue, set(), explanation)
        self._preempted[attempt].victims.add(event.workload)

    def result(self, gaps: Sequence[tuple[int, int]], notes: tuple[str, ...]) -> ClosedAgreement:
        """Return the agreement at the end of the run.

        Args:
            gaps: The periods in which changes might be missing from the recording, in nanoseconds since the Unix epoch.
            notes: Recorded changes that could not be applied.
        """
        rows = [row for life in self._lives for row in self._rows(life)]
        columns = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(_COLUMNS, ())
        admissions = Columns(
            {
                "workload": list(columns["workload"]),
                "queue": categorical(columns["queue"]),
                **{name: times(list(columns[name])) for name in ("recorded", "predicted")},
                **{name: np.array(columns[name], np.bool_) for name in ("flavors", "domains", "first")},
                **{name: np.array(columns[name], np.int64) for name in ("there", "here")},
            }
        )
        preemptions = self._preemptions()
        differences = tuple(self._with_causes(gaps, notes))
        return ClosedAgreement(admissions, preemptions, differences, self._latency / SECOND, notes)

    def _rows(self, life: Life) -> Iterator[tuple[Any, ...]]:
        """Yield the admissions of a workload that either side made, in the order of `_COLUMNS`."""
        # A workload that had quota when the recording began has runs without a decision, which come first.
        number = skipped = sum(run.decision is None for run in life.runs)
        while number < len(life.runs) or (id(life), number) in self._made:
            run = life.runs[number] if number < len(life.runs) else None
            decision = None if run is None else run.decision
            position, made = self._made.get((id(life), number), (-1, None))
            flavors = domains = False
            if made is not None and decision is not None:
                flavors, domains = decision.assigns(made.pod_sets), decision.places(made.pod_sets)
            elif decision is not None:
                explained = self._explained.pop((id(life), number), "")
                time = decision.time - self._latency
                self._differ(time, decision.cluster_queue, life.key, "not admitted here", explained)
            yield (
                life.key,
                made.cluster_queue if made is not None else decision.cluster_queue if decision is not None else "",
                None if run is None else Timestamp.of(run.reserved - self._latency),
                None if made is None else Timestamp.of(made.time),
                flavors,
                domains,
                number == skipped,
                -1 if decision is None else self._order[decision],
                position,
            )
            number += 1

    def _preemptions(self) -> dict[str, int]:
        """Compare the workloads that each preemptor evicted between two of its admissions."""
        there: dict[tuple[str, int], _Preemption] = {}
        admissions: Counter[str] = Counter()
        for one in self._decisions:
            if one.kind == "admission":
                admissions[one.workload] += 1
            elif one.kind == "preemption":
                first = _Preemption(one.time - self._latency, one.cluster_queue, set())
                there.setdefault((one.head, admissions[one.head]), first).victims.add(one.workload)
        counts = dict.fromkeys(("same", "other victims", "only there", "only here"), 0)
        for attempt in dict.fromkeys([*there, *self._preempted]):
            recorded, own = there.get(attempt, _NO_PREEMPTION), self._preempted.get(attempt, _NO_PREEMPTION)
            if recorded.victims == own.victims:
                counts["same"] += 1
                continue
            only = "only here" if not recorded.victims else "only there" if not own.victims else "other victims"
            counts[only] += 1
            here, in_cluster = (", ".join(sorted(one.victims)) or "nothing" for one in (own, recorded))
            what = f"preempts {here} here, {in_cluster} in the cluster"
            time, queue = own.time or recorded.time, own.queue or recorded.queue
            self._differ(time, queue, attempt[0], what, own.explanation, kind="preemption")
        return counts

    def _explanation(self, key: str) -> str:
        """Return an explanation, or an empty string if enough differences have been explained."""
        return self._follower.explanation(key) if self._left > 0 else ""

    def _differ(
        self,
        time: int,
        queue: str,
        key: str,
        here: str,
        explanation: str,
        *,
        kind: Kind = "admission",
        by_retry: bool = False,
    ) -> None:
        self._left -= bool(explanation)
        self._differences.append(_Found(time, queue, kind, key, here, explanation, by_retry))

    def _with_causes(self, gaps: Sequence[tuple[int, int]], notes: tuple[str, ...]) -> Iterator[Difference]:
        trees = roots(nodes_of(session_of(self._follower.scheduler).engine))
        times: dict[str, list[int]] = defaultdict(list)
        for decision in self._decisions:
            times[trees.get(decision.cluster_queue, decision.cluster_queue)].append(decision.time - self._latency)
        # The order of two decisions of a cohort tree within the tolerance is not known.
        near = {tree: [a for a, b in pairwise(sorted(own)) if b - a <= self._tolerance] for tree, own in times.items()}
        first: set[str] = set()
        explained = 0
        # Only the first difference of a cohort tree has a cause of its own.
        for one in sorted(self._differences, key=lambda one: one.time):
            tree = trees.get(one.queue, one.queue)
            cause = fault_of_recording(one.time, one.key, gaps, notes, self._latency + self._tolerance)
            if not cause and _is_near(self._configured, one.time, self._tolerance):
                cause = "the configuration changed at that time"
            elif not cause and tree in first:
                cause = "follows from an earlier difference"
            elif not cause and one.by_retry:
                cause = RETRY
            elif not cause and _is_near(near.get(tree, ()), one.time, self._tolerance):
                cause = "several decisions within the latency of the cluster"
            first.add(tree)
            explained += bool(one.explanation)
            text = one.explanation if explained <= self._explain else ""
            yield Difference(Timestamp.of(one.time), one.kind, one.key, one.here, cause or UNEXPLAINED, text)


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
    index = bisect_left(ordered, time - reach)
    return index < len(ordered) and ordered[index] <= time + reach
