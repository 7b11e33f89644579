"""The page of a source that can change, served on the loopback interface."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from kueuepy.errors import KueueError, StateError
from kueuepy.look.serving import Answer
from kueuepy.objects import SECOND
from kueuepy.pages.document import Page
from kueuepy.pages.state import explained_data, state_data
from kueuepy.platform.history import RecordedState
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.site.recorded import recorded_data

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from kueuepy.explain import Explanation
    from kueuepy.pages.data import PageData
    from kueuepy.platform.history import Recording
    from kueuepy.scheduler import Scheduler


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

    def explain(self, name: str, seconds: float) -> Explanation:  # noqa: ARG002 - there is one moment
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
            self._known = seconds, import_cluster(state, progress=lambda *_: None).scheduler
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
