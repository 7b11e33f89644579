"""Rules of a Workload's status.

Source: `pkg/webhooks/workload_webhook.go`, `apis/kueue/v1beta2/workload_types.go:WorkloadStatus`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from kueuepy.errors.problems import Path
from kueuepy.manifest.decoding import decode
from kueuepy.manifest.validation.flavor import review_tolerations
from kueuepy.manifest.validation.review import Review, is_label_key, is_subdomain, parse_quantity
from kueuepy.objects import (
    Admission,
    AdmissionCheckState,
    Condition,
    PodSetAssignment,
    Toleration,
    Workload,
    WorkloadStatus,
)

_MAX_CONDITIONS = 16
_MAX_POD_SETS = 18
_MAX_CHECKS = 8
_MAX_NAME = 316
_MAX_REASON = 1024
_MAX_MESSAGE = 32768
_MAX_TOLERATIONS = 8
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")


def review_status(workload: Workload, status: WorkloadStatus, review: Review) -> None:
    """The rules of a Workload's status."""
    review.at_most(status.conditions, _MAX_CONDITIONS, ("status", "conditions"))
    review.unique((condition.type for condition in status.conditions), ("status", "conditions"), "type")
    for position, condition in enumerate(status.conditions):
        _review_condition(condition, ("status", "conditions", position), review)
    if status.admission is not None:
        _review_admission(workload, status, status.admission, review)
    elif status.is_true("QuotaReserved"):
        review.problem(("status", "admission"), "is required while QuotaReserved is true", "Required")
    _review_reclaimable(workload, status, review)
    review.at_most(status.admission_checks, _MAX_CHECKS, ("status", "admissionChecks"))
    review.unique((check.name for check in status.admission_checks), ("status", "admissionChecks"), "name")
    for position, check in enumerate(status.admission_checks):
        _review_check(workload, check, ("status", "admissionChecks", position), review)
    if status.requeue_state is not None:
        review.int32(status.requeue_state.count, ("status", "requeueState", "count"), least=0)


def _review_condition(condition: Condition, path: Path, review: Review) -> None:
    """A condition's type and reason; an empty reason is a condition that Kueue wrote without one."""
    if not is_label_key(condition.type):
        review.label_key(condition.type, (*path, "type"))
    if len(condition.message) > _MAX_MESSAGE:
        review.length(condition.message, _MAX_MESSAGE, (*path, "message"))
    if not _is_reason(condition.reason):
        review.length(condition.reason, _MAX_REASON, (*path, "reason"))
        if not _REASON.fullmatch(condition.reason):
            detail = f'is "{condition.reason}"; it must be one word of letters, digits and _ , :'
            review.problem((*path, "reason"), detail)


@lru_cache(maxsize=4096)
def _is_reason(reason: str) -> bool:
    return not reason or (len(reason) <= _MAX_REASON and bool(_REASON.fullmatch(reason)))


def _review_admission(workload: Workload, status: WorkloadStatus, admission: Admission, review: Review) -> None:
    path = ("status", "admission", "podSetAssignments")
    review.subdomain(admission.cluster_queue or None, ("status", "admission", "clusterQueue"))
    assignments = admission.pod_set_assignments
    review.at_most(assignments, _MAX_POD_SETS, path)
    review.unique((assignment.name for assignment in assignments), path, "name")
    known = [pod_set.name for pod_set in workload.pod_sets]
    reserved = status.is_true("QuotaReserved")
    if reserved and len(assignments) != len(known):
        review.problem(path, f"are {len(assignments)}; there must be one for each of the {len(known)} pod sets")
    for position, assignment in enumerate(assignments):
        place = (*path, position)
        if reserved and assignment.name not in known:
            review.problem(
                (*place, "name"), f'"{assignment.name}" is no pod set; it must be one of {", ".join(known)}', "NotFound"
            )
        _review_assignment(assignment, place, review, reserved=reserved)


def _review_assignment(assignment: PodSetAssignment, path: Path, review: Review, *, reserved: bool) -> None:
    review.int32(assignment.count, (*path, "count"), least=0)
    for resource, flavor in assignment.flavors.items():
        if not is_subdomain(flavor):
            review.subdomain(flavor, (*path, "flavors", resource))
    review.quantities(assignment.resource_usage, (*path, "resourceUsage"), negative=True)
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
    review.at_most(status.reclaimable_pods, _MAX_POD_SETS, path)
    review.unique((pods.name for pods in status.reclaimable_pods), path, "name")
    for position, pods in enumerate(status.reclaimable_pods):
        review.one_of(pods.name, counts, (*path, position, "name"))
        review.int32(pods.count, (*path, position, "count"), least=0)
        if pods.count > counts.get(pods.name, pods.count):
            review.problem((*path, position, "count"), f"is {pods.count}; it must be at most {counts[pods.name]}")


def _review_check(workload: Workload, check: AdmissionCheckState, path: Path, review: Review) -> None:
    review.length(check.name, _MAX_NAME, (*path, "name"), least=1)
    review.length(check.message, _MAX_MESSAGE, (*path, "message"))
    review.int32(check.requeue_after_seconds, (*path, "requeueAfterSeconds"), least=0)
    review.int32(check.retry_count, (*path, "retryCount"), least=0)
    review_updates(check.pod_set_updates, [one.name for one in workload.pod_sets], (*path, "podSetUpdates"), review)


def review_updates(updates: Iterable[Mapping[str, Any]], known: Sequence[str], path: Path, review: Review) -> None:
    """The rules of what a check adds to pod sets, of which these are known."""
    for position, update in enumerate(updates):
        place = (*path, position)
        review.one_of(update.get("name"), known, (*place, "name"))
        for name, rules in (
            ("labels", review.labels),
            ("nodeSelector", review.labels),
            ("annotations", review.annotations),
        ):
            rules(decode(dict[str, str], update.get(name) or {}, (*place, name), review) or {}, (*place, name))
        tolerations = decode(tuple[Toleration, ...], update.get("tolerations") or [], (*place, "tolerations"), review)
        review.at_most(tolerations or (), _MAX_TOLERATIONS, (*place, "tolerations"))
        review_tolerations(tolerations or (), (*place, "tolerations"), review)
