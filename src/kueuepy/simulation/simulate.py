"""A run of jobs on a cluster in virtual time, as a whole or step by step."""

from __future__ import annotations

import time
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from kueuepy import _core
from kueuepy.errors import InvalidSpecError, NotFoundError, StateError
from kueuepy.manifest.times import LONGEST
from kueuepy.objects import SECOND, Object, Workload
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.items import check_names, concat, jobs_of, of_workloads
from kueuepy.simulation.model import (
    At,
    Clock,
    Delete,
    Edit,
    Evict,
    Finish,
    Priority,
    Record,
    RunModel,
    delay_options,
    moment,
)
from kueuepy.simulation.progress import Progress, Teller
from kueuepy.simulation.shapes import shapes_of
from kueuepy.simulation.values import span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.model import Delay, Time
    from kueuepy.simulation.result import Result
    from kueuepy.simulation.table import Jobs

OnLoop = Literal["hold", "stop", "raise"]
Missing = Literal["error", "skip", "wait"]
_MODEL, _CLOCK, _RECORD = RunModel(), Clock(), Record()
_NAMED = 5


class LoopError(StateError):
    """Preemption went round, and `on_loop="raise"` asked for an error."""


class Settings(msgspec.Struct, frozen=True):
    """All that a run was asked for beside cluster and jobs."""

    model: RunModel = RunModel()
    events: tuple[At, ...] = ()
    clock: Clock = Clock()
    delays: tuple[Any, ...] = ()
    until: Any = None
    warmup: Any = 0
    seed: int = 0
    record: Record = Record()
    on_loop: OnLoop = "hold"
    missing: Missing = "error"


