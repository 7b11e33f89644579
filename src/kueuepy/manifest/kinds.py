"""The kinds of objects, and the rules by which each Python class flattens the fields of a manifest.

The fields of a class are the fields of `metadata` and of one section of the manifest, usually `spec`. For classes with
a different structure, this module defines how their fields correspond to the manifest.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

import kueuepy.objects as api
from kueuepy.manifest import devices
from kueuepy.manifest import fields as form
from kueuepy.manifest.body import Body, part, present
from kueuepy.manifest.workloadfields import LOCAL_QUEUE_STATUS, POD_SETS, POD_SPEC, STATUS
from kueuepy.objects import NamespacedObject, Object

KUEUE = "kueue.x-k8s.io"


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """Description of one kind of object.

    Attributes:
        cls: Python class of the kind.
        group: API group; empty for Kubernetes' core API.
        version: API version in which objects are written.
        place: Section that contains the fields of the class, usually `spec`; empty for the top level.
        forms: Converters for fields whose form differs between manifest and class.
        metadata: Fields of the class that are part of the metadata.
        body: Function that collects the fields of the class from several sections.
        spread: Function that distributes the fields of the class to the sections; the inverse of `body`.
    """

    cls: type[Object]
    group: str = KUEUE
    version: str = "v1beta2"
    place: str = "spec"
    forms: Mapping[str, form.FieldForm] = {}
    metadata: tuple[str, ...] = ()
    body: Callable[[Body], Body] | None = None
    spread: Callable[[Body], Body] | None = None

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


def _is_true(doc: Body, condition: str, *, unknown: bool) -> bool:
    """Return whether a condition is true in the object's status; return `unknown` if the status has no conditions."""
    conditions = part(doc, "status").get("conditions")
    if not isinstance(conditions, list) or not conditions:
        return unknown
    return any(isinstance(c, dict) and c.get("type") == condition and c.get("status") == "True" for c in conditions)


def _condition(name: str, *, true: bool) -> Body:
    return {"conditions": [{"type": name, "status": "True" if true else "False"}]}


def _quota_body(doc: Body) -> Body:
    """Return the spec of a Cohort or a ClusterQueue, with the effective quotas from its status."""
    spec, found = doc.get("spec") or {}, part(doc, "status", "effectiveQuotas")
    return {**spec, "effectiveQuotas": found} if found and isinstance(spec, dict) else spec


def _quota_spread(body: Body) -> Body:
    found = body.pop("effectiveQuotas", None)
    return {"spec": body} | ({"status": {"effectiveQuotas": found}} if found else {})


def _selector_body(doc: Body) -> Body:
    """Return the fields of a ClusterQueue. An absent namespace selector becomes `None`, which selects no namespace."""
    body = _quota_body(doc)
    return {"namespaceSelector": None, **body} if isinstance(body, dict) else body


def _selector_spread(body: Body) -> Body:
    selector = body.get("namespaceSelector", {})
    return _quota_spread({**body, "namespaceSelector": selector} if selector is not None else body)


_INACTIVE = {
    "conditions": [
        {
            "type": "Active",
            "status": "False",
            "reason": "Inactive",
            "message": "",
            "lastTransitionTime": "1970-01-01T00:00:00Z",
        }
    ]
}


def _check_body(doc: Body) -> Body:
    return {**part(doc, "spec"), "active": _is_true(doc, "Active", unknown=True)}


def _check_spread(body: Body) -> Body:
    active = body.pop("active", True)
    spec = {"spec": body} if body else {}
    return spec if active else {**spec, "status": _INACTIVE}


_NO_CONDITION = {"type": "MemoryPressure", "status": "False"}
"""Condition written for a Node without a condition `Ready`; a Node without any conditions would be read as ready."""


def _statuses(*conditions: Any) -> Body:
    """Return the status of each condition other than `Ready`, by condition type."""
    named = (c for c in conditions if isinstance(c, dict) and isinstance(c.get("type"), str))
    return {c["type"]: c.get("status") for c in named if c["type"] != "Ready"}


def _node_body(doc: Body) -> Body:
    spec, status = part(doc, "spec"), part(doc, "status")
    picked: dict[str, Any] = {name: spec.get(name) for name in ("taints", "unschedulable")}
    picked.update({name: status.get(name) for name in ("capacity", "allocatable")})
    conditions = status.get("conditions")
    listed = conditions if isinstance(conditions, list) else ()
    found = next((c for c in listed if isinstance(c, dict) and c.get("type") == "Ready"), None)
    picked = present(picked)
    if conditions:
        picked["ready"] = found and found.get("status") == "True"
    if found and found.get("status") not in ("True", "False"):
        picked["readyUnknown"] = True
    others = _statuses(*listed)
    if others and (found or others != _statuses(_NO_CONDITION)):
        picked["otherConditions"] = others
    if found and found.get("lastTransitionTime") is not None:
        picked["readySince"] = found["lastTransitionTime"]
    return picked


