"""Validation of objects of Kueue's API against their schemas, which an API server performs before all other rules.

The rules for tolerations and for metadata, which distinguish absent from empty strings, are checked here too.

Source: `k8s.io/apimachinery/pkg/api/validation/objectmeta.go`, the CEL rules of `tolerations` in
`apis/kueue/v1beta2/resourceflavor_types.go`, and `pkg/webhooks/workload_webhook.go:validateTolerations`.

Changes that Kueue's webhook makes to a new ClusterQueue before the API server validates the object.

The webhook reads the object into Go types, adds a finalizer and writes the object back. The webhook does not change an
object that already has the finalizer. An object of v1beta1 is converted to v1beta2 and back, which also removes strings
that Go treats as absent.

Source: `pkg/webhooks/clusterqueue_webhook.go:Default`, `apis/kueue/v1beta1/clusterqueue_conversion.go`.
"""

import math
from collections.abc import Iterable
from functools import cache, partial
from typing import Any

from kueuepy.errors import Path, shown
from kueuepy.manifest.body import changed, part
from kueuepy.manifest.findings import Findings, Validated
from kueuepy.manifest.formats import KEY_FORM, QUANTITY, is_label_key, read_quantity
from kueuepy.manifest.forms import ZERO_TIME
from kueuepy.manifest.placements import review_placement
from kueuepy.manifest.schema.compiled import is_valid
from kueuepy.manifest.schema.examine import examine
from kueuepy.manifest.schema.table import Schema, schema_of, template_of
from kueuepy.objects.flavor import TAINT_EFFECTS

Doc = dict[str, Any]
_FINALIZER = "kueue.x-k8s.io/resource-in-use"
# String fields that the Go types of v1beta1 omit if they are empty.
_OPTIONAL_TEXTS = {
    (): ("cohort", "queueingStrategy"),
    ("flavorFungibility",): ("whenCanBorrow", "whenCanPreempt"),
    ("preemption",): ("reclaimWithinCohort", "withinClusterQueue"),
    ("preemption", "borrowWithinCohort"): ("policy",),
}


def as_created(version: str, doc: Doc) -> Doc:
    """Return the ClusterQueue as the webhook writes it; return the same object if no validated field changes."""
    spec = doc.get("spec")
    if not isinstance(spec, dict) or _is_finalized(doc):
        return doc
    spec = changed(spec, ("resourceGroups", "*", "flavors", "*", "resources", "*"), _quota)
    spec = changed(spec, ("fairSharing",), lambda sharing: _amounts(sharing, ("weight",)))
    values = ("namespaceSelector", "matchExpressions", "*", "values", "*")
    spec = changed(spec, values, lambda text: "" if text is None else text)
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
    found = read_quantity(text)
    return amount if isinstance(found, str) else str(found)


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


@cache
def _plan(kind: str, version: str) -> tuple[Schema, Schema, Schema | None] | None:
    """Return the schema of a kind, the schema that accepts any pod templates, and the schema of pod templates."""
    schema = schema_of(kind, version)
    return None if schema is None else (schema, *(template_of(kind, version) or (schema, None)))


def structured(kind: str, version: str, doc: Doc, findings: Findings, *, is_new: bool = True) -> Doc:
    """Validate an object against its schema. Return the object without nulls and with the corrections of lenient mode.

    Args:
        kind: Kind of the object.
        version: The object's version of Kueue's API. An object is checked only if Kueue's API defines its kind in this
            version.
        doc: The object.
        findings: Collects the problems.
        is_new: Whether the object is created rather than updated.
    """
    plan = _plan(kind, version)
    if plan is None or (kind == "Workload" and doc in findings.validated):
        return doc
    if is_new and kind == "ClusterQueue":  # mutating webhooks run before the schema is checked
        doc = as_created(version, doc)
    schema, outer, template = plan
    # Nearly all objects of a dump are valid; only the others are worth a walk that finds and names each problem.
    if not _is_valid(outer, template, doc, findings.validated):
        doc = examine(schema, doc, (), findings)
        if findings.problems or not isinstance(doc, dict):
            return doc
    review_metadata(doc.get("metadata"), findings)
    if kind == "Workload":
        _review_status(doc.get("status"), findings)
    elif kind == "ResourceFlavor":
        review_tolerations(doc.get("spec", {}).get("tolerations", ()), ("spec", "tolerations"), findings)
        for path in zero_times(doc) if is_new else ():
            findings.problem(path, "is the zero time; leave it out or give a later one")
    return doc


