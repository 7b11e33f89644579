"""The data of a page: a cluster at one time or over a period, as columns that the script draws, and their builder."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from kueuepy._core import Tables, pod_requests
from kueuepy.engine.nodes import depth_first
from kueuepy.engine.tables import queue_table, workload_table
from kueuepy.errors import KueueError
from kueuepy.explain import Cause, Explanation
from kueuepy.look.colours import OTHERS, class_of, places
from kueuepy.look.numbers import amount, busiest, count, unit_of
from kueuepy.objects import SECOND, Configuration, ResourceFlavor
from kueuepy.profiles.version import describe
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import Session, session_of
from kueuepy.tables.columns import UNLIMITED
from kueuepy.topology import RackMap

K = TypeVar("K", bound=Hashable)

PENDING, RESERVED, ADMITTED, EVICTED, GONE = range(1, 6)
"""States of a workload: pending; with quota, before its admission checks are ready; admitted; evicted, but still with
quota; finished, deleted or deactivated. The state 0 means that the workload has not been submitted yet."""
_GIB = 2**30
_PER_CORE = 1000


class CellData(msgspec.Struct):
    """A flavor and resource; `per` is the number of the core's units in one `unit`."""

    flavor: str
    resource: str
    unit: str
    per: int


class NodeData(msgspec.Struct):
    """A Cohort or ClusterQueue.

    `parent` is a row number, or -1 for a root; `look` is a CSS class; `note` describes its condition.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    parent: int
    look: str = "kq-others"
    note: str = ""


class SeriesData(msgspec.Struct):
    """A step function for one node, flavor and resource.

    From time `t[i]` on, the value is `v[i]`; before `t[0]`, it is 0.
    """

    n: int
    c: int
    t: list[float]
    v: list[int]


class LimitData(msgspec.Struct):
    """The borrowing and lending limit of a node for one flavor and resource; `None` for no limit."""

    n: int
    c: int
    borrow: int | None
    lend: int | None


class ShapeData(msgspec.Struct):
    """A request that workloads share: the string to display, and the amounts by resource in the core's units."""

    text: str
    amounts: dict[str, int]


class RackData(msgspec.Struct):
    """The domains of a flavor's topology, parents first.

    Each row of `domains` contains the depth, name and number of nodes of a domain, followed by amounts of one resource:
    its capacity, the usage by other pods and the usage by workloads. `uses` contains the index of a lowest-level
    domain, the key of a workload, and the number of its pods in the domain.
    """

    topology: str
    flavor: str
    unit: str
    per: int
    levels: list[str]
    domains: list[tuple[int, str, int, int, int, int]]
    uses: list[tuple[int, str, int]]


class Events(msgspec.Struct):
    """All state changes of the workloads: the changes of workload i are the rows from `first[i]` to `first[i + 1]`.

    `note` is an index into `texts`: the reason of a pending workload, or the flavors of an admitted workload.
    """

    first: list[int] = msgspec.field(default_factory=lambda: [0])
    t: list[float] = []
    state: list[int] = []
    note: list[int] = []


class WorkloadsData(msgspec.Struct):
    """All workloads, as columns.

    `queue` is a row number in `nodes` or -1, and `shape` is a row number in `shapes`; times are in seconds.
    """

    name: list[str] = []
    queue: list[int] = []
    local: list[int] = []
    priority: list[int] = []
    created: list[float] = []
    shape: list[int] = []


class ExplainedData(msgspec.Struct):
    """The explanation of a workload: its headline, and the indices of its causes."""

    headline: str
    message: str
    causes: list[int]


