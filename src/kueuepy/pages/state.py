"""The data of a page about a Scheduler at one moment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy._core import Tables, pod_requests
from kueuepy.engine.nodes import depth_first
from kueuepy.engine.tables import queue_table, workload_table
from kueuepy.errors import KueueError
from kueuepy.look.colours import places
from kueuepy.objects import SECOND
from kueuepy.pages.data import (
    ADMITTED,
    EVICTED,
    PENDING,
    RESERVED,
    Causes,
    LimitData,
    NodeData,
    PageData,
    RackData,
    SeriesData,
    Shapes,
    Texts,
    cells_of,
    limit,
    looks,
    per_unit,
    units_of,
)
from kueuepy.profiles.version import describe
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kueuepy._core import Engine
    from kueuepy.explain import Explanation
    from kueuepy.objects import Workload
    from kueuepy.scheduler import Scheduler
    from kueuepy.topology import RackMap

MOST_EXPLAINED = 300
"""The default number of explanations in a page; each explanation takes a few milliseconds in a large cluster."""
_MOST_DOMAINS = 4_000
_STATES = {"Pending": PENDING, "QuotaReserved": RESERVED, "Admitted": ADMITTED, "Evicted": EVICTED}
_DATED = 365 * 86400
"""Times of less than a year after the Unix epoch are virtual times without a date."""


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
        return _State(scheduler, session.engine).data(title, source, explained)


class _State:
    def __init__(self, scheduler: Scheduler, engine: Engine) -> None:
        self._scheduler, self._engine = scheduler, engine
        self._tables = Tables(engine)
        self._nodes = self._tables.nodes
        self._order = list(depth_first(self._nodes))
        self._row = {row: place for place, (row, _) in enumerate(self._order)}
        self._place = {
            self._nodes[row].name: place
            for place, (row, _) in enumerate(self._order)
            if self._nodes[row].kind == "ClusterQueue"
        }
        self._requests: dict[bytes, dict[str, int]] = {}

    def data(self, title: str, source: str, explained: int) -> PageData:
        now = self._engine.now / SECOND
        found = PageData(
            title or "Cluster", source, "state", now if now > _DATED else None, 0.0, describe(), ordered=True
        )
        found.cells = cells_of(self._tables.cells)
        found.nodes = self._tree()
        self._quotas(found)
        self._workloads(found, explained)
        found.racks = list(racks_of(self._scheduler))
        return found

    def _tree(self) -> list[NodeData]:
        inactive = {queue.name: queue.message for queue in self._engine.cluster_queue_status() if queue.why_inactive}
        made = []
        for row, _ in self._order:
            node = self._nodes[row]
            note = inactive.get(node.name, "") if node.kind == "ClusterQueue" else ""
            made.append(NodeData(node.name, node.kind, self._row.get(node.parent, -1), note=note))
        return made

    def _quotas(self, found: PageData) -> None:
        tables = self._tables
        shown = (tables.nominal_quota != 0) | (tables.usage != 0)
        weights = dict.fromkeys(self._place, 0.0)
        totals = np.maximum(tables.nominal_quota.sum(axis=0), 1)
        for place, (row, _) in enumerate(self._order):
            is_queue = self._nodes[row].kind == "ClusterQueue"
            for cell in np.flatnonzero(shown[row]).tolist():
                nominal, used = int(tables.nominal_quota[row, cell]), int(tables.usage[row, cell])
                borrow, lend = limit(tables.borrowing_limit[row, cell]), limit(tables.lending_limit[row, cell])
                if nominal:
                    found.nominal.append(SeriesData(place, cell, [0], [nominal]))
                if is_queue:
                    weights[self._nodes[row].name] += nominal / float(totals[cell])
                if is_queue and used:
                    found.used.append(SeriesData(place, cell, [0], [used]))
                if borrow is not None or lend is not None:
                    found.limits.append(LimitData(place, cell, borrow, lend))
        looks(found.nodes, places(weights))

    def _workloads(self, found: PageData, explained: int) -> None:
        engine = self._engine
        positions = queue_table(engine)
        keys = list(positions["key"])
        place_of = dict(zip(keys, positions["position_in_cluster_queue"].tolist(), strict=True))
        table = workload_table(engine)
        columns = [list(table[name]) for name in ("key", "cluster_queue", "local_queue", "status")]
        rows = [
            (queue, place_of.get(key, len(keys)), key, local, _STATES[status], priority, created)
            for (key, queue, local, status), priority, created in zip(
                zip(*columns, strict=True),
                table["priority"].tolist(),
                table["created"].astype(np.int64).tolist(),
                strict=True,
            )
            if status in _STATES
        ]
        rows.sort(key=lambda row: (self._place.get(row[0] or "", -1), row[1]))
        ids = {row[2]: engine.find(row[2]) for row in rows}
        waiting = [row[2] for row in rows if row[4] == PENDING]
        messages = {
            key: message or reason
            for key, (reason, message) in zip(waiting, engine.evaluations([ids[key] for key in waiting]), strict=True)
        }
        reserved = dict(zip(list(table["key"]), table["reserved"].astype(np.int64).tolist(), strict=True))
        texts, shapes, causes = Texts(), Shapes(), Causes()
        now = engine.now
        workloads, events = found.workloads, found.events
        for queue, _, key, local, state, priority, created in rows:
            workloads.name.append(key)
            workloads.queue.append(self._place.get(queue or "", -1))
            workloads.local.append(texts(local))
            workloads.priority.append(priority)
            workloads.created.append(round((created - now) / SECOND, 3))
            note, shape, since = self._about(ids[key], key, messages, created)
            workloads.shape.append(shapes(*shape))
            began = reserved[key] if state != PENDING and reserved[key] >= 0 else since
            events.add((began - now) / SECOND, state, texts(note))
            events.end()
        found.texts, found.shapes = texts.all(), shapes.all()
        chosen = [place for place, _ in zip(_in_turn(rows), range(explained), strict=False)]
        for place in sorted(chosen):
            found.explained[str(place)] = causes.explained(self._scheduler.explain(rows[place][2]))
        found.causes = causes.all()

    def _about(
        self, number: int, key: str, messages: Mapping[str, str], created: int
    ) -> tuple[str, tuple[int, dict[str, int]], int]:
        """Return the pending reason or assigned flavors of a workload, its pods and requests, and its creation time."""
        admission = self._engine.admission(number)
        if admission is None:
            return messages.get(key, ""), self._requested(self._scheduler.workload(key)), created
        flavors: dict[str, None] = {}
        amounts: Counter[str] = Counter()
        for pod_set in admission.pod_sets:
            for resource, (flavor, asked) in pod_set.resources.items():
                flavors[flavor] = None
                amounts[resource] += asked
        pods = sum(pod_set.pods for pod_set in admission.pod_sets)
        return ", ".join(flavors), (pods, dict(amounts)), created

    def _requested(self, workload: Workload) -> tuple[int, dict[str, int]]:
        amounts: Counter[str] = Counter()
        for pod_set in workload.pod_sets:
            key = msgspec.json.encode(pod_set.template)
            if key not in self._requests:
                try:
                    found = pod_requests(pod_set.template, configuration=self._scheduler.configuration)
                except (KueueError, ValueError):
                    found = {}
                self._requests[key] = found
            amounts.update({name: value * pod_set.count for name, value in self._requests[key].items()})
        return sum(pod_set.count for pod_set in workload.pod_sets), dict(amounts)


def _in_turn(rows: list[tuple[Any, ...]]) -> Iterator[int]:
    """Yield the indices of pending workloads: the first workload of each queue, then the second of each, and so on."""
    by_queue: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        if row[4] == PENDING:
            by_queue.setdefault(row[0] or "", []).append(place)
    for turn in range(max(map(len, by_queue.values()), default=0)):
        yield from (listed[turn] for listed in by_queue.values() if turn < len(listed))


def explained_data(found: Explanation) -> dict[str, Any]:
    """Return one explanation as data, with its own causes."""
    causes = Causes()
    about = causes.explained(found)
    return {**msgspec.to_builtins(about), "texts": causes.all()}


def racks_of(scheduler: Scheduler) -> Iterator[RackData]:
    """Yield the topology of each flavor that has one, without the lowest level if it has too many domains."""
    for flavor in scheduler.cluster.resource_flavors:
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
