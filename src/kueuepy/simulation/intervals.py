"""95 % confidence intervals of means and percentiles of correlated values, such as the waits of one simulation.

The values, in order of submission, are split into 32 batches of equal length. The interval follows from the variation
between batches, and therefore accounts for correlation between neighbouring jobs. The half-widths are computed as in
N-Skart (Tafazzoli, Steiger and Wilson, "N-Skart: a nonsequential skewness- and autoregression-adjusted batch-means
procedure for simulation analysis", IEEE Transactions on Automatic Control 56, 2011). The procedure uses Student's t
distribution of the batch means, with adjustments for the remaining autocorrelation between batches and for their
skewness.

The interval of a percentile contains every value x that is compatible with the percentile. A value x is compatible if
the confidence interval of the fraction of jobs that wait at most x contains the percentile. The limits are order
statistics, so the resulting interval never exceeds the range of the values, and no density estimate is needed.
`benchmarks/coverage.py` measures the coverage of the intervals.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError, counted, verb
from kueuepy.simulation.grouped import Floats

# The 97.5th percentiles for 1 to 30 degrees of freedom.
_T = (
    *(12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139),
    *(2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963),
    *(2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272),
)
NORMAL = NormalDist().inv_cdf(0.975)
"""The 97.5th percentile of the normal distribution."""


def student(degrees: int) -> float:
    """Return the 97.5th percentile of Student's t distribution, from Fisher's expansion above 30 degrees of freedom.

    >>> round(student(4), 3), round(student(100), 3)
    (2.776, 1.984)
    """
    if degrees <= len(_T):
        return _T[degrees - 1]
    z = NORMAL
    terms = (z**3 + z, 5 * z**5 + 16 * z**3 + 3 * z, 3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z)
    return z + terms[0] / (4 * degrees) + terms[1] / (96 * degrees**2) + terms[2] / (384 * degrees**3)


BATCHES = 32
LEAST = 20 * BATCHES
"""The smallest number of values for an interval."""
TAIL = 100
"""The smallest number of values on each side of a percentile for an interval."""
# With a smaller effective sample size, an interval may be too narrow.
_EFFECTIVE = 50
_PIECES = 10
_MOST_CORRELATED = 0.9
Ends = tuple[float, float]


class Interval(NamedTuple):
    """A 95 % confidence interval.

    Attributes:
        low: The lower limit of the 95 % confidence interval.
        high: The upper limit of the 95 % confidence interval.
        doubt: The reason why the interval may be too narrow; empty if there is none.
    """

    low: float
    high: float
    doubt: str = ""


def around(centre: float, means: Floats, *, upper: bool = True, lower: bool = True) -> Ends:
    """Return the 95 % confidence interval of a mean, from the means of batches of equal size.

    Args:
        centre: The mean of all values, which the interval always contains.
        means: The means of the batches, in order.
        upper: Whether the upper limit is needed.
        lower: Whether the lower limit is needed.
    """
    n, spread = len(means), float(means.std(ddof=1))
    # Equal means have no error, and infinite ones no interval.
    if not spread > 0 or not math.isfinite(spread):
        return centre, centre
    error = spread * math.sqrt(_inflation(means) / n)
    skewness = float((((means - means.mean()) / spread) ** 3).sum()) * n / ((n - 1) * (n - 2))
    shift, t = skewness / (6 * math.sqrt(n)), student(n - 1)
    low = centre - _adjusted(t, shift) * error if lower else centre
    high = centre - _adjusted(-t, shift) * error if upper else centre
    return min(low, centre), max(high, centre)


def _inflation(means: Floats) -> float:
    """Return the factor by which autocorrelation increases the variance of a mean, for an AR(1) process."""
    apart = means - means.mean()
    lag = float((apart[1:] * apart[:-1]).sum() / (apart * apart).sum())
    # A negative estimate is noise, and near 1 the factor would be infinite.
    lag = min(max(lag, 0.0), _MOST_CORRELATED)
    return (1 + lag) / (1 - lag)


def _adjusted(t: float, shift: float) -> float:
    """Return a quantile of Student's t distribution, adjusted for skewness (Willink, 2005)."""
    if abs(shift) < 1e-3:  # noqa: PLR2004 - the limit of the formula for a shift of 0 is t itself
        return t
    return float((np.cbrt(1 + 6 * shift * (t - shift)) - 1) / (2 * shift))


