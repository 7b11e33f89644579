"""Kueue's metrics under Kueue's names, so that dashboards made for Kueue show a Scheduler, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.metrics_gauges import Gauges
from kueuepy.metrics_text import Histogram, Series, exposition
from kueuepy.visibility_events import Event, EventTable, event_table

if TYPE_CHECKING:
    from kueuepy.scheduler import Scheduler

_DEACTIVATED = "DeactivatedDueTo"
_TOTALS = {
    "quota_reserved_workloads_total": "Workloads that got quota.",
    "admitted_workloads_total": "Workloads that were admitted.",
    "finished_workloads_total": "Workloads that finished.",
    "evicted_workloads_total": "Evictions.",
    "evicted_workloads_once_total": "Workloads that were evicted for this reason, each counted once.",
    "preempted_workloads_total": "Evictions for the sake of another workload, by the queue of that one.",
    "cohort_subtree_admitted_workloads_total": "Workloads below a Cohort that were admitted.",
    "admission_attempts_total": "Scheduling cycles that had heads; success if one of them got quota.",
}
_DURATIONS = {
    "quota_reserved_wait_time_seconds": (14, "From creation or requeuing to quota."),
    "admission_wait_time_seconds": (16, "From creation or requeuing to admission."),
    "admission_checks_wait_time_seconds": (14, "From quota to admission."),
    "execution_time_seconds": (16, "From the first admission to the end, times of eviction included."),
    "workload_eviction_latency_seconds": (14, "From eviction until the quota is free."),
}


class Watch:
    """Sees all that happens in a Scheduler from now on: its events, and the metrics that follow from them.

    What Kueue counts of real time, pods and build is left out: `admission_attempt_duration_seconds`, the series of
    ready pods and scheduling gates, `build_info`. There is one Watch to a Scheduler, since it takes the events away.

    >>> from kueuepy import Cluster, ClusterQueue, PodSet, ResourceFlavor, Scheduler, Workload
    >>> scheduler = Scheduler(Cluster(ResourceFlavor("default"), ClusterQueue.of("vision", {"default": {"cpu": 9}})))
    >>> watch = Watch(scheduler)
    >>> _ = scheduler.submit(Workload("a", queue_name="vision", pod_sets=(PodSet.of(requests={"cpu": 6}),)))
    >>> _ = scheduler.cycle()
    >>> [event.kind for event in watch.events]
    ['QuotaReserved', 'Admitted']
    >>> 'kueue_admitted_workloads_total{cluster_queue="vision",priority_class="",replica_role="standalone"} 1' in (
    ...     watch.metrics_text()
    ... )
    True
    """

    def __init__(self, scheduler: Scheduler) -> None:
        """Begins to watch; the counters start at 0."""
        self._scheduler = scheduler
        self._events: list[Event] = []
        self._totals = {name: Series(name, "counter", text) for name, text in _TOTALS.items()}
        self._durations = {name: Histogram(name, text, size) for name, (size, text) in _DURATIONS.items()}
        self._reserved: dict[str, int] = {}
        self._first_admitted: dict[str, int] = {}
        self._evictions: dict[str, Event] = {}
        self._evicted: set[tuple[str, str, str]] = set()
        scheduler.engine.record_events(True)  # noqa: FBT003 - the core's own name
        self._cycles = scheduler.engine.cycle_counts()

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far, oldest first."""
        self.poll()
        return tuple(self._events)

    @property
    def table(self) -> EventTable:
        """All events so far as a table."""
        return event_table(self.events)

    def poll(self) -> list[Event]:
        """The events since the last time; they count from now on."""
        new = [Event(*view) for view in self._scheduler.engine.drain_events()]
        for event in new:
            self._count(event)
        self._count_subtrees([event for event in new if event.kind == "Admitted"])
        cycles = self._scheduler.engine.cycle_counts()
        for result, now, before in zip(("success", "inadmissible"), cycles, self._cycles, strict=True):
            if now > before:
                self._totals["admission_attempts_total"].add(now - before, result=result)
        self._cycles = cycles
        self._events += new
        return new

    def metrics_text(self) -> str:
        """All metrics at this moment, in Prometheus' text format.

        Source: `pkg/metrics/metrics.go`. Labels and buckets are those of Kueue; `replica_role` is always `standalone`.
        """
        self.poll()
        return exposition([*self._totals.values(), *self._durations.values(), *Gauges(self._scheduler)])

    def _count(self, event: Event) -> None:
        name = event.workload
        labels = {"cluster_queue": event.cluster_queue, "priority_class": event.priority_class.rpartition("/")[2]}
        match event.kind:
            case "QuotaReserved":
                self._reserved[name] = event.time
                self._add("quota_reserved_workloads_total", labels)
                self._observe("quota_reserved_wait_time_seconds", event.time - event.queued_since, labels)
            case "Admitted":
                self._first_admitted.setdefault(name, event.time)
                self._add("admitted_workloads_total", labels)
                self._observe("admission_wait_time_seconds", event.time - event.queued_since, labels)
                waited = event.time - self._reserved.get(name, event.time)
                self._observe("admission_checks_wait_time_seconds", waited, labels)
            case "Evicted":
                self._evictions[name] = event
                self._count_eviction(event, labels)
            case "QuotaReleased" if name in self._evictions:
                evicted = self._evictions.pop(name)
                of = {"cluster_queue": evicted.cluster_queue, "reason": _cause(evicted)[0]}
                self._observe("workload_eviction_latency_seconds", event.time - evicted.time, of)
            case "Finished":
                self._add("finished_workloads_total", labels)
                if name in self._first_admitted:
                    self._observe("execution_time_seconds", event.time - self._first_admitted[name], labels)
            case "Deleted":
                for memory in (self._reserved, self._first_admitted, self._evictions):
                    memory.pop(name, None)

    def _count_eviction(self, event: Event, labels: dict[str, str]) -> None:
        reason, cause = _cause(event)
        of = {
            "cluster_queue": labels["cluster_queue"],
            "reason": reason,
            "underlying_cause": cause,
            "priority_class": labels["priority_class"],
        }
        self._add("evicted_workloads_total", of)
        if (event.workload, reason, cause) not in self._evicted:
            self._evicted.add((event.workload, reason, cause))
            self._add("evicted_workloads_once_total", of)
        if event.preemptor:
            by = {"preempting_cluster_queue": event.preemptor_cluster_queue, "reason": event.preemption_reason}
            self._add("preempted_workloads_total", by)

    def _count_subtrees(self, admitted: list[Event]) -> None:
        """Counts admissions for all Cohorts above the ClusterQueues."""
        if not admitted:
            return
        gauges = Gauges(self._scheduler)
        for event in admitted:
            priority_class = event.priority_class.rpartition("/")[2]
            for cohort in gauges.cohorts_above(event.cluster_queue):
                of = {"cohort": cohort, "priority_class": priority_class}
                self._add("cohort_subtree_admitted_workloads_total", of)

    def _add(self, name: str, labels: dict[str, str]) -> None:
        self._totals[name].add(**labels)

    def _observe(self, name: str, nanoseconds: int, labels: dict[str, str]) -> None:
        self._durations[name].observe(nanoseconds, **labels)


def _cause(event: Event) -> tuple[str, str]:
    """The reason and the underlying cause of an eviction, as the labels have them."""
    if event.reason.startswith(_DEACTIVATED):
        return "Deactivated", event.reason.removeprefix(_DEACTIVATED)
    return event.reason, ""
