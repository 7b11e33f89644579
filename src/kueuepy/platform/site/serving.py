"""Pages of Schedulers, clusters and recordings, as a file or served on the loopback interface while they change."""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.errors import KueueError, StateError
from kueuepy.errors.arguments import checked
from kueuepy.look.serving import Answer
from kueuepy.manifest.text.sources import is_recording, live_parts, opened
from kueuepy.objects import SECOND
from kueuepy.pages.document import Page
from kueuepy.pages.state import MOST_EXPLAINED, explained_data, state_data
from kueuepy.platform.history import RecordedState, Recording
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.site.recorded import recorded_data
from kueuepy.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from kueuepy.explain import Explanation
    from kueuepy.pages.data import PageData


class SchedulerFeed:
    """A cluster or files, read as a Scheduler."""

    def __init__(
        self, read: Callable[[], tuple[Scheduler, tuple[str, ...]]], stamp: Callable[[], Hashable], **about: Any
    ) -> None:
        """Store the functions that read the source.

        Args:
            read: A function that returns the Scheduler, and notes for the reader.
            stamp: A function whose return value changes whenever the source changes. `stamp` returns `None` if a change
                of the source can be detected only by reading the source again.
            about: The `title` and `source` of the page, and the number of `explained` workloads.
        """
        self._read, self._about, self.stamp = read, about, stamp
        self._scheduler: Scheduler | None = None

    def read(self) -> PageData:
        """Read the source."""
        self._scheduler, notes = self._read()
        data = state_data(self._scheduler, **self._about)
        data.notes = list(notes)
        return data

    def explain(self, name: str, seconds: float) -> Explanation:  # noqa: ARG002 - there is one time
        """Return the explanation of a workload's state."""
        assert self._scheduler is not None, "the page is read first"
        return self._scheduler.explain(name)


class RecordingFeed:
    """A recording, to which another process can still be writing."""

    def __init__(self, recording: Recording, **about: Any) -> None:
        """Store the recording, and the `title` and `source` of the page and the number of `explained` workloads."""
        self._recording, self._about = recording, about
        self._zero = 0
        self._known: tuple[float, Scheduler] | None = None

    def stamp(self) -> Hashable:
        """Return the time of the last record."""
        return self._recording.end

    def read(self) -> PageData:
        """Read the whole recording."""
        data = recorded_data(self._recording, **self._about)
        self._zero = round((data.zero or 0.0) * SECOND)
        self._known = None
        return data

    def explain(self, name: str, seconds: float) -> Explanation:
        """Return the explanation of a workload's state at a given time, from the objects that existed at that time.

        Args:
            name: The key of the workload.
            seconds: The time, in seconds after the beginning of the recording.
        """
        if self._known is None or self._known[0] != seconds:
            at = self._zero + round(seconds * SECOND)
            state = RecordedState(self._recording, min(at, self._recording.end))
            self._known = seconds, import_cluster(state).scheduler
        return self._known[1].explain(name)


class FixedFeed:
    """Data that does not change, such as the data of a saved result."""

    def __init__(self, data: PageData) -> None:
        """Store the data."""
        self._data = data

    def stamp(self) -> Hashable:
        """Return a constant."""
        return 0

    def read(self) -> PageData:
        """Return the data."""
        return self._data

    def explain(self, name: str, seconds: float) -> Explanation:
        """Refuse the request, which the page itself does not send."""
        raise StateError(f'Workload "{name}": there is no state at {seconds} s from which it could be explained')


Feed: TypeAlias = SchedulerFeed | RecordingFeed | FixedFeed
"""A source from which pages are created."""