class Simulation:
    """A run that goes on moment by moment; `simulate` runs it to its end.

    Attributes:
        jobs: The jobs, and after them the workloads that were in the Scheduler already.
        settings: What was asked for.
    """

    def __init__(
        self,
        cluster: Cluster | Scheduler,
        jobs: Jobs | Iterable[Any],
        *,
        model: RunModel = _MODEL,
        events: Sequence[At] = (),
        clock: Clock = _CLOCK,
        delays: Sequence[Delay] = (),
        until: Time = None,
        warmup: Time = 0,
        seed: int = 0,
        record: Record = _RECORD,
        on_loop: OnLoop = "hold",
        missing: Missing = "error",
    ) -> None:
        """Prepares the run; see `simulate`."""
        self.settings = Settings(
            model, tuple(events), clock, tuple(delays), until, warmup, seed, record, on_loop, missing
        )
        if on_loop not in ("hold", "stop", "raise"):
            raise InvalidSpecError(f"on_loop: {on_loop!r}; it must be hold, stop or raise")
        self._given = (cluster, jobs)
        self._reached = 0
        self._base = cluster.fork() if isinstance(cluster, Scheduler) else Scheduler(cluster)
        self.jobs = self._all_jobs(jobs)
        self._options = self._read_options()
        self._shapes, codes = shapes_of(
            self.jobs, self._base.cluster.resource_flavors, dict(self._base.configuration.feature_gates or {})
        )
        self._codes = codes
        self._core = self._start(codes)

    def _all_jobs(self, given: Any) -> Jobs:
        """The jobs that have a queue, and the workloads that are there already; sorted by submission for the core."""
        table = jobs_of(given, self._base.job_context())
        table = self._with_queues(table)
        check_names(table)
        known = [key for key in self._base.keys() if self._lives(key)]  # noqa: SIM118 - a Scheduler is no mapping
        self._known: dict[int, str] = {}
        if known:
            names = {
                f"{str(table['queue'][row]).partition('/')[0]}/{table.name_of(row)}": row for row in range(len(table))
            }
            self._known = {names[key]: key for key in known if key in names}
            others = [key for key in known if key not in names]
            workloads = [self._base.workload(key) for key in others]
            if workloads:
                self._known |= {len(table) + place: key for place, key in enumerate(others)}
                table = concat([table, of_workloads(workloads, [None] * len(workloads))])
        if self._known:
            submit = np.array(table["submit"])
            submit[list(self._known)] = np.minimum(submit[list(self._known)], self._base.engine.now)
            table = table.moved_to(submit)
        return table

    def _lives(self, key: str) -> bool:
        finished = self._base.engine.condition(self._base.id_of(key), "Finished")
        return finished is None or not finished[0]

    def _with_queues(self, table: Jobs) -> Jobs:
        there = {queue.key for queue in self._base.cluster.local_queues}
        queue = table["queue"]
        absent = [code for code, name in enumerate(queue.names) if name not in there]
        lost = np.isin(queue.codes, absent)
        self.notes: tuple[tuple[str, int], ...] = table.notes
        if not lost.any() or self.settings.missing == "wait":
            if lost.any():
                self.notes = (*self.notes, ("wait for a LocalQueue that is not there", int(lost.sum())))
            return table
        if self.settings.missing == "skip":
            self.notes = (*self.notes, ("left out: their LocalQueue is not there", int(lost.sum())))
            return table.where(~lost)
        counts = np.bincount(queue.codes[lost], minlength=len(queue.names))
        named = [f"{queue.names[code]} ({counts[code]} jobs)" for code in absent if counts[code]]
        close = get_close_matches(queue.names[absent[0]], there, 1)
        hint = f'; did you mean "{close[0]}"?' if close else ""
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        raise NotFoundError(
            f"jobs: {int(lost.sum())} of {len(table)} name LocalQueues that are not in the cluster: "
            f'{", ".join(named[:_NAMED])}{more}{hint}; missing="skip" leaves them out'
        )

    def _read_options(self) -> dict[str, Any]:
        settings = self.settings
        submit = self.jobs["submit"]
        self._zero = max(int(submit.min()) if len(submit) else 0, self._base.engine.now)
        last = int(submit.max(initial=self._zero)) - self._zero
        until = LONGEST if settings.until is None else self._zero + moment("until", settings.until)
        return {
            **settings.model.options(),
            **settings.clock.options(),
            **settings.record.options(),
            **delay_options(settings.delays, settings.seed),
            "changes": self._changes(last),
            "until": until,
            "warmup": span("warmup", settings.warmup),
            "on_loop": "hold" if settings.on_loop == "hold" else "stop",
            "as_performance_test": False,
        }

    def _changes(self, last: int) -> list[tuple[int, str, Any, int]]:
        """All that the events come to, in order; an Edit is made of the objects as they are by then."""
        planned: list[tuple[int, int, Any]] = []
        for place, event in enumerate(self.settings.events):
            for at in event.moments(f"events[{place}]", last):
                things = event.what if isinstance(event.what, list | tuple) else [event.what]
                planned += [(at, len(planned) + number, thing) for number, thing in enumerate(things)]
        planned.sort(key=lambda entry: entry[:2])
        self._cluster = self._base.cluster
        rows = {str(self.jobs["name"][row]): row for row in range(len(self.jobs))} if "name" in self.jobs.names else {}
        order = np.argsort(np.argsort(self.jobs["submit"], kind="stable"), kind="stable")
        found = []
        for at, _, thing in planned:
            found += [(self._zero + at, *step) for step in self._steps(thing, rows, order)]
        return found

    def _steps(self, thing: Any, rows: dict[str, int], order: Any) -> list[tuple[str, Any, int]]:
        if isinstance(thing, Edit):
            edited = self._cluster.edit(thing.path, thing.value)
            before = list(self._cluster.objects())
            changed = [obj for obj in edited.objects() if obj not in before]
            self._cluster = edited
            return [("apply", obj, 0) for obj in changed]
        if isinstance(thing, Delete):
            kind, _, rest = thing.what.partition("/")
            namespace, _, name = rest.rpartition("/")
            return [("delete", (kind, namespace or "default" * (kind in ("LocalQueue", "LimitRange")), name), 0)]
        if isinstance(thing, Finish | Evict | Priority):
            row = thing.job if isinstance(thing.job, int) else rows.get(thing.job, _row_of(thing.job))
            if row is None or not 0 <= row < len(self.jobs):
                raise NotFoundError(f"events: {thing}: names no job")
            value = thing.priority if isinstance(thing, Priority) else 0
            return [(type(thing).__name__.lower(), int(order[row]), value)]
        if isinstance(thing, Object) and not isinstance(thing, Workload):
            self._cluster = self._cluster.replace(thing)
            return [("apply", thing, 0)]
        raise InvalidSpecError(f"events: {thing!r}; it must be an object, an Edit, Delete, Finish, Evict or Priority")

    def _start(self, codes: Any) -> _core.VirtualRun:
        table = self.jobs
        order = np.argsort(table["submit"], kind="stable") if len(table) else np.zeros(0, np.int64)
        sorted_ = bool((order[1:] > order[:-1]).all())
        columns: dict[str, Any] = {"submit": table["submit"], "runtime": table["runtime"], "shape": codes}
        columns |= {name: table[name] for name in ("every", "cost", "restore", "grace") if name in table.names}
        if "elastic" in table.names:
            columns["elastic"] = np.asarray(table["elastic"]).astype(np.uint8)
        if "created" in table.names:
            columns["created"] = table["created"]
        if self._known:
            known = np.zeros(len(table), np.uint8)
            known[list(self._known)] = 1
            columns["known"] = known
        if not sorted_:
            columns = {name: column[order] for name, column in columns.items()}
            columns["row"] = order.astype(np.int32)
        if "name" in table.names:
            columns["names"] = [table.name_of(int(row)) for row in order]
        columns = {n: np.ascontiguousarray(c) if isinstance(c, np.ndarray) else c for n, c in columns.items()}
        core = _core.VirtualRun(self._base.engine, self._shapes, columns, self._options)
        if self._known:
            place = np.argsort(order, kind="stable")
            core.adopt([(int(place[row]), key) for row, key in sorted(self._known.items())])
        return core

    # Going on.

    @property
    def now(self) -> float:
        """Seconds of virtual time after the first submission."""
        stats = self._core.stats
        return float(max(0, stats["now"] - stats["start"])) / SECOND

    def run(self, until: Time = None, *, progress: Callable[[Progress], None] | bool | None = False) -> None:
        """Goes on to this time after the first submission, or until nothing happens any more.

        Ctrl-C is heard, and leaves the run where it was.

        Raises:
            LoopError: Preemption goes round, and the run was told to raise.
        """
        end = LONGEST if until is None else self._zero + moment("until", until)
        self._reached = max(self._reached, 0 if until is None else end)
        tell = Teller(progress, len(self.jobs))
        try:
            while self._core.advance(until=end):
                tell.maybe(self)
        finally:
            tell.close()
        if self._core.stats["stopped"] and self.settings.on_loop == "raise":
            loops = self.result().loops
            raise LoopError(f"simulate: {loops[0]}" if loops else "simulate: preemption goes round")

    def progress(self) -> Progress:
        """How far it has come."""
        stats = self._core.stats
        return Progress(
            stats["finished"],
            len(self.jobs),
            self.now,
            stats["admissions"],
            stats["evictions"],
            stats["workloads"] - stats["finished"],
        )

    @property
    def states(self) -> Any:
        """By row, whether a job is still to come (0), waits (1), runs (2), has finished (3) or is deactivated (4)."""
        return self._core.jobs()["state"][0]

    def until(self, when: Time) -> Simulation:
        """The same run from its start on until a moment after the first submission."""
        settings = {name: getattr(self.settings, name) for name in Settings.__struct_fields__}
        twin = Simulation(*self._given, **settings)
        twin.run(when)
        return twin

    def fork(self) -> Simulation:
        """Another run from here; what happens to one of the two is not seen by the other."""
        twin = Simulation.__new__(Simulation)
        twin.__dict__.update(self.__dict__)
        twin._core = self._core.copy()  # noqa: SLF001 - of its own class
        return twin

    @property
    def scheduler(self) -> Scheduler:
        """The Scheduler of this moment, to ask and explain; what is done to it is not seen by the run."""
        from kueuepy.simulation.moments import scheduler_of  # noqa: PLC0415 - only on use

        return scheduler_of(self)

    def result(self) -> Result:
        """What came of it until now."""
        from kueuepy.simulation.result import result_of  # noqa: PLC0415 - only on use

        return result_of(self)


