"""Checks of literals, which Kueue's compiler applies in addition to the checks of types.

Source: `k8s.io/apiserver/pkg/cel/environment/base.go` (the validators), cel-go's `cel/validator.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kueuepy.selectors.syntax import Checked, Expr, Type
    from kueuepy.selectors.tokens import Token

_CHECKED = {"matches": "''.matches({})", "timestamp": "timestamp({})", "duration": "duration({})"}


def refusal(expression: str, checked: Checked, tokens: list[Token], fails: Callable[[str], bool]) -> str:
    """Return why an expression is refused because of its literals; empty if it is not.

    Args:
        expression: The expression.
        checked: The expression, whose types are correct.
        tokens: Its tokens.
        fails: Evaluates an expression without variables and returns whether the result is an error.
    """
    issues = sorted((*_arguments(tokens, fails), *_elements(checked)))
    if issues:
        return "compilation failed: " + "\n".join(_issue(expression, start, words) for start, words in issues)
    return ""


def _calls(tokens: list[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield the calls with one argument of one token: the name of the function and the argument."""
    for name, opening, argument, closing in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        if name.kind == "name" and opening.text == "(" and closing.text == ")":
            yield name, argument


def _arguments(tokens: list[Token], fails: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    for name, argument in _calls(tokens):
        if name.text in _CHECKED and argument.kind == "text" and fails(_CHECKED[name.text].format(argument.text)):
            yield argument.start, f"invalid {name.text} argument"


def _elements(checked: Checked) -> Iterator[tuple[int, str]]:
    """Find the lists and maps that are written with elements of different types."""

    def mismatch(node: Expr, first: Type, found: Type) -> tuple[int, str]:
        words = f"expected type '{written(first)}' but found '{written(found)}'"
        return checked.positions.get(node.number, 0), words

    for node in checked.root.all():
        if node.kind == "list" and node.number:
            types = node.element_types(checked.type_of)
            for part, found in zip(node.parts, types, strict=True):
                if found != types[0]:
                    yield mismatch(part, types[0], found)
                    break
        elif node.kind == "map" and not node.name:
            types = node.element_types(checked.type_of)
            for i, (part, found) in enumerate(zip(node.parts, types, strict=True)):
                if found != types[i % 2]:
                    yield mismatch(part, types[i % 2], found)


def written(kind: Type) -> str:
    """Return a type as cel-go writes it."""
    name, *parameters = kind
    return f"{name}({', '.join(map(written, parameters))})" if parameters else str(name)


def _issue(expression: str, start: int, words: str) -> str:
    before = expression[:start]
    column = start - (before.rfind("\n") + 1)
    line = expression.split("\n")[before.count("\n")]
    return f"ERROR: <input>:{before.count(chr(10)) + 1}:{column + 1}: {words}\n | {line}\n | {'.' * column}^"
