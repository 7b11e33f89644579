"""Answers of at most 2 kB, with a cursor for the next page."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import msgspec

from kueuepy.cli.tools import Answer
from kueuepy.errors import NotFoundError

MOST_BYTES = 2000
"""The largest size of an answer, in bytes of UTF-8."""
_ANSWERS = 32
_FOR_CURSOR = 60
_LENGTHS = (600, 300, 150, 60, 20)


def pages_of(answer: Answer, key: str) -> list[str]:
    """Return the pages of an answer as JSON; each but the last has the field `next_cursor`."""
    # Half of a page for each item and for the fields of the first page, so that every page has at least one item.
    items = [_shortened(item, MOST_BYTES // 2) for item in answer.items]
    fields = _shortened({**answer.fields, **({"total": len(items)} if items else {})}, MOST_BYTES // 2)
    groups: list[tuple[Any, list[Any]]] = [(fields, [])]
    size = _size(fields)
    for item in items:
        length = _size(item) + 1
        if groups[-1][1] and size + length > MOST_BYTES - _FOR_CURSOR:
            groups.append(({}, []))
            size = 2
        groups[-1][1].append(item)
        size += length
    made = []
    for number, (first, group) in enumerate(groups, 1):
        listed = {"items": group} if items else {}
        following = {"next_cursor": f"{key}.{number}"} if number < len(groups) else {}
        made.append(_encoded({**first, **listed, **following}).decode())
    return made


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value, enc_hook=str)


def _size(value: Any) -> int:
    return len(_encoded(value))


def _shortened(value: Any, most: int) -> Any:
    """Return a value whose long texts and lists are cut until it is small enough."""
    for length in _LENGTHS:
        if _size(value) <= most:
            return value
        value = _cut(value, length)
    return value if _size(value) <= most else {"omitted": "the item is too large"}


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= length else f"{value[:length]}…"
    if isinstance(value, Mapping):
        return {name: _cut(inner, length) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        few = max(1, length // 20)
        kept = [_cut(inner, length) for inner in value[:few]]
        return [*kept, f"and {len(value) - few} more"] if len(value) > few else kept
    return value


class Pages:
    """The pages of the last answers, so that a cursor continues the answer to which it belongs."""

    def __init__(self) -> None:
        """Create an empty store."""
        self._answers: OrderedDict[str, list[str]] = OrderedDict()

    def key(self, tool: str, given: Mapping[str, Any]) -> str:
        """Return the first part of the cursors of a call."""
        rest = {name: value for name, value in given.items() if name != "cursor"}
        return hashlib.sha256(json.dumps([tool, rest], sort_keys=True).encode()).hexdigest()[:16]

    def first(self, key: str, answer: Answer) -> str:
        """Store an answer and return its first page."""
        self._answers[key] = pages_of(answer, key)
        self._answers.move_to_end(key)
        while len(self._answers) > _ANSWERS:
            self._answers.popitem(last=False)
        return self._answers[key][0]

    def page(self, tool: str, key: str, cursor: str) -> str:
        """Return the page of a cursor.

        Raises:
            NotFoundError: The cursor belongs to another call, or to an answer that is no longer stored.
        """
        own, _, number = cursor.partition(".")
        pages = self._answers.get(key, []) if own == key else []
        if not (number.isascii() and number.isdigit() and 0 < int(number[:9]) < len(pages)):
            raise NotFoundError(
                f'{tool}: cursor: is "{cursor}"; it must be next_cursor of the previous page of the same call; call '
                "without a cursor for the first page"
            )
        return pages[int(number)]
