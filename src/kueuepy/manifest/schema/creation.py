"""What Kueue's webhook makes of a ClusterQueue that is created, before the API server holds it to its schema.

The webhook reads the object into Go's types, adds a finalizer, and writes it back; an object that has the finalizer is
left as it is. Of v1beta1, the object is converted to v1beta2 and back, by which texts that Go takes for absent go too.

Source: `pkg/webhooks/clusterqueue_webhook.go:Default`, `apis/kueue/v1beta1/clusterqueue_conversion.go`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from kueuepy._core import Quantity
from kueuepy.manifest.formats import QUANTITY, fault_of_quantity

if TYPE_CHECKING:
    from collections.abc import Callable

Doc = dict[str, Any]
_FINALIZER = "kueue.x-k8s.io/resource-in-use"
_ZERO_TIME = "0001-01-01T00:00:00Z"
_OPTIONAL_TEXTS = {
    (): ("cohort", "queueingStrategy"),
    ("flavorFungibility",): ("whenCanBorrow", "whenCanPreempt"),
    ("preemption",): ("reclaimWithinCohort", "withinClusterQueue"),
    ("preemption", "borrowWithinCohort"): ("policy",),
}
"""Texts that v1beta1's types leave out where they are empty."""


def as_created(version: str, doc: Doc) -> Doc:
    """The ClusterQueue as the webhook returns it; the object itself where that changes nothing that is checked."""
    spec = doc.get("spec")
    if not isinstance(spec, dict) or _is_finalized(doc.get("metadata")):
        return doc
    spec = _at(spec, ("resourceGroups", "*", "flavors", "*", "resources", "*"), _quota)
    spec = _at(spec, ("fairSharing",), lambda sharing: _amounts(sharing, ("weight",)))
    spec = _at(spec, ("namespaceSelector", "matchExpressions", "*", "values", "*"), _same, "")
    if version == "v1beta1":
        spec = _converted(spec)
    return doc if spec is doc["spec"] else {**doc, "spec": spec}


def _at(value: Any, path: tuple[str, ...], change: Callable[[Any], Any], null: Any = None) -> Any:
    """The value with what lies at a path changed; `*` stands for all items of a list, of which nulls become `null`."""
    if not path:
        return change(value)
    if path[0] == "*":
        if not isinstance(value, list):
            return value
        items = [_at(null if item is None and path[1:] == () else item, path[1:], change, null) for item in value]
        return value if all(map(_is, items, value)) else items
    if not isinstance(value, dict) or value.get(path[0]) is None:
        return value
    inner = _at(value[path[0]], path[1:], change, null)
    return value if inner is value[path[0]] else {**value, path[0]: inner}


def _same(value: Any) -> Any:
    return value


def _is(one: Any, other: Any) -> bool:
    return one is other


def _quota(quota: Any) -> Any:
    if not isinstance(quota, dict):
        return quota
    if quota.get("nominalQuota") is None:
        quota = {**quota, "nominalQuota": "0"}
    return _amounts(quota, ("nominalQuota", "borrowingLimit", "lendingLimit"))


def _amounts(value: Any, fields: tuple[str, ...]) -> Any:
    """The mapping with quantities as Go writes them."""
    if not isinstance(value, dict):
        return value
    changed = {}
    for name in fields:
        amount = value.get(name)
        if isinstance(amount, str | float) or (isinstance(amount, int) and abs(amount) >= 2**63):
            written = _written(amount)
            if written != amount:
                changed[name] = written
    return {**value, **changed} if changed else value


def _written(amount: str | float) -> Any:
    """The quantity in the form that the schema allows; what is none stays."""
    if isinstance(amount, float):
        return str(amount) if math.isfinite(amount) else amount
    text = str(amount).strip()
    if QUANTITY.fullmatch(text) or isinstance(amount, int):
        return text
    return amount if fault_of_quantity(text) else str(Quantity(text))


def _converted(spec: Doc) -> Doc:
    """The spec of v1beta1, converted to v1beta2 and back."""
    for path, names in _OPTIONAL_TEXTS.items():
        spec = _at(spec, path, partial(_without_empty, names))
    scope = spec.get("admissionScope")
    if isinstance(scope, dict) and scope.get("admissionMode") is None:
        spec = {**spec, "admissionScope": {**scope, "admissionMode": ""}}
    checks = spec.get("admissionChecks")
    if isinstance(checks, list) and checks and all(isinstance(name, str) for name in checks):
        strategy = {"admissionChecks": [{"name": name} for name in checks]}
        spec = {name: value for name, value in spec.items() if name != "admissionChecks"}
        spec["admissionChecksStrategy"] = strategy
    return spec


def _without_empty(names: tuple[str, ...], part: Any) -> Any:
    if not isinstance(part, dict) or not any(part.get(name) == "" for name in names):
        return part
    return {name: value for name, value in part.items() if name not in names or value != ""}


def zero_times(doc: Doc) -> list[tuple[str | int, ...]]:
    """The times that the webhook of ResourceFlavors writes back as null, which the schema refuses."""
    if _is_finalized(doc.get("metadata")):
        return []
    return [
        ("spec", "nodeTaints", position, "timeAdded")
        for position, taint in enumerate(doc.get("spec", {}).get("nodeTaints", ()))
        if taint.get("timeAdded") == _ZERO_TIME
    ]


def _is_finalized(metadata: Any) -> bool:
    finalizers = metadata.get("finalizers") if isinstance(metadata, dict) else None
    return isinstance(finalizers, list) and _FINALIZER in finalizers