def of_mean(values: Floats) -> Interval:
    """Return the confidence interval of a mean, from values in order of submission.

    Raises:
        InvalidSpecError: There are too few values.
    """
    _expect(len(values), LEAST, "a mean")
    means = np.array([batch.mean() for batch in np.array_split(values, BATCHES)])
    return Interval(*around(float(values.mean()), means), _doubt(float(values.var()), means, len(values)))


def of_percentile(values: Floats, percent: float) -> Interval:
    """Return the confidence interval of a nearest-rank percentile, from values in order of submission.

    Args:
        values: The values.
        percent: The percentile, between 0 and 100.

    Raises:
        InvalidSpecError: There are too few values.
    """
    n, part = len(values), percent / 100
    _expect(n, _jobs_of_percentile(part), f"p{percent:g}")
    ordered = np.sort(values)
    rank = math.ceil(n * percent / 100) - 1
    batches = [np.sort(batch) for batch in np.array_split(values, BATCHES)]
    sizes = np.array([len(batch) for batch in batches])

    def parts(x: float, side: Any) -> Floats:
        found: Floats = np.array([batch.searchsorted(x, side) for batch in batches]) / sizes
        return found

    def is_low_enough(row: int) -> bool:
        below = parts(ordered[row], "right")
        return around(_share(below, sizes), below, lower=False)[1] >= part

    def is_high_enough(row: int) -> bool:
        below = parts(ordered[row], "left")
        return around(_share(below, sizes), below, upper=False)[0] <= part

    # The condition holds at the rank itself, where the bisection ends at the latest.
    low = _first(is_low_enough, rank + 1)
    high = n - 1 - _first(lambda index: is_high_enough(n - 1 - index), n - rank)
    beyond = parts(ordered[rank], "left" if ordered[rank] == ordered[-1] else "right")
    return Interval(float(ordered[low]), float(ordered[high]), _doubt(part * (1 - part), beyond, n))


def jobs_needed(name: str) -> int:
    """Return the smallest number of jobs for which a mean or percentile of waits has an interval.

    >>> jobs_needed("wait_mean"), jobs_needed("wait_p95")
    (640, 2000)

    Args:
        name: The name of the metric.
    """
    percent = name.rpartition("_p")[2]
    return _jobs_of_percentile(int(percent) / 100) if percent.isdigit() else LEAST


def _jobs_of_percentile(part: float) -> int:
    # round() removes the error of 1 - 0.95, which would ask for one job more.
    return max(LEAST, math.ceil(round(TAIL / min(part, 1 - part), 6)))


def _share(parts: Floats, sizes: NDArray[Any]) -> float:
    return float((parts * sizes).sum() / sizes.sum())


def _first(holds: Callable[[int], bool], end: int) -> int:
    """Return the first index from which a condition is true, by bisection.

    The condition must be true for the index `end - 1`.
    """
    below, found = -1, end - 1
    while found - below > 1:
        middle = (below + found) // 2
        below, found = (below, middle) if holds(middle) else (middle, found)
    return found


def of_pieces(centre: float, values: Sequence[float]) -> Interval:
    """Return the confidence interval of a mean over time, from the means of periods of equal length."""
    means = np.array(values, np.float64)
    doubtful = means.std() > 0 and BATCHES / _inflation(means) < _PIECES
    doubt = f"{BATCHES} pieces of the run depend on each other much" if doubtful else ""
    return Interval(*around(centre, means), doubt)


def _expect(n: int, least: int, what: str) -> None:
    if n < least:
        count = f"{counted(n, 'job')} {verb(n, 'count')}"
        raise InvalidSpecError(f"{count}; the interval of {what} needs {least:,} or more")


def _doubt(variance: float, means: Floats, n: int) -> str:
    """Return a warning if the effective sample size is too small, otherwise an empty string."""
    if not variance > 0 or not means.std() > 0:
        return ""
    worth = variance / (float(means.var(ddof=1)) / BATCHES * _inflation(means))
    few = f"{n:,} jobs that depend on each other are worth about {worth:.0f} independent ones"
    return few if worth < _EFFECTIVE else ""
