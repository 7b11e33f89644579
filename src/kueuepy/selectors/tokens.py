"""Tokens of an expression, for rules of Kueue's compiler that depend on the text.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<text>(?:[rR][bB]?|[bB][rR]?)?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<name>[A-Za-z_]\w*|`[^`\n]*`)|(?P<number>\d[\w.]*)|(?P<space>\s+|//[^\n]*)|(?P<mark>[=!<>]=|&&|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
_MACROS = {"all", "exists", "exists_one", "existsOne"}
_FIELDS = {"driver", "attributes", "capacity", "allowMultipleAllocations"}


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an expression.

    Attributes:
        kind: `text`, `name`, `number` or `mark`.
        text: The token as written.
        start: The position in the expression.
    """

    kind: str
    text: str
    start: int


def split(expression: str) -> list[Token]:
    """Split an expression into tokens, without spaces and comments."""
    return [
        Token(str(found.lastgroup), found[0], found.start())
        for found in _TOKEN.finditer(expression)
        if found.lastgroup != "space"
    ]


def with_fields_present(expression: str) -> str:
    """Replace `has` of a field of the device, such as `has(device.driver)`, with `true` of the same length.

    Every device has all fields. The library declares each field as a variable, and does not evaluate `has` of a
    variable as a test.
    """
    tokens = split(expression)
    parts, position = [], 0
    for i in range(len(tokens) - 5):
        words = [token.text for token in tokens[i : i + 6]]
        is_call = words[:4] == ["has", "(", "device", "."] and words[5] == ")"
        if is_call and words[4] in _FIELDS and not (i and tokens[i - 1].text == "."):
            start, end = tokens[i].start, tokens[i + 5].start + 1
            parts += [expression[position:start], "true".ljust(end - start)]
            position = end
    return "".join((*parts, expression[position:]))


def names_a_variable_device(expression: str) -> bool:
    """Return whether a macro declares a variable `device`, which hides the device."""
    words = [token.text for token in split(expression)]
    return any(words[i : i + 3] in (["(", "device", ","], [",", "device", ","]) for i in range(len(words)))


def macro_with_two_variables(expression: str) -> str:
    """Return the name of a macro such as `all` that is called with two variables; empty if there is none."""
    words = [token.text for token in split(expression)]
    for i in range(1, len(words) - 5):
        first, comma, second, then = words[i + 2 : i + 6]
        called = words[i] in _MACROS and words[i - 1] == "." and words[i + 1] == "("
        if called and first.isidentifier() and second.isidentifier() and comma == then == ",":
            return words[i]
    return ""
