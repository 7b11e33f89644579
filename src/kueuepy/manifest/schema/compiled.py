"""Schemas compiled to msgspec types.

The types accept valid objects at full speed. Objects that do not match a type are examined field by field. Formats of
strings are checked separately, because msgspec needs more than a microsecond per pattern check. Valid strings are
cached, since the same names and quantities occur in many objects.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec

from kueuepy.manifest.formats import read_quantity
from kueuepy.manifest.schema.table import Schema
from kueuepy.objects import parse_duration
from kueuepy.objects.readable import ready

# Usual form of times in Kubernetes. Other forms, and days after the 28th, are examined separately.
_TIME = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", re.ASCII)
# More values than a cluster has distinct templates; a service that runs for months must not keep all that it read.
_REMEMBERED = 4096


@cache
def type_of(schema: Schema) -> Any:
    """Return a msgspec type for the values of a schema.

    The type accepts only valid values without nulls, but it may reject some valid values.
    """
    match schema.type:
        case "object" if schema.properties:
            return _struct(schema)
        case "object":
            inner = type_of(schema.items) if schema.items else Any
            return _limited(dict[str, inner], min_length=schema.min_items, max_length=schema.max_items)  # type: ignore[valid-type]
        case "array":
            inner = type_of(schema.items) if schema.items else Any
            return _limited(list[inner], min_length=schema.min_items, max_length=schema.max_items)  # type: ignore[valid-type]
        case "integer":
            least, most = schema.range
            return _limited(int, ge=least, le=most)
        case "boolean":
            return bool
        case "number":
            return float
        case "any":
            return Any
        case "integer or string":
            return _limited(int, ge=-(2**63), le=2**63 - 1) | str
    if schema.enum:
        return Literal[schema.enum]
    return _limited(str, min_length=schema.min_length, max_length=schema.max_length)


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
        # Names of fields can be keywords of Python, so the attributes are numbered.
        fields.append((f"f{position}", kind if is_required else kind | msgspec.UnsetType, default))
    # msgspec, like Python, wants fields without a default first; the names hide this order.
    fields.sort(key=lambda field: field[2].default is not msgspec.NODEFAULT)
    hook = _hook(schema)
    own = {"__post_init__": hook} if hook else None
    return msgspec.defstruct("Compiled", fields, namespace=own, forbid_unknown_fields=not schema.is_open, gc=False)


def _hook(schema: Schema) -> Callable[[Any], None] | None:
    """Return a function that performs the checks that msgspec does not; `None` if no check is needed."""
    checks: list[tuple[str, Callable[[Any], object]]] = []
    for position, inner in enumerate(schema.properties.values()):
        if (check := _check(inner)) is not None:
            checks.append((f"f{position}", check))
    if not checks:
        return None
    names, tests = zip(*checks, strict=True)
    values_of, unset = _values(names), msgspec.UNSET

    def hook(self: Any) -> None:
        for value, check in zip(values_of(self), tests, strict=True):
            if value is not unset and not check(value):
                raise ValueError

    return hook


def _values(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that returns the values of attributes; one call is faster than one for each attribute."""
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda value: (get(value),)


def _check(schema: Schema) -> Callable[[Any], object] | None:
    """Return a function that checks string formats and the uniqueness of list items; `None` if no check is needed.

    Nested objects are checked by their own types.
    """
    if schema.type in ("string", "integer or string"):
        return _form(schema)
    form = _form(schema.items) if schema.items else None
    if schema.type == "object":
        return None if form is None or schema.properties else lambda value: all(map(form, value.values()))
    if schema.type != "array":
        return None
    distinct = _distinct(schema) if schema.keys or schema.is_set else None
    if form is None:
        return distinct
    if distinct is None:
        return lambda value: all(map(form, value))
    return lambda value: all(map(form, value)) and distinct(value)


def _form(schema: Schema) -> Callable[[Any], object] | None:
    """Return a function that checks a string against its schema's format or pattern; `None` if no check is needed."""
    if schema.format == "date-time":
        return _TIME.fullmatch
    if schema.format == "duration":
        return lambda value: parse_duration(value) is not None
    if not schema.pattern or schema.enum:
        return None
    search, known = schema.compiled.search, set[str]()
    is_quantity = schema.type == "integer or string"

    def has_form(value: Any) -> bool:
        if value in known or isinstance(value, int):
            return True
        if search(value) is None or (is_quantity and isinstance(read_quantity(value), str)):
            return False
        if len(known) >= _REMEMBERED:  # emptied at once, because an order of use would cost more than it saves
            known.clear()
        known.add(value)
        return True

    return has_form


def _distinct(schema: Schema) -> Callable[[Any], bool]:
    """Return a function that checks whether the items of a list are unique."""
    if schema.is_set:
        return lambda items: len(items) < 2 or len(set(items)) == len(items)  # noqa: PLR2004 - one item has no double
    names = list(schema.items.properties) if schema.items else []
    fields = [f"f{names.index(key)}" for key in schema.keys]

    key_of = _values(fields)
    return lambda items: len(items) < 2 or len(set(map(key_of, items))) == len(items)  # noqa: PLR2004 - likewise


def is_valid(schema: Schema, value: Any) -> bool:
    """Return whether a value is valid and contains neither nulls nor unknown fields.

    The function may also return `False` for a valid value.
    """
    try:
        msgspec.convert(value, ready(type_of(schema)))
    except (msgspec.ValidationError, ValueError, TypeError):
        return False
    return True
