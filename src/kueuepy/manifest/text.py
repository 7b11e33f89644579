"""A part of a file, with the places of its bytes."""

from typing import NoReturn

from kueuepy.manifest.problems import ManifestError, Problem, ProblemKind


class Text:
    """Bytes of one or several YAML documents or list items, and the place of their first byte.

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

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte, from 1."""
        start = self.data.rfind(b"\n", 0, offset) + 1
        return self.line + self.data.count(b"\n", 0, offset), offset - start + 1

    def fail(self, offset: int, detail: str) -> NoReturn:
        """Raises the error of a file that is not YAML."""
        self.fail_at(self.position(offset), detail)

    def fail_at(self, place: tuple[int, int], detail: str, kind: ProblemKind = "Syntax") -> NoReturn:
        """The same, at a line and column."""
        raise ManifestError([(f"{self.name}:{place[0]}:{place[1]}", Problem((), kind, detail))])
