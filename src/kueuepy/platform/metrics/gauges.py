"""Kueue's gauges, computed from the current state of the engine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kueuepy.engine.tables import UNLIMITED
from kueuepy.platform.metrics.series import Series
from kueuepy.profiles import has_metric
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.engine.records import BacklogView, ClusterQueueView, CohortView, LocalQueueView, UnadmittedView
    from kueuepy.scheduler import Scheduler

_WAITING = "Number of pending workloads: active ones, which a cycle will consider, and inadmissible ones."
_TEXTS = {
    "pending_workloads": _WAITING,
    "pending_scheduling_hashes": "Number of groups of pending workloads that are equivalent for scheduling.",
    "unadmitted_workloads": "Number of workloads that are neither admitted nor finished, by reason.",
    "reserving_active_workloads": "Number of workloads that hold quota.",
    "admitted_active_workloads": "Number of workloads that are admitted and not finished.",
    "finished_workloads": "Number of workloads that are finished and not deleted.",
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
    "local_queue_pending_workloads": _WAITING,
    "local_queue_unadmitted_workloads": "Number of workloads that are neither admitted nor finished.",
    "local_queue_reserving_active_workloads": "Number of workloads that hold quota.",
    "local_queue_admitted_active_workloads": "Number of workloads that are admitted and not finished.",
    "local_queue_finished_workloads": "Number of workloads that are finished and not deleted.",
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
        self._roots = {cohort.name: cohort.root for cohort in found}
        for cohort in found:
            self._cohort(cohort)
        for queue, backlog in zip(engine.cluster_queue_status(), engine.backlogs(), strict=True):
            self._cluster_queue(queue)
            self._backlog(backlog, blocked=bool(queue.why_inactive))
        for local in engine.local_queue_status():
            self._local_queue(local)
        for few in engine.unadmitted_workloads():
            self._unadmitted(few)

    def _set(self, name: str, value: float, /, **labels: str) -> None:
        self.all[name].set(value, **labels)

    def _cluster_queue(self, view: ClusterQueueView) -> None:
        of = {"cluster_queue": view.name}
        self._pending("pending_workloads", view.active, view.inadmissible, blocked=bool(view.why_inactive), of=of)
        self._set("reserving_active_workloads", view.reserving, **of)
        self._set("admitted_active_workloads", view.admitted, **of)
        status = {"": "active", "Terminating": "terminating"}.get(view.why_inactive, "pending")
        for one in ("pending", "active", "terminating"):
            self._set("cluster_queue_status", one == status, **of, status=one)
        self._held_by_cluster_queue(view)
        if self._fair:
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

        Cohorts whose parents form a cycle have no gauges.
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
        self._pending("local_queue_pending_workloads", view.active, view.inadmissible, blocked=blocked, of=of)
        self._set("local_queue_reserving_active_workloads", view.reserving, **of)
        self._set("local_queue_admitted_active_workloads", view.admitted, **of)
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

    def _pending(self, name: str, active: int, inadmissible: int, *, blocked: bool, of: dict[str, str]) -> None:
        """Set the number of pending workloads; in an inactive queue, all workloads count as inadmissible."""
        self._set(name, 0 if blocked else active, **of, status="active")
        self._set(name, inadmissible + (active if blocked else 0), **of, status="inadmissible")

    def _unadmitted(self, view: UnadmittedView) -> None:
        of = {"cluster_queue": view.cluster_queue, "reason": view.reason, "underlying_cause": view.underlying_cause}
        self.all["unadmitted_workloads"].add(view.count, **of)
        self._set("local_queue_unadmitted_workloads", view.count, name=view.local_queue, namespace=view.namespace, **of)


def _units(resource: str, amount: int) -> float:
    """Convert an internal amount to the unit of the resource (cores for cpu); infinity if there is no limit."""
    if amount == UNLIMITED:
        return math.inf
    return amount / 1000 if resource == "cpu" else amount
