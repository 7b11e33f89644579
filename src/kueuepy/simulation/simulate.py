"""A run of jobs on a cluster in virtual time, as a whole or step by step."""

from __future__ import annotations

import time
import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kueuepy._core import Turn
from kueuepy.errors import StateError, UnsupportedError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.fleet import Fleet
from kueuepy.objects import SECOND
from kueuepy.simulation.gather import result_of
from kueuepy.simulation.model import Clock, Recording, RunModel, Settings
from kueuepy.simulation.moments import scheduler_of
from kueuepy.simulation.prepare import Prepared
from kueuepy.simulation.progress import Progress, Teller
from kueuepy.simulation.warn import is_about_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from typing_extensions import Never

    from kueuepy.cluster import Cluster
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.base import JobColumns
    from kueuepy.simulation.model import Delay, Event, Missing, OnLoop, Time
    from kueuepy.simulation.result import Result
    from kueuepy.simulation.table import Jobs

Method = TypeVar("Method", bound="Callable[..., Any]")


def _alone(method: Method) -> Method:
    """Makes a method of Simulation raise StateError while another thread is in one of the same run."""

    @wraps(method)
    def alone(self: Simulation, *arguments: Any, **named: Any) -> Any:
        with self._turn:
            return method(self, *arguments, **named)

    return cast("Method", alone)


_UNDER_WAY, _OVER = 1, 2
_WORK = 512
"""Heads and events between two looks at the clock: about a millisecond."""
_MODEL, _CLOCK, _RECORD = RunModel(), Clock(), Recording()


class LoopError(StateError):
    """Preemption went round, and `on_loop="raise"` asked for an error."""


