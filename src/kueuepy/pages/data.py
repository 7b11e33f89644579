"""The data of a page: a cluster at one time or over a period, as columns that the script draws, and their builder."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from kueuepy._core import pod_requests
from kueuepy.errors import KueueError
from kueuepy.explain import Cause, Explanation
from kueuepy.look.colours import OTHERS, class_of
from kueuepy.look.numbers import amount, count, unit_of
from kueuepy.objects import Configuration

K = TypeVar("K", bound=Hashable)

PENDING, RESERVED, ADMITTED, EVICTED, GONE = range(1, 6)
"""States of a workload: pending; with quota, before its admission checks are ready; admitted; evicted, but still with
quota; finished, deleted or deactivated. The state 0 means that the workload has not been submitted yet."""
UNLIMITED = 2**63 - 1
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

    def finish(self) -> PageData:
        """Return the complete data."""
        page = self.page
        named = enumerate(page.workloads.name) if self._explained else ()
        page.explained = {str(row): self._explained[name] for row, name in named if name in self._explained}
        page.cells = [CellData(*pair, units_of(pair[1]), per_unit(pair[1])) for pair in self.cells]
        page.causes, page.texts = list(self._causes), list(self.texts)
        page.shapes = [_shape_data(*shape) for shape in self._shapes]
        return page


def _shape_data(pods: int, amounts: tuple[tuple[str, int], ...]) -> ShapeData:
    """Return requests with their text, in which cpu, memory and ephemeral storage follow all other resources."""
    order = sorted(amounts, key=lambda pair: pair[0] in ("cpu", "memory", "ephemeral-storage"))
    parts = [amount(name, value / _PER_CORE if name == "cpu" else value) for name, value in order]
    return ShapeData(", ".join([*parts, f"{count(pods)} pod{'s' * (pods != 1)}"]), dict(amounts))
