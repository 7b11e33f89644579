"""Kueue's metrics of a Scheduler, under Kueue's names, for dashboards made for Kueue."""

from __future__ import annotations

from collections import deque
from threading import RLock
from typing import TYPE_CHECKING

from kueuepy.engine.locks import survives_fork
from kueuepy.errors.arguments import checked_methods
from kueuepy.platform.metrics.counters import Counters
from kueuepy.platform.metrics.gauges import gauges
from kueuepy.platform.metrics.series import Series, exposition
from kueuepy.platform.visibility import EventTable, SchedulerEvent, drain_events, event_table
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from kueuepy.scheduler import Scheduler


@checked_methods
class Watch:
    """A recorder of a Scheduler's events, from which it computes Kueue's metrics.

    A Watch contains all series of Kueue except `admission_attempt_duration_seconds`,
    `workload_creation_latency_seconds`, `pod_scheduling_gate_removal_seconds`, `replaced_workload_slices_total`,
    `multikueue_*` and `build_info`. The excluded series depend on real time, pods, workload slices, MultiKueue or the
    build. A Scheduler can only have one Watch, because the Watch removes the events from the Scheduler.

    >>> from kueuepy import Cluster, ClusterQueue, PodSet, ResourceFlavor, Scheduler, Workload
    >>> scheduler = Scheduler(Cluster(ResourceFlavor("default"), ClusterQueue.of("vision", {"default": {"cpu": 9}})))
    >>> watch = Watch(scheduler)
    >>> _ = scheduler.submit(Workload("a", queue_name="vision", pod_sets=(PodSet.of(requests={"cpu": 6}),)))
    >>> _ = scheduler.cycle()
    >>> [event.kind for event in watch.events]
    ['Created', 'QuotaReserved', 'Admitted']
    >>> 'kueue_admitted_workloads_total{cluster_queue="vision",priority_class="",replica_role="standalone"} 1.0' in (
    ...     watch.metrics_text()
    ... )
    True
    """

    def __init__(self, scheduler: Scheduler, *, history: int | None = None) -> None:
        """Start recording events; the counters start at 0.

        Args:
            scheduler: The Scheduler.
            history: Maximum number of the latest events to keep; by default, all events are kept.
        """
        self._scheduler = scheduler
        self._lock = RLock()
        survives_fork(self, "_lock")
        self._events: deque[SchedulerEvent] = deque(maxlen=history)
        self._counters = Counters(scheduler)
        session_of(scheduler).engine.record_events(True)  # noqa: FBT003 - the core's own name

    @property
    def events(self) -> tuple[SchedulerEvent, ...]:
        """The recorded events, oldest first."""
        with self._lock:
            self.poll()
            return tuple(self._events)

    @property
    def table(self) -> EventTable:
        """The recorded events as a table."""
        return event_table(self.events)

    def poll(self) -> list[SchedulerEvent]:
        """Return the events since the previous call, and add them to the counters."""
        with self._lock:
            new = list(drain_events(session_of(self._scheduler).engine))
            self._counters.count(new)
            self._events.extend(new)
        return new

    def metrics_text(self) -> str:
        """Return the current metrics in the Prometheus text format.

        Names, labels and buckets are the same as in Kueue; `replica_role` is always `standalone`. Feature gates enable
        the series of LocalQueues, Cohorts, unadmitted workloads and scheduling hashes.

        Requires the extra `metrics` (`pip install 'kueuepy[metrics]'`).

        Raises:
            UnsupportedError: prometheus_client is not installed.

        Source: `pkg/metrics/metrics.go`.
        """
        with self._lock:
            return exposition(self.series())

    def series(self) -> list[Series]:
        """Return the current series, including those without values."""
        with self._lock:
            self.poll()
            return [*self._counters.series, *gauges(self._scheduler)]
