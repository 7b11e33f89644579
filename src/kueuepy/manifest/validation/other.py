"""Rules of the smaller objects: checks, topologies, priority classes, and those of Kubernetes itself.

Source: the CRDs of `apis/kueue/v1beta2`, and Kubernetes' own types.
"""

import re

from kueuepy.errors.problems import Path
from kueuepy.manifest.validation.flavor import review_taints
from kueuepy.manifest.validation.podset import review_pod_spec
from kueuepy.manifest.validation.review import DNS_LABEL, Review
from kueuepy.objects import (
    HOSTNAME_LABEL,
    AdmissionCheck,
    LimitRange,
    Node,
    Pod,
    PriorityClass,
    ResourceList,
    RuntimeClass,
    Topology,
    WorkloadPriorityClass,
)

_MAX_CONTROLLER = 253
_MAX_LEVELS = 16
_MAX_LEVEL = 316
_MAX_WORD = 63
_MAX_DESCRIPTION = 2048
_KIND = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.IGNORECASE)
_LIMIT_FIELDS = {
    "max": "max",
    "min": "min",
    "default": "default",
    "default_request": "defaultRequest",
    "max_limit_request_ratio": "maxLimitRequestRatio",
}


def review_check(check: AdmissionCheck, review: Review) -> None:
    """The rules of an AdmissionCheck."""
    review.length(check.controller_name, _MAX_CONTROLLER, ("spec", "controllerName"), least=1)
    if check.parameters is None:
        return
    path = ("spec", "parameters")
    group, kind, name = (check.parameters.get(field) or "" for field in ("apiGroup", "kind", "name"))
    review.subdomain(group, (*path, "apiGroup"))
    if not _KIND.fullmatch(kind) or len(kind) > _MAX_WORD:
        review.problem((*path, "kind"), f'is "{kind}"; it must be the name of a kind')
    if not DNS_LABEL.fullmatch(name) or len(name) > _MAX_WORD:
        review.label(name, (*path, "name"))


def review_topology(topology: Topology, review: Review) -> None:
    """The rules of a Topology."""
    path = ("spec", "levels")
    review.some(topology.levels, _MAX_LEVELS, path)
    review.unique(topology.levels, path)
    for position, level in enumerate(topology.levels):
        review.label_key(level, (*path, position, "nodeLabel"))
        review.length(level, _MAX_LEVEL, (*path, position, "nodeLabel"), least=1)
    if HOSTNAME_LABEL in topology.levels[:-1]:
        place = (*path, topology.levels.index(HOSTNAME_LABEL), "nodeLabel")
        review.problem(place, f"is {HOSTNAME_LABEL}; it may only be the last level")


def review_workload_priority_class(priority: WorkloadPriorityClass, review: Review) -> None:
    """The rules of a WorkloadPriorityClass."""
    review.int32(priority.value, ("value",))
    review.length(priority.description, _MAX_DESCRIPTION, ("description",))


def review_priority_class(priority: PriorityClass, review: Review) -> None:
    """The rules of a PriorityClass."""
    review.int32(priority.value, ("value",))


def review_limit_range(limits: LimitRange, review: Review) -> None:
    """The quantities of a LimitRange."""
    for position, item in enumerate(limits.limits):
        path = ("spec", "limits", position)
        for attribute, field in _LIMIT_FIELDS.items():
            _review_quantities(getattr(item, attribute), (*path, field), review)


def review_runtime_class(runtime: RuntimeClass, review: Review) -> None:
    """The quantities of a RuntimeClass."""
    _review_quantities(runtime.overhead, ("overhead", "podFixed"), review)


def review_node(node: Node, review: Review) -> None:
    """The quantities and taints of a Node."""
    _review_quantities(node.capacity, ("status", "capacity"), review)
    _review_quantities(node.allocatable, ("status", "allocatable"), review)
    review_taints(node.taints, ("spec", "taints"), review)


def review_pod(pod: Pod, review: Review) -> None:
    """The requests of a Pod, and its node."""
    review.subdomain(pod.node_name or None, ("spec", "nodeName"))
    review_pod_spec(pod.spec, ("spec",), review)


def _review_quantities(quantities: ResourceList, path: Path, review: Review) -> None:
    for name, value in quantities.items():
        review.quantity(value, (*path, name))
