"""Validation rules for Workloads.

Source: `pkg/webhooks/workload_webhook.go:ValidateWorkload`, `apis/kueue/v1beta2/workload_types.go`.
"""

import re

from kueuepy.manifest.formats import LABEL_LENGTH, is_admission_gate
from kueuepy.manifest.validation.elastic import is_elastic
from kueuepy.manifest.validation.podset import review_pod_set
from kueuepy.manifest.validation.review import Review
from kueuepy.manifest.validation.status import review_status
from kueuepy.objects import Workload

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
