"""How sure a mean is: Student's t of few numbers."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_T = (
    *(12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139),
    *(2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963),
    *(2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272),
)
"""Of 1 to 30 degrees of freedom, what 97.5 of 100 do not exceed."""
_NORMAL = NormalDist().inv_cdf(0.975)
"""The same of the normal distribution."""


def student(degrees: int) -> float:
    """What 97.5 of 100 draws of Student's distribution do not exceed; beyond 30 degrees by Fisher's expansion.

    >>> round(student(4), 3), round(student(100), 3)
    (2.776, 1.984)
    """
    if degrees <= len(_T):
        return _T[degrees - 1]
    z = _NORMAL
    terms = (z**3 + z, 5 * z**5 + 16 * z**3 + 3 * z, 3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z)
    return z + terms[0] / (4 * degrees) + terms[1] / (96 * degrees**2) + terms[2] / (384 * degrees**3)


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a probability, of which `hits` of `n` draws hit.

    >>> low, high = wilson(5, 10)
    >>> round(low, 3), round(high, 3)
    (0.237, 0.763)
    """
    z = _NORMAL
    centre = (hits + z * z / 2) / (n + z * z)
    half = z * math.sqrt(hits * (n - hits) / n + z * z / 4) / (n + z * z)
    return max(0.0, centre - half), min(1.0, centre + half)


class Estimate(msgspec.Struct, frozen=True):
    """A mean and its interval.

    Attributes:
        mean: The mean.
        low: Where its 95 % interval begins; NaN of fewer than two numbers.
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


def estimate(values: NDArray[np.float64]) -> Estimate:
    """The mean of what is there (NaN is not), and its 95 % interval by Student's t."""
    there = values[~np.isnan(values)]
    n = len(there)
    if not n:
        return Estimate(float("nan"), float("nan"), float("nan"), 0)
    mean = float(there.mean())
    half = student(n - 1) * float(there.std(ddof=1)) / n**0.5 if n > 1 else float("nan")
    return Estimate(mean, mean - half, mean + half, n)


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> PairedDifference:
    """The differences of two policies' figures by seed."""
    difference = second - first
    found, larger, smaller = estimate(difference), int((difference > 0).sum()), int((difference < 0).sum())
    return PairedDifference(found.mean, found.low, found.high, found.n, larger, smaller)
