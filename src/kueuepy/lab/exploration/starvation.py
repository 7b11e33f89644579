"""Detect starvation under a periodic load. A repeated state proves that a job starves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted, verb
from kueuepy.lab.exploration.answer import Fact, Guarantee, facts_of
from kueuepy.lab.exploration.runs import NOTHING
from kueuepy.lab.exploration.trial import without_workloads
from kueuepy.look.numbers import duration
from kueuepy.objects import SECOND
from kueuepy.session.session import session_of
from kueuepy.simulation.items import concat
from kueuepy.simulation.model import RunSettings, time_after
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.base import JobColumns

# The core's states of a job.
_WAITING, _RUNNING = 1, 2
_OUTSIDE = (
    "jobs that arrive a little earlier or later than in the previous period, or run a little longer",
    "priorities that are raised and jobs that are deleted by hand",
)


def starvation(
    cluster: Cluster,
    jobs: Jobs | Iterable[Any],
    period: Any,
    once: Jobs | Iterable[Any] = (),
    periods: int = 100,
    **settings: Unpack[RunSettings],
) -> Guarantee:
    """Determine whether a job starves if the same jobs are submitted in every period; see `guarantee`."""
    length = time_after("guarantee: period", period)
    table, single = (Jobs.of(given).exact() for given in (jobs, once or ()))
    _check(cluster, table, length, periods, settings)
    # Two jobs in different namespaces can have the same name, so the simulated jobs get unique names.
    parts = [_named(single, "once")] if len(single) else []
    for number in range(periods):
        shifted = table._moved_to(table["submit"] + number * length)  # noqa: SLF001 - exact
        parts.append(_named(shifted, f"period-{number}"))
    whole = concat(parts)
    once_names = single["name"] if "name" in single.names else [None] * len(single)
    run = _Periodic(Simulation(without_workloads(cluster), whole, record=NOTHING, **settings), once_names)
    # A simulation begins with its first submission.
    origin = int(whole["submit"].min())
    seen: dict[Hashable, int] = {}
    waiting = []
    for number in range(1, periods):
        # Events exactly at the boundary belong to the next period.
        state = run.state_at((number * length - origin - 1) / SECOND, number)
        waiting.append(run.waiting)
        if state in seen:
            starved, bound = run.never_started(), run.longest_wait(number)
            because = [f"{fact.subject} starves: {fact.detail}" for fact in starved if fact.measure == "overtaken"]
            repeats = f"everything repeats every {counted(number - seen[state], 'period')}"
            because = because or ["no job starves"]
            because.append(f"from period {seen[state]} on, {repeats}; its jobs wait {duration(bound)} at most")
            cycle = (Fact("cycle", "first period", seen[state]), Fact("cycle", "periods", number - seen[state]))
            facts = facts_of([*starved, *cycle, Fact("periodic jobs", "longest wait", bound, duration(bound))])
            return Guarantee("starvation", not starved, tuple(because), facts, _OUTSIDE)
        seen[state] = number
    is_growing = waiting[-1] > waiting[len(waiting) // 2] > waiting[0]
    why = "the number of waiting jobs grows, the load is too high" if is_growing else "set more periods"
    because = [f"no proof: in {counted(periods, 'period')} no state repeated; {why}"]
    suspects = run.never_started()
    because += [f"still waits after {fact.detail}: {fact.subject}" for fact in suspects if fact.measure == "waited"]
    return Guarantee("starvation", None, tuple(because), facts_of(suspects), _OUTSIDE)


def _check(cluster: Cluster, table: JobColumns, length: int, periods: int, settings: RunSettings) -> None:
    if length <= 0 or periods < 2:  # noqa: PLR2004
        raise InvalidSpecError(f"guarantee: {periods} periods of {length / SECOND} s; there must be 2, longer than 0")
    submit = table["submit"]
    if not len(table) or submit.min() < 0 or submit.max() >= length:
        raise InvalidSpecError("guarantee: jobs must be submitted within the period; give one at least")
    for name in ("delays", "events"):
        if settings.get(name):
            raise InvalidSpecError(f"guarantee: {name}: their effects do not repeat in every period; leave them out")
    if cluster.configuration.admission_fair_sharing is not None:
        raise InvalidSpecError("guarantee: admission fair sharing depends on past usage, which is not compared")


class _Periodic:
    """A simulation of jobs that are submitted in every period, and of jobs that are submitted once."""

    def __init__(self, run: Simulation, once: Sequence[str | None]) -> None:
        self._run, self._once = run, once
        self._names = list(run.jobs["name"])
        self._periods, self._numbers = zip(*map(_identity, self._names), strict=True)

    @property
    def waiting(self) -> int:
        """The number of waiting jobs."""
        return int((self._run.states == _WAITING).sum())

    def _relative(self, row: int, number: int) -> tuple[int, int]:
        """Return the number of periods since a job's submission (-1 for a one-time job), and the job's number."""
        period = self._periods[row]
        return (-1 if period is None else number - period, self._numbers[row])

    def state_at(self, seconds: float, number: int) -> Hashable:
        """Continue to the end of period `number`, and return the state that determines the rest of the simulation.

        The state consists of the order of the pending jobs, the running jobs with their start times, and the progress
        of each job. Times are relative to the boundary.
        """
        self._run.run(seconds)
        scheduler, states = self._run.scheduler, self._run.states
        rows = {name: row for row, name in enumerate(self._names)}
        by_key = {key: rows[scheduler.workload(key).name] for key in scheduler.keys()}  # noqa: SIM118
        table, jobs = scheduler.queues, self._run.result().jobs
        waiting = tuple(
            (table["cluster_queue"][at], self._relative(by_key[key], number), bool(table["inadmissible"][at]))
            for at, key in enumerate(table["key"])
        )
        # Sums of floating-point times differ in the last digits although the states are the same.
        done = np.round(jobs["held"] - jobs["lost"] - jobs["overhead"], 6).tolist()
        begun = dict(zip(scheduler.workloads["key"], scheduler.workloads["reserved"].tolist(), strict=True))
        there = [(key, row, self._relative(row, number)) for key, row in by_key.items()]
        now = session_of(scheduler).engine.now
        running = sorted((job, now - begun[key], done[row]) for key, row, job in there if states[row] == _RUNNING)
        kept = sorted((job, done[row]) for _, row, job in there if states[row] == _WAITING)
        return waiting, tuple(running), tuple(kept)

    def never_started(self) -> list[Fact]:
        """Return the one-time jobs that have never had quota: how long they wait, and how many jobs overtook them."""
        jobs = self._run.result().jobs
        starts, submits = jobs["first_start"], jobs["submit"]
        found = []
        for row, name in enumerate(self._names):
            if self._periods[row] is None and self._run.states[row] == _WAITING and np.isnan(starts[row]):
                subject, waited = self._once[self._numbers[row]] or name, float(jobs["waited"][row])
                later = int(((submits > submits[row]) & ~np.isnan(starts)).sum())
                text = f"{counted(later, 'job')} submitted later {verb(later, 'have')} started"
                found.append(Fact(subject, "waited", waited, duration(waited)))
                found.append(Fact(subject, "overtaken", later, f"{text} ({jobs['queue'][row]})"))
        return found

    def longest_wait(self, number: int) -> float:
        """Return the longest time that jobs of the periods before period `number` wait for their first start.

        The simulation continues until all jobs of the previous periods have started. Because the state repeats, jobs
        of later periods do not wait longer.
        """
        before = [row for row, period in enumerate(self._periods) if period is not None and period < number]
        waits = self._run.result().jobs["first_wait"][before]
        while np.isnan(waits).any() and self._run.step():
            waits = self._run.result().jobs["first_wait"][before]
        return math.inf if np.isnan(waits).any() else float(waits.max())


def _named(table: JobColumns, kind: str) -> JobColumns:
    return table.assign(name=np.array([f"{kind}-{row}" for row in range(len(table))], object))


def _identity(name: str) -> tuple[int | None, int]:
    """Return the period of a job (`None` for a one-time job) and its number, from the name that `_named` gave it."""
    kind, *numbers = name.split("-")
    return int(numbers[0]) if kind == "period" else None, int(numbers[-1])
