"""Conversion of JSON to Python values. Positions of errors are found by reading the text as YAML."""

import json
import re
from typing import Any, NoReturn

import msgspec

from kueuepy.errors.problems import LimitError, ManifestError, Problem
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.scalars import integer, number
from kueuepy.manifest.text.text import Text

_JSON = msgspec.json.Decoder(float_hook=number)
_LONG_INTEGER = re.compile(rb"[0-9]{19}")


def json_value(text: Text, limits: Limits, *, strict: bool) -> Any:
    """Parse a JSON text.

    Args:
        text: The text.
        limits: Limits on the size of the text.
        strict: Whether duplicate keys are an error; otherwise the last one is used.

    Raises:
        msgspec.DecodeError: The text is not JSON.
        RecursionError: The text is nested too deeply.
        ManifestError: A mapping has duplicate keys, and `strict` is true.
        LimitError: The nesting or a scalar exceeds its limit.
    """
    data = text.data
    value = _JSON.decode(data)
    if _LONG_INTEGER.search(data):
        value = json.loads(data, parse_int=integer, parse_float=number)
    brackets = data.count(b"{") + data.count(b"[")
    if (len(data) > limits.scalar_bytes or brackets > limits.depth) and (found := _excess(value, limits)):
        name, allowed, what = found
        _refuse(text, limits, LimitError(text.name, name, allowed, what, (text.line, 1)))
    if strict and has_equal_keys(data, value):
        problem = Problem((), "Duplicate", "a key is given twice in one mapping; give it once")
        _refuse(text, limits, ManifestError([(f"{text.name}:{text.line}:1", problem)]))
    return value


def has_equal_keys(data: bytes, value: Any) -> bool:
    """Return whether any object in the JSON text has duplicate keys, of which the decoder keeps only one.

    The function encodes the value again and compares the number of `":` in both texts. A `":` inside a string occurs in
    both texts, so it does not change the comparison.
    """
    return msgspec.json.format(data, indent=-1).count(b'":') != msgspec.json.encode(value).count(b'":')


def _refuse(text: Text, limits: Limits, fault: ManifestError | LimitError) -> NoReturn:
    """Raise an error with its position, which is found by reading the JSON as YAML if possible."""
    from kueuepy.manifest.text.exact import parse  # noqa: PLC0415 - PyYAML is imported where it is needed

    try:
        parse(text, limits, strict=True)
    except ManifestError as error:
        if error.problems[0][1].kind == "Duplicate":
            raise
    raise fault


def _excess(value: Any, limits: Limits) -> tuple[str, int, str] | None:
    """Return the name and value of the limit that a value exceeds, and a description of the excess."""
    level, depth = [value], 0
    while level:
        texts = [text for part in level if isinstance(part, dict) for text in part]
        texts += [part for part in level if isinstance(part, str)]
        longest = max((len(text.encode()) for text in texts if len(text) > limits.scalar_bytes // 4), default=0)
        if longest > limits.scalar_bytes:
            return "scalar_bytes", limits.scalar_bytes, f"a string has {longest:,} bytes"
        depth += any(isinstance(part, dict | list) for part in level)
        if depth > limits.depth:
            return "depth", limits.depth, f"mappings and lists are nested {depth:,} deep"
        level = [
            inner
            for part in level
            if isinstance(part, dict | list)
            for inner in (part.values() if isinstance(part, dict) else part)
        ]
    return None
