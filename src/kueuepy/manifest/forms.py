"""The path of each field of a class in a manifest.

A class of an object combines fields of several sections, and leaves out mappings that have only one field. The table
`PATHS` contains the paths that differ from the names of the fields. A path such as `spec.levels[].nodeLabel` leads
through mappings, the items of lists (`[]`) and the values of mappings (`{}`).
"""

import collections.abc
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

import kueuepy.objects as api
from kueuepy.errors import Path
from kueuepy.objects.times import (
    LATEST,
    LONGEST,
    Seconds,
    Timestamp,
    format_duration,
    format_time,
    parse_duration,
    parse_time,
)

Doc = dict[str, Any]
NULL: Any = object()
"""The value of a field that is `None` in the class, while its absence stands for the default."""

ZERO_TIME = "0001-01-01T00:00:00Z"
"""Go's zero time, which stands for an absent time."""

_METADATA = ("name", "namespace", "labels", "annotations", "uid", "creationTimestamp", "deletionTimestamp")
# Fields without a place in a class: they are kept together, as they are.
_SLICE = "nodeName nodeSelector allNodes perDeviceNodeSelection sharedCounters"
_DEVICE = (
    "nodeName nodeSelector allNodes taints bindsToNode bindingConditions bindingFailureConditions "
    "allowMultipleAllocations nodeAllocatableResourceMappings"
)
_USAGE = "fairSharing.admissionFairSharingStatus"
_SELECTOR = {"deviceSelector": "deviceSelector.cel.expression"}

PATHS: dict[type, Mapping[str, str]] = {
    api.ClusterQueue: {
        "admissionChecksStrategy": "spec.admissionChecksStrategy.admissionChecks",
        "admissionScope": "spec.admissionScope.admissionMode",
        "effectiveQuotas": "status.effectiveQuotas",
    },
    api.Cohort: {"effectiveQuotas": "status.effectiveQuotas"},
    api.LocalQueue: {"status": "status"},
    api.LocalQueueStatus: {name: f"{_USAGE}.{name}" for name in ("consumedResources", "lastUpdate")},
    api.Workload: {
        "ownerReferences": "metadata.ownerReferences",
        "preemptionGates": "spec.preemptionGates[].name",
        "status": "status",
    },
    api.WorkloadStatus: {"unhealthyNodes": "unhealthyNodes[].name"},
    api.Condition: {},
    api.AdmissionCheckState: {},
    api.AdmissionCheck: {"active": "@active"},
    api.Topology: {"levels": "spec.levels[].nodeLabel"},
    api.WorkloadPriorityClass: {"": ""},
    api.PriorityClass: {"": ""},
    api.RuntimeClass: {"": "", "overhead": "overhead.podFixed"},
    api.Node: {
        "capacity": "status.capacity",
        "allocatable": "status.allocatable",
        **{name: f"@{name}" for name in ("ready", "readyUnknown", "otherConditions", "readySince")},
    },
    api.Pod: {"spec": "spec", "phase": "status.phase"},
    api.DeviceClass: {"selectors": "spec.selectors[].cel.expression"},
    api.ResourceClaim: {"": "spec.devices"},
    api.ResourceClaimTemplate: {"": "spec.spec.devices", "claimMetadata": "spec.metadata"},
    api.DeviceRequest: {
        "": "exactly",
        "name": "name",
        "selectors": "exactly.selectors[].cel.expression",
        "capacity": "exactly.capacity.requests",
        "firstAvailable": "firstAvailable",
    },
    api.ResourceSlice: {"other": f"spec.*{_SLICE}"},
    api.Device: {"other": f"*{_DEVICE}"},
    api.CounterConsumption: {"counters": "counters{}.value"},
    api.Configuration: {
        "": "",
        "frameworks": "integrations.frameworks",
        "objectRetentionPolicies": "objectRetentionPolicies.workloads",
        **{name: f"@{name}" for name in ("version", "rulesLeftOut", "rulesAdded")},
    },
    api.MultiKueueSettings: {
        "stepSize": "incrementalDispatcherConfig.stepSize",
        "externalFrameworks": "externalFrameworks[].name",
    },
    api.CounterSource: _SELECTOR,
    api.CapacitySource: _SELECTOR,
}
"""By class, the paths of fields that are not at their own name in the section of the class.

The section of an object is `spec`, unless the entry with an empty name contains another one. A path that starts with
`@` is not in a manifest: the functions of `kinds` compute it. `*` before names stands for all fields with these names.
"""


class Field(msgspec.Struct, frozen=True):
    """The path of one field of a class in a manifest.

    Attributes:
        name: The name of the field in camelCase.
        steps: The path of the field, up to the list or mapping whose items are converted.
        many: `[]` for a list and `{}` for a mapping whose items are converted one by one; empty for a single value.
        rest: The path of the value in an item.
        inner: The form of the value, or of each item; `None` if a manifest has the same form.
        others: The names of the fields that the value collects.
        type: The type of the field.
    """

    name: str
    steps: tuple[str, ...]
    many: str
    rest: tuple[str, ...]
    inner: "Form | None"
    others: tuple[str, ...]
    type: Any

    @property
    def is_time(self) -> bool:
        """Whether the value is a time."""
        return Timestamp in (self.type, *get_args(self.type))


class Form(msgspec.Struct, frozen=True, eq=False):
    """The form of the manifests of a class.

    Attributes:
        cls: The class.
        fields: The fields, by name.
    """

    cls: type
    fields: dict[str, Field]


