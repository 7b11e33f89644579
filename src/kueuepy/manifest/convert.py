"""Conversion of objects between Kubernetes' JSON form and Python classes."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kueuepy.errors import ManifestError, UnsupportedError, checked
from kueuepy.manifest.body import Body, part
from kueuepy.manifest.decoding import decoded
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.forms import encode_text, form_of, gathered, spread
from kueuepy.manifest.kinds import BY_CLASS, KINDS, KUEUE, Kind
from kueuepy.manifest.schema.classes import schema_of_kind
from kueuepy.manifest.schema.structure import conform, structured
from kueuepy.manifest.versions import OLD_VERSIONS, to_v1beta2, with_usage
from kueuepy.objects import NamespacedObject, Object


def in_v1beta2(group: str, version: str, doc: Body, findings: Findings, *, is_new: bool) -> Body | None:
    """Convert an object to the form of API version v1beta2.

    The object is validated against the schema of its own version. Objects of versions that Kueue has removed are
    validated against the schema of v1beta2.

    Returns:
        The object, or `None` if `findings` contains problems.
    """
    if group == KUEUE and version not in OLD_VERSIONS:
        doc = structured(str(doc.get("kind")), version, doc, findings, is_new=is_new)
        if findings.problems:
            return None
    body = to_v1beta2(group, version, doc, findings)
    if version in OLD_VERSIONS and not findings.problems:
        body = structured(str(body.get("kind")), KINDS[KUEUE, "Workload"].version, body, findings, is_new=is_new)
    return None if findings.problems else body


def read_object(kind: Kind, doc: Body, findings: Findings) -> Object | None:
    """Create the Python object for an object in its current version; `None` if `findings` contains problems."""
    if kind.group != KUEUE:  # `structured` has already examined objects of Kueue's API
        doc = conform(schema_of_kind(kind), doc, (), findings)
    if "metadata" not in doc or (isinstance(doc["metadata"], dict) and not doc["metadata"].get("name")):
        findings.problem(("metadata", "name"), "is required", "Required")
    if findings.problems:
        return None
    flat = gathered(form_of(kind.cls), kind.read(doc) if kind.read else doc)
    # Exports of some tools have an empty namespace, which means the default one.
    if "namespace" in flat and not (kind.namespaced and flat["namespace"]):
        del flat["namespace"]
    found = decoded(form_of(kind.cls), flat, (), findings)
    return None if findings.problems else found


def split_api_version(doc: Mapping[str, Any]) -> tuple[str, str]:
    """Return the API group and version of an object; the group is empty for Kubernetes' core API."""
    group, slash, version = str(doc.get("apiVersion") or "").partition("/")
    return (group, version) if slash else ("", group)


@checked
def from_dict(doc: Mapping[str, Any]) -> Object:
    """Create the Python object for a dict in Kubernetes' JSON form, in any version of Kueue's API.

    The function checks types and field names, but does not check formats, lengths or the rules of `validate`.

    >>> from_dict({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "org"}}).name
    'org'

    Args:
        doc: The object as a dict.

    Returns:
        The object.

    Raises:
        ManifestError: A field is unknown, missing or of the wrong type.
        UnsupportedError: kueuepy has no Python class for the kind.
    """
    group, version = split_api_version(doc)
    findings = Findings(formats=False)
    if (group, str(doc.get("kind"))) not in KINDS and (group, version in OLD_VERSIONS) != (KUEUE, True):
        raise UnsupportedError(f"{doc.get('kind')} of {group or 'core'}: kueuepy has no class for this kind")
    body = in_v1beta2(group, version, dict(doc), findings, is_new=False)
    kind = None if body is None else KINDS.get((group, str(body.get("kind"))))
    if body is not None and kind is None:
        raise UnsupportedError(f"{doc.get('kind')} of {group or 'core'}: kueuepy has no class for this kind")
    found = None if body is None or kind is None else read_object(kind, body, findings)
    if found is None:
        where = object_name(doc)
        raise ManifestError([(where, problem) for problem in findings.problems])
    return with_usage(found) if version in OLD_VERSIONS else found


@checked
def to_dict(obj: Object) -> dict[str, Any]:
    """Convert an object to a dict in Kubernetes' JSON form, version v1beta2. Fields with default values are omitted.

    >>> from kueuepy.objects import Cohort
    >>> to_dict(Cohort("org"))["kind"]
    'Cohort'

    Args:
        obj: The object.

    Returns:
        The dict.
    """
    kind = BY_CLASS[type(obj)]
    namespace = {"namespace": obj.namespace} if isinstance(obj, NamespacedObject) else {}
    doc: Body = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": obj.name, **namespace}}
    spread(form_of(kind.cls), msgspec.to_builtins(obj, enc_hook=encode_text), doc)
    doc = kind.write(doc) if kind.write else doc
    status = doc.pop("status", None)  # kubectl prints it last
    return {**doc, "status": status} if status else doc


def generated_name(prefix: str, number: int) -> str:
    """Return the name of an object with `generateName`.

    kueuepy appends a number; an API server would append five random characters to `generateName`.
    """
    return f"{prefix}{number:05d}"


def object_name(doc: Mapping[str, Any]) -> str:
    """Return the name of an object in error messages: its kind, followed by namespace and name in quotes."""
    metadata = part(doc, "metadata")
    name = metadata.get("name") or metadata.get("generateName") or ""
    namespace = metadata.get("namespace")
    return f'{doc.get("kind") or "object"} "{f"{namespace}/" if namespace else ""}{name}"'
