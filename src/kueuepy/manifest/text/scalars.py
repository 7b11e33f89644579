"""The values that plain YAML scalars have in Kubernetes, which reads YAML 1.1 with go-yaml.

Kubernetes converts YAML to JSON: a float without a fraction becomes an integer, and keys become strings. Go represents
an integer beyond 64 bits as a float. In JSON, such an integer is written as the shortest sequence of digits that yields
the same float.

Source: `vendor/go.yaml.in/yaml/v2/resolve.go:resolve`, and `vendor/sigs.k8s.io/yaml` for the conversion to JSON.
"""

import re
from decimal import Decimal
from typing import TypeAlias

from kueuepy.errors import shown

Scalar: TypeAlias = bool | int | float | str | None

_TRUE = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
_FALSE = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
_NULL = ("", "~", "null", "Null", "NULL")
WORDS: dict[str, Scalar] = {
    **dict.fromkeys(_TRUE, True),
    **dict.fromkeys(_FALSE, False),
    **dict.fromkeys(_NULL, None),
}
"""The values of the plain scalars that stand for booleans and null."""

_NOT_FINITE = {
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BARE_FLOAT = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
NUMBER_START = frozenset("+-.0123456789")
_MOST_DIGITS = 70  # a signed 64-bit integer in base 2, with its prefix
_UINT64 = 2**64
_INT64 = 2**63


class TagError(ValueError):
    """The value of a scalar does not match its tag."""


def resolve(text: str) -> Scalar:
    """Return the value of a plain scalar. Infinity and NaN are returned, although JSON cannot represent them.

    >>> [resolve(text) for text in ("yes", "017", "1_000", "64Gi", "~", "1e3", "-.inf")]
    [True, 15, 1000, '64Gi', None, 1000, -inf]
    """
    if text in WORDS:
        return WORDS[text]
    if text[0] not in NUMBER_START:
        return text
    if text in _NOT_FINITE:
        return _NOT_FINITE[text]
    integer = _integer(text)
    if integer is not None:
        return integer
    plain = text.replace("_", "")
    pattern, found = (_BARE_FLOAT, text) if text[0] == "." else (_FLOAT, plain)
    return number(plain, text) if pattern.fullmatch(found) else text


def tagged(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with a tag, regardless of its quotes.

    Raises:
        TagError: The value does not match the tag.
    """
    name = tag.rpartition(":")[2]
    value: Scalar = text if name == "str" else resolve(text)
    whole = _integer(text) if isinstance(value, int) else None
    fits = {
        "str": True,
        "null": value is None,
        "bool": isinstance(value, bool),
        "int": whole is not None,
        "float": isinstance(value, float | int) and not isinstance(value, bool) and (whole or 0) < _INT64,
    }
    if not fits.get(name, False):
        raise TagError(f"{shown(text)} does not have the type {name} of its tag; remove the tag")
    return value


def number(plain: str, text: str | None = None) -> Scalar:
    """Return the value of a decimal number as a Go float, or the unchanged string if the number is too large."""
    value = float(plain)
    if value in (float("inf"), float("-inf")):
        return plain if text is None else text
    return int(Decimal(repr(value))) if value.is_integer() else value


def integer(digits: str) -> Scalar:
    """Return the value of an integer in JSON."""
    value = _integer(digits)
    return number(digits) if value is None else value


def key_text(text: str) -> str | None:
    """Return the key that a plain scalar represents; `None` for a scalar that cannot be a key, such as null."""
    value = resolve(text)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    whole = _integer(text)
    return None if whole is None or whole >= _INT64 else str(whole)


def _integer(text: str) -> int | None:
    """Return the value of a 64-bit integer in Go's base-0 notation. Signed integers must fit into int64."""
    plain = text.replace("_", "")
    if len(plain) > _MOST_DIGITS or not _INTEGER.fullmatch(plain):
        return None
    digits = plain.lstrip("+-").lower()
    base = 0 if digits[:2] in ("0x", "0b", "0o") else 8 if digits[0] == "0" else 10
    value = int(digits, base)
    if plain[0] == "-":
        return -value if value <= _INT64 else None
    return value if value < (_INT64 if plain[0] == "+" else _UINT64) else None
