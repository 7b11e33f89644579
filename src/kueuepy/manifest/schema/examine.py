"""Validation of a value against its schema, field by field, as on an API server.

Every problem of the value is reported. Nulls are treated as absent fields, except in lists. Lenient mode removes
unknown fields, converts numbers and strings where the schema expects the other type, and adds a note for each
correction.
"""

import json
import math
import re
from calendar import monthrange
from collections.abc import Callable
from typing import Any

import msgspec

from kueuepy.errors import Path, shown, suggestion
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.formats import KEY_FORM, LABEL_FORM, SUBDOMAIN_FORM, read_quantity
from kueuepy.manifest.schema.table import METADATA, Schema
from kueuepy.objects.times import parse_duration

_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)", re.ASCII)
_INT64 = 2**63
_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)  # 19 digits have every integer of 64 bits; its range is checked later
_SIGNIFICANT = 2**53  # above, a float no longer represents every integer
_QUANTITY = "a quantity: a number, then one of n u m k M G T P E Ki Mi Gi Ti Pi Ei"
# Descriptions of the patterns in Kueue's schemas.
_FORMS = {
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": LABEL_FORM,
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$": SUBDOMAIN_FORM,
    r"^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$": "the name of a kind",
    r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$": "one word of letters, digits and _ , :",
    (
        r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
        r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
    ): KEY_FORM,
}
_NAMES = frozenset(list(_FORMS)[:2])
_NAMED_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "integer or string": "a quantity such as 9 or 500m",
}


