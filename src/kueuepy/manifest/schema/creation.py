"""Changes that Kueue's webhook makes to a new ClusterQueue before the API server validates the object.

The webhook reads the object into Go types, adds a finalizer and writes the object back. The webhook does not change an
object that already has the finalizer. An object of v1beta1 is converted to v1beta2 and back, which also removes strings
that Go treats as absent.

Source: `pkg/webhooks/clusterqueue_webhook.go:Default`, `apis/kueue/v1beta1/clusterqueue_conversion.go`.
"""

import math
from functools import partial
from typing import Any

from kueuepy._core import Quantity
from kueuepy.manifest.body import changed, part
from kueuepy.manifest.formats import QUANTITY, fault_of_quantity
from kueuepy.manifest.forms import ZERO_TIME

Doc = dict[str, Any]
_FINALIZER = "kueue.x-k8s.io/resource-in-use"
_OPTIONAL_TEXTS = {
    (): ("cohort", "queueingStrategy"),
    ("flavorFungibility",): ("whenCanBorrow", "whenCanPreempt"),
    ("preemption",): ("reclaimWithinCohort", "withinClusterQueue"),
    ("preemption", "borrowWithinCohort"): ("policy",),
}
"""String fields that the Go types of v1beta1 omit if they are empty."""


def as_created(version: str, doc: Doc) -> Doc:
    """Return the ClusterQueue as the webhook writes it; return the same object if no validated field changes."""
    spec = doc.get("spec")
    if not isinstance(spec, dict) or _is_finalized(doc):
        return doc
    spec = changed(spec, ("resourceGroups", "*", "flavors", "*", "resources", "*"), _quota)
    spec = changed(spec, ("fairSharing",), lambda sharing: _amounts(sharing, ("weight",)))
    spec = changed(
        spec, ("namespaceSelector", "matchExpressions", "*", "values", "*"), lambda text: "" if text is None else text
    )
    if version == "v1beta1":
        spec = _converted(spec)
    return doc if spec is doc["spec"] else {**doc, "spec": spec}


def _quota(quota: Any) -> Any:
    if not isinstance(quota, dict):
        return quota
    if quota.get("nominalQuota") is None:
        quota = {**quota, "nominalQuota": "0"}
    return _amounts(quota, ("nominalQuota", "borrowingLimit", "lendingLimit"))


def _amounts(value: Any, fields: tuple[str, ...]) -> Any:
    """Return a mapping with the quantities in the given fields formatted as in Go."""
    if not isinstance(value, dict):
        return value
    given = {}
    for name in fields:
        amount = value.get(name)
        if isinstance(amount, str | float) or (isinstance(amount, int) and abs(amount) >= 2**63):
            written = _written(amount)
            if written != amount:
                given[name] = written
    return {**value, **given} if given else value


def _written(amount: str | float) -> Any:
    """Return a quantity in the form that the schema allows. Invalid quantities are returned unchanged."""
    if isinstance(amount, float):
        return str(amount) if math.isfinite(amount) else amount
    text = str(amount).strip()
    if QUANTITY.fullmatch(text) or isinstance(amount, int):
        return text
    return amount if fault_of_quantity(text) else str(Quantity(text))


def _converted(spec: Doc) -> Doc:
    """Return the spec of v1beta1 after the conversion to v1beta2 and back."""
    for path, names in _OPTIONAL_TEXTS.items():
        spec = changed(spec, path, partial(_without_empty, names))
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
    """Return the paths of fields that contain Go's zero time.

    The webhook of ResourceFlavors writes zero times as null, which the schema rejects.
    """
    if _is_finalized(doc):
        return []
    return [
        ("spec", "nodeTaints", position, "timeAdded")
        for position, taint in enumerate(doc.get("spec", {}).get("nodeTaints", ()))
        if taint.get("timeAdded") == ZERO_TIME
    ]


def _is_finalized(doc: Doc) -> bool:
    finalizers = part(doc, "metadata").get("finalizers")
    return isinstance(finalizers, list) and _FINALIZER in finalizers
