"""Expressions that the CEL library could evaluate differently from Kubernetes.

The library represents quantities and versions as maps. An expression may therefore use them only with their own
functions, and compare them only with each other. The checks match regular expressions with the *shape* of an
expression: its tokens, separated by spaces. In a shape, `@a` and `@c` are the attributes and the capacities of a
domain, `@v` is the name of an attribute whose value is a version, `"` is a string, `0` an integer, `9` another number,
`1` a bool, and `~` the operator `in`.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`, `k8s.io/apiserver/pkg/cel/library`, cel-go's
`common/types`.
"""

import re
from functools import lru_cache

from kueuepy.errors import UnsupportedError

_TOKEN = re.compile(
    r"""
    (?P<text>[rRbB]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<name>[A-Za-z_]\w*|`[^`\n]*`)|(?P<int>\d+(?![\w.]))|(?P<number>\d[\w.]*)|(?P<space>\s+|//[^\n]*)
    |(?P<mark>[=!<>]=|&&|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = re.compile(r"""(["'])([^"'\\]*)\1""")
"""A string whose value is the text between its quotes."""
_WORDS = {"in": "~", "true": "1", "false": "1"}
_MOST = 100_000
"""The maximum number of characters, above which the library rejects an expression."""

_COMPARE = "(?:compareTo|isGreaterThan|isLessThan)"
_NAMES = """
    all asInteger bind charAt compareTo contains endsWith exists exists_one filter has hasValue indexOf isGreaterThan
    isInteger isLessThan isQuantity isSemver join lowerAscii major map matches minor orValue patch quantity replace
    semver sign size split startsWith string trim upperAscii
"""
_SUPPORTED = frozenset(_NAMES.split())
"""The functions and macros whose results do not differ, under the conditions of the other checks."""

_FIELD = r'(?:\. \w+\b|\[ " \])'
_VERSION = r"(?:\. @v|\[ @v \])"
_VALUE = r"\b(?:semver|quantity) \( [^()]* \)"
_SPECIAL = rf"(?:@c {_FIELD}|{_VALUE})"
_PLACES_OF_VALUES = re.compile(
    "|".join(
        (
            rf"(?:{_COMPARE}|sign|has) \( {_SPECIAL} \)",
            rf"{_SPECIAL} [=!]= {_SPECIAL}(?! \.)",
            rf"(?:\. \w+|\]) [=!]= {_VALUE}",
            rf"@c {_FIELD} (?=\. (?:{_COMPARE}|asInteger|isInteger) )",
            rf"{_VALUE} (?=\. (?:{_COMPARE}|major|minor|patch) )",
            '" ~ @c',
        )
    )
)
"""Where an expression may use a quantity, or a version that it contains."""
_PLACES_OF_VERSIONS = re.compile(
    "|".join(
        (
            rf"(?:{_COMPARE}|has) \( @a {_VERSION} \)",
            rf"{_VERSION} [=!]= \bsemver \(",
            rf"{_VERSION} (?=\. (?:{_COMPARE}|major|minor|patch) )",
        )
    )
)
"""Where an expression may use an attribute whose value is a version."""

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
        (rf"has \( (?!@[ac] {_FIELD} \))", "has() of a value that is not an attribute or a capacity of the device"),
        (rf"string \( (?!@a {_FIELD} \))", "string() of a value that is not an attribute"),
        (r'(?<=[\w\])"] )\[ (?!["0] \])', "a computed index"),
        (r'(?<![\w\])"] )\[ (?!(["019])(?: , \1)* \])', "a list with computed elements, or of several types"),
        (r"(?<!@a )\. \?|\[ \?|\. \? \w+ (?!\. (?:orValue|hasValue) )", "optional values"),
        (r'orValue \( (?!["019] \))', "orValue() with a computed value"),
        (r'(?<!" )~ (?:@[ac]|\w+) (?![.\[])', "the operator in with a computed name"),
        (rf"~ @[ac] {_FIELD} (?!\.)", "the operator in with an attribute as a list"),
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
        shape = re.sub(rf"\bdevice \. {field} {_FIELD}(?! \()", mark, shape)
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
