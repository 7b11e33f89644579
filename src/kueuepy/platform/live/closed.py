"""Closed-loop verification: kueuepy makes its own decisions on the recorded inputs."""

import heapq
import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from kueuepy.errors import KueueError, checked
from kueuepy.objects import SECOND, Duration, duration_ns
from kueuepy.platform.history import Conditions
from kueuepy.platform.live.agreement import ClosedAgreement
from kueuepy.platform.live.comparison import Comparison, Made
from kueuepy.platform.live.following import Follower
from kueuepy.platform.live.judging import Progress
from kueuepy.platform.live.recording import (
    CONFIGURATION,
    Change,
    Life,
    decisions_of,
    manager_configuration,
    read_events,
    recorded_gaps,
    recorded_lives,
    usual_latency,
    usual_release,
)
from kueuepy.platform.visibility import SchedulerEvent, drain_events
from kueuepy.session.session import session_of

# Bounds a preemption loop, in which cycles never become idle: the run then goes on with the next change. The bound of
# `judging` is independent of it.
_MOST_CYCLES = 1000
# Added to timeouts, so that the cycle runs just after them.
_MILLISECOND = SECOND // 1000


@checked
def verify_closed(
    recording: str | os.PathLike[str],
    *,
    tolerance: Duration = "1.2s",
    explained: int = 20,
    progress: Progress | None = None,
) -> ClosedAgreement:
    """Let kueuepy make its own decisions on the inputs of a recording, and compare them with the recorded decisions.

    The inputs are the configuration and its changes, the submissions and deletions, the activation of workloads by
    users, and the properties of each job: its runtime after an admission, the answers to its admission checks, the
    readiness and the reclaimable pods, and how long it keeps its quota after an eviction. kueuepy decides when and
    where each workload gets quota and which workloads are preempted. The result equals the prediction of a simulation
    of the same period, so an early difference can cause many later differences.

    Kueue needs some time to decide and to write its decision. The latency of the cluster is estimated as the median
    time between submission and reservation of the workloads that did not have to wait; it is subtracted before times
    are compared.

    Args:
        recording: A recording of `kueuepy record`, or a file of watch events.
        tolerance: Times that differ by less than this tolerance count as equal: seconds, a string or a timedelta; 1.2
            seconds by default.
        explained: The number of differences that are listed with an explanation. Default: 20.
        progress: A function that is called with the number of applied changes and the total number of changes.

    Returns:
        The agreement of decisions, order, times and preemptions.

    Raises:
        NotFoundError: The recording cannot be read.
        InvalidSpecError: The recording is invalid, or `tolerance` is not a duration.
    """
    loop = _Loop(read_events(recording), duration_ns(tolerance), explained)
    return loop.run(progress, recorded_gaps(recording))


class _Due(NamedTuple):
    """An event of a workload that is due at a given time.

    Attributes:
        time: The time, in nanoseconds since the Unix epoch.
        number: A sequence number that orders events with the same time.
        key: The key of the workload.
        stage: The stage of the workload when the event was scheduled. The event is ignored if the stage has changed
            since then, for example because the workload has gained or lost quota. `None` if the event is never ignored.
        act: The function that executes the event.
    """

    time: int
    number: int
    key: str
    stage: int | None
    act: Callable[[], object]


