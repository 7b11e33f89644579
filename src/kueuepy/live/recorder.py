"""The recorder: watches of all kinds that influence decisions, written to one file."""

from __future__ import annotations

import queue
import random
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kueuepy.apiserver import RESOURCES, ClusterReader, Connection
from kueuepy.apiserver.connection import FORBIDDEN, GONE
from kueuepy.errors import ApiError, StateError
from kueuepy.errors.arguments import checked
from kueuepy.history import Anonymiser, RecordingWriter
from kueuepy.journal.lock import Lock, resolved
from kueuepy.objects import SECOND
from kueuepy.objects.times import Duration, duration_ns

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from kueuepy.apiserver import Resource

_KINDS = tuple(resource for resource in RESOURCES if resource.kind != "Pod")
"""The recorded kinds. Pods that Kueue does not manage are not recorded."""
_WATCH = 280
"""The time in seconds after which the server shall end a watch, which then continues where it ended."""
_BATCH = 0.2
"""The longest time in seconds between the receipt of an event and its commit."""
_LONGEST_WAIT = 30.0
_BUFFER = 20_000
_PRUNE_EVERY = 3600 * SECOND
_CONFIGURATION_EVERY = 600 * SECOND


class _Message(NamedTuple):
    """What a watch hands over to the writer.

    Attributes:
        what: `event`, `deleted`, `bookmark`, `list` or `error`.
        kind: The kind of the objects.
        value: The object, the objects of a list, or the error.
        revision: The resourceVersion of a list or bookmark; 0 otherwise.
        time: The time of receipt, in nanoseconds since the Unix epoch.
    """

    what: str
    kind: str
    value: Any
    revision: int
    time: int


