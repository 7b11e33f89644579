"""Rewriting of expressions, so that missing domains of a device evaluate to empty maps.

Source: `k8s.io/dynamic-resource-allocation/cel/compile.go`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kueuepy.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    (?P<text>(?:[rR][bB]?|[bB][rR]?)?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<name>[A-Za-z_]\w*|`[^`\n]*`)|(?P<number>\d[\w.]*)|(?P<space>\s+|//[^\n]*)|(?P<mark>[=!<>]=|&&|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
NUMBER = "kueuepy_number"
"""Function that refuses a bool, because `int` has no overload for it in Kueue."""
EQUAL, MEMBER, SIZED = "kueuepy_equal", "kueuepy_member", "kueuepy_sized"
"""Functions that return their argument, but refuse versions and quantities, as Kueue does on the left of `==` and of
`in`, and as the argument of `size`."""
SAME = "kueuepy_same"
"""Function that returns its first argument, but refuses a version or quantity if the second has another type."""
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


@dataclass(frozen=True, slots=True)
class _Edits:
    """Changes of tokens: tokens that are added before and after a token, and tokens that are removed."""

    before: dict[int, list[str]]
    after: dict[int, list[str]]
    removed: set[int]


def split(expression: str) -> list[Token]:
    """Split an expression into tokens, without spaces and comments."""
    return [
        Token(str(found.lastgroup), found[0], found.start())
        for found in _TOKEN.finditer(expression)
        if found.lastgroup != "space"
    ]


class Rewriter:
    """Rewrites an expression so that missing domains of a device evaluate to empty maps."""

    def __init__(self, expression: str) -> None:
        """Split the expression into tokens."""
        self._expression = expression
        tokens = split(expression)
        self._tokens = [token.text for token in tokens]
        self._literals = [token.kind in ("text", "number") or token.text in ("true", "false") for token in tokens]

    def rewritten(self, *, checks_operands: bool = True) -> str:
        """Return the rewritten expression.

        Args:
            checks_operands: Whether versions and quantities are refused as operands of a comparison.

        Raises:
            UnsupportedError: The expression uses the device or a map of domains as a value, instead of accessing a
                field or key.
        """
        plain = self._tokens
        try:
            if checks_operands:
                self._tokens = self._with_checked_operands()
            return " ".join(self._part(0, len(self._tokens)))
        finally:
            self._tokens = plain

    def _with_checked_operands(self) -> list[str]:
        """Return the tokens, with a check of each operand that may be a version or a quantity."""
        edits = _Edits({}, {}, set())
        for place, word in enumerate(self._tokens):
            if word == "size" and self._at(place - 1) != "." and self._at(place + 1) == "(":
                self._check_argument(place, edits)
            elif word in ("==", "in", "size"):
                self._check_left_operand(word, place, edits)
        tokens = []
        for place, word in enumerate(self._tokens):
            tokens += edits.before.get(place, [])
            tokens += [] if place in edits.removed else [word]
            tokens += edits.after.get(place, [])
        return tokens

    def _check_argument(self, place: int, edits: _Edits) -> None:
        """Check the argument of the function `size`."""
        closing = self._closing(place + 1)
        if not self._is_domain(place + 2, closing - 1):
            edits.before.setdefault(place + 1, []).append("(" + SIZED)
            edits.after.setdefault(closing, []).append(")")

    def _check_left_operand(self, word: str, place: int, edits: _Edits) -> None:
        """Check the left operand of an operator, or the receiver of the method `size`."""
        end = place - 1 if word != "size" else place - 2 if self._at(place - 1) == "." else -1
        start = self._start_of_operand(end)
        if start is None or self._at(start) == "}" or self._is_domain(start, end):
            return
        if word != "size" and self._at(start - 1) == "in":
            return
        if word == "in" and self._at(place + 1) == "[" and self._at(place + 2) == "]":
            edits.removed.update(range(start, place + 3))
            edits.before[start] = ["false"]
        elif other := self._operand_to_compare(start, place):
            edits.before[start] = _of_same_type(self._tokens[start : end + 1], other)
            edits.removed.update(range(start, end + 1))
        elif name := self._check_of(word, start, place):
            edits.before.setdefault(start, []).extend((name, "("))
            edits.after.setdefault(end, []).append(")")

    def _is_domain(self, start: int, end: int) -> bool:
        """Return whether these tokens are all attributes or capacities of a domain."""
        if [self._at(start), self._at(start + 1)] != ["device", "."]:
            return False
        after = start + 3
        return end == (self._closing(after) if self._at(after) == "[" else after + 1)

    def _check_of(self, word: str, start: int, place: int) -> str:
        """Return the name of the function that checks the left operand of an operator; empty if there is none."""
        if word == "size":
            return SIZED
        if word == "in":
            return MEMBER if self._lists_literals(place + 1) else ""
        may_be_version = self._at(start) != "[" and self._at(place + 1) in ("[", "{")
        return EQUAL if may_be_version or self._is_literal(place + 1) else ""

    def _operand_to_compare(self, start: int, place: int) -> list[str]:
        """Return the tokens of the right operand of `==` if both operands may be versions or quantities."""
        sources = ("device", "quantity", "semver")
        if self._at(place) != "==" or self._at(start) not in sources or self._at(place + 1) not in sources:
            return []
        end = place + 1
        while self._at(end + 1) in ("[", "(", "."):
            end = end + 2 if self._at(end + 1) == "." else self._closing(end + 1)
        return [] if self._at(end + 1) in ("+", "-", "*", "/", "%") else self._tokens[place + 1 : end + 1]

    def _is_literal(self, position: int) -> bool:
        position += self._at(position) == "-"
        return position < len(self._literals) and self._literals[position]

    def _lists_literals(self, position: int) -> bool:
        """Return whether a list with only literals starts at this token."""
        if self._at(position) != "[" or self._at(position + 1) == "]":
            return False
        elements = range(position + 1, self._closing(position))
        return all(self._literals[place] or self._tokens[place] in (",", "-") for place in elements)

    def _start_of_operand(self, end: int) -> int | None:
        """Return the first token of the operand of an operator that ends at a token; None if it is not a simple one."""
        place = end
        while place >= 0:
            while self._at(place) in ("]", ")"):
                opening = self._opening(place)
                if opening is None:
                    return None
                called = opening > 0 and (self._at(opening - 1).isidentifier() or self._at(opening - 1) in ("]", ")"))
                if not called or self._at(opening - 1) == "in":
                    return opening
                place = opening - 1
            optional = self._at(place - 1) == "?" and self._at(place - 2) == "."
            if not optional and self._at(place - 1) != ".":
                return place
            place -= 3 if optional else 2
        return None

    def _opening(self, position: int) -> int | None:
        depth = 0
        for place in range(position, -1, -1):
            depth += {"]": 1, ")": 1, "}": 1, "[": -1, "(": -1, "{": -1}.get(self._tokens[place], 0)
            if depth == 0:
                return place
        return None

    def asks_for_fields(self) -> bool:
        """Return whether `has` tests a field of the device itself, which the library does not treat as a field."""
        return any(self._is_presence(i) for i, word in enumerate(self._tokens) if word == "has")

    def macro_with_two_variables(self) -> str:
        """Return the name of a macro such as `all` that is called with two variables; empty if there is none."""
        for i, word in enumerate(self._tokens):
            if word in _MACROS and self._at(i - 1) == "." and self._at(i + 1) == "(":
                first, comma, second, then = (self._at(i + n) for n in range(2, 6))
                if first.isidentifier() and second.isidentifier() and comma == then == ",":
                    return word
        return ""

    def _at(self, position: int) -> str:
        return self._tokens[position] if 0 <= position < len(self._tokens) else ""

    def _part(self, start: int, end: int) -> Iterator[str]:
        position = start
        while position < end:
            if self._tokens[position] == "has" and self._is_presence(position):
                yield "true"
                position = self._closing(position + 1) + 1
            elif self._tokens[position] == "has" and self._is_of_attribute(position):
                closing = self._closing(position + 1)
                subject = " ".join(self._part(position + 2, closing - 2))
                yield f"(type({subject}) == map ? has({subject}.{self._at(closing - 1)}) : false)"
                position = closing + 1
            elif self._tokens[position] == "device" and self._at(position - 1) != ".":
                text, position = self._device(position)
                yield text
            elif self._tokens[position] == "int" and self._at(position - 1) != "." and self._at(position + 1) == "(":
                yield f"int({NUMBER}("
                closing = self._closing(position + 1)
                yield from self._part(position + 2, closing)
                yield "))"
                position = closing + 1
            else:
                yield self._tokens[position]
                position += 1

    def _is_presence(self, position: int) -> bool:
        """Return whether `has` at this token tests a field or a domain; every device has all of them."""
        opening, device, dot, field, closing, _, end = (self._at(position + i) for i in range(1, 8))
        if (opening, device, dot) != ("(", "device", ".") or field not in _FIELDS:
            return False
        return closing == ")" or (field in ("attributes", "capacity") and (closing, end) == (".", ")"))

    def _is_of_attribute(self, position: int) -> bool:
        """Return whether `has` at this token tests a field of an attribute. Attributes that are no maps have none."""
        if [self._at(position + i) for i in range(1, 5)] != ["(", "device", ".", "attributes"]:
            return False
        closing = self._closing(position + 1)
        selected, place = [], position + 5
        while place < closing:
            selected.append(place)
            place = self._closing(place) + 1 if self._at(place) == "[" else place + 2
        of_attribute = selected[2:]  # after the domain and the attribute
        return bool(of_attribute) and self._at(closing - 2) == "."

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
            return self._default(name, json.dumps(self._at(named).strip("`")), optional=optional), named + 1
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
        return unsupported(self._expression, what)


def _of_same_type(left: list[str], right: list[str]) -> list[str]:
    """Return the left operand of `==`, which is an error if it is a version or quantity and the right one is not."""
    one, other = (["dyn", "(", *operand, ")"] for operand in (left, right))
    both = [SAME, "(", *one, ",", *other, ")"]
    pair = ["(", "type", "(", *other, ")", "==", "map", "?", *both, ":", EQUAL, "(", *one, ")", ")"]
    return ["(", "type", "(", *one, ")", "==", "map", "?", *pair, ":", *one, ")"]


def unsupported(expression: str, what: str) -> UnsupportedError:
    """Return the error for an expression that uses an unsupported feature."""
    return UnsupportedError(f'selector "{expression}": uses {what}, which is not supported here')
