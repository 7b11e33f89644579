"""The common format of recorded results and those of kueuepy."""

from __future__ import annotations

import copy
from typing import Any

from kueuepy._core import Quantity

Form = dict[str, Any]

ABSENT = "(absent)"
_PLUGINS_FIELDS = ("command", "args")
"""What plugins of Kubeflow Trainer write into containers, which no quota depends on (docs/fidelity.md)."""


def differences(recorded: Any, found: Any, at: str = "") -> list[tuple[str, Any, Any]]:
    """Return the fields that differ: the path, what was recorded and what kueuepy has."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        keys = sorted(recorded.keys() | found.keys())
        pairs = [(f"{at}.{key}", recorded.get(key, ABSENT), found.get(key, ABSENT)) for key in keys]
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        pairs = [(f"{at}[{i}]", *pair) for i, pair in enumerate(zip(recorded, found, strict=True))]
    else:
        return [] if _same(recorded, found) else [(at, recorded, found)]
    return [one for path, left, right in pairs for one in differences(left, right, path)]


def changes(before: Any, after: Any) -> Form:
    """Return what differs between two manifests: the new values by JSON pointers, `None` for what is removed."""
    old, new = flat(pruned(before)), flat(pruned(after))
    changed = {key: value for key, value in new.items() if not (key in old and _same(old[key], value))}
    gone = dict.fromkeys(old.keys() - new.keys())
    return {key: value for key, value in (changed | gone).items() if not key.startswith("/status")}


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def pruned(value: Any) -> Any:
    """Return a value without what is null or empty, but for the items of lists."""
    if isinstance(value, dict):
        kept = {key: inner for key, item in value.items() if (inner := pruned(item)) is not None}
        return kept or None
    if isinstance(value, list | tuple):
        return [{} if (kept := pruned(item)) is None else kept for item in value] or None
    return None if value == "" else value


def flat(value: Any, at: str = "") -> Form:
    """Return the values by their JSON pointers."""
    if isinstance(value, dict):
        parts = [(f"{at}/{key.replace('/', '~')}", item) for key, item in value.items()]
    elif isinstance(value, list):
        parts = [(f"{at}/{number}", item) for number, item in enumerate(value)]
    else:
        return {} if value is None else {at: value}
    return {key: item for path, part in parts for key, item in flat(part, path).items()}


def workload(metadata: Form, spec: Form, pod_sets: list[Form], requests: Form, *, kind: str) -> Form:
    """Return the form of a Workload of a job of a kind."""
    labels = dict(metadata.get("labels") or {})
    if kind == "Deployment":  # its pods have random names and uids in a cluster
        labels.pop("kueue.x-k8s.io/job-uid", None)
    return {
        "name": "" if kind == "Deployment" else metadata["name"],
        "namespace": metadata.get("namespace", ""),
        "labels": labels,
        "annotations": metadata.get("annotations") or {},
        "queueName": spec.get("queueName", ""),
        "priority": spec.get("priority", 0),
        "priorityClassRef": spec.get("priorityClassRef"),
        "active": spec.get("active", True),
        "maximumExecutionTimeSeconds": spec.get("maximumExecutionTimeSeconds"),
        "podSets": pod_sets,
        "requests": {
            name: {resource: _saturated(total, pod_sets) for resource, total in totals.items() if total}
            for name, totals in requests.items()
            if any(totals.values())
        },
    }


def pod_set(
    name: str, counts: tuple[int, int | None], request: Form | None, template: Form | None, *, kind: str
) -> Form:
    """Return the form of a pod set: its counts are that of its pods and the fewest that may be admitted instead."""
    return {
        "name": name,
        "count": counts[0],
        "minCount": counts[1],
        "topologyRequest": pruned(request) or {},
        "template": _template(template or {}, kind),
    }


def _saturated(total: int, pod_sets: list[Form]) -> int | str:
    """Return a total, unless it is so large that the sum over all pods ends at the highest integer."""
    return "highest" if total >= 2**62 // max([1, *(one["count"] for one in pod_sets)]) else total


def _template(template: Form, kind: str) -> Form:
    """Return a pod template by JSON pointers, with numbers for quantities, and with limits requested by default."""
    spec = copy.deepcopy(template.get("spec") or {})
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    for holder in (spec, *containers):
        resources = holder.get("resources")
        if isinstance(resources, dict):
            requests, limits = (_amounts(resources.get(field)) for field in ("requests", "limits"))
            defaults = {} if holder is spec else limits
            holder["resources"] = {**resources, "requests": defaults | requests, "limits": limits}
    for container in containers if kind == "TrainJob" else ():
        for field in _PLUGINS_FIELDS:
            container.pop(field, None)
    if spec.get("overhead"):
        spec["overhead"] = _amounts(spec["overhead"])
    metadata = {
        key: value for key, value in (template.get("metadata") or {}).items() if key in ("labels", "annotations")
    }
    return flat(pruned({**template, "metadata": metadata, "spec": spec}))


def _amounts(resources: Form | None) -> Form:
    return {name: _number(amount) for name, amount in (resources or {}).items()}


def _number(amount: object) -> Quantity | str:
    try:
        return Quantity(str(amount))
    except ValueError:
        return str(amount)