@cache
def form_of(cls: type) -> Form:
    """Return the form of the manifests of a class."""
    paths = PATHS.get(cls, {})
    is_object = issubclass(cls, api.Object)
    base = paths.get("", "spec" if is_object else "")
    fields = {}
    for known in msgspec.structs.fields(cls):
        name = known.encode_name
        at = f"metadata.{name}" if is_object and name in _METADATA else f"{base}.{name}" if base else name
        path, _, others = paths.get(name, at).partition("*")
        # Without a mark in its path, a list or mapping of classes with forms of their own is converted item by item.
        container, cls_inside = _struct_in(known.type)
        inner = _own(cls_inside) if cls_inside else None
        if inner and "[]" not in path and "{}" not in path:
            path += container
        many = next((mark for mark in ("[]", "{}") if mark in path), "")
        before, _, after = path.partition(many) if many else (path, "", "")
        steps, rest = (tuple(step for step in part.split(".") if step) for part in (before, after))
        fields[name] = Field(name, steps, many, rest, inner, tuple(others.split()), known.type)
    return Form(cls, fields)


def _own(cls: type) -> Form | None:
    """Return the form of a class, or `None` if a manifest has the form of the class."""
    form = form_of(cls)
    is_plain = all(one.steps == (name,) and not (one.inner or one.is_time) for name, one in form.fields.items())
    return None if is_plain and cls not in PATHS else form


def _struct_in(hint: Any) -> tuple[str, type | None]:
    """Return the class of the structs in a type, and whether the type is a list or a mapping of them."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return next((found for part in parts if (found := _struct_in(part))[1]), ("", None))
    if origin in (tuple, list, collections.abc.Sequence):
        return "[]", _struct_in(parts[0])[1]
    if origin is dict:
        return "{}", _struct_in(parts[1])[1]
    return "", hint if isinstance(hint, type) and issubclass(hint, msgspec.Struct) else None


def gathered(form: Form, doc: Doc) -> Doc:
    """Return the fields of a class from a manifest that conforms to its schema."""
    # One loop, with calls only where they are needed: a dump of a cluster has tens of thousands of Workloads.
    found: Doc = {}
    for name, field in form.fields.items():
        value: Any = doc
        for step in field.steps:
            value = value.get(step)
            if value is None:
                break
        else:
            if field.many or field.inner is not None or field.others:
                value = _inside(field, value)
            if value is not None and not (value == ZERO_TIME and field.is_time):
                found[name] = None if value is NULL else value
    return found


def _inside(field: Field, value: Any) -> Any:
    if field.others:
        return {other: value[other] for other in field.others if value.get(other) is not None} or None
    if field.many:
        if field.many == "[]":
            return [_item(field, item) for item in value]
        return {key: _item(field, item) for key, item in value.items()}
    found = gathered(field.inner, value) if field.inner is not None else value
    # Kueue's controllers write a status to every object; a status without any field of the class counts as absent.
    return found if found or field.name != "status" else None


def _item(field: Field, item: Any) -> Any:
    for step in field.rest:  # the schema requires these fields
        item = item[step]
    return item if field.inner is None else gathered(field.inner, item)


def spread(form: Form, flat: Mapping[str, Any], doc: Doc) -> Doc:
    """Write the fields of a class to a manifest, and return it; the inverse of `gathered`."""
    for name, value in flat.items():
        field = form.fields[name]
        if field.others:
            _section(doc, field.steps).update(value)
        else:
            written = _written(field, value) if field.inner or field.many else value
            # An empty status is read as absent; in other fields, an empty mapping differs from a missing one.
            if written or field.name != "status":
                _section(doc, field.steps[:-1])[field.steps[-1]] = written
    return doc


def _section(doc: Doc, steps: tuple[str, ...]) -> Doc:
    for step in steps:
        doc = doc.setdefault(step, {})
    return doc


def _written(field: Field, value: Any) -> Any:
    if value is None:
        return None

    def item(one: Any) -> Any:
        one = spread(field.inner, one, {}) if field.inner is not None else one
        for step in reversed(field.rest):
            one = {step: one}
        return one

    if field.many == "[]":
        return [item(one) for one in value]
    return {key: item(one) for key, one in value.items()} if field.many else item(value)


def path_in_manifest(form: Form | None, path: Path) -> Path:
    """Return the path of a field in a manifest, from its path in the encoded form of the class."""
    field = form.fields.get(path[0]) if form and path and isinstance(path[0], str) else None
    if field is None:
        return path
    rest, steps = path[1:], tuple(step for step in field.steps if step[0] != "@")
    if field.many and rest:
        return (*steps, rest[0], *field.rest, *path_in_manifest(field.inner, rest[1:]))
    return (*steps, *path_in_manifest(field.inner, rest))


def decode_text(cls: type[Any], value: Any) -> Any:
    """Decode the text of a time or duration; the `dec_hook` of msgspec for manifests."""
    if cls not in (Timestamp, Seconds):
        raise NotImplementedError(cls.__name__)
    read = (parse_time if cls is Timestamp else parse_duration)(value)
    if read is None or abs(read) > LONGEST:
        raise ValueError(f'is "{value}"; it must be a time that fits 64 bits of nanoseconds, {LATEST} at most')
    return cls.of(read)


def encode_text(value: Any) -> str:
    """Encode a time or duration as text; the `enc_hook` of msgspec for manifests."""
    if isinstance(value, Timestamp | Seconds):
        return (format_time if isinstance(value, Timestamp) else format_duration)(value.value)
    raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")
