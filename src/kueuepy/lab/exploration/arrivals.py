"""Jobs that might arrive, drawn from the jobs that arrived in a recorded period."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked_methods
from kueuepy.lab.exploration.remaining import Runtimes
from kueuepy.objects import SECOND
from kueuepy.simulation.censoring import COLUMN, censored_rows
from kueuepy.simulation.distributions import draws
from kueuepy.simulation.items import concat
from kueuepy.simulation.spans import span
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.base import JobColumns

_DAY = 86400 * SECOND
_MOST = 20_000


@checked_methods
class Arrivals:
    """Random future arrivals with the pattern of a recorded period, for `eta` and `risk`.

    A future consists of blocks of the recorded period in random order, each with the jobs that were submitted in the
    block. If the period is longer than two days, each block is one day long and begins at the time of day at which the
    future begins. A job that had not finished gets a runtime drawn from the Kaplan-Meier estimate for its queue.

    >>> rows = [{"queue": "team", "submit": 600 * n, "runtime": 60, "cpu": 1} for n in range(100)]
    >>> len(Arrivals(Jobs.of(rows), "1h")(0))
    6
    """

    def __init__(self, jobs: Jobs, horizon: Any = "2d", *, since: Any = 0) -> None:
        """Read the arrival pattern of a log.

        Args:
            jobs: The jobs of the period. If the `submit` times are seconds, they count from midnight at the start of
                the first day.
            horizon: The length of the period in which jobs arrive. A simulated future has at most 20,000 jobs.
            since: The time of day at which the futures begin: seconds or a string such as `14h`.

        Raises:
            InvalidSpecError: There are no jobs, or a time is not valid.
        """
        if not len(jobs):
            raise InvalidSpecError("Arrivals: jobs: is empty; there must be at least one job")
        table = jobs.exact()
        self._jobs = _complete(table)
        self._submit: NDArray[np.int64] = self._jobs["submit"]
        self._horizon = span("Arrivals: horizon", horizon)
        self._of_day = span("Arrivals: since", since) % _DAY
        first, last = int(self._submit.min()), int(self._submit.max()) + 1
        days = [
            start
            for start in range(first - first % _DAY + self._of_day, last, _DAY)
            if first <= start and start + _DAY <= last
        ]
        self._block = _DAY if len(days) > 1 else last - first
        self._starts = days if len(days) > 1 else [first]

    def __call__(self, seed: int) -> Jobs:
        """Return the jobs of one simulated future; their `submit` times count from now.

        Args:
            seed: Seed of the random number generator.
        """
        count = -(-self._horizon // self._block)
        chosen = draws(seed, "arrivals", 2 * count)
        parts: list[JobColumns] = []
        left = _MOST
        for number in range(count):
            start = self._starts[int(chosen[2 * number] * len(self._starts))]
            if len(self._starts) == 1:  # a short period is rotated
                start += int(chosen[2 * number + 1] * self._block)
            end = min(self._block, self._horizon - number * self._block)
            part = self._part(start, end, number * self._block)
            if len(part) > left:
                part = part.take(np.arange(left))
            parts.append(part)
            left -= len(part)
            if not left:
                break
        whole = concat(parts)
        return Jobs._like(whole)  # noqa: SLF001 - as the class methods of Jobs

    def _part(self, start: int, length: int, offset: int) -> JobColumns:
        """Return the jobs of a block, with their submission times shifted to an offset."""
        after = (self._submit - start) % self._block if len(self._starts) == 1 else self._submit - start
        rows = np.flatnonzero((after >= 0) & (after < length))
        rows = rows[np.argsort(after[rows], kind="stable")]
        return self._jobs.take(rows)._moved_to(after[rows] + offset)  # noqa: SLF001 - exact


def _complete(table: JobColumns) -> JobColumns:
    """Return the jobs with drawn runtimes for unfinished jobs, without the columns that describe previous runs."""
    rows = np.flatnonzero(censored_rows(table))
    runtime = np.array(table["runtime"])
    if len(rows):
        known = Runtimes(table)
        queue = table["queue"]
        for row, u in zip(rows.tolist(), draws(0, "censored", len(rows)).tolist(), strict=True):
            ran = max(int(runtime[row]), 0)
            runtime[row] = ran + known.remaining(queue.names[queue.codes[row]], ran / SECOND, u)
    found = {name: table[name] for name in table.names if name != COLUMN}
    return table._with({**found, "runtime": runtime})  # noqa: SLF001 - exact
