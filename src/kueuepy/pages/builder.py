"""The builder of the data of a page, for a cluster at one moment, a simulation and a recording."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import pod_requests
from kueuepy.errors import KueueError
from kueuepy.pages.data import Causes, Events, PageData, SeriesData, Shapes, Texts, WorkloadsData, cells_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.explain import Explanation
    from kueuepy.objects import Configuration


class PageBuilder:
    """Collects workloads, their changes, quota and usage, and completes the data of a page.

    A page over a period begins with the data at its end: the tree, the limits, the racks and the explanations.

    Attributes:
        page: The data, which `finish` completes.
        nodes: The row of each node by its kind and name.
        cells: The index of each flavor and resource.
        texts: The texts of the page.
        shapes: The requests of the page.
    """

    def __init__(self, page: PageData, configuration: Configuration | None = None) -> None:
        """Begin with data that has nodes; its workloads, events and series are removed.

        Args:
            page: The data.
            configuration: The Configuration that determines the requests of pods.
        """
        self.page, self._configuration = page, configuration
        self.nodes: dict[tuple[str, str], int] = {
            (node.kind, node.name): place for place, node in enumerate(page.nodes)
        }
        self.cells = {(cell.flavor, cell.resource): place for place, cell in enumerate(page.cells)}
        self.texts, self.shapes = Texts(), Shapes()
        self._causes = Causes(page.causes)
        self._explained = {page.workloads.name[int(place)]: about for place, about in page.explained.items()}
        self._series: dict[tuple[str, int, int], SeriesData] = {}
        self._requests: dict[bytes, dict[str, int]] = {}
        page.workloads, page.events, page.used, page.nominal = WorkloadsData(), Events(), [], []

    def cell(self, flavor: str, resource: str) -> int:
        """Return the index of a flavor and resource."""
        return self.cells.setdefault((flavor, resource), len(self.cells))

    def queue(self, name: str | None) -> int:
        """Return the row of a ClusterQueue; -1 if there is none with this name."""
        return self.nodes.get(("ClusterQueue", name or ""), -1)

    def series(self, what: str, node: int, cell: int) -> SeriesData:
        """Return the series `used` or `nominal` of a node, flavor and resource, which is empty at first."""
        key = what, node, cell
        if key not in self._series:
            self._series[key] = SeriesData(node, cell, [], [])
            getattr(self.page, what).append(self._series[key])
        return self._series[key]

    def shape(self, pod_sets: Iterable[tuple[int, Any]]) -> int:
        """Return the index of the requests of pod sets, each with a number of pods and a pod template."""
        amounts: Counter[str] = Counter()
        pods = 0
        for count, template in pod_sets:
            pods += count
            key = msgspec.json.encode(template)
            if key not in self._requests:
                try:
                    self._requests[key] = pod_requests(template, configuration=self._configuration)
                except (KueueError, ValueError):  # a page of an invalid workload shows its number of pods
                    self._requests[key] = {}
            amounts.update({name: value * count for name, value in self._requests[key].items()})
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
        page.cells, page.causes = cells_of(self.cells), self._causes.all()
        page.texts, page.shapes = self.texts.all(), self.shapes.all()
        return page
