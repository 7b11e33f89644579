"""Random simulations that are changed, copied, forked and used by threads while they run.

Every call returns or raises a KueueError, no process ends by a signal, and the results of a run are consistent.
"""

from __future__ import annotations

import copy
import os
import pickle
import select
import signal
import threading
import traceback
import warnings
from contextlib import contextmanager, nullcontext
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

import kueuepy as kq
from fuzz import clusters, inputs
from kueuepy.simulation import distributions, model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = 60
"""CPU time after which a run is considered endless."""
HANGS = 600
"""Wall-clock time in seconds after which a run, or a child process that has not answered, is considered to hang."""
_TABLE = 64
_MOST_MOMENTS = 2000
_IS_ASAN = "libasan" in os.environ.get("LD_PRELOAD", "")
"""Whether AddressSanitizer allocates memory. GCC 12's version does not release the locks of other threads in a forked
child process, so the child waits indefinitely if another thread was allocating memory in the core."""


class FoundError(AssertionError):
    """A property does not hold."""


class Fuzzer:
    """Runs one after another, each of which follows from the seed and its number.

    Attributes:
        counts: How often each call was answered and refused, by name.
    """

    def __init__(self, seed: int, *, forks: bool = True, threads: bool = True) -> None:
        """Makes the clusters.

        Args:
            seed: What all choices follow from.
            forks: Whether processes are forked, which ThreadSanitizer does not follow.
            threads: Whether several threads use a run at once.
        """
        self.seed, self.forks, self.threads = seed, forks and hasattr(os, "fork"), threads
        self.counts: dict[str, list[int]] = {}
        self._schedulers = clusters.schedulers(Random(seed))  # noqa: S311 - no secret
        # Tables of random times are as long as a run of weeks needs them: too long to be made for each of these. A
        # repeated event may occur a million times, which takes a minute.
        distributions.TABLE = model.TABLE = _TABLE
        model.MOST_OCCURRENCES = _MOST_MOMENTS
        random, found = Random(seed), []  # noqa: S311
        while len(found) < clusters.CLUSTERS:
            made = self._call(
                "new", lambda: kq.Simulation(random.choice(self._schedulers), [], **inputs.options(random))
            )
            found += [] if made is None else [made]
        self._ready: list[kq.Simulation] = found

    def run(self, number: int) -> None:
        """One run.

        Raises:
            FoundError: A property does not hold; or whatever else is raised that is not a KueueError.
        """
        random = Random(f"{self.seed}-{number}")  # noqa: S311 - no secret
        with warnings.catch_warnings(), _limited():
            warnings.simplefilter("ignore")
            self._run(random)

    def _run(self, random: Random) -> None:
        made = self._made(random)
        if made is None:
            return
        for _ in range(random.randint(1, 5)):
            self._act(random, made)
        chance = random.random()
        if self.threads and chance < 0.08:
            self._in_threads(random, made)
        elif self.forks and chance < 0.09:
            self._in_child(random, made)
        self._call("end", lambda: made.run(until=1e5))
        if random.random() < 0.3:
            result = self._call("result", made.result if random.random() < 0.5 else made.close)
            if result is not None:
                _check_result(result, len(made.jobs))
        if random.random() < 0.1:
            _check_engine(made)

    def _made(self, random: Random) -> Any:
        """Return a new simulation, or a fork of an existing one, which is faster; `None` if rejected."""
        if random.random() < 0.6:
            made = random.choice(self._ready).fork()
            self._call("submit", lambda: made.submit(inputs.jobs(random, _reached(made))))
            return made
        scheduler = random.choice(self._schedulers)
        start = float(scheduler.now)
        return self._call("new", lambda: kq.Simulation(scheduler, inputs.jobs(random, start), **inputs.options(random)))

    def _call(self, name: str, call: Callable[[], Any]) -> Any:
        """Return the result of a call; `None` if it raises a KueueError."""
        counts = self.counts.setdefault(name, [0, 0])
        try:
            found = call()
        except kq.KueueError as error:
            if isinstance(error, kq.errors.InternalError):
                raise
            counts[1] += 1
            return None
        counts[0] += 1
        return found

    def _act(self, random: Random, run: kq.Simulation) -> None:
        """Execute a random action on a simulation."""
        name = random.choice(tuple(ACTIONS))
        self._call(name, lambda: ACTIONS[name](random, run))

    def _in_threads(self, random: Random, run: kq.Simulation) -> None:
        """Use a simulation in several threads at once."""
        faults: list[BaseException] = []
        seeds = [random.random() for _ in range(3)]
        gate = threading.Barrier(len(seeds))

        def use(seed: float) -> None:
            own = Random(seed)  # noqa: S311
            gate.wait()
            try:
                for _ in range(5):
                    self._act(own, run)
            except BaseException as error:  # noqa: BLE001 - told by the thread that began it
                faults.append(error)

        begun = [threading.Thread(target=use, args=(seed,)) for seed in seeds]
        for thread in begun:
            thread.start()
        for thread in begun:
            thread.join()
        if faults:
            raise faults[0]

    def _in_child(self, random: Random, run: kq.Simulation) -> None:
        """Fork the process while another thread uses the simulation, or waits to use it."""
        ends = threading.Event()
        turn = threading.Lock() if _IS_ASAN else nullcontext()
        other = Random(random.random())  # noqa: S311
        faults: list[BaseException] = []

        def use() -> None:
            try:
                while not ends.is_set():
                    with turn:
                        self._act(other, run)
            except BaseException as error:  # noqa: BLE001
                faults.append(error)

        thread = threading.Thread(target=use)
        thread.start()
        try:
            with turn:
                told = _child(lambda: [self._act(random, run) for _ in range(3)])
        finally:
            ends.set()
            thread.join()
        if told:
            raise FoundError(told)
        if faults:
            raise faults[0]


