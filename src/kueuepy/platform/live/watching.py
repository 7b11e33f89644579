"""Watches of all kinds of objects that influence decisions, each in a separate thread."""

from __future__ import annotations

import queue
import random
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kueuepy.errors import ApiError
from kueuepy.platform.apiserver import RESOURCES
from kueuepy.platform.apiserver.connection import FORBIDDEN, GONE
from kueuepy.platform.apiserver.resources import OF_TOPOLOGY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.platform.apiserver import ClusterReader, Resource

# The time in seconds after which the server should end a watch; a new watch then continues from the same version.
_WATCH = 280
_LONGEST_WAIT = 30.0
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
                # Random waits, so that the watches of all kinds do not return at the same time.
                self.stopped.wait(min(_LONGEST_WAIT, 0.1 * 2**failures) * random.uniform(0.5, 1))  # noqa: S311
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
