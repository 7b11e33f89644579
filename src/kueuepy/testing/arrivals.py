"""Traces: workloads with arrival times and runtimes."""

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from kueuepy.cluster import Cluster
from kueuepy.errors.arguments import checked
from kueuepy.objects import Workload
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.testing.strategies import QUEUES, RESOURCES, workloads


class Arrival(NamedTuple):
    """A workload of a trace.

    Attributes:
        at: The submission time, in seconds after the start.
        workload: The workload.
        runtime: The time that the workload runs after its admission, in seconds. After an eviction, the workload runs
            from the beginning.

    Example:
        >>> from kueuepy import Workload
        >>> Arrival(0, Workload("job", queue_name="team"), 60).runtime
        60
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
    """Generate traces of workloads for LocalQueues, in the order of their arrival.

    Args:
        draw: The draw function, provided by Hypothesis.
        queues: The Cluster, or the names of LocalQueues in the namespace `default`.
        max_size: The maximum number of workloads. Default: 12.
        duration: The latest arrival time and the longest runtime, in seconds. Default: 600.
        resources: The resources that pods request if only names are given (see `workloads`).

    Returns:
        A strategy.

    Example:
        >>> from hypothesis import given
        >>> @given(traces(["team"]))
        ... def test_order(trace):
        ...     assert [arrival.at for arrival in trace] == sorted(arrival.at for arrival in trace)
        >>> test_order()
    """
    made = draw(workloads(queues, max_size=max_size, resources=resources))
    times = draw(st.lists(st.integers(0, duration), min_size=len(made), max_size=len(made)))
    return [
        Arrival(at, workload, draw(st.integers(1, duration))) for at, workload in zip(sorted(times), made, strict=True)
    ]


@checked
def drive(scheduler: Scheduler, trace: Iterable[Arrival]) -> dict[str, float]:
    """Run a trace to its end: submit workloads, settle after every event, and finish workloads after their runtime.

    Args:
        scheduler: The Scheduler.
        trace: The arrivals, in any order.

    Returns:
        The time at which each workload finished, in seconds after the start. Workloads that never finish are not
        included.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, PodSet, ResourceFlavor, Scheduler, Workload
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}})))
        >>> pods = (PodSet.of(requests={"cpu": 1}),)
        >>> drive(scheduler, [Arrival(0, Workload(name, queue_name="team", pod_sets=pods), 60) for name in ("a", "b")])
        {'default/a': 60, 'default/b': 120}
    """
    start, finished = scheduler.now, dict[str, float]()
    arrivals = sorted(trace, key=lambda arrival: arrival.at)
    runtimes: dict[str, int] = {}
    ends: list[tuple[float, str, float]] = []  # end, key, and time of admission
    while arrivals or ends:
        now = min([arrival.at for arrival in arrivals[:1]] + [end for end, _, _ in ends[:1]])
        scheduler.advance(start + now - scheduler.now)
        # Ends come before arrivals at the same time, so that their quota is free.
        while ends and ends[0][0] <= now:
            _, key, admitted = heapq.heappop(ends)
            # After an eviction, the workload has another end, and this one is void.
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
    """Return the time of a workload's admission; `None` if it is not admitted or has finished."""
    engine = session_of(scheduler).engine
    found = engine.find(key)
    admitted, finished = engine.condition(found, "Admitted"), engine.condition(found, "Finished")
    if admitted is None or not admitted[0] or (finished is not None and finished[0]):
        return None
    return float(admitted[3])
