"""Validation rules for Workloads: their pod sets, their status, and slices of elastic jobs.

Source: `pkg/webhooks/workload_webhook.go:ValidateWorkload,validatePodSet`, `apis/kueue/v1beta2/workload_types.go`,
`pkg/workloadslicing/workloadslicing.go`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kueuepy.errors import Path
from kueuepy.manifest.formats import LABEL_LENGTH, is_admission_gate, is_label_key
from kueuepy.manifest.validation.review import Review, parse_quantity
from kueuepy.objects import Admission, PodSet, PodSetAssignment, Workload, WorkloadStatus

_POD_SETS = ("spec", "podSets")
_KINDS = {"kueue.x-k8s.io": "WorkloadPriorityClass", "scheduling.k8s.io": "PriorityClass"}
_BOOST = "kueue.x-k8s.io/priority-boost"
_GATED_BY = "kueue.x-k8s.io/admission-gated-by"
_SIGNED = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_INT32 = 2**31


def review_workload(workload: Workload, review: Review) -> None:
    """Check a Workload."""
    for position, pod_set in enumerate(workload.pod_sets):
        review_pod_set(pod_set, (*_POD_SETS, position), review)
    _review_min_counts(workload, review)
    _review_class_ref(workload, review)
    review_gated_by(workload, review)
    _review_boost(workload, review)
    if workload.status is not None:
        review_status(workload, workload.status, review)


def _review_min_counts(workload: Workload, review: Review) -> None:
    variable = sum(pod_set.min_count is not None for pod_set in workload.pod_sets)
    if variable > 1:
        review.problem(_POD_SETS, f"have minCount in {variable} pod sets; at most one may have it")
    if variable and is_elastic(workload, review):
        review.problem(_POD_SETS, "have minCount in an elastic job; it may have one or be the other")


def _review_class_ref(workload: Workload, review: Review) -> None:
    ref, path = workload.priority_class_ref, ("spec", "priorityClassRef")
    if ref is None:
        return
    if ref.group in _KINDS:
        review.one_of(ref.kind, [_KINDS[ref.group]], (*path, "kind"))
    if workload.priority is None:
        review.problem(("spec", "priority"), "is required where priorityClassRef is set", "Required")


def gates_of(workload: Workload) -> list[str]:
    """Return the names of the admission gates in a Workload's annotation."""
    text = workload.annotations.get(_GATED_BY, "")
    return [gate.strip() for gate in text.split(",")] if text.strip() else []


def review_gated_by(workload: Workload, review: Review) -> None:
    """Check that admission gates are unique names with a domain and a path."""
    path = ("metadata", "annotations", _GATED_BY)
    gates = gates_of(workload)
    if not gates or not review.enabled("AdmissionGatedBy"):
        return
    for gate in sorted({gate for gate in gates if gates.count(gate) > 1}):
        review.problem(path, f'names gate "{gate}" more than once; name each once')
    for gate in gates:
        if not is_admission_gate(gate):
            detail = f'names gate "{gate}"; a gate is a domain, / and a path, with at most {LABEL_LENGTH} characters'
            review.problem(path, detail)


def _review_boost(workload: Workload, review: Review) -> None:
    boost = workload.annotations.get(_BOOST)
    if boost is None or not review.enabled("PriorityBoost"):
        return
    if not _SIGNED.fullmatch(boost) or not -_INT32 <= int(boost) < _INT32:
        review.problem(("metadata", "annotations", _BOOST), f'is "{boost}"; it must be a signed 32-bit integer')


# Kueue counts pods itself if the quota of a ClusterQueue covers this resource.
_RESERVED = "pods"


def review_pod_set(pod_set: PodSet, path: Path, review: Review) -> None:
    """Check one pod set."""
    if pod_set.min_count is not None and pod_set.min_count > pod_set.count:
        detail = f"is {pod_set.min_count}; it must be at most count, {pod_set.count}"
        review.problem((*path, "minCount"), detail)
    _review_template(pod_set.template, (*path, "template"), review)
    if pod_set.topology_request and review.enabled("TASValidateWorkloadSliceSize"):
        _review_topology(pod_set.topology_request, (*path, "topologyRequest"), review)


