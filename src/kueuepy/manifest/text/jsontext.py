"""JSON into Python values; what is wrong with it has its place by way of YAML, which most JSON is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from kueuepy.errors.problems import LimitError, ManifestError, Problem
from kueuepy.manifest.text.scalars import integer, number

if TYPE_CHECKING:
    from kueuepy.manifest.text.limits import Limits
    from kueuepy.manifest.text.text import Text

_JSON = msgspec.json.Decoder(float_hook=number)
_LONG_INTEGER = re.compile(rb"[0-9]{19}")


def json_value(text: Text, limits: Limits, *, strict: bool) -> Any:
    """The value of a JSON text.

    Raises:
        msgspec.DecodeError: The text is not JSON.
        RecursionError: It is nested very deeply.
        ManifestError: Two keys of a mapping are equal, if `strict`; else the last counts.
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
    """Whether JSON had two equal keys in one mapping, of which the decoder kept one.

    Written back, the value has as many keys as the text had. A `":` inside a text counts on both sides.
    """
    return msgspec.json.format(data, indent=-1).count(b'":') != msgspec.json.encode(value).count(b'":')


def _refuse(text: Text, limits: Limits, fault: ManifestError | LimitError) -> NoReturn:
    """Raises a fault with its place, as YAML has it; without, where the JSON is no YAML."""
    from kueuepy.manifest.text.exact import parse  # noqa: PLC0415 - PyYAML is imported where it is needed

    try:
        parse(text, limits, strict=True)
    except ManifestError as error:
        if error.problems[0][1].kind == "Duplicate":
            raise
    raise fault


def _excess(value: Any, limits: Limits) -> tuple[str, int, str] | None:
    """The limit that a value exceeds, what it allows, and what is too much."""
    level, depth = [value], 0
    while level:
        texts = [text for part in level if isinstance(part, dict) for text in part]
        texts += [part for part in level if isinstance(part, str)]
        longest = max((len(text.encode()) for text in texts if len(text) > limits.scalar_bytes // 4), default=0)
        if longest > limits.scalar_bytes:
            return "scalar_bytes", limits.scalar_bytes, f"a text has {longest:,} bytes"
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
