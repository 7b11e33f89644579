"""Estimate how long the next jobs of each queue wait, from a recorded history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.lab.exploration.arrivals import Arrivals
from kueuepy.lab.exploration.remaining import Living, Runtimes
from kueuepy.lab.exploration.runs import NOTHING, in_order
from kueuepy.objects import SECOND
from kueuepy.platform.metrics.series import OwnSeries
from kueuepy.session.session import session_of
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.spans import span

if TYPE_CHECKING:
    import threading

    from numpy.typing import NDArray

    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.table import Jobs

QUANTILES = (0.1, 0.5, 0.9)
_LEAST = 20
"""The number of simulated jobs from which the quantiles of a queue are meaningful."""


@checked
def estimated_waits(
    scheduler: Scheduler,
    history: Jobs,
    *,
    within: Any = "1h",
    horizon: Any = "1d",
    n: int = 40,
    seed: int = 0,
    threads: int | None = None,
    users: str = "",
) -> dict[str, NDArray[np.float64]]:
    """Estimate the waits of the jobs that arrive next, by LocalQueue.

    Each of `n` simulated futures draws arrivals from the history (`Arrivals`) and the remaining runtimes of the current
    workloads, given how long they have run.

    Args:
        scheduler: The Scheduler with the current state; the function does not modify it.
        history: Jobs as they ran, from `Jobs.read` of a recording.
        within: The function returns the waits of jobs that arrive within this time from now. Default: 1 hour.
        horizon: The time span to simulate; a job that still waits at the end has an infinite wait. Default: 1 day.
        n: The number of simulated futures. Default: 40.
        seed: The seed of the first simulated future. Default: 0.
        threads: The number of futures to simulate in parallel. Default: the number of available cores.
        users: The label of workloads that names their user. Default: none.

    Returns:
        The waits in seconds by LocalQueue (`namespace/name`), for queues with 20 or more simulated jobs.

    Raises:
        InvalidSpecError: The history is empty, or an argument is not valid.
    """
    if n < 1:
        raise InvalidSpecError(f"estimated_waits: n {n}; it must be 1 or more")
    state = scheduler.fork()
    living, runtimes = Living(state, users), Runtimes(history)
    now = session_of(state).engine.now
    coming = Arrivals(history, horizon, since=now / SECOND % 86400)
    end, last = (span(f"estimated_waits: {name}", given) for name, given in (("horizon", horizon), ("within", within)))

    def look(number: int, _: threading.Event) -> list[tuple[str, float]]:
        jobs = coming(number).exact()
        run = Simulation(state, living.and_coming(runtimes, jobs, number), seed=number, record=NOTHING)
        run.run(end / SECOND)
        started = run.result().jobs["first_start"][len(living.workloads) :]
        queue, submit = jobs["queue"], jobs["submit"]
        waits = np.where(np.isnan(started), np.inf, np.maximum(started - submit / SECOND, 0.0)).tolist()
        return [(queue[row], waits[row]) for row in np.flatnonzero(submit < last).tolist()]

    found: dict[str, list[float]] = {}
    for waits in in_order(look, range(seed, seed + n), threads):
        for queue, wait in waits:
            found.setdefault(queue, []).append(wait)
    return {queue: np.sort(waits) for queue, waits in sorted(found.items()) if len(waits) >= _LEAST}


def wait_series(waits: dict[str, NDArray[np.float64]]) -> OwnSeries:
    """Return the quantiles of waits as the series `kueuepy_estimated_wait_seconds`."""
    text = "Estimated waiting time of the next jobs of a LocalQueue, in seconds; from Monte Carlo simulations"
    series = OwnSeries("estimated_wait_seconds", "gauge", text)
    for queue, values in waits.items():
        for quantile in QUANTILES:
            place = min(len(values) - 1, int(quantile * len(values)))
            series.set(float(values[place]), queue=queue, quantile=f"{quantile:g}")
    return series
