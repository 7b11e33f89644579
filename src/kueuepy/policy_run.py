"""One run of jobs on a cluster: arrivals, decisions, ends, and what each queue got of it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND, Workload
from kueuepy.scheduler import Scheduler
from kueuepy.scheduler_input import submissions

if TYPE_CHECKING:
    from kueuepy.cluster import Cluster
    from kueuepy.loops import Loop


class JobOutcome(msgspec.Struct, frozen=True):
    """What became of one job.

    Attributes:
        cluster_queue: Its ClusterQueue; empty if there is none.
        started: When it last got quota, in seconds after the start of the run; `None` if it never did.
        flavors: The flavor of each resource, by pod set, at that time.
        waited: For how many seconds it waited in all, until the end of the run if it still waits.
        evictions: How often it was evicted.
        reason: Why it waits at the end, in Kueue's word; empty if it doesn't.
    """

    cluster_queue: str
    started: float | None
    flavors: dict[str, dict[str, str]]
    waited: float
    evictions: int
    reason: str


class QueueOutcome(msgspec.Struct, frozen=True):
    """What one ClusterQueue got.

    Attributes:
        jobs: How many jobs came.
        admitted: How many of them got quota at least once.
        usage: What it uses at the end, by `flavor/resource`; thousandths for cpu.
        mean_usage: What it used on average over the run; at the end, if the run took no time.
        share: Its weighted dominant resource share at the end.
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
    peak_share: float
    waited: float
    longest: float
    evictions: int


class Run(msgspec.Struct, frozen=True):
    """What came of the jobs under one policy.

    Attributes:
        jobs: The outcome of each job, by key.
        queues: The outcome of each active ClusterQueue, by name.
        seconds: How long the run took, in virtual time.
        loops: Endless preemption that was found, if any.
        scheduler: The Scheduler at the end.
    """

    jobs: dict[str, JobOutcome]
    queues: dict[str, QueueOutcome]
    seconds: float
    loops: tuple[Loop, ...]
    scheduler: Scheduler


class _Job:
    """A job under way."""

    __slots__ = ("arrived", "duration", "evictions", "flavors", "since", "started", "term", "waited")

    def __init__(self, arrived: int, duration: int | None) -> None:
        self.arrived = self.since = arrived  # waiting since; -1: not waiting
        self.duration = duration
        self.started: int | None = None
        self.term = 0  # which of its starts the planned end belongs to
        self.waited = self.evictions = 0
        self.flavors: dict[str, dict[str, str]] = {}


def run(cluster: Cluster, jobs: Iterable[Any]) -> Run:
    """Runs the jobs on the cluster until nothing happens any more."""
    return _Runner(cluster, jobs).run()


class _Runner:
    """The events of a run in order: time, then ends before arrivals, then the order in which they were planned."""

    def __init__(self, cluster: Cluster, items: Iterable[Any]) -> None:
        self._scheduler = Scheduler(cluster)
        engine = self._engine = self._scheduler.engine
        self._jobs: dict[str, _Job] = {}
        self._events: list[tuple[int, int, int, Any]] = []
        self._number = count()
        self._loops: list[Loop] = []
        self._integral: dict[str, dict[str, int]] = {}
        self._peak: dict[str, float] = {}
        around = self._scheduler.surroundings()
        for item in items:
            for workload, duration in _planned(item, around):
                arrival = max(workload.creation_timestamp or 0, engine.now)
                self._plan(arrival, 1, (workload, duration))
        self._start = min((event[0] for event in self._events), default=engine.now)
        engine.set_now(self._start)
        engine.record_events(on=True)

    def _plan(self, at: int, kind: int, what: Any) -> None:
        heapq.heappush(self._events, (at, kind, next(self._number), what))

    def run(self) -> Run:
        engine = self._engine
        self._settle()
        while self._events:
            at = self._events[0][0]
            self._pass_time(at)
            while self._events and self._events[0][0] == at:
                _, kind, _, what = heapq.heappop(self._events)
                self._arrive(*what) if kind else self._end(*what)
            self._settle()
        return Run(
            {key: self._outcome(key, job) for key, job in self._jobs.items()},
            {queue: self._queue(queue) for queue in engine.usage()},
            (engine.now - self._start) / SECOND,
            tuple(self._loops),
            self._scheduler,
        )

    def _pass_time(self, at: int) -> None:
        passed = at - self._engine.now
        if passed > 0:
            for queue, cells in self._engine.usage().items():
                sums = self._integral.setdefault(queue, {})
                for cell, amount in cells.items():
                    sums[cell] = sums.get(cell, 0) + amount * passed
        self._engine.set_now(at)

    def _arrive(self, workload: Workload, duration: int | None) -> None:
        (key,) = self._scheduler.submit(workload)
        self._jobs[key] = _Job(self._engine.now, duration)

    def _end(self, key: str, term: int) -> None:
        if self._jobs[key].term == term and self._jobs[key].since < 0:
            self._scheduler.finish(key)

    def _settle(self) -> None:
        settled = self._scheduler.settle()
        if settled.loop is not None:
            self._loops.append(settled.loop)
        for kind, found, _ in self._engine.take_events():
            self._note(kind, self._engine.key(found), found)
        for queue, share in self._engine.shares().items():
            self._peak[queue] = max(share, self._peak.get(queue, 0.0))

    def _note(self, kind: str, key: str, found: int) -> None:
        job, now = self._jobs.get(key), self._engine.now
        if job is None:
            return
        if kind == "reserved":
            job.waited += now - job.since if job.since >= 0 else 0
            job.started, job.since, job.term = now, -1, job.term + 1
            view = self._engine.admission(found)
            if view is not None:
                job.flavors = {name: {r: flavor for r, (flavor, _) in rs.items()} for name, _, rs in view[1]}
        elif kind == "admitted" and job.duration is not None:
            self._plan(now + job.duration, 0, (key, job.term))
        elif kind == "evicted":
            job.evictions += 1
            job.since = now

    def _outcome(self, key: str, job: _Job) -> JobOutcome:
        engine = self._engine
        found = engine.find(key)
        waiting = job.since >= 0
        reserved = engine.condition(found, "QuotaReserved")
        waited = job.waited + (engine.now - job.since if waiting else 0)
        return JobOutcome(
            self._queue_of(key),
            None if job.started is None else (job.started - self._start) / SECOND,
            job.flavors,
            waited / SECOND,
            job.evictions,
            reserved[1] if waiting and reserved is not None else "",
        )

    def _queue_of(self, key: str) -> str:
        workload = self._scheduler.workload(key)
        for obj in self._scheduler.cluster.local_queues:
            if obj.name == workload.queue_name and obj.namespace == workload.namespace:
                return obj.cluster_queue
        return ""

    def _queue(self, name: str) -> QueueOutcome:
        engine = self._engine
        outcomes = [
            found for found in (self._outcome(k, j) for k, j in self._jobs.items()) if found.cluster_queue == name
        ]
        waits = [outcome.waited for outcome in outcomes]
        usage, passed = engine.usage()[name], engine.now - self._start
        total = self._integral.get(name, {})
        held = {cell: amount / passed for cell, amount in total.items()} if passed else usage
        mean = {cell: float(amount) for cell, amount in held.items()}
        return QueueOutcome(
            jobs=len(outcomes),
            admitted=sum(outcome.started is not None for outcome in outcomes),
            usage=usage,
            mean_usage=mean,
            share=engine.shares().get(name, 0.0),
            peak_share=self._peak.get(name, 0.0),
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
    return [(workload, None) for workload, _ in submissions([item], around)]
