"""A part of a file, with the places of its bytes, made safe to parse."""

from functools import cached_property
from typing import NoReturn

from kueuepy.manifest.problems import ManifestError, Problem

_MARKS = range(1, 7)
_ESCAPES = (b"\\x%02x", b"\\u%04x", b"\\u%08x")


class Text:
    """Bytes of one or several YAML documents or list items, and the place of their first byte.

    No text has control characters, so one of them can stand for exclamation marks: these could begin a tag, and some
    tags make rapidyaml end the process. No manifest needs tags.

    Attributes:
        name: The file's name.
        data: The bytes.
        line: The line of the first byte, from 1.
    """

    def __init__(self, name: str, data: bytes, line: int = 1) -> None:
        """Keeps the three."""
        self.name = name
        self.data = data
        self.line = line

    @cached_property
    def mark(self) -> str:
        """What stands for exclamation marks: a character that no escape in the text makes; empty if there are none."""
        if b"!" not in self.data:
            return ""
        lower = self.data.lower()
        for code in _MARKS:
            if not any(escape % code in lower for escape in _ESCAPES):
                return chr(code)
        return self.fail(0, "escapes of control characters stand beside exclamation marks; write one or the other")

    @property
    def safe(self) -> bytes:
        """The bytes without exclamation marks."""
        return self.data.replace(b"!", self.mark.encode()) if self.mark else self.data

    def restored(self, text: str) -> str:
        """What was written where the safe bytes have this text."""
        return text.replace(self.mark, "!") if self.mark else text

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte, from 1."""
        start = self.data.rfind(b"\n", 0, offset) + 1
        return self.line + self.data.count(b"\n", 0, offset), offset - start + 1

    def fail(self, offset: int, detail: str) -> NoReturn:
        """Raises the error of a file that is not YAML."""
        line, column = self.position(offset)
        raise ManifestError([(f"{self.name}:{line}:{column}", Problem((), "Syntax", detail))])
