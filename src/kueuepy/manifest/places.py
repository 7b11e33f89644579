"""Add the file and line to errors about objects that were read from files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kueuepy.errors import KueueError
from kueuepy.errors.problems import ManifestError, Path
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
def placed(location: Callable[[KueueError], KueueError | None]) -> Iterator[None]:
    """Add file and line to errors that are raised in a `with` block.

    Args:
        location: Function that returns the error with the position added, or `None` if the error is not about an object
            from a file.

    Raises:
        KueueError: The error that was raised in the block.
    """
    try:
        yield
    except KueueError as error:
        found = location(error)
        if found is None:
            raise
        raise found from None


def at_location(error: KueueError, location: str) -> KueueError:
    """Return an error with a position at the start of each line of its message."""
    if isinstance(error, ManifestError):
        return ManifestError([(f"{location}: {where}", problem) for where, problem in error.problems])
    return type(error)(f"{location}: {error}")
