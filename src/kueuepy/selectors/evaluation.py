"""Evaluation of selectors with Google's CEL library, extended by Kubernetes' variables, types and functions.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`, `k8s.io/apiserver/pkg/cel/library`.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kueuepy.errors.libraries import imported
from kueuepy.selectors.literals import refusal
from kueuepy.selectors.rewriting import EQUAL, MEMBER, NUMBER, SAME, SIZED, Rewriter, split, unsupported
from kueuepy.selectors.values import (
    amount,
    compare,
    integer,
    is_integer,
    is_quantity,
    is_tolerant_version,
    is_version,
    kept,
    number,
    of_one_type,
    part_of_version,
    quantity,
    refused,
    sign,
    tolerant_version,
    version,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ATTRIBUTES, CAPACITY = "device.attributes", "device.capacity"
_NAMES = """
    url isURL getScheme getHost getHostname getPort getEscapedPath getQuery ip isIP family isUnspecified isLoopback
    isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast cidr isCIDR containsIP containsCIDR masked prefixLength
    find findAll sets isSorted sum min max indexOf lastIndexOf transformList transformMap transformMapEntry format named
    validate authorizer existsOne lists slice flatten distinct sort sortBy
"""
_ELSEWHERE = frozenset(_NAMES.split())
"""Functions of Kubernetes that are not supported here."""
_STRINGS_VERSION = 2
"""Version of the string functions of Kubernetes, which does not have `reverse` for strings."""

_UNHASHABLE = "internal error: runtime error: hash of unhashable type cel.Semver"
"""The error of Kueue if it looks up a version in a list of literals."""
_WHAT, _INSTALL = "selectors of devices", '"kueuepy[dra]"'


def is_available() -> bool:
    """Return whether the library that evaluates selectors is installed."""
    return find_spec("cel_expr_python") is not None


@lru_cache(maxsize=2)
def _environment(*, of_types: bool = False) -> Any:
    """Return the environment.

    Args:
        of_types: Declare attributes as `any`, and quantities and versions as types of their own, as Kueue does. The
            library checks types as Kueue then, but evaluates such values only if they are messages.
    """
    cel = imported("cel_expr_python.cel", _WHAT, _INSTALL)
    extensions = [
        getattr(imported(f"cel_expr_python.ext.{name}", _WHAT, _INSTALL), cls)(*arguments)
        for name, cls, *arguments in (
            ("ext_bindings", "ExtBindings"),
            ("ext_optional", "ExtOptional"),
            ("ext_strings", "ExtStrings", _STRINGS_VERSION),
        )
    ]
    kinds = cel.Type
    held = kinds.Map(kinds.STRING, kinds.STRING)
    amounts, versions = (kinds("kubernetes.Quantity"), kinds("kubernetes.Semver")) if of_types else (held, held)
    whole, text, flag = kinds.INT, kinds.STRING, kinds.BOOL

    def function(name: str, *overloads: tuple[Any, list[Any], Callable[..., Any]], member: bool = True) -> Any:
        declared = [
            cel.Overload(f"kueuepy_{name}_{i}", result, parameters, member, call)
            for i, (result, parameters, call) in enumerate(overloads)
        ]
        return cel.FunctionDecl(name, declared)

    def comparison(name: str, result: Any, call: Callable[..., Any]) -> Any:
        kinds_compared = (amounts, versions) if of_types else (held,)
        return function(name, *((result, [kind, kind], call) for kind in kinds_compared))

    functions = [
        function("quantity", (amounts, [text], quantity), member=False),
        function("isQuantity", (flag, [text], is_quantity), member=False),
        function("semver", (versions, [text], version), (versions, [text, flag], tolerant_version), member=False),
        function("isSemver", (flag, [text], is_version), (flag, [text, flag], is_tolerant_version), member=False),
        comparison("compareTo", whole, compare),
        comparison("isGreaterThan", flag, lambda a, b: compare(a, b) > 0),
        comparison("isLessThan", flag, lambda a, b: compare(a, b) < 0),
        function("isInteger", (flag, [amounts], is_integer)),
        function("asInteger", (whole, [amounts], integer)),
        function("asApproximateFloat", (kinds.DOUBLE, [amounts], lambda value: float(amount(value)))),
        function("sign", (whole, [amounts], sign), member=False),
        function(
            "add",
            (amounts, [amounts, amounts], lambda a, b: kept(amount(a) + amount(b))),
            (amounts, [amounts, whole], lambda a, b: kept(amount(a) + b)),
        ),
        function(
            "sub",
            (amounts, [amounts, amounts], lambda a, b: kept(amount(a) - amount(b))),
            (amounts, [amounts, whole], lambda a, b: kept(amount(a) - b)),
        ),
        function("major", (whole, [versions], part_of_version(0))),
        function("minor", (whole, [versions], part_of_version(1))),
        function("patch", (whole, [versions], part_of_version(2))),
        function("reverse", (kinds.List(kinds.DYN), [kinds.List(kinds.DYN)], lambda values: list(values)[::-1])),
        function(
            NUMBER,
            *((kind, [kind], number) for kind in (flag, whole, kinds.UINT, kinds.DOUBLE, text, kinds.TIMESTAMP)),
            member=False,
        ),
    ]
    plain = (flag, whole, kinds.UINT, kinds.DOUBLE, text, kinds.BYTES, kinds.TIMESTAMP, kinds.DURATION)
    functions.append(function(SAME, (held, [held, held], of_one_type), member=False))
    for name, why in ((EQUAL, "no such overload"), (MEMBER, _UNHASHABLE), (SIZED, "no such overload: size")):
        unchanged = [(kind, [kind], lambda value: value) for kind in (*plain, kinds.List(kinds.DYN))]
        functions.append(function(name, *unchanged, (held, [held], refused(why)), member=False))
    variables = {
        "device.driver": text,
        ATTRIBUTES: kinds.Map(text, kinds.Map(text, kinds("any") if of_types else kinds.DYN)),
        CAPACITY: kinds.Map(text, kinds.Map(text, amounts if of_types else kinds.DYN)),
        "device.allowMultipleAllocations": flag,
    }
    return cel.NewEnv(variables=variables, extensions=extensions, functions=functions)


_STATUS = re.compile(r"\A[A-Z_]+: |\s*\[[A-Z_]+\]\Z")
_UNDECLARED = re.compile(r"undeclared reference to '([\w.]+)'")
_ON_LISTS = re.compile(r"found no matching overload for '(indexOf|lastIndexOf|min|max|sum)' applied to '\(list")
_ABSTRACT_FIELD = re.compile(r"expression of type '(kubernetes\.\w+)' cannot be the operand of a select operation")
_PLAIN_FIELD = re.compile(r"expression of type '([^']*)' cannot be the operand of a select operation")
_NO_METHOD = re.compile(r"overload for '(\w+)' applied to '\(([^,()]+)(?:, )?(.*)\)'")
_ANY = "ERROR"
"""The library's name of the type `any`."""
_CAPITALS = re.compile(r"\b[A-Z]+\b")
_TYPE_NAMES = {"NULL": "null_type", "DURATION": "google.protobuf.Duration", "TIMESTAMP": "google.protobuf.Timestamp"}


