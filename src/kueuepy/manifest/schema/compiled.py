"""Schemas as msgspec's types, which accept what is valid at full speed; what they refuse is examined field by field."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal

import msgspec

from kueuepy.manifest.schema.table import Schema
from kueuepy.objects.ready import ready

_TIME = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ\Z"
"""The form in which Kubernetes writes times; others, and days that few months have, are examined."""


@cache
def type_of(schema: Schema) -> Any:
    """The type of values that are valid without nulls. It may refuse what is valid, and accepts nothing else."""
    match schema.type:
        case "object" if schema.properties:
            return _struct(schema)
        case "object":
            inner = type_of(schema.items) if schema.items else Any
            return _limited(dict[str, inner], min_length=schema.min_items, max_length=schema.max_items)
        case "array":
            inner = type_of(schema.items) if schema.items else Any
            return _limited(list[inner], min_length=schema.min_items, max_length=schema.max_items)
        case "integer":
            least, most = schema.range
            return _limited(int, ge=least, le=most)
        case "boolean":
            return bool
        case "any":
            return Any
        case "integer or string":
            return _limited(int, ge=-(2**63), le=2**63 - 1) | _text(schema)
    return _text(schema)


def _text(schema: Schema) -> Any:
    if schema.enum:
        return Literal[schema.enum]
    pattern = _TIME if schema.format == "date-time" else schema.regex or None
    return _limited(str, pattern=pattern, min_length=schema.min_length, max_length=schema.max_length)


def _limited(kind: Any, **limits: Any) -> Any:
    given = {name: limit for name, limit in limits.items() if limit is not None}
    return Annotated[kind, msgspec.Meta(**given)] if given else kind


def _struct(schema: Schema) -> type[msgspec.Struct]:
    fields: list[Any] = []
    for position, (name, inner) in enumerate(schema.properties.items()):
        is_required = name in schema.required and inner.default is msgspec.UNSET
        kind = type_of(inner)
        value = inner.default if isinstance(inner.default, str | int) else msgspec.UNSET
        default = msgspec.field(name=name) if is_required else msgspec.field(name=name, default=value)
        fields.append((f"f{position}", kind if is_required else kind | msgspec.UnsetType, default))
    fields.sort(key=lambda field: field[2].default is not msgspec.NODEFAULT)
    hook = _distinct(schema)
    namespace = {"__post_init__": hook} if hook else None
    return msgspec.defstruct("Compiled", fields, namespace=namespace, forbid_unknown_fields=True, gc=False)


def _distinct(schema: Schema) -> Callable[[Any], None] | None:
    """What refuses an object with a list in which an item occurs twice; none if it has no such lists."""
    lists: list[tuple[str, tuple[str, ...]]] = []
    for position, inner in enumerate(schema.properties.values()):
        if inner.type == "array" and (inner.keys or inner.is_set) and inner.items is not None:
            names = list(inner.items.properties)
            lists.append((f"f{position}", tuple(f"f{names.index(key)}" for key in inner.keys)))
    if not lists:
        return None

    def __post_init__(self: Any) -> None:
        for field, keys in lists:
            items = getattr(self, field)
            if items is msgspec.UNSET or len(items) < 2:  # noqa: PLR2004 - one item is no other's double
                continue
            found = {tuple(getattr(item, key) for key in keys) for item in items} if keys else set(items)
            if len(found) < len(items):
                raise ValueError(field)

    return __post_init__


def is_valid(schema: Schema, value: Any) -> bool:
    """Whether a value is valid by its schema, has no nulls and no unknown fields; false may be wrong."""
    try:
        msgspec.convert(value, ready(type_of(schema)))
    except (msgspec.ValidationError, ValueError, TypeError):
        return False
    return True