def _row_of(name: str) -> int | None:
    return int(name[1:]) if name[:1] == "j" and name[1:].isdigit() else None


def simulate(
    cluster: Cluster | Scheduler,
    jobs: Jobs | Iterable[Any],
    *,
    model: RunModel = _MODEL,
    events: Sequence[At] = (),
    clock: Clock = _CLOCK,
    delays: Sequence[Delay] = (),
    until: Time = None,
    warmup: Time = 0,
    seed: int = 0,
    record: Record = _RECORD,
    on_loop: OnLoop = "hold",
    progress: bool | Callable[[Progress], None] | None = None,
    missing: Missing = "error",
) -> Result:
    """What comes of jobs on a cluster, in virtual time.

    Each job arrives at its submission, runs for its runtime once it is admitted, and ends. At one time, runs end first,
    then changes and answers come, then arrivals; then cycles follow until one changes nothing. The same input gives the
    same bytes.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> rows = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
    >>> result = simulate(cluster, rows)
    >>> result.jobs["waited"].tolist()
    [0.0, 0.0, 3480.0]

    Args:
        cluster: A Cluster, or a Scheduler to go on from, which is not changed. Workloads in it take part; a row of the
            same name says how long they still run, else they stay.
        jobs: A `Jobs`, or rows, frames, Workloads and manifests.
        model: What an eviction costs.
        events: What changes meanwhile.
        clock: What a cycle takes.
        delays: What answers to admission checks, starts of pods and failures take.
        until: The last moment, after the first submission. Jobs that are not done then are counted as unfinished.
        warmup: Jobs submitted before it run, and do not count in figures; integrals start there.
        seed: Of the draws of delays.
        record: What is kept.
        on_loop: At endless preemption: `hold` its tree's heads until something happens there, `stop`, or `raise`.
        progress: Who is told, at most ten times a second; `None`: tqdm in a notebook or terminal, where it is there.
        missing: Of jobs whose LocalQueue is not there: `error`, `skip` them, or let them `wait` as Kueue does.

    Raises:
        InvalidSpecError: Something is not valid; the message names the row.
        NotFoundError: Jobs name LocalQueues that are not there.
        LoopError: Preemption goes round, and `on_loop` is `raise`.
    """
    run = Simulation(
        cluster,
        jobs,
        model=model,
        events=events,
        clock=clock,
        delays=delays,
        until=until,
        warmup=warmup,
        seed=seed,
        record=record,
        on_loop=on_loop,
        missing=missing,
    )
    begin = time.process_time()
    run.run(progress=progress)
    result = run.result()
    result.wall["cpu_s"] = time.process_time() - begin
    for text in result.warnings:
        warnings.warn(text, stacklevel=2)
    return result


__all__ = ["LoopError", "Progress", "Settings", "Simulation", "simulate"]
