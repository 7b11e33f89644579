"""Runtimes estimated from finished and unfinished jobs, after Kaplan and Meier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kueuepy.objects import SECOND
from kueuepy.objects.times import LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KaplanMeier:
    """The distribution of runtimes, some of which are only known to be longer than the observed time.

    The product-limit estimate does not reach 1 if the longest observed runtime belongs to an unfinished job. Beyond the
    longest runtime of an unfinished job, the distribution is exponential, with a mean of the total runtime divided by
    the number of finished jobs.

    >>> import numpy as np
    >>> known = KaplanMeier(np.array([60.0, 60.0, 120.0, 300.0]), np.array([True, False, True, True]))
    >>> known.part(60), known.part(120), known.quantile(0.5)
    (0.25, 0.625, 120.0)

    Attributes:
        times: The runtimes of finished jobs in seconds, ascending and distinct.
        fractions: The estimated fraction of runtimes up to each of `times`.
        mean: The mean of the exponential tail, in seconds.
    """

    def __init__(self, seconds: NDArray[np.float64], finished: NDArray[np.bool_]) -> None:
        """Estimate the distribution.

        Args:
            seconds: The runtimes, of which at least one belongs to a finished job.
            finished: Whether each job has finished; otherwise, its runtime is a lower bound.
        """
        self.times, counts = np.unique(seconds[finished], return_counts=True)
        at_risk = len(seconds) - np.searchsorted(np.sort(seconds), self.times, side="left")
        self.fractions = 1 - np.cumprod(1 - counts / at_risk)
        self.mean = max(float(seconds.sum()) / int(finished.sum()), 1e-9)

    def part(self, seconds: float) -> float:
        """Return the estimated fraction of runtimes that are not longer than a time."""
        place = int(np.searchsorted(self.times, seconds, side="right"))
        if place == 0:
            return 0.0
        known = float(self.fractions[place - 1])
        if place < len(self.times) or known >= 1:
            return known
        return 1 - (1 - known) * math.exp(-(seconds - float(self.times[-1])) / self.mean)

    def quantile(self, u: float) -> float:
        """Return the quantile `u` of the runtimes, in seconds; `u` is in the interval [0, 1)."""
        place = int(np.searchsorted(self.fractions, u, side="right"))
        if place < len(self.times):
            return float(self.times[place])
        rest = 1 - float(self.fractions[-1])
        beyond = 0.0 if rest <= 0 else -self.mean * math.log(max((1 - u) / rest, 1e-300))
        return min(float(self.times[-1]) + max(beyond, 0.0), LONGEST / SECOND)
