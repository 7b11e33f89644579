"""The data of a page that shows the result of a simulation, computed from the tables of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.engine.nodes import depth_first, nodes_of
from kueuepy.errors import StateError
from kueuepy.objects import SECOND
from kueuepy.pages.data import (
    ADMITTED,
    GONE,
    PENDING,
    RESERVED,
    LimitData,
    NodeData,
    PageData,
    SeriesData,
    Shapes,
    Texts,
    cells_of,
    looks,
)
from kueuepy.pages.state import MOST_EXPLAINED, state_data
from kueuepy.profiles.version import describe
from kueuepy.session.session import session_of
from kueuepy.simulation.columns import is_resource, keys_of
from kueuepy.simulation.pictures.names import colours
from kueuepy.simulation.series import series_of
from kueuepy.tables.columns import exact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kueuepy.pages.data import ExplainedData
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.recorded import Recorded

_ENDS = {"Finished": GONE, "Preempted": PENDING, "Evicted": PENDING}


def result_data(
    result: Recorded, scheduler: Scheduler | None, *, title: str = "", explained: int = MOST_EXPLAINED
) -> PageData:
    """Return the data of the page for a result.

    Args:
        result: The result.
        scheduler: The Scheduler at the end of the simulation; `None` if the result was loaded from files.
        title: The title of the page.
        explained: The maximum number of workloads to explain, among the workloads that are pending at the end of the
            simulation.

    Raises:
        StateError: The runs or the usage were not recorded.
    """
    if len(result.jobs) and not len(result.usage):
        raise StateError("page: the usage was not recorded; simulate with record=Recording(usage=True)")
    if result.stats.get("admissions") and not len(result.runs):
        raise StateError("page: the runs were not recorded; simulate with record=Recording(runs=True)")
    return _Builder(result, scheduler).data(title, explained)


class _Builder:
    def __init__(self, result: Recorded, scheduler: Scheduler | None) -> None:
        self._result, self._scheduler = result, scheduler
        self._jobs = exact(result.jobs)
        self._texts, self._shapes = Texts(), Shapes()

    def data(self, title: str, explained: int) -> PageData:
        result = self._result
        found = PageData(title or "Simulation", "", "result", self._zero(), round(result.seconds, 3), describe())
        found.policy = result.policy
        self._tree(found)
        usage = exact(result.usage)
        pairs = list(dict.fromkeys(usage["flavor_resource"].names))
        known = [(name.partition("/")[0], name.partition("/")[2]) for name in pairs]
        self._limits(found, known)
        found.cells = cells_of(known)
        self._series(found, pairs)
        keys = self._workloads(found)
        self._end(found, keys, explained)
        found.texts, found.shapes = self._texts.all(), self._shapes.all()
        return found

    def _zero(self) -> float | None:
        """Return the first submission time in seconds since the Unix epoch; `None` if the jobs have no dates."""
        if "submit_time" not in self._jobs.names or not len(self._jobs):
            return None
        first = self._jobs["submit_time"].astype("M8[ns]").astype(np.int64)[0] / SECOND
        return float(first - self._jobs["submit"][0])

    def _tree(self, found: PageData) -> None:
        result, scheduler = self._result, self._scheduler
        if scheduler is not None:
            nodes = nodes_of(session_of(scheduler).engine)
            order = [row for row, _ in depth_first(nodes)]
            place = {row: at for at, row in enumerate(order)}
            found.nodes = [
                NodeData(nodes[row].name, nodes[row].kind, place.get(nodes[row].parent, -1)) for row in order
            ]
        else:  # a saved result has the root of each queue only
            trees = sorted(result.trees.items())
            roots = (*(root for queue, root in trees if root != queue), "")
            queues: dict[str, list[str]] = {root: [] for root in roots}
            for queue, root in trees:
                queues[root if root in queues else ""].append(queue)
            for root, mine in queues.items():
                parent = len(found.nodes) if root else -1
                found.nodes += [NodeData(root, "Cohort", -1)] if root else []
                found.nodes += [NodeData(queue, "ClusterQueue", parent) for queue in mine]
        known = {node.name for node in found.nodes if node.kind == "ClusterQueue"}
        gone = [queue for queue in self._result.usage["cluster_queue"].names if queue not in known]
        found.nodes += [NodeData(queue, "ClusterQueue", -1) for queue in gone]
        looks(found.nodes, colours(result))

    def _limits(self, found: PageData, known: list[tuple[str, str]]) -> None:
        """Add the limits and the quota of Cohorts, which the tables of a result do not contain."""
        scheduler = self._scheduler
        if scheduler is None:
            return
        latest = state_data(scheduler, explained=0)
        pairs = {(cell.flavor, cell.resource): place for place, cell in enumerate(latest.cells)}
        known += [pair for pair in pairs if pair not in known]
        cells = {place: known.index(pair) for pair, place in pairs.items()}
        nodes = {(node.kind, node.name): place for place, node in enumerate(found.nodes)}
        place_of = {at: nodes.get((node.kind, node.name)) for at, node in enumerate(latest.nodes)}
        for one in latest.limits:
            if (node := place_of[one.n]) is not None:
                found.limits.append(LimitData(node, cells[one.c], one.borrow, one.lend))
        for quota in latest.nominal:
            if latest.nodes[quota.n].kind == "Cohort" and (node := place_of[quota.n]) is not None:
                found.nominal.append(SeriesData(node, cells[quota.c], [0], quota.v))
        found.racks = latest.racks

    def _series(self, found: PageData, pairs: list[str]) -> None:
        usage = exact(self._result.usage)
        nodes = {node.name: place for place, node in enumerate(found.nodes) if node.kind == "ClusterQueue"}
        seconds = usage["seconds"]
        for queue, pair, rows in series_of(usage):
            for name, into in (("used", found.used), ("nominal", found.nominal)):
                times, values = _steps(seconds[rows], usage[name][rows])
                if times:
                    into.append(SeriesData(nodes[queue], pairs.index(pair), times, values))

    def _workloads(self, found: PageData) -> dict[str, int]:
        jobs, workloads = self._jobs, found.workloads
        nodes = {node.name: place for place, node in enumerate(found.nodes) if node.kind == "ClusterQueue"}
        queues, locals_ = list(jobs["cluster_queue"]), list(jobs["queue"])
        workloads.name = keys = keys_of(jobs)
        workloads.queue = [nodes.get(queue or "", -1) for queue in queues]
        workloads.local = [self._texts(str(name)) for name in locals_]
        workloads.priority = jobs["priority"].tolist()
        workloads.created = [round(float(at), 3) for at in jobs["submit"].tolist()]
        resources = [name for name in jobs.names if is_resource(name)]
        pods = jobs["pods"].tolist()
        columns = [jobs[name].tolist() for name in resources]
        for row, asked in enumerate(zip(*columns, strict=True) if columns else [()] * len(jobs)):
            count = pods[row]
            amounts = {name: value * count for name, value in zip(resources, asked, strict=True)}
            workloads.shape.append(self._shapes(count, amounts))
        changes = self._changes(keys)
        for listed in changes:
            for at, state, note in listed:
                found.events.add(at, state, note)
            found.events.end()
        return {key: row for row, key in enumerate(keys)}

    def _changes(self, keys: list[str]) -> list[list[tuple[float, int, int]]]:
        """Return the changes to the state of each job, in order."""
        submits = self._jobs["submit"].tolist()
        states = list(self._jobs["state"])
        found: list[list[tuple[float, int, int]]] = [
            [] if states[row] == "ToCome" else [(at, PENDING, 0)] for row, at in enumerate(submits)
        ]
        runs = exact(self._result.runs)
        names = ("job", "reserved", "start", "end", "preemptor")
        rows = zip(
            *(runs[name].tolist() for name in names), *(list(runs[name]) for name in ("flavors", "outcome", "rule")),
            strict=True,
        )  # fmt: skip
        for job, reserved, start, end, preemptor, flavors, outcome, rule in sorted(rows, key=lambda row: row[1]):
            held = self._texts(flavors or "")
            if not start <= reserved:  # NaN without an admission
                found[job].append((reserved, RESERVED, held))
            if start == start:  # noqa: PLR0124 - not NaN
                found[job].append((start, ADMITTED, held))
            if outcome in _ENDS:
                found[job].append((end, _ENDS[outcome], self._texts(_lost(outcome, rule, preemptor, keys))))
        decided = exact(self._result.decisions)
        if len(decided):
            mask = np.array([kind == "Deactivated" for kind in decided["kind"]], bool)
            for at, job in zip(decided["seconds"][mask].tolist(), decided["job"][mask].tolist(), strict=True):
                found[job].append((at, GONE, 0))
        return found

    def _end(self, found: PageData, keys: Mapping[str, int], explained: int) -> None:
        """Add the explanations of the workloads that are pending at the end."""
        scheduler = self._scheduler
        if scheduler is None:
            return
        latest = state_data(scheduler, explained=explained)
        found.causes = latest.causes
        named: dict[str, ExplainedData] = {
            latest.workloads.name[int(place)]: about for place, about in latest.explained.items()
        }
        found.explained = {str(keys[name]): about for name, about in named.items() if name in keys}


def _lost(outcome: str, rule: str | None, preemptor: int, keys: list[str]) -> str:
    """Return the reason why a job lost its quota."""
    by = f" by {keys[preemptor]}" if 0 <= preemptor < len(keys) else ""
    return f"{outcome}{by}{f' ({rule})' if rule else ''}; in the queue again"


def _steps(seconds: Any, values: Any) -> tuple[list[float], list[int]]:
    """Return the times at which a value changes, and the values; changes at the same time are merged."""
    if not len(seconds):
        return [], []
    last = np.append(np.diff(seconds) > 0, [True])
    at, kept = seconds[last], np.round(values[last]).astype(np.int64)
    new = np.diff(kept, prepend=0) != 0
    return np.round(at[new], 3).tolist(), kept[new].tolist()
