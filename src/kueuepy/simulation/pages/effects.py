"""The effect of a policy on the waits of jobs and ClusterQueues, computed without a Python object for each job."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.confidence import expect_alike
from kueuepy.simulation.intervals import of_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.confidence import Simulated


class Effect(NamedTuple):
    """The paired difference between the mean waits of the same jobs under two policies, in seconds.

    Attributes:
        name: The ClusterQueue; empty for all jobs.
        jobs: The number of jobs.
        first: The mean wait under the first policy.
        second: The mean wait under the second policy.
        low: The lower limit of the 95 % confidence interval of the difference; NaN if there are too few jobs.
        high: The upper limit of the 95 % confidence interval of the difference.
        evictions: The number of evictions under each policy.
    """

    name: str
    jobs: int
    first: float
    second: float
    low: float
    high: float
    evictions: tuple[int, int]

    @property
    def difference(self) -> float:
        """The mean wait under the second policy minus the mean wait under the first policy."""
        return self.second - self.first

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def has_interval(self) -> bool:
        """Whether there are enough jobs for an interval."""
        return self.low == self.low


class Effects:
    """The effects of one policy compared with another policy, for the same jobs."""

    def __init__(self, first: Simulated, second: Simulated) -> None:
        """Pair the jobs of two results.

        Raises:
            InvalidSpecError: The results have different jobs.
        """
        expect_alike("policy", first, second)
        self._pair = (first, second)
        counted = np.asarray(first.jobs["counted"]) & np.asarray(second.jobs["counted"])
        self._counted = counted
        self._waits = tuple(np.asarray(run.jobs["waited"]) for run in (first, second))
        self._evictions = tuple(np.asarray(run.jobs["evictions"]) for run in (first, second))
        self.difference = self._waits[1] - self._waits[0]

    def of_all(self) -> Effect:
        """Return the effect on all jobs."""
        return self._effect("", np.flatnonzero(self._counted))

    def of_queues(self, most: int) -> tuple[list[Effect], int]:
        """Return the effects on the ClusterQueues with the largest total change of waits, and the number of all queues.

        Args:
            most: The largest number of ClusterQueues to return.
        """
        queues = self._pair[0].jobs["cluster_queue"]
        codes = np.where(self._counted, queues.codes, -1)
        there = codes >= 0
        totals = np.bincount(codes[there], weights=self.difference[there], minlength=len(queues.names))
        numbers = np.bincount(codes[there], minlength=len(queues.names))
        known = [code for code in range(len(queues.names)) if numbers[code]]
        chosen = sorted(known, key=lambda code: (-abs(totals[code]), queues.names[code]))[:most]
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.array([*chosen, 0]), side="left")
        ends = np.searchsorted(codes[order], np.array([*chosen, 0]), side="right")
        found = [
            self._effect(queues.names[code], order[starts[place] : ends[place]]) for place, code in enumerate(chosen)
        ]
        return found, len(known)

    def rows(self, most: int, *, longer: bool) -> list[int]:
        """Return the rows of the jobs whose waits change most, starting with the largest change.

        Args:
            most: The largest number of jobs to return.
            longer: Whether to return jobs that wait longer instead of jobs that wait less.
        """
        change = self.difference if longer else -self.difference
        rows = np.flatnonzero(change > 0)
        found: list[int] = rows[np.lexsort((rows, -change[rows]))][:most].tolist()
        return found

    def numbers(self) -> tuple[int, int]:
        """Return the number of jobs that wait less, and the number of jobs that wait longer."""
        change = self.difference[self._counted]
        return int((change < 0).sum()), int((change > 0).sum())

    def _effect(self, name: str, rows: NDArray[np.int64]) -> Effect:
        submit = self._pair[0].jobs["submit"][rows]
        rows = rows[np.argsort(submit, kind="stable")]
        low = high = float("nan")
        with suppress(InvalidSpecError):  # too few jobs
            low, high, _ = of_mean(self.difference[rows])
        first, second = (float(waits[rows].mean()) if len(rows) else 0.0 for waits in self._waits)
        evictions = (int(self._evictions[0][rows].sum()), int(self._evictions[1][rows].sum()))
        return Effect(name, len(rows), first, second, float(low), float(high), evictions)


def different_decisions(first: Simulated, second: Simulated, most: int) -> tuple[int, float]:
    """Count the quota reservations and evictions that occur in only one of the two results.

    Args:
        first: A result.
        second: The result to compare with, for the same jobs.
        most: The position of the decision whose time is returned, counted from 1 in order of time.

    Returns:
        The number of differing decisions, and the time of the decision at position `most`, or of the last decision if
        there are fewer.
    """
    keys = [_keys(run) for run in (first, second)]
    apart = np.setxor1d(keys[0], keys[1])
    if not len(apart):
        return 0, 0.0
    times = np.sort(apart["seconds"])
    return len(apart), float(times[min(most, len(times)) - 1])


def _keys(run: Simulated) -> NDArray[np.void]:
    table = run.decisions
    kinds = table["kind"]
    wanted = [code for code, name in enumerate(kinds.names) if name in ("QuotaReserved", "Evicted", "Deactivated")]
    rows = np.flatnonzero(np.isin(kinds.codes, wanted))
    names = {"QuotaReserved": 0, "Evicted": 1, "Deactivated": 1}
    numbers = np.array([names.get(name, 2) for name in kinds.names] or [2])
    found = np.zeros(len(rows), [("seconds", np.float64), ("job", np.int64), ("kind", np.int8)])
    found["seconds"], found["job"] = table["seconds"][rows], table["job"][rows]
    found["kind"] = numbers[kinds.codes[rows]]
    return np.unique(found)
