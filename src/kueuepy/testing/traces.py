"""Traces: workloads that come at their times and run for a while."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import strategies as st

from kueuepy.errors.arguments import checked
from kueuepy.session.session import session_of
from kueuepy.testing.strategies import QUEUES, RESOURCES, workloads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hypothesis.strategies import DrawFn

    from kueuepy.cluster import Cluster
    from kueuepy.objects import Workload
    from kueuepy.scheduler import Scheduler


class Arrival(NamedTuple):
    """One workload of a trace.

    Attributes:
        at: When it is submitted, in seconds after the start.
        workload: The workload.
        runtime: For how many seconds it runs once it is admitted; what an eviction interrupts starts again.
    """

    at: int
    workload: Workload
    runtime: int


@st.composite
def traces(
    draw: DrawFn,
    queues: Cluster | Iterable[str] = QUEUES,
    *,
    max_size: int = 12,
    duration: int = 600,
    resources: Sequence[str] = RESOURCES,
) -> list[Arrival]:
    """Traces of workloads for these LocalQueues (see `workloads`), in the order of their arrival.

    Args:
        draw: Given by Hypothesis.
        queues: Where they are submitted.
        max_size: The most workloads.
        duration: Until when they arrive, in seconds; each runs for at most as long.
        resources: What pods request if only names of queues are given.
    """
    made = draw(workloads(queues, max_size=max_size, resources=resources))
    times = draw(st.lists(st.integers(0, duration), min_size=len(made), max_size=len(made)))
    return [
        Arrival(at, workload, draw(st.integers(1, duration))) for at, workload in zip(sorted(times), made, strict=True)
    ]


@checked
def drive(scheduler: Scheduler, trace: Iterable[Arrival]) -> dict[str, float]:
    """Runs a trace to its end: submits, settles after every event, finishes what has run long enough.

    Returns:
        When each workload finished, in seconds after the start. Those that never could are not in it.
    """
    start, finished = scheduler.now, dict[str, float]()
    arrivals = sorted(trace, key=lambda arrival: arrival.at)
    runtimes: dict[str, int] = {}
    ends: list[tuple[float, str, float]] = []  # when, who, and when it was admitted
    while arrivals or ends:
        now = min([arrival.at for arrival in arrivals[:1]] + [end for end, _, _ in ends[:1]])
        scheduler.advance(start + now - scheduler.now)
        while ends and ends[0][0] <= now:
            _, key, admitted = heapq.heappop(ends)
            if _admitted_at(scheduler, key) == admitted:
                scheduler.finish(key)
                finished[key] = now
        while arrivals and arrivals[0].at <= now:
            arrival = arrivals.pop(0)
            (key,) = scheduler.submit(arrival.workload)
            runtimes[key] = arrival.runtime
        for decision in scheduler.settle().admitted:
            admitted_at = _admitted_at(scheduler, decision.workload)
            if admitted_at is not None:
                heapq.heappush(ends, (now + runtimes[decision.workload], decision.workload, admitted_at))
    return finished


def _admitted_at(scheduler: Scheduler, key: str) -> float | None:
    """Since when the workload is admitted; `None` where it isn't, or is finished."""
    admitted = finished = None
    engine = session_of(scheduler).engine
    found = engine.find(key)
    admitted, finished = engine.condition(found, "Admitted"), engine.condition(found, "Finished")
    if admitted is None or not admitted[0] or (finished is not None and finished[0]):
        return None
    return float(admitted[3])