class PageData(msgspec.Struct):
    """A cluster at one time or over a period.

    Times are in seconds after the beginning of the period. Amounts are integers in the core's units. `cells` contains
    the factors to convert these amounts to display units.

    Attributes:
        title: The title.
        source: The source as the user wrote it.
        kind: `state` for one time, `result` for a simulation, `recording` for a recorded cluster.
        zero: The Unix time of time 0, in seconds; `None` for a simulation without calendar dates.
        end: The end of the period; 0 if the page shows a single time.
        made: The version of kueuepy that created the page.
        notes: Remarks for the reader, for example about objects that could not be read.
        cells: The flavors and resources.
        limiting: The index of the flavor and resource that limits the workloads; the page shows this one first.
        nodes: The cohort trees, parents first.
        limits: Borrowing and lending limits.
        nominal: Nominal quota over time.
        used: Usage of each ClusterQueue over time.
        texts: The strings for local queues, reasons and flavors.
        shapes: The requests.
        workloads: The workloads.
        events: The changes of the workloads' states.
        causes: The causes of explanations: a string, and the indices of the causes below it.
        explained: Explanations at the end of the period, by the index of the workload.
        ordered: Whether pending workloads are in the order of their queues; otherwise the page sorts them by priority
            and time of creation.
        command: The command that explains a workload; `{name}` stands for the workload.
        asks: Whether the page can request explanations and newer data from its server.
        every: The time between two requests for newer data, in seconds.
        racks: The topologies at the end of the period.
        policy: The name of the simulated policy; empty for none.
    """

    title: str
    source: str
    kind: Literal["state", "result", "recording"]
    zero: float | None
    end: float
    made: str
    notes: list[str] = []
    cells: list[CellData] = []
    limiting: int = 0
    nodes: list[NodeData] = []
    limits: list[LimitData] = []
    nominal: list[SeriesData] = []
    used: list[SeriesData] = []
    texts: list[str] = []
    shapes: list[ShapeData] = []
    workloads: WorkloadsData = msgspec.field(default_factory=WorkloadsData)
    events: Events = msgspec.field(default_factory=Events)
    causes: list[tuple[str, tuple[int, ...]]] = []
    explained: dict[str, ExplainedData] = {}
    ordered: bool = False
    command: str = ""
    asks: bool = False
    every: float = 0.0
    racks: list[RackData] = []
    policy: str = ""


class Numbered(dict[K, int]):
    """Distinct values, each with its index in the order of their first occurrence."""

    def __call__(self, value: K) -> int:
        """Return the index of a value."""
        return self.setdefault(value, len(self))


class Causes(Numbered[tuple[str, tuple[int, ...]]]):
    """The causes of several explanations: the text of each and the indices of its causes; equal causes are one."""

    def explained(self, found: Explanation) -> ExplainedData:
        """Return an explanation with the indices of its causes."""
        return ExplainedData(found.headline, found.message, [self._index(cause) for cause in found.causes])

    def _index(self, cause: Cause) -> int:
        return self((cause.text, tuple(map(self._index, cause.causes))))


def units_of(resource: str) -> str:
    """Return the unit of a resource in the plural, such as `GPUs`."""
    return "GiB" if unit_of(resource) == "GiB" else amount(resource, 2.0).partition(" ")[2]


def per_unit(resource: str) -> int:
    """Return the number of the core's units in one display unit."""
    if resource == "cpu":
        return _PER_CORE
    return _GIB if unit_of(resource) == "GiB" else 1


def looks(nodes: Iterable[NodeData], places: Mapping[str, int]) -> None:
    """Set the CSS class of each ClusterQueue from its colour index."""
    for node in nodes:
        if node.kind == "ClusterQueue":
            node.look = class_of(places.get(node.name, OTHERS))


def limit(value: Any) -> int | None:
    """Convert a limit from the core; `None` means no limit."""
    return None if int(value) >= UNLIMITED else int(value)


