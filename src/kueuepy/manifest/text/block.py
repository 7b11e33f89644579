"""YAML text into Python values, scalar by scalar, as Kubernetes reads it; and from a field back to its line.

What manifests don't need is refused: tags, collections as keys, anchors on keys.
"""

import re
from functools import lru_cache
from typing import Any

from kueuepy.errors.problems import Path
from kueuepy.manifest.text.flow import Flow
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.scalars import resolve
from kueuepy.manifest.text.scanner import PLAIN_KEY, QUOTED_KEY, Scalar
from kueuepy.manifest.text.text import Text

_BLANK = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*(?: *)")
_LINE_END = re.compile(r"[ \t]*(?:\n|\Z)|[ \t]+#[^\n]*(?:\n|\Z)")
_BLANKS = re.compile(r"[ \t]*")
_DASH = re.compile(r"-(?=\s|\Z)")
_SIGN = re.compile(r"[?:](?=\s|\Z)")
_NO_LIMITS = Limits(depth=2**31, alias_nodes=2**31, alias_ratio=2**31, scalar_bytes=2**31)
_NAME = re.compile(r"[&*]([A-Za-z0-9_-]+)(?=[\s,\[\]{}]|\Z)")


def parse(text: Text, limits: Limits, *, strict: bool) -> Any:
    """The value of a document; `None` if there is nothing in it.

    Raises:
        ManifestError: The text is not YAML, or two keys are equal, or an alias stands for nothing.
        LimitError: The nesting, a scalar or the aliases exceed their limit.
    """
    (value,) = _Block(text, limits, strict=strict).document()
    return value


def locate(text: Text, path: Path) -> int:
    """The line of a field, or of the innermost part of its path that is written.

    Raises:
        ManifestError: The text is not YAML.
    """
    return _located(text).line_of(path)


