"""The recorder: watches of all kinds that influence decisions, written to one file."""

import os
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from kueuepy.errors import ApiError, StateError, checked
from kueuepy.jobs.numbers import unsigned
from kueuepy.objects import SECOND, Duration, duration_ns
from kueuepy.platform.apiserver import RESOURCES, ClusterReader, Connection, Resource
from kueuepy.platform.apiserver.connection import FORBIDDEN, GONE
from kueuepy.platform.apiserver.resources import OF_TOPOLOGY
from kueuepy.platform.history import Anonymiser, RecordingWriter
from kueuepy.platform.journal.lock import Lock, resolved

# The time in seconds after which the server should end a watch; a new watch then continues from the same version.
_WATCH = 280
# Half a minute: 17 kinds do not flood an API server that refuses requests.
_LONGEST_WAIT = 30.0
# After a restart, the API server has no old versions, so that changes before the next list are lost.
_LONGEST_WAIT_FOR_CONNECTION = 1.0
# When the buffer is full, the watches wait, and the API server keeps the events instead.
_BUFFER = 20_000


class Message(NamedTuple):
    """A message from a watch.

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


class Watches:
    """Watches of a cluster.

    One thread per kind watches the cluster. If a watch ends, it continues at the last received resourceVersion; if that
    version has expired, the kind is listed again. Nodes and Pods are watched only if a ResourceFlavor has a topology
    when the watches start.

    Attributes:
        reader: The cluster.
        kinds: The kinds that are watched.
        stopped: An event that stops all threads when it is set.
    """

    def __init__(self, reader: ClusterReader, received: dict[str, int] | None = None) -> None:
        """Create the watches without reading anything yet.

        Args:
            reader: The cluster.
            received: The resourceVersion up to which each kind is known; missing kinds are listed first.
        """
        self.reader = reader
        self.kinds: tuple[str, ...] = ()
        self.stopped = threading.Event()
        # A bound: a slow consumer must slow down the watches, not fill the memory.
        self._messages: queue.Queue[Message] = queue.Queue(_BUFFER)
        self._received = dict(received or {})

    def start(self) -> None:
        """Start the threads."""
        resources = [resource for resource in self._kinds() if self.reader.path_of(resource)]
        self.kinds = tuple(resource.kind for resource in resources)
        for resource in resources:
            # Daemon threads: a watch that waits for the server must not keep the process alive.
            threading.Thread(target=self._follow, args=(resource,), daemon=True).start()

    def rounds(self, seconds: float | None) -> Iterator[None]:
        """Yield repeatedly until `stopped` is set.

        Args:
            seconds: The time after which to stop; `None` for no limit.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while not self.stopped.is_set() and (end is None or time.monotonic() < end):
            yield

    def messages(self, seconds: float) -> Iterator[Message]:
        """Yield the messages that arrive in the next seconds.

        Raises:
            ApiError: A kind that is not optional cannot be listed or watched.
        """
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self.stopped.is_set():
            with suppress(queue.Empty):
                message = self._messages.get(timeout=left)
                if message.what == "error":
                    raise message.value
                yield message

    def _kinds(self) -> list[Resource]:
        """Return the kinds to record: Nodes and Pods only if a ResourceFlavor has a topology at the start."""
        flavors = next(resource for resource in RESOURCES if resource.kind == "ResourceFlavor")
        specs = [obj.get("spec") or {} for obj in self.reader.objects(flavors)]
        has_topology = any(spec.get("topologyName") for spec in specs)
        return [resource for resource in RESOURCES if has_topology or resource.kind not in OF_TOPOLOGY]

    def _put(self, message: Message) -> None:
        """Put a message into the queue of messages, and wait while the queue is full."""
        while not self.stopped.is_set():
            with suppress(queue.Full):
                self._messages.put(message, timeout=1)
                return

    def _follow(self, resource: Resource) -> None:
        """Watch one kind until the watches stop."""
        path = self.reader.path_of(resource)
        failures = 0
        while not self.stopped.is_set():
            try:
                if resource.kind not in self._received:
                    self._list(resource, path)
                self._watch(resource, path)
                failures = 0
            except ApiError as error:  # noqa: PERF203 - of one request
                # The version has expired: list the kind again.
                if error.status == GONE:
                    self._received.pop(resource.kind, None)
                    continue
                if error.status == FORBIDDEN:
                    self._refused(resource, error)
                    return
                failures += 1
                longest = _LONGEST_WAIT if error.status else _LONGEST_WAIT_FOR_CONNECTION
                # Random waits, so that the watches of all kinds do not return at the same time.
                self.stopped.wait(min(longest, 0.1 * 2**failures) * random.uniform(0.5, 1))  # noqa: S311
            except Exception as error:  # noqa: BLE001 - `messages` raises it
                self._put(Message("error", resource.kind, error, 0, 0))
                return

    def _refused(self, resource: Resource, error: ApiError) -> None:
        if not resource.is_optional:
            hint = "`kueuepy import --rbac` prints the permissions that a watch needs"
            refusal = ApiError.of(f"{error}; {hint}", FORBIDDEN)
            self._put(Message("error", resource.kind, refusal, 0, 0))

    def _list(self, resource: Resource, path: str) -> None:
        """Report a list of one kind."""
        objects: list[dict[str, Any]] = []
        version = "0"
        for page in self.reader.connection.pages(path, resource.selector):
            version = page.version
            objects += page.objects
        self._put(Message("list", resource.kind, objects, int(version), time.time_ns()))
        self._received[resource.kind] = int(version)

    def _watch(self, resource: Resource, path: str) -> None:
        """Report the events after the last received version.

        Raises:
            ApiError: The version has expired (status 410), or the watch fails.
        """
        connection, revision = self.reader.connection, self._received[resource.kind]
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
                self._put(Message("bookmark", resource.kind, None, revision, now))
            else:
                self._put(Message("deleted" if what == "DELETED" else "event", resource.kind, obj, 0, now))
            self._received[resource.kind] = revision


# The longest time in seconds between the receipt of an event and its commit.
_BATCH = 0.2
# Deleting old rows locks the file, so that it is not done with each batch.
_PRUNE_EVERY = 3600 * SECOND
# No watch covers the ConfigMap and the Deployment of Kueue's manager; they change rarely.
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
        if found is not None and unsigned(str((found.get("metadata") or {}).get("resourceVersion", ""))) is not None:
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
        try:
            recorder = Recorder(reader, writer, keep=None if keep is None else duration_ns(keep))
            if on_start is not None:
                on_start(recorder)
            recorder.run(seconds)
        finally:
            writer.close()
    finally:
        lock.release(remove=True)
    return recorder.written