class PageBuilder:
    """Collects workloads, their changes, quota and usage, and completes the data of a page.

    A page over a period begins with the data at its end: the tree, the limits, the racks and the explanations.

    Attributes:
        page: The data, which `finish` completes.
        nodes: The row of each node by its kind and name.
        cells: The index of each flavor and resource.
        texts: The texts of the page.
    """

    def __init__(self, page: PageData, configuration: Configuration | None = None) -> None:
        """Begin with data that has nodes; its workloads, events and series are removed.

        Args:
            page: The data.
            configuration: The Configuration that determines the requests of pods.
        """
        self.page, self._configuration = page, configuration
        self.nodes: dict[tuple[str, str], int] = {
            (node.kind, node.name): position for position, node in enumerate(page.nodes)
        }
        self.cells = Numbered({(pair.flavor, pair.resource): position for position, pair in enumerate(page.cells)})
        self.texts = Numbered({"": 0})
        self._shapes = Numbered[tuple[int, tuple[tuple[str, int], ...]]]()
        self._causes = Causes({(text, tuple(below)): position for position, (text, below) in enumerate(page.causes)})
        self._explained = {page.workloads.name[int(position)]: about for position, about in page.explained.items()}
        self._series: dict[tuple[str, int, int], SeriesData] = {}
        self._requests: dict[bytes, dict[str, int]] = {}
        page.workloads, page.events, page.used, page.nominal = WorkloadsData(), Events(), [], []

    def pair(self, flavor: str, resource: str) -> int:
        """Return the index of a flavor and resource."""
        return self.cells((flavor, resource))

    def queue(self, name: str | None) -> int:
        """Return the row of a ClusterQueue; -1 if there is none with this name."""
        return self.nodes.get(("ClusterQueue", name or ""), -1)

    def series(self, what: str, node: int, pair: int) -> SeriesData:
        """Return the series `used` or `nominal` of a node, flavor and resource, which is empty at first."""
        key = what, node, pair
        if key not in self._series:
            self._series[key] = SeriesData(node, pair, [], [])
            getattr(self.page, what).append(self._series[key])
        return self._series[key]

    def shapes(self, pods: int, amounts: Mapping[str, int]) -> int:
        """Return the index of requests.

        Args:
            pods: The number of pods.
            amounts: The sum over all pods by resource, in the core's units.
        """
        return self._shapes((pods, tuple((name, int(n)) for name, n in amounts.items() if n and name != "pods")))

    def shape(self, pod_sets: Iterable[tuple[int, Any]]) -> int:
        """Return the index of the requests of pod sets, each with a number of pods and a pod template."""
        amounts: Counter[str] = Counter()
        pods = 0
        for copies, template in pod_sets:
            pods += copies
            # Thousands of workloads have the same template, whose requests are computed once.
            key = msgspec.json.encode(template)
            if key not in self._requests:
                try:
                    self._requests[key] = pod_requests(template, configuration=self._configuration)
                except (KueueError, ValueError):  # a page of an invalid workload shows its number of pods
                    self._requests[key] = {}
            amounts.update({name: value * copies for name, value in self._requests[key].items()})
        return self.shapes(pods, amounts)

    def workload(
        self,
        name: str,
        queue: int,
        local: str,
        *,
        priority: int,
        created: float,
        shape: int,
        changes: Iterable[tuple[float, int, int]],
    ) -> None:
        """Add a workload with its changes: the time, the state, and the index of a text."""
        into, events = self.page.workloads, self.page.events
        into.name.append(name)
        into.queue.append(queue)
        into.local.append(self.texts(local))
        into.priority.append(priority)
        into.created.append(round(created, 3))
        into.shape.append(shape)
        for at, state, note in changes:
            events.t.append(round(at, 3))
            events.state.append(state)
            events.note.append(note)
        events.first.append(len(events.t))

    def explain(self, name: str, found: Explanation) -> None:
        """Add the explanation of a workload."""
        self._explained[name] = self._causes.explained(found)

    def finish(self, limiting: str = "") -> PageData:
        """Return the complete data.

        Args:
            limiting: The flavor and resource to show first; by default, the one with the highest utilisation.
        """
        page = self.page
        named = enumerate(page.workloads.name) if self._explained else ()
        page.explained = {str(row): self._explained[name] for row, name in named if name in self._explained}
        page.cells = [CellData(*pair, units_of(pair[1]), per_unit(pair[1])) for pair in self.cells]
        flavor, _, resource = (limiting or busiest(self._utilisation())).partition("/")
        page.limiting = self.cells.get((flavor, resource), 0)
        page.causes, page.texts = list(self._causes), list(self.texts)
        page.shapes = [_shape_data(*shape) for shape in self._shapes]
        return page

    def _utilisation(self) -> dict[str, float]:
        """Return the fraction of the nominal quota of all nodes that is used, on average over the period."""
        totals = {what: np.zeros(len(self.cells)) for what in ("used", "nominal")}
        for what, total in totals.items():
            for one in getattr(self.page, what):
                spans = np.diff([*np.clip(one.t, 0, self.page.end), self.page.end]) if self.page.end else 1
                total[one.c] += np.sum(spans * one.v)
        found = totals["used"] / np.maximum(totals["nominal"], 1)
        return dict(zip(map("/".join, self.cells), found.tolist(), strict=True))


