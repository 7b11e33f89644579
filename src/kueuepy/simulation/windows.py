"""Metrics for a time window or some of the jobs, computed from the recorded tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import StateError
from kueuepy.simulation.grouped import Groups, sums
from kueuepy.simulation.series import Series, Steps, lengths_between
from kueuepy.tables.columns import exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

_NANO = 1e9


def of_cohorts(run: Recorded, cell: str) -> float:
    """Return the time-weighted mean of the nominal quota of Cohorts, without the quota of their ClusterQueues."""
    of_queues = sum(queue["cells"].get(cell, (0, 0, 0, 0))[1] for queue in run.totals["queues"].values())
    return _beyond(run, cell, of_queues)


def _beyond(run: Recorded, cell: str, of_queues: float) -> float:
    seconds = run.seconds - run.warmup
    extra = float(run.totals["nominal"].get(cell, 0.0)) - float(of_queues)
    return extra / _NANO / seconds if seconds > 0 and extra > 1e-9 * of_queues else 0.0


def integrals(run: Recorded, low: float, high: float) -> dict[str, Any]:
    """Return the time integrals over a window, as amounts multiplied by nanoseconds, from the recorded tables.

    Args:
        run: The simulation.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.

    Raises:
        StateError: The usage was not recorded.
    """
    if not len(run.usage):
        raise StateError("figures: a window needs the usage; record it with Recording(usage=True)")
    usage = Series(exact(run.usage))
    lengths = usage.lengths(low, high)
    totals = {name: usage.integrals(usage.column(name), lengths) * _NANO for name in ("nominal", "used", "borrowed")}
    found: dict[str, Any] = {name: usage.by_second(total) for name, total in totals.items()}
    by_queue: dict[str, dict[str, float]] = {}
    for (queue, cell), total in zip(usage.keys, totals["used"].tolist(), strict=True):
        by_queue.setdefault(queue, {})[cell] = total
    of_queues = sums((cell, row[1]) for queue in run.totals["queues"].values() for cell, row in queue["cells"].items())
    for cell in found["nominal"]:
        found["nominal"][cell] += _beyond(run, cell, of_queues.get(cell, 0)) * max(0.0, high - low) * _NANO
    waiting = usage.total(usage.column("waiting"), usage.of_queues())
    at, borrowing = usage.total(usage.column("borrowed") > 0)
    return {
        **found,
        "lent": _lent(run, usage, low, high),
        "idle": _idle(run, low, high),
        "waits": _integral(waiting, low, high) * _NANO,
        "most_waiting": int(_most(waiting, low, high)),
        "borrowing": _integral((at, np.minimum(borrowing, 1.0)), low, high) * _NANO,
        **_blocked(run, low, high),
        "by_queue": by_queue,
    }


def _integral(steps: Steps, low: float, high: float) -> float:
    at, values = steps
    return float((values * _lengths(at, low, high)).sum())


def _lengths(at: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    return lengths_between(at, np.append(at[1:], [high])[: len(at)], low, high)


def _most(steps: Steps, low: float, high: float) -> float:
    """Return the largest value of a step function within the window, excluding values of zero duration."""
    at, values = steps
    return float(values[_lengths(at, low, high) > 0].max(initial=0.0))


def _lent(run: Recorded, usage: Series, low: float, high: float) -> dict[str, float]:
    """Return the borrowed quota that comes from unused nominal quota of other ClusterQueues, by `flavor/resource`."""
    borrowed, nominal, used = (usage.column(name) for name in ("borrowed", "nominal", "used"))
    trees: dict[tuple[str, str], int] = {}
    tree_of = np.array(
        [trees.setdefault((run.trees.get(queue, queue), cell), len(trees)) for queue, cell in usage.keys], np.int64
    )
    borrows = np.bincount(tree_of, usage.groups.largest(borrowed)) > 0
    mine = borrows[tree_of][usage.groups.of]
    rows = np.flatnonzero(mine)
    rows = rows[np.argsort(usage.groups.rows[rows])]  # the table is in chronological order
    groups = Groups.by(tree_of[usage.groups.of[rows]], len(trees))
    rows = rows[groups.rows]
    changes = [usage.changes(values)[rows] for values in (borrowed, np.maximum(nominal - used, 0))]
    taken, unused = (groups.accumulated(change) for change in changes)
    until = np.append(usage.at[rows[1:]], [high])[: len(rows)]
    until[(groups.bounds[1:] - 1)[groups.sizes > 0]] = high
    lengths = lengths_between(usage.at[rows], until, low, high)
    totals = groups.sums(np.minimum(taken, unused) * lengths) * _NANO
    return sums((cell, total) for (_, cell), total in zip(trees, totals.tolist(), strict=True))


def _idle(run: Recorded, low: float, high: float) -> dict[str, float]:
    """Return the free quota that waiting jobs requested, summed over all cohort trees, by `flavor/resource`."""
    idle = Series(exact(run.idle), ("tree", "flavor_resource"))
    return idle.by_second(idle.integrals(idle.column("idle"), idle.lengths(low, high)) * _NANO)


def _blocked(run: Recorded, low: float, high: float) -> dict[str, float]:
    """Return two integrals over ClusterQueues with waiting jobs: used quota divided by entitled quota, and time."""
    table = Series(run.blocked, ("cluster_queue", "cluster_queue"))
    values, lengths = table.column("blocked"), table.lengths(low, high)
    return {
        "blocked": float(table.integrals(np.maximum(values, 0.0), lengths).sum()) * _NANO,
        "somebody_waits": float(table.integrals(values >= 0, lengths).sum()) * _NANO,
    }


def of_runs(run: Recorded, low: float, high: float, mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the held quota, lost work and overhead of jobs by `flavor/resource`, and their preemptions by rule.

    A run is the time from one admission of a job to the release of its quota. Held quota is counted only for the time
    of a run that lies within the window. Evictions, lost work and overhead are counted in the window in which the run
    ends. All results are empty if runs were not recorded.

    Args:
        run: The simulation.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.
        mask: A mask of the jobs to include.
    """
    runs = run.runs
    found: dict[str, Any] = {"held": {}, "lost": {}, "overhead": {}, "rules": {}}
    if not len(runs):
        return found
    cells, amounts = _amounts(run)
    end = np.where(np.isnan(runs["end"]), run.seconds, runs["end"])
    mine = mask[runs["job"]]
    inside = mine & (end >= low) & ((end < high) | (high >= run.seconds))
    held = np.where(mine, np.maximum(np.minimum(end, high) - np.maximum(runs["reserved"], low), 0.0), 0.0)
    values = {"held": held, "lost": runs["lost"] * inside, "overhead": runs["overhead"] * inside}
    for name, seconds in values.items():
        sums = np.bincount(runs["assignment"], weights=seconds, minlength=len(amounts)) @ amounts * _NANO
        found[name] = {cell: float(total) for cell, total in zip(cells, sums, strict=True) if total}
    rules = runs["rule"]
    counts = np.bincount(rules.codes[inside & (rules.codes >= 0)], minlength=len(rules.names))
    found["rules"] = {name: int(count) for name, count in zip(rules.names, counts, strict=True) if count}
    return found


def _amounts(run: Recorded) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names of flavors and resources, and the amounts of each assignment, of shape (assignments, names)."""
    known: dict[str, int] = {}
    for assigned in run.totals["assigned"]:
        for _, resource, flavor, _ in assigned:
            known.setdefault(f"{flavor}/{resource}", len(known))
    amounts = np.zeros((len(run.totals["assigned"]), len(known)))
    for place, assigned in enumerate(run.totals["assigned"]):
        for _, resource, flavor, amount in assigned:
            amounts[place, known[f"{flavor}/{resource}"]] += amount
    return list(known), amounts
