"""Writing of Python values as YAML, in the block style that kubectl prints."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kueuepy.manifest.text.scalars import resolve

_PLAIN = re.compile(r"[A-Za-z0-9_/.$][A-Za-z0-9_/.$:+=@^~-]*(?: [A-Za-z0-9_/.$(][A-Za-z0-9_/.$:+=@^~(),;'-]*)*")
_UNPRINTABLE = re.compile("[\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff\u2028\u2029\x85]")
_DATE = re.compile(r"\d{4}-")


def yaml_text(documents: Sequence[Any]) -> str:
    """Return the documents as YAML, separated by document markers."""
    lines: list[str] = []
    for position, document in enumerate(documents):
        if position:
            lines.append("---")
        _block(document, "", lines)
    return "\n".join([*lines, ""])


def _block(value: Any, indent: str, lines: list[str]) -> None:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            _entry(f"{indent}{_text(str(key))}:", item, indent, lines)
    elif isinstance(value, list | tuple) and value:
        for item in value:
            first = len(lines)
            _block(item, f"{indent}  ", lines)
            lines[first] = f"{indent}- {lines[first][len(indent) + 2 :]}"
    else:
        lines.append(f"{indent}{_scalar(value)}")


def _entry(key: str, value: Any, indent: str, lines: list[str]) -> None:
    """Append the lines of a key and its value. A list has the same indentation as its key."""
    if isinstance(value, dict | list | tuple) and value:
        lines.append(key)
        _block(value, f"{indent}  " if isinstance(value, dict) else indent, lines)
    else:
        lines.append(f"{key} {_scalar(value)}")


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    return json.dumps(value)


@lru_cache(maxsize=4096)
def _text(text: str) -> str:
    """Write a string in YAML, with quotes if the string could be read as another type."""
    plain = _PLAIN.fullmatch(text) and text[-1] != ":" and ": " not in text and not _DATE.match(text)
    if plain and isinstance(resolve(text), str):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
