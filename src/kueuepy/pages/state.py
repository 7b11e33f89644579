"""The data of a page about a Scheduler at one time."""

from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np

from kueuepy._core import Tables
from kueuepy.engine.nodes import depth_first
from kueuepy.engine.tables import queue_table, workload_table
from kueuepy.errors import KueueError
from kueuepy.explain import Explanation
from kueuepy.look.colours import places
from kueuepy.objects import SECOND, ResourceFlavor
from kueuepy.pages.data import (
    ADMITTED,
    EVICTED,
    PENDING,
    RESERVED,
    Causes,
    LimitData,
    NodeData,
    PageBuilder,
    PageData,
    RackData,
    SeriesData,
    limit,
    looks,
    per_unit,
    units_of,
)
from kueuepy.profiles.version import describe
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import Session, session_of
from kueuepy.topology import RackMap

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
        messages = {key: message or reason for key, (reason, message) in zip(waiting, found, strict=True)}
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
