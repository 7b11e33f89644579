"""Reduction of objects to the parts that influence decisions, so that recordings are small and contain no secrets."""

from __future__ import annotations

from typing import Any

_POD_FIELDS = (
    "affinity",
    "containers",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "overhead",
    "priority",
    "priorityClassName",
    "resourceClaims",
    "resources",
    "runtimeClassName",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
)
_CONTAINER_FIELDS = ("name", "resources", "restartPolicy")
_METADATA = ("annotations", "creationTimestamp", "generation", "labels", "name", "namespace", "resourceVersion", "uid")
_KUEUE = "kueue.x-k8s.io/"
_NODE_SPEC = ("taints", "unschedulable")
_NODE_STATUS = ("allocatable", "capacity")


def reduced(obj: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return an object without managedFields, and without parts of pods and nodes that do not influence decisions.

    Only the names, resources and restart policies of containers are kept, because environment variables, commands and
    volumes can contain secrets.
    """
    found = dict(obj)
    metadata = {name: value for name, value in (obj.get("metadata") or {}).items() if name in _METADATA}
    annotations = metadata.pop("annotations", None) or {}
    kept = {name: value for name, value in annotations.items() if _KUEUE in name}
    found["metadata"] = metadata | ({"annotations": kept} if kept else {})
    if kind == "Workload":
        return _workload(found, obj)
    if kind == "Node":
        return _node(found)
    if kind == "Pod":
        phase = {name: value for name, value in (found.get("status") or {}).items() if name == "phase"}
        return {**found, "spec": _pod(found.get("spec") or {}), "status": phase}
    if kind != "ConfigMap":
        status = found.pop("status", None) or {}
        if kind == "LocalQueue" and status.get("fairSharing"):  # the usage under admission fair sharing
            found["status"] = {"fairSharing": status["fairSharing"]}
    return found


def _workload(found: dict[str, Any], obj: dict[str, Any]) -> dict[str, Any]:
    owners = (obj.get("metadata") or {}).get("ownerReferences") or ()
    if owners:
        names = ("apiVersion", "kind", "name", "uid", "controller")
        found["metadata"]["ownerReferences"] = [{name: one[name] for name in names if name in one} for one in owners]
    spec = dict(found.get("spec") or {})
    spec["podSets"] = [_pod_set(one) for one in spec.get("podSets") or ()]
    return {**found, "spec": spec}


def _pod_set(pod_set: dict[str, Any]) -> dict[str, Any]:
    template = pod_set.get("template") or {}
    metadata = template.get("metadata") or {}
    kept = {}
    for name in ("labels", "annotations"):
        values = {key: value for key, value in (metadata.get(name) or {}).items() if _KUEUE in key}
        if values:
            kept[name] = values
    spec = _pod(template.get("spec") or {})
    return {**pod_set, "template": {**({"metadata": kept} if kept else {}), "spec": spec}}


def _pod(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the spec of a pod that influence decisions."""
    found = {name: value for name, value in spec.items() if name in _POD_FIELDS}
    for name in ("containers", "initContainers"):
        if name in found:
            found[name] = [{key: one[key] for key in _CONTAINER_FIELDS if key in one} for one in found[name] or ()]
    return found


def _node(found: dict[str, Any]) -> dict[str, Any]:
    """Return a node without addresses, images and heartbeats."""
    spec, status = found.get("spec") or {}, found.get("status") or {}
    conditions = [
        {name: one[name] for name in ("type", "status", "lastTransitionTime") if name in one}
        for one in status.get("conditions") or ()
    ]
    found["spec"] = {name: spec[name] for name in _NODE_SPEC if name in spec}
    found["status"] = {name: status[name] for name in _NODE_STATUS if name in status}
    if conditions:
        found["status"]["conditions"] = conditions
    return found


def content(obj: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that every write changes."""
    metadata = {k: v for k, v in (obj.get("metadata") or {}).items() if k not in ("resourceVersion", "generation")}
    return {**obj, "metadata": metadata}
