"""Conversion of objects between Kubernetes' JSON form and Python classes."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kueuepy.errors import UnsupportedError
from kueuepy.errors.arguments import checked
from kueuepy.errors.problems import ManifestError, Problem, suggestion
from kueuepy.manifest.body import Body, part, present
from kueuepy.manifest.decoding import decode
from kueuepy.manifest.fields import TIME
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.kinds import BY_CLASS, KINDS, KUEUE, Kind
from kueuepy.manifest.schema.structure import structured
from kueuepy.manifest.schema.table import METADATA
from kueuepy.manifest.versions import OLD_VERSIONS, to_v1beta2, with_usage
from kueuepy.objects import Object
from kueuepy.objects.times import encode_time, format_time

_METADATA = ("name", "namespace", "labels", "annotations", "uid")
_TIMES = ("creationTimestamp", "deletionTimestamp")
_METADATA_FIELDS = frozenset((*_METADATA, *_TIMES))
_KNOWN_METADATA = frozenset((*METADATA.properties, "clusterName"))
_ENVELOPE = frozenset(("apiVersion", "kind", "metadata", "status"))


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
    """Create the Python object for an object in version v1beta2; return `None` if `findings` contains problems."""
    body = _body(kind, doc, findings)
    flat = _metadata(kind, doc, findings)
    if body is None or flat is None:
        return None
    if kind.group != KUEUE:
        for name in _METADATA_FIELDS.intersection(body):
            findings.odd(("spec", name), f"unknown field; {name} belongs to metadata", "left out")
    place = (kind.place,) if kind.place else ()
    for name, value in body.items():
        written = kind.forms.get(name)
        if value is not None and written:
            path = ("status",) if name == "status" else (*place, name)
            value = written.read(value, path, findings)  # noqa: PLW2901
            if value is None:
                continue
        flat.setdefault(name, value)
    before = len(findings.problems), len(findings.notes)
    found = decode(kind.cls, flat, place, findings)
    _settle_paths(kind, findings, *before)
    return None if findings.problems else found


def _body(kind: Kind, doc: Body, findings: Findings) -> Body | None:
    spec = doc.get(kind.place) if kind.place else {}
    if spec is not None and not isinstance(spec, dict):
        findings.problem((kind.place,), "must be a mapping")
        return None
    if kind.body:
        body = kind.body(doc)
    elif not kind.place:
        body = {name: value for name, value in doc.items() if name not in _ENVELOPE}
    else:
        body = dict(spec or {})
    if "status" in kind.forms and doc.get("status") is not None:
        body["status"] = doc["status"]
    return body


def _metadata(kind: Kind, doc: Body, findings: Findings) -> Body | None:
    metadata = doc.get("metadata")
    if not isinstance(metadata, dict):
        findings.problem(("metadata", "name"), "is required", "Required")
        return None
    flat: Body = {}
    if kind.group == KUEUE:  # the schema has already checked all fields
        flat = {name: metadata[name] for name in (*_METADATA, *kind.metadata) if name in metadata}
        for name in _TIMES:
            if name in metadata:
                flat[name] = TIME.read(metadata[name], ("metadata", name), findings)
        return _placed(kind, flat)
    for name, value in metadata.items():
        if name in _METADATA or name in kind.metadata:
            if value is not None:
                flat[name] = value
        elif name in _TIMES:
            if value is not None:
                flat[name] = TIME.read(value, ("metadata", name), findings)
        elif name not in _KNOWN_METADATA:
            hint = suggestion(str(name), _KNOWN_METADATA)
            findings.odd(("metadata", str(name)), f"unknown field; {hint}", "left out")
    return _placed(kind, flat)


def _placed(kind: Kind, flat: Body) -> Body:
    if not flat.get("name"):
        flat.pop("name", None)
    if (not kind.namespaced and "namespace" in flat) or flat.get("namespace") == "":
        del flat["namespace"]
    return flat


def _settle_paths(kind: Kind, findings: Findings, problems: int, notes: int) -> None:
    """Change the paths in the latest findings to paths in the manifest.

    The location of some fields in the Python class differs from the location in the manifest.
    """
    if len(findings.problems) == problems and len(findings.notes) == notes:
        return
    findings.problems[problems:] = [settled(kind, problem) for problem in findings.problems[problems:]]
    findings.notes[notes:] = [settled(kind, problem) for problem in findings.notes[notes:]]


def settled(kind: Kind, problem: Problem) -> Problem:
    """Return a copy of a problem in which the field path refers to the manifest instead of the Python class."""
    place = (kind.place,) if kind.place else ()
    path = problem.path
    if path[: len(place)] != place or len(path) == len(place):
        return problem
    field, rest = path[len(place)], path[len(place) + 1 :]
    if field in _METADATA_FIELDS:
        return msgspec.structs.replace(problem, path=("metadata", field, *rest))
    if field == "status":
        return msgspec.structs.replace(problem, path=(field, *rest))
    inner = kind.forms[field].inner if isinstance(field, str) and field in kind.forms else ""
    if inner and rest[:1] != (inner,):
        return msgspec.structs.replace(problem, path=(*place, field, inner, *rest))
    return problem


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
        raise UnsupportedError(f"{doc.get('kind')} of {group or 'core'}: no record keeps this kind")
    body = in_v1beta2(group, version, dict(doc), findings, is_new=False)
    kind = None if body is None else KINDS.get((group, str(body.get("kind"))))
    if body is not None and kind is None:
        raise UnsupportedError(f"{doc.get('kind')} of {group or 'core'}: no record keeps this kind")
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
    flat: Body = msgspec.to_builtins(obj, enc_hook=encode_time)
    metadata = {name: flat.pop(name) for name in (*_METADATA, *kind.metadata) if name in flat}
    if kind.namespaced:
        metadata.setdefault("namespace", "default")
    for name in _TIMES:
        if (time := flat.pop(name, None)) is not None:
            metadata[name] = format_time(time)
    written = {name: kind.forms[name].write(value) if name in kind.forms else value for name, value in flat.items()}
    status = written.pop("status", None)
    if kind.spread:
        rest = kind.spread(written)
    else:
        body = present(written)
        rest = ({kind.place: body} if body else {}) if kind.place else body
    if status:
        rest["status"] = status
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, **rest}


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