class _Loop:
    """kueuepy's own run over the recorded inputs."""

    def __init__(self, changes: Sequence[Change], tolerance: int, explained: int) -> None:
        self._changes = [change for change in changes if change.kind == "Workload" or change.kind in CONFIGURATION]
        self._follower = Follower.start(manager_configuration(changes))
        # Messages name the preemptor by its UID.
        uids = {c.manifest["metadata"].get("uid"): c.key for c in self._changes if c.kind == "Workload"}
        decisions = [one for index, change in enumerate(self._changes) for one in decisions_of(change, index, uids)]
        self._life_at = recorded_lives(self._changes, decisions)
        lives = list({id(life): life for life in self._life_at.values()}.values())
        self._latency = usual_latency(lives, self._changes)
        self._release_after = usual_release(lives)
        self._alive: dict[str, Life] = {}
        self._run_of: dict[str, int] = {}
        self._stage: Counter[str] = Counter()
        # Deleted in the cluster, but still running here.
        self._deleted: set[str] = set()
        self._due: list[_Due] = []
        self._numbers = count()
        self._tolerance = tolerance
        self._comparison = Comparison(self._follower, lives, decisions, self._latency, tolerance, explained=explained)
        session_of(self._follower.scheduler).engine.record_events(True)  # noqa: FBT003 - the core's own name

    def run(self, progress: Progress | None, gaps: Sequence[tuple[int, int]]) -> ClosedAgreement:
        """Apply the whole recording, and return the agreement."""
        for index, change in enumerate(self._changes):
            self._pass(change.time)
            self._attempt(change.kind, change.key, partial(self._take, index, change))
            self._decide()
            if progress is not None:
                progress(index + 1, len(self._changes))
        if self._changes:
            self._pass(self._changes[-1].time + self._tolerance + self._latency)
        return self._comparison.result(gaps, tuple(self._follower.notes))

    def _pass(self, until: int) -> None:
        """Advance the time: execute the due events, and retry inadmissible workloads."""
        follower = self._follower
        while True:
            retry = min(follower.due.values(), default=until + 1)
            due = self._due[0].time if self._due else until + 1
            if min(retry, due) > until:
                break
            follower.tick(min(retry, due))
            if retry <= due:
                follower.retry(retry)
            else:
                event = heapq.heappop(self._due)
                # An event of an earlier admission or submission of the workload no longer applies.
                if event.stage in (None, self._stage[event.key]):
                    self._attempt("Workload", event.key, event.act)
            self._decide()
        follower.tick(until)

    def _attempt(self, kind: str, key: str, act: Callable[[], object]) -> None:
        try:
            act()
        except KueueError as error:
            self._follower.notes.append(f"{kind} {key}: {error}")

    def _plan(self, after: int, key: str, act: Callable[[], object], *, anyway: bool = False) -> None:
        """Schedule an event after a delay.

        Unless `anyway` is true, skip the event if the workload gains or loses quota before then.
        """
        stage = None if anyway else self._stage[key]
        heapq.heappush(self._due, _Due(self._follower.now + max(after, 0), next(self._numbers), key, stage, act))

    def _plan_cycle(self, after: int, key: str) -> None:
        """Schedule a scheduling cycle, which uses the new time."""
        self._plan(after, key, lambda: None, anyway=True)

    def _take(self, index: int, change: Change) -> None:
        """Apply a recorded input."""
        if change.kind != "Workload":
            self._comparison.configured(change.time)
            self._follower.apply(change)
            return
        life = self._life_at[index]
        if life.index == index:
            self._submit(life, change)
        elif change.new is None:
            self._delete(life, change)
        else:
            self._change(life, index, change)
        self._watch(life, index)

    def _submit(self, life: Life, change: Change) -> None:
        if self._follower.has(life.key):
            self._follower.scheduler.delete(life.key)
        if change.new is None:
            return
        self._alive[life.key], self._run_of[life.key] = life, -1
        self._stage[life.key] += 1
        self._deleted.discard(life.key)
        self._follower.set_to(change.new)
        had_quota = bool(life.runs) and life.runs[0].decision is None  # when the recording began
        if had_quota and not self._is_over(life.key):
            self._reserved(life.key)
            if Conditions(change.new).true("Admitted"):
                self._admitted(life.key)

    def _delete(self, life: Life, change: Change) -> None:
        """Delete a workload; if it had finished in the cluster, delete it when it finishes in kueuepy's run."""
        if life.reason and not self._is_over(life.key):
            self._deleted.add(life.key)
        else:
            self._stage[life.key] += 1
            self._follower.apply(change)

    def _change(self, life: Life, index: int, change: Change) -> None:
        """Apply a change of the specification by a user."""
        assert change.old is not None, "a submission is no change"
        assert change.new is not None, "a deletion is no change"
        spec, before = change.new.get("spec") or {}, change.old.get("spec") or {}
        # Kueue deactivated the workload in consequence of its own decisions; here, kueuepy's own run does.
        if index in life.by_kueue:
            spec = {**spec, "active": True}
        if spec != before and not self._is_over(life.key):
            bare = {name: value for name, value in change.new.items() if name != "status"}
            self._follower.apply(change._replace(old={**change.old, "status": {}}, new={**bare, "spec": spec}))
        after = Conditions(change.new)
        if life.runtime is None and after.true("Finished") and not self._is_over(life.key):
            self._finish(life)

    def _watch(self, life: Life, index: int) -> None:
        """Once the tolerance has passed, compare a recorded admission with kueuepy's decision."""
        for number, run in enumerate(life.runs):
            if run.decision is not None and run.decision.index == index:
                wait = self._tolerance - self._latency
                self._plan(wait, life.key, partial(self._comparison.expect, life, number), anyway=True)
                return

    def _is_over(self, key: str) -> bool:
        return not self._follower.has(key) or self._follower.is_true(key, "Finished")

    def _finish(self, life: Life) -> None:
        self._stage[life.key] += 1
        self._follower.finish(life.key, life.reason)
        if life.key in self._deleted:
            self._follower.scheduler.delete(life.key)

    def _decide(self) -> None:
        """Run cycles until nothing changes, and schedule the events that follow from their decisions."""
        follower = self._follower
        follower.notice()
        ahead = None
        for _ in range(_MOST_CYCLES):
            cycle = follower.scheduler.cycle()
            events = list(drain_events(session_of(follower.scheduler).engine))
            for event in events:
                self._react(event)
            follower.notice()
            if cycle.idle or (not any(event.kind in _PROGRESS for event in events) and cycle.ahead == ahead):
                break
            ahead = cycle.ahead

    def _react(self, event: SchedulerEvent) -> None:
        key = event.workload
        if key not in self._alive:
            return
        if event.kind == "QuotaReserved":
            self._reserved(key)
            self._note(key, event)
        elif event.kind == "Admitted":
            self._admitted(key)
        elif event.kind == "Evicted":
            self._evicted(key, event)
        elif event.kind == "QuotaReleased":
            self._wake(key)

    def _note(self, key: str, event: SchedulerEvent) -> None:
        life = self._alive[key]
        status = self._follower.scheduler.workload(key).status
        assert status is not None, "it has quota"
        assert status.admission is not None, "it has quota"
        made = Made(self._follower.now, event.cluster_queue, status.admission.pod_set_assignments)
        self._comparison.made(life, self._run_of[key], made)

    def _reserved(self, key: str) -> None:
        life = self._alive[key]
        self._run_of[key] += 1
        self._stage[key] += 1
        run = life.run(self._run_of[key])
        for answer in () if run is None else run.answers:
            self._plan(self._latency + answer.after, key, partial(self._follower.answer, key, answer.old, answer.new))

    def _admitted(self, key: str) -> None:
        life = self._alive[key]
        run = life.run(self._run_of[key])
        if life.runtime is not None:
            self._plan(self._latency + life.runtime, key, partial(self._finish, life))
        if run is None:
            return
        on = self._follower.scheduler
        for after, pods in run.reclaimed:
            self._plan(self._latency + after, key, partial(on.reclaim, key, pods))
        ready = on.configuration.wait_for_pods_ready
        if ready is None:
            return
        for after, value in run.ready:
            self._plan(self._latency + after, key, partial(on.pods_ready, key, value))
            if not value and ready.recovery_timeout is not None:
                self._plan_cycle(after + self._latency + duration_ns(ready.recovery_timeout) + _MILLISECOND, key)
        self._plan_cycle(duration_ns(ready.timeout) + _MILLISECOND, key)

    def _evicted(self, key: str, event: SchedulerEvent) -> None:
        self._stage[key] += 1
        number = self._run_of[key]
        runs: list[Any] = [run for run in self._alive[key].runs if run.released is not None and run.evicted is not None]
        after = runs[min(number, len(runs) - 1)].released if runs and number >= 0 else self._release_after
        self._plan(after, key, partial(self._follower.release, key))
        if event.preemptor:
            self._comparison.preempted(event)

    def _wake(self, key: str) -> None:
        """Schedule a scheduling cycle for the end of the back-off of a workload."""
        status = self._follower.scheduler.workload(key).status if self._follower.has(key) else None
        state = None if status is None else status.requeue_state
        if state is not None and state.requeue_at is not None:
            self._plan_cycle(state.requeue_at.value - self._follower.now, key)


# A cycle without one of these events changes nothing that the next cycle would decide differently.
_PROGRESS: frozenset[str] = frozenset(("QuotaReserved", "Admitted", "Evicted", "QuotaReleased", "Assigned"))
