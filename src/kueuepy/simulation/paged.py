"""The data of a page that shows the result of a simulation, computed from the tables of the result."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy.objects import SECOND
from kueuepy.pages.data import (
    ADMITTED,
    GONE,
    MOST_EXPLAINED,
    PENDING,
    RESERVED,
    NodeData,
    PageBuilder,
    PageData,
    WorkloadsData,
    looks,
    state_data,
)
from kueuepy.profiles.version import describe
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.columns import is_resource, keys_of
from kueuepy.simulation.grouped import series_of
from kueuepy.simulation.pictures.catalogue import colours, pair_of
from kueuepy.simulation.recorded import Recorded, require
from kueuepy.tables.columns import Columns, exact, is_named

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
    if len(result.jobs):
        require(result, "page", "usage")
    # Without an admission, a table of runs without rows is complete.
    if result.stats.get("admissions"):
        require(result, "page", "runs")
    if scheduler is None:
        latest = PageData("", "", "result", None, 0.0, describe(), nodes=_trees(result))
    else:
        latest = state_data(scheduler, explained=explained)
    usage = exact(result.usage)
    known = {node.name for node in latest.nodes if node.kind == "ClusterQueue"}
    # A ClusterQueue that an event deletes still had jobs and usage.
    deleted = [name for name in usage["cluster_queue"].names if name not in known]
    latest.nodes += [NodeData(name, "ClusterQueue", -1) for name in deleted]
    looks(latest.nodes, colours(result))
    of_cohorts = [one for one in latest.nominal if latest.nodes[one.n].kind == "Cohort"]  # a result has no table of it
    made = PageBuilder(latest)
    latest.title, latest.kind, latest.policy = title or "Simulation", "result", result.policy
    latest.zero, latest.end, latest.ordered = _zero(result), round(result.seconds, 3), False
    latest.nominal += of_cohorts
    for queue, pair, rows in series_of(usage):
        flavor, _, resource = pair.partition("/")
        for what in ("used", "nominal"):
            times, values = _steps(usage["seconds"][rows], usage[what][rows])
            if times:
                one = made.series(what, made.queue(queue), made.pair(flavor, resource))
                one.t, one.v = times, values
    _add_workloads(made, exact(result.jobs))
    _add_changes(made, result)
    return made.finish(pair_of(result, None) if result.totals["nominal"] else "")


def _zero(result: Recorded) -> float | None:
    """Return the first submission time in seconds since the Unix epoch; `None` if the jobs have no dates."""
    jobs = exact(result.jobs)
    if "submit_time" not in jobs.names or not len(jobs):
        return None
    first = jobs["submit_time"].astype("M8[ns]").astype(np.int64)[0] / SECOND
    return float(first - jobs["submit"][0])


def _trees(result: Recorded) -> list[NodeData]:
    """Return the nodes of a saved result, which has the root of each ClusterQueue only."""
    trees = sorted(result.trees.items())
    roots = (*(root for queue, root in trees if root != queue), "")
    queues: dict[str, list[str]] = {root: [] for root in roots}
    for queue, root in trees:
        queues[root if root in queues else ""].append(queue)
    nodes: list[NodeData] = []
    for root, mine in queues.items():
        parent = len(nodes) if root else -1
        nodes += [NodeData(root, "Cohort", -1)] if root else []
        nodes += [NodeData(queue, "ClusterQueue", parent) for queue in mine]
    return nodes


def _add_workloads(made: PageBuilder, jobs: Columns) -> None:
    queues, locals_ = jobs["cluster_queue"], jobs["queue"]
    indices = np.array([*map(made.queue, queues.names), -1])
    texts = np.array([*map(made.texts, locals_.names), 0])
    resources = [name for name in jobs.names if is_resource(name)]
    asked = [jobs["pods"], *(jobs[name] for name in resources)]
    groups = np.zeros(len(jobs), np.int64)
    # np.unique of a matrix would sort rows of all columns, which is slower.
    for column in asked:  # rows with equal requests get the same number
        _, codes = np.unique(column, return_inverse=True)
        _, groups = np.unique(groups * len(jobs) + codes, return_inverse=True)
    _, first = np.unique(groups, return_index=True)
    shapes = []
    for pods, *each in zip(*(column[first].tolist() for column in asked), strict=True):
        amounts = {name: value * pods for name, value in zip(resources, each, strict=True)}
        shapes.append(made.shapes(pods, amounts))
    made.page.workloads = WorkloadsData(
        keys_of(jobs),
        indices[queues.codes].tolist(),
        texts[locals_.codes].tolist(),
        jobs["priority"].tolist(),
        jobs["submit"].round(3).tolist(),
        np.array(shapes, np.int64)[groups].tolist(),
    )


def _add_changes(made: PageBuilder, result: Recorded) -> None:
    """Add the changes to the state of each job: its submission, the parts of its runs in order, and its end."""
    jobs, runs, decided = exact(result.jobs), exact(result.runs), exact(result.decisions)
    keys = made.page.workloads.name
    order = np.argsort(runs["reserved"], kind="stable") if len(runs) else np.zeros(0, np.int64)
    job, reserved, start, end = (runs[name][order] for name in ("job", "reserved", "start", "end"))
    held = np.array([*map(made.texts, runs["flavors"].names), 0])[runs["flavors"].codes[order]]
    run = np.arange(1, len(order) + 1)
    submitted = np.flatnonzero(~is_named(jobs["state"], "ToCome"))
    parts = [_changes(submitted, jobs["submit"][submitted], PENDING)]
    waits = ~(start <= reserved)  # `start` is NaN without an admission
    # Three steps for each run keep its changes in order, also if they share a time.
    parts.append(_changes(job[waits], reserved[waits], RESERVED, held[waits], 3 * run[waits]))
    starts = ~np.isnan(start)
    parts.append(_changes(job[starts], start[starts], ADMITTED, held[starts], 3 * run[starts] + 1))
    outcomes, rules = runs["outcome"], runs["rule"]
    for outcome, state in _ENDS.items():
        rows = np.flatnonzero(is_named(outcomes, outcome)[order])
        notes = np.zeros(len(rows), np.int64)
        if outcome != "Finished":
            makers = runs["preemptor"][order[rows]].tolist()
            pairs = zip(order[rows].tolist(), makers, strict=True)
            lost = (_lost(outcome, rules[row], by, keys) for row, by in pairs)
            notes = np.fromiter(map(made.texts, lost), np.int64, len(rows))
        parts.append(_changes(job[rows], end[rows], state, notes, 3 * run[rows] + 2))
    if len(decided):
        gone = np.flatnonzero(is_named(decided["kind"], "Deactivated"))
        # After all runs: a deactivated workload does not run again.
        parts.append(_changes(decided["job"][gone], decided["seconds"][gone], GONE, step=3 * len(run) + 3))
    rows, times, states, notes, steps = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((steps, rows))
    events = made.page.events
    events.first = [0, *np.cumsum(np.bincount(rows, minlength=len(jobs))).tolist()]
    events.t, events.state, events.note = (
        np.round(times[order], 3).tolist(),
        states[order].tolist(),
        notes[order].tolist(),
    )


def _changes(
    rows: NDArray[Any], times: NDArray[Any], state: int, notes: Any = 0, step: Any = 0
) -> tuple[NDArray[Any], ...]:
    """Return changes to the state of jobs as columns; `step` is the order of the changes of one job."""
    return rows, times, *(np.broadcast_to(np.asarray(value, np.int64), rows.shape) for value in (state, notes, step))


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
