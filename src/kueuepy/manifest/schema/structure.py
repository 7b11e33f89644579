"""Validation of objects of Kueue's API against their schemas, which an API server performs before all other rules."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.manifest.forms import ZERO_TIME
from kueuepy.manifest.placements import review_placement
from kueuepy.manifest.schema.compiled import is_valid
from kueuepy.manifest.schema.creation import as_created, zero_times
from kueuepy.manifest.schema.examine import examine
from kueuepy.manifest.schema.metadata import review_metadata
from kueuepy.manifest.schema.table import Schema, schema_of, template_of
from kueuepy.manifest.schema.tolerations import review_tolerations

if TYPE_CHECKING:
    from kueuepy.errors.problems import Path
    from kueuepy.manifest.findings import Findings, Validated

Doc = dict[str, Any]


class _Plan(msgspec.Struct, frozen=True):
    """The schemas for one kind and version.

    Attributes:
        schema: The complete schema.
        outer: The schema that accepts any content for pod templates; the same as `schema` for kinds without templates.
        template: The schema of pod templates; `None` for kinds without templates.
    """

    schema: Schema
    outer: Schema
    template: Schema | None


@cache
def _plan(kind: str, version: str) -> _Plan | None:
    schema = schema_of(kind, version)
    if schema is None:
        return None
    return _Plan(schema, *(template_of(kind, version) or (schema, None)))


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
    if is_new and kind == "ClusterQueue":
        doc = as_created(version, doc)
    if not _is_valid(plan, doc, findings.validated):
        doc = examine(plan.schema, doc, (), findings)
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


def _is_valid(plan: _Plan, doc: Doc, validated: Validated) -> bool:
    """Return whether an object matches its schema. A pod template that many objects share is checked only once."""
    if not is_valid(plan.outer, doc):
        return False
    if plan.template is None or "spec" not in doc:
        return True
    for pod_set in doc["spec"].get("podSets", ()):
        written = pod_set["template"]
        if written not in validated:
            if not is_valid(plan.template, written):
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
            path = ("status", "admissionChecks", position, "podSetUpdates", index, "tolerations")
            review_tolerations(update.get("tolerations", ()), path, findings)
    if "clusterName" in status and status.get("nominatedClusterNames"):
        findings.problem(("status",), "has clusterName and nominatedClusterNames; it must have at most one of them")
