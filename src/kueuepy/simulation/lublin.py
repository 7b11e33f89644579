"""The workload model of Lublin and Feitelson: rigid parallel jobs, fitted to the logs of three supercomputers.

U. Lublin, D. G. Feitelson: The workload on parallel supercomputers: modeling the characteristics of rigid jobs. Journal
of Parallel and Distributed Computing 63 (2003), 1105-1122. The parameters are taken from the model in the Parallel
Workloads Archive that does not distinguish batch and interactive jobs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.distributions import draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SERIAL, _POWERS = 0.244, 0.576
_SMALLEST, _FIRST_STAGE, _BELOW_LARGEST = 0.8, 0.86, 2.5
"""Base-2 logarithms of sizes: from 0.8 to 2.5 below the maximum with a probability of 0.86, otherwise above."""
_SHORT, _LONG = (4.2, 0.94), (312.0, 0.03)
"""Shape and scale of the two gamma distributions for the logarithm of the runtime."""
_SHORT_PART = (-0.0054, 0.78)
"""Probability of the first gamma distribution, as a linear function of the size: slope and intercept."""
_GAP = (10.2303 * 1.0225, 0.4871)
_DAY = (8.1737, 3.9631)
_SLOTS, _SLOT, _FIRST_SLOT = 48, 1800.0, 11
_LONGEST_GAP, _LONGEST_RUN = 13.0, 12.0
_POINTS = 4097


class Gamma:
    """A gamma distribution, tabulated at 4,097 points with linear interpolation."""

    def __init__(self, shape: float, scale: float) -> None:
        """Compute the table up to the mean plus 12 standard deviations plus 30 times the scale parameter."""
        self._scale = scale
        self._at = np.linspace(0.0, shape + 12 * math.sqrt(shape) + 30, _POINTS)
        self._below = _incomplete_gamma(shape, self._at)

    def below(self, x: Any) -> Any:
        """Return the probability of a value less than x."""
        return np.interp(np.asarray(x) / self._scale, self._at, self._below)

    def at(self, u: Floats, most: float) -> Floats:
        """Return the quantiles at `u` of the distribution truncated at `most`."""
        found: Floats = np.interp(u * self.below(most), self._below, self._at) * self._scale
        return found


def _incomplete_gamma(shape: float, x: Floats) -> Floats:
    """Return the regularised lower incomplete gamma function, computed by its series."""
    with np.errstate(divide="ignore"):
        first = np.exp(-x + shape * np.log(x) - math.lgamma(shape + 1))
    term = np.ones_like(x)
    total = term.copy()
    step = shape
    while term.max() > 1e-17 * total.max():
        step += 1
        term = term * x / step
        total += term
    found: Floats = np.minimum(first * total, 1.0)
    return found


def lublin_jobs(seed: int, n: int, processors: int, queue: str) -> JobColumns:
    """Return the jobs of `Jobs.lublin`.

    Raises:
        InvalidSpecError: `n` or `processors` is too small.
    """
    if n < 1 or processors < 2:  # noqa: PLR2004 - a parallel machine
        raise InvalidSpecError(f"lublin: n {n}, processors {processors}; they must be 1 and 2 or more")
    sizes = _sizes(seed, n, processors)
    return JobColumns(
        {
            "queue": [queue] * n,
            "submit": np.floor(_arrivals(seed, n) * SECOND).astype(np.int64).view("M8[ns]"),
            "runtime": (_runtimes(seed, sizes) * SECOND).view("m8[ns]"),
            "pods": sizes,
            "cpu": np.ones(n, np.int64),
        }
    )


def _sizes(seed: int, n: int, processors: int) -> NDArray[np.int64]:
    largest = math.log2(processors)
    smallest = min(_SMALLEST, largest)
    middle = max(smallest, largest - _BELOW_LARGEST)
    u, within = draws(seed, "size", n), draws(seed, "power", n)
    early = draws(seed, "stage", n) < _FIRST_STAGE
    power = np.where(early, smallest + within * (middle - smallest), middle + within * (largest - middle))
    power = np.where(u < _SERIAL + _POWERS, np.floor(power + 0.5), power)
    sizes = np.where(u < _SERIAL, 1, np.floor(np.exp2(power) + 0.5)).astype(np.int64)
    return np.minimum(sizes, processors)


def _runtimes(seed: int, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    slope, part = _SHORT_PART
    short = draws(seed, "kind", len(sizes)) < np.clip(slope * sizes + part, 0.0, 1.0)
    u = draws(seed, "runtime", len(sizes))
    times = np.where(short, Gamma(*_SHORT).at(u, _LONGEST_RUN), Gamma(*_LONG).at(u, _LONGEST_RUN))
    return np.maximum(np.floor(np.exp(times)), 1).astype(np.int64)


def _arrivals(seed: int, n: int) -> Floats:
    """Return arrival times in seconds after midnight, from the inverse of the cumulative arrival weight of the day."""
    edges = Gamma(*_DAY).below(np.arange(_FIRST_SLOT, _FIRST_SLOT + _SLOTS + 1) - 0.5)
    weights = np.roll(np.diff(edges), _FIRST_SLOT - 1)
    over = np.concatenate([[0.0], np.cumsum(weights / weights.mean())])
    days, rest = np.divmod(np.cumsum(np.exp(Gamma(*_GAP).at(draws(seed, "gap", n), _LONGEST_GAP))) / _SLOT, _SLOTS)
    return (days * _SLOTS + np.interp(rest, over, np.arange(_SLOTS + 1))) * _SLOT