class PageSite:
    """The page of a source, its data, and explanations, for a server of `kueuepy.look.serving`.

    The source is read again when the page requests its data and the last reading is older than `every` seconds. While
    no browser shows the page, the source is not read.
    """

    def __init__(self, feed: Feed, every: float = 10.0) -> None:
        """Read the source.

        Args:
            feed: The source.
            every: The shortest time between two readings, in seconds.

        Raises:
            KueueError: The source cannot be read.
        """
        self._feed, self._every = feed, every
        self._lock = threading.Lock()
        self._fault = ""
        self._at = 0.0
        self._read()

    def get(self, path: str, query: Mapping[str, str]) -> Answer | None:
        """Respond with the page, its data, or an explanation."""
        if path == "":
            with self._lock:
                page = Page(self._data)
                return Answer("text/html; charset=utf-8", page.html.encode(), page.policy)
        if path == "data":
            with self._lock:
                self._refresh()
                if self._fault:
                    return Answer("application/json", msgspec.json.encode({"error": self._fault}))
                return Answer("application/json", self._body, tag=self._tag)
        return self._explanation(query) if path == "explain" else None

    def post(self, path: str, body: bytes) -> Answer | None:  # noqa: ARG002 - the page sends no data
        """Refuse all requests."""
        return None

    def _refresh(self) -> None:
        if time.monotonic() - self._at < self._every:
            return
        try:
            stamp = self._feed.stamp()
            # `None`: only reading shows whether the source has changed.
            if stamp is None or stamp != self._stamp:
                self._read()
            self._fault = ""
        except KueueError as error:
            self._fault = str(error)
        self._at = time.monotonic()

    def _read(self) -> None:
        self._stamp = self._feed.stamp()
        data = self._feed.read()
        data.asks = not isinstance(self._feed, FixedFeed)
        data.every = self._every
        self._data = data
        self._body = msgspec.json.encode(data)
        self._tag = f'"{hashlib.sha256(self._body).hexdigest()[:32]}"'
        self._at = time.monotonic()

    def _explanation(self, query: Mapping[str, str]) -> Answer:
        try:
            seconds = float(query.get("t", "0"))
        except ValueError:
            seconds = math.nan
        if not math.isfinite(seconds) or "name" not in query:
            return Answer("text/plain", b"", status=HTTPStatus.BAD_REQUEST)
        found: dict[str, Any]
        try:
            with self._lock:
                found = explained_data(self._feed.explain(query["name"], seconds))
        except KueueError as error:
            found = {"error": str(error)}
        return Answer("application/json", msgspec.json.encode(found))


@checked
def page(
    source: Any, path: str | os.PathLike[str] | None = None, *, title: str = "", explained: int = MOST_EXPLAINED
) -> Page:
    """Return a page of a cluster: one HTML file that works without a server and loads no other files.

    The page shows the cohort trees with their quota, the pending workloads and why each is pending, the running
    workloads, and the racks. The page of a simulation or of a recording has a time slider.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
    >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
    >>> keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 9})
    >>> settled = scheduler.settle()
    >>> page(scheduler, "/dev/null", title="Two teams")
    <Page 'Two teams': 1 workload>

    Args:
        source: A Scheduler, a Cluster, a Result, a LiveCluster, a recording such as `history.db`, or any other source
            that `kueuepy.platform.import_cluster` accepts.
        path: The file to write. Default: no file is written.
        title: The title of the page.
        explained: The number of pending workloads with a full explanation in the page: the first workloads of each
            queue.

    Returns:
        The page, which a notebook displays inline.

    Raises:
        StateError: The file cannot be written, or a Result does not contain the runs or the usage.
        KueueError: The source cannot be read.
    """
    if not isinstance(source, Scheduler | Cluster) and callable(getattr(source, "page", None)):
        made: Page = source.page(path, title=title, explained=explained)
        return made
    found = Page(_data(source, title, explained))
    if path is not None:
        found.save(path)
    return found


def _data(source: Any, title: str, explained: int) -> PageData:
    if isinstance(source, Scheduler):
        return state_data(source, title=title, explained=explained)
    if isinstance(source, Cluster):
        return state_data(Scheduler(source), title=title, explained=explained)
    if is_whole_recording(source):
        return recorded_data(Recording(source), title=title, source=str(source), explained=explained)
    source = opened(source)
    imported = import_cluster(source)
    name = ", ".join(one.name for one in live_parts(source))
    data = state_data(imported.scheduler, title=title, source=name, explained=explained)
    data.notes = [*(note for one in live_parts(source) for note in one.notes), *imported.notes]
    return data


def is_whole_recording(source: object) -> bool:
    """Return whether a source is the name of a recording without a time."""
    if not isinstance(source, str | os.PathLike):
        return False
    name = os.fspath(source)
    return isinstance(name, str) and is_recording(name) and "@" not in os.path.basename(name)  # noqa: PTH119 - text
