"""Evaluation of selectors with Google's CEL library, extended by Kubernetes' variables, types and functions.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`, `k8s.io/apiserver/pkg/cel/library`.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kueuepy.errors import UnsupportedError
from kueuepy.errors.libraries import imported
from kueuepy.selectors import operations, rewriting
from kueuepy.selectors.literals import refusal, written
from kueuepy.selectors.rewriting import ATTRIBUTES, CAPACITY, is_constant_conversion, rewritten, unsupported
from kueuepy.selectors.syntax import Checked, read
from kueuepy.selectors.tokens import macro_with_two_variables, names_a_variable_device, split, with_fields_present
from kueuepy.selectors.values import (
    NOT_SUPPORTED,
    amount,
    compare,
    integer,
    is_integer,
    is_quantity,
    is_tolerant_version,
    is_version,
    kept,
    part_of_version,
    quantity,
    sign,
    tolerant_version,
    version,
    without_integer,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kueuepy.selectors.syntax import Expr

_NAMES = """
    url isURL getScheme getHost getHostname getPort getEscapedPath getQuery ip isIP family isUnspecified
    isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast cidr isCIDR containsIP containsCIDR
    masked prefixLength find findAll reverse sets isSorted sum min max indexOf lastIndexOf transformList
    transformMap transformMapEntry format named validate authorizer existsOne lists slice flatten distinct
    sort sortBy
"""
_ELSEWHERE = frozenset(_NAMES.split())
"""Functions of Kubernetes that are not supported here."""
_STRINGS_VERSION = 2
"""Version of the string functions of Kubernetes, which does not have `reverse` for strings."""

_OPERATIONS = {
    rewriting.MARKED: operations.marked,
    rewriting.EQUAL: operations.equal,
    rewriting.UNEQUAL: operations.unequal,
    rewriting.MEMBER: operations.member,
    rewriting.CONSTANT: operations.member_of_constants,
    rewriting.KEY: operations.member_of_keys,
    rewriting.VERSIONED: operations.versioned,
    rewriting.FIELDS: operations.has_fields,
    rewriting.FOUND: operations.found,
    rewriting.HASHABLE: operations.hashable,
    rewriting.SIZED: operations.sized,
    rewriting.NUMBER: operations.number,
    rewriting.FLOAT: operations.floating,
}
"""The functions that rewritten expressions call."""
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
            (amounts, [amounts, whole], without_integer),
        ),
        function("major", (whole, [versions], part_of_version(0))),
        function("minor", (whole, [versions], part_of_version(1))),
        function("patch", (whole, [versions], part_of_version(2))),
    ]
    if not of_types:
        listed = [kinds.List(kinds.DYN)]
        functions += [function(name, (flag, listed, call), member=False) for name, call in _OPERATIONS.items()]
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
_MIXED_NUMBERS = re.compile(r"'_[<>]=?_' applied to '\((int|uint|double), (int|uint|double)\)'")
_TYPE_NAMES = {
    "null": "null_type",
    "any": "google.protobuf.Any",
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
}
_OWN_NAMES = re.compile(rf"\b({'|'.join(_TYPE_NAMES)})\b")


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
    if not expression.isascii() and any("\ud800" <= letter <= "\udfff" for letter in expression):
        raise UnsupportedError("a selector has a surrogate code point, which UTF-8 cannot encode")
    if names_a_variable_device(expression):
        raise unsupported(expression, "a variable named device")
    try:
        compiled = _environment(of_types=True).compile(with_fields_present(expression))
    except RuntimeError as error:
        if macro := macro_with_two_variables(expression):
            raise unsupported(expression, f"{macro}() with two variables") from None
        return "compilation failed: " + _reason(expression, str(error))
    checked = read(compiled.serialize())
    result = checked.type_of(checked.root)
    if result not in (("bool",), ("any",)):
        name = _OWN_NAMES.sub(lambda found: _TYPE_NAMES[found[0]], written(result))
        return f"must evaluate to bool or the unknown type, not {name}"
    if refused := refusal(expression, checked, split(expression), _fails):
        return refused
    for node in checked.root.all():
        if is_constant_conversion(node) and (failed := _constant_error(expression, checked, node)):
            return f"program instantiation failed: {failed}"
    return _program(expression, checked)


def _program(expression: str, checked: Checked) -> Any:
    """Return the program that evaluates an expression.

    Raises:
        UnsupportedError: The result in Kueue cannot be determined here.
    """
    message = rewritten(expression, checked)
    try:
        return _environment().deserialize(message)
    except RuntimeError:
        raise unsupported(expression, "operations nested too deep") from None


def _constant_error(expression: str, checked: Checked, node: Expr) -> str:
    """Return the error of the evaluation of a node without variables; empty if there is none.

    Raises:
        UnsupportedError: The result in Kueue cannot be determined here.
    """
    environment = _environment()
    alone = Checked(node, checked.types, checked.positions, checked.url, checked.rest)
    result = _program(expression, alone).eval(environment.Activation({}))
    return _error(expression, str(result.value())) if result.type().name() == "ERROR" else ""


def _fails(expression: str) -> bool:
    """Return whether the value of an expression without variables is an error."""
    environment = _environment()
    return bool(environment.compile(expression).eval(environment.Activation({})).type().name() == "ERROR")


def _reason(expression: str, text: str) -> str:
    """Convert an error of the library to the message of Kueue's compiler."""
    found = _ON_LISTS.search(text)
    if _MIXED_NUMBERS.search(text):
        raise unsupported(expression, "a comparison of numbers of different types")
    if "codepoint limit" in text:
        raise unsupported(expression[:100], "more than 100000 characters")
    if "recursion" in text:
        raise unsupported(expression, "operations nested more than 32 levels deep")
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
    (re.compile(r"double out of int64 range|uint64 out of int64 range"), "integer overflow"),
    (re.compile(r"(double|int64) out of uint64 range"), "unsigned integer overflow"),
    (re.compile(r"malformed UTF-8 bytes"), "invalid UTF-8 in bytes, cannot convert to string"),
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
_VERSION_TYPE = "kubernetes.Semver"
_VERSION_TO_BOOL = "type conversion error from 'Semver' to 'bool'"
_TO_BOOL = {
    "string": "unsupported native conversion from string to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
}


