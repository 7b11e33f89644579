"""Schemas of Python classes, so that one function examines the values of Kueue's API and of every other class."""

from collections.abc import Hashable
from functools import cache
from typing import cast

import msgspec
from msgspec import inspect

from kueuepy.manifest.schema.table import ANY, Schema

_SIMPLE = {
    inspect.StrType: "string",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
}


@cache
def schema_of_class(cls: Hashable) -> Schema:
    """Return the schema of the values that msgspec decodes to a class or to another type."""
    return _schema(inspect.type_info(cls))


def _schema(kind: inspect.Type) -> Schema:
    match kind:
        case inspect.UnionType():
            return _union(kind)
        case inspect.StructType():
            required = tuple(field.encode_name for field in kind.fields if field.required)
            fields = {field.encode_name: _schema(field.type) for field in kind.fields}
            return Schema(type="object", properties=fields, required=required)
        case inspect.DictType():
            # In Go, null for a string is an empty string; null for any other value is a value of the wrong type.
            null = "" if isinstance(kind.value_type, inspect.StrType) else None
            return Schema(type="object", items=_schema(kind.value_type), null=null)
        case inspect.VarTupleType() | inspect.ListType():
            return Schema(type="array", items=_schema(kind.item_type))
        case inspect.LiteralType():
            return Schema(type="string", enum=cast("tuple[str, ...]", tuple(kind.values)))
    name = _SIMPLE.get(type(kind))
    return Schema(type=name) if name else ANY


def _union(kind: inspect.UnionType) -> Schema:
    options = [_schema(option) for option in kind.types if not isinstance(option, inspect.NoneType)]
    found = options[0]
    if all(option.enum for option in options):
        found = Schema(type="string", enum=tuple(word for option in options for word in option.enum))
    elif len(options) > 1:
        found = Schema(type="integer or string")
    return msgspec.structs.replace(found, nullable=kind.includes_none)
