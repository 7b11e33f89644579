"""The fast reader for YAML and JSON text in the form that kubectl prints.

The C++ core reads the text. The core reads the items of a list object a few at a time. Unsupported text is passed to
the exact reader. Tests check that both readers agree on text that both support.
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
"""Function that reads an unsupported item. A YAML item is passed as a list with one item."""


class FastReader:
    """A document in the form that kubectl prints.

    Attributes:
        value: The value read so far. For a list object, the value does not contain the items that were already
            returned.
    """

    def __init__(self, text: Text, limits: Limits) -> None:
        """Read the document; for a list object, read only the content before the first item."""
        self._text = text
        # A list object and its items add two levels. If a limit may be exceeded, the exact reader decides.
        deepest, longest = max(0, min(limits.depth - 2, _DEPTH)), limits.scalar_bytes // 4
        self._core = CoreReader(text.whole, text.start, text.stop, text.line, resolve, deepest, longest)
        self._opened = self._core.open()

    @property
    def is_unsupported(self) -> bool:
        """Whether the exact reader must read the whole document."""
        return self._opened is None

    @property
    def is_list(self) -> bool:
        """Whether the document may be a list object."""
        return self._opened is True

    @property
    def value(self) -> Any:
        """The value of the document."""
        return self._core.value

    @property
    def is_json(self) -> bool:
        """Whether the document is JSON."""
        return self._core.is_json

    def says_list(self) -> bool:
        """Whether the kind is List.

        The kind is read from the keys before the items, or from a line near the end that is indented like the keys of
        the document. The line near the end is not reliable if a text is constructed to mislead the reader.
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
        """Iterate over the items and their texts.

        Yields:
            An item with its text. The last element is `None` if the fast reader cannot read the text; the exact reader
            must then read the whole document.
        """
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
