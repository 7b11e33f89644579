"""The fast reader of YAML and JSON: for texts as kubectl prints them.

The core reads them, and the items of a list object a few at a time. Whatever it does not support goes
to the exact reader; where both answer they agree, and the tests hold them to that.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from kueuepy._core import FastReader as CoreReader
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.scalars import resolve
from kueuepy.manifest.text.text import Text

_DEPTH = 100
_AT_ONCE = 2**19
_END = 2**12
_YAML_LIST = re.compile(rb"^kind: List[ ]*$", re.MULTILINE)
_JSON_KEY = re.compile(rb"\s*\{\r?\n( +)\"")

Exact = Callable[[Text], Any]
"""Reads an item that is not supported. YAML's stands in a list of its own."""


class FastReader:
    """A document as kubectl prints it.

    Attributes:
        value: Its value, as far as it is read; that of a list object without the items that were taken out.
    """

    def __init__(self, text: Text, limits: Limits) -> None:
        """Reads it, or to the first item if it is a list object."""
        self._text = text
        # A list object and its items are two levels more; the exact reader looks again where a limit may be exceeded.
        deepest, longest = max(0, min(limits.depth - 2, _DEPTH)), limits.scalar_bytes // 4
        self._core = CoreReader(text.whole, text.start, text.stop, text.line, resolve, deepest, longest)
        self._opened = self._core.open()

    @property
    def is_unsupported(self) -> bool:
        """Whether the exact reader must be taken from the start."""
        return self._opened is None

    @property
    def is_list(self) -> bool:
        """Whether it may be a list object."""
        return self._opened is True

    @property
    def value(self) -> Any:
        """The value."""
        return self._core.value

    @property
    def is_json(self) -> bool:
        """Whether it is JSON."""
        return self._core.is_json

    def says_list(self) -> bool:
        """Whether it says that its kind is List, before the items, or in a line near the end indented as its keys are.

        Behind the items this may be wrong, for texts that are made to deceive.
        """
        if "kind" in self.value:
            return bool(self.value["kind"] == "List")
        whole, start, stop = self._text.whole, self._text.start, self._text.stop
        line = _YAML_LIST
        if self.is_json:
            key = _JSON_KEY.match(whole, start, stop)
            if not key:
                return False
            line = re.compile(rb'^%b"kind": *"List",?\s*$' % key.group(1), re.MULTILINE)
        return bool(line.search(whole, max(start, stop - _END), stop))

    def items(self, exact: Exact) -> Iterator[tuple[Any, Text] | None]:
        """The items and where each stands; `None`, and no more, where only the whole document can tell."""
        while self._core.is_in_list:
            found = self._core.items(_AT_ONCE)
            if found is None:
                unsupported = self._core.pass_over()
                if unsupported is None:
                    yield None
                    return
                part = self._text.part(*unsupported)
                yield exact(part), part
                continue
            if not found:
                return
            for start, stop, line, value in found:
                yield value, self._text.part(start, stop, line)
