"""Paired differences between two results of the same jobs, with confidence intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.intervals import of_mean
from kueuepy.simulation.measures import job_values, statistic
from kueuepy.tables.columns import table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded
    from kueuepy.tables import Columns


class Simulated(Protocol):
    """The tables of a result that the comparison of two policies needs."""

    @property
    def jobs(self) -> Columns:
        """One row per job."""

    @property
    def decisions(self) -> Columns:
        """One row per decision."""


_MEANS = ("wait_mean", "first_wait_mean", "bounded_slowdown", "goodput")
_NAMES = ("policy", "metric", "jobs", "first", "second", "difference", "low", "high")


def differences(results: Mapping[str, Recorded]) -> Columns:
    """Return the paired differences between the first policy and each other policy; see `Comparison.differences`."""
    (_, first), *others = results.items()
    rows = []
    before = _by_job(first)
    for name, second in others:
        expect_alike(name, first, second)
        counts = np.asarray(first.jobs["counted"]) & np.asarray(second.jobs["counted"])
        order = np.argsort(first.jobs["submit"], kind="stable")
        for figure, values in _by_job(second).items():
            both = order[(counts & ~np.isnan(before[figure]) & ~np.isnan(values))[order]]
            rows.append((name, figure, len(both), *_of_pair(before[figure][both], values[both])))
    return table_of(_NAMES, rows)


def expect_alike(name: str, first: Simulated, second: Simulated) -> None:
    """Check that two results have the same jobs.

    Raises:
        InvalidSpecError: The results have different jobs.
    """
    pairs = ((first.jobs[column], second.jobs[column]) for column in ("submit", "runtime"))
    if len(first.jobs) != len(second.jobs) or not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
        raise InvalidSpecError(
            f'differences: "{name}" has other jobs than the first policy; both must run the same jobs'
        )


def _by_job(run: Recorded) -> dict[str, NDArray[np.float64]]:
    """Return the values of the jobs by the name of the mean metric; NaN for a job without a value."""
    values = job_values(run, np.arange(len(run.jobs)))
    found = {name: np.full(len(run.jobs), np.nan) for name in _MEANS}
    for name, column in found.items():
        mask, own = values[statistic(name)[0]]
        column[mask] = own
    return found


def _of_pair(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, ...]:
    if not len(first):
        return (np.nan,) * 5
    apart = second - first
    try:
        low, high, _ = of_mean(apart)
    except InvalidSpecError:  # too few jobs
        low = high = np.nan
    return float(first.mean()), float(second.mean()), float(apart.mean()), float(low), float(high)