def evaluate(expression: str, subject: str) -> tuple[bool, str]:
    """Return whether a device matches, and the error of the evaluation; the error is empty if there is none.

    Args:
        expression: A CEL expression that compiles.
        subject: The device as a JSON string, from `ResourceSlice.subjects`.

    Raises:
        UnsupportedError: The result in Kueue cannot be determined here.
    """
    try:
        activation = _activation(subject)
    except ValueError as error:
        return False, str(error)
    operations.start()
    try:
        result = _compiled(expression).eval(activation)
    except RuntimeError as error:
        raise unsupported(expression, f'an operation that ends in the error "{error}"') from None
    if aborted := operations.abort_error():
        return False, aborted
    value, kind = result.value(), result.type().name()
    if kind == "BOOL":
        return bool(value), ""
    if kind == "ERROR":
        return False, _error(expression, str(value))
    if kind.startswith("MAP"):
        return False, f"CEL result of type {_VERSION_TYPE} could not be converted to bool: {_VERSION_TO_BOOL}"
    name = _TYPE_NAMES.get(kind.lower(), kind.lower())
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
_CONVERSIONS = {"int", "double", "string"}
_KINDS = {"int64": "int", "uint64": "uint", "map": _VERSION_TYPE}


def _without_overload(receiver: str | None, name: str, arguments: list[str]) -> str:
    """Return Kueue's error for a call without a matching overload; the only maps of devices are versions."""
    types = [_KINDS.get(kind, kind) for kind in ([receiver] if receiver else []) + arguments]
    if name in _NAMED or name in _CONVERSIONS:
        return f"no such overload: {name}({', '.join(types)})"
    if types[:1] == [_KINDS["map"]] and (name.startswith("_") or name == "size"):
        return f"no such overload: {name}"
    return "no such overload"


def _error(expression: str, text: str) -> str:
    """Convert an error of an evaluation to the error of Kueue.

    Raises:
        UnsupportedError: The result in Kueue cannot be determined here.
    """
    text = _STATUS.sub("", text)
    if NOT_SUPPORTED in text:
        raise unsupported(expression, text.partition(NOT_SUPPORTED)[2])
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
