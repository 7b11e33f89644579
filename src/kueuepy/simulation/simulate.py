"""Simulations of jobs on a cluster in virtual time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from kueuepy._core import Turn
from kueuepy.cluster.unmodelled import not_modelled
from kueuepy.errors import LoopError, StateError, UnsupportedError, checked, checked_methods, spelled_out
from kueuepy.fleet import Fleet
from kueuepy.objects import SECOND
from kueuepy.simulation.fleet_result import fleet_result_of
from kueuepy.simulation.fleets import FleetPrepared
from kueuepy.simulation.gather import facts_of, job_columns, loops_of, run_columns, span_of, tables_of, weights_of
from kueuepy.simulation.model import Settings, SimulateSettings
from kueuepy.simulation.pages.words import warnings_of
from kueuepy.simulation.prepare import Prepared
from kueuepy.simulation.recorded import TABLES
from kueuepy.simulation.result import Result
from kueuepy.simulation.table import Jobs, trees_of
from kueuepy.tables.columns import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from typing_extensions import Never, Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.base import JobColumns
    from kueuepy.simulation.model import Time


# Seconds between two reports; people cannot read faster.
_OFTEN = 0.1


class Progress(msgspec.Struct, frozen=True):
    """The progress of a simulation.

    >>> Progress(done=40, total=100, now=3600.0, admitted=55, evicted=5, waiting=10).done
    40

    Attributes:
        done: Number of finished jobs.
        total: Number of jobs.
        now: The current virtual time, in seconds after the first submission.
        admitted: Number of admissions.
        evicted: Number of evictions.
        waiting: Number of jobs that have been submitted and have not finished, including running jobs.
    """

    done: int
    total: int
    now: float
    admitted: int
    evicted: int
    waiting: int


class Teller:
    """A reporter of progress, which calls a function or updates a progress bar at most ten times a second."""

    def __init__(self, progress: Any, total: int, unit: str = "jobs") -> None:
        """Choose how to report progress.

        Args:
            progress: A function that is called with the progress, `True` for a tqdm bar, or `None` for a tqdm bar only
                in notebooks and terminals.
            total: The total amount of work.
            unit: The unit of work, for the progress bar.
        """
        self._tell = progress if callable(progress) else None
        self._bar: Any = None
        self._shows = progress is True or (progress is None and _is_interactive())
        self._total, self._unit = total, unit
        self._begin, self._last = time.monotonic(), 0.0

    def maybe(self, look: Callable[[], Any], *, last: bool = False) -> None:
        """Report progress if 0.1 s have passed since the last report, or if this is the last call.

        Args:
            look: A function that returns the current progress.
            last: Whether this is the last call.
        """
        now = time.monotonic()
        # A notebook would spend more time on its display than on the simulation.
        if now - self._last < _OFTEN and not last:
            return
        self._last = now
        if self._tell is not None:
            self._tell(look())
        # A bar for a simulation of less than a second would only flicker.
        elif self._shows and (self._bar is not None or now - self._begin > 1):
            self._show(look())

    def _show(self, progress: Any) -> None:
        if self._bar is None:
            try:
                tqdm = import_module("tqdm.auto").tqdm
            except ImportError:
                self._shows = False
                return
            self._bar = tqdm(total=self._total, unit=self._unit)
        self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        """Close the progress bar."""
        if self._bar is not None:
            self._bar.close()


def _is_interactive() -> bool:
    import sys  # noqa: PLC0415 - only on use

    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


Method = TypeVar("Method", bound="Callable[..., Any]")


def _alone(method: Method, *, changes: bool = False) -> Method:
    """Decorate a method of Simulation to raise StateError while another thread runs a method of the same object.

    A method that `changes` the simulation must not be called by a function that the simulation itself calls, either.
    """

    @wraps(method)
    def alone(self: Simulation, *arguments: Any, **named: Any) -> Any:
        with self._turn:
            if changes and self._run.asking.is_open():
                raise StateError("this Simulation is in use by a function that it called, which may only read it")
            return method(self, *arguments, **named)

    return cast("Method", alone)


_changes: Callable[[Method], Method] = partial(_alone, changes=True)
_UNDER_WAY, _OVER = 1, 2
# Number of heads and events between two readings of the wall clock; about a millisecond of work.
_WORK = 512


@checked_methods
class Simulation:
    """A simulation that runs step by step; `simulate` runs a simulation to its end.

    Only one thread at a time may use a Simulation. A method raises `StateError` while another thread runs a method of
    the same object. Threads that each work on their own `fork` do not affect each other. `copy.copy` and
    `copy.deepcopy` return a `fork`. A Simulation cannot be pickled, but its `result` can.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> jobs = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
    >>> simulation = Simulation(cluster, jobs)
    >>> simulation.run("30m")
    >>> simulation.states.tolist()  # two jobs run, one waits
    [2, 2, 1]
    >>> simulation.run()
    >>> simulation.result().kpis.finished
    3
    """

    @spelled_out(SimulateSettings)
    def __init__(
        self,
        cluster: Cluster | Scheduler | Fleet,
        jobs: Jobs | Iterable[Any],
        *,
        threads: int | None = 1,
        **settings: Unpack[SimulateSettings],
    ) -> None:
        """Prepare a simulation without advancing the virtual time.

        Args:
            cluster: The cluster, Scheduler or Fleet; see `simulate`.
            jobs: The jobs to simulate; see `simulate`.
            threads: The number of threads; `None` for all available cores. 1 by default, because programs often run
                several simulations in parallel. See `simulate`.
            settings: Keyword arguments of `simulate`: `model`, `events`, `clock`, `delays`, `until`, `warmup`, `seed`,
                `record`, `on_loop` and `missing`.

        Raises:
            InvalidSpecError: An argument is invalid; the message names the row of an invalid job.
            NotFoundError: A job names a LocalQueue that does not exist, and `missing` is `error`.
        """
        self._turn = Turn("this Simulation")
        delays: Any = settings.get("delays", ())
        chosen: dict[str, Any] = {**settings, "events": tuple(settings.get("events", ()))}
        # A dict gives each cluster of a fleet its own delays.
        chosen["delays"] = delays if isinstance(delays, dict) else tuple(delays)
        kind = FleetPrepared if isinstance(cluster, Fleet) else Prepared
        self._run: Prepared = kind(cluster, jobs, Settings(**chosen), threads=threads)

    @property
    @_alone
    def jobs(self) -> Jobs:
        """The jobs, followed by the workloads that the Scheduler already contained."""
        return Jobs.of(self._run.jobs)

    @property
    def settings(self) -> Settings:
        """The arguments of the simulation other than the cluster and the jobs."""
        return self._run.settings

    @property
    @_alone
    def now(self) -> float:
        """The current virtual time, in seconds after the first submission."""
        return float(max(0, self._run.now - self._run.core.start)) / SECOND

    @_changes
    def run(self, until: Time = None, *, progress: Callable[[Progress], None] | bool | None = False) -> None:
        """Advance to a time, or until no event is left.

        Ctrl-C interrupts the method; the simulation keeps its state and can continue.

        Args:
            until: Time after the first submission, such as `2d` or a number of seconds. By default, run until no event
                is left, or until the time `until` of the simulation.
            progress: A function that receives a `Progress` at most ten times a second. `True` shows a progress bar if
                tqdm is installed, and `None` shows a progress bar only in a notebook or terminal. By default, progress
                is not reported.

        Raises:
            LoopError: The simulation finds a preemption loop, and `on_loop` is `raise`.
        """
        run = self._run
        end = run.end_of(until)
        tell = Teller(progress, run.size)
        try:
            while run.core.advance(until=end):
                run.asking.call(tell.maybe, self.progress)
        finally:
            tell.close()
        # The core stops at its last event, and the time shown is the one that was asked for.
        run.reached = max(run.reached, 0 if until is None else end)
        self._check_loop()

    @_changes
    def run_for(self, seconds: float) -> bool:
        """Advance the simulation for a limited wall-clock time.

        Args:
            seconds: The wall-clock time in seconds.

        Returns:
            Whether events are left.

        Raises:
            LoopError: The simulation finds a preemption loop, and `on_loop` is `raise`.
        """
        end = time.perf_counter() + seconds
        while goes_on := self._run.core.advance(_WORK):
            if time.perf_counter() >= end:
                break
        self._check_loop()
        return bool(goes_on)

    @_changes
    def step(self) -> bool:
        """Advance to the next time at which an event occurs, and run the scheduling cycles that follow the event.

        Returns:
            Whether an event occurred; `False` if no event is left.

        Raises:
            LoopError: The simulation finds a preemption loop, and `on_loop` is `raise`.
        """
        while (went := self._run.core.step()) == _UNDER_WAY:
            pass
        self._check_loop()
        return bool(went == _OVER)

    @_changes
    def apply(self, thing: Any) -> None:
        """Apply a change at the current virtual time; the next step takes it into account.

        Args:
            thing: A Kueue object to create or replace, or an `Edit`, `Delete`, `Finish`, `Evict` or `Priority`.

        Raises:
            InvalidSpecError: `thing` has an unsupported type, or the object is invalid.
            NotFoundError: `thing` names a job that does not exist, or an `Edit` matches no object.
        """
        self._run.apply(thing)

    @_changes
    def submit(self, jobs: JobColumns | Iterable[Any]) -> None:
        """Submit more jobs.

        A job arrives at its submission time, or at the current virtual time if its submission time has passed.

        Args:
            jobs: One or more jobs in any form that `simulate` accepts.

        Raises:
            InvalidSpecError: A job is invalid.
            NotFoundError: A job names a LocalQueue that does not exist, and `missing` is `error`.
            DuplicateError: Another job has the same name.
        """
        self._run.submit(jobs)

    def _check_loop(self) -> None:
        if self._run.core.stopped and self.settings.on_loop == "raise":
            loops = self.result().loops
            raise LoopError(f"simulate: {loops[0]}" if loops else "simulate: preemption loop")

    @_alone
    def progress(self) -> Progress:
        """Return the progress of the simulation: virtual time and numbers of jobs, admissions and evictions."""
        stats = self._run.core.stats
        return Progress(
            stats.finished,
            self._run.size,
            self.now,
            stats.admissions,
            stats.evictions,
            stats.workloads - stats.finished,
        )

    @property
    @_alone
    def states(self) -> Any:
        """The state of each job, in row order: 0 not yet submitted, 1 waiting, 2 running, 3 finished, 4 deactivated."""
        return self._run.states

    @_alone
    def fork(self) -> Simulation:
        """Return an independent copy of the simulation at its current virtual time."""
        twin = Simulation.__new__(Simulation)
        twin._turn = Turn("this Simulation")  # noqa: SLF001 - same class
        twin._run = self._run.copy()  # noqa: SLF001 - same class
        return twin

    def __copy__(self) -> Simulation:
        """Return a `fork`."""
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        """Return a `fork`."""
        return self.fork()

    def __reduce__(self) -> Never:
        """Reject pickling.

        Raises:
            UnsupportedError: A Simulation cannot be pickled.
        """
        raise UnsupportedError("a Simulation cannot be pickled; pickle its result(), or the cluster and the jobs")

    @property
    @_alone
    def scheduler(self) -> Scheduler:
        """A copy of the Scheduler at the current virtual time; changes to the copy do not affect the simulation."""
        return self._run.scheduler()

    @_alone
    def result(self) -> Result:
        """Return the result up to the current virtual time; the simulation can continue afterwards."""
        # A result ends its run, and this one goes on.
        return result_of(self._run.copy())

    @_changes
    def close(self) -> Result:
        """End the simulation and return its result up to the current virtual time, without copying the state."""
        return result_of(self._run)


def result_of(run: Prepared) -> Result:
    """Return the result of a simulation and end the simulation."""
    if isinstance(run, FleetPrepared):
        return fleet_result_of(run)
    core = run.core
    core.close()
    start, now, last = span_of(run)
    tables = tables_of(
        run,
        {
            "jobs": job_columns(run.jobs, columns_of(core.jobs()), start, (now, last), run.options["warmup"] / SECOND),
            "runs": run_columns(columns_of(core.runs())),
            **{name: columns_of(getattr(core, name)()) for name in TABLES if name not in ("jobs", "runs")},
        },
    )
    facts = {
        "not_modelled": not_modelled(run.declared, (change[2] for change in run.options["changes"])),
        "weights": weights_of(run.declared),
        "trees": trees_of(run.declared),
        **facts_of(run, tables["jobs"]),
    }
    return Result(tables, {**core.figures(), "assigned": core.assigned()}, loops_of(run, core), facts, run)


@checked
@spelled_out(SimulateSettings)
def simulate(
    cluster: Cluster | Scheduler | Fleet,
    jobs: Jobs | Iterable[Any],
    *,
    progress: bool | Callable[[Progress], None] | None = None,
    censored: Any = None,
    threads: int | None = None,
    **settings: Unpack[SimulateSettings],
) -> Result:
    """Simulate jobs on a cluster in virtual time.

    Each job arrives at its submission time, runs for its runtime after its admission, and finishes. At each point in
    time, jobs finish first. Planned changes and new states of admission checks take effect next, and jobs arrive last.
    Scheduling cycles follow until a cycle changes nothing. The same input always produces the same result.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> rows = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
    >>> simulate(cluster, rows).jobs["waited"].tolist()
    [0.0, 0.0, 3480.0]

    Args:
        cluster: A Cluster, a Scheduler or a `Fleet`. The simulation does not change a given Scheduler, but continues
            from a copy with the same workloads. To specify the remaining runtime of a workload of the Scheduler, pass a
            job with the same name and namespace (the namespace of the LocalQueue). A job with the name of an existing
            workload is not submitted again. A workload of the Scheduler for which no job was passed never finishes.
        jobs: A `Jobs` table, or rows, a DataFrame, Workloads or manifests.
        progress: A function that receives a `Progress` at most ten times a second. `True` shows a progress bar if tqdm
            is installed. `None` (the default) shows a progress bar in notebooks and terminals only; `False` shows none.
        censored: How to estimate the full runtimes of jobs that had not finished; see `Jobs.complete`.
        threads: Number of threads of cycles with at least 64 heads; by default, all cores. The result is the same.
        settings: The arguments below. For a Fleet, `model`, `clock` and `delays` may be dicts keyed by cluster
            (`manager` or the name of a worker).

            - `model`: model of what an eviction costs. By default, an evicted job restarts from the beginning.
            - `events`: changes during the simulation.
            - `clock`: the duration of a scheduling cycle; 0 by default.
            - `delays`: delays of admission checks and pod starts, and node failures.
            - `until`: stop the simulation at this time after the first submission; by default, stop when no event is
              left.
            - `warmup`: length of the warm-up after the first submission; 0 by default. Metrics exclude the warm-up.
            - `seed`: seed of the random number generator for delays; 0 by default.
            - `record`: the tables to record.
            - `on_loop`: how to respond to a preemption loop. `hold` (the default) stops admissions in the affected
              cohort tree until another event occurs in the tree, `stop` ends the simulation, and `raise` raises
              LoopError.
            - `missing`: how to treat jobs whose LocalQueue does not exist: `error` (the default), `skip` or `wait`.

    Returns:
        The recorded tables and the metrics. For a Fleet, the result is a `FleetResult`.

    Raises:
        InvalidSpecError: An argument is invalid; the message names the row of an invalid job.
        NotFoundError: Jobs name LocalQueues that do not exist, and `missing` is `error`.
        LoopError: The simulation finds a preemption loop, and `on_loop` is `raise`.
    """
    table = jobs if censored is None else Jobs.of(jobs).complete(censored, settings.get("seed", 0))
    run = Simulation(cluster, table, threads=threads, **settings)
    begin = time.process_time()
    run.run(progress=progress)
    result = run.close()
    result.wall["cpu_s"] = time.process_time() - begin
    # Metrics are computed only when somebody asks for them, and so are the warnings about them.
    for text in warnings_of(result, figures=False):
        warnings.warn(text, stacklevel=4)  # the caller: two decorators lie between it and this frame
    return result


__all__ = ["Progress", "Settings", "Simulation", "simulate"]
