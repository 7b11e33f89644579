"""Runtimes of jobs that had not finished when they were observed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError, counted
from kueuepy.objects import LONGEST, SECOND
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.distributions import Exponential, draws
from kueuepy.simulation.grouped import Groups

COLUMN = "censored"
# The number of samples that are drawn for a job before the rest of its runtime is drawn without its past.
_TRIES = 64


def censored_rows(table: JobColumns) -> NDArray[np.bool_]:
    """Return a mask of the jobs whose runtime is only a lower bound."""
    column = table[COLUMN] if COLUMN in table.names else None
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "biuf":
        return np.zeros(len(table), bool)
    return np.asarray(np.nan_to_num(column) != 0)


def expect_complete(table: JobColumns) -> None:
    """Check that every job has a runtime.

    Raises:
        InvalidSpecError: The runtimes of some jobs are only lower bounds.
    """
    left = int(censored_rows(table).sum())
    if left:
        raise InvalidSpecError(
            f"jobs: {counted(left, 'job')} had not finished when observed (column {COLUMN}), so the runtime is only a "
            'lower bound; simulate(censored=...) or Jobs.complete(...) must get "drop", "exponential" or a distribution'
        )


def completed(table: JobColumns, how: Any, seed: int) -> JobColumns:
    """Return the jobs with estimates of the full runtimes of unfinished jobs; see `Jobs.complete`."""
    rows = censored_rows(table)
    if how == "drop":
        notes = (*table.notes, *([("not finished; dropped", int(rows.sum()))] if rows.any() else []))
        return table.take(np.flatnonzero(~rows))._with(notes=notes)  # noqa: SLF001 - same package
    runtime = np.array(table["runtime"])
    if how == "exponential":
        means, queue = _means(table, rows), table["queue"]
        of_queues = Groups.by(np.where(rows, queue.codes, -1), len(queue.names)).parts()
        for code, mean in means.items():
            chosen = of_queues[code]
            rest = Exponential(mean / SECOND).nanoseconds(draws(seed, f"censored {code}", len(chosen)))
            # Half of the range is left for the time of submission.
            runtime[chosen] = np.minimum(runtime[chosen] + rest, LONGEST // 2)
    elif hasattr(how, "nanoseconds"):
        chosen = np.flatnonzero(rows)
        runtime[chosen] = _beyond(how, runtime[chosen], seed)
    else:
        raise InvalidSpecError(f'censored: {how!r:.99}; it must be "drop", "exponential" or a distribution')
    return table._changed(runtime=runtime, **{COLUMN: np.zeros(len(table), bool)})  # noqa: SLF001 - same package


def _means(table: JobColumns, rows: NDArray[np.bool_]) -> dict[int, float]:
    """Return the mean runtime in nanoseconds of each queue with unfinished jobs, by the code of the queue.

    The maximum likelihood estimate for exponential runtimes with censoring is the total observed time divided by the
    number of finished jobs. For a queue without finished jobs, the function uses the mean of all queues.

    Raises:
        InvalidSpecError: No job has finished.
    """
    runtime, codes = table["runtime"], table["queue"].codes
    done = ~rows & (runtime >= 0)
    if rows.any() and not done.any():
        raise InvalidSpecError('censored: "exponential" needs at least one finished job; it must be a distribution')
    known = runtime >= 0
    # A queue without finished jobs has no estimate of its own.
    overall = float(runtime[known].sum()) / max(1, int(done.sum()))
    of_queues = Groups.by(np.where(known, codes, -1), len(table["queue"].names))
    totals, counts = of_queues.sums(runtime[of_queues.rows]).tolist(), of_queues.sums(done[of_queues.rows]).tolist()
    return {
        code: max(1.0, float(totals[code]) / counts[code] if counts[code] else overall)
        for code in np.unique(codes[rows]).tolist()
    }


def _beyond(distribution: Any, lower: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return samples of a distribution that exceed the lower bounds.

    Samples that do not exceed the bound are rejected and drawn again. If 64 samples are rejected, the last one is added
    to the lower bound instead.
    """
    found = np.zeros(len(lower), np.int64)
    left = np.arange(len(lower))
    for attempt in range(_TRIES):
        if not len(left):
            return found
        found[left] = distribution.nanoseconds(draws(seed, f"censored {attempt}", len(left)))
        # Only the rejected samples are drawn again, each round from its own stream.
        left = left[found[left] <= lower[left]]
    found[left] = np.minimum(lower[left] + np.maximum(found[left], 1), LONGEST // 2)
    return found
