"""Schemas of Python classes, so that one function examines the values of Kueue's API and of every other class."""

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import cast

import msgspec
from msgspec import inspect

from kueuepy.manifest.forms import Field, Form, form_of
from kueuepy.manifest.kinds import Kind
from kueuepy.manifest.schema.table import ANY, FLAG, INTEGER, METADATA, SECTION, STRING, Schema, pod_spec, with_fields
from kueuepy.objects import CounterConsumption, Device, DeviceCapacity, Node, Pod, Seconds, Timestamp

_SIMPLE = {inspect.StrType: STRING, inspect.IntType: INTEGER, inspect.BoolType: FLAG}
_ATTRIBUTE = {"string": STRING, "int": INTEGER, "bool": FLAG, "version": STRING} | dict.fromkeys(
    ("strings", "ints", "bools", "versions"), ANY
)
# Fields that have a default in the class, but that the API requires.
_REQUIRED = {(CounterConsumption, "counters")}


_CONDITION = {"type": STRING, "status": STRING, "lastTransitionTime": Schema(type="string", format="date-time")}
_CONDITIONS = Schema(type="array", items=Schema(type="object", properties=_CONDITION, is_open=True))


@cache
def schema_of_class(cls: Hashable) -> Schema:
    """Return the schema of the manifests that are decoded to a class or to another type."""
    return _schema(inspect.type_info(cls))


@cache
def schema_of_kind(kind: Kind) -> Schema:
    """Return the schema of a kind that is not in the table."""
    found = schema_of_class(kind.cls)
    # Fields of a section are of no interest unless the class has them, but a section is always a mapping.
    fields = {"status": SECTION, **found.properties, "apiVersion": ANY, "kind": ANY, "metadata": METADATA}
    # Kinds without a spec have few fields, which are all known here.
    is_flat = "spec" not in fields and not kind.is_open
    if kind.is_open:
        fields = {"spec": SECTION, "scheduling": SECTION, **fields}  # a RuntimeClass has `scheduling`
    found = msgspec.structs.replace(found, properties=fields, is_open=not is_flat)
    if kind.cls is Node:  # the fields that `kinds` computes from the conditions are not in the form
        found = with_fields(found, status=with_fields(fields["status"], conditions=_CONDITIONS))
    return _opened(found, form_of(kind.cls)) if kind.is_open else found


def _opened(schema: Schema, form: Form) -> Schema:
    """Return a schema that allows any further fields beside those of the form."""
    inner = {step for field in form.fields.values() for step in field.steps[:-1]} - {"metadata"}
    opened = {name: _opened(one, form) if name in inner else one for name, one in schema.properties.items()}
    return msgspec.structs.replace(schema, properties=opened, is_open=True)


def _schema(kind: inspect.Type) -> Schema:
    match kind:
        case inspect.UnionType():
            return _union(kind)
        case inspect.StructType():
            return _struct(kind)
        case inspect.DictType():
            # In Go, null for a string is an empty string; null for any other value is a value of the wrong type.
            null = "" if isinstance(kind.value_type, inspect.StrType) else None
            return Schema(type="object", items=_schema(kind.value_type), null=null)
        case inspect.VarTupleType() | inspect.ListType():
            return Schema(type="array", items=_schema(kind.item_type))
        case inspect.LiteralType():
            return Schema(type="string", enum=cast("tuple[str, ...]", tuple(kind.values)))
        case inspect.CustomType() if kind.cls in (Timestamp, Seconds):
            return Schema(type="string", format="date-time" if kind.cls is Timestamp else "duration")
        case inspect.FloatType():
            return Schema(type="number")
    return _SIMPLE.get(type(kind), ANY)


# The schemas of fields to which the class gives no type.
_FREE: dict[tuple[type, str], Callable[[], Schema]] = {
    (Pod, "spec"): pod_spec,
    (Device, "attributes"): lambda: _values(Schema(type="object", properties=_ATTRIBUTE)),
    (Device, "capacity"): lambda: _values(schema_of_class(DeviceCapacity)),
}


def _struct(kind: inspect.StructType) -> Schema:
    found = SECTION
    for known, field in zip(kind.fields, form_of(kind.cls).fields.values(), strict=True):
        if field.others:
            for other in field.others:
                found = _with(found, (*field.steps, other), ANY)
        elif field.steps[0][0] != "@":
            is_required = known.required or (kind.cls, field.name) in _REQUIRED
            found = _with(found, field.steps, _field(kind.cls, field, _schema(known.type)), is_required=is_required)
    return found


def _with(section: Schema, steps: Sequence[str], schema: Schema, *, is_required: bool = False) -> Schema:
    """Return the schema of a section with a field at a path, of which all steps but the last are sections."""
    name, *rest = steps
    if rest:
        schema = _with(section.properties.get(name, SECTION), rest, schema, is_required=is_required)
    found = with_fields(section, **{name: schema})
    is_own = is_required and not rest
    return msgspec.structs.replace(found, required=(*found.required, name)) if is_own else found


def _field(cls: type, field: Field, schema: Schema) -> Schema:
    """Return the schema of a field, in the form that it has in a manifest."""
    if (cls, field.name) in _FREE:
        return _FREE[cls, field.name]()
    item = schema.items
    for step in reversed(field.rest):
        item = Schema(type="object", properties={step: cast("Schema", item)}, required=(step,))
    return msgspec.structs.replace(schema, items=item)


def _values(item: Schema) -> Schema:
    return Schema(type="object", items=item, null=None)


def _union(kind: inspect.UnionType) -> Schema:
    options = [_schema(option) for option in kind.types if not isinstance(option, inspect.NoneType)]
    found = options[0]
    if all(option.enum for option in options):
        found = Schema(type="string", enum=tuple(word for option in options for word in option.enum))
    elif len(options) > 1:
        found = Schema(type="integer or string")
    return found