def compile_error(expression: str) -> str:
    """Return why Kueue's compiler rejects an expression; an empty string if it accepts the expression.

    >>> compile_error("device.driver")
    'must evaluate to bool or the unknown type, not string'

    Raises:
        UnsupportedError: The expression uses a function of Kubernetes that is not supported here.
    """
    compiled = _compiled(expression)
    return compiled if isinstance(compiled, str) else ""


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> Any:
    """Return the compiled program, or the reason for the failure as a string."""
    rewriter = Rewriter(expression)
    try:
        checked = _environment(of_types=True).compile(
            rewriter.rewritten(checks_operands=False) if rewriter.asks_for_fields() else expression
        )
    except RuntimeError as error:
        if macro := rewriter.macro_with_two_variables():
            raise unsupported(expression, f"{macro}() with two variables") from None
        return "compilation failed: " + _reason(expression, str(error))
    result = checked.return_type().name()
    if result not in ("BOOL", _ANY):
        lowered = _CAPITALS.sub(lambda found: found[0].lower(), result)
        name = _TYPE_NAMES.get(result, lowered.replace("<", "(").replace(">", ")"))
        return f"must evaluate to bool or the unknown type, not {name.replace(_ANY.lower(), 'google.protobuf.Any')}"
    return refusal(expression, split(expression), _fails) or _environment().compile(rewriter.rewritten())


def _fails(expression: str) -> bool:
    """Return whether the value of an expression without variables is an error."""
    environment = _environment()
    return bool(environment.compile(expression).eval(environment.Activation({})).type().name() == "ERROR")


def _reason(expression: str, text: str) -> str:
    """Convert an error of the library to the message of Kueue's compiler."""
    found = _ON_LISTS.search(text)
    names = [found[1]] if found else _UNDECLARED.findall(text)
    for name in names:
        if name in _ELSEWHERE:
            raise unsupported(expression, f"{name}()")
        if name == "device":
            raise unsupported(expression, "device as a whole")
    text = _STATUS.sub("", text).replace("cannot be the range of", "cannot be range of")
    text = text.replace("has() argument must be a field selection", "invalid argument to has() macro")
    text = _ABSTRACT_FIELD.sub(r"unexpected failed resolution of '\1'", text)
    text = _PLAIN_FIELD.sub(r"type '\1' does not support field selection", text.replace("null_type", "null"))
    text = _NO_METHOD.sub(lambda found: _as_method(expression, found), text)
    return re.sub(r"undeclared reference to 'device\.(\w+)' \(in container ''\)", r"undefined field '\1'", text)


