"""Evaluation of selectors with Google's CEL library, extended by Kubernetes' variables, types and functions.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`, `k8s.io/apiserver/pkg/cel/library`.

Quantities and semantic versions in expressions, each represented as a map with one entry.

Source: `k8s.io/apiserver/pkg/cel/library/quantity.go`, `k8s.io/apiserver/pkg/cel/library/semverlib.go`.

Expressions that the CEL library could evaluate differently from Kubernetes.

The library represents quantities and versions as maps. An expression may therefore use them only with their own
functions, and compare them only with each other. The checks match regular expressions with the *shape* of an
expression: its tokens, separated by spaces. In a shape, `@a` and `@c` are the attributes and the capacities of a
domain, `@v` is the name of an attribute whose value is a version, `"` is a string, `0` an integer, `9` another number,
`1` a bool, and `~` the operator `in`.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`, `k8s.io/apiserver/pkg/cel/library`, cel-go's
`common/types`.
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from kueuepy._core import Quantity
from kueuepy.errors import KueueError, UnsupportedError, imported

_TOKEN = re.compile(
    r"""
    (?P<text>[rRbB]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<name>[A-Za-z_]\w*|`[^`\n]*`)|(?P<int>\d+(?![\w.]))|(?P<number>\d[\w.]*)|(?P<space>\s+|//[^\n]*)
    |(?P<mark>[=!<>]=|&&|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
# A string whose value is the text between its quotes.
_PLAIN = re.compile(r"""(["'])([^"'\\]*)\1""")
_WORDS = {"in": "~", "true": "1", "false": "1"}
# The maximum number of characters, above which the library rejects an expression.
_MOST = 100_000

_COMPARE = "(?:compareTo|isGreaterThan|isLessThan)"
_NAMES = """
    all asInteger bind charAt compareTo contains endsWith exists exists_one filter has hasValue indexOf isGreaterThan
    isInteger isLessThan isQuantity isSemver join lowerAscii major map matches minor orValue patch quantity replace
    semver sign size split startsWith string trim upperAscii
"""
# The functions and macros whose results do not differ, under the conditions of the other checks.
_SUPPORTED = frozenset(_NAMES.split())

_MEMBER = r'(?:\. \w+\b|\[ " \])'
_VERSION_OF = r"(?:\. @v|\[ @v \])"
_VALUE = r"\b(?:semver|quantity) \( [^()]* \)"
_SPECIAL = rf"(?:@c {_MEMBER}|{_VALUE})"
# Where an expression may use a quantity, or a version that it contains.
_PLACES_OF_VALUES = re.compile(
    "|".join(
        (
            rf"(?:{_COMPARE}|sign|has) \( {_SPECIAL} \)",
            rf"{_SPECIAL} [=!]= {_SPECIAL}(?! \.)",
            rf"(?:\. \w+|\]) [=!]= {_VALUE}",
            rf"@c {_MEMBER} (?=\. (?:{_COMPARE}|asInteger|isInteger) )",
            rf"{_VALUE} (?=\. (?:{_COMPARE}|major|minor|patch) )",
            '" ~ @c',
        )
    )
)
# Where an expression may use an attribute whose value is a version.
_PLACES_OF_VERSIONS = re.compile(
    "|".join(
        (
            rf"(?:{_COMPARE}|has) \( @a {_VERSION_OF} \)",
            rf"{_VERSION_OF} [=!]= \bsemver \(",
            rf"{_VERSION_OF} (?=\. (?:{_COMPARE}|major|minor|patch) )",
        )
    )
)

_CHECKS = tuple(
    (re.compile(pattern), what)
    for pattern, what in (
        (r"\{", "a map"),
        (r"\bnull\b", "null"),
        (r"(?<!\. )\b(?:sets|lists|format)\b", "a library of sets, lists or formats"),
        (r"[(,] device ,", "a variable named device"),
        (r"\bdevice (?!\. \w+ (?!\())", "device as a whole"),
        (r"has \( device \.", "has() of a field of the device"),
        (r"\bdevice \. (?:attributes|capacity)\b", "the domains of a device, except one that is named by a string"),
        (r"(?<!~ )@a (?![.\[,])|(?<!bind \( \w , )@a ,", "the attributes of a domain as a whole"),
        (r"\b(?:all|exists|exists_one) \( \w+ , \w+ ,", "a macro with two variables"),
        (r"bind \(.*\b(?:all|exists) \(|\b(?:all|exists) \(.*bind \(", "cel.bind() together with all() or exists()"),
        (r"bind \( \w+ , (?!@a)", "cel.bind() with a value that is not an attribute"),
        (rf"has \( (?!@[ac] {_MEMBER} \))", "has() of a value that is not an attribute or a capacity of the device"),
        (rf"string \( (?!@a {_MEMBER} \))", "string() of a value that is not an attribute"),
        (r'(?<=[\w\])"] )\[ (?!["0] \])', "a computed index"),
        (r'(?<![\w\])"] )\[ (?!(["019])(?: , \1)* \])', "a list with computed elements, or of several types"),
        (r"(?<!@a )\. \?|\[ \?|\. \? \w+ (?!\. (?:orValue|hasValue) )", "optional values"),
        (r'orValue \( (?!["019] \))', "orValue() with a computed value"),
        (r'(?<!" )~ (?:@[ac]|\w+) (?![.\[])', "the operator in with a computed name"),
        (rf"~ @[ac] {_MEMBER} (?!\.)", "the operator in with an attribute as a list"),
    )
)


@lru_cache(maxsize=4096)
def shape_of(expression: str, versions: frozenset[str] = frozenset()) -> tuple[str, frozenset[str]]:
    """Return the shape of an expression, and its names and strings.

    Args:
        expression: The expression.
        versions: The names of attributes whose values are versions.
    """
    words, names = [], set()
    for token in _TOKEN.finditer(expression):
        kind, word = str(token.lastgroup), token[0]
        text = _PLAIN.fullmatch(word)
        name = text[2] if text else word
        if kind in ("text", "name"):
            names.add(name)
        if name in versions:
            words.append("@v")
        elif kind == "text":
            words.append('"' if text else "'")
        elif kind != "space":
            words.append({"int": "0", "number": "9"}.get(kind) or _WORDS.get(word, word))
    shape = " ".join((*words, ""))
    for field, mark in (("attributes", "@a"), ("capacity", "@c")):
        shape = re.sub(rf"\bdevice \. {field} {_MEMBER}(?! \()", mark, shape)
    return shape, frozenset(names)


def refuse(expression: str) -> None:
    """Check that the library evaluates an expression as Kubernetes does, whatever the values of attributes are.

    Raises:
        UnsupportedError: It may not do so.
    """
    if len(expression) > _MOST:
        raise unsupported(expression[:100], f"more than {_MOST} characters")
    if any("\ud800" <= letter <= "\udfff" for letter in expression):
        raise UnsupportedError("a selector has a surrogate code point, which UTF-8 cannot encode")
    shape, _ = shape_of(expression)
    for name in re.findall(r"(\w+) \(", shape):
        if name not in _SUPPORTED:
            raise unsupported(expression, f"{name}()")
    for pattern, what in _CHECKS:
        if pattern.search(shape):
            raise unsupported(expression, what)
    if re.search(r"@c|\b(?:semver|quantity) \(", _PLACES_OF_VALUES.sub("", shape)):
        raise unsupported(expression, "a quantity or a version outside of its functions and comparisons")


def refuse_versions(expression: str, versions: frozenset[str]) -> None:
    """Check that an expression uses attributes only as versions.

    Args:
        expression: The expression.
        versions: The names of the attributes whose values are versions.

    Raises:
        UnsupportedError: The expression uses such an attribute in another way.
    """
    shape, _ = shape_of(expression, versions)
    if "@v" in _PLACES_OF_VERSIONS.sub("", shape):
        raise unsupported(expression, "a version outside of its functions and comparisons")


def unsupported(expression: str, what: str) -> UnsupportedError:
    """Return the error for an expression that uses an unsupported feature."""
    return UnsupportedError(f'selector "{expression}": uses {what}, which is not supported here')


# The keys of the maps; no map that an expression writes has such a key by accident.
_QUANTITY, _VERSION = "\x01quantity", "\x01version"
Kept = dict[str, str]

_NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_CANONICAL = re.compile(r"([+-]?[0-9.]+)(?:e([+-]?[0-9]+)|([KMGTPE]i)|([numkMGTPE]?))")


def _number(text: str) -> Decimal:
    digits, exponent, binary, decimal = _CANONICAL.fullmatch(text).groups()  # type: ignore[union-attr]
    if binary:
        return Decimal(digits) * Decimal(1024) ** ("KMGTPE".index(binary[0]) + 1)
    return Decimal(digits).scaleb(int(exponent) if exponent else _SUFFIXES[decimal or ""])


def quantity(text: str) -> Kept:
    """Parse a quantity.

    Raises:
        ValueError: The string is not a quantity.
    """
    try:
        number = _number(str(Quantity(text)))
    except KueueError:
        raise ValueError(_NO_QUANTITY) from None
    return {_QUANTITY: format(number.normalize() + 0, "f")}


def is_quantity(text: str) -> bool:
    """Return whether a string is a quantity."""
    try:
        Quantity(text)
    except KueueError:
        return False
    return True


_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


def version(text: str) -> Kept:
    """Parse a semantic version.

    Raises:
        ValueError: The string is not a semantic version.
    """
    found = _SEMVER.fullmatch(text)
    if found is not None:
        for part in (*found.group(1, 2, 3), *(found[4] or "").split(".")):
            if part.isdigit() and int(part[:40]) >= 2**64:
                raise ValueError(f'strconv.ParseUint: parsing "{part}": value out of range')
    if found is None:
        raise ValueError("No Major.Minor.Patch elements found")
    number = ".".join(found.group(1, 2, 3))
    return {_VERSION: f"{number}-{found[4]}" if found[4] else number}


def is_version(text: str) -> bool:
    """Return whether a string is a semantic version."""
    try:
        version(text)
    except ValueError:
        return False
    return True


_COMPONENTS = 3


def _complete(text: str) -> str:
    """Complete a version: without the prefix v and leading zeros, with three components."""
    parts = text.removeprefix("v").split(".", 2)
    for i, part in enumerate(parts):
        if len(part) > 1:
            rest = part.lstrip("0")
            parts[i] = rest if rest[:1].isdigit() else "0" + rest
    if not any(mark in parts[-1] for mark in "+-"):
        parts += ["0"] * (_COMPONENTS - len(parts))
    return ".".join(parts)


def tolerant_version(text: str, complete: bool) -> Kept:  # noqa: FBT001 - called by expressions, by position
    """Parse a semantic version, which is completed first if `complete` is true.

    Raises:
        ValueError: The string is not a semantic version.
    """
    return version(_complete(text) if complete else text)


def is_tolerant_version(text: str, complete: bool) -> bool:  # noqa: FBT001 - called by expressions, by position
    """Return whether a string, completed first if `complete` is true, is a semantic version."""
    return is_version(_complete(text) if complete else text)


def _version_key(text: str) -> tuple[Any, ...]:
    number, _, before = text.partition("-")
    parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".") if part)
    return (*(int(part) for part in number.split(".")), 0 if before else 1, parts)


def _keys(*values: Kept) -> list[Any]:
    """Return the sort keys of two values of the same type."""
    if all(_QUANTITY in value for value in values):
        return [Decimal(value[_QUANTITY]) for value in values]
    if all(_VERSION in value for value in values):
        return [_version_key(value[_VERSION]) for value in values]
    raise ValueError("no such overload")


def compare(left: Kept, right: Kept) -> int:
    """Return -1, 0 or 1 if a value is less than, equal to or greater than another value of the same type."""
    a, b = _keys(left, right)
    return int(a > b) - int(a < b)


def _amount(value: Kept) -> Decimal:
    if _QUANTITY not in value:
        raise ValueError("no such overload")
    return Decimal(value[_QUANTITY])


def integer(value: Kept) -> int:
    """Return the value of a quantity that fits in a 64-bit integer."""
    if not is_integer(value):
        raise ValueError("cannot convert value to integer")
    return int(_amount(value))


def is_integer(value: Kept) -> bool:
    """Return whether a quantity fits in a 64-bit integer."""
    number = _amount(value)
    return number == number.to_integral_value() and -(2**63) <= number < 2**63


def sign(value: Kept) -> int:
    """Return the sign of a quantity: -1, 0 or 1."""
    number = _amount(value)
    return int(number > 0) - int(number < 0)


def part_of_version(position: int) -> Callable[[Kept], int]:
    """Return a function that returns a component of a version: 0 for major, 1 for minor, 2 for patch."""

    def part(value: Kept) -> int:
        if _VERSION not in value:
            raise ValueError("no such overload")
        number = int(_version_key(value[_VERSION])[position])
        return (number + 2**63) % 2**64 - 2**63  # Kueue converts the unsigned number to a signed one.

    return part


# Version of the string functions of Kubernetes, which does not have `reverse` for strings.
_STRINGS_VERSION = 2
_ATTRIBUTES, _CAPACITY = "device.attributes", "device.capacity"
_WHAT = "selectors of devices"


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
    cel = imported("cel_expr_python.cel", _WHAT)
    extensions = [
        getattr(imported(f"cel_expr_python.ext.{name}", _WHAT), cls)(*arguments)
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
# Errors of the library for expressions that Kubernetes accepts.
_DIFFERENT = {
    "a comparison of numbers of different types": r"'_[<>]=?_' applied to '\((?:u?int|double), (?:u?int|double)\)'",
    "indexOf() of a list": r"'indexOf' applied to '\(list",
    "operations nested more than 32 levels deep": "recursion",
}
_PATTERN = re.compile(r"""\bmatches\s*\(\s*([rR]?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))\s*\)""")


def compile_error(expression: str) -> str:
    """Return why an expression is rejected when it is compiled; an empty string if it is accepted.

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
