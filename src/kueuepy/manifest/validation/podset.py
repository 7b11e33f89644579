"""Validation rules for pod sets: counts, templates and topology requests.

Source: `pkg/webhooks/workload_webhook.go:validatePodSet`, `apis/kueue/v1beta2/workload_types.go`.
"""

from typing import Any

from kueuepy.errors.problems import Path
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import PodSet

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
        place = (*path, "podsetSliceRequiredTopologyConstraints", position)
        review.int32(constraint.get("size") or 0, (*place, "size"), least=1)
