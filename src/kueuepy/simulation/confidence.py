"""95 % confidence intervals of the metrics of a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.simulation.catalogue import FIGURES
from kueuepy.simulation.intervals import BATCHES, Interval, of_mean, of_percentile, of_pieces
from kueuepy.simulation.measures import job_values, statistic
from kueuepy.simulation.series import Series, integral_to
from kueuepy.simulation.windows import of_cohorts
from kueuepy.tables.columns import exact, is_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

_HOUR = 3600
_NANO = 1e9
_FRACTIONS = ("goodput", "useful", "utilisation", "submission_utilisation")


class Scope(NamedTuple):
    """The data from which a set of metrics is computed.

    Attributes:
        run: The simulation.
        mask: A mask of the jobs that the metrics include.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.
        ends: The time of the last submission, at which the window of `submission_utilisation` ends, in seconds.
        bound: The smallest runtime for the bounded slowdown, in seconds.
        some: Whether the metrics include only some of the jobs.
    """

    run: Recorded
    mask: NDArray[np.bool_]
    low: float
    high: float
    ends: float
    bound: float
    some: bool


def interval(scope: Scope, name: str, value: Any) -> Interval:
    """Return the 95 % confidence interval of a metric; see `Kpis.interval`.

    Args:
        scope: The data from which the metrics are computed.
        name: The name of the metric, optionally with `flavor/resource`.
        value: The value of the metric, or a dict of values.

    Raises:
        InvalidSpecError: The metric does not exist or has no interval, or there are too few jobs.
        StateError: The metric needs the usage, which was not recorded.
    """
    field, _, cell = name.partition(" ")
    source = FIGURES[field].source if field in FIGURES else None
    if source == "most":
        raise InvalidSpecError(f'interval: "{name}" is a maximum, for which one simulation gives no interval')
    if source not in ("jobs", "time"):
        allowed = ", ".join(name for name, figure in FIGURES.items() if figure.source in ("jobs", "time"))
        raise InvalidSpecError(f'interval: "{name}" is not a figure with an interval; those are {allowed}')
    if isinstance(value, dict):
        cell = _cell_of(name, cell, value)
        value = value[cell]
    elif cell:
        raise InvalidSpecError(f'interval: "{name}": {field} is not by flavor and resource')
    if value is None:
        raise InvalidSpecError(f'interval: "{name}": no job has it')
    try:
        low, high, doubt = _of_jobs(scope, field) if source == "jobs" else _of_time(scope, field, cell, value)
    except InvalidSpecError as error:
        raise InvalidSpecError(f'interval: "{name}": {error}') from None
    # Rounding must not exclude the value; no metric is negative, and no fraction exceeds 1.
    high = min(high, max(1.0, value)) if field in _FRACTIONS else high
    return Interval(min(max(low, 0.0), value), max(high, value), doubt)


def _cell_of(name: str, cell: str, value: dict[str, float]) -> str:
    """Return the `flavor/resource` in the name of a metric, or the only one of the metric if the name has none."""
    known = ", ".join(value) or "none"
    if cell and cell not in value:
        raise InvalidSpecError(f'interval: "{name}": "{cell}" names no flavor and resource; there are {known}')
    if not cell and len(value) != 1:
        raise InvalidSpecError(f'interval: "{name}": of which flavor and resource: {known}')
    return cell or next(iter(value))


def _of_jobs(scope: Scope, field: str) -> Interval:
    rows = np.flatnonzero(scope.mask)
    order = rows[np.argsort(scope.run.jobs["submit"][rows], kind="stable")]
    name, percent = statistic(field)
    _, values = job_values(scope.run, order, scope.bound)[name]
    return of_mean(values) if percent is None else of_percentile(values, percent)


def _of_time(scope: Scope, field: str, cell: str, value: float) -> Interval:
    if scope.some:
        raise InvalidSpecError("a figure over time has no interval for some jobs alone")
    end = scope.ends if field == "submission_utilisation" else scope.high
    edges = np.linspace(scope.low, end, BATCHES + 1)
    if not end > scope.low:
        raise InvalidSpecError("the window is empty")
    if field == "throughput":
        done = scope.mask & is_named(scope.run.jobs["state"], "Finished")
        counts, _ = np.histogram(scope.run.jobs["submit"][done], edges)
        return of_pieces(value, (counts * _HOUR / np.diff(edges)).tolist())
    if not len(scope.run.usage):
        raise StateError("interval: needs the usage; record it with Recording(usage=True)")
    pieces = _waiting(scope.run, edges) if field == "waiting_mean" else _utilisation(scope.run, edges, cell)
    return of_pieces(value, pieces.tolist())


def _waiting(run: Recorded, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean number of waiting jobs in each interval between consecutive time edges."""
    usage = Series(exact(run.usage))
    total = integral_to(*usage.total(usage.column("waiting"), usage.of_queues()), edges)
    found: NDArray[np.float64] = np.diff(total) / np.diff(edges)
    return found


def _utilisation(run: Recorded, edges: NDArray[np.float64], cell: str) -> NDArray[np.float64]:
    usage = Series(exact(run.usage))
    mine = np.array([own == cell for _, own in usage.keys], bool)
    used, nominal = (integral_to(*usage.total(usage.column(name), mine), edges) for name in ("used", "nominal"))
    there = np.diff(nominal + of_cohorts(run, cell) * edges)
    return np.divide(np.diff(used), there, out=np.zeros(len(there)), where=there > 0)
