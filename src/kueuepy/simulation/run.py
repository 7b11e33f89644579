"""One run of jobs on a cluster: arrivals, decisions, ends, and what each queue got of it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.engine.decided import assignments
from kueuepy.engine.inventory import local_queues
from kueuepy.errors import InvalidSpecError
from kueuepy.manifest.times import LATEST, LONGEST
from kueuepy.objects import SECOND, Workload
from kueuepy.scheduler import Scheduler
from kueuepy.session.submission import submissions
from kueuepy.simulation.history import HistoryTable, Move, Recorder
from kueuepy.visibility import drain_events

if TYPE_CHECKING:
    from kueuepy.cluster import Cluster
    from kueuepy.engine.cycle import Loop
    from kueuepy.objects import PodSetAssignment
    from kueuepy.simulation.kpis import Kpis
    from kueuepy.visibility import Event

_END, _ARRIVAL, _WAKE = range(3)  # in this order at one time


class JobOutcome(msgspec.Struct, frozen=True):
    """What became of one job.

    Attributes:
        cluster_queue: Its ClusterQueue; empty if there is none.
        started: When it last got quota, in seconds after the start of the run; `None` if it never did.
        flavors: The flavor of each resource, by pod set, at that time.
        waited: For how many seconds it waited in all, until the end of the run if it still waits.
        evictions: How often it was evicted.
        reason: Why it waits at the end, or was deactivated, in Kueue's word; empty otherwise.
        arrived: When it came, in seconds after the start of the run.
        finished: When its job was done; `None` if it never was.
        lost: What it held until it was evicted, and has to do again: amount times seconds, by `flavor/resource`;
            thousandths for cpu.
    """

    cluster_queue: str
    started: float | None
    flavors: dict[str, dict[str, str]]
    waited: float
    evictions: int
    reason: str
    arrived: float = 0.0
    finished: float | None = None
    lost: dict[str, float] = {}


class QueueOutcome(msgspec.Struct, frozen=True):
    """What one ClusterQueue got.

    Attributes:
        jobs: How many jobs came.
        admitted: How many of them got quota at least once.
        usage: What it uses at the end, by `flavor/resource`; thousandths for cpu.
        mean_usage: What it used on average over the run; at the end, if the run took no time.
        share: Its weighted dominant resource share at the end.
        mean_share: Its share on average over the run; at the end, if the run took no time.
        peak_share: The largest share that it had.
        waited: For how many seconds its jobs waited on average.
        longest: For how many seconds one of its jobs waited at most.
        evictions: How often its jobs were evicted.
    """

    jobs: int
    admitted: int
    usage: dict[str, int]
    mean_usage: dict[str, float]
    share: float
    mean_share: float
    peak_share: float
    waited: float
    longest: float
    evictions: int


class Run(msgspec.Struct, frozen=True):
    """What came of the jobs under one policy.

    Attributes:
        jobs: The outcome of each job, by key; Workloads and jobs of the cluster itself are among them.
        queues: The outcome of each active ClusterQueue, by name.
        moves: Who got quota and who was evicted, in order.
        history: How shares, usage and queues went.
        seconds: How long the run took, in virtual time.
        loops: Endless preemption that was found, each once.
        scheduler: The Scheduler at the end.
    """

    jobs: dict[str, JobOutcome]
    queues: dict[str, QueueOutcome]
    moves: tuple[Move, ...]
    history: HistoryTable
    seconds: float
    loops: tuple[Loop, ...]
    scheduler: Scheduler

    @property
    def kpis(self) -> Kpis:
        """The figures by which policies are compared."""
        from kueuepy.simulation.kpis import kpis  # noqa: PLC0415 - only on use

        return kpis(self)


class _Job:
    """A job under way."""

    def __init__(self, found: int, arrived: int, workload: Workload, cluster_queue: str, duration: int | None) -> None:
        self.id, self.cluster_queue, self.duration = found, cluster_queue, duration
        self.limit = workload.maximum_execution_time_seconds
        self.waits_since: int | None = arrived  # None while it holds quota, and once it is over
        self.holds = False
        self.over = ""  # deactivated: why it will never run again
        self.started: int | None = None
        self.term = 0  # counts how often it got quota or lost it
        self.waited = self.evictions = 0
        self.flavors: dict[str, dict[str, str]] = {}
        self.arrived = arrived
        self.finished: int | None = None
        self.amounts: dict[str, int] = {}  # what it holds, by flavor/resource
        self.lost: dict[str, int] = {}  # the same times nanoseconds, of executions that were evicted

    def reserve(self, now: int, admission: Iterable[PodSetAssignment]) -> None:
        """It gets quota."""
        self.waited += now - self.waits_since if self.waits_since is not None else 0
        self.started, self.waits_since, self.holds, self.term = now, None, True, self.term + 1
        self.flavors, self.amounts = {}, {}
        for pod_set in admission:
            self.flavors[pod_set.name] = pod_set.flavors
            for resource, flavor in pod_set.flavors.items():
                cell, held = f"{flavor}/{resource}", Quantity(pod_set.resource_usage[resource]).request(resource)
                self.amounts[cell] = self.amounts.get(cell, 0) + held

    def lose(self, now: int) -> None:
        """It is evicted; what it has done is lost."""
        if self.holds and self.started is not None:
            for cell, amount in self.amounts.items():
                self.lost[cell] = self.lost.get(cell, 0) + amount * (now - self.started)
        self.evictions += 1
        self.holds, self.waits_since, self.term = False, now, self.term + 1


def run(cluster: Cluster, jobs: Iterable[Any]) -> Run:
    """Runs the jobs on the cluster until nothing happens any more."""
    return _Runner(cluster, jobs).run()


class _Runner:
    """The events of a run in order: time, then ends before arrivals, then the order in which they were planned."""

    def __init__(self, cluster: Cluster, items: Iterable[Any]) -> None:
        self._scheduler = Scheduler(cluster)
        engine = self._engine = self._scheduler.engine
        self._configuration = cluster.configuration
        self._queue_of = {door.key: door.cluster_queue for door in self._scheduler.cluster.local_queues}
        self._jobs: dict[str, _Job] = {}
        self._moves: list[Move] = []
        self._events: list[tuple[int, int, int, Any]] = []
        self._number = count()
        self._given: dict[str, Sequence[PodSetAssignment]] = {}  # to those that were just admitted
        self._loops: dict[tuple[int, tuple[str, ...]], Loop] = {}
        around = self._scheduler.job_context()
        for item in items:
            for workload, duration in _planned(item, around):
                arrival = max(workload.creation_timestamp or 0, engine.now)
                self._plan(arrival, _ARRIVAL, (workload, duration), workload.key)
        self._start = min((event[0] for event in self._events), default=engine.now)
        engine.set_now(self._start)
        engine.record_events(on=True)
        self._sampling = self._configuration.admission_fair_sharing
        self._recorder = Recorder(engine, self._start, consumed=self._sampling is not None)
        for key in self._scheduler.keys():  # noqa: SIM118 - a Scheduler is no mapping
            self._take(key, None)

    def _plan(self, at: int, kind: int, what: Any, key: str) -> None:
        if at > LONGEST:
            what = ("ends", "comes", "is due again")[kind]
            raise InvalidSpecError(f'Workload "{key}": {what} {at // SECOND} s after 1970; it must be {LATEST} at most')
        heapq.heappush(self._events, (at, kind, next(self._number), what))

    def run(self) -> Run:
        engine = self._engine
        self._settle(self._jobs)
        while (at := self._next()) is not None:
            engine.set_now(at)
            while self._events and self._events[0][0] == at:
                _, kind, _, what = heapq.heappop(self._events)
                if kind == _ARRIVAL:
                    self._arrive(*what)
                elif kind == _END and self._is_current(*what):
                    self._end(what[0])
            self._settle()
        outcomes = {key: self._outcome(job) for key, job in self._jobs.items()}
        by_queue: dict[str, list[JobOutcome]] = {}
        for outcome in outcomes.values():
            by_queue.setdefault(outcome.cluster_queue, []).append(outcome)
        shares = engine.shares()
        return Run(
            outcomes,
            {
                name: self._queue(name, by_queue.get(name, []), usage, shares.get(name, 0.0))
                for name, usage in engine.usage().items()
            },
            tuple(self._moves),
            self._recorder.table(),
            self._seconds(engine.now),
            tuple(self._loops.values()),
            self._scheduler,
        )

    def _seconds(self, at: int) -> float:
        return (at - self._start) / SECOND

    def _next(self) -> int | None:
        """The time of the next event, or of the next sample of admission fair sharing before it.

        What was planned for a job that lost its quota since is no event: with endless preemption, those never end.
        """
        while self._events and self._events[0][1] != _ARRIVAL and not self._is_current(*self._events[0][3]):
            heapq.heappop(self._events)
        if not self._events:
            return None
        at = self._events[0][0]
        if self._sampling is None:
            return at
        interval = self._sampling.usage_sampling_interval
        due = [view.consumed[1] + interval for view in local_queues(self._engine) if view.consumed is not None]
        return min([at, *(sample for sample in due if sample > self._engine.now)])

    def _is_current(self, key: str, term: int) -> bool:
        """Whether a job still holds its quota, or still waits, since something was planned for it."""
        return self._jobs[key].term == term

    def _arrive(self, workload: Workload, duration: int | None) -> None:
        (key,) = self._scheduler.submit(workload)
        self._take(key, duration)

    def _take(self, key: str, duration: int | None) -> None:
        found = self._engine.find(key)
        workload = self._scheduler.workload(key)
        queue = self._queue_of.get(f"{workload.namespace}/{workload.queue_name}", "")
        job = self._jobs[key] = _Job(found, self._engine.now, workload, queue, duration)
        view = self._engine.admission(found)
        if view is not None:
            job.reserve(self._engine.now, assignments(view[1]))

    def _end(self, key: str) -> None:
        job = self._jobs[key]
        job.holds, job.term, job.finished = False, job.term + 1, self._engine.now
        self._scheduler.finish(key)

    def _settle(self, changed: Iterable[str] = ()) -> None:
        """Decides what there is to decide; pods are ready as soon as their workload is admitted."""
        touched = set(changed)
        while True:
            settled = self._scheduler.settle()
            for loop in settled.loops:
                self._loops.setdefault((loop.period, loop.workloads), loop)
            self._given = {decision.workload: decision.pod_sets for decision in settled.admitted}
            events = [event for event in drain_events(self._engine) if event.workload in self._jobs]
            for event in events:
                self._note(event)
            touched.update(event.workload for event in events)
            admitted = [event.workload for event in events if event.kind == "Admitted"]
            if self._configuration.wait_for_pods_ready is None or not admitted or settled.loops:
                break
            for key in admitted:
                self._engine.set_pods_ready(self._jobs[key].id, True)  # noqa: FBT003 - the engine's way
        for key in sorted(touched):
            self._plan_ahead(key, self._jobs[key])
        self._recorder.note()

    def _plan_ahead(self, key: str, job: _Job) -> None:
        """What time alone will bring to a job, as things are now."""
        life, now = self._engine.life(job.id), self._engine.now
        admitted = self._engine.condition(job.id, "Admitted")
        if job.holds and admitted is not None and admitted[0]:
            if job.duration is not None:
                self._plan(now + job.duration, _END, (key, job.term), key)
            if job.limit is not None:
                left = job.limit - (life["past_execution_seconds"] or 0)
                self._plan(max(now, admitted[3] + left * SECOND), _WAKE, (key, job.term), key)
        elif job.waits_since is not None and (life["requeue_at"] or 0) > now:
            self._plan(life["requeue_at"] or 0, _WAKE, (key, job.term), key)

    def _note(self, event: Event) -> None:
        """Takes an event in."""
        kind, key, queue, reason = event.kind, event.workload, event.cluster_queue, event.reason
        job, now = self._jobs[key], self._engine.now
        if kind == "QuotaReserved":
            job.reserve(now, self._given.get(key, ()))
            self._moves.append(Move(self._seconds(now), key, queue, kind, job.flavors))
        elif kind == "Evicted":
            job.lose(now)
            if reason.startswith("Deactivated"):
                job.over, job.waits_since = reason, None
            self._moves.append(
                Move(self._seconds(now), key, queue, kind, {}, reason, event.preemption_reason, event.preemptor)
            )

    def _outcome(self, job: _Job) -> JobOutcome:
        engine = self._engine
        reserved = engine.condition(job.id, "QuotaReserved")
        waited, reason = job.waited, job.over
        if job.waits_since is not None:
            waited += engine.now - job.waits_since
            reason = reserved[1] if reserved is not None else ""
        started = None if job.started is None else self._seconds(job.started)
        finished = None if job.finished is None else self._seconds(job.finished)
        lost = {cell: amount / SECOND for cell, amount in job.lost.items()}
        arrived = self._seconds(job.arrived)
        waits = waited / SECOND
        return JobOutcome(
            job.cluster_queue, started, job.flavors, waits, job.evictions, reason, arrived, finished, lost
        )

    def _queue(self, name: str, outcomes: list[JobOutcome], usage: dict[str, int], share: float) -> QueueOutcome:
        waits = [outcome.waited for outcome in outcomes]
        seconds = self._seconds(self._engine.now)
        means = self._recorder.means(name, "usage", seconds)
        return QueueOutcome(
            jobs=len(outcomes),
            admitted=sum(outcome.started is not None for outcome in outcomes),
            usage=usage,
            mean_usage={cell: mean for cell, mean in means.items() if mean},
            share=share,
            mean_share=self._recorder.means(name, "share", seconds).get("", 0.0),
            peak_share=self._recorder.largest(name, "share"),
            waited=sum(waits) / len(waits) if waits else 0.0,
            longest=max(waits, default=0.0),
            evictions=sum(outcome.evictions for outcome in outcomes),
        )


def _planned(item: Any, around: Any) -> list[tuple[Workload, int | None]]:
    """The workloads of an item, and for how long they run."""
    from kueuepy.jobs import Submission, from_row  # noqa: PLC0415 - only rows need it

    if isinstance(item, Submission):
        return [(item.workload, item.duration)]
    if isinstance(item, Mapping) and "kind" not in item and "apiVersion" not in item:
        row = from_row(item)
        return [(row.workload, row.duration)]
    if hasattr(item, "columns") and (hasattr(item, "to_dict") or hasattr(item, "to_dicts")):
        rows = item.to_dicts() if hasattr(item, "to_dicts") else item.to_dict("records")
        return [planned for row in rows for planned in _planned(row, around)]
    if isinstance(item, str | bytes):
        raise InvalidSpecError(f"compare: {item!r} is no job; load files with kueuepy.load and give its jobs")
    return [(workload, None) for workload, *_ in submissions([item], around)]
