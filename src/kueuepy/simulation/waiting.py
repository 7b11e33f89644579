"""Who waits: the least that anybody asks for over time, waits beside those of a log, and who waits at the end."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.simulation.columns import is_resource
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import is_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.simulation.recorded import Recorded


class Waiter(msgspec.Struct, frozen=True):
    """A job that waits at the end of a run.

    Attributes:
        job: Its name.
        cluster_queue: Its ClusterQueue.
        waited: For how many seconds it has waited.
        reason: Kueue's word for why.
        explanation: Why in full, as `Scheduler.explain` tells it; empty where that cannot be asked.
    """

    job: str
    cluster_queue: str
    waited: float
    reason: str
    explanation: str = ""


def longest_waiting(run: Recorded, most: int) -> list[int]:
    """The rows of the jobs that wait at the end, those first that have waited for longest."""
    rows = np.flatnonzero(is_named(run.jobs["state"], "Waiting"))
    found: list[int] = rows[np.lexsort((rows, -run.jobs["waited"][rows]))][:most].tolist()
    return found


def smallest_waiting(run: Recorded, resource: str | None = None) -> Columns:
    """The least that a waiting job of each ClusterQueue asks for in all of its pods, where that changes.

    Args:
        run: What was recorded.
        resource: Of what; the first resource of the jobs without it.

    Returns:
        `seconds`, `cluster_queue`, `amount` (thousandths for cpu; -1: nobody waits).

    Raises:
        StateError: The runs were not recorded.
        InvalidSpecError: No job asks for the resource.
    """
    names = [name for name in run.jobs.names if is_resource(name)]
    resource = resource or (names[0] if names else "")
    if resource not in names:
        raise InvalidSpecError(f'smallest_waiting: "{resource}"; it must be one of {", ".join(names) or "none"}')
    asked = (run.jobs[resource] * run.jobs["pods"]).tolist()
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
    return Columns(
        {
            "seconds": np.array([at for at, _, _ in rows], np.float64),
            "cluster_queue": Categorical(np.array([code for _, code, _ in rows], np.int32), queues.names),
            "amount": np.array([least for *_, least in rows], np.int64),
        }
    )


def _waits(run: Recorded) -> Iterator[tuple[float, bool, int]]:
    """When jobs begin and stop to wait, in order; of one moment, stops first."""
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
    # A job that gets quota at the moment at which it comes never waits: its stop stands behind its begin.
    zero = {(float(t), int(j)) for t, j in zip(runs["reserved"].tolist(), runs["job"].tolist(), strict=True)}
    for place in order.tolist():
        moment, starts, row = float(at[place]), bool(begins[place]), int(job[place])
        if not (starts and (moment, row) in zero):
            yield moment, starts, row


def beside_recorded(run: Recorded) -> Columns:
    """The first wait of each job in the run, and in the log from which it comes.

    Returns:
        `job`, `cluster_queue`, `recorded_wait` and `first_wait` in seconds, and `difference`; a row for each job that
        started in the log.

    Raises:
        StateError: The log does not say when jobs started.
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
            "cluster_queue": Categorical(queues.codes[rows], queues.names),
            "recorded_wait": recorded[rows],
            "first_wait": first,
            "difference": first - recorded[rows],
        }
    )
