"""Validation rules for the status of a Workload.

Source: `pkg/webhooks/workload_webhook.go`, `apis/kueue/v1beta2/workload_types.go:WorkloadStatus`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kueuepy.errors.problems import Path
from kueuepy.manifest.formats import is_label_key
from kueuepy.manifest.validation.elastic import is_elastic
from kueuepy.manifest.validation.review import Review, parse_quantity
from kueuepy.objects import (
    Admission,
    PodSetAssignment,
    Workload,
    WorkloadStatus,
)


def review_status(workload: Workload, status: WorkloadStatus, review: Review) -> None:
    """Check the status of a Workload."""
    for position, condition in enumerate(status.conditions):
        if not is_label_key(condition.type):
            review.label_key(condition.type, ("status", "conditions", position, "type"))
    if status.admission is not None:
        _review_admission(workload, status, status.admission, review)
    elif status.is_true("QuotaReserved"):
        review.problem(("status", "admission"), "is required while QuotaReserved is true", "Required")
    _review_reclaimable(workload, status, review)
    known = [one.name for one in workload.pod_sets]
    for position, check in enumerate(status.admission_checks):
        review_updates(check.pod_set_updates, known, ("status", "admissionChecks", position, "podSetUpdates"), review)


def _review_admission(workload: Workload, status: WorkloadStatus, admission: Admission, review: Review) -> None:
    path = ("status", "admission", "podSetAssignments")
    assignments = admission.pod_set_assignments
    known = [pod_set.name for pod_set in workload.pod_sets]
    reserved = status.is_true("QuotaReserved")
    if reserved and len(assignments) != len(known):
        review.problem(path, f"are {len(assignments)}; there must be one for each of the {len(known)} pod sets")
    for position, assignment in enumerate(assignments):
        place = (*path, position)
        if reserved and assignment.name not in known:
            review.problem(
                (*place, "name"),
                f'"{assignment.name}" is not a pod set; it must be one of {", ".join(known)}',
                "NotFound",
            )
        _review_assignment(assignment, place, review, reserved=reserved)


def _review_assignment(assignment: PodSetAssignment, path: Path, review: Review, *, reserved: bool) -> None:
    count = assignment.count or 0
    if not reserved or count <= 1:
        return
    for resource, usage in assignment.resource_usage.items():
        quantity = parse_quantity(usage)
        if not isinstance(quantity, str) and quantity.request(resource) % count:
            place = (*path, "resourceUsage", resource)
            review.problem(place, f"is {usage}; it must be a multiple of the count, {count}")


def _review_reclaimable(workload: Workload, status: WorkloadStatus, review: Review) -> None:
    path = ("status", "reclaimablePods")
    counts = {pod_set.name: pod_set.count for pod_set in workload.pod_sets}
    # Pods of an elastic job can be reclaimable even after the job was scaled down.
    admitted = admitted_counts(status) if is_elastic(workload, review) and not review.is_update else {}
    for position, pods in enumerate(status.reclaimable_pods):
        review.one_of(pods.name, counts, (*path, position, "name"))
        if pods.count > max(counts.get(pods.name, pods.count), admitted.get(pods.name, 0)):
            review.problem((*path, position, "count"), f"is {pods.count}; it must be at most {counts[pods.name]}")


def admitted_counts(status: WorkloadStatus) -> dict[str, int]:
    """Return the number of admitted pods by pod set."""
    assignments = status.admission.pod_set_assignments if status.admission else ()
    return {one.name: one.count for one in assignments if one.count is not None}


def review_updates(updates: Iterable[Mapping[str, Any]], known: Sequence[str], path: Path, review: Review) -> None:
    """Check the pod set updates that an admission check requests."""
    for position, update in enumerate(updates):
        place = (*path, position)
        review.one_of(update.get("name"), known, (*place, "name"))
        for name, rules in (
            ("labels", review.labels),
            ("nodeSelector", review.labels),
            ("annotations", review.annotations),
        ):
            rules(update.get(name) or {}, (*place, name))