def _shape_data(pods: int, amounts: tuple[tuple[str, int], ...]) -> ShapeData:
    """Return requests with their text, in which cpu, memory and ephemeral storage follow all other resources."""
    order = sorted(amounts, key=lambda pair: (pair[0] in ("cpu", "memory", "ephemeral-storage"), pair[0]))
    parts = [amount(name, value / _PER_CORE if name == "cpu" else value) for name, value in order]
    return ShapeData(", ".join([*parts, f"{count(pods)} pod{'s' * (pods != 1)}"]), dict(amounts))


# --- the data of a cluster --------------------------------------------------------------------------------------------

MOST_EXPLAINED = 300
"""The default number of explanations in a page; each explanation takes a few milliseconds in a large cluster."""
# As many elements as a browser draws without a delay.
_MOST_DOMAINS = 4_000
# Finished workloads are not on the page.
_STATES = {"Pending": PENDING, "QuotaReserved": RESERVED, "Admitted": ADMITTED, "Evicted": EVICTED}
# Times of less than a year after the Unix epoch are virtual times without a date.
_DATED = 365 * 86400


def state_data(scheduler: Scheduler, *, title: str = "", source: str = "", explained: int = MOST_EXPLAINED) -> PageData:
    """Return the data of a Scheduler.

    Args:
        scheduler: The Scheduler, which the function does not change.
        title: The title of the page.
        source: The source as the user wrote it.
        explained: The number of pending workloads with a full explanation in the data: the first workloads of each
            queue.
    """
    session = session_of(scheduler)
    with session.lock:
        return _State(scheduler, session).data(title, source, explained)


class _State:
    def __init__(self, scheduler: Scheduler, session: Session) -> None:
        self._scheduler, self._store, self._engine = scheduler, session.state.store, session.engine
        self._tables = Tables(self._engine)
        self._nodes = self._tables.nodes
        self._order = [row for row, _ in depth_first(self._nodes)]

    def data(self, title: str, source: str, explained: int) -> PageData:
        now = self._engine.now / SECOND
        zero = now if now > _DATED else None
        page = PageData(title or "Cluster", source, "state", zero, 0.0, describe(), ordered=True, nodes=self._tree())
        made = PageBuilder(page, self._scheduler.configuration)
        for flavor, resource in self._tables.cells:
            made.pair(flavor, resource)
        self._quotas(made)
        self._workloads(made, explained)
        page.racks = list(racks_of(self._scheduler))
        return made.finish()

    def _tree(self) -> list[NodeData]:
        inactive = {queue.name: queue.message for queue in self._engine.cluster_queue_status() if queue.why_inactive}
        places = {row: position for position, row in enumerate(self._order)}
        made = []
        for node in (self._nodes[row] for row in self._order):
            note = inactive.get(node.name, "") if node.kind == "ClusterQueue" else ""
            made.append(NodeData(node.name, node.kind, places.get(node.parent, -1), note=note))
        return made

    def _quotas(self, made: PageBuilder) -> None:
        tables, page = self._tables, made.page
        shown = (tables.nominal_quota != 0) | (tables.usage != 0)
        weights = {node.name: 0.0 for node in page.nodes if node.kind == "ClusterQueue"}
        totals = np.maximum(tables.nominal_quota.sum(axis=0), 1)
        for position, row in enumerate(self._order):
            is_queue = self._nodes[row].kind == "ClusterQueue"
            for pair in np.flatnonzero(shown[row]).tolist():
                nominal, used = int(tables.nominal_quota[row, pair]), int(tables.usage[row, pair])
                borrow, lend = limit(tables.borrowing_limit[row, pair]), limit(tables.lending_limit[row, pair])
                if nominal:
                    page.nominal.append(SeriesData(position, pair, [0], [nominal]))
                if is_queue:
                    weights[self._nodes[row].name] += nominal / float(totals[pair])
                if is_queue and used:
                    page.used.append(SeriesData(position, pair, [0], [used]))
                if borrow is not None or lend is not None:
                    page.limits.append(LimitData(position, pair, borrow, lend))
        looks(page.nodes, places(weights))

    def _workloads(self, made: PageBuilder, explained: int) -> None:
        engine = self._engine
        positions = queue_table(engine)
        place_of = dict(zip(list(positions["key"]), positions["position_in_cluster_queue"].tolist(), strict=True))
        table = workload_table(engine)
        names = ("key", "cluster_queue", "local_queue", "status")
        times = (table[name].astype(np.int64).tolist() for name in ("created", "reserved"))
        columns = zip(*(list(table[name]) for name in names), table["priority"].tolist(), *times, strict=True)
        rows = [
            (made.queue(queue), place_of.get(key, len(place_of)), key, local, _STATES[status], priority, *at)
            for key, queue, local, status, priority, *at in columns
            if status in _STATES
        ]
        # By queue, and in a queue by position.
        rows.sort(key=itemgetter(0, 1))
        waiting = [row[2] for row in rows if row[4] == PENDING]
        found = engine.evaluations([engine.find(key) for key in waiting])
        # Without a message, a workload fits and waits for another reason, which its explanation states.
        messages = {key: message for key, (_, message) in zip(waiting, found, strict=True)}
        now = engine.now
        for queue, _, key, local, state, priority, created, reserved in rows:
            note, shape = self._about(made, key, "" if state != PENDING else messages[key])
            began = reserved if state != PENDING and reserved >= 0 else created
            made.workload(
                key, queue, local, priority=priority, created=(created - now) / SECOND, shape=shape,
                changes=[((began - now) / SECOND, state, made.texts(note))],
            )  # fmt: skip
        for position, _ in zip(_in_turn(rows), range(explained), strict=False):
            made.explain(rows[position][2], self._scheduler.explain(rows[position][2]))

    def _about(self, made: PageBuilder, key: str, message: str) -> tuple[str, int]:
        """Return the assigned flavors of a workload, or why it is pending, and the index of its requests."""
        number = self._engine.find(key) if not message else -1
        admission = self._engine.admission(number) if number >= 0 else None
        if admission is None:
            known = self._store.workloads.get(key) or self._scheduler.workload(key)
            return message, made.shape((pod_set.count, pod_set.template) for pod_set in known.pod_sets)
        flavors: dict[str, None] = {}
        amounts: Counter[str] = Counter()
        for pod_set in admission.pod_sets:
            for resource, (flavor, asked) in pod_set.resources.items():
                flavors[flavor] = None
                amounts[resource] += asked
        return ", ".join(flavors), made.shapes(sum(pod_set.pods for pod_set in admission.pod_sets), amounts)


