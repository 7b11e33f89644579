"""Kueue's metrics of a Scheduler, under Kueue's names, for dashboards made for Kueue."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import RLock

from kueuepy.engine.locks import survives_fork
from kueuepy.engine.records import BacklogView, ClusterQueueView, CohortView, LocalQueueView
from kueuepy.errors import checked_methods, not_copied
from kueuepy.objects import Timestamp
from kueuepy.platform.metrics.series import Histogram, Series, exposition
from kueuepy.platform.visibility import EventTable, SchedulerEvent, drain_events, event_table
from kueuepy.profiles import has_metric
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.tables.columns import UNLIMITED

# Kueue exports these gauges for ClusterQueues and for LocalQueues.
_OF_QUEUES = {
    "pending_workloads": "Number of pending workloads: "
    "active ones, which a cycle will consider, and inadmissible ones.",
    "reserving_active_workloads": "Number of workloads that hold quota.",
    "admitted_active_workloads": "Number of workloads that are admitted and not finished.",
    "finished_workloads": "Number of workloads that are finished and not deleted.",
}
_TEXTS = {
    **_OF_QUEUES,
    **{f"local_queue_{name}": text for name, text in _OF_QUEUES.items()},
    "pending_scheduling_hashes": "Number of groups of pending workloads that are equivalent for scheduling.",
    "unadmitted_workloads": "Number of workloads that are neither admitted nor finished, by reason.",
    "cluster_queue_status": "1 for the current status of the ClusterQueue, otherwise 0.",
    "cluster_queue_resource_pending": "Requests of pending workloads.",
    "cluster_queue_resource_reservation": "Quota reserved by workloads.",
    "cluster_queue_resource_usage": "Quota of admitted workloads.",
    "cluster_queue_nominal_quota": "The nominal quota.",
    "cluster_queue_borrowing_limit": "Maximum borrowed amount; +Inf without a limit.",
    "cluster_queue_lending_limit": "Maximum lent amount; +Inf without a limit.",
    "cluster_queue_weighted_share": "Weighted share; NaN for a ClusterQueue of weight 0 that borrows.",
    "cluster_queue_info": "1; the labels name the Cohorts above a ClusterQueue.",
    "cohort_weighted_share": "Weighted share; +Inf for a Cohort of weight 0 that borrows.",
    "cohort_subtree_quota": "Quota of the subtree of a Cohort.",
    "cohort_subtree_resource_reservations": "Quota reserved by workloads in the subtree of a Cohort.",
    "cohort_subtree_admitted_active_workloads": "Number of admitted, unfinished workloads below a Cohort.",
    "cohort_info": "1; the labels name the Cohorts above a Cohort.",
    "local_queue_unadmitted_workloads": "Number of workloads that are neither admitted nor finished.",
    "local_queue_status": "1 for the current status of the LocalQueue, otherwise 0.",
    "local_queue_resource_reservation": "Quota reserved by workloads.",
    "local_queue_resource_usage": "Quota of admitted workloads.",
    "local_queue_admission_fair_sharing_usage": "Usage by which admission fair sharing orders LocalQueues.",
}


def gauges(scheduler: Scheduler) -> Iterator[Series]:
    """Yield the current gauges, except those disabled by a feature gate or missing in the release."""
    off = ["local_queue_"] if not scheduler.configuration.enabled("LocalQueueMetrics") else []
    for gate, names in (
        ("SchedulingEquivalenceHashing", ("pending_scheduling_hashes",)),
        ("UnadmittedWorkloadsObservability", ("unadmitted_workloads", "local_queue_unadmitted_workloads")),
        ("MetricsForCohorts", ("cohort_info", "cluster_queue_info")),
    ):
        if not scheduler.configuration.enabled(gate):
            off += names
    release = scheduler.configuration.release
    for series in _Gauges(scheduler).all.values():
        if has_metric(release, series.name) and not series.name.removeprefix("kueue_").startswith(tuple(off)):
            yield series


# In the order of the amounts in a holding of the core.
_OF_QUOTA = ("resource_reservation", "resource_usage", "nominal_quota", "borrowing_limit", "lending_limit")


class _Gauges:
    """The values of all gauges at one point in time."""

    def __init__(self, scheduler: Scheduler) -> None:
        """Compute the gauges."""
        self.all = {name: Series(name, "gauge", text) for name, text in _TEXTS.items()}
        self._fair = scheduler.configuration.fair_sharing is not None
        engine = session_of(scheduler).engine
        found = engine.cohort_status()
        self._parents = {cohort.name: cohort.parent for cohort in found if cohort.root}
        # A Cohort in a cycle of parents has no root, and no quota.
        self._roots = {cohort.name: cohort.root for cohort in found}
        for cohort in found:
            self._cohort(cohort)
        for queue, backlog in zip(engine.cluster_queue_status(), engine.backlogs(), strict=True):
            self._cluster_queue(queue)
            self._backlog(backlog, blocked=bool(queue.why_inactive))
        for local in engine.local_queue_status():
            self._local_queue(local)
        for few in engine.unadmitted_workloads():
            of = {"cluster_queue": few.cluster_queue, "reason": few.reason, "underlying_cause": few.underlying_cause}
            self.all["unadmitted_workloads"].add(few.count, **of)
            local_queue = {"name": few.local_queue, "namespace": few.namespace}
            self._set("local_queue_unadmitted_workloads", few.count, **local_queue, **of)

    def _set(self, name: str, value: float, /, **labels: str) -> None:
        self.all[name].set(value, **labels)

    def _cluster_queue(self, view: ClusterQueueView) -> None:
        of = {"cluster_queue": view.name}
        self._workloads("", view, blocked=bool(view.why_inactive), of=of)
        status = {"": "active", "Terminating": "terminating"}.get(view.why_inactive, "pending")
        for one in ("pending", "active", "terminating"):
            self._set("cluster_queue_status", one == status, **of, status=one)
        self._held_by_cluster_queue(view)
        if self._fair:
            # Kueue exports NaN for a ClusterQueue of weight 0 that borrows, and infinity for such a Cohort.
            share = math.nan if math.isinf(view.share) else view.share
            self._set("cluster_queue_weighted_share", share, **of, cohort=view.cohort)
        root = self._roots.get(view.cohort, "")
        self._set("cluster_queue_info", 1, **of, parent_cohort=view.cohort, root_cohort=root)
        cohort = view.cohort
        while cohort in self._parents:
            self.all["cohort_subtree_admitted_active_workloads"].add(view.admitted, cohort=cohort)
            cohort = self._parents[cohort]

    def _backlog(self, view: BacklogView, *, blocked: bool) -> None:
        """Set the gauges of pending workloads (`pkg/cache/queue/metrics.go:reportCQPendingWorkloads`)."""
        of = {"cluster_queue": view.name}
        self._set("finished_workloads", view.finished, **of)
        self._set("pending_scheduling_hashes", 0 if blocked else view.active, **of, status="active")
        inadmissible = view.every if blocked else view.inadmissible
        self._set("pending_scheduling_hashes", inadmissible, **of, status="inadmissible")
        for resource, amount in view.asked:
            self._set("cluster_queue_resource_pending", _units(resource, amount), **of, resource=resource)

    def _held_by_cluster_queue(self, view: ClusterQueueView) -> None:
        for flavor, resources in view.holdings:
            for resource, *amounts in resources:
                of = {"cohort": view.cohort, "cluster_queue": view.name, "flavor": flavor, "resource": resource}
                for name, amount in zip(_OF_QUOTA, amounts, strict=True):
                    self._set(f"cluster_queue_{name}", _units(resource, amount), **of)

    def _cohort(self, view: CohortView) -> None:
        """Set the gauges of a Cohort (`pkg/cache/scheduler/cohort_metrics.go`).

        Cohorts whose parents form a cycle have only the gauge of their share.
        """
        if self._fair and view.is_declared:
            self._set("cohort_weighted_share", view.share, cohort=view.name)
        if not view.root:
            return
        self._set("cohort_info", 1, cohort=view.name, parent_cohort=view.parent, root_cohort=view.root)
        for flavor, resource, quota, used in view.cells:
            of = {"cohort": view.name, "flavor": flavor, "resource": resource}
            if quota > 0:
                self._set("cohort_subtree_quota", _units(resource, quota), **of)
            if used > 0:
                self._set("cohort_subtree_resource_reservations", _units(resource, used), **of)

    def _local_queue(self, view: LocalQueueView) -> None:
        of = {"name": view.name, "namespace": view.namespace}
        blocked = not (view.is_found and view.is_active)
        self._workloads("local_queue_", view, blocked=blocked, of=of)
        self._set("local_queue_finished_workloads", view.finished, **of)
        status = str(view.runs and not blocked)
        for one in ("True", "False", "Unknown"):
            self._set("local_queue_status", one == status, **of, active=one)
        for flavor, resources in view.holdings:
            for resource, reserved, used, *_ in resources:
                by_flavor = {**of, "flavor": flavor, "resource": resource}
                self._set("local_queue_resource_reservation", _units(resource, reserved), **by_flavor)
                self._set("local_queue_resource_usage", _units(resource, used), **by_flavor)
        if view.consumed is not None:
            queue = view.cluster_queue
            self._set("local_queue_admission_fair_sharing_usage", view.consumed[0], **of, cluster_queue=queue)

    def _workloads(
        self, prefix: str, view: ClusterQueueView | LocalQueueView, *, blocked: bool, of: dict[str, str]
    ) -> None:
        """Set the numbers of workloads; in an inactive queue, all pending workloads count as inadmissible."""
        name, left = f"{prefix}pending_workloads", 0 if blocked else view.active
        self._set(name, left, **of, status="active")
        self._set(name, view.inadmissible + view.active - left, **of, status="inadmissible")
        self._set(f"{prefix}reserving_active_workloads", view.reserving, **of)
        self._set(f"{prefix}admitted_active_workloads", view.admitted, **of)


def _units(resource: str, amount: int) -> float:
    """Convert an internal amount to the unit of the resource (cores for cpu); infinity if there is no limit."""
    if amount == UNLIMITED:
        return math.inf
    return amount / 1000 if resource == "cpu" else amount


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

    __reduce__ = not_copied

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        history: int | None = None,
        on_events: Callable[[list[SchedulerEvent]], object] | None = None,
    ) -> None:
        """Start recording events; the counters start at 0.

        Args:
            scheduler: The Scheduler.
            history: Maximum number of the latest events to keep; by default, all events are kept.
            on_events: A function that is called with the new events after each call of the Scheduler that has events,
                or after the journal has stored them. It may use the Scheduler. The call raises an exception of the
                function, but its change stands and is stored: do not repeat the call.
        """
        self._scheduler = scheduler
        self._lock = RLock()
        # A child process must not inherit a lock that another thread of its parent holds.
        survives_fork(self, "_lock")
        self._events: deque[SchedulerEvent] = deque(maxlen=history)
        self._counters = Counters(scheduler)
        self._on_events = on_events
        session_of(scheduler).engine.record_events(True)  # noqa: FBT003 - the core's own name
        if on_events is not None:
            session_of(scheduler).listeners += (self._tell,)

    def _tell(self) -> None:
        if (new := self.poll()) and self._on_events is not None:
            self._on_events(new)

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

        Requires the extra `metrics`.

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


# Kueue exports these counters for ClusterQueues and for LocalQueues.
_TOTALS = {
    "quota_reserved_workloads_total": "Number of quota reservations.",
    "admitted_workloads_total": "Number of admissions.",
    "finished_workloads_total": "Number of finished workloads.",
    "evicted_workloads_total": "Number of evictions, by reason and underlying cause.",
}
_TOTALS_OF_NO_LOCAL_QUEUE = {
    "admission_attempts_total": "Number of scheduling cycles with heads; the result is success if a head got quota.",
    "evicted_workloads_once_total": "Number of workloads evicted for this reason; each workload counts once.",
    "preempted_workloads_total": "Number of preemptions, by ClusterQueue of the preempting workload.",
    "preemption_target_recomputations_total": "Number of repeated searches because targets overlapped.",
    "cohort_subtree_admitted_workloads_total": "Number of admissions in the subtree of a Cohort.",
}
_DURATIONS = {
    "quota_reserved_wait_time_seconds": "Time from creation or requeuing to quota reservation, in seconds.",
    "admission_wait_time_seconds": "Time from creation or requeuing to admission, in seconds.",
    "admission_checks_wait_time_seconds": "Time from quota reservation to admission with admission checks, in seconds.",
    "ready_wait_time_seconds": "Time from creation or requeuing until all pods are ready, in seconds.",
    "admitted_until_ready_wait_time_seconds": "Time from admission until all pods are ready, in seconds.",
    "execution_time_seconds": "Total time for which finished workloads were admitted, in seconds.",
}
_DURATIONS_OF_NO_LOCAL_QUEUE = {
    "workload_eviction_latency_seconds": "Time from eviction until the quota is released, in seconds.",
    "pods_ready_to_evicted_time_seconds": "Time from the readiness of all pods to eviction, in seconds.",
}
# Histograms with 16 buckets; all others have 14 (`pkg/metrics/metrics.go:InitMetricVectors`).
_LONG = ("admission_wait_time_seconds", "execution_time_seconds", "local_queue_execution_time_seconds")
# Kueue's values of the label `result`, by the core's names.
_RESULTS = {"NewTargets": "new_targets", "DeferredFit": "deferred_fit", "Skipped": "skipped"}
# Kueue combines the reasons of deactivation into one value of the label `reason`.
_DEACTIVATED = "DeactivatedDueTo"


class Counters:
    """Counters and histograms of the events that were counted since the object was created."""

    def __init__(self, scheduler: Scheduler) -> None:
        """Create the counters with the value 0."""
        self._engine = session_of(scheduler).engine
        self._release = scheduler.configuration.release
        self._local = scheduler.configuration.enabled("LocalQueueMetrics")
        totals = {**_TOTALS_OF_NO_LOCAL_QUEUE, **self._twice(_TOTALS)}
        durations = {**_DURATIONS_OF_NO_LOCAL_QUEUE, **self._twice(_DURATIONS)}
        self._totals = {name: Series(name, "counter", text) for name, text in totals.items()}
        self._durations = {name: Histogram(name, text, 16 if name in _LONG else 14) for name, text in durations.items()}
        self._skips = Series("admission_cycle_preemption_skips", "gauge", "Preemptors that had to stand back.")
        self._skips_in: dict[str, int] = {}
        self._evicted: dict[str, set[tuple[str, str]]] = {}
        # Cycles before the creation of the counters do not count.
        self._cycles = self._engine.cycle_counts()

    @property
    def series(self) -> list[Series]:
        """The counters and histograms that exist in the release."""
        every = (*self._totals.values(), *self._durations.values(), self._skips)
        return [series for series in every if has_metric(self._release, series.name)]

    def count(self, events: Iterable[SchedulerEvent]) -> None:
        """Update the counters with events, in order."""
        admitted = []
        for event in events:
            self._count(event)
            if event.kind == "Admitted":
                admitted.append(event)
        self._count_subtrees(admitted)
        cycles = self._engine.cycle_counts()
        for result, now, before in zip(("success", "inadmissible"), cycles, self._cycles, strict=True):
            if now > before:
                self._totals["admission_attempts_total"].add(now - before, result=result)
        self._cycles = cycles

    def _twice(self, texts: dict[str, str]) -> dict[str, str]:
        """Return metrics of ClusterQueues, each followed by its variant for LocalQueues."""
        return {**texts, **({f"local_queue_{name}": text for name, text in texts.items()} if self._local else {})}

    def _count(self, event: SchedulerEvent) -> None:
        match event.kind:
            case "QuotaReserved":
                self._add("quota_reserved_workloads_total", event)
                self._observe("quota_reserved_wait_time_seconds", event, event.queued_since)
            case "Admitted":
                self._add("admitted_workloads_total", event)
                self._observe("admission_wait_time_seconds", event, event.queued_since)
                self._observe("admission_checks_wait_time_seconds", event, event.since)
            case "PodsReady" if event.reason == "Started":
                self._observe("ready_wait_time_seconds", event, event.queued_since)
                self._observe("admitted_until_ready_wait_time_seconds", event, event.since)
            case "Evicted":
                self._count_eviction(event)
            case "QuotaReleased" if event.since is not None:
                of = {"cluster_queue": event.cluster_queue, "reason": event.reason}
                self._durations["workload_eviction_latency_seconds"].observe(event.time.value - event.since.value, **of)
            case "PreemptionSkipped":
                self._count_skip(event)
            case "TargetsRecomputed":
                of = {"cluster_queue": event.cluster_queue, "result": _RESULTS[event.underlying_cause]}
                self._totals["preemption_target_recomputations_total"].add(**of)
            case "Finished":
                self._add("finished_workloads_total", event)
                self._observe("execution_time_seconds", event, event.since)
            case "Deleted":
                self._evicted.pop(event.workload, None)

    def _count_eviction(self, event: SchedulerEvent) -> None:
        reason = "Deactivated" if event.reason.startswith(_DEACTIVATED) else event.reason
        why = {"reason": reason, "underlying_cause": event.underlying_cause}
        self._add("evicted_workloads_total", event, **why)
        if event.since is not None:
            ran = self._durations["pods_ready_to_evicted_time_seconds"]
            ran.observe(event.time.value - event.since.value, cluster_queue=event.cluster_queue, **why)
        known = self._evicted.setdefault(event.workload, set())
        if (reason, event.underlying_cause) not in known:
            known.add((reason, event.underlying_cause))
            once = self._totals["evicted_workloads_once_total"]
            once.add(cluster_queue=event.cluster_queue, priority_class=_priority_class(event), **why)
        if event.preemptor:
            by = {"preempting_cluster_queue": event.preemptor_cluster_queue, "reason": event.preemption_reason}
            self._totals["preempted_workloads_total"].add(**by)

    def _count_skip(self, event: SchedulerEvent) -> None:
        """Count skipped preemptions.

        The metric of a ClusterQueue is the number of skipped preemptions in the last cycle that skipped any for this
        queue.
        """
        queue = {"cluster_queue": event.cluster_queue}
        if self._skips_in.get(event.cluster_queue) != event.cycle:
            self._skips_in[event.cluster_queue] = event.cycle
            self._skips.set(0, **queue)
        self._skips.add(**queue)

    def _count_subtrees(self, admitted: list[SchedulerEvent]) -> None:
        """Count admissions for all Cohorts above the ClusterQueues."""
        if not admitted:
            return
        parents = {cohort.name: cohort.parent for cohort in self._engine.cohort_status() if cohort.root}
        parents_of_queues = {queue.name: queue.cohort for queue in self._engine.cluster_queue_status()}
        for event in admitted:
            cohort = parents_of_queues.get(event.cluster_queue, "")
            while cohort in parents:
                of = {"cohort": cohort, "priority_class": _priority_class(event)}
                self._totals["cohort_subtree_admitted_workloads_total"].add(**of)
                cohort = parents[cohort]

    def _add(self, name: str, event: SchedulerEvent, **more: str) -> None:
        more = {**more, "priority_class": _priority_class(event)}
        self._totals[name].add(cluster_queue=event.cluster_queue, **more)
        if self._local:
            self._totals[f"local_queue_{name}"].add(name=event.local_queue, namespace=event.namespace, **more)

    def _observe(self, name: str, event: SchedulerEvent, since: Timestamp | None) -> None:
        """If `since` is known, observe the time from `since` to the event for its ClusterQueue and LocalQueue."""
        if since is None:
            return
        lasted, of = event.time.value - since.value, {"priority_class": _priority_class(event)}
        self._durations[name].observe(lasted, cluster_queue=event.cluster_queue, **of)
        if self._local:
            local = self._durations[f"local_queue_{name}"]
            local.observe(lasted, name=event.local_queue, namespace=event.namespace, **of)


def _priority_class(event: SchedulerEvent) -> str:
    return event.priority_class.rpartition("/")[2]
