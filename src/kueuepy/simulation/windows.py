"""Metrics for a time window or some of the jobs, computed from the recorded tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import StateError
from kueuepy.simulation.series import pieces, series_of
from kueuepy.simulation.sums import sums
from kueuepy.tables.columns import exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

_NANO = 1e9
_Steps = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


def of_cohorts(run: Recorded, cell: str) -> float:
    """Return the time-weighted mean of the nominal quota of Cohorts, excluding the quota of ClusterQueues."""
    seconds = run.seconds - run.warmup
    of_queues = sum(queue["cells"].get(cell, (0, 0, 0, 0))[1] for queue in run.totals["queues"].values())
    extra = float(run.totals["nominal"].get(cell, 0.0)) - float(of_queues)
    return extra / _NANO / seconds if seconds > 0 and extra > 1e-9 * of_queues else 0.0


def integrals(run: Recorded, low: float, high: float) -> dict[str, Any]:
    """Return the time integrals over a window, as amounts times nanoseconds, from the recorded tables.

    Args:
        run: The simulation.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.

    Raises:
        StateError: The usage was not recorded.
    """
    if not len(run.usage):
        raise StateError("figures: a window needs the usage; record it with Recording(usage=True)")
    found: dict[str, Any] = {name: {} for name in ("nominal", "used", "borrowed")}
    by_queue: dict[str, dict[str, float]] = {}
    usage = exact(run.usage)
    for queue, cell, rows, lengths in pieces(usage, low, high, run.seconds):
        for name, totals in found.items():
            total = float((usage[name][rows] * lengths).sum()) * _NANO
            totals[cell] = totals.get(cell, 0.0) + total
            if name == "used":
                by_queue.setdefault(queue, {})[cell] = total
    for cell in found["nominal"]:
        found["nominal"][cell] += of_cohorts(run, cell) * max(0.0, high - low) * _NANO
    waiting = _sum(list(_firsts(run, "waiting").values()))
    borrowing = _sum([(at, (values > 0) * 1.0) for _, _, at, values in _series(run, "borrowed")])
    any_borrows = (borrowing[0], np.minimum(borrowing[1], 1.0))
    return {
        **found,
        "lent": _lent(run, low, high),
        "idle": _idle(run, low, high),
        "waits": _integral(waiting, low, high) * _NANO,
        "most_waiting": int(_most(waiting, low, high)),
        "borrowing": _integral(any_borrows, low, high) * _NANO,
        **_blocked(run, low, high),
        "by_queue": by_queue,
    }


def _series(run: Recorded, name: str) -> list[tuple[str, str, Any, Any]]:
    """Return the times and values of a column of the usage, for each ClusterQueue and `flavor/resource`."""
    table = exact(run.usage)
    times, values = table["seconds"], table[name].astype(np.float64)
    return [(queue, cell, times[rows], values[rows]) for queue, cell, rows in series_of(table)]


def _firsts(run: Recorded, name: str) -> dict[str, _Steps]:
    """Return, for each ClusterQueue, a value that is the same for all its flavors and resources."""
    found: dict[str, _Steps] = {}
    for queue, _, at, values in _series(run, name):
        found.setdefault(queue, (at, values))
    return found


def _sum(series: list[_Steps]) -> _Steps:
    """Return the sum of step functions, which are 0 before their first step."""
    at = np.concatenate([np.zeros(0), *(times for times, _ in series)])
    change = np.concatenate([np.zeros(0), *(np.diff(values, prepend=0.0) for _, values in series)])
    order = np.argsort(at, kind="stable")
    last = np.append(np.diff(at[order]) > 0, [True]) if len(at) else np.zeros(0, bool)
    return at[order][last], np.cumsum(change[order])[last]


def _integral(steps: _Steps, low: float, high: float) -> float:
    at, values = steps
    return float((values * _lengths(at, low, high)).sum())


def _lengths(at: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    until = np.append(at[1:], [max(high, at[-1])]) if len(at) else at
    found: NDArray[np.float64] = np.maximum(np.minimum(until, high) - np.maximum(at, low), 0.0)
    return found


def _most(steps: _Steps, low: float, high: float) -> float:
    """Return the largest value in the window, without values that apply for no time."""
    at, values = steps
    return float(values[_lengths(at, low, high) > 0].max(initial=0.0))


def _lent(run: Recorded, low: float, high: float) -> dict[str, float]:
    """Return the borrowed quota that is unused nominal quota of other ClusterQueues, by `flavor/resource`."""
    trees: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = {}
    table = exact(run.usage)
    for queue, cell, rows in series_of(table):
        unused = np.maximum(table["nominal"][rows] - table["used"][rows], 0).astype(np.float64)
        entry = (table["seconds"][rows], table["borrowed"][rows].astype(np.float64), unused)
        trees.setdefault((run.trees.get(queue, queue), cell), []).append(entry)
    found: dict[str, float] = {}
    for (_, cell), entries in trees.items():
        at, borrowed = _sum([(times, values) for times, values, _ in entries])
        _, unused = _sum([(times, values) for times, _, values in entries])
        total = _integral((at, np.minimum(borrowed, unused)), low, high) * _NANO
        found[cell] = found.get(cell, 0.0) + total
    return found


def _idle(run: Recorded, low: float, high: float) -> dict[str, float]:
    """Return the free quota that waiting jobs requested, over all cohort trees, by `flavor/resource`."""
    table = exact(run.idle)
    series = (
        (cell, table["seconds"][rows], table["idle"][rows])
        for _, cell, rows in series_of(table, ("tree", "flavor_resource"))
    )
    return sums((cell, _integral((at, values), low, high) * _NANO) for cell, at, values in series)


def _blocked(run: Recorded, low: float, high: float) -> dict[str, float]:
    """Return integrals over ClusterQueues with waiting jobs: used over entitled quota, and time."""
    found = {"blocked": 0.0, "somebody_waits": 0.0}
    table = run.blocked
    for _, _, rows in series_of(table, ("cluster_queue", "cluster_queue")):
        at, values = table["seconds"][rows], table["blocked"][rows]
        found["blocked"] += _integral((at, np.maximum(values, 0.0)), low, high) * _NANO
        found["somebody_waits"] += _integral((at, (values >= 0) * 1.0), low, high) * _NANO
    return found


def of_runs(run: Recorded, low: float, high: float, mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the quota held, lost work and overhead of some jobs by `flavor/resource`, and their preemptions by rule.

    A run is the time from one admission of a job to the release of its quota. Held quota counts for the part of a run
    inside the window. Evictions, lost work and overhead count in the window in which the run ends. All results are
    empty if runs were not recorded.

    Args:
        run: The simulation.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.
        mask: The jobs that count.
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