class Recorder:
    """A recorder of one cluster.

    One thread per kind watches the cluster. If a watch ends, it continues at the last recorded version; if that version
    has expired, the kind is listed again. The calling thread writes: events are durable 0.2 s after their receipt.

    Attributes:
        written: The number of events that have been written.
    """

    def __init__(self, reader: ClusterReader, writer: RecordingWriter, *, keep: int | None = None) -> None:
        """Create a recorder; nothing is read yet.

        Args:
            reader: The cluster.
            writer: The recording.
            keep: The time to keep records, in nanoseconds; `None` keeps all records.
        """
        self._reader = reader
        self._writer = writer
        self._keep = keep
        self._messages: queue.Queue[_Message] = queue.Queue(_BUFFER)
        self._received = dict(writer.revisions)
        self._stop = threading.Event()
        self.written = 0
        self._next_prune = self._next_configuration = 0

    def stop(self) -> None:
        """End `run` after the next commit. Can be called from another thread or a signal handler."""
        self._stop.set()

    def run(self, seconds: float | None = None, on_commit: Callable[[int], None] | None = None) -> None:
        """Record until `stop` is called.

        Args:
            seconds: The time after which to stop. Default: never.
            on_commit: A function that is called with the number of written events after each commit.

        Raises:
            ApiError: A kind that is not optional cannot be listed or watched.
        """
        end = None if seconds is None else time.monotonic() + seconds
        for resource in _KINDS:
            if self._reader.path_of(resource):
                threading.Thread(target=self._follow, args=(resource,), daemon=True).start()
        try:
            while not self._stop.is_set() and (end is None or time.monotonic() < end):
                self._write_batch()
                if on_commit is not None:
                    on_commit(self.written)
        finally:
            self._stop.set()
            self._writer.commit()

    def _write_batch(self) -> None:
        """Write the events of at most 0.2 seconds in one transaction."""
        now = time.time_ns()
        if now >= self._next_configuration:
            self._next_configuration = now + _CONFIGURATION_EVERY
            self._record_configuration(now)
        if self._keep is not None and now >= self._next_prune:
            self._next_prune = now + _PRUNE_EVERY
            self._writer.prune(now - self._keep)
        end = time.monotonic() + _BATCH
        while (left := end - time.monotonic()) > 0 and not self._stop.is_set():
            with suppress(queue.Empty):
                self._write(self._messages.get(timeout=left))
        self._writer.commit()

    def _write(self, message: _Message) -> None:
        if message.what == "error":
            raise message.value
        if message.what == "list":
            self._writer.listed(message.kind, message.value, message.revision, message.time)
            self.written += len(message.value)
        elif message.what == "bookmark":
            self._writer.bookmark(message.kind, message.revision, message.time)
        else:
            self._writer.event(message.kind, message.what == "deleted", message.value, message.time)
            self.written += 1

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

    def _put(self, message: _Message) -> None:
        """Hand a message over to the writer, and wait while it is busy."""
        while not self._stop.is_set():
            with suppress(queue.Full):
                self._messages.put(message, timeout=1)
                return

    def _follow(self, resource: Resource) -> None:
        """Watch one kind until the recorder stops."""
        path = self._reader.path_of(resource)
        failures = 0
        while not self._stop.is_set():
            try:
                if resource.kind not in self._received:
                    self._list(resource, path)
                self._watch(resource, path)
                failures = 0
            except ApiError as error:  # noqa: PERF203 - of one request
                if error.status == GONE:
                    self._received.pop(resource.kind, None)
                    continue
                if error.status == FORBIDDEN:
                    self._refused(resource, error)
                    return
                failures += 1
                self._stop.wait(min(_LONGEST_WAIT, 0.1 * 2**failures) * random.uniform(0.5, 1))  # noqa: S311
            except Exception as error:  # noqa: BLE001 - the writer raises it
                self._put(_Message("error", resource.kind, error, 0, 0))
                return

    def _refused(self, resource: Resource, error: ApiError) -> None:
        if not resource.is_optional:
            hint = "`kueuepy rbac` prints the permissions that recording needs"
            refusal = ApiError.of(f"{error}; {hint}", FORBIDDEN)
            self._put(_Message("error", resource.kind, refusal, 0, 0))

    def _list(self, resource: Resource, path: str) -> None:
        """Record a list of one kind."""
        objects: list[dict[str, Any]] = []
        version = "0"
        for page in self._reader.connection.pages(path, resource.selector):
            version = page.version
            objects += page.objects
        self._put(_Message("list", resource.kind, objects, int(version), time.time_ns()))
        self._received[resource.kind] = int(version)

    def _watch(self, resource: Resource, path: str) -> None:
        """Record the events after the last received version.

        Raises:
            ApiError: The version has expired (status 410), or the watch fails.
        """
        connection, revision = self._reader.connection, self._received[resource.kind]
        for line in connection.watch(path, _WATCH, resourceVersion=revision, fieldSelector=resource.selector):
            event = msgspec.json.decode(line, type=dict[str, Any])
            obj = event.get("object") or {}
            what = event.get("type")
            if what == "ERROR":
                status = int(obj.get("code") or 0)
                raise ApiError.of(f"{connection.name}: watch of {resource.full_name}: {obj.get('message')}", status)
            revision = int(obj["metadata"]["resourceVersion"])
            now = time.time_ns()
            if what == "BOOKMARK":
                self._put(_Message("bookmark", resource.kind, None, revision, now))
            else:
                self._put(_Message("deleted" if what == "DELETED" else "event", resource.kind, obj, 0, now))
            self._received[resource.kind] = revision


class _Right:
    """The exclusive right to write a recording."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Acquire the right.

        Raises:
            StateError: Another recorder writes the file.
        """
        file = resolved(path)
        try:
            self._lock = Lock(Path(file))
        except StateError:
            raise StateError(f"{path}: another recorder writes it; only one may") from None

    def release(self) -> None:
        """Give the right back."""
        self._lock.release(remove=True)


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
    """Record what happens in a cluster. Needs the extra `live`.

    The file can be read while it is written. A later call continues it. Only GET requests are sent.

    Args:
        context: The kubeconfig context; `None` for the current one, `in` for the cluster in which the process runs.
        path: The file, whose name ends with `.db`.
        keep: The time to keep Workloads after their deletion, and replaced versions of objects. Default: forever.
        anonymise: A file with the key for hashes that replace names. If there is no such file, it is created with a
            random key. Default: names are recorded as they are.
        users: The label of a Workload that names its user. Default: none.
        seconds: The time after which to stop. Default: record until the process is interrupted.
        on_start: A function that is called with the Recorder before it runs.

    Returns:
        The number of written events.

    Raises:
        StateError: Another recorder writes the file.
        ApiError: The cluster cannot be reached, or refuses a request.
        InvalidSpecError: The file is not a recording, or was begun with another key.
    """
    right = _Right(path)
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
        right.release()
    return recorder.written
