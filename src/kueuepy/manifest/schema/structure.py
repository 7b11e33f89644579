"""An object of Kueue's API held to its schema, as an API server does before any rule is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.manifest.schema.compiled import is_valid
from kueuepy.manifest.schema.creation import as_created, zero_times
from kueuepy.manifest.schema.examine import examine
from kueuepy.manifest.schema.metadata import review_metadata
from kueuepy.manifest.schema.table import schema_of, template_of
from kueuepy.manifest.schema.tolerations import review_all_tolerations

if TYPE_CHECKING:
    from kueuepy.manifest.decoding import Findings, Validated

Doc = dict[str, Any]


def structured(kind: str, version: str, doc: Doc, findings: Findings, *, is_new: bool = True) -> Doc:
    """The object without nulls and what lenient reading leaves out; what is wrong with it is among the findings.

    Args:
        kind: The object's kind.
        version: The version of Kueue's API in which it is written; of others, and other kinds, nothing is checked.
        doc: The object.
        findings: Takes what is wrong.
        is_new: Whether the object is created, not updated.
    """
    schema = schema_of(kind, version)
    if schema is None:
        return doc
    if is_new:
        doc = as_created(kind, version, doc)
        for path in zero_times(kind, doc):
            findings.problem(path, "is the zero time; leave it out or give a later one")
    if not _is_valid(kind, version, doc, findings.validated):
        doc = examine(schema, doc, (), findings)
    if not findings.problems and isinstance(doc, dict):
        review_metadata(doc.get("metadata", {}), findings)
        review_all_tolerations(kind, doc, findings)
        _review_clusters(kind, doc, findings)
    return doc


def _is_valid(kind: str, version: str, doc: Doc, validated: Validated) -> bool:
    """Whether an object is valid; a template that many objects share is looked at once."""
    parts = template_of(kind, version)
    if parts is None:
        schema = schema_of(kind, version)
        return schema is not None and is_valid(schema, doc)
    outer, template = parts
    if not is_valid(outer, doc):
        return False
    for pod_set in doc.get("spec", {}).get("podSets", ()):
        written = pod_set["template"]
        if written not in validated:
            if not is_valid(template, written):
                return False
            validated.add(written)
    return True


def _review_clusters(kind: str, doc: Doc, findings: Findings) -> None:
    """A Workload that has a cluster of MultiKueue has no nominated clusters any more."""
    status = doc.get("status", {}) if kind == "Workload" else {}
    if "clusterName" in status and status.get("nominatedClusterNames"):
        findings.problem(("status",), "has clusterName and nominatedClusterNames; it must have at most one of them")
