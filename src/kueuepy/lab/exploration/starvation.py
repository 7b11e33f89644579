"""Detect starvation under a periodic load. A repeated state proves that a job starves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.settings import spelled_out
from kueuepy.errors.words import counted, verb
from kueuepy.lab.exploration.runs import NOTHING
from kueuepy.look.notebook import Sheet
from kueuepy.look.numbers import duration
from kueuepy.objects import SECOND
from kueuepy.session.session import session_of
from kueuepy.simulation.items import concat
from kueuepy.simulation.model import RunSettings, moment
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.table import Jobs
from kueuepy.tables.columns import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.base import JobColumns
    from kueuepy.tables import Columns

_WAITING, _RUNNING = 1, 2
_OUTSIDE = (
    "jobs that arrive a little earlier or later than in the previous period, or run a little longer",
    "priorities that are raised and jobs that are deleted by hand",
)


class Starved(NamedTuple):
    """A job that gets no quota.

    Attributes:
        name: The name of the job.
        queue: The LocalQueue of the job.
        waited: The waiting time until the end of the simulation, in seconds.
        overtaken: The number of jobs that were submitted after the starved job and have started.
    """

    name: str
    queue: str
    waited: float
    overtaken: int


def _starves(job: Starved) -> str:
    later = f"{counted(job.overtaken, 'job')} submitted later {verb(job.overtaken, 'have')} started"
    return f"{job.name} of {job.queue} starves: {later}"


class Starvation(msgspec.Struct, Framed, frozen=True):
    """The jobs that starve if the same jobs are submitted in every period. `starvation` creates it.

    Attributes:
        starved: The one-time jobs that wait indefinitely; empty if no state repeated.
        suspects: If no state repeated, the one-time jobs that had no quota at the end.
        cycle: The first period whose state repeats, and the number of periods until the repetition; `None` if no state
            repeated. A state consists of the order of the pending jobs, the running jobs with their start times, and
            the progress of each job.
        bound: The longest time that a periodic job waits for its first start, in seconds; infinite if no state
            repeated.
        growing: Whether the number of pending jobs keeps growing. If the number keeps growing, the load is too high for
            a state to repeat.
        periods: The number of simulated periods.
        period: The length of a period, in seconds.
        not_modelled: Effects that the result does not consider.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import starvation
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("q", {"f": {"cpu": 2}}))
        >>> found = starvation(cluster, [{"queue": "q", "submit": 0, "runtime": 30, "cpu": 2}], period=60)
        >>> found.starved, found.bound
        ((), 0.0)
    """

    starved: tuple[Starved, ...]
    suspects: tuple[Starved, ...]
    cycle: tuple[int, int] | None
    bound: float
    growing: bool
    periods: int
    period: float
    not_modelled: tuple[str, ...] = _OUTSIDE

    def __str__(self) -> str:
        """Return the answer as several lines of text."""
        if self.cycle is None:
            why = "the number of waiting jobs grows, the load is too high" if self.growing else "give more periods"
            lines = [f"no proof: in {counted(self.periods, 'period')} no state repeated; {why}"]
            lines += [f"still waits after {duration(one.waited)}: {one.name}" for one in self.suspects]
        else:
            first, length = self.cycle
            lines = [_starves(one) for one in self.starved] or ["no job starves"]
            bound = f"its jobs wait {duration(self.bound)} at most"
            lines.append(f"from period {first} on, everything repeats every {counted(length, 'period')}; {bound}")
        return "\n".join([*lines, *(f"not modelled: {text}" for text in self.not_modelled)])

    def to_table(self) -> Columns:
        """Return one row per starved or suspected job: `name`, `queue`, `waited` (seconds), `overtaken`, `proved`."""
        rows = [(*job, proved) for proved, jobs in ((True, self.starved), (False, self.suspects)) for job in jobs]
        return table_of((*Starved._fields, "proved"), rows)

    def sheets(self) -> tuple[Sheet]:
        """Return the answer as table rows."""
        return (Sheet(("starvation",), [(text,) for text in str(self).splitlines()]),)


@checked
@spelled_out(RunSettings)
def starvation(
    cluster: Cluster,
    jobs: Jobs | Iterable[Any],
    once: Jobs | Iterable[Any] = (),
    *,
    period: Any,
    periods: int = 100,
    **settings: Unpack[RunSettings],
) -> Starvation:
    """Determine whether a job starves if the same jobs are submitted in every period (kubernetes-sigs/kueue#754).

    The periods are simulated one after another. At each period boundary, the function compares the state with all
    previous states. A state consists of the order of the pending jobs, the running jobs with their start times, and the
    progress of each job; a periodic job is identified by the number of periods since its submission.

    If a state repeats, all following states repeat as well. If a one-time job is pending at both occurrences of the
    state, it waits indefinitely. No periodic job ever waits longer than in the simulated periods.

    Args:
        cluster: The cluster; its workloads are ignored.
        jobs: The jobs of every period; `submit` counts from the start of the period and must lie within it.
        once: The jobs that are submitted once; `submit` counts from the start of the first period. Default: none.
        period: The length of a period, as seconds or a string such as `"24h"`.
        periods: The maximum number of periods to simulate, at least 2. Default: 100.
        settings: Further arguments of `simulate`, such as `model` and `clock`; `delays` and `events` are not allowed.

    Returns:
        The starved jobs, and the repetition of states that proves that they starve.

    Raises:
        InvalidSpecError: A job is submitted outside the period; the cluster uses admission fair sharing, whose usage
            history is not included in the compared state; or an argument is not valid.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("q", {"f": {"cpu": 2}}))
        >>> small = [{"queue": "q", "submit": at, "runtime": 90, "cpu": 1} for at in (0, 45)]
        >>> wide = [{"name": "wide", "queue": "q", "submit": 10, "runtime": 60, "cpu": 2}]
        >>> found = starvation(cluster, small, wide, period=90)
        >>> [one.name for one in found.starved], found.cycle
        (['wide'], (1, 1))
    """
    length = moment("starvation: period", period)
    table, single = (Jobs.of(given).exact() for given in (jobs, once or ()))
    _check(cluster, table, length, periods, settings)
    names = _names(single)
    parts = [single.assign(name=[f"once-{row}" for row in range(len(single))])] if len(single) else []
    for number in range(periods):
        texts = np.array([f"period-{number}-{row}" for row in range(len(table))], object)
        parts.append(table._moved_to(table["submit"] + number * length).assign(name=texts))  # noqa: SLF001 - exact
    whole = concat(parts)
    origin = int(whole["submit"].min())
    bare = cluster.without(*cluster.workloads) if cluster.workloads else cluster
    run = Simulation(bare, whole, record=NOTHING, **settings)
    order = _places(run.jobs, names)
    seen: dict[Hashable, int] = {}
    counts = []
    for number in range(1, periods):
        # Events exactly at the boundary belong to the next period.
        run.run((number * length - origin - 1) / SECOND)
        state = _state(run, order, number)
        counts.append(int((run.states == _WAITING).sum()))
        if state in seen:
            cycle = (seen[state], number - seen[state])
            found = _once(run, order)
            return Starvation(found, (), cycle, _bound(run, order, number), False, number, length / SECOND)  # noqa: FBT003 - nothing grows
        seen[state] = number
    half = len(counts) // 2
    growing = counts[-1] > counts[half] > counts[0]
    return Starvation((), _once(run, order), None, math.inf, growing, periods, length / SECOND)


def _check(cluster: Cluster, table: JobColumns, length: int, periods: int, settings: RunSettings) -> None:
    if length <= 0 or periods < 2:  # noqa: PLR2004
        raise InvalidSpecError(f"starvation: {periods} periods of {length / SECOND} s; there must be 2, longer than 0")
    submit = table["submit"]
    if not len(table) or submit.min() < 0 or submit.max() >= length:
        raise InvalidSpecError("starvation: jobs must be submitted within the period; give one at least")
    for name in ("delays", "events"):
        if settings.get(name):
            raise InvalidSpecError(f"starvation: {name}: what they do does not come again; leave them out")
    if cluster.configuration.admission_fair_sharing is not None:
        raise InvalidSpecError("starvation: with admission fair sharing the past decides, too, which is not looked at")


def _names(single: JobColumns) -> list[str]:
    given = single["name"] if "name" in single.names else [None] * len(single)
    return [name or f"once-{row}" for row, name in enumerate(given)]


class _Place(NamedTuple):
    """The identity of a job: its period (`None` for a one-time job), its name, its Workload's name, and its number.

    Two jobs in different namespaces can have the same name, so Workloads get unique names.
    """

    period: int | None
    name: str
    workload: str
    number: int


def _places(jobs: Any, once: list[str]) -> list[_Place]:
    found = []
    for workload in jobs["name"]:
        kind, *numbers = workload.split("-")
        row = int(numbers[-1])
        if kind == "once":
            found.append(_Place(None, once[row], workload, row))
        else:
            found.append(_Place(int(numbers[0]), workload, workload, row))
    return found


def _state(run: Simulation, order: list[_Place], number: int) -> Hashable:
    """Return the state that determines the rest of the simulation, with times relative to a period boundary."""
    scheduler, table = run.scheduler, run.scheduler.queues
    rows = {place.workload: row for row, place in enumerate(order)}
    by_key = {key: rows[name] for key in scheduler.keys() if (name := scheduler.workload(key).name) in rows}  # noqa: SIM118
    waiting = tuple(
        (table["cluster_queue"][at], _relative(order[by_key[key]], number), bool(table["inadmissible"][at]))
        for at, key in enumerate(table["key"])
    )
    jobs = run.result().jobs
    done = np.round(jobs["held"] - jobs["lost"] - jobs["overhead"], 6).tolist()
    begun = dict(zip(scheduler.workloads["key"], scheduler.workloads["reserved"].tolist(), strict=True))
    there = [(key, row, _relative(order[row], number)) for key, row in by_key.items()]
    clock, states = session_of(scheduler).engine.now, run.states
    running = sorted((job, clock - begun[key], done[row]) for key, row, job in there if states[row] == _RUNNING)
    kept = sorted((job, done[row]) for _, row, job in there if states[row] == _WAITING)
    return waiting, tuple(running), tuple(kept)


def _relative(place: _Place, number: int) -> tuple[int, int]:
    """Return the number of periods since a job's submission (-1 for a one-time job), and the job's number."""
    return (-1 if place.period is None else number - place.period, place.number)


def _once(run: Simulation, order: list[_Place]) -> tuple[Starved, ...]:
    """Return the one-time jobs that have never had quota."""
    jobs = run.result().jobs
    starts, submits = jobs["first_start"], jobs["submit"]
    found = []
    for row, place in enumerate(order):
        if place.period is None and run.states[row] == _WAITING and np.isnan(starts[row]):
            later = int(((submits > submits[row]) & ~np.isnan(starts)).sum())
            found.append(Starved(place.name, str(jobs["queue"][row]), float(jobs["waited"][row]), later))
    return tuple(found)


def _bound(run: Simulation, order: list[_Place], number: int) -> float:
    """Return the longest time that jobs of the periods before period `number` wait for their first start.

    The simulation continues until all jobs of the previous periods have started. Because the state repeats, jobs of
    later periods do not wait longer.
    """
    before = [row for row, place in enumerate(order) if place.period is not None and place.period < number]
    waits = run.result().jobs["first_wait"][before]
    while np.isnan(waits).any() and run.step():
        waits = run.result().jobs["first_wait"][before]
    return math.inf if np.isnan(waits).any() else float(waits.max())
