"""Collections in brackets, as in JSON."""

import re

from kueuepy.manifest.text.nodes import Nodes
from kueuepy.manifest.text.scalars import resolve
from kueuepy.manifest.text.scanner import Scalar

_SPACE = re.compile(r"(?:[ \t\n]+|(?<![^\s\[\]{},])#[^\n]*)*")
_NAME = re.compile(r"[&*]([A-Za-z0-9_-]+)(?=[\s,\[\]{}]|\Z)")
_COLON = re.compile(r":(?=[\s,\[\]{}]|\Z)")
_QUESTION = re.compile(r"\?(?=\s)")
_CLOSING = {"]": list, "}": dict}
_PAIR = -2


class Flow(Nodes):
    """A text with its collections in brackets."""

    def flow(self, start: int, parent: int) -> int:
        """Reads the collection in brackets that starts here, as the value that comes next; where it ends."""
        depth = len(self.open)
        offset = self._flow_enter(start)
        while len(self.open) > depth:
            found = _SPACE.match(self.text, offset)
            offset = found.end() if found else offset
            if offset >= len(self.text):
                self.fail(start, f'the "{self.text[start]}" here is never closed')
            offset = self._flow_step(offset, parent)
        return offset

    def _flow_enter(self, offset: int) -> int:
        self.top.full = True
        self.enter([] if self.text[offset] == "[" else {}, -1, offset)
        return offset + 1

    def _flow_step(self, offset: int, parent: int) -> int:
        """Reads one scalar or one sign."""
        char, top = self.text[offset], self.top
        if char in _CLOSING:
            return self._flow_close(offset)
        if char == ",":
            return self._flow_comma(offset)
        if top.full:
            return self._flow_pair(offset)
        if isinstance(top.container, list) or (top.awaiting and top.colon):
            return self._flow_value(offset, parent)
        return self._flow_colon(offset) if top.awaiting else self._flow_key(offset, parent)

    def _flow_close(self, offset: int) -> int:
        if self.top.indent == _PAIR:
            self._end_pair()
        if not isinstance(self.top.container, _CLOSING[self.text[offset]]):
            self.fail(offset, f'"{self.text[offset]}" closes another bracket than the last one')
        self.leave()
        return offset + 1

    def _end_pair(self) -> None:
        """Closes a pair that stands in a list without brackets of its own."""
        self.leave()
        self.top.full = True

    def _flow_comma(self, offset: int) -> int:
        if self.top.indent == _PAIR:
            self._end_pair()
        top = self.top
        if not top.full and not top.awaiting:
            self.fail(offset, "nothing stands before this comma")
        if top.awaiting:
            self.add(None, offset)
        top.full = top.colon = False
        top.last = None
        return offset + 1

    def _flow_pair(self, offset: int) -> int:
        """Makes the last scalar of a list the key of a pair, if this is a colon."""
        top = self.top
        key = top.last
        if key is None or not isinstance(top.container, list) or not self._is_colon(offset, key):
            self.fail(offset, "a comma is missing before this")
        top.container.pop()
        start = top.start
        self.enter({}, _PAIR, start)
        self.name_key(key, start)
        self.top.colon = True
        return offset + 1

    def _is_colon(self, offset: int, key: Scalar) -> bool:
        """Whether a colon ends this key; right after quotes anything may follow it."""
        adjacent = key.quoted and key.end == offset and self.text[offset] == ":"
        return adjacent or bool(_COLON.match(self.text, offset))

    def _flow_colon(self, offset: int) -> int:
        top = self.top
        if top.last is None or not self._is_colon(offset, top.last):
            self.fail(offset, "a colon is missing before this")
        top.colon = True
        return offset + 1

    def _flow_key(self, offset: int, parent: int) -> int:
        if _QUESTION.match(self.text, offset):
            return offset + 1
        char = self.text[offset]
        if char in "[{&*!":
            self.fail(offset, "this is no key; write a text, without a tag, an anchor or an alias")
        if _COLON.match(self.text, offset):
            scalar = Scalar("", quoted=False, end=offset)
        else:
            scalar = self.quoted(offset) if char in "\"'" else self.plain(offset, parent, flow=True)
        self.name_key(scalar, offset)
        self.top.last = scalar
        return scalar.end

    def _flow_value(self, offset: int, parent: int) -> int:
        char, top = self.text[offset], self.top
        if char in "[{":
            return self._flow_enter(offset)
        if char == "&" and not top.anchor and (name := _NAME.match(self.text, offset)):
            top.anchor = name.group(1)
            return name.end()
        if char == "*" and not top.anchor and (name := _NAME.match(self.text, offset)):
            self.add(self.alias(name.group(1), offset), offset)
            end = name.end()
        else:
            scalar = self.quoted(offset) if char in "\"'" else self.plain(offset, parent, flow=True)
            self.add(scalar.text if scalar.quoted else resolve(scalar.text), offset)
            top.last, top.start, end = scalar, offset, scalar.end
        top.full = True
        return end