def _node_spread(body: Body) -> Body:
    spec = {name: body[name] for name in ("taints", "unschedulable") if name in body}
    status: Body = {name: body[name] for name in ("capacity", "allocatable") if name in body}
    ready = body.get("ready", True)
    others = [{"type": name, "status": value} for name, value in body.get("otherConditions", {}).items()]
    mine = [] if ready is None else _condition("Ready", true=ready)["conditions"]
    if mine and not ready and body.get("readyUnknown"):
        mine[0]["status"] = "Unknown"
    if mine and "readySince" in body:
        mine[0]["lastTransitionTime"] = body["readySince"]
    status["conditions"] = [*mine, *others] or [_NO_CONDITION]
    return {"spec": spec, "status": status}


def _pod_body(doc: Body) -> Body:
    phase = part(doc, "status").get("phase")
    return {"spec": part(doc, "spec"), **({} if phase is None else {"phase": phase})}


def _pod_spread(body: Body) -> Body:
    return {"spec": body.get("spec", {}), "status": {"phase": body.get("phase", "Running")}}


def _runtime_class_body(doc: Body) -> Body:
    fixed = part(doc, "overhead").get("podFixed")
    return {"handler": doc.get("handler") or "", **({} if fixed is None else {"overhead": fixed})}


def _runtime_class_spread(body: Body) -> Body:
    overhead = {"overhead": {"podFixed": body["overhead"]}} if "overhead" in body else {}
    return {"handler": body.get("handler", ""), **overhead}


_DEVICES = (
    Kind(cls=cls, group=devices.GROUP, version="v1", forms=forms, body=body, spread=spread)
    for cls, forms, body, spread in (
        (api.DeviceClass, {"selectors": devices.SELECTORS}, None, None),
        (
            api.ResourceClaimTemplate,
            {"requests": devices.TEMPLATE_REQUESTS},
            devices.template_body,
            devices.template_spread,
        ),
        (api.ResourceClaim, {"requests": devices.CLAIM_REQUESTS}, devices.claim_body, devices.claim_spread),
        (api.ResourceSlice, {"devices": devices.DEVICES}, devices.slice_body, devices.slice_spread),
    )
)

KINDS: dict[tuple[str, str], Kind] = {
    (kind.group, kind.name): kind
    for kind in (
        Kind(cls=api.ResourceFlavor),
        Kind(
            cls=api.ClusterQueue,
            forms={
                "admissionChecksStrategy": form.ADMISSION_CHECKS,
                "admissionScope": form.ADMISSION_SCOPE,
                "concurrentAdmissionPolicy": form.CONCURRENT_ADMISSION,
            },
            body=_selector_body,
            spread=_selector_spread,
        ),
        Kind(cls=api.Cohort, body=_quota_body, spread=_quota_spread),
        Kind(cls=api.LocalQueue, forms={"status": LOCAL_QUEUE_STATUS}),
        Kind(
            cls=api.Workload,
            metadata=("ownerReferences",),
            forms={"podSets": POD_SETS, "preemptionGates": form.NAMES, "status": STATUS},
        ),
        Kind(cls=api.AdmissionCheck, forms={"parameters": form.PARAMETERS}, body=_check_body, spread=_check_spread),
        Kind(cls=api.Topology, forms={"levels": form.LEVELS}),
        Kind(cls=api.WorkloadPriorityClass, place=""),
        Kind(cls=api.PriorityClass, group="scheduling.k8s.io", version="v1", place=""),
        Kind(
            cls=api.RuntimeClass,
            group="node.k8s.io",
            version="v1",
            place="",
            body=_runtime_class_body,
            spread=_runtime_class_spread,
        ),
        *_DEVICES,
        Kind(cls=api.Namespace, group="", version="v1", body=lambda _: {}),
        Kind(cls=api.LimitRange, group="", version="v1"),
        Kind(
            cls=api.Node, group="", version="v1", forms={"readySince": form.TIME}, body=_node_body, spread=_node_spread
        ),
        Kind(
            cls=api.Pod, group="", version="v1", place="", forms={"spec": POD_SPEC}, body=_pod_body, spread=_pod_spread
        ),
    )
}
"""All kinds with a Python class, by API group and name."""

BY_CLASS: dict[type[Object], Kind] = {kind.cls: kind for kind in KINDS.values()}
"""All kinds by Python class."""
