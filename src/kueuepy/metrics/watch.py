"""Kueue's metrics under Kueue's names, so that dashboards made for Kueue show a Scheduler, too."""

from __future__ import annotations

from collections import deque
from threading import RLock
from typing import TYPE_CHECKING

from kueuepy.engine.locks import survives_fork
from kueuepy.errors.arguments import checked_methods
from kueuepy.metrics.counters import Counters
from kueuepy.metrics.gauges import gauges
from kueuepy.metrics.text import Series, exposition
from kueuepy.visibility import EventTable, SchedulerEvent, drain_events, event_table

if TYPE_CHECKING:
    from kueuepy.scheduler import Scheduler


@checked_methods
class Watch:
    """Sees all that happens in a Scheduler from now on: its events, and the metrics that follow from them.

    These are all series of Kueue but those of real time, of pods' gates, of slices, of MultiKueue and of the build:
    `admission_attempt_duration_seconds`, `workload_creation_latency_seconds`, `pod_scheduling_gate_removal_seconds`,
    `replaced_workload_slices_total`, `multikueue_*`, `build_info`. There is one Watch to a Scheduler, since it takes
    the events away.

    >>> from kueuepy import Cluster, ClusterQueue, PodSet, ResourceFlavor, Scheduler, Workload
    >>> scheduler = Scheduler(Cluster(ResourceFlavor("default"), ClusterQueue.of("vision", {"default": {"cpu": 9}})))
    >>> watch = Watch(scheduler)
    >>> _ = scheduler.submit(Workload("a", queue_name="vision", pod_sets=(PodSet.of(requests={"cpu": 6}),)))
    >>> _ = scheduler.cycle()
    >>> [event.kind for event in watch.events]
    ['Created', 'QuotaReserved', 'Admitted']
    >>> 'kueue_admitted_workloads_total{cluster_queue="vision",priority_class="",replica_role="standalone"} 1' in (
    ...     watch.metrics_text()
    ... )
    True
    """

    def __init__(self, scheduler: Scheduler, *, history: int | None = None) -> None:
        """Begins to watch; the counters start at 0.

        Args:
            scheduler: Whom.
            history: How many events it remembers at most, the last ones; all by default.
        """
        self._scheduler = scheduler
        self._lock = RLock()
        survives_fork(self, "_lock")
        self._events: deque[SchedulerEvent] = deque(maxlen=history)
        self._counters = Counters(scheduler)
        scheduler.engine.record_events(True)  # noqa: FBT003 - the core's own name

    @property
    def events(self) -> tuple[SchedulerEvent, ...]:
        """The events so far, oldest first."""
        with self._lock:
            self.poll()
            return tuple(self._events)

    @property
    def table(self) -> EventTable:
        """The events so far as a table."""
        return event_table(self.events)

    def poll(self) -> list[SchedulerEvent]:
        """The events since the last time; they count from now on."""
        with self._lock:
            new = list(drain_events(self._scheduler.engine))
            self._counters.count(new)
            self._events.extend(new)
        return new

    def metrics_text(self) -> str:
        """All metrics at this moment, in Prometheus' text format.

        Source: `pkg/metrics/metrics.go`. Names, labels and buckets are those of Kueue; `replica_role` is always
        `standalone`. Series of LocalQueues, of Cohorts, of unadmitted workloads and of scheduling hashes are there as
        the feature gates say.
        """
        with self._lock:
            return exposition(self.series())

    def series(self) -> list[Series]:
        """All series at this moment, those without a number included."""
        with self._lock:
            self.poll()
            return [*self._counters.series, *gauges(self._scheduler)]
