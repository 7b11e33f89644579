"""Validation rules for the metadata of objects of all kinds.

Source: `k8s.io/apimachinery/pkg/api/validation/objectmeta.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors.problems import shown
from kueuepy.manifest.formats import is_label_key

if TYPE_CHECKING:
    from kueuepy.manifest.findings import Findings

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
