"""Execution of the simulations of a sweep, on threads or on a Dask cluster."""

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import nullcontext, suppress
from importlib import import_module
from typing import Any, TypeVar

import msgspec

from kueuepy.engine.threads import number_of_threads
from kueuepy.errors import InternalError, InvalidSpecError, KueueError
from kueuepy.lab.exploration.measure import Measure, figures_of
from kueuepy.lab.exploration.policy import Policy, Setup, applied
from kueuepy.simulation.model import Recording
from kueuepy.simulation.result import Result
from kueuepy.simulation.simulate import Progress, Simulation, Teller

T = TypeVar("T")
R = TypeVar("R")
# Metrics need no tables, which take most of the memory of a simulation.
NOTHING = Recording(decisions=False, runs=False, usage=False)
Row = dict[str, Any]
"""The results of a run: `figures` by name, `wall_s` (seconds), and `error`, which is `None` if there was none."""
# Sending a batch takes milliseconds, which are small beside a second of simulation.
_BATCH_SECONDS = 1.0
# A scheduler that a supervisor restarts is back within a minute.
_RESTART_SECONDS = 60.0
# Raised if the scheduler of a Dask cluster is restarted or cannot be reached.
_LOST = (CancelledError, OSError)


class Task(msgspec.Struct, frozen=True):
    """A policy and a seed, with the position of their simulation among all simulations."""

    index: int
    policy: dict[str, Any]
    seed: int


class _CancelledError(Exception):
    """The sweep was stopped during this simulation."""


def result_under(
    setup: Setup, policy: Policy, seed: int, record: Recording, stop: threading.Event | None = None
) -> Result:
    """Return the result of simulating the jobs of a seed under a policy."""
    made = applied(setup, policy, seed)
    settings = msgspec.structs.asdict(made.settings)
    run = Simulation(made.cluster, made.jobs_of(seed), **{**settings, "record": record})

    def listen(_: Progress) -> None:
        if stop is not None and stop.is_set():
            raise _CancelledError

    run.run(progress=listen)
    return run.close()


def row_of(setup: Setup, measures: Sequence[Measure], task: Task, stop: threading.Event | None = None) -> Row:
    """Return the metrics of one simulation, or the error of a policy that is not valid."""
    begin = time.perf_counter()
    figures: dict[str, float] = {}
    error = None
    try:
        result = result_under(setup, task.policy, task.seed, NOTHING, stop)
        figures = figures_of(result)
        for measure in measures:
            value = measure.of(result)
            figures[str(measure)] = math.nan if value is None else value
    except InternalError:
        raise  # a bug in this package, not an error of the policy
    except KueueError as fault:
        figures, error = {}, f"{type(fault).__name__}: {fault}"
    return {"figures": figures, "error": error, "wall_s": time.perf_counter() - begin}


def on_threads(
    work: Callable[[T, threading.Event], R], tasks: Sequence[T], threads: int | None
) -> Iterator[tuple[T, R]]:
    """Call a function for each task on threads, and yield each task with its result as soon as it is finished.

    The C++ core releases the GIL. When the generator is closed, for example by Ctrl-C, the generator sets the event,
    which requests the running calls to stop.

    Args:
        work: A function that is called with a task and an event; it should return early when the event is set.
        tasks: The tasks.
        threads: The number of threads; `None` for the number of available cores.
    """
    stop, number = threading.Event(), number_of_threads(threads)
    # Without a pool, Ctrl-C interrupts the simulation itself.
    if number == 1 or len(tasks) == 1:
        for task in tasks:
            yield task, work(task, stop)
        return
    with ThreadPoolExecutor(number, thread_name_prefix="sweep") as pool:
        futures = {pool.submit(work, task, stop): task for task in tasks}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def in_order(
    work: Callable[[T, threading.Event], R],
    tasks: Sequence[T],
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[R]:
    """Call a function for each task on threads, and return the results in the order of the tasks.

    Args:
        work: A function that is called with a task and an event; it should return early when the event is set.
        tasks: The tasks.
        threads: The number of threads. Default: the number of available cores.
        progress: A function that is called with the number of finished tasks, at most ten times per second.
    """
    found: dict[int, R] = {}
    report = Teller(progress or False, len(tasks))
    for index, result in on_threads(lambda index, stop: work(tasks[index], stop), range(len(tasks)), threads):
        found[index] = result
        report.maybe(lambda: len(found), last=len(found) == len(tasks))
    return [found[index] for index in range(len(tasks))]


def on_client(
    setup: Setup, measures: Sequence[Measure], tasks: Sequence[Task], client: Any
) -> Iterator[tuple[Task, Row]]:
    """Execute simulations on the workers of a `dask.distributed.Client`, and yield each result when it is finished.

    The setup is sent once. The first simulation is executed locally to measure its duration. The remaining simulations
    are sent in batches that take about one second each, with at least four batches per worker.

    Dask repeats the simulations of a lost worker. A restarted scheduler has lost all simulations, so the remaining ones
    are sent again as soon as the scheduler has workers.

    Raises:
        InvalidSpecError: The client is not a `dask.distributed.Client`, or a restarted scheduler had no workers for
            one minute.
    """
    distributed = sys.modules.get("distributed")  # loaded if there is a client
    if distributed is None or not isinstance(client, distributed.Client):
        raise InvalidSpecError(f"on: is {client!r:.99}; it must be a dask.distributed.Client")
    first, *others = tasks
    row = row_of(setup, measures, first)
    yield first, row
    most = math.ceil(_BATCH_SECONDS / max(row["wall_s"], 1e-3))
    left = {task.index: task for task in others}
    while left:
        for task, found in _sent(setup, measures, list(left.values()), client, most):
            del left[task.index]
            yield task, found
        if left:
            _await_workers(client)


def _await_workers(client: Any) -> None:
    """Wait until the scheduler has a worker.

    Raises:
        InvalidSpecError: The scheduler had no worker for one minute.
    """
    end = time.monotonic() + _RESTART_SECONDS
    while time.monotonic() < end:
        with suppress(*_LOST):
            if client.status == "running" and client.scheduler_info()["workers"]:
                client.wait_for_workers(1, timeout=1)
                return
        time.sleep(0.1)
    raise InvalidSpecError(f"on: {client!r} has lost its scheduler or all workers; a storage keeps the finished rows")


def _sent(
    setup: Setup, measures: Sequence[Measure], tasks: Sequence[Task], client: Any, most: int
) -> Iterator[tuple[Task, Row]]:
    """Send simulations to the workers in batches of at most `most`, and yield each result when it is finished.

    If the scheduler is restarted, the results that are not yet available are left out.
    """
    completed: Any = import_module("distributed").as_completed
    workers = max(1, len(client.scheduler_info()["workers"]))
    size = min(most, math.ceil(len(tasks) / (4 * workers)))
    futures: list[Any] = []
    with suppress(*_LOST):
        shared = client.scatter((setup, tuple(measures)), broadcast=True, hash=False)
        batches = (tasks[index : index + size] for index in range(0, len(tasks), size))
        futures.extend(client.submit(_remote, shared, some, pure=False) for some in batches)
    try:
        for future in completed(futures):
            # An error of the batch itself is raised.
            with nullcontext() if future.status == "error" else suppress(*_LOST):
                yield from future.result()
    finally:
        with suppress(*_LOST):
            client.cancel(futures)


def _remote(shared: tuple[Setup, Sequence[Measure]], tasks: Sequence[Task]) -> list[tuple[Task, Row]]:
    """Execute several simulations one after another, on a Dask worker."""
    return [(task, row_of(*shared, task)) for task in tasks]