class _Block(Flow):
    """A text of lines whose indentation says what belongs to what."""

    def document(self) -> list[Any]:
        """The one value of the text, in a list."""
        offset = self._next(0)
        while offset < len(self.text):
            offset = self._next(self._line(offset, self._column(offset)))
        while self.open:
            if len(self.open) == 1:
                self.merge(set())
                if self.top.awaiting:
                    self.add(None, 0)
                break
            self.leave()
        container = self.open[0].container
        return container if isinstance(container, list) else []

    def line_of(self, path: Path) -> int:
        """The line of a field, after the document was read."""
        return self.position(self.find(path))[0]

    def _next(self, offset: int) -> int:
        """The next character that is neither blank nor comment, from the start of a line."""
        found = _BLANK.match(self.text, offset)
        offset = found.end() if found else offset
        if self.text[offset : offset + 1] == "#":
            return len(self.text)
        if self.text[offset : offset + 1] == "\t":
            if self._skip_blanks(offset) == len(self.text):
                return len(self.text)
            self.fail(offset, "a tab indents this line; use blanks")
        return offset

    def _column(self, offset: int) -> int:
        return offset - self.text.rfind("\n", 0, offset) - 1

    def _line(self, offset: int, column: int) -> int:
        """Reads what starts in this column of a new line; where the next line starts."""
        while self.top.indent > column:
            self.leave()
        top = self.top
        dash = _DASH.match(self.text, offset)
        if top.indent == column and isinstance(top.container, list) and not dash:
            # A list may stand at the margin of its key; the next key ends it.
            self.leave()
            top = self.top
        if top.indent != column:
            if not top.awaiting or top.explicit:
                self.fail(offset, "this line belongs to nothing; check its indentation")
            return self._node(offset, column)
        if isinstance(top.container, list):
            return self._item(offset)
        if dash:
            if not top.awaiting or top.explicit:
                self.fail(offset, "a list item cannot stand here; check the indentation")
            self.enter([], column, offset)
            return self._item(offset)
        return self._pair(offset)

    def _node(self, offset: int, column: int) -> int:
        """Reads the value that comes next, which may be a collection of lines."""
        if self.text[offset] == "&":
            offset = self._anchor(offset)
            if end := _LINE_END.match(self.text, offset):
                return end.end()
            if _DASH.match(self.text, offset) or self._is_key(offset):
                self.fail(offset, "an anchor stands before a key or a dash; write it at the end of the line before")
        elif _DASH.match(self.text, offset):
            self.enter([], column, offset)
            return self._item(offset)
        elif self._is_key(offset):
            self.enter({}, column, offset)
            return self._pair(offset)
        return self._inline(offset)

    def _is_key(self, offset: int) -> bool:
        pattern = QUOTED_KEY if self.text[offset] in "\"'" else PLAIN_KEY
        return bool(_SIGN.match(self.text, offset) or pattern.match(self.text, offset))

    def _item(self, offset: int) -> int:
        """Reads a dash, or several, and what follows in the line."""
        while True:
            top = self.top
            if top.awaiting:
                self.add(None, offset)
            top.awaiting, top.start = True, offset
            if end := _LINE_END.match(self.text, offset + 1):
                return end.end()
            offset = self._skip_blanks(offset + 1)
            if not _DASH.match(self.text, offset):
                return self._node(offset, self._column(offset))
            self.enter([], self._column(offset), offset)

    def _skip_blanks(self, offset: int) -> int:
        found = _BLANKS.match(self.text, offset)
        return found.end() if found else offset

    def _pair(self, offset: int) -> int:
        """Reads a key and what follows in its line."""
        top = self.top
        if sign := _SIGN.match(self.text, offset):
            return self._explicit(offset, sign.group())
        if top.explicit:
            self.add(None, offset)
        scalar, end = self._key(offset)
        self.name_key(scalar, offset)
        top.start = offset
        if line := _LINE_END.match(self.text, end):
            return line.end()
        start = self._skip_blanks(end)
        if self.text[start] == "&":
            start = self._anchor(start)
            if line := _LINE_END.match(self.text, start):
                return line.end()
        if _DASH.match(self.text, start):
            self.fail(start, "a list item follows a key in its line; start a new line")
        if self._is_key(start):
            self.fail(start, "another key follows a key in its line; start a new line, or put the text in quotes")
        return self._inline(start)

    def _key(self, offset: int) -> tuple[Scalar, int]:
        """The key that ends with a colon in this line, and where that colon ends."""
        char = self.text[offset]
        if char in "\"'" and (found := QUOTED_KEY.match(self.text, offset)):
            return self.quoted(offset), found.end()
        if char not in "\"'" and (found := PLAIN_KEY.match(self.text, offset)):
            text = found.group(1).rstrip(" \t")
            return self.checked(Scalar(text, quoted=False, end=offset + len(text)), offset), found.end()
        return self.fail(offset, "a key with a colon must stand here; aliases, tags and brackets make none")

    def _explicit(self, offset: int, sign: str) -> int:
        """Reads a question mark with a key, or the colon of that key with its value."""
        top = self.top
        if sign == ":":
            if not top.explicit:
                self.fail(offset, "null is no key; put it in quotes if it is meant as text")
            top.explicit = False
            if end := _LINE_END.match(self.text, offset + 1):
                return end.end()
            offset = self._skip_blanks(offset + 1)
            return self._node(offset, self._column(offset))
        if top.explicit:
            self.add(None, offset)
        start = self._skip_blanks(offset + 1)
        if start >= len(self.text) or self.text[start] in "\n[{&*|>!":
            self.fail(offset, "a text must follow the question mark in its line; nothing else makes a key")
        scalar = self._scalar(start, top.indent)
        end = _LINE_END.match(self.text, scalar.end)
        if not end:
            self.fail(scalar.end, "nothing may follow the key in this line; its value follows a colon in the next one")
        self.name_key(scalar, start)
        top.explicit = True
        return end.end()

    def _anchor(self, offset: int) -> int:
        """Reads an anchor and the blanks behind it."""
        found = _NAME.match(self.text, offset)
        if not found or self.top.anchor:
            self.fail(offset, "an anchor is & and one name")
        self.top.anchor = found.group(1)
        return self._skip_blanks(found.end())

    def _scalar(self, offset: int, parent: int) -> Scalar:
        return self.quoted(offset) if self.text[offset] in "\"'" else self.plain(offset, parent, flow=False)

    def _inline(self, offset: int) -> int:
        """Reads a scalar, an alias or a collection in brackets as the value that comes next, up to the line's end."""
        char, parent = self.text[offset], self.top.indent
        if char in "|>":
            scalar = self.block(offset, parent)
            self.add(scalar.text, offset)
            return scalar.end
        if char in "[{":
            end = self.flow(offset, parent)
        elif char == "*" and not self.top.anchor and (found := _NAME.match(self.text, offset)):
            self.add(self.alias(found.group(1), offset), offset)
            end = found.end()
        else:
            scalar = self._scalar(offset, parent)
            self.add(scalar.text if scalar.quoted else resolve(scalar.text), offset)
            end = scalar.end
        line = _LINE_END.match(self.text, end)
        if not line:
            self.fail(end, "nothing may follow a value in its line, but a comment after a blank")
        return line.end()


@lru_cache(maxsize=2)
def _located(text: Text) -> _Block:
    """The text in which lines were looked up last."""
    block = _Block(text, _NO_LIMITS, strict=False, marking=True)
    block.document()
    return block
