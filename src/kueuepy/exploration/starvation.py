"""Starvation: jobs that come again and again, and one that never gets its turn; with the cycle that proves it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.words import counted, verb
from kueuepy.exploration.runs import NOTHING
from kueuepy.notebook import Sheet, repr_html
from kueuepy.objects import SECOND
from kueuepy.simulation.items import concat
from kueuepy.simulation.model import moment
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.table import Jobs
from kueuepy.simulation.text import span_text
from kueuepy.tables.framed import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.base import JobColumns
    from kueuepy.tables import Columns

_WAITING, _RUNNING = 1, 2
_OUTSIDE = (
    "jobs that come a little earlier or later than in the period before, or run a little longer",
    "whoever raises a priority or deletes a job by hand",
)


class Starved(NamedTuple):
    """A job that gets no quota.

    Attributes:
        name: Its name.
        queue: Its LocalQueue.
        waited: Seconds for which it had waited when the run ended.
        overtaken: How many jobs that came later had started by then.
    """

    name: str
    queue: str
    waited: float
    overtaken: int


def _starves(job: Starved) -> str:
    later = f"{counted(job.overtaken, 'job')} that came later {verb(job.overtaken, 'have')} started"
    return f"{job.name} of {job.queue} starves: {later}"


class Starvation(msgspec.Struct, Framed, frozen=True):
    """Who starves where the same jobs come in every period; a value.

    Attributes:
        starved: The jobs that came once, and for ever wait; empty without a cycle.
        suspects: Where no cycle was found: the jobs that came once and had no quota at the end.
        cycle: From which period on all goes on as so many periods before: the first of them, and how many; `None` if
            no state came again. A state is who waits in which order, who runs, since when, and what each has done.
        bound: The longest that a job of the periods waits for its first start, for ever; infinite without a cycle.
        growing: Whether ever more jobs wait, so that no state comes again: the load is too high.
        periods: How many periods were run.
        period: How long one is, in seconds.
        not_modelled: What the answer does not speak of.
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
        """The answer in lines."""
        if self.cycle is None:
            why = "ever more jobs wait, the load is too high" if self.growing else "give more periods"
            lines = [f"no proof: in {counted(self.periods, 'period')} no state came again; {why}"]
            lines += [f"still waits after {span_text(one.waited)}: {one.name}" for one in self.suspects]
        else:
            first, length = self.cycle
            lines = [_starves(one) for one in self.starved] or ["nobody starves"]
            ago = f"{counted(length, 'period')} before; its jobs wait {span_text(self.bound)} at most"
            lines.append(f"from period {first} on, all goes on as {ago}")
        return "\n".join([*lines, *(f"not modelled: {text}" for text in self.not_modelled)])

    def to_table(self) -> Columns:
        """Return a row for each job that starves, or is suspected to: `name`, `queue`, `waited` (s), `overtaken`."""
        rows = [(*job, proved) for proved, jobs in ((True, self.starved), (False, self.suspects)) for job in jobs]
        return table_of((*Starved._fields, "proved"), rows)

    def sheets(self) -> tuple[Sheet]:
        """The answer in lines."""
        return (Sheet(("starvation",), [(text,) for text in str(self).splitlines()]),)

    _repr_html_ = repr_html


@checked
def starvation(
    cluster: Cluster,
    jobs: Jobs | Iterable[Any],
    once: Jobs | Iterable[Any] = (),
    *,
    period: Any,
    periods: int = 100,
    **settings: Any,
) -> Starvation:
    """Whether a job starves where the same jobs come in every period (kubernetes-sigs/kueue#754).

    The periods are run one after another. Between two of them it is looked who waits in which order, who runs, since
    when, and what each has done; jobs of earlier periods count by how many periods ago they came. If that comes again,
    so does all that follows: who came once and waits at both times waits for ever, and no job of the periods will ever
    wait longer than was seen.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("q", {"f": {"cpu": 2}}))
    >>> small = [{"queue": "q", "submit": at, "runtime": 90, "cpu": 1} for at in (0, 45)]
    >>> wide = [{"name": "wide", "queue": "q", "submit": 10, "runtime": 60, "cpu": 2}]
    >>> found = starvation(cluster, small, wide, period=90)
    >>> [one.name for one in found.starved], found.cycle
    (['wide'], (1, 1))

    Args:
        cluster: The configuration; workloads in it are left out.
        jobs: Those that come in every period; `submit` counts from its start and must be within it.
        once: Those that come once; `submit` counts from the start of the first period.
        period: How long a period is.
        periods: How many are run at most.
        settings: What `simulate` takes beside, as `model` and `clock`; nothing that is drawn, and no events.

    Raises:
        InvalidSpecError: A job is submitted outside of the period, the cluster orders queues by their past usage
            (admission fair sharing), which no state here has, or an argument is not valid.
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
        # What happens at the boundary itself belongs to the period that begins there.
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


def _check(cluster: Cluster, table: JobColumns, length: int, periods: int, settings: dict[str, Any]) -> None:
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
    """Which job a row is: of a period, or `None` for one that comes once; its name, that of its Workload, its number.

    Names are the user's, and may be there twice, in two namespaces; Workloads have names of their own here.
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
    """All that decides what follows, seen from this boundary."""
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
    clock, states = scheduler.engine.now, run.states
    running = sorted((job, clock - begun[key], done[row]) for key, row, job in there if states[row] == _RUNNING)
    kept = sorted((job, done[row]) for _, row, job in there if states[row] == _WAITING)
    return waiting, tuple(running), tuple(kept)


def _relative(place: _Place, number: int) -> tuple[int, int]:
    """A job by how many periods ago it came; one that comes once by its number alone."""
    return (-1 if place.period is None else number - place.period, place.number)


def _once(run: Simulation, order: list[_Place]) -> tuple[Starved, ...]:
    """The jobs that came once and have had no quota."""
    jobs = run.result().jobs
    starts, submits = jobs["first_start"], jobs["submit"]
    found = []
    for row, place in enumerate(order):
        if place.period is None and run.states[row] == _WAITING and np.isnan(starts[row]):
            later = int(((submits > submits[row]) & ~np.isnan(starts)).sum())
            found.append(Starved(place.name, str(jobs["queue"][row]), float(jobs["waited"][row]), later))
    return tuple(found)


def _bound(run: Simulation, order: list[_Place], number: int) -> float:
    """The longest first wait of the jobs of the periods before this one, after which all comes again.

    The run goes on until they have started: what the last of them wait, their like of later periods will wait, too.
    """
    before = [row for row, place in enumerate(order) if place.period is not None and place.period < number]
    waits = run.result().jobs["first_wait"][before]
    while np.isnan(waits).any() and run.step():
        waits = run.result().jobs["first_wait"][before]
    return math.inf if np.isnan(waits).any() else float(waits.max())