@contextmanager
def _limited() -> Iterator[None]:
    """Interrupt calls that take too long, like Ctrl-C."""

    def stop(number: int, _: object) -> None:
        raise FoundError(f"it hangs for {HANGS} s" if number == signal.SIGALRM else f"it uses over {SECONDS} s of CPU")

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGALRM, signal.SIGPROF)]
    signal.alarm(HANGS)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in before:
            signal.signal(number, handler)


def _child(work: Callable[[], object]) -> str:
    """Return the error of a child process that runs this; an empty text on success."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        told = ""
        try:
            work()
        except BaseException:  # noqa: BLE001 - told to the parent
            told = traceback.format_exc()
        os.write(write, (told[-3000:] or "well").encode())
        os._exit(0)
    os.close(write)
    ready, _, _ = select.select([read], [], [], HANGS / 2)
    told = os.read(read, 4000).decode() if ready else "the child hangs"
    os.close(read)
    if not ready:
        os.kill(child, signal.SIGABRT)  # it tells where
    _, status = os.waitpid(child, 0)
    if ready and os.WIFSIGNALED(status):
        return f"the child ended by signal {os.WTERMSIG(status)}"
    return "" if told == "well" else told or "the child ended without a word"


def _reached(run: kq.Simulation) -> float:
    return run.now + run._run.zero / 1e9


def _walk(random: Random, run: kq.Simulation) -> None:
    for _ in range(random.randint(1, 4)):
        run.step()


ACTIONS: dict[str, Callable[[Random, Any], object]] = {
    "run": lambda random, run: run.run(until=random.choice((0, 10, 100, 5000, "1h", 1e30, -1))),
    "step": _walk,
    "run_for": lambda random, run: run.run_for(random.choice((0, 1e-4))),
    "submit": lambda random, run: run.submit(inputs.jobs(random, _reached(run), 2)),
    "apply": lambda random, run: run.apply(inputs.thing(random)),
    "fork": lambda random, run: _walk(random, run.fork()),
    "copy": lambda _, run: copy.copy(run).step(),
    "states": lambda _, run: run.states,
    "now": lambda _, run: run.now,
    "progress": lambda _, run: run.progress(),
    "scheduler": lambda _, run: run.scheduler.settle(),
    "result": lambda random, run: _look(random, run.result()),
}


def _look(random: Random, result: kq.simulation.result.Result) -> None:
    if random.random() < 0.2:
        result = pickle.loads(pickle.dumps(result))  # noqa: S301 - its own
    _ = result.kpis if random.random() < 0.5 else result.warnings
    if random.random() < 0.1:
        _ = result.scheduler


def _check_result(result: kq.simulation.result.Result, jobs: int) -> None:
    """Check the properties of every result."""
    table = result.jobs
    if len(table) != jobs:
        raise FoundError(f"{len(table)} rows of {jobs} jobs")
    for name in ("waited", "held", "lost", "overhead"):
        if not (table[name] >= 0).all():
            raise FoundError(f"{name}: {table[name].tolist()}")
    started = ~np.isnan(table["first_start"]) & ~np.isnan(table["end"])
    if not (table["end"][started] >= table["first_start"][started]).all():
        raise FoundError("a job ends before it starts")
    if not (table["submit"] >= 0).all() or not np.isfinite(table["submit"]).all():
        raise FoundError(f"submit: {table['submit'].tolist()}")
    used = result.usage["used"]
    if len(used) and used.min() < 0:
        raise FoundError(f"used: {used.tolist()}")
    kpis = result.kpis
    if not 0 <= kpis.finished <= kpis.jobs <= jobs:
        raise FoundError(f"{kpis.finished} of {kpis.jobs} of {jobs} jobs finished")


def _check_engine(run: kq.Simulation) -> None:
    """Check every invariant of the engine."""
    problems = run._run.core.fork().check()
    if problems:
        raise FoundError("; ".join(problems))
