"""A byte range of a file, with positions in the file, and the limits of time and memory for reading it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import msgspec

from kueuepy.errors import ManifestError, Path, Problem, ProblemKind


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on the size of a manifest. Exceeding a limit raises a `LimitError`.

    >>> Limits(depth=20).depth
    20

    Attributes:
        document_bytes: Maximum number of bytes in one file or string.
        depth: Maximum depth of nested mappings and lists.
        nodes: Maximum number of keys, values and list items in a document. Before parsing, the number of nodes is
            estimated by counting the characters that can start a node.
        alias_nodes: Maximum number of nodes to which the YAML aliases in a document expand.
        alias_ratio: Maximum number of nodes to which YAML aliases expand, per node in the text. An expansion to 1,000
            nodes is always allowed.
        scalar_bytes: Maximum number of bytes in one key or value.
    """

    document_bytes: int = 256 * 2**20
    depth: int = 512
    nodes: int = 50_000_000
    alias_nodes: int = 1_000_000
    alias_ratio: int = 10
    scalar_bytes: int = 2**20


SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which UTF-8 cannot represent."""


# The start of a directive in a template of Helm (`{{ if … }}`) or of Terraform (`%{ if … }`).
_DIRECTIVE = re.compile(rb"\{\{|%\{")


class Text(msgspec.Struct, eq=False):
    """The bytes of YAML documents or list items, with their position in the file.

    Attributes:
        name: Name of the file.
        whole: The bytes of the file.
        start: Offset of the first byte.
        stop: Offset after the last byte; by default, the end of the file.
        line: Line of the first byte, starting at 1.
    """

    name: str
    whole: bytes
    line: int = 1
    start: int = 0
    stop: int = -1

    def __post_init__(self) -> None:
        """Set the end of a text that is the whole file."""
        if self.stop < 0:
            self.stop = len(self.whole)

    @property
    def data(self) -> bytes:
        """The bytes of this text. The bytes are copied unless the text is the whole file."""
        return self.whole[self.start : self.stop]

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.stop - self.start

    def part(self, start: int, stop: int, line: int) -> "Text":
        """Return the text between two offsets in the file."""
        return Text(self.name, self.whole, line, start, stop)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of a byte, both starting at 1."""
        data = self.data
        start = data.rfind(b"\n", 0, offset) + 1
        return self.line + data.count(b"\n", 0, offset), offset - start + 1

    def fail(self, offset: int, detail: str) -> NoReturn:
        """Raise a syntax error at an offset."""
        self.fail_at(self.position(offset), detail)

    def fail_at(self, location: tuple[int, int], detail: str, kind: ProblemKind = "Syntax") -> NoReturn:
        """Raise an error at a line and column."""
        if kind == "Syntax" and (found := _DIRECTIVE.search(self.data)):
            how, directive = "helm template" if found[0] == b"{{" else "terraform", found[0].decode()
            detail = f"the file is a template with {directive}, so render it with {how} first; {detail}"
        raise ManifestError([(f"{self.name}:{location[0]}:{location[1]}", Problem((), kind, detail))])


def unpaired_surrogate(value: Any) -> Path | None:
    """Return the path of the first string that UTF-8 cannot represent; `None` if there is no such string."""
    if isinstance(value, str):
        return None if value.isascii() or not SURROGATE.search(value) else ()
    parts: Iterable[tuple[Any, Any]]
    if isinstance(value, Mapping):
        if any(unpaired_surrogate(key) is not None for key in value if isinstance(key, str)):
            return ()
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    else:
        return None
    for step, part in parts:
        if (path := unpaired_surrogate(part)) is not None:
            return (step, *path)
    return None
