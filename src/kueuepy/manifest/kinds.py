"""The kinds of objects, and the parts of their manifests that their classes do not contain as they are."""

from collections.abc import Callable
from typing import Any

import msgspec

import kueuepy.objects as api
from kueuepy.manifest import devices, placements
from kueuepy.manifest.body import Body, changed, part, present
from kueuepy.manifest.forms import NULL
from kueuepy.manifest.schema.table import METADATA
from kueuepy.objects import NamespacedObject, Object

KUEUE = "kueue.x-k8s.io"
# The API requires times of conditions and usage that the classes do not have.
_EPOCH = "1970-01-01T00:00:00Z"


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """Description of one kind of object.

    Attributes:
        cls: Python class of the kind.
        group: API group; empty for Kubernetes' core API.
        version: API version in which objects are written.
        is_open: Whether a manifest may have other fields than those of the class.
        read: Function that computes fields from other parts of the manifest, before the fields are collected.
        write: The inverse of `read`.
    """

    cls: type[Object]
    group: str = KUEUE
    version: str = "v1beta2"
    is_open: bool = False
    read: Callable[[Body], Body] | None = None
    write: Callable[[Body], Body] | None = None

    @property
    def name(self) -> str:
        """Name of the kind in manifests."""
        return self.cls.__name__

    @property
    def api_version(self) -> str:
        """Value of `apiVersion` in manifests that are written."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def namespaced(self) -> bool:
        """Whether objects of the kind are namespaced."""
        return issubclass(self.cls, NamespacedObject)


def _conditions(doc: Body) -> list[Body]:
    found = part(doc, "status").get("conditions")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _read_queue(doc: Body) -> Body:
    """Return a ClusterQueue with a namespace selector; if it is absent, it selects no namespace, not all."""
    return {**doc, "spec": {"namespaceSelector": NULL, **part(doc, "spec")}}


def _write_queue(doc: Body) -> Body:
    spec = part(doc, "spec")
    return {**doc, "spec": present({**spec, "namespaceSelector": spec.get("namespaceSelector", {})})}


def _read_check(doc: Body) -> Body:
    states = [one.get("status") == "True" for one in _conditions(doc) if one.get("type") == "Active"]
    conditions = part(doc, "status").get("conditions")
    is_unknown = not (isinstance(conditions, list) and conditions)
    return {**doc, "@active": any(states) or is_unknown}


def _write_check(doc: Body) -> Body:
    if doc.pop("@active", True):
        return doc
    reason = {"reason": "Inactive", "message": "", "lastTransitionTime": _EPOCH}
    return {**doc, "status": {"conditions": [{"type": "Active", "status": "False", **reason}]}}


# Condition written for a Node without a condition `Ready`; a Node without any conditions would be read as ready.
_NO_CONDITION = {"type": "MemoryPressure", "status": "False"}


def _read_node(doc: Body) -> Body:
    conditions = _conditions(doc)
    ready = next((one for one in conditions if one.get("type") == "Ready"), None)
    others = {one["type"]: one.get("status", "") for one in conditions if one.get("type", "Ready") != "Ready"}
    if ready is None and others == {_NO_CONDITION["type"]: _NO_CONDITION["status"]}:
        others = {}
    found: Body = {**doc, "@otherConditions": others or None}
    if ready is not None:
        found["@ready"] = ready.get("status") == "True"
        found["@readyUnknown"] = True if ready.get("status") not in ("True", "False") else None
        found["@readySince"] = ready.get("lastTransitionTime")
    elif conditions:
        found["@ready"] = NULL
    return found


def _write_node(doc: Body) -> Body:
    ready, unknown, since = (doc.pop(f"@{name}", default) for name, default in _READY)
    others = [{"type": name, "status": value} for name, value in doc.pop("@otherConditions", {}).items()]
    state: Body = {"type": "Ready", "status": "True" if ready else "Unknown" if unknown else "False"}
    if since is not None:
        state["lastTransitionTime"] = since
    conditions = [*([] if ready is None else [state]), *others] or [_NO_CONDITION]
    return {**doc, "spec": part(doc, "spec"), "status": {**part(doc, "status"), "conditions": conditions}}


_READY = (("ready", True), ("readyUnknown", False), ("readySince", None))


def _read_local_queue(doc: Body) -> Body:
    path = ("status", "fairSharing", "admissionFairSharingStatus")
    doc = changed(doc, (*path, "lastUpdate"), lambda time: None if time == _EPOCH else time)
    usage = part(doc, *path)
    return doc if usage.get("consumedResources") or usage.get("lastUpdate") else {**doc, "status": None}


def _write_local_queue(doc: Body) -> Body:
    return changed(doc, ("status", "fairSharing"), lambda usage: _complete_usage(usage["admissionFairSharingStatus"]))


def _complete_usage(usage: Body) -> Body:
    return {
        "admissionFairSharingStatus": {**usage, "lastUpdate": usage.get("lastUpdate") or _EPOCH},
        "weightedShare": 0,
    }


_TOPOLOGY = ("status", "admission", "podSetAssignments", "*", "topologyAssignment")


def _read_workload(doc: Body) -> Body:
    """Return a Workload with the slices of topology assignments expanded to domains."""
    return changed(doc, _TOPOLOGY, placements.read)


def _write_workload(doc: Body) -> Body:
    """Return a Workload with the fields that the API requires, and with domains compressed to slices."""
    for name in ("conditions", "admissionChecks"):
        doc = changed(doc, ("status", name, "*"), lambda one: {"message": "", "lastTransitionTime": _EPOCH, **one})
    doc = changed({**doc, "spec": part(doc, "spec")}, ("spec", "podSets", "*"), _complete_pod_set)
    return changed(doc, _TOPOLOGY, placements.write)


def _complete_pod_set(pod_set: Body) -> Body:
    return {"name": "main", "count": 1, **pod_set, "template": _complete(pod_set.get("template", {}))}


_TEMPLATE_METADATA = {"annotations", "finalizers", "labels", "name", "namespace"}


def _complete(template: Body) -> Body:
    """Return a pod template as the API requires it: with a list of named containers, and without unset metadata."""
    metadata = template.get("metadata")
    if isinstance(metadata, dict) and not metadata.keys() <= _TEMPLATE_METADATA:
        dropped = METADATA.properties.keys() - _TEMPLATE_METADATA
        template = {**template, "metadata": {name: metadata[name] for name in metadata if name not in dropped}}
    spec = template.get("spec")
    if not isinstance(spec, dict):
        return template
    containers = spec.get("containers", [])
    if containers is None:
        containers = []
    elif isinstance(containers, list | tuple) and any("name" not in one for one in containers if isinstance(one, dict)):
        containers = [
            {"name": f"container-{position}", **one} if isinstance(one, dict) else one
            for position, one in enumerate(containers)
        ]
    return {**template, "spec": {**spec, "containers": containers}}


def _write_pod(doc: Body) -> Body:
    return {**doc, "spec": part(doc, "spec"), "status": {"phase": "Running", **part(doc, "status")}}


def _with_handler(doc: Body) -> Body:
    return {**doc, "handler": doc.get("handler") or ""}


_RESOURCE: dict[str, Any] = {"group": devices.GROUP, "version": "v1"}
_CORE: dict[str, Any] = {"group": "", "version": "v1"}
_KINDS = (
    Kind(cls=api.ResourceFlavor),
    Kind(cls=api.ClusterQueue, read=_read_queue, write=_write_queue),
    Kind(cls=api.Cohort),
    Kind(cls=api.LocalQueue, read=_read_local_queue, write=_write_local_queue),
    Kind(cls=api.Workload, read=_read_workload, write=_write_workload),
    Kind(cls=api.AdmissionCheck, read=_read_check, write=_write_check),
    Kind(cls=api.Topology),
    Kind(cls=api.WorkloadPriorityClass),
    Kind(cls=api.PriorityClass, group="scheduling.k8s.io", version="v1"),
    Kind(
        cls=api.RuntimeClass,
        group="node.k8s.io",
        version="v1",
        is_open=True,
        read=_with_handler,
        write=_with_handler,
    ),
    Kind(cls=api.DeviceClass, **_RESOURCE),
    Kind(cls=api.ResourceClaimTemplate, **_RESOURCE, is_open=True, read=devices.read_claim, write=devices.write_claim),
    Kind(cls=api.ResourceClaim, **_RESOURCE, is_open=True, read=devices.read_claim, write=devices.write_claim),
    Kind(cls=api.ResourceSlice, **_RESOURCE, read=devices.read_slice, write=devices.write_slice),
    Kind(cls=api.Namespace, **_CORE, is_open=True),
    Kind(cls=api.LimitRange, **_CORE),
    Kind(cls=api.Node, **_CORE, is_open=True, read=_read_node, write=_write_node),
    Kind(cls=api.Pod, **_CORE, is_open=True, write=_write_pod),
)

KINDS: dict[tuple[str, str], Kind] = {(kind.group, kind.name): kind for kind in _KINDS}
"""All kinds with a Python class, by API group and name."""

BY_CLASS: dict[type[Object], Kind] = {kind.cls: kind for kind in _KINDS}
"""All kinds by Python class."""
