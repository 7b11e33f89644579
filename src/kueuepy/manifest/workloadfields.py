"""Converters for fields of a Workload: pod sets with their templates, and the status."""

from typing import Any

from kueuepy.errors.problems import Path
from kueuepy.manifest import placements
from kueuepy.manifest.fields import NAMES, ZERO_TIME, FieldForm, read_time
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.schema.structure import conform
from kueuepy.manifest.schema.table import METADATA, pod_spec
from kueuepy.objects.times import format_time

_PLACE = "topologyAssignment"
_TEMPLATE_METADATA = {"annotations", "finalizers", "labels", "name", "namespace"}
_SHOWN_ONLY = frozenset(("resourceRequests", "schedulingStats", "preemptionGates"))


def _read_status(raw: Any, path: Path, findings: Findings) -> Any:
    """Return the fields of the status that are stored, with times as integers."""
    status = {name: value for name, value in raw.items() if name not in _SHOWN_ONLY}
    for name in ("conditions", "admissionChecks"):
        if items := status.get(name):
            status[name] = [_read_state(item, (*path, name, i), findings) for i, item in enumerate(items)]
    for position, condition in enumerate(raw.get("conditions", ())):
        if condition["lastTransitionTime"] == ZERO_TIME:
            findings.problem((*path, "conditions", position, "lastTransitionTime"), "is the zero time", "Required")
    if "requeueAt" in (requeue := status.get("requeueState", {})):
        at = read_time(requeue["requeueAt"], (*path, "requeueState", "requeueAt"), findings)
        status["requeueState"] = {**requeue, "requeueAt": at}
    if "unhealthyNodes" in status:
        status["unhealthyNodes"] = NAMES.read(status["unhealthyNodes"], (*path, "unhealthyNodes"), findings)
    if "admission" in status:
        status["admission"] = _read_admission(status["admission"], (*path, "admission"), findings)
    return status or None


def _read_state(raw: Any, path: Path, findings: Findings) -> Any:
    """Return a condition or the state of an admission check, with its time as an integer."""
    state = {**raw}
    state.pop("observedGeneration", None)
    state["lastTransitionTime"] = read_time(raw["lastTransitionTime"], (*path, "lastTransitionTime"), findings) or 0
    return state


def _read_admission(admission: Any, path: Path, findings: Findings) -> Any:
    """Return the admission with the slices of topology assignments expanded to domains."""
    assignments = admission.get("podSetAssignments", ())
    if not any(map(_is_placed, assignments)):
        return admission
    read = [
        {
            **one,
            _PLACE: placements.read(one[_PLACE], (*path, "podSetAssignments", position, _PLACE), findings),
        }
        if _is_placed(one)
        else one
        for position, one in enumerate(assignments)
    ]
    return {**admission, "podSetAssignments": read}


def _is_placed(assignment: Any) -> bool:
    return isinstance(assignment, dict) and assignment.get(_PLACE) is not None


def _write_admission(admission: dict[str, Any]) -> dict[str, Any]:
    """Return the admission with the domains of topology assignments compressed to slices."""
    assignments = admission.get("podSetAssignments", ())
    if not any(map(_is_placed, assignments)):
        return admission
    written = [{**one, _PLACE: placements.write(one[_PLACE])} if _is_placed(one) else one for one in assignments]
    return {**admission, "podSetAssignments": written}


def _write_status(status: dict[str, Any]) -> dict[str, Any]:
    written = dict(status)
    for name in ("conditions", "admissionChecks"):
        if name in written:
            written[name] = [_write_state(item) for item in written[name]]
    if "requeueAt" in (requeue := written.get("requeueState", {})):
        written["requeueState"] = {**requeue, "requeueAt": format_time(requeue["requeueAt"])}
    if "unhealthyNodes" in written:
        written["unhealthyNodes"] = NAMES.write(written["unhealthyNodes"])
    if "admission" in written:
        written["admission"] = _write_admission(written["admission"])
    return written


def _write_state(state: dict[str, Any]) -> dict[str, Any]:
    return {"message": "", **state, "lastTransitionTime": format_time(state.get("lastTransitionTime", 0))}


def _write_pod_sets(pod_sets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pod sets with all fields that the API requires, including name and count."""
    return [
        {"name": "main", "count": 1, **pod_set, "template": _complete(pod_set.get("template", {}))}
        for pod_set in pod_sets
    ]


def _complete(template: dict[str, Any]) -> dict[str, Any]:
    """Return a pod template as the API requires it: with a list of named containers, and without unset metadata."""
    metadata = template.get("metadata")
    if isinstance(metadata, dict) and not metadata.keys() <= _TEMPLATE_METADATA:
        kept = {name: value for name, value in metadata.items() if name not in METADATA.properties}
        known = {name: value for name, value in metadata.items() if name in _TEMPLATE_METADATA}
        template = {**template, "metadata": {**kept, **known}}
    spec = template.get("spec")
    if not isinstance(spec, dict):
        return template
    containers = spec.get("containers")
    if containers is None:
        return {**template, "spec": {**spec, "containers": []}}
    if not isinstance(containers, list | tuple) or all("name" in c for c in containers if isinstance(c, dict)):
        return template
    named = [
        {"name": f"container-{position}", **container} if isinstance(container, dict) else container
        for position, container in enumerate(containers)
    ]
    return {**template, "spec": {**spec, "containers": named}}


_NEVER = "1970-01-01T00:00:00Z"
_USAGE = ("fairSharing", "admissionFairSharingStatus", "consumedResources")


def _read_local_queue_status(raw: Any, path: Path, findings: Findings) -> Any:
    """Return the past usage from the status of a LocalQueue.

    Kueue computes the other status fields, which do not affect admission.
    """
    for step in _USAGE:
        if raw is None:
            return None
        if not isinstance(raw, dict):
            findings.problem(path, "must be a mapping")
            return None
        raw, path = raw.get(step), (*path, step)
    return {"consumedResources": raw} if raw else None


def _write_local_queue_status(status: dict[str, Any] | None) -> dict[str, Any] | None:
    if not status:
        return None
    usage = {"consumedResources": status["consumedResources"], "lastUpdate": _NEVER}
    return {"fairSharing": {"admissionFairSharingStatus": usage, "weightedShare": 0}}


LOCAL_QUEUE_STATUS = FieldForm(_read_local_queue_status, _write_local_queue_status)
POD_SPEC = FieldForm(lambda raw, path, findings: conform(pod_spec(), raw, path, findings), lambda raw: raw)
POD_SETS = FieldForm(lambda raw, _, __: raw, _write_pod_sets)
STATUS = FieldForm(_read_status, _write_status)
