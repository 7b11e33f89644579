"""95 % intervals of means and percentiles of values that depend on each other, such as the waits of one run.

The values of a run, in the order of submission, are cut into 32 batches of equal length. What varies between batches
says how sure the whole is, also where neighbouring jobs wait alike. The half-widths are those of N-Skart (Tafazzoli,
Steiger and Wilson, "N-Skart: a nonsequential skewness- and autoregression-adjusted batch-means procedure for simulation
analysis", IEEE Transactions on Automatic Control 56, 2011): Student's t of the batch means, widened by the
autocorrelation that is left between batches, and shifted by their skewness.

The interval of a percentile holds every value x for which the fraction of jobs that wait for x or less, with its own
interval by the same rule, is compatible with that percentile: an interval between order statistics. It never leaves the
range of the values, and needs no density. `benchmarks/coverage.py` measures how often the intervals hold the truth.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted, verb
from kueuepy.simulation.student import student

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

BATCHES = 32
LEAST = 20 * BATCHES
"""The fewest values with an interval."""
TAIL = 100
"""The fewest values on each side of a percentile with an interval."""
_EFFECTIVE = 50
"""With values that are worth fewer independent ones, an interval may be too narrow."""
_PIECES = 10
_MOST_CORRELATED = 0.9
Ends = tuple[float, float]


class Interval(NamedTuple):
    """A 95 % interval, and why it may be too narrow; the doubt is empty where nothing speaks for that."""

    low: float
    high: float
    doubt: str = ""


def around(centre: float, means: NDArray[np.float64], *, upper: bool = True, lower: bool = True) -> Ends:
    """Return the 95 % interval of a mean of which batches of equal size have these means.

    Args:
        centre: The mean of all values, which the interval always holds.
        means: The means of the batches, in their order.
        upper: Whether the upper end is needed.
        lower: Whether the lower end is needed.
    """
    n, spread = len(means), float(means.std(ddof=1))
    if not spread > 0 or not math.isfinite(spread):
        return centre, centre
    error = spread * math.sqrt(_inflation(means) / n)
    skewness = float((((means - means.mean()) / spread) ** 3).sum()) * n / ((n - 1) * (n - 2))
    shift, t = skewness / (6 * math.sqrt(n)), student(n - 1)
    low = centre - _adjusted(t, shift) * error if lower else centre
    high = centre - _adjusted(-t, shift) * error if upper else centre
    return min(low, centre), max(high, centre)


def _inflation(means: NDArray[np.float64]) -> float:
    """Return by how much the variance of a mean exceeds that of independent batches, if they are autoregressive."""
    apart = means - means.mean()
    lag = float((apart[1:] * apart[:-1]).sum() / (apart * apart).sum())
    lag = min(max(lag, 0.0), _MOST_CORRELATED)
    return (1 + lag) / (1 - lag)


def _adjusted(t: float, shift: float) -> float:
    """Return a quantile of Student's t, moved as the skewness of what it is taken of asks for (Willink, 2005)."""
    if abs(shift) < 1e-3:  # noqa: PLR2004 - the limit of the formula for a shift of 0 is t itself
        return t
    return float((np.cbrt(1 + 6 * shift * (t - shift)) - 1) / (2 * shift))


def of_mean(values: NDArray[np.float64]) -> Interval:
    """Return the interval of the mean of values in the order of a run.

    Raises:
        InvalidSpecError: The values are too few.
    """
    _expect(len(values), LEAST, "a mean")
    means = np.array([batch.mean() for batch in np.array_split(values, BATCHES)])
    return Interval(*around(float(values.mean()), means), _doubt(float(values.var()), means, len(values)))


def of_percentile(values: NDArray[np.float64], percent: float) -> Interval:
    """Return the interval of a nearest-rank percentile of values in the order of a run.

    Raises:
        InvalidSpecError: The values are too few.
    """
    n, part = len(values), percent / 100
    _expect(n, max(LEAST, math.ceil(round(TAIL / min(part, 1 - part), 6))), f"p{percent:g}")
    ordered = np.sort(values)
    rank = math.ceil(n * percent / 100) - 1
    batches = [np.sort(batch) for batch in np.array_split(values, BATCHES)]
    sizes = np.array([len(batch) for batch in batches])

    def parts(x: float, side: Any) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.array([batch.searchsorted(x, side) for batch in batches]) / sizes
        return found

    def is_low_enough(row: int) -> bool:
        below = parts(ordered[row], "right")
        return around(_share(below, sizes), below, lower=False)[1] >= part

    def is_high_enough(row: int) -> bool:
        below = parts(ordered[row], "left")
        return around(_share(below, sizes), below, upper=False)[0] <= part

    low = _first(is_low_enough, rank + 1)
    high = n - 1 - _first(lambda place: is_high_enough(n - 1 - place), n - rank)
    beyond = parts(ordered[rank], "left" if ordered[rank] == ordered[-1] else "right")
    return Interval(float(ordered[low]), float(ordered[high]), _doubt(part * (1 - part), beyond, n))


def _share(parts: NDArray[np.float64], sizes: NDArray[Any]) -> float:
    return float((parts * sizes).sum() / sizes.sum())


def _first(holds: Callable[[int], bool], end: int) -> int:
    """Return the first place before `end` from which on a condition holds; the last one is known to hold."""
    below, found = -1, end - 1
    while found - below > 1:
        middle = (below + found) // 2
        below, found = (below, middle) if holds(middle) else (middle, found)
    return found


def of_pieces(centre: float, values: Sequence[float]) -> Interval:
    """Return the interval of a mean over time, of which pieces of equal length have these means."""
    means = np.array(values, np.float64)
    doubtful = means.std() > 0 and BATCHES / _inflation(means) < _PIECES
    doubt = f"{BATCHES} pieces of the run depend on each other much" if doubtful else ""
    return Interval(*around(centre, means), doubt)


def _expect(n: int, least: int, what: str) -> None:
    if n < least:
        count = f"{counted(n, 'job')} {verb(n, 'count')}"
        raise InvalidSpecError(f"{count}; the interval of {what} needs {least:,} or more")


def _doubt(variance: float, means: NDArray[np.float64], n: int) -> str:
    """Return whether values are worth too few independent ones, from their variance and the means of their batches."""
    if not variance > 0 or not means.std() > 0:
        return ""
    worth = variance / (float(means.var(ddof=1)) / BATCHES * _inflation(means))
    few = f"{n:,} jobs that depend on each other are worth about {worth:.0f} independent ones"
    return few if worth < _EFFECTIVE else ""
