"""A part of a file, with the places of its bytes."""

from typing import NoReturn

from kueuepy.errors.problems import ManifestError, Problem, ProblemKind


class Text:
    """Bytes of one or several YAML documents or list items, and the place of their first byte.

    Attributes:
        name: The file's name.
        whole: The bytes that it is a part of.
        start: Where it starts in them.
        stop: Where it ends.
        line: The line of the first byte, from 1.
    """

    __slots__ = ("line", "name", "start", "stop", "whole")

    def __init__(self, name: str, whole: bytes, line: int = 1, start: int = 0, stop: int | None = None) -> None:
        """Keeps them; without start and stop it is all of the bytes."""
        self.name = name
        self.whole = whole
        self.line = line
        self.start = start
        self.stop = len(whole) if stop is None else stop

    @property
    def data(self) -> bytes:
        """Its bytes; a copy, if it is a part of others."""
        return self.whole[self.start : self.stop]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.stop - self.start

    def part(self, start: int, stop: int, line: int) -> "Text":
        """The part between two places of the bytes that it is a part of itself."""
        return Text(self.name, self.whole, line, start, stop)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte, from 1."""
        data = self.data
        start = data.rfind(b"\n", 0, offset) + 1
        return self.line + data.count(b"\n", 0, offset), offset - start + 1

    def fail(self, offset: int, detail: str) -> NoReturn:
        """Raises the error of a file that is not YAML."""
        self.fail_at(self.position(offset), detail)

    def fail_at(self, place: tuple[int, int], detail: str, kind: ProblemKind = "Syntax") -> NoReturn:
        """The same, at a line and column."""
        raise ManifestError([(f"{self.name}:{place[0]}:{place[1]}", Problem((), kind, detail))])
