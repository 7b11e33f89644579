"""Checks of literals, which Kueue's compiler applies in addition to the checks of types.

Source: `k8s.io/apiserver/pkg/cel/environment/base.go` (the validators), cel-go's `cel/validator.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kueuepy.selectors.rewriting import Token

_CHECKED = {"matches": "''.matches({})", "timestamp": "timestamp({})", "duration": "duration({})"}
_CONVERSIONS = ("int", "uint", "double")


def refusal(expression: str, tokens: list[Token], fails: Callable[[str], bool]) -> str:
    """Return why an expression is refused because of its literals; empty if it is not.

    Args:
        expression: The expression, whose types are correct.
        tokens: Its tokens.
        fails: Evaluates an expression without variables and returns whether the result is an error.
    """
    issues = sorted((*_arguments(tokens, fails), *_elements(tokens)))
    if issues:
        return "compilation failed: " + "\n".join(_issue(expression, start, words) for start, words in issues)
    for name, text in _calls(tokens):
        if name.text in _CONVERSIONS and text.kind == "text" and fails(f"{name.text}({text.text})"):
            return f"program instantiation failed: type conversion error from 'string' to '{name.text}'"
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


def _elements(tokens: list[Token]) -> Iterator[tuple[int, str]]:
    """Find the lists of literals with elements of different types."""
    for i, opening in enumerate(tokens):
        if opening.text != "[" or (i and _ends_a_value(tokens[i - 1])):
            continue
        first, position = "", i + 1
        while position + 1 < len(tokens) and tokens[position + 1].text in (",", "]"):
            found = _type(tokens[position])
            first = first or found
            if first and found and found != first:
                yield tokens[position].start, f"expected type '{first}' but found '{found}'"
                break
            position += 2


def _ends_a_value(token: Token) -> bool:
    return token.text in (")", "]", "}") or (token.kind in ("name", "text") and token.text != "in")


def _type(token: Token) -> str:
    """Return the type of a literal; empty if the token is no literal."""
    text = token.text
    if token.kind == "text":
        return "bytes" if "b" in text[: min(text.find(quote) % len(text) for quote in "\"'")].lower() else "string"
    if token.kind == "number":
        if text[-1] in "uU":
            return "uint"
        return "double" if not text.lower().startswith("0x") and any(c in text for c in ".eE") else "int"
    return "bool" if text in ("true", "false") else ""


def _issue(expression: str, start: int, words: str) -> str:
    before = expression[:start]
    column = start - (before.rfind("\n") + 1)
    line = expression.split("\n")[before.count("\n")]
    return f"ERROR: <input>:{before.count(chr(10)) + 1}:{column + 1}: {words}\n | {line}\n | {'.' * column}^"