def _as_method(expression: str, found: re.Match[str]) -> str:
    """Return the part of an error that names a call's types; the receiver of a method stands before the arguments."""
    name, receiver, arguments = found.groups()
    is_method = name.isidentifier() and not name.startswith("_") and re.search(rf"\.\s*{name}\s*\(", expression)
    return f"overload for '{name}' applied to '{receiver}.({arguments})'" if is_method else found[0]


_ERRORS = (
    (re.compile(r'Key not found in map : "?(.*?)"?'), r"no such key: \1"),
    (re.compile(r"No matching overloads found.*|Applying SELECT to non-message type"), "no such overload"),
    (re.compile(r"divide by zero"), "division by zero"),
    (re.compile(r"cannot convert string to (u?int|double)"), r"type conversion error from 'string' to '\1'"),
    (re.compile(r"Type conversion error from 'string' to 'bool'"), "type conversion error from 'string' to 'bool'"),
    (
        re.compile(r"String to (Duration|Timestamp) conversion failed"),
        r"type conversion error from 'string' to 'google.protobuf.\1'",
    ),
    (re.compile(r"Index error: expected integer type, got (\w+)"), r"unsupported index type '\1' in list"),
    (re.compile(r"Index error: index=(-?\d+) size=\d+"), r"index out of bounds: \1"),
)
_TO_BOOL = {
    "string": "unsupported native conversion from string to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
}


def evaluate(expression: str, subject: str) -> tuple[bool, str]:
    """Return whether a device matches, and the error of the evaluation; the error is empty if there is none.

    Args:
        expression: A CEL expression that compiles.
        subject: The device as a JSON string, from `ResourceSlice.subjects`.
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


_NO_OVERLOAD = re.compile(r"No matching overloads found : (?:\((\w+)\)\.)?([^(]+)\((.*)\)")
_NAMED = {
    "major",
    "minor",
    "patch",
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
}
"""Methods of versions and quantities; Kueue names their arguments' types if there is no matching overload."""
_CONVERSIONS = {NUMBER: "int", "double": "double", "string": "string"}
_KINDS = {"int64": "int", "uint64": "uint", "map": "kubernetes.Semver"}


def _without_overload(receiver: str | None, name: str, arguments: list[str]) -> str:
    """Return Kueue's error for a call without a matching overload; the only maps of devices are versions."""
    types = [_KINDS.get(kind, kind) for kind in ([receiver] if receiver else []) + arguments]
    if name in _NAMED or name in _CONVERSIONS:
        return f"no such overload: {_CONVERSIONS.get(name, name)}({', '.join(types)})"
    if types[:1] == [_KINDS["map"]] and (name.startswith("_") or name == "size"):
        return f"no such overload: {name}"
    return "no such overload"


def _error(text: str) -> str:
    text = _STATUS.sub("", text)
    if (call := _NO_OVERLOAD.fullmatch(text)) is not None:
        return _without_overload(call[1], call[2], [kind for kind in call[3].split(", ") if kind])
    for pattern, words in _ERRORS:
        if (found := pattern.fullmatch(text)) is not None:
            return found.expand(words)
    return text


@lru_cache(maxsize=65536)
def _activation(subject: str) -> Any:
    """Return the variables of a device.

    Raises:
        ValueError: An attribute has a value that Kueue does not support.
    """
    device = json.loads(subject)
    return _environment().Activation(
        {
            "device.driver": device["driver"],
            ATTRIBUTES: {
                domain: {name: _attribute(domain, name, value, device["driver"]) for name, value in values.items()}
                for domain, values in device["attributes"].items()
            },
            CAPACITY: {
                domain: {name: quantity(value) for name, value in values.items()}
                for domain, values in device["capacity"].items()
            },
            "device.allowMultipleAllocations": False,
        }
    )


def _attribute(domain: str, name: str, value: Any, driver: str) -> Any:
    if not isinstance(value, dict):
        return value
    written = name if domain == driver else f"{domain}/{name}"
    text = value.get("version")
    if not isinstance(text, str):
        raise ValueError(f"attribute {written}: unsupported attribute value")  # noqa: TRY004 - a value, not a type
    try:
        return version(text)
    except ValueError as error:
        raise ValueError(f"attribute {written}: parse semantic version: {error}") from None
