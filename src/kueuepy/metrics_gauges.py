"""Kueue's gauges: what there is at this moment, read off the engine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kueuepy.frames import UNLIMITED
from kueuepy.metrics_text import Series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.scheduler import Scheduler
    from kueuepy.visibility_views import ClusterQueueView, CohortView, LocalQueueView

_TEXTS = {
    "pending_workloads": "Workloads that wait, active ones and inadmissible ones.",
    "reserving_active_workloads": "Workloads that hold quota.",
    "admitted_active_workloads": "Workloads that are admitted and not finished.",
    "cluster_queue_status": "1 for the status that the ClusterQueue has.",
    "cluster_queue_resource_reservation": "What workloads with quota hold.",
    "cluster_queue_resource_usage": "What admitted workloads hold.",
    "cluster_queue_nominal_quota": "The nominal quota.",
    "cluster_queue_borrowing_limit": "How much may be borrowed; +Inf without a limit.",
    "cluster_queue_lending_limit": "How much may be lent; +Inf without a limit.",
    "cluster_queue_weighted_share": "The fair share; NaN for one of weight 0 that borrows.",
    "cluster_queue_info": "1; tells the Cohorts above a ClusterQueue.",
    "cohort_weighted_share": "The fair share; NaN for one of weight 0 that borrows.",
    "cohort_subtree_quota": "The quota of a Cohort and all below it.",
    "cohort_subtree_resource_reservations": "What workloads below a Cohort hold.",
    "cohort_subtree_admitted_active_workloads": "Workloads below a Cohort that are admitted and not finished.",
    "cohort_info": "1; tells the Cohorts above a Cohort.",
    "local_queue_pending_workloads": "Workloads that wait, active ones and inadmissible ones.",
    "local_queue_reserving_active_workloads": "Workloads that hold quota.",
    "local_queue_admitted_active_workloads": "Workloads that are admitted and not finished.",
    "local_queue_status": "1 for the status that the LocalQueue has.",
    "local_queue_resource_reservation": "What workloads with quota hold.",
    "local_queue_resource_usage": "What admitted workloads hold.",
    "local_queue_admission_fair_sharing_usage": "The usage that orders LocalQueues.",
}


class Gauges:
    """The gauges of one moment."""

    def __init__(self, scheduler: Scheduler) -> None:
        """Reads them."""
        self._all = {name: Series(name, "gauge", text) for name, text in _TEXTS.items()}
        self._fair = scheduler.configuration.fair_sharing is not None
        engine = scheduler.engine
        cohorts = engine.cohort_status()
        self._roots = {name: root for name, _, root, *_ in cohorts}
        self._parents = {name: parent for name, parent, *_ in cohorts}
        self._cohort_of: dict[str, str] = {}
        for cohort in cohorts:
            self._cohort(cohort)
        for queue in engine.cluster_queue_status():
            self._cluster_queue(queue)
        for local in engine.local_queue_status():
            self._local_queue(local)

    def __iter__(self) -> Iterator[Series]:
        """All of them."""
        return iter(self._all.values())

    def cohorts_above(self, cluster_queue: str) -> Iterator[str]:
        """The Cohorts above a ClusterQueue."""
        return self._ancestors(self._cohort_of.get(cluster_queue, ""))

    def _ancestors(self, cohort: str) -> Iterator[str]:
        """The Cohort and those above it; none where they form a cycle."""
        while cohort and self._roots.get(cohort):
            yield cohort
            cohort = self._parents[cohort]

    def _set(self, name: str, value: float, /, **labels: str) -> None:
        self._all[name].set(value, **labels)

    def _cluster_queue(self, view: ClusterQueueView) -> None:
        name, cohort, reason, _, active, inadmissible, reserving, admitted, share, flavors = view
        self._cohort_of[name] = cohort
        blocked = bool(reason)
        self._set("pending_workloads", 0 if blocked else active, cluster_queue=name, status="active")
        waiting = inadmissible + (active if blocked else 0)
        self._set("pending_workloads", waiting, cluster_queue=name, status="inadmissible")
        self._set("reserving_active_workloads", reserving, cluster_queue=name)
        self._set("admitted_active_workloads", admitted, cluster_queue=name)
        status = "terminating" if reason == "Terminating" else "pending" if reason else "active"
        for one in ("pending", "active", "terminating"):
            self._set("cluster_queue_status", one == status, cluster_queue=name, status=one)
        for flavor, resources in flavors:
            for resource, reserved, used, nominal, borrowing, lending in resources:
                labels = {"cohort": cohort, "cluster_queue": name, "flavor": flavor, "resource": resource}
                self._set("cluster_queue_resource_reservation", _units(resource, reserved), **labels)
                self._set("cluster_queue_resource_usage", _units(resource, used), **labels)
                self._set("cluster_queue_nominal_quota", _units(resource, nominal), **labels)
                self._set("cluster_queue_borrowing_limit", _units(resource, borrowing), **labels)
                self._set("cluster_queue_lending_limit", _units(resource, lending), **labels)
        if self._fair:
            self._set("cluster_queue_weighted_share", _share(share), cluster_queue=name, cohort=cohort)
        root = self._roots.get(cohort, "")
        self._set("cluster_queue_info", 1, cluster_queue=name, parent_cohort=cohort, root_cohort=root)
        for ancestor in self._ancestors(cohort):
            self._all["cohort_subtree_admitted_active_workloads"].add(admitted, cohort=ancestor)

    def _cohort(self, view: CohortView) -> None:
        name, parent, root, _, share, cells = view
        if self._fair:
            self._set("cohort_weighted_share", _share(share), cohort=name)
        for flavor, resource, quota, used in cells:
            labels = {"cohort": name, "flavor": flavor, "resource": resource}
            self._set("cohort_subtree_quota", _units(resource, quota), **labels)
            self._set("cohort_subtree_resource_reservations", _units(resource, used), **labels)
        self._set("cohort_info", 1, cohort=name, parent_cohort=parent, root_cohort=root)

    def _local_queue(self, view: LocalQueueView) -> None:
        namespace, name, queue, runs, found, is_active, active, inadmissible, reserving, admitted, afs, flavors = view
        labels = {"name": name, "namespace": namespace}
        blocked = not (found and is_active)
        self._set("local_queue_pending_workloads", 0 if blocked else active, **labels, status="active")
        waiting = inadmissible + (active if blocked else 0)
        self._set("local_queue_pending_workloads", waiting, **labels, status="inadmissible")
        self._set("local_queue_reserving_active_workloads", reserving, **labels)
        self._set("local_queue_admitted_active_workloads", admitted, **labels)
        status = str(runs and found and is_active)
        for one in ("True", "False", "Unknown"):
            self._set("local_queue_status", one == status, **labels, active=one)
        for flavor, resources in flavors:
            for resource, reserved, used, *_ in resources:
                of = {**labels, "flavor": flavor, "resource": resource}
                self._set("local_queue_resource_reservation", _units(resource, reserved), **of)
                self._set("local_queue_resource_usage", _units(resource, used), **of)
        if afs is not None:
            self._set("local_queue_admission_fair_sharing_usage", afs[0], **labels, cluster_queue=queue)


def _units(resource: str, amount: int) -> float:
    """An amount of the core in the unit of the resource: cores of cpu; infinity where it has no limit."""
    if amount == UNLIMITED:
        return math.inf
    return amount / 1000 if resource == "cpu" else amount


def _share(share: float) -> float:
    return math.nan if math.isinf(share) else share
