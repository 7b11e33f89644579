"""Python values as YAML text, in the block style that kubectl prints."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kueuepy.manifest.scalars import resolve

_PLAIN = re.compile(r"[A-Za-z0-9_/.$][A-Za-z0-9_/.$:+=@^~-]*(?: [A-Za-z0-9_/.$(][A-Za-z0-9_/.$:+=@^~(),;'-]*)*")
_UNPRINTABLE = re.compile("[\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff\u2028\u2029\x85]")
_DATE = re.compile(r"\d{4}-")


def yaml_text(documents: Sequence[Any]) -> str:
    """The documents, with a marker between each and the next."""
    return "---\n".join("\n".join(_block(document, "")) + "\n" for document in documents)


def _block(value: Any, indent: str) -> Iterator[str]:
    """The lines of a value."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _entry(
                f"{indent}{_text(str(key))}:", item, indent if isinstance(item, list | tuple) else f"{indent}  "
            )
    elif isinstance(value, list | tuple) and value:
        for item in value:
            if isinstance(item, Mapping | list | tuple) and item:
                lines = list(_block(item, f"{indent}  "))
                yield f"{indent}- {lines[0][len(indent) + 2 :]}"
                yield from lines[1:]
            else:
                yield f"{indent}- {_scalar(item)}"
    else:
        yield f"{indent}{_scalar(value)}"


def _entry(key: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping | list | tuple) and value:
        yield key
        yield from _block(value, indent)
    else:
        yield f"{key} {_scalar(value)}"


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    return json.dumps(value)


def _text(text: str) -> str:
    """A text, in quotes wherever it could be read as anything else."""
    plain = _PLAIN.fullmatch(text) and text[-1] != ":" and ": " not in text and not _DATE.match(text)
    if plain and isinstance(resolve(text), str):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
