"""How sure a mean is: Student's t of few numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from kueuepy.simulation.student import NORMAL, student

if TYPE_CHECKING:
    from numpy.typing import NDArray


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a probability, of which `hits` of `n` draws hit.

    >>> low, high = wilson(5, 10)
    >>> round(low, 3), round(high, 3)
    (0.237, 0.763)
    """
    z = NORMAL
    centre = (hits + z * z / 2) / (n + z * z)
    half = z * math.sqrt(hits * (n - hits) / n + z * z / 4) / (n + z * z)
    return max(0.0, centre - half), min(1.0, centre + half)


class Estimate(msgspec.Struct, frozen=True):
    """A mean and its interval.

    Attributes:
        mean: The mean.
        low: Where its 95 % interval begins, never below 0; NaN of fewer than two numbers, and where all seeds give the
            same.
        high: Where it ends.
        n: Of how many numbers it is.
    """

    mean: float
    low: float
    high: float
    n: int


class PairedDifference(msgspec.Struct, frozen=True):
    """How much larger a figure is under one policy than under another, seed by seed.

    Attributes:
        mean: The mean difference, second minus first.
        low: Where its 95 % interval by Student's t begins; NaN of fewer than two seeds.
        high: Where it ends.
        n: How many seeds both have.
        larger: In how many seeds it is larger.
        smaller: In how many it is smaller; in the others it is equal.
    """

    mean: float
    low: float
    high: float
    n: int
    larger: int
    smaller: int


def estimate(values: NDArray[np.float64], *, drawn: bool = True, signed: bool = False) -> Estimate:
    """Return the mean of the values that are not NaN, and its 95 % interval by Student's t.

    Args:
        values: A figure by seed.
        drawn: Whether anything differs from seed to seed; without, there is no interval.
        signed: Whether the values may be negative, as differences are. Otherwise no interval goes below 0.
    """
    there = values[~np.isnan(values)]
    n = len(there)
    if not n:
        return Estimate(float("nan"), float("nan"), float("nan"), 0)
    mean = float(there.mean())
    half = student(n - 1) * float(there.std(ddof=1)) / n**0.5 if n > 1 and drawn else float("nan")
    low = mean - half if signed or float(there.min()) < 0 else float(np.maximum(mean - half, 0.0))
    return Estimate(mean, low, mean + half, n)


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> PairedDifference:
    """The differences of two policies' figures by seed."""
    difference = second - first
    found, larger, smaller = estimate(difference, signed=True), int((difference > 0).sum()), int((difference < 0).sum())
    return PairedDifference(found.mean, found.low, found.high, found.n, larger, smaller)
