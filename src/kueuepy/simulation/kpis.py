"""The figures by which policies are compared: of one run, over all its jobs and queues."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from kueuepy._core import Quantity
from kueuepy.notebook import Sheet, repr_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kueuepy.objects import ResourceGroup
    from kueuepy.simulation.run import JobOutcome, Run

_HOUR = 3600


class Kpis(msgspec.Struct, frozen=True):
    """What came of a run, in figures; those of a resource are by `flavor/resource`, cores for cpu.

    Attributes:
        jobs: How many jobs came.
        finished: How many of them were done at the end.
        seconds: How long the run took, in virtual time.
        utilisation: The part of all nominal quota that was used, on average over the run.
        goodput: The part of its life that a job runs to its end, on average over those that are done: 1 if nobody
            waits and nobody is evicted (kubernetes-sigs/kueue#10813). `None` if no job has run to its end.
        slowdown: How many times longer a job's life is than its run, on average over those that are done.
        slowdown_p95: The same of the job that 95 of 100 are better off than.
        wait_p50: For how many seconds jobs wait: that of the middle one.
        wait_p95: That of the one that 95 of 100 are better off than.
        longest_wait: That of the one that starves most, which may still be waiting.
        jain: Jain's index of how evenly the ClusterQueues that had jobs got resources, from 1 (all alike) to 1 over
            their number (one got all). Compared is a queue's dominant part of all quota over its weight; queues of
            weight 0 are left out. `None` if nobody got anything.
        borrowed_hours: What queues used beyond their nominal quota, times the hours that they did.
        preempted_hours: What jobs held until they were evicted, times the hours that they ran in vain.
    """

    jobs: int
    finished: int
    seconds: float
    utilisation: dict[str, float]
    goodput: float | None
    slowdown: float | None
    slowdown_p95: float | None
    wait_p50: float
    wait_p95: float
    longest_wait: float
    jain: float | None
    borrowed_hours: dict[str, float]
    preempted_hours: dict[str, float]

    def rows(self) -> list[tuple[str, float]]:
        """Name and value of each figure that there is, those of a resource one by one."""
        found = []
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, dict):
                found += [(f"{name} {cell}", part) for cell, part in value.items()]
            elif value is not None:
                found.append((name, value))
        return found

    def __str__(self) -> str:
        """A line for each figure."""
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value:.4g}" for name, value in rows)

    def sheets(self) -> tuple[Sheet]:
        """The figures, one a row."""
        return (Sheet(("figure", "value"), [(name, f"{value:.4g}") for name, value in self.rows()]),)

    _repr_html_ = repr_html


def kpis(run: Run) -> Kpis:
    """The figures of a run."""
    outcomes = list(run.jobs.values())
    waits = sorted(outcome.waited for outcome in outcomes)
    slowdowns = sorted(_slowdowns(outcomes))
    nominal = _nominal(run)
    mean = {cell: sum(_means(run, cell)) for cell in nominal}
    return Kpis(
        jobs=len(outcomes),
        finished=sum(outcome.finished is not None for outcome in outcomes),
        seconds=run.seconds,
        utilisation={cell: mean[cell] / amount for cell, amount in nominal.items() if amount},
        goodput=_mean([1 / slowdown for slowdown in slowdowns]),
        slowdown=_mean(slowdowns),
        slowdown_p95=_percentile(slowdowns, 95) if slowdowns else None,
        wait_p50=_percentile(waits, 50),
        wait_p95=_percentile(waits, 95),
        longest_wait=waits[-1] if waits else 0.0,
        jain=_jain(_entitled(run, nominal)),
        borrowed_hours=_hours(_borrowed(run)),
        preempted_hours=_hours((cell, amount) for outcome in outcomes for cell, amount in outcome.lost.items()),
    )


def _slowdowns(outcomes: Iterable[JobOutcome]) -> Iterable[float]:
    """The life of each job that is done, over its last run; those that take no time have none."""
    for job in outcomes:
        if job.finished is not None and job.started is not None and job.finished > job.started:
            yield (job.finished - job.arrived) / (job.finished - job.started)


def _nominal(run: Run) -> dict[str, int]:
    """All quota that there is, by cell."""
    found: dict[str, int] = {}
    cluster = run.scheduler.cluster
    groups = [queue.resource_groups for queue in cluster.cluster_queues]
    groups += [cohort.resource_groups for cohort in cluster.cohorts]
    for own in groups:
        for cell, amount in _quotas(own):
            found[cell] = found.get(cell, 0) + amount
    return found


def _quotas(groups: Iterable[ResourceGroup]) -> Iterable[tuple[str, int]]:
    for group in groups:
        for flavor in group.flavors:
            for quota in flavor.resources:
                yield f"{flavor.name}/{quota.name}", Quantity(quota.nominal_quota).request(quota.name)


def _means(run: Run, cell: str) -> Iterable[float]:
    return (queue.mean_usage.get(cell, 0.0) for queue in run.queues.values())


def _entitled(run: Run, nominal: dict[str, int]) -> list[float]:
    """Of each queue that had jobs: its dominant part of all quota, over its weight."""
    found = []
    for queue in run.scheduler.cluster.cluster_queues:
        outcome = run.queues.get(queue.name)
        weight = 1.0 if queue.fair_sharing is None else float(Quantity(queue.fair_sharing.weight))
        if outcome is not None and outcome.jobs and weight:
            parts = [mean / nominal[cell] for cell, mean in outcome.mean_usage.items() if nominal.get(cell)]
            found.append(max(parts, default=0.0) / weight)
    return found


def _jain(values: Sequence[float]) -> float | None:
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def _borrowed(run: Run) -> Iterable[tuple[str, float]]:
    """What each queue of a Cohort used above its nominal quota, times seconds, by cell."""
    series: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for queue in run.scheduler.cluster.cluster_queues:
        for cell, own in _quotas(queue.resource_groups if queue.cohort_name else ()):
            if cell not in series:
                series[cell] = run.history.series("usage", cell)
            moments = series[cell].get(queue.name, [])
            ends = [at for at, _ in moments[1:]] + [run.seconds]
            used = zip(moments, ends, strict=True)
            yield cell, sum(max(0.0, value - own) * (end - at) for (at, value), end in used)


def _hours(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Amounts times seconds, added up by cell and told in hours, cores for cpu; nothing where there is none."""
    found: dict[str, float] = {}
    for cell, amount in parts:
        unit = 1000 if cell.endswith("/cpu") else 1
        found[cell] = found.get(cell, 0.0) + amount / unit / _HOUR
    return {cell: hours for cell, hours in found.items() if hours}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _percentile(ordered: Sequence[float], percent: int) -> float:
    """The smallest value that so many of a hundred do not exceed; 0 of none."""
    return ordered[math.ceil(len(ordered) * percent / 100) - 1] if ordered else 0.0