def conform(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    """Check a value that is not an object of Kueue's API; return it with the corrections of lenient mode."""
    return value if is_valid(schema, value) else examine(schema, value, path, findings)


def _is_valid(outer: Schema, template: Schema | None, doc: Doc, validated: Validated) -> bool:
    """Return whether an object matches its schema. A pod template that many objects share is checked only once."""
    if not is_valid(outer, doc):
        return False
    if template is None or "spec" not in doc:
        return True
    for pod_set in doc["spec"].get("podSets", ()):
        written = pod_set["template"]
        if written not in validated:
            if not is_valid(template, written):
                return False
            validated.add(written)
    return True


def _review_status(status: Doc | None, findings: Findings) -> None:
    """Check the rules for a Workload's status that can no longer be checked once the Python object exists."""
    if not status:
        return
    for position, condition in enumerate(status.get("conditions", ())):
        if condition["lastTransitionTime"] == ZERO_TIME:
            findings.problem(("status", "conditions", position, "lastTransitionTime"), "is the zero time", "Required")
    for position, assignment in enumerate(status.get("admission", {}).get("podSetAssignments", ())):
        if "topologyAssignment" in assignment:
            path = ("status", "admission", "podSetAssignments", position, "topologyAssignment")
            review_placement(assignment["topologyAssignment"], path, findings)
    for position, check in enumerate(status.get("admissionChecks", ())):
        for index, update in enumerate(check.get("podSetUpdates", ())):
            location = ("status", "admissionChecks", position, "podSetUpdates", index, "tolerations")
            review_tolerations(update.get("tolerations", ()), location, findings)
    if "clusterName" in status and status.get("nominatedClusterNames"):
        findings.problem(("status",), "has clusterName and nominatedClusterNames; it must have at most one of them")


_OWNERS = ("metadata", "ownerReferences")
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")
_MANAGED = ("metadata", "managedFields")


def review_metadata(metadata: dict[str, Any] | None, findings: Findings) -> None:
    """Check all metadata other than the name, the labels and the annotations."""
    if not metadata:
        return
    if finalizers := metadata.get("finalizers"):
        for position, name in enumerate(finalizers):
            if not is_label_key(name):
                detail = (
                    f"is {shown(name)}; it must be a name as labels have them, such as kueue.x-k8s.io/resource-in-use"
                )
                findings.problem(("metadata", "finalizers", position), detail)
    if owners := metadata.get("ownerReferences"):
        for position, owner in enumerate(owners):
            _review_owner(owner, position, findings)
        if len(owners) > 1 and (controllers := sum(owner.get("controller") is True for owner in owners)) > 1:
            findings.problem(_OWNERS, f"names {controllers} controllers; at most one may be the controller")
    for position, entry in enumerate(metadata.get("managedFields", ())):
        if entry.get("operation") not in ("Apply", "Update"):
            detail = f"{shown(entry.get('operation'))} is not supported; it must be one of Apply, Update"
            findings.problem((*_MANAGED, position, "operation"), detail, "NotSupported")
        if entry.get("fieldsType") not in (None, "", "FieldsV1"):
            detail = f"{shown(entry['fieldsType'])} is not supported; it must be FieldsV1"
            findings.problem((*_MANAGED, position, "fieldsType"), detail, "NotSupported")


def _review_owner(owner: dict[str, Any], position: int, findings: Findings) -> None:
    """Check one owner reference.

    As in Kubernetes, the path of a problem names the list of owner references, but not the position in the list.
    """
    version, kind = owner.get("apiVersion", ""), owner.get("kind")
    if not (version and kind and owner.get("name") and owner.get("uid")):
        missing = " and no ".join(field for field in _OWNER_FIELDS if not owner.get(field))
        findings.problem(_OWNERS, f"item {position} has no {missing}", "Required")
    if version.count("/") > 1:
        detail = f"item {position} has apiVersion {shown(version)}; it must be a group, / and a version"
        findings.problem(_OWNERS, detail)
    if kind == "Event" and version == "v1":
        findings.problem(_OWNERS, f"item {position} is an Event; it must not own other objects")


_OPERATORS = ("Equal", "Exists")


def review_tolerations(tolerations: Iterable[dict[str, Any]], path: Path, findings: Findings) -> None:
    """Check a list of tolerations that already conforms to its schema."""
    for position, toleration in enumerate(tolerations):
        location = (*path, position)
        operator, effect, key = (toleration.get(name) for name in ("operator", "effect", "key"))
        for name, value, words in (("operator", operator, _OPERATORS), ("effect", effect, TAINT_EFFECTS)):
            if value is not None and value not in words:
                detail = f"{shown(value)} is not supported; it must be one of {', '.join(words)}, or absent"
                findings.problem((*location, name), detail, "NotSupported")
        if key is None and operator != "Exists":
            findings.problem((*location, "operator"), "must be Exists where there is no key, which stands for all keys")
        if key and not is_label_key(key):
            findings.problem((*location, "key"), f"is {shown(key)}; it must be {KEY_FORM}")
        if operator == "Exists" and "value" in toleration:
            findings.problem((*location, "value"), "must be absent where operator is Exists")
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            findings.problem((*location, "effect"), "must be NoExecute where tolerationSeconds is set")
