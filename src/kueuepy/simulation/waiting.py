"""Waiting jobs: the smallest request over time, recorded waits, and jobs that wait at the end."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.figures import unit
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import exact, is_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.simulation.recorded import Recorded


class Waiter(msgspec.Struct, frozen=True):
    """A job that waits at the end of a simulation.

    Attributes:
        job: The name of the job.
        cluster_queue: The ClusterQueue of the job.
        waited: The job's total waiting time, in seconds.
        reason: Kueue's reason why the job waits.
        explanation: A full explanation, as `Scheduler.explain` returns it; empty if it is not available.
    """

    job: str
    cluster_queue: str
    waited: float
    reason: str
    explanation: str = ""


def longest_waiting(run: Recorded, most: int) -> list[int]:
    """Return the rows of the jobs that wait at the end, starting with the longest wait.

    Args:
        run: The simulation.
        most: The largest number of rows to return.
    """
    rows = np.flatnonzero(is_named(run.jobs["state"], "Waiting"))
    found: list[int] = rows[np.lexsort((rows, -run.jobs["waited"][rows]))][:most].tolist()
    return found


def smallest_waiting(run: Recorded, resource: str | None = None) -> Columns:
    """Return the smallest total request among the waiting jobs of each ClusterQueue over time.

    Args:
        run: The simulation.
        resource: The resource; by default, the first resource that the jobs request.

    Returns:
        Columns `seconds`, `cluster_queue` and `amount` (in cores, bytes or devices; -1 while no job waits).

    Raises:
        StateError: The runs were not recorded.
        InvalidSpecError: No job requests the resource.
    """
    names = [name for name in run.jobs.names if is_resource(name)]
    resource = resource or (names[0] if names else "")
    if resource not in names:
        raise InvalidSpecError(f'smallest_waiting: "{resource}"; it must be one of {", ".join(names) or "none"}')
    asked = (exact(run.jobs)[resource] * run.jobs["pods"]).tolist()
    queues = run.jobs["cluster_queue"]
    heaps: dict[int, list[tuple[int, int]]] = {}
    waits: set[int] = set()
    last: dict[int, int] = {}
    rows: list[tuple[float, int, int]] = []
    touched: set[int] = set()
    now = 0.0

    def look() -> None:
        for code in sorted(touched):
            heap = heaps[code]
            while heap and heap[0][1] not in waits:
                heapq.heappop(heap)
            least = heap[0][0] if heap else -1
            if last.get(code, -1) != least:
                rows.append((now, code, least))
                last[code] = least
        touched.clear()

    for at, begins, job in _waits(run):
        if at != now:
            look()
            now = at
        code = int(queues.codes[job])
        if code < 0:
            continue
        touched.add(code)
        heap = heaps.setdefault(code, [])
        if begins:
            waits.add(job)
            heapq.heappush(heap, (asked[job], job))
        else:
            waits.discard(job)
    look()
    size = unit(f"/{resource}")
    return Columns(
        {
            "seconds": np.array([at for at, _, _ in rows], np.float64),
            "cluster_queue": Categorical(np.array([code for _, code, _ in rows], np.int32), queues.names),
            "amount": np.array([least if least < 0 else least / size for *_, least in rows], np.float64),
        }
    )


def _waits(run: Recorded) -> Iterator[tuple[float, bool, int]]:
    """Yield the times at which jobs begin and stop waiting, in order; at equal times, jobs stop waiting first."""
    if not len(run.runs):
        raise StateError("smallest_waiting: needs the runs; record them with Recording(runs=True)")
    runs, state, outcome = run.runs, run.jobs["state"], run.runs["outcome"]
    came = np.flatnonzero(~is_named(state, "ToCome"))
    evicted = is_named(outcome, "Preempted") | is_named(outcome, "Evicted")
    gone = np.flatnonzero(is_named(state, "Deactivated"))
    again = evicted & ~(np.isin(runs["job"], gone) & (runs["end"] == run.jobs["end"][runs["job"]]))
    at = np.concatenate([run.jobs["submit"][came], runs["end"][again], runs["reserved"], run.jobs["end"][gone]])
    begins = np.zeros(len(at), bool)
    begins[: len(came) + int(again.sum())] = True
    job = np.concatenate([came, runs["job"][again], runs["job"], gone]).astype(np.int64)
    order = np.lexsort((begins, at))
    # A job that gets quota at its submission time never waits, so its beginning is skipped.
    zero = {(float(t), int(j)) for t, j in zip(runs["reserved"].tolist(), runs["job"].tolist(), strict=True)}
    for place in order.tolist():
        moment, starts, row = float(at[place]), bool(begins[place]), int(job[place])
        if not (starts and (moment, row) in zero):
            yield moment, starts, row


def beside_recorded(run: Recorded) -> Columns:
    """Return the first wait of each job in the simulation and in its log.

    Returns:
        Columns `job`, `cluster_queue`, `recorded_wait`, `first_wait` and `difference`, with times in seconds. There is
        one row for each job that started according to the log.

    Raises:
        StateError: The log contains no start times.
    """
    if "recorded_start" not in run.jobs.names:
        raise StateError("compare_recorded: the jobs have no column recorded_start: their log does not tell starts")
    recorded = run.jobs["recorded_start"] - run.jobs["submit"]
    rows = np.flatnonzero(~np.isnan(recorded) & np.asarray(run.jobs["counted"]))
    queues: Any = run.jobs["cluster_queue"]
    first = run.jobs["first_wait"][rows]
    return Columns(
        {
            "job": run.jobs["job"][rows],
            "cluster_queue": queues[rows],
            "recorded_wait": recorded[rows],
            "first_wait": first,
            "difference": first - recorded[rows],
        }
    )
