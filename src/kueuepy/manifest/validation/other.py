"""Validation rules for Topologies, priority classes and Kubernetes objects.

Source: the CRDs of `apis/kueue/v1beta2`, and Kubernetes' own types.
"""

from kueuepy.errors.problems import Path
from kueuepy.manifest.validation.flavor import review_taints
from kueuepy.manifest.validation.podset import review_pod_spec
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import (
    HOSTNAME_LABEL,
    LimitRange,
    Node,
    Pod,
    PriorityClass,
    ResourceList,
    RuntimeClass,
    Topology,
)

_LIMIT_FIELDS = {
    "max": "max",
    "min": "min",
    "default": "default",
    "default_request": "defaultRequest",
    "max_limit_request_ratio": "maxLimitRequestRatio",
}


def review_topology(topology: Topology, review: Review) -> None:
    """Check a Topology."""
    path = ("spec", "levels")
    review.unique(topology.levels, path)
    if HOSTNAME_LABEL in topology.levels[:-1]:
        place = (*path, topology.levels.index(HOSTNAME_LABEL), "nodeLabel")
        review.problem(place, f"is {HOSTNAME_LABEL}; it may only be the last level")


def review_priority_class(priority: PriorityClass, review: Review) -> None:
    """Check a PriorityClass."""
    review.int32(priority.value, ("value",))


def review_limit_range(limits: LimitRange, review: Review) -> None:
    """Check the quantities of a LimitRange."""
    for position, item in enumerate(limits.limits):
        path = ("spec", "limits", position)
        for attribute, field in _LIMIT_FIELDS.items():
            _review_quantities(getattr(item, attribute), (*path, field), review)


def review_runtime_class(runtime: RuntimeClass, review: Review) -> None:
    """Check the quantities of a RuntimeClass."""
    _review_quantities(runtime.overhead, ("overhead", "podFixed"), review)


def review_node(node: Node, review: Review) -> None:
    """Check the quantities and taints of a Node."""
    _review_quantities(node.capacity, ("status", "capacity"), review)
    _review_quantities(node.allocatable, ("status", "allocatable"), review)
    review_taints(node.taints, ("spec", "taints"), review)


def review_pod(pod: Pod, review: Review) -> None:
    """Check the requests of a Pod and the name of its node."""
    review.subdomain(pod.node_name or None, ("spec", "nodeName"))
    review_pod_spec(pod.spec, ("spec",), review)


def _review_quantities(quantities: ResourceList, path: Path, review: Review) -> None:
    for name, value in quantities.items():
        review.quantity(value, (*path, name))
