"""Selectors of devices: expressions of the Common Expression Language (CEL), as Kubernetes evaluates them.

Google's CEL library parses, checks and evaluates; this module gives it Kubernetes' variables, types and functions.
Two things differ from the library's own data: a domain that a device lacks counts as an empty map, and quantities and
versions are kept as maps with one entry.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`, `k8s.io/apiserver/pkg/cel/library`.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kueuepy._core import Quantity
from kueuepy.errors import KueueError, UnsupportedError
from kueuepy.errors.libraries import imported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_QUANTITY, _VERSION = "kubernetes.Quantity", "kubernetes.Semver"
_ATTRIBUTES, _CAPACITY = "device.attributes", "device.capacity"
_NAMES = """
    url isURL getScheme getHost getHostname getPort getEscapedPath getQuery ip isIP family isUnspecified isLoopback
    isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast cidr isCIDR containsIP containsCIDR masked prefixLength
    find findAll sets isSorted sum min max indexOf lastIndexOf transformList transformMap transformMapEntry format named
    validate authorizer
"""
_ELSEWHERE = frozenset(_NAMES.split())
"""Functions that Kubernetes has and that are not evaluated here."""


# --- quantities and versions -----------------------------------------------------------------------------------------

_NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_CANONICAL = re.compile(r"([+-]?[0-9.]+)(?:e([+-]?[0-9]+)|([KMGTPE]i)|([numkMGTPE]?))")


def _number(text: str) -> Decimal:
    """The value of a canonical quantity."""
    digits, exponent, binary, decimal = _CANONICAL.fullmatch(text).groups()  # type: ignore[union-attr]
    if binary:
        return Decimal(digits) * Decimal(1024) ** ("KMGTPE".index(binary[0]) + 1)
    return Decimal(digits).scaleb(int(exponent) if exponent else _SUFFIXES[decimal or ""])


def _quantity(text: str) -> dict[str, str]:
    try:
        return _kept(_number(str(Quantity(text))))
    except KueueError:
        raise ValueError(_NO_QUANTITY) from None


def _kept(number: Decimal) -> dict[str, str]:
    return {_QUANTITY: format(number.normalize() + 0, "f")}


def _is_quantity(text: str) -> bool:
    try:
        Quantity(text)
    except KueueError:
        return False
    return True


_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
)


def _version(text: str) -> dict[str, str]:
    found = _SEMVER.fullmatch(text)
    if found is None:
        raise ValueError("No Major.Minor.Patch elements found")
    number = ".".join(found.group(1, 2, 3))
    return {_VERSION: f"{number}-{found[4]}" if found[4] else number}


def _is_version(text: str) -> bool:
    return _SEMVER.fullmatch(text) is not None


def _version_key(text: str) -> tuple[Any, ...]:
    number, _, before = text.partition("-")
    parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".") if part)
    return (*(int(part) for part in number.split(".")), 0 if before else 1, parts)


def _keys(*values: dict[str, str]) -> list[Any]:
    """What values of one sort compare by."""
    if all(_QUANTITY in value for value in values):
        return [Decimal(value[_QUANTITY]) for value in values]
    if all(_VERSION in value for value in values):
        return [_version_key(value[_VERSION]) for value in values]
    raise ValueError("no such overload")


def _compare(left: dict[str, str], right: dict[str, str]) -> int:
    a, b = _keys(left, right)
    return int(a > b) - int(a < b)


def _amount(value: dict[str, str]) -> Decimal:
    if _QUANTITY not in value:
        raise ValueError("no such overload")
    return Decimal(value[_QUANTITY])


def _integer(value: dict[str, str]) -> int:
    number = _amount(value)
    if number != number.to_integral_value() or not -(2**63) <= number < 2**63:
        raise ValueError("cannot convert value to integer")
    return int(number)


def _is_integer(value: dict[str, str]) -> bool:
    number = _amount(value)
    return number == number.to_integral_value() and -(2**63) <= number < 2**63


def _sign(value: dict[str, str]) -> int:
    number = _amount(value)
    return int(number > 0) - int(number < 0)


def _part_of_version(position: int) -> Callable[[dict[str, str]], int]:
    def part(value: dict[str, str]) -> int:
        if _VERSION not in value:
            raise ValueError("no such overload")
        return int(_version_key(value[_VERSION])[position])

    return part


# --- the library -----------------------------------------------------------------------------------------------------


_WHAT, _INSTALL = "selectors of devices", '"kueuepy[dra]"'


def is_available() -> bool:
    """Whether the library is installed that evaluates selectors."""
    return find_spec("cel_expr_python") is not None


@lru_cache(maxsize=1)
def _environment() -> Any:
    cel = imported("cel_expr_python.cel", _WHAT, _INSTALL)
    extensions = [
        getattr(imported(f"cel_expr_python.ext.{name}", _WHAT, _INSTALL), cls)()
        for name, cls in (
            ("ext_bindings", "ExtBindings"),
            ("ext_optional", "ExtOptional"),
            ("ext_strings", "ExtStrings"),
        )
    ]
    kinds = cel.Type
    held = kinds.Map(kinds.STRING, kinds.STRING)
    number, text, flag = kinds.INT, kinds.STRING, kinds.BOOL

    def function(name: str, *overloads: tuple[Any, list[Any], Callable[..., Any]], member: bool = True) -> Any:
        declared = [
            cel.Overload(f"kueuepy_{name}_{i}", result, parameters, member, call)
            for i, (result, parameters, call) in enumerate(overloads)
        ]
        return cel.FunctionDecl(name, declared)

    functions = [
        function("quantity", (held, [text], _quantity), member=False),
        function("isQuantity", (flag, [text], _is_quantity), member=False),
        function("semver", (held, [text], _version), member=False),
        function("isSemver", (flag, [text], _is_version), member=False),
        function("compareTo", (number, [held, held], _compare)),
        function("isGreaterThan", (flag, [held, held], lambda a, b: _compare(a, b) > 0)),
        function("isLessThan", (flag, [held, held], lambda a, b: _compare(a, b) < 0)),
        function("isInteger", (flag, [held], _is_integer)),
        function("asInteger", (number, [held], _integer)),
        function("asApproximateFloat", (kinds.DOUBLE, [held], lambda value: float(_amount(value)))),
        function("sign", (number, [held], _sign)),
        function(
            "add",
            (held, [held, held], lambda a, b: _kept(_amount(a) + _amount(b))),
            (held, [held, number], lambda a, b: _kept(_amount(a) + b)),
        ),
        function(
            "sub",
            (held, [held, held], lambda a, b: _kept(_amount(a) - _amount(b))),
            (held, [held, number], lambda a, b: _kept(_amount(a) - b)),
        ),
        function("major", (number, [held], _part_of_version(0))),
        function("minor", (number, [held], _part_of_version(1))),
        function("patch", (number, [held], _part_of_version(2))),
    ]
    variables = {
        "device.driver": text,
        _ATTRIBUTES: kinds.Map(text, kinds.Map(text, kinds.DYN)),
        _CAPACITY: kinds.Map(text, kinds.Map(text, held)),
        "device.allowMultipleAllocations": flag,
    }
    return cel.NewEnv(variables=variables, extensions=extensions, functions=functions)


# --- reading an expression -------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
    (?P<text>[rR]?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<space>\s+|//[^\n]*)|(?P<mark>[=!<>]=|&&|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
_FIELDS = {"driver", "attributes", "capacity", "allowMultipleAllocations"}


def _tokens(expression: str) -> list[str]:
    return [found[0] for found in _TOKEN.finditer(expression) if found.lastgroup != "space"]


class _Rewriter:
    """Turns an expression into one that finds an empty map under a domain that a device lacks."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = _tokens(expression)

    def rewritten(self) -> str:
        return " ".join(self._part(0, len(self._tokens)))

    def asks_for_fields(self) -> bool:
        """Whether `has` asks for a field of the device itself, which is no field to the library."""
        return any(self._is_presence(i) for i, word in enumerate(self._tokens) if word == "has")

    def _at(self, position: int) -> str:
        return self._tokens[position] if 0 <= position < len(self._tokens) else ""

    def _part(self, start: int, end: int) -> Iterator[str]:
        position = start
        while position < end:
            if self._tokens[position] == "has" and self._is_presence(position):
                yield "true"
                position += 6
            elif self._tokens[position] == "device" and self._at(position - 1) != ".":
                text, position = self._device(position)
                yield text
            else:
                yield self._tokens[position]
                position += 1

    def _is_presence(self, position: int) -> bool:
        """Whether `has` asks for a field that every device has."""
        opening, device, dot, field, closing = (self._at(position + i) for i in range(1, 6))
        return (opening, device, dot, closing) == ("(", "device", ".", ")") and field in _FIELDS

    def _device(self, position: int) -> tuple[str, int]:
        field = self._at(position + 2)
        if self._at(position + 1) != ".":
            raise self._refused("device as a whole")
        after = position + 3
        if field not in ("attributes", "capacity"):
            return f"device.{field}", after
        name, following = f"device.{field}", self._at(after)
        if following == "[":
            optional = self._at(after + 1) == "?"
            end = self._closing(after)
            key = " ".join(self._part(after + (2 if optional else 1), end))
            return self._default(name, key, optional=optional), end + 1
        if following == ".":
            optional = self._at(after + 1) == "?"
            named = after + (2 if optional else 1)
            if self._at(named + 1) == "(":
                return name, after
            return self._default(name, json.dumps(self._at(named)), optional=optional), named + 1
        counted = self._at(position - 2) == "size" and self._at(position - 1) == "(" and following == ")"
        if self._at(position - 1) == "in" or counted:
            return name, after
        raise self._refused(f"{name} as a whole")

    def _default(self, name: str, key: str, *, optional: bool) -> str:
        found = f"(({key}) in {name} ? {name}[{key}] : {{}})"
        return f"optional.of({found})" if optional else found

    def _closing(self, position: int) -> int:
        depth = 0
        for place in range(position, len(self._tokens)):
            depth += {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}.get(self._tokens[place], 0)
            if depth == 0:
                return place
        raise self._refused("an expression without a closing bracket")

    def _refused(self, what: str) -> UnsupportedError:
        return _unsupported(self._expression, what)


