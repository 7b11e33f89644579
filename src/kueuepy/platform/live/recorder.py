"""The recorder: watches of all kinds that influence decisions, written to one file."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from kueuepy.errors import ApiError, StateError
from kueuepy.errors.arguments import checked
from kueuepy.objects import SECOND
from kueuepy.objects.times import Duration, duration_ns
from kueuepy.platform.apiserver import ClusterReader, Connection
from kueuepy.platform.history import Anonymiser, RecordingWriter
from kueuepy.platform.journal.lock import Lock, resolved
from kueuepy.platform.live.watching import Watches

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from kueuepy.platform.live.watching import Message

# The longest time in seconds between the receipt of an event and its commit.
_BATCH = 0.2
_PRUNE_EVERY = 3600 * SECOND
_CONFIGURATION_EVERY = 600 * SECOND


class Recorder:
    """A recorder of one cluster.

    Threads of `Watches` receive the events. The calling thread writes the events, which are durable 0.2 s after their
    receipt.
    """

    def __init__(self, reader: ClusterReader, writer: RecordingWriter, *, keep: int | None = None) -> None:
        """Create a recorder without reading anything yet.

        Args:
            reader: The cluster.
            writer: The recording.
            keep: The time to keep records, in nanoseconds; `None` keeps all records.
        """
        self._reader = reader
        self._writer = writer
        self._keep = keep
        self._watches = Watches(reader, writer.revisions)
        self._next_prune = self._next_configuration = 0

    @property
    def written(self) -> int:
        """The number of events that have been written, which `Recording.events` returns."""
        return self._writer.stored

    def stop(self) -> None:
        """Make `run` return after the next commit. Another thread or a signal handler can call `stop`."""
        self._watches.stopped.set()

    def run(self, seconds: float | None = None, on_commit: Callable[[int], None] | None = None) -> None:
        """Record until `stop` is called.

        Args:
            seconds: The time after which to stop. Default: never.
            on_commit: A function that is called with the number of written events after each commit.

        Raises:
            ApiError: A kind that is not optional cannot be listed or watched.
        """
        self._watches.start()
        try:
            for _ in self._watches.rounds(seconds):
                self._write_batch()
                if on_commit is not None:
                    on_commit(self.written)
        finally:
            self.stop()
            self._writer.commit()

    def _write_batch(self) -> None:
        """Write the events received within 0.2 seconds in one transaction."""
        now = time.time_ns()
        if now >= self._next_configuration:
            self._next_configuration = now + _CONFIGURATION_EVERY
            self._record_configuration(now)
        if self._keep is not None and now >= self._next_prune:
            self._next_prune = now + _PRUNE_EVERY
            self._writer.prune(now - self._keep)
        for message in self._watches.messages(_BATCH):
            self._write(message)
        self._writer.commit()

    def _write(self, message: Message) -> None:
        if message.what == "list":
            self._writer.listed(message.kind, message.value, message.revision, message.time)
        elif message.what == "bookmark":
            self._writer.bookmark(message.kind, message.revision, message.time)
        else:
            self._writer.event(message.kind, message.what == "deleted", message.value, message.time)

    def _record_configuration(self, now: int) -> None:
        """Record the release of Kueue and the Configuration of its manager."""
        if self._next_prune or self.written:  # not at the start, when the reader has just read them
            with suppress(ApiError):
                self._reader = ClusterReader(self._reader.connection)
        if self._reader.release:
            self._writer.set_meta("release", self._reader.release)
        found = self._reader.configuration
        if found is not None and str((found.get("metadata") or {}).get("resourceVersion", "")).isdecimal():
            self._writer.event("ConfigMap", False, found, now)  # noqa: FBT003 - as a watch


@checked
def record(
    context: str | None,
    path: str | os.PathLike[str],
    *,
    keep: Duration | None = None,
    anonymise: str | os.PathLike[str] | None = None,
    users: str = "",
    seconds: float | None = None,
    on_start: Callable[[Recorder], None] | None = None,
) -> int:
    """Record the changes of the objects in a cluster. The function requires the extra `live`.

    The file can be read while it is being written. If the file is an earlier recording, the recording is continued.
    Only GET requests are sent.

    Args:
        context: The kubeconfig context; `None` for the current context, `in` for the cluster in which the process runs.
        path: The file, whose name ends with `.db`.
        keep: The time to keep Workloads after their deletion, and replaced versions of objects. Default: forever.
        anonymise: A file with the key for hashes that replace names. If the file does not exist, it is created with a
            random key. Default: names are recorded unchanged.
        users: The label of a Workload that names its user. Default: none.
        seconds: The time after which to stop. Default: record until the process is interrupted.
        on_start: A function that is called with the Recorder before it runs.

    Returns:
        The number of written events.

    Raises:
        StateError: Another recorder is writing to the file.
        ApiError: The cluster cannot be reached, or refuses a request.
        InvalidSpecError: The file is not a recording, or was started with a different key.
    """
    file = resolved(path)
    try:
        lock = Lock(file)
    except StateError:
        raise StateError(f"{path}: another recorder writes it; only one may") from None
    try:
        reader = ClusterReader(Connection.open(context or ""))
        key = None if anonymise is None else Anonymiser.of_file(anonymise)
        writer = RecordingWriter(path, source=reader.name, users=users, anonymiser=key)
        recorder = Recorder(reader, writer, keep=None if keep is None else duration_ns(keep))
        if on_start is not None:
            on_start(recorder)
        try:
            recorder.run(seconds)
        finally:
            writer.close()
    finally:
        lock.release(remove=True)
    return recorder.written
