"""Decoding of mappings and lists to Python classes, with a description of every problem.

msgspec decodes valid values at full speed. Only values that msgspec rejects are compared with the declared types, field
by field. Nulls are treated as absent fields. In lenient mode, unknown fields are removed, and numbers become strings
where a string is expected.
"""

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect

from kueuepy.errors.problems import Path, Problem, ProblemKind, shown, suggestion
from kueuepy.objects.readable import decoding_fault
from kueuepy.objects.ready import ready
from kueuepy.objects.times import decode_time

T = TypeVar("T")


class Validated:
    """A set of validated objects, compared by identity. Equal but distinct objects are validated separately."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        """Create an empty set."""
        self._values: dict[int, Any] = {}

    def __contains__(self, value: object) -> bool:
        """Return whether an object was validated without findings."""
        return self._values.get(id(value), self) is value

    def add(self, value: Any) -> None:
        """Add an object. The set keeps a reference to the object, so that the object's identity is not reused."""
        if len(self._values) >= _MOST_SOUND:
            self._values.clear()
        self._values[id(value)] = value


class AllValidated(Validated):
    """A set that contains every object, used if another program has already validated the objects."""

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        """Return `True`."""
        return True


class Findings:
    """The problems and notes that are found while one object is read.

    Attributes:
        strict: Whether an unknown field is a problem rather than a note.
        formats: Whether patterns, lengths and numbers of items are checked, in addition to fields and types.
        problems: Reasons to reject the object.
        notes: Descriptions of ignored or corrected input.
        validated: Values that were validated without findings; the same value can occur in many objects.
    """

    __slots__ = ("formats", "notes", "problems", "strict", "validated")

    def __init__(self, *, strict: bool = True, formats: bool = True, validated: Validated | None = None) -> None:
        """Create an instance without findings."""
        self.strict = strict
        self.formats = formats
        self.validated = Validated() if validated is None else validated
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []

    @property
    def full(self) -> bool:
        """Whether the limit of reported problems per object is reached."""
        return len(self.problems) + len(self.notes) >= _ENOUGH

    def problem(self, path: Path, detail: str, kind: ProblemKind = "Invalid") -> None:
        """Add a problem."""
        self.problems.append(Problem(path, kind, detail))

    def odd(self, path: Path, detail: str, remedy: str, kind: ProblemKind = "Unknown") -> None:
        """Add a problem in strict mode, or a note with the correction in lenient mode."""
        if self.strict:
            self.problems.append(Problem(path, kind, detail))
        else:
            self.notes.append(Problem(path, kind, f"{detail}; {remedy}"))


def decode(cls: type[T], raw: Any, path: Path, findings: Findings) -> T | None:
    """Decode a value to an instance of a class; return `None` if `findings` contains problems."""
    found = _decode(cls, raw, path, findings)
    return found and found[0]


def hold(cls: type[Any], raw: T, path: Path, findings: Findings) -> T | None:
    """Check a value against a class. Return the value with corrections, or `None` if `findings` contains problems."""
    found = _decode(cls, raw, path, findings)
    return found and found[1]


def _decode(cls: type[T], raw: Any, path: Path, findings: Findings) -> tuple[T, Any] | None:
    try:
        return msgspec.convert(raw, ready(cls), dec_hook=decode_time), raw
    except msgspec.ValidationError:
        pass
    before = len(findings.problems)
    clean = _examine(_type_info(cast("Hashable", cls)), raw, path, findings)
    if len(findings.problems) > before:
        return None
    try:
        return msgspec.convert(clean, ready(cls), dec_hook=decode_time), clean
    except msgspec.ValidationError as error:
        place, detail = decoding_fault(error, cls)
        findings.problem((*path, *place), detail)
        return None


@cache
def _type_info(cls: Hashable) -> inspect.Type:
    return inspect.type_info(cls)


def _examine(kind: inspect.Type, raw: Any, path: Path, findings: Findings) -> Any:
    match kind:
        case inspect.UnionType():
            return raw if raw is None and kind.includes_none else _examine_union(kind, raw, path, findings)
        case inspect.StructType():
            return _examine_struct(kind, raw, path, findings)
        case inspect.DictType():
            return _examine_dict(kind, raw, path, findings)
        case inspect.VarTupleType() | inspect.ListType():
            if not isinstance(raw, list | tuple):
                findings.problem(path, f"is {named(raw)}; it must be a list")
                return raw
            return [_examine(kind.item_type, item, (*path, i), findings) for i, item in enumerate(raw)]
        case _:
            return _examine_scalar(kind, raw, path, findings)


