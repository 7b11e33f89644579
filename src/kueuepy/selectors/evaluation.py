"""Evaluation of selectors with Google's CEL library, extended by Kubernetes' variables, types and functions.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`, `k8s.io/apiserver/pkg/cel/library`.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from kueuepy.errors.libraries import imported
from kueuepy.selectors.refusals import refuse, refuse_versions, shape_of, unsupported
from kueuepy.selectors.values import (
    compare,
    integer,
    is_integer,
    is_quantity,
    is_tolerant_version,
    is_version,
    part_of_version,
    quantity,
    sign,
    tolerant_version,
    version,
)

_STRINGS_VERSION = 2
"""Version of the string functions of Kubernetes, which does not have `reverse` for strings."""
_ATTRIBUTES, _CAPACITY = "device.attributes", "device.capacity"
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
        function("sign", (whole, [amounts], sign), member=False),
        function("major", (whole, [versions], part_of_version(0))),
        function("minor", (whole, [versions], part_of_version(1))),
        function("patch", (whole, [versions], part_of_version(2))),
    ]
    variables = {
        "device.driver": text,
        _ATTRIBUTES: kinds.Map(text, kinds.Map(text, kinds("any") if of_types else kinds.DYN)),
        _CAPACITY: kinds.Map(text, kinds.Map(text, amounts if of_types else kinds.DYN)),
        "device.allowMultipleAllocations": flag,
    }
    return cel.NewEnv(variables=variables, extensions=extensions, functions=functions)


_STATUS = re.compile(r"\A[A-Z_]+: |\s*\[[A-Z_]+\]\Z")
_FIELD = re.compile(r"undeclared reference to 'device\.(\w+)' \(in container ''\)")
_DIFFERENT = {
    "a comparison of numbers of different types": r"'_[<>]=?_' applied to '\((?:u?int|double), (?:u?int|double)\)'",
    "indexOf() of a list": r"'indexOf' applied to '\(list",
    "operations nested more than 32 levels deep": "recursion",
}
"""Errors of the library for expressions that Kubernetes accepts."""
_PATTERN = re.compile(r"""\bmatches\s*\(\s*([rR]?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))\s*\)""")


def compile_error(expression: str) -> str:
    """Return why an expression is rejected when it is compiled; an empty string if it is accepted.

    >>> compile_error("device.driver")
    'must evaluate to bool or the unknown type, not string'

    Raises:
        UnsupportedError: The library could evaluate the expression differently from Kubernetes.
    """
    compiled = _compiled(expression)
    return compiled if isinstance(compiled, str) else ""


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> Any:
    """Return the compiled program, or the reason for the failure as a string."""
    refuse(expression)
    try:
        found = _environment(of_types=True).compile(expression).return_type().name()
    except RuntimeError as error:
        text = str(error)
        for what, pattern in _DIFFERENT.items():
            if re.search(pattern, text):
                raise unsupported(expression, what) from None
        return "compilation failed: " + _FIELD.sub(r"undefined field '\1'", _STATUS.sub("", text))
    if found not in ("BOOL", "ERROR"):  # the library calls the unknown type ERROR
        return f"must evaluate to bool or the unknown type, not {found.lower()}"
    # Kubernetes rejects an invalid pattern when it compiles an expression, the library when it evaluates it.
    if any(_fails(f"''.matches({literal})") for literal in _PATTERN.findall(expression)):
        raise unsupported(expression, "an invalid pattern")
    try:
        return _environment().compile(expression)
    except RuntimeError:
        raise unsupported(expression, "types that the library does not represent") from None


def _fails(expression: str) -> bool:
    """Return whether the value of an expression without variables is an error."""
    environment = _environment()
    return bool(environment.compile(expression).eval(environment.Activation({})).type().name() == "ERROR")


_KEY = re.compile(r'Key not found in map : "?([^"]*)"?')
_OVERLOAD = re.compile(r"No matching overloads found.*|Applying SELECT to non-message type")


def evaluate(expression: str, subject: str) -> tuple[bool, str]:
    """Return whether a device matches, and the error of the evaluation; the error is empty if there is none.

    Args:
        expression: A CEL expression that compiles.
        subject: The device as a JSON string, from `ResourceSlice.subjects`.

    Raises:
        UnsupportedError: The library could evaluate the expression differently from Kubernetes.
    """
    program, (_, names) = _compiled(expression), shape_of(expression)
    try:
        activation, versions = _activation(subject, names)
    except ValueError as error:
        return False, str(error)
    if versions:
        refuse_versions(expression, versions)
    try:
        result = program.eval(activation)
    except RuntimeError as error:
        raise unsupported(expression, f'an operation that ends in the error "{error}"') from None
    value, kind = result.value(), result.type().name()
    if kind == "BOOL":
        return bool(value), ""
    if kind != "ERROR":
        return False, f"CEL result of type {kind.lower()} could not be converted to bool"
    text = _KEY.sub(r"no such key: \1", _STATUS.sub("", str(value)))
    return False, _OVERLOAD.sub("no such overload", text).replace("divide by zero", "division by zero")


@lru_cache(maxsize=65536)
def _activation(subject: str, names: frozenset[str]) -> tuple[Any, frozenset[str]]:
    """Return the variables of a device, and the names of attributes whose values are versions.

    Args:
        subject: The device.
        names: The names and strings of an expression. A domain that the device lacks is empty in Kubernetes.

    Raises:
        ValueError: An attribute has a value that Kueue does not support.
    """
    device = json.loads(subject)
    absent: dict[str, dict[str, Any]] = {name: {} for name in names}
    attributes = {
        domain: {name: _attribute(domain, name, value, device["driver"]) for name, value in values.items()}
        for domain, values in device["attributes"].items()
    }
    capacity = {
        domain: {name: quantity(value) for name, value in values.items()}
        for domain, values in device["capacity"].items()
    }
    versions = [name for values in attributes.values() for name, value in values.items() if isinstance(value, dict)]
    variables = {
        "device.driver": device["driver"],
        _ATTRIBUTES: absent | attributes,
        _CAPACITY: absent | capacity,
        "device.allowMultipleAllocations": False,
    }
    return _environment().Activation(variables), frozenset(versions)


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
