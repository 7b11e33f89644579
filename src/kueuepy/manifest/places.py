"""Add the file and line to errors about objects that were read from files."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kueuepy.errors import KueueError, Path
from kueuepy.manifest.text.reading import Item


class ReadJob(dict[str, Any]):
    """The manifest of a job that was read from a file, with its position.

    Attributes:
        origin: The position.
    """

    __slots__ = ("origin",)

    def __init__(self, manifest: dict[str, Any], origin: Item) -> None:
        """Copy the manifest of a job, and store the position of the job."""
        super().__init__(manifest)
        self.origin = origin

    def where(self, path: Path = ()) -> str:
        """Return the file and line of the job, or of one of its fields."""
        return self.origin.where(path)


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Add a file and line to each line of an error that is raised in a `with` block."""
    try:
        yield
    except KueueError as error:
        error.locate(where)
        raise