def _examine_union(kind: inspect.UnionType, raw: Any, path: Path, findings: Findings) -> Any:
    options = [option for option in kind.types if not isinstance(option, inspect.NoneType)]
    if len(options) == 1:
        return _examine(options[0], raw, path, findings)
    if all(isinstance(option, inspect.LiteralType) for option in options):
        return _examine_literal([v for o in options for v in getattr(o, "values", ())], raw, path, findings)
    if isinstance(raw, str) or (isinstance(raw, int) and not isinstance(raw, bool)):
        return raw
    if not isinstance(raw, float):
        findings.problem(path, f"is {named(raw)}; it must be a quantity such as 9 or 500m")
        return raw
    findings.odd(path, f"is {raw}, a fraction without quotes; write it in quotes", "read as if it were", "Invalid")
    return str(raw)


def _examine_struct(kind: inspect.StructType, raw: Any, path: Path, findings: Findings) -> Any:
    if not isinstance(raw, dict):
        findings.problem(path, f"is {named(raw)}; it must be a mapping")
        return raw
    fields = {field.encode_name: field for field in kind.fields}
    clean = {}
    for name, value in raw.items():
        if findings.full:
            return raw
        field = fields.get(name)
        if field is None:
            if not isinstance(name, str) or kind.forbid_unknown_fields:
                findings.odd((*path, str(name)), f"unknown field; {suggestion(str(name), fields)}", "left out")
        elif value is not None or _takes_none(field.type):
            clean[name] = _examine(field.type, value, (*path, name), findings)
    for name, field in fields.items():
        if field.required and name not in clean:
            findings.problem((*path, name), "is required", "Required")
    return clean


def _examine_dict(kind: inspect.DictType, raw: Any, path: Path, findings: Findings) -> Any:
    if not isinstance(raw, dict):
        findings.problem(path, f"is {named(raw)}; it must be a mapping")
        return raw
    if isinstance(kind.value_type, inspect.StrType):
        raw = {key: "" if value is None else value for key, value in raw.items()}
    return {key: _examine(kind.value_type, value, (*path, str(key)), findings) for key, value in raw.items()}


def _examine_scalar(kind: inspect.Type, raw: Any, path: Path, findings: Findings) -> Any:
    match kind:
        case inspect.LiteralType():
            return _examine_literal(list(kind.values), raw, path, findings)
        case inspect.StrType() if not isinstance(raw, str):
            return as_text(raw, path, findings)
        case inspect.IntType() if isinstance(raw, bool) or not isinstance(raw, int):
            return as_integer(raw, path, findings)
        case inspect.FloatType() if isinstance(raw, bool) or not isinstance(raw, int | float):
            findings.problem(path, f"is {named(raw)}; it must be a number")
        case inspect.BoolType() if not isinstance(raw, bool):
            return as_boolean(raw, path, findings)
    return raw


def as_text(raw: Any, path: Path, findings: Findings) -> Any:
    """Convert a number or boolean to a string in lenient mode; report any other value, and return it unchanged."""
    detail = f"is {named(raw)}; it must be a string"
    if raw is None or isinstance(raw, dict | list | tuple):
        findings.problem(path, detail)
        return raw
    findings.odd(path, f"{detail}: put it in quotes", "read as if it were", "Invalid")
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def as_integer(raw: Any, path: Path, findings: Findings) -> Any:
    """Convert a string with an integer in lenient mode; report any other value, and return it unchanged."""
    text = raw if isinstance(raw, str) else ""
    digits = text.removeprefix("-")
    is_integer = digits.isascii() and digits.isdigit() and len(text) < _DIGITS
    return _converted(raw, int(text) if is_integer else None, "an integer", path, findings)


def as_boolean(raw: Any, path: Path, findings: Findings) -> Any:
    """Convert the strings `true` and `false` in lenient mode; report any other value, and return it unchanged."""
    return _converted(raw, {"true": True, "false": False}.get(str(raw)), "true or false", path, findings)


def _converted(raw: Any, meant: Any, wanted: str, path: Path, findings: Findings) -> Any:
    detail = f"is {named(raw)}; it must be {wanted}"
    if meant is None:
        findings.problem(path, detail)
        return raw
    findings.odd(path, detail, f"read as {shown(meant)}", "Invalid")
    return meant


def _examine_literal(allowed: list[Any], raw: Any, path: Path, findings: Findings) -> Any:
    if raw not in allowed:
        words = ", ".join(str(word) for word in allowed if word != "")
        findings.problem(path, f"{shown(raw)} is not supported; it must be one of {words}", "NotSupported")
    return raw


_DIGITS = 20
_MOST_SOUND = 4096
_ENOUGH = 100


def _takes_none(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.AnyType) or (isinstance(kind, inspect.UnionType) and kind.includes_none)


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
