"""Pages of Schedulers, clusters and recordings, as a file or served on the loopback interface while they change."""

import hashlib
import math
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Literal, TypeAlias

import msgspec

from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.errors import KueueError, StateError, checked
from kueuepy.explain import Explanation
from kueuepy.look.serving import Answer, Request
from kueuepy.manifest.text.reading import is_recording, live_parts, opened
from kueuepy.objects import SECOND, parse_time
from kueuepy.pages.data import (
    ADMITTED,
    EVICTED,
    GONE,
    MOST_EXPLAINED,
    PENDING,
    RESERVED,
    PageBuilder,
    PageData,
    explained_data,
    state_data,
)
from kueuepy.pages.document import Page
from kueuepy.platform.history import Conditions, RecordedState, Recording, key_of
from kueuepy.platform.importer import import_cluster
from kueuepy.scheduler import Scheduler
from kueuepy.tables.kinds import number_of

_Cells = dict[tuple[str, str], int]


def recorded_data(
    recording: Recording, *, title: str = "", source: str = "", explained: int = MOST_EXPLAINED
) -> PageData:
    """Return the data of a recording from its first to its last record.

    Args:
        recording: The recording.
        title: The title of the page.
        source: The source as the user wrote it.
        explained: The number of explanations of workloads that are pending at the end of the recording.

    Raises:
        InvalidSpecError: The recording is empty.
    """
    state = RecordedState(recording)
    imported = import_cluster(state)
    latest = state_data(imported.scheduler, title=title or "Recording of a cluster", source=source, explained=explained)
    found = _Replay(latest).data(recording, state.time)
    found.notes = [*state.notes, *imported.notes[:20], *_gaps(recording, found.zero or 0.0)]
    return found


def _gaps(recording: Recording, zero: float) -> Iterator[str]:
    for gap in recording.gaps():
        since, until = ((gap[name] / SECOND - zero) for name in ("since", "until"))
        yield (
            f"{gap['kind']}: changes between {since:,.0f} s and {until:,.0f} s after the beginning may be missing: "
            f"{gap['reason']}"
        )


class _Life(msgspec.Struct):
    """The recorded state of one Workload."""

    queue: str = ""
    local: str = ""
    priority: int = 0
    created: int = 0
    shape: int = 0
    changes: list[tuple[float, int, int]] = []
    held: _Cells = {}
    holder: str = ""


