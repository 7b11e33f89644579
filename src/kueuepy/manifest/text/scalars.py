"""What a plain YAML scalar means to Kubernetes, which reads YAML 1.1 through go-yaml.

Source: `vendor/go.yaml.in/yaml/v2/resolve.go:resolve`, and `vendor/sigs.k8s.io/yaml` for the way through JSON: there a
float without a fraction becomes an integer, and keys become texts. One thing differs: an integer beyond 64 bits keeps
all its digits here, where Go makes it a float.
"""

import re
from typing import TypeAlias

Scalar: TypeAlias = bool | int | float | str | None

_TRUE = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
_FALSE = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
_NULL = ("", "~", "null", "Null", "NULL")
WORDS: dict[str, Scalar] = {
    **dict.fromkeys(_TRUE, True),
    **dict.fromkeys(_FALSE, False),
    **dict.fromkeys(_NULL, None),
}
"""The words that are not texts."""

_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NUMBER_START = frozenset("+-.0123456789")
_MAX_DIGITS = 4300
_UINT64 = 2**64
_INT64 = 2**63


def resolve(text: str) -> Scalar:
    """The value of a plain scalar.

    >>> [resolve(text) for text in ("yes", "017", "1_000", "64Gi", "~", "1e3")]
    [True, 15, 1000, '64Gi', None, 1000]
    """
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    plain = text.replace("_", "") if text[0] != "." else text
    if len(plain) > _MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(plain):
        integer = _integer(plain)
        if -_INT64 <= integer < _UINT64 or plain.lstrip("+-")[0] != "0":
            return integer
    if _FLOAT.fullmatch(plain):
        return number(plain, text)
    return text


def _integer(plain: str) -> int:
    """The value of an integer in Go's base-0 notation."""
    sign = -1 if plain[0] == "-" else 1
    digits = plain.lstrip("+-").lower()
    if digits[:2] in ("0x", "0b", "0o"):
        return sign * int(digits, 0)
    return sign * int(digits, 8 if digits[0] == "0" else 10)


def number(plain: str, text: str | None = None) -> Scalar:
    """The value of a decimal number with a fraction or an exponent; the text itself if it is too large."""
    value = float(plain)
    if value in (float("inf"), float("-inf")):
        return plain if text is None else text
    return int(value) if value.is_integer() else value


def key_text(text: str) -> str | None:
    """The key that a plain scalar makes, or `None` if it cannot be one, as null."""
    value = resolve(text)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
