"""Validation rules for flavors, Topologies, priority classes, Kubernetes objects, and parameters of admission checks.

Parameters of admission checks have no Python class and are stored as dicts.

Source: `pkg/webhooks/resourceflavor_webhook.go`, the CRDs of `apis/kueue/v1beta2`,
`apis/kueue/v1beta2/multikueue_types.go`, and Kubernetes' own types.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

import kueuepy.objects as api
from kueuepy.errors import Path, shown
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.schema.structure import structured
from kueuepy.manifest.schema.table import schema_of
from kueuepy.manifest.validation.review import Review
from kueuepy.manifest.validation.workload import review_pod_spec
from kueuepy.objects.flavor import TAINT_EFFECTS


def review_topology(topology: api.Topology, review: Review) -> None:
    """Check a Topology."""
    path = ("spec", "levels")
    review.unique(topology.levels, path)
    if api.HOSTNAME_LABEL in topology.levels[:-1]:
        location = (*path, topology.levels.index(api.HOSTNAME_LABEL), "nodeLabel")
        review.problem(location, f"is {api.HOSTNAME_LABEL}; it may only be the last level")


def review_priority_class(priority: api.PriorityClass, review: Review) -> None:
    """Check a PriorityClass."""
    review.int32(priority.value, ("value",))


def review_limit_range(limits: api.LimitRange, review: Review) -> None:
    """Check the quantities of a LimitRange."""
    for position, item in enumerate(limits.limits):
        path = ("spec", "limits", position)
        for field in msgspec.structs.fields(item):
            if isinstance(amounts := getattr(item, field.name), dict):
                _review_quantities(amounts, (*path, field.encode_name), review)


def review_runtime_class(runtime: api.RuntimeClass, review: Review) -> None:
    """Check the quantities of a RuntimeClass."""
    _review_quantities(runtime.overhead, ("overhead", "podFixed"), review)


def review_node(node: api.Node, review: Review) -> None:
    """Check the quantities and taints of a Node."""
    _review_quantities(node.capacity, ("status", "capacity"), review)
    _review_quantities(node.allocatable, ("status", "allocatable"), review)
    review_taints(node.taints, ("spec", "taints"), review)


def review_pod(pod: api.Pod, review: Review) -> None:
    """Check the requests of a Pod and the name of its node."""
    review.subdomain(pod.node_name or None, ("spec", "nodeName"))
    review_pod_spec(pod.spec, ("spec",), review)


def _review_quantities(quantities: api.ResourceList, path: Path, review: Review) -> None:
    for name, value in quantities.items():
        review.quantity(value, (*path, name))


def review_flavor(flavor: api.ResourceFlavor, review: Review) -> None:
    """Check a ResourceFlavor."""
    review.labels(flavor.node_labels, ("spec", "nodeLabels"))
    review_taints(flavor.node_taints, ("spec", "nodeTaints"), review)
    if flavor.topology_name is not None and not flavor.node_labels:
        review.problem(("spec", "nodeLabels"), "is empty; a flavor with a topology needs at least one node label")


def review_taints(taints: Iterable[api.Taint], path: Path, review: Review) -> None:
    """Check a list of taints."""
    seen = set()
    for position, taint in enumerate(taints):
        location = (*path, position)
        review.label_key(taint.key, (*location, "key"))
        review.label_value(taint.value, (*location, "value"))
        review.one_of(taint.effect, TAINT_EFFECTS, (*location, "effect"))
        if (taint.key, taint.effect) in seen:
            review.problem(location, f"{taint.key} with {taint.effect} occurs twice; give each pair once", "Duplicate")
        seen.add((taint.key, taint.effect))


def review_parameters(version: str, doc: dict[str, Any], findings: Findings) -> dict[str, Any]:
    """Validate an object, and return it without nulls. Problems are added to `findings`."""
    kind = str(doc.get("kind"))
    if schema_of(kind, version) is None:
        findings.problem(("apiVersion",), f"is of version {shown(version)}; it must be v1beta1 or v1beta2")
        return doc
    doc = structured(kind, version, doc, findings)
    if findings.problems:
        return doc
    spec = doc.get("spec")
    if kind == "MultiKueueConfig" and spec:
        _review_config(spec, findings)
    elif kind == "MultiKueueCluster" and version != "v1beta1" and "clusterSource" in (spec or {}):
        _review_cluster(doc["spec"]["clusterSource"], findings)
    return doc


def _review_config(spec: dict[str, Any], findings: Findings) -> None:
    path = ("spec", "clusters")
    clusters = spec.get("clusters", ())
    if len(set(clusters)) < len(clusters):
        findings.problem(path, "names a cluster twice; each may occur once", "Duplicate")


def _review_cluster(source: dict[str, Any], findings: Findings) -> None:
    if len(source) != 1:
        path = ("spec", "clusterSource")
        findings.problem(path, f"has {len(source)} of kubeConfig and clusterProfileRef; it must have one of them")