class _Replay:
    """The history of a recording.

    The cohort tree, the limits and the explanations are those at the end of the recording.
    """

    def __init__(self, latest: PageData) -> None:
        self._made = PageBuilder(latest)
        self._leads: dict[str, str] = {}
        self._lives: dict[str, _Life] = {}
        self._usage: dict[tuple[int, int], int] = {}
        self._zero = 0

    def data(self, recording: Recording, end: int) -> PageData:
        for event in recording.events():
            time = parse_time(event["received"]) or 0
            # The page counts times from the first event.
            self._zero = self._zero or time
            self._take(event, max(time, self._zero))
        for key, life in self._lives.items():
            self._made.workload(
                key, self._made.queue(life.queue), life.local, priority=life.priority,
                created=self._seconds(life.created), shape=life.shape, changes=life.changes,
            )  # fmt: skip
        page = self._made.page
        page.kind, page.zero, page.end = "recording", self._zero / SECOND, self._seconds(max(end, self._zero))
        page.ordered = False
        return self._made.finish()

    def _take(self, event: dict[str, Any], time: int) -> None:
        obj, is_gone = event["object"], event["type"] == "DELETED"
        kind, key = event["kind"], key_of(obj["metadata"])
        if kind == "Workload":
            self._workload(key, None if is_gone else obj, time)
        elif kind == "LocalQueue" and not is_gone:
            self._leads[key] = str((obj.get("spec") or {}).get("clusterQueue") or "")
        elif kind in ("ClusterQueue", "Cohort"):
            self._quota(kind, key, {} if is_gone else obj, time)

    def _quota(self, kind: str, name: str, obj: dict[str, Any], time: int) -> None:
        node = self._made.nodes.get((kind, name))
        if node is None:  # deleted before the end of the recording
            return
        given = dict.fromkeys((series.c for series in self._made.page.nominal if series.n == node), 0)
        for group in (obj.get("spec") or {}).get("resourceGroups") or ():
            for flavor in group.get("flavors") or ():
                for quota in flavor.get("resources") or ():
                    pair = self._made.pair(str(flavor.get("name")), str(quota.get("name")))
                    given[pair] = Quantity(str(quota.get("nominalQuota") or 0)).quota(str(quota.get("name")))
        for pair, amount in given.items():
            self._step("nominal", node, pair, time, amount)

    def _step(self, what: Literal["used", "nominal"], node: int, pair: int, time: int, value: int) -> None:
        series = self._made.series(what, node, pair)
        at = self._seconds(time)
        if series.t and series.t[-1] == at:
            series.v[-1] = value
        elif value != (series.v[-1] if series.v else 0):
            series.t.append(at)
            series.v.append(value)

    def _seconds(self, time: int) -> float:
        return round((time - self._zero) / SECOND, 3)

    def _workload(self, key: str, obj: dict[str, Any] | None, time: int) -> None:
        life = self._lives.setdefault(key, _Life())
        if obj is None:
            self._hold(life, "", {}, time)
            self._change(life, time, GONE, "")
            return
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        admission = status.get("admission") or {}
        life.local = f"{obj['metadata'].get('namespace', 'default')}/{spec.get('queueName') or ''}"
        life.queue = str(admission.get("clusterQueue") or self._leads.get(life.local) or life.queue)
        life.priority = int(spec.get("priority") or 0)
        life.created = parse_time(str(obj["metadata"].get("creationTimestamp"))) or time
        life.shape = self._made.shape(
            (int(pod_set.get("count") or 1), pod_set.get("template") or {}) for pod_set in spec.get("podSets") or ()
        )
        conditions = Conditions(obj)
        state = _state_of(spec, conditions)
        held = _held(admission, status) if state in (RESERVED, ADMITTED, EVICTED) else {}
        self._hold(life, str(admission.get("clusterQueue") or ""), held, time)
        self._change(life, time, state, _note(state, admission, conditions))

    def _change(self, life: _Life, time: int, state: int, note: str) -> None:
        entry = (state, self._made.texts(note))
        if not life.changes or life.changes[-1][1:] != entry:
            life.changes.append((self._seconds(time), *entry))

    def _hold(self, life: _Life, queue: str, held: _Cells, time: int) -> None:
        """Change the quota that a workload holds."""
        if (queue, held) == (life.holder, life.held):
            return
        for name, sign, amounts in ((life.holder, -1, life.held), (queue, 1, held)):
            node = self._made.queue(name)
            for (flavor, resource), amount in amounts.items() if node >= 0 else ():
                series_key = (node, self._made.pair(flavor, resource))
                self._usage[series_key] = self._usage.get(series_key, 0) + sign * amount
                self._step("used", *series_key, time, self._usage[series_key])
        life.holder, life.held = queue, held


def _state_of(spec: dict[str, Any], conditions: Conditions) -> int:
    if conditions.true("Finished"):
        return GONE
    if conditions.true("QuotaReserved"):
        return EVICTED if conditions.true("Evicted") else ADMITTED if conditions.true("Admitted") else RESERVED
    return PENDING if spec.get("active") is not False else GONE


def _held(admission: dict[str, Any], status: dict[str, Any]) -> _Cells:
    """Return the quota of an admission, without the quota of its reclaimable pods."""
    ended = {one.get("name"): int(one.get("count") or 0) for one in status.get("reclaimablePods") or ()}
    held: _Cells = {}
    for pod_set in admission.get("podSetAssignments") or ():
        flavors, amounts = pod_set.get("flavors") or {}, pod_set.get("resourceUsage") or {}
        pods = int(pod_set.get("count") or 1)
        left = max(0, pods - ended.get(pod_set.get("name"), 0))
        for resource, flavor in flavors.items():
            amount = Quantity(str(amounts.get(resource) or 0)).request(resource) // pods * left
            held[flavor, resource] = held.get((flavor, resource), 0) + amount
    return held


def _note(state: int, admission: dict[str, Any], conditions: Conditions) -> str:
    """Return the flavors of a workload with quota, or the reason of a pending workload."""
    if state in (RESERVED, ADMITTED, EVICTED):
        names: dict[str, None] = {}
        for pod_set in admission.get("podSetAssignments") or ():
            names.update(dict.fromkeys(map(str, (pod_set.get("flavors") or {}).values())))
        return ", ".join(names)
    one = conditions.get("QuotaReserved") or {}
    return str(one.get("message") or one.get("reason") or "") if state == PENDING else ""


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

    def __call__(self, request: Request) -> Answer | None:
        """Respond with the page, its data, or an explanation; the page sends no data."""
        path = request.path if request.body is None else None
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
        return self._explanation(request.query) if path == "explain" else None

    def _refresh(self) -> None:
        # Several browser tabs share one reading of the source.
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
        seconds = number_of(query.get("t", "0"))
        if seconds is None or not math.isfinite(seconds) or "name" not in query:
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
    return Page.written(_data(source, title, explained), path)


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
