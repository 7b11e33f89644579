"""Confidence intervals of means and probabilities."""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.simulation.intervals import NORMAL, student


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95% confidence interval of a probability.

    Args:
        hits: The number of successes.
        n: The number of trials.

    Example:
        >>> low, high = wilson(5, 10)
        >>> round(low, 3), round(high, 3)
        (0.237, 0.763)
    """
    z = NORMAL
    centre = (hits + z * z / 2) / (n + z * z)
    half = z * math.sqrt(hits * (n - hits) / n + z * z / 4) / (n + z * z)
    return max(0.0, centre - half), min(1.0, centre + half)


class Estimate(msgspec.Struct, frozen=True):
    """A mean and its 95% confidence interval.

    Attributes:
        mean: The mean; NaN if there are no values.
        low: The lower end of the 95% confidence interval, not below 0 unless a value is negative. The lower end is NaN
            if there are fewer than 2 values or all seeds give the same result.
        high: The upper end of the 95% confidence interval.
        n: The number of values.

    Example:
        >>> Estimate(mean=60.0, low=50.0, high=70.0, n=5).mean
        60.0
    """

    mean: float
    low: float
    high: float
    n: int


class PairedDifference(Estimate, frozen=True):
    """The difference in a metric between two policies, paired by seed.

    Attributes:
        mean: The mean difference, second policy minus first.
        low: The lower end of the 95% confidence interval (Student's t) of the mean; NaN for fewer than 2 seeds.
        high: The upper end of the 95% confidence interval.
        n: The number of seeds for which both policies have the metric.
        larger: The number of seeds with a larger value under the second policy.
        smaller: The number of seeds with a smaller value under the second policy; for all remaining seeds, the two
            values are the same.

    Example:
        >>> PairedDifference(mean=-30.0, low=-50.0, high=-10.0, n=5, larger=0, smaller=5).smaller
        5
    """

    larger: int
    smaller: int


def estimate(values: NDArray[np.float64], *, drawn: bool = True, signed: bool = False) -> Estimate:
    """Return the mean of the values that are not NaN, and its 95% confidence interval by Student's t.

    Args:
        values: The values of a metric, one per seed.
        drawn: Whether results can differ between seeds. If the results cannot differ, no interval is computed. Default:
            True.
        signed: Whether values may be negative, such as differences. If `signed` is False, the interval does not extend
            below 0 unless a value is negative. Default: False.
    """
    there = values[~np.isnan(values)]
    n = len(there)
    if not n:
        return Estimate(float("nan"), float("nan"), float("nan"), 0)
    mean = float(there.mean())
    half = student(n - 1) * float(there.std(ddof=1)) / n**0.5 if n > 1 and drawn else float("nan")
    # What never was negative, such as a wait, has no bound below 0.
    low = mean - half if signed or float(there.min()) < 0 else float(np.maximum(mean - half, 0.0))
    return Estimate(mean, low, mean + half, n)


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> PairedDifference:
    """Return the paired difference between two arrays of a metric by seed, second minus first."""
    difference = second - first
    found, larger, smaller = estimate(difference, signed=True), int((difference > 0).sum()), int((difference < 0).sum())
    return PairedDifference(found.mean, found.low, found.high, found.n, larger, smaller)