def _review_template(template: dict[str, Any], path: Path, review: Review) -> None:
    """Check the metadata and the spec of a pod template.

    A pod template that many Workloads share is checked only once.
    """
    metadata, spec = template.get("metadata"), template.get("spec")
    for part, rules, field in ((metadata, _review_metadata, "metadata"), (spec, review_pod_spec, "spec")):
        if not part or part in review.validated:
            continue
        before = len(review.problems) + len(review.notes)
        rules(part, (*path, field), review)
        if before == len(review.problems) + len(review.notes):
            review.validated.add(part)


def _review_metadata(metadata: dict[str, Any], path: Path, review: Review) -> None:
    if review.enabled("WorkloadValidationForPodSetMetadata"):
        review.labels(metadata.get("labels") or {}, (*path, "labels"))
        review.annotations(metadata.get("annotations") or {}, (*path, "annotations"))


def review_pod_spec(spec: dict[str, Any], path: Path, review: Review) -> None:
    """Check the resources of a pod's containers."""
    for field in ("initContainers", "containers"):
        for position, container in enumerate(spec.get(field) or ()):
            if resources := container.get("resources"):
                _review_resources(resources, (*path, field, position, "resources"), review)
    if resources := spec.get("resources"):
        _review_resources(resources, (*path, "resources"), review)
    review.quantities(spec.get("overhead") or {}, (*path, "overhead"), negative=True)


def _review_resources(resources: dict[str, Any], path: Path, review: Review) -> None:
    """Check that requests and limits are non-negative quantities. The resource `pods` is reserved for Kueue."""
    negative = not review.enabled("WorkloadValidateResourcesAreNonNegative")
    for field in ("requests", "limits"):
        amounts = resources.get(field) or {}
        review.quantities(amounts, (*path, field), negative=negative)
        if _RESERVED in amounts:
            detail = "is reserved for Kueue's own count of pods; request other resources"
            review.problem((*path, field, _RESERVED), detail)


def _review_topology(request: dict[str, Any], path: Path, review: Review) -> None:
    size = request.get("podSetSliceSize")
    review.int32(size, (*path, "podSetSliceSize"), least=1)
    if (size is None) != (request.get("podSetSliceRequiredTopology") is None):
        missing = "podSetSliceSize" if size is None else "podSetSliceRequiredTopology"
        review.problem(
            (*path, missing), "is required: podSetSliceRequiredTopology and podSetSliceSize belong together", "Required"
        )
    for position, constraint in enumerate(request.get("podsetSliceRequiredTopologyConstraints") or ()):
        location = (*path, "podsetSliceRequiredTopologyConstraints", position)
        review.int32(constraint.get("size") or 0, (*location, "size"), least=1)


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
        location = (*path, position)
        if reserved and assignment.name not in known:
            review.problem(
                (*location, "name"),
                f'"{assignment.name}" is not a pod set; it must be one of {", ".join(known)}',
                "NotFound",
            )
        _review_assignment(assignment, location, review, reserved=reserved)


def _review_assignment(assignment: PodSetAssignment, path: Path, review: Review, *, reserved: bool) -> None:
    count = assignment.count or 0
    if not reserved or count <= 1:
        return
    for resource, usage in assignment.resource_usage.items():
        quantity = parse_quantity(usage)
        if not isinstance(quantity, str) and quantity.request(resource) % count:
            location = (*path, "resourceUsage", resource)
            review.problem(location, f"is {usage}; it must be a multiple of the count, {count}")


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
        location = (*path, position)
        review.one_of(update.get("name"), known, (*location, "name"))
        for name, rules in (
            ("labels", review.labels),
            ("nodeSelector", review.labels),
            ("annotations", review.annotations),
        ):
            rules(update.get(name) or {}, (*location, name))


_ELASTIC = "kueue.x-k8s.io/elastic-job"
_REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"


def is_elastic(workload: Workload, review: Review) -> bool:
    """Return whether the Workload is a slice of an elastic job, which can be scaled while it runs."""
    return review.enabled("ElasticJobsViaWorkloadSlices") and workload.annotations.get(_ELASTIC) == "true"


def is_replacement(workload: Workload) -> bool:
    """Return whether the Workload is a slice of an elastic job that replaces another slice."""
    return _REPLACES in workload.annotations