def _unsupported(expression: str, what: str) -> UnsupportedError:
    return UnsupportedError(f'selector "{expression}": uses {what}; this is not evaluated here')


# --- compiling -------------------------------------------------------------------------------------------------------

_STATUS = re.compile(r"\A[A-Z_]+: |\s*\[[A-Z_]+\]\Z")
_UNDECLARED = re.compile(r"undeclared reference to '([\w.]+)'")
_ON_LISTS = re.compile(r"found no matching overload for '(indexOf|lastIndexOf|min|max|sum)' applied to '\(list")
_TYPE_NAMES = {"NULL": "null_type", "DURATION": "google.protobuf.Duration", "TIMESTAMP": "google.protobuf.Timestamp"}


def compile_error(expression: str) -> str:
    """The reason why Kueue's compiler refuses the expression; empty if it does not.

    >>> compile_error("device.driver")
    'must evaluate to bool or the unknown type, not string'

    Raises:
        UnsupportedError: The expression uses a function of Kubernetes that is not evaluated here.
    """
    compiled = _compiled(expression)
    return compiled if isinstance(compiled, str) else ""


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> Any:
    """The program, or why there is none."""
    environment, rewriter = _environment(), _Rewriter(expression)
    try:
        checked = environment.compile(rewriter.rewritten() if rewriter.asks_for_fields() else expression)
    except RuntimeError as error:
        return "compilation failed: " + _reason(expression, str(error))
    result = checked.return_type().name()
    if result not in ("BOOL", "DYN"):
        return f"must evaluate to bool or the unknown type, not {_TYPE_NAMES.get(result, result.lower())}"
    return environment.compile(rewriter.rewritten())


