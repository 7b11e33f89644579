"""Sources of objects that are not files: running clusters and recordings, with the functions that open them.

`kueuepy/_home.py` registers the readers of `kueuepy.platform` in this module, so that manifests and jobs can be read
without importing `kueuepy.platform`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes longer than the rest of `import kueuepy`, which imports this module
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    class RecordedJobs(Protocol):
        """All Workloads of a recording."""

        @property
        def end(self) -> int:
            """The time of the last record, in nanoseconds since the Unix epoch."""

        def workloads(self) -> Iterator[tuple[dict[str, Any], int | None, str]]:
            """Iterate over Workloads, each with the time of its deletion and its user."""


class LiveSource:
    """A source of objects other than a file: a running cluster, or a recording of one.

    Attributes:
        name: The source as the user wrote it, such as `cluster:prod`.
        release: The release of Kueue, such as `v0.18`; an empty string if it is unknown.
        notes: Notes on the objects that could not be read, and on the defaults that are used instead.
        stamp: The resourceVersion of the list of each kind that has been read.
        time: The time of reading or, for a recording, of the state, in nanoseconds since the Unix epoch.
        is_validated: Whether the objects come directly from an API server, which validated them when they were written.
    """

    name: str
    release: str
    notes: list[str]
    stamp: dict[str, str]
    time: int
    is_validated: bool = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the objects."""
        raise NotImplementedError


class Readers:
    """The functions that open sources.

    Attributes:
        cluster: Function that opens the running cluster of a kubeconfig context.
        state: Function that opens the state of a recording at its end (`FILE.db`) or at a given time (`FILE.db@TIME`).
        recording: Function that opens a recording with its full history.
    """

    def __init__(
        self,
        cluster: Callable[[str], LiveSource],
        state: Callable[[str], LiveSource],
        recording: Callable[[str | os.PathLike[str]], RecordedJobs],
    ) -> None:
        """Store the functions."""
        self.cluster, self.state, self.recording = cluster, state, recording


_readers: list[Readers] = []


def read_by(readers: Readers) -> None:
    """Set the functions that open sources."""
    _readers[:] = [readers]


def readers() -> Readers:
    """Return the functions that open sources."""
    (found,) = _readers
    return found