def _in_turn(rows: list[tuple[Any, ...]]) -> Iterator[int]:
    """Yield the indices of pending workloads: the first workload of each queue, then the second of each, and so on."""
    by_queue: dict[str, list[int]] = {}
    for position, row in enumerate(rows):
        if row[4] == PENDING:
            by_queue.setdefault(row[0] or "", []).append(position)
    for turn in range(max(map(len, by_queue.values()), default=0)):
        yield from (listed[turn] for listed in by_queue.values() if turn < len(listed))


def explained_data(found: Explanation) -> dict[str, Any]:
    """Return one explanation as data, with its own causes."""
    causes = Causes()
    about = causes.explained(found)
    return {**msgspec.to_builtins(about), "texts": list(causes)}


def racks_of(scheduler: Scheduler) -> Iterator[RackData]:
    """Yield the topology of each flavor that has one, without the lowest level if it has too many domains."""
    for flavor in session_of(scheduler).state.store.objects.of(ResourceFlavor):
        if flavor.topology_name is None:
            continue
        try:
            racks = scheduler.topology(flavor.topology_name, flavor=flavor.name)
        except KueueError:  # the Topology does not exist
            continue
        yield _racks(racks)


def _racks(found: RackMap) -> RackData:
    resource = found.resource
    unit, per = units_of(resource), per_unit(resource)
    levels = list(found.levels)
    # Without the lowest level, a map of many nodes stays readable, and the page small.
    while len(levels) > 1 and sum(len(rack.values) <= len(levels) for rack in found.racks) > _MOST_DOMAINS:
        levels.pop()
    made = RackData(found.topology, found.flavor, unit, per, levels, [], [])
    for rack in found.racks:
        if len(rack.values) > len(levels):
            continue
        if len(rack.values) == len(levels):
            made.uses += [(len(made.domains), use.workload, use.pods) for use in rack.uses]
        amounts = (rack.capacity.get(resource, 0), rack.outside.get(resource, 0), rack.used.get(resource, 0))
        made.domains.append((len(rack.values) - 1, rack.values[-1], rack.nodes, *amounts))
    return made