def examine(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    """Validate a value, and return it without nulls and with the corrections of lenient mode.

    Problems are added to `findings`.
    """
    if value is None and schema.nullable:
        return None
    return _BY_TYPE[schema.type](schema, value, path, findings)


def _object(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    if not isinstance(value, dict):
        return _wrong_type(schema, value, path, findings)
    if not schema.properties:
        return _mapping(schema, value, path, findings)
    clean: dict[str, Any] = {}
    for name, inner in value.items():
        if findings.full:  # a malformed object can have a million fields
            return value
        known = schema.properties.get(name)
        if known is None and schema.is_open:
            continue
        if known is None:
            findings.odd((*path, str(name)), f"unknown field; {_hint(schema, str(name), path)}", "left out")
        elif inner is not None or known.nullable:
            clean[name] = examine(known, inner, (*path, name), findings)
    for name in schema.required:
        if name not in clean and schema.properties[name].default is msgspec.UNSET:
            findings.problem((*path, name), "is required", "Required")
    return clean


def _hint(schema: Schema, name: str, path: Path) -> str:
    if path == ("spec",) and name == "status":
        return "status stands beside spec"
    if path == ("spec",) and name in METADATA.properties:
        return f"{name} belongs to metadata"
    return suggestion(name, schema.properties)


def _mapping(schema: Schema, value: dict[str, Any], path: Path, findings: Findings) -> Any:
    if schema.items is None:
        return value
    clean = {}
    for name, inner in value.items():
        if not isinstance(name, str):
            what = "is not a string; keys must be strings: put it in quotes"
            findings.odd((*path, str(name)), what, "read so", "Invalid")
        meant = schema.null if inner is None else inner
        if meant is not msgspec.UNSET:
            clean[str(name)] = examine(schema.items, meant, (*path, str(name)), findings)
    _count(schema, clean, path, findings)
    return clean


def _array(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    if not isinstance(value, list | tuple):
        return _wrong_type(schema, value, path, findings)
    items = schema.items
    clean = list(value)
    if schema.null is not msgspec.UNSET:
        clean = value = [schema.null if inner is None else inner for inner in value]
    if items is not None:
        clean = [examine(items, inner, (*path, position), findings) for position, inner in enumerate(value)]
    _count(schema, clean, path, findings)
    if findings.formats and (schema.keys or schema.is_set):
        _once(schema, clean, path, findings)
    return clean


def _count(schema: Schema, value: Any, path: Path, findings: Findings) -> None:
    if not findings.formats:
        return
    if schema.max_items is not None and len(value) > schema.max_items:
        findings.problem(path, f"has {len(value)} items; at most {schema.max_items} are allowed", "TooMany")
    if schema.min_items is not None and len(value) < schema.min_items:
        needed = "at least one item" if schema.min_items == 1 else f"at least {schema.min_items} items"
        findings.problem(path, f"is empty; it must have {needed}", "Required")


def _once(schema: Schema, value: list[Any], path: Path, findings: Findings) -> None:
    """Check that no item of a list occurs twice. Items are compared by their keys if the schema defines keys."""
    # Items are compared as JSON, because mappings are not hashable.
    seen: set[str] = set()
    for position, item in enumerate(value):
        known, location = _key(schema, item), (*path, position)
        if known is None:
            continue
        if known in seen:
            field = schema.keys[:1] if len(schema.keys) == 1 else ()
            name = _defaulted(schema, item, field[0]) if field else item
            findings.problem((*location, *field), f"{shown(name)} occurs twice; each may occur once", "Duplicate")
        seen.add(known)


def _key(schema: Schema, item: Any) -> str | None:
    """Return the key of an item as a string; `None` for an item of the wrong type, which is reported separately."""
    if schema.keys:
        if not isinstance(item, dict):
            return None
        item = [_defaulted(schema, item, name) for name in schema.keys]
    return json.dumps(item, sort_keys=True, default=str)


def _defaulted(schema: Schema, item: dict[str, Any], name: str) -> Any:
    known = schema.items.properties.get(name) if schema.items else None
    default = known.default if known and known.default is not msgspec.UNSET else None
    return item.get(name, default)


def _string(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    if schema.enum:
        if value not in schema.enum:
            allowed = ", ".join(str(word) for word in schema.enum if word != "")
            findings.problem(path, f"{shown(value)} is not supported; it must be one of {allowed}", "NotSupported")
        return value
    if not isinstance(value, str):
        value = _as_text(value, path, findings)
        if not isinstance(value, str):
            return value
    if schema.format == "date-time" and not is_time(value):
        findings.problem(path, f"is {shown(value)}; it must be a time such as 2026-01-31T12:00:00Z")
    if schema.format == "duration" and parse_duration(value) is None:
        findings.problem(path, f"is {shown(value)}; it must be a duration such as 5m or 1h30m")
    if not findings.formats:
        return value
    if not schema.pattern or schema.compiled.search(value):
        _length(schema, value, path, findings)
    else:
        detail = f"is {shown(value)}; it must be {_FORMS.get(schema.pattern, f'of the form {schema.pattern}')}"
        if schema.pattern in _NAMES:
            findings.odd(path, detail, "taken as it is", "Invalid")
        else:
            findings.problem(path, detail)
    return value


def _length(schema: Schema, value: str, path: Path, findings: Findings) -> None:
    least, most = schema.min_length or 0, schema.max_length
    if len(value) < least or (most is not None and len(value) > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        findings.problem(path, f"has {len(value)} characters; {allowed} are allowed")


def is_time(text: str) -> bool:
    """Return whether an API server accepts a string as a time: RFC 3339 with a valid day of the month."""
    found = _TIME.fullmatch(text)
    if not found:
        return False
    year, month, day, hour, minute, second = map(int, found.groups())
    is_day = 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]  # noqa: PLR2004
    return is_day and hour < 24 and minute < 60 and second < 60  # noqa: PLR2004


def _integer(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    number = _whole(value)
    if number is None:
        meant = int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else None
        number = _whole(_converted(value, meant, "an integer", path, findings))
    if number is None:
        return value
    least, most = schema.range
    if not least <= number <= most:
        allowed = "a signed 32-bit integer" if schema.format == "int32" else "an integer of 64 bits"
        wanted = f"{least} or more" if schema.minimum is not None and number < least else allowed
        findings.problem(path, f"is {shown(number)}; it must be {wanted}")
    return number


def _whole(value: Any) -> int | None:
    """Convert an integer, or a float without a fraction, to an integer; return `None` for other values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() and abs(value) < _SIGNIFICANT else None
    return value if isinstance(value, int) else None


def _boolean(_: Schema, value: Any, path: Path, findings: Findings) -> Any:
    if isinstance(value, bool):
        return value
    return _converted(value, {"true": True, "false": False}.get(str(value)), "true or false", path, findings)


def _number(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else _wrong_type(schema, value, path, findings)


def _integer_or_string(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    if isinstance(value, str):
        if schema.pattern and not schema.compiled.search(value):
            findings.problem(path, f"is {shown(value)}; it must be {_QUANTITY}")
        elif schema.pattern and isinstance(fault := read_quantity(value), str):
            findings.problem(path, fault)
        return value
    number = _whole(value)
    if number is not None:
        if not -_INT64 <= number < _INT64:
            findings.odd(path, f"is {number}, beyond 64 bits; write it in quotes", "read as if it were", "Invalid")
            return str(number)
        return number
    if not isinstance(value, float) or not math.isfinite(value):
        return _wrong_type(schema, value, path, findings)
    findings.odd(path, f"is {value}, a fraction without quotes; write it in quotes", "read as if it were", "Invalid")
    return str(value)


def _as_text(raw: Any, path: Path, findings: Findings) -> Any:
    """Convert a number or boolean to a string in lenient mode; report any other value, and return it unchanged."""
    detail = f"is {named(raw)}; it must be a string"
    if raw is None or isinstance(raw, dict | list | tuple):
        findings.problem(path, detail)
        return raw
    findings.odd(path, f"{detail}: put it in quotes", "read as if it were", "Invalid")
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _converted(raw: Any, meant: Any, wanted: str, path: Path, findings: Findings) -> Any:
    """Return what a string means in lenient mode; report a value of a wrong type without a meaning."""
    detail = f"is {named(raw)}; it must be {wanted}"
    if meant is None:
        findings.problem(path, detail)
        return raw
    findings.odd(path, detail, f"read as {shown(meant)}", "Invalid")
    return meant


def _wrong_type(schema: Schema, value: Any, path: Path, findings: Findings) -> Any:
    findings.problem(path, f"is {named(value)}; it must be {_NAMED_TYPES[schema.type]}")
    return value


def named(raw: Any) -> str:
    """Return a value and its type as an error message shows them."""
    match raw:
        case None:
            return "null"
        case bool():
            return f"{str(raw).lower()}, a boolean"
        case int() | float():
            return f"{shown(raw)}, a number"
        case str():
            return f"{shown(raw)}, a string"
        case dict():
            return "a mapping"
    return "a list"


_BY_TYPE: dict[str, Callable[[Schema, Any, Path, Findings], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "integer or string": _integer_or_string,
    "any": lambda _, value, __, ___: value,
}
