"""The parts of objects that influence decisions, and the events between two versions of a Workload."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kueuepy.objects.times import parse_time

# The fields of a pod that scheduling reads; the others can contain secrets, and make most of its size.
_POD = """
    affinity containers initContainers nodeName nodeSelector overhead priority priorityClassName resourceClaims
    resources runtimeClassName schedulingGates tolerations topologySpreadConstraints
"""
_POD_FIELDS = frozenset(_POD.split())
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
    # Other annotations are large, such as the last applied configuration, and can contain secrets.
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


def key_of(metadata: Mapping[str, Any]) -> str:
    """Return `namespace/name`, or the name of a cluster-scoped object."""
    return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])


def content(obj: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that every write changes."""
    metadata = {k: v for k, v in (obj.get("metadata") or {}).items() if k not in ("resourceVersion", "generation")}
    return {**obj, "metadata": metadata}


class Conditions(dict[str, "dict[str, Any]"]):
    """The conditions of a Workload's manifest by type."""

    def __init__(self, manifest: Mapping[str, Any] | None) -> None:
        """Read the conditions; a manifest without a status has no conditions."""
        status = (manifest or {}).get("status") or {}
        super().__init__({one["type"]: one for one in status.get("conditions") or () if "type" in one})

    def true(self, name: str) -> bool:
        """Return whether the status of a condition is True."""
        return bool(self.get(name, {}).get("status") == "True")

    def reason(self, name: str) -> str:
        """Return the reason of a condition; empty if the condition does not exist."""
        return str(self.get(name, {}).get("reason", ""))


class Transition(NamedTuple):
    """An event of a Workload.

    Attributes:
        what: The event, such as `Admitted`.
        reason: The reason of the condition; empty if there is none.
        time: The time recorded in the condition, in nanoseconds since the Unix epoch; `None` if the condition records
            no time.
    """

    what: str
    reason: str
    time: int | None


# In the order in which Kueue sets them, which is the order of events with equal times.
_CONDITIONS = ("QuotaReserved", "Admitted", "Evicted", "Requeued", "PodsReady", "Finished")


def transitions(old: dict[str, Any] | None, new: dict[str, Any]) -> list[Transition]:
    """Return the events between two versions of a Workload, in the order of their times.

    Args:
        old: The earlier version; `None` if the Workload is new.
        new: The later version.

    Returns:
        The events; empty if no difference can influence decisions.
    """
    before, after = Conditions(old), Conditions(new)
    found: list[Transition] = []
    if old is None:
        found.append(Transition("Submitted", "", _time_of(new.get("metadata") or {}, "creationTimestamp")))
    if before.true("QuotaReserved") and not after.true("QuotaReserved"):
        found.append(Transition("Released", after.reason("QuotaReserved"), _time_of(after.get("QuotaReserved", {}))))
    for name in filter(after.true, _CONDITIONS):
        reason, time = after.reason(name), _time_of(after[name])
        if not before.true(name) or (before.reason(name), _time_of(before[name])) != (reason, time):
            found.append(Transition(name, reason, time))
    # Conditions have times in whole seconds; the sort is stable, so that equal times keep the order of `_CONDITIONS`.
    found.sort(key=lambda one: -1 if one.what == "Submitted" else one.time or 0)
    if not found and old is not None and _relevant(old) != _relevant(new):
        found.append(Transition("Changed", "", None))
    return found


def _time_of(record: dict[str, Any], name: str = "lastTransitionTime") -> int | None:
    text = record.get(name)
    return parse_time(text) if isinstance(text, str) else None


def _relevant(workload: dict[str, Any]) -> Any:
    """Return the fields that influence decisions, without messages, which each scheduling attempt can change."""
    status = workload.get("status") or {}
    conditions = [
        (one.get("type"), one.get("status"), one.get("reason"), "preempt" in str(one.get("message")))
        for one in status.get("conditions") or ()
    ]
    checks = [{**one, "message": ""} for one in status.get("admissionChecks") or ()]
    rest = {k: v for k, v in status.items() if k not in ("conditions", "admissionChecks", "resourceRequests")}
    return workload.get("spec"), conditions, checks, rest
