"""Schemas of the kinds of Kueue's API, read from `table.json`, which `tools/crds.py` writes."""

import re
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from kueuepy.engine.cached import cached_property

_TABLE = Path(__file__).with_name("table.json")
_INT32 = 2**31
_INT64 = 2**63


class Schema(msgspec.Struct, frozen=True, dict=True, eq=False, kw_only=True):
    """A structural schema: the type of a value and its constraints.

    Attributes:
        type: `object`, `array`, `string`, `integer`, `boolean`, `number`, `integer or string`, or `any`.
        format: `int32`, `int64` or `date-time`; empty if the schema has no format.
        pattern: Regular expression that a string must match; empty if the schema has no pattern.
        enum: Allowed values; empty for any value.
        default: Value of an absent field; unset if there is none.
        minimum: Smallest allowed number.
        min_length: Smallest allowed number of characters.
        max_length: Largest allowed number of characters.
        min_items: Smallest allowed number of items.
        max_items: Largest allowed number of items in a list, or of keys in a mapping.
        required: Names of required fields.
        properties: Schemas of the fields of an object; empty for a mapping with arbitrary keys.
        items: Schema of the items of a list, or of the values of a mapping.
        keys: Names of the fields that identify an item of a list.
        is_set: Whether the items of a list must be unique.
        null: Replacement for null values in a mapping or list; unset if null is not allowed.
        nullable: Whether null is a value of its own; otherwise, a field that is null is absent.
        is_open: Whether an object may have fields that are not in `properties`; they are left out.
    """

    type: str
    format: str = ""
    pattern: str = ""
    enum: tuple[str, ...] = ()
    default: Any = msgspec.UNSET
    minimum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    required: tuple[str, ...] = ()
    properties: "dict[str, Schema]" = {}
    items: "Schema | None" = None
    keys: tuple[str, ...] = ()
    is_set: bool = False
    null: Any = msgspec.UNSET
    nullable: bool = False
    is_open: bool = False

    @cached_property
    def regex(self) -> str:
        """The pattern in Python's syntax; `$` is replaced, because it would also match before a final line break."""
        flagged = self.pattern.replace("^(?i)", "(?i)^")
        return f"{flagged[:-1]}\\Z" if flagged.endswith("$") else flagged

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.regex, re.ASCII)

    @cached_property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest allowed integer."""
        limit = _INT32 if self.format == "int32" else _INT64
        return (-limit if self.minimum is None else self.minimum), limit - 1


@cache
def _table() -> dict[str, Any]:
    return dict(msgspec.json.decode(_TABLE.read_bytes()))


@cache
def _numbered(number: int) -> Schema:
    raw = _table()["schemas"][number]
    items = raw.get("items")
    return Schema(
        type=raw["type"],
        format=raw.get("format", ""),
        pattern=raw.get("pattern", ""),
        enum=tuple(raw.get("enum", ())),
        default=raw.get("default", msgspec.UNSET),
        minimum=raw.get("minimum"),
        min_length=raw.get("minLength"),
        max_length=raw.get("maxLength"),
        min_items=raw.get("minItems"),
        max_items=raw.get("maxItems", raw.get("maxProperties")),
        required=tuple(raw.get("required", ())),
        properties={name: _numbered(inner) for name, inner in raw.get("properties", {}).items()},
        items=None if items is None else _numbered(items),
        keys=tuple(raw.get("keys", ())),
        is_set=raw.get("set", False),
    )


def custom_resources(version: str) -> dict[str, Schema]:
    """Return the schema of the CustomResourceDefinition of each kind in a version of Kueue's API."""
    return {kind: _numbered(numbers[version]) for kind, numbers in _table()["kinds"].items() if version in numbers}


@cache
def schema_of(kind: str, version: str) -> Schema | None:
    """Return the schema of a kind in a version of Kueue's API, including its metadata; `None` if it does not exist."""
    number = _table()["kinds"].get(kind, {}).get(version)
    if number is None:
        return None
    found = with_fields(_numbered(number), metadata=METADATA)
    status = found.properties.get("status")
    if status is None or kind == "Workload":
        return found
    read = _READ_STATUS.get(kind, ())
    free = {name: inner if name in read else ANY for name, inner in status.properties.items()}
    return with_fields(found, status=msgspec.structs.replace(status, properties=free, required=()) if read else SECTION)


@cache
def template_of(kind: str, version: str) -> tuple[Schema, Schema] | None:
    """Return the schema of a kind that accepts any pod templates, and the schema of its pod templates.

    Returns:
        The two schemas, or `None` if the kind has no pod templates.
    """
    found = schema_of(kind, version)
    spec = found.properties.get("spec") if found else None
    pod_sets = spec.properties.get("podSets") if spec else None
    if found is None or spec is None or pod_sets is None or pod_sets.items is None:
        return None
    free = with_fields(pod_sets.items, template=ANY)
    sets = msgspec.structs.replace(pod_sets, items=free)
    return with_fields(found, spec=with_fields(spec, podSets=sets)), pod_sets.items.properties["template"]


@cache
def pod_spec() -> Schema:
    """Return the schema of the specs of pods outside Workloads, in which containers may lack a name or share one."""
    found = template_of("Workload", "v1beta2")
    assert found is not None
    spec = found[1].properties["spec"]
    fields = {**spec.properties, "workloadRef": ANY}  # newer than the release of Kubernetes that Kueue's CRDs use
    for name in ("containers", "initContainers"):
        item = msgspec.structs.replace(cast("Schema", fields[name].items), required=())
        fields[name] = msgspec.structs.replace(fields[name], items=item, keys=())
    return msgspec.structs.replace(spec, properties=fields, required=())


def with_fields(schema: Schema, **fields: Schema) -> Schema:
    """Return a copy of a schema in which some fields are added or replaced."""
    return msgspec.structs.replace(schema, properties={**schema.properties, **fields})


def _text_fields(names: str) -> dict[str, Schema]:
    return dict.fromkeys(names.split(), STRING)


ANY = Schema(type="any", nullable=True)
# Status fields that are read for kinds other than Workload. On creation, an API server drops the status unread.
_READ_STATUS = {"LocalQueue": ("fairSharing",)}
SECTION = Schema(type="object")
"""A mapping with any content, such as a section of an object from which nothing is read."""
STRING = Schema(type="string")
FLAG = Schema(type="boolean")
INTEGER = Schema(type="integer", format="int64")
_TEXTS = Schema(type="object", items=STRING, null="")
_TIME = Schema(type="string", format="date-time")
OWNER = Schema(
    type="object",
    properties={**_text_fields("apiVersion kind name uid"), "controller": FLAG, "blockOwnerDeletion": FLAG},
)
_MANAGED = Schema(
    type="object",
    properties={
        **_text_fields("manager operation apiVersion fieldsType subresource"),
        "time": _TIME,
        "fieldsV1": SECTION,
    },
)
METADATA = Schema(
    type="object",
    properties={
        **_text_fields("name generateName namespace selfLink uid resourceVersion"),
        "generation": INTEGER,
        "creationTimestamp": _TIME,
        "deletionTimestamp": _TIME,
        "deletionGracePeriodSeconds": INTEGER,
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "ownerReferences": Schema(type="array", items=OWNER),
        "finalizers": Schema(type="array", items=STRING, null=""),
        "managedFields": Schema(type="array", items=_MANAGED),
    },
)
"""Schema of an object's metadata. Source: `k8s.io/apimachinery/pkg/apis/meta/v1/types.go:ObjectMeta`."""