def _reason(expression: str, text: str) -> str:
    """A compiler's error in the words of Kueue's."""
    found = _ON_LISTS.search(text)
    names = [found[1]] if found else _UNDECLARED.findall(text)
    for name in names:
        if name in _ELSEWHERE:
            raise _unsupported(expression, f"{name}()")
        if name == "device":
            raise _unsupported(expression, "device as a whole")
    text = _STATUS.sub("", text)
    return re.sub(r"undeclared reference to 'device\.(\w+)' \(in container ''\)", r"undefined field '\1'", text)


# --- evaluating ------------------------------------------------------------------------------------------------------

_ERRORS = (
    (re.compile(r'Key not found in map : "?(.*?)"?'), r"no such key: \1"),
    (re.compile(r"No matching overloads found.*|Applying SELECT to non-message type"), "no such overload"),
    (re.compile(r"divide by zero"), "division by zero"),
    (re.compile(r"Index error: index=(-?\d+) size=\d+"), r"index out of bounds: \1"),
)
_TO_BOOL = {
    "string": "unsupported native conversion from string to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
}


def evaluate(expression: str, subject: str) -> tuple[bool, str]:
    """Whether the device matches, or the error of the evaluation.

    Args:
        expression: A CEL expression that compiles.
        subject: The device, as `ResourceSlice.subjects` has it.
    """
    try:
        activation = _activation(subject)
    except ValueError as error:
        return False, str(error)
    result = _compiled(expression).eval(activation)
    value, kind = result.value(), result.type().name()
    if kind == "BOOL":
        return bool(value), ""
    if kind == "ERROR":
        return False, _error(str(value))
    name = _TYPE_NAMES.get(kind, kind.lower())
    refused = _TO_BOOL.get(name, f"type conversion error from '{name}' to 'bool'")
    return False, f"CEL result of type {name} could not be converted to bool: {refused}"


def _error(text: str) -> str:
    text = _STATUS.sub("", text)
    for pattern, words in _ERRORS:
        if (found := pattern.fullmatch(text)) is not None:
            return found.expand(words)
    return text


@lru_cache(maxsize=65536)
def _activation(subject: str) -> Any:
    """What selectors read of a device.

    Raises:
        ValueError: An attribute has no value that Kueue reads.
    """
    device = json.loads(subject)
    return _environment().Activation(
        {
            "device.driver": device["driver"],
            _ATTRIBUTES: {
                domain: {name: _attribute(domain, name, value, device["driver"]) for name, value in values.items()}
                for domain, values in device["attributes"].items()
            },
            _CAPACITY: {
                domain: {name: _quantity(value) for name, value in values.items()}
                for domain, values in device["capacity"].items()
            },
            "device.allowMultipleAllocations": False,
        }
    )


def _attribute(domain: str, name: str, value: Any, driver: str) -> Any:
    if not isinstance(value, dict):
        return value
    written = name if domain == driver else f"{domain}/{name}"
    version = value.get("version")
    if not isinstance(version, str):
        raise ValueError(f"attribute {written}: unsupported attribute value")  # noqa: TRY004 - a value, not a type
    try:
        return _version(version)
    except ValueError as error:
        raise ValueError(f"attribute {written}: parse semantic version: {error}") from None