@checked_methods
class Simulation:
    """A run that goes on moment by moment; `simulate` runs it to its end.

    One thread at a time may use it: a call while another thread is in one raises `StateError`. Threads that each work
    on a `fork` of their own do not disturb each other. `copy.copy` and `copy.deepcopy` are `fork`; a Simulation cannot
    be pickled, its `result` can.
    """

    def __init__(
        self,
        cluster: Cluster | Scheduler | Fleet,
        jobs: Jobs | Iterable[Any],
        *,
        model: RunModel = _MODEL,
        events: Sequence[Event] = (),
        clock: Clock = _CLOCK,
        delays: Sequence[Delay] = (),
        until: Time = None,
        warmup: Time = 0,
        seed: int = 0,
        record: Recording = _RECORD,
        on_loop: OnLoop = "hold",
        missing: Missing = "error",
    ) -> None:
        """Prepares the run; see `simulate`."""
        self._turn = Turn("this Simulation")
        chosen: Any = delays if isinstance(delays, dict) else tuple(delays)
        settings = Settings(model, tuple(events), clock, chosen, until, warmup, seed, record, on_loop, missing)
        if isinstance(cluster, Fleet):
            from kueuepy.simulation.fleets import FleetPrepared  # noqa: PLC0415 - only for fleets

            self._run: Prepared = FleetPrepared(cluster, jobs, settings)
        else:
            self._run = Prepared(cluster, jobs, settings)

    @property
    @_alone
    def jobs(self) -> JobColumns:
        """The jobs, and after them the workloads that were in the Scheduler already."""
        return self._run.jobs

    @property
    def settings(self) -> Settings:
        """What was asked for."""
        return self._run.settings

    # Going on.

    @property
    @_alone
    def now(self) -> float:
        """Seconds of virtual time after the first submission."""
        return float(max(0, self._run.now - self._run.core.stats["start"])) / SECOND

    @_alone
    def run(self, until: Time = None, *, progress: Callable[[Progress], None] | bool | None = False) -> None:
        """Goes on to this time after the first submission, or until nothing happens any more.

        Ctrl-C is heard, and leaves the run where it was.

        Raises:
            LoopError: Preemption goes round, and the run was told to raise.
        """
        run = self._run
        end = run.end_of(until)
        run.reached = max(run.reached, 0 if until is None else end)
        tell = Teller(progress, run.size)
        try:
            while run.core.advance(until=end):
                tell.maybe(self.progress)
        finally:
            tell.close()
        self._check_loop()

    @_alone
    def run_for(self, seconds: float) -> bool:
        """Goes on for about so long by the clock on the wall; whether anything is left.

        Raises:
            LoopError: Preemption goes round, and the run was told to raise.
        """
        end = time.perf_counter() + seconds
        while goes_on := self._run.core.advance(_WORK):
            if time.perf_counter() >= end:
                break
        self._check_loop()
        return goes_on

    @_alone
    def step(self) -> bool:
        """Goes on by one moment: what happens then, and the cycles that follow; whether anything happened.

        Raises:
            LoopError: Preemption goes round, and the run was told to raise.
        """
        while (went := self._run.core.step()) == _UNDER_WAY:
            pass
        self._check_loop()
        return went == _OVER

    @_alone
    def apply(self, thing: Any) -> None:
        """Changes something at the moment that the run has come to; the next step decides with it.

        Args:
            thing: An object, an `Edit`, or a `Delete`, `Finish`, `Evict` or `Priority`.

        Raises:
            InvalidSpecError: It is none of these.
            NotFoundError: It names no job, or an edit no object.
        """
        self._run.apply(thing)

    @_alone
    def submit(self, jobs: JobColumns | Iterable[Any]) -> None:
        """Gives it more jobs, which come at their submission, or now if that is over.

        Args:
            jobs: One or many, in any form that `simulate` takes.

        Raises:
            InvalidSpecError: A job is not valid.
            NotFoundError: A job names a LocalQueue that is not there.
            DuplicateError: There is a job of the same name.
        """
        self._run.submit(jobs)

    def _check_loop(self) -> None:
        if self._run.core.stats["stopped"] and self.settings.on_loop == "raise":
            loops = self.result().loops
            raise LoopError(f"simulate: {loops[0]}" if loops else "simulate: preemption goes round")

    @_alone
    def progress(self) -> Progress:
        """How far it has come."""
        stats = self._run.core.stats
        return Progress(
            stats["finished"],
            self._run.size,
            self.now,
            stats["admissions"],
            stats["evictions"],
            stats["workloads"] - stats["finished"],
        )

    @property
    @_alone
    def states(self) -> Any:
        """By row, whether a job is still to come (0), waits (1), runs (2), has finished (3) or is deactivated (4)."""
        return self._run.states

    @_alone
    def fork(self) -> Simulation:
        """Another run from here; what happens to one of the two is not seen by the other."""
        twin = Simulation.__new__(Simulation)
        twin._turn = Turn("this Simulation")  # noqa: SLF001 - of its own class
        twin._run = self._run.copy()  # noqa: SLF001 - of its own class
        return twin

    def __copy__(self) -> Simulation:
        """The same as `fork`."""
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        """The same as `fork`."""
        return self.fork()

    def __reduce__(self) -> Never:
        """Is refused.

        Raises:
            UnsupportedError: A run cannot be pickled.
        """
        raise UnsupportedError("a Simulation cannot be pickled; pickle its result(), or the cluster and the jobs")

    @property
    @_alone
    def scheduler(self) -> Scheduler:
        """The Scheduler of this moment, to ask and explain; what is done to it is not seen by the run."""
        at_now = getattr(self._run, "fleet_scheduler", None)
        return scheduler_of(self._run) if at_now is None else at_now()

    @_alone
    def result(self) -> Result:
        """What came of it until now."""
        return _result_of(self._run.copy())

    @_alone
    def close(self) -> Result:
        """What came of it until now, without a copy: it cannot go on."""
        return _result_of(self._run)


def _result_of(run: Prepared) -> Result:
    if hasattr(run, "fleet"):
        from kueuepy.simulation.fleet_result import fleet_result_of  # noqa: PLC0415 - only for fleets

        of_fleet: Any = run
        return fleet_result_of(of_fleet)
    return result_of(run)


@checked
def simulate(
    cluster: Cluster | Scheduler | Fleet,
    jobs: Jobs | Iterable[Any],
    *,
    model: RunModel = _MODEL,
    events: Sequence[Event] = (),
    clock: Clock = _CLOCK,
    delays: Sequence[Delay] = (),
    until: Time = None,
    warmup: Time = 0,
    seed: int = 0,
    record: Recording = _RECORD,
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
            same name says how long they still run, else they stay. Or a `Fleet`: see `kueuepy.fleet`.
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
    result = run.close()
    result.wall["cpu_s"] = time.process_time() - begin
    for text in result.warnings:
        if not is_about_figures(text):
            warnings.warn(text, stacklevel=2)
    return result


__all__ = ["LoopError", "Progress", "Settings", "Simulation", "simulate"]
