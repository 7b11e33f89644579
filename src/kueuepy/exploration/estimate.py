"""When a workload gets quota, and whether it keeps it: what comes of many possible futures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.errors.arguments import checked
from kueuepy.errors.words import counted
from kueuepy.exploration.remaining import Living, Runtimes
from kueuepy.exploration.runs import NOTHING, in_order
from kueuepy.exploration.statistics import wilson
from kueuepy.notebook import Sheet, repr_html
from kueuepy.objects import SECOND
from kueuepy.simulation.measures import percentile
from kueuepy.simulation.model import Recording, moment
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.text import span_text
from kueuepy.tables.framed import Framed, table_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kueuepy.scheduler import Scheduler
    from kueuepy.tables import Columns

_FIRST_LOOK = 3600 * SECOND
_RUNNING = 2
_PERCENTS = (5, 10, 50, 90, 95)
_MEDIAN = 50
_CLOSED = "assumes that no job arrives meanwhile: pass future= for a range, or calibrate on a log"


class Eta(msgspec.Struct, Framed, frozen=True):
    """When a workload gets quota, in seconds from now.

    Attributes:
        workload: Its key.
        p5: 5 of 100 futures are over by then: with `p95` the 90 % interval.
        p10: 10 of 100; infinite if not before the horizon.
        p50: Half of them.
        p90: 90 of 100.
        p95: 95 of 100.
        seconds: Of each future, in order of seeds; infinite where not before the horizon.
        horizon: How far was looked.
        coverage: Of a log, the part of true waits that was within such 90 % intervals; `None` if that was not measured.
        closed: Whether no job was assumed to arrive meanwhile, as where no `future` is given. Every percentile is then
            too early, and the range between them too narrow, on a cluster to which others submit.
    """

    workload: str
    p5: float
    p10: float
    p50: float
    p90: float
    p95: float
    seconds: tuple[float, ...]
    horizon: float
    coverage: float | None = None
    closed: bool = False

    def by(self, when: Any) -> float:
        """The part of the futures in which it has quota so long from now."""
        end = moment("by", when) / SECOND
        return sum(seconds <= end for seconds in self.seconds) / len(self.seconds)

    def __str__(self) -> str:
        """The answer in a sentence."""
        late = sum(map(math.isinf, self.seconds))
        more = f"; not within {span_text(self.horizon)} in {late} of {len(self.seconds)}" if late else ""
        half = f"{self.workload}: quota in {span_text(self.p50)} (half of the futures)"
        if self._is_vague:
            return f"{half}{more}; {_CLOSED}"
        return f"{half}, {span_text(self.p10)} to {span_text(self.p90)} (80 of 100){more}{self._trust()}"

    @property
    def _is_vague(self) -> bool:
        """Whether the range of the futures says too little about the true wait to be printed."""
        return self.closed and self.coverage is None and self.p95 > 0

    def to_table(self) -> Columns:
        """Return a row for each future: its number, and after how many `seconds` the workload gets quota."""
        return table_of(("future", "seconds"), enumerate(map(float, self.seconds)))

    def _trust(self) -> str:
        return "" if self.coverage is None else f"; of a log, {self.coverage:.0%} were within their 90 % interval"

    def sheets(self) -> tuple[Sheet]:
        """The answer, then the percentiles."""
        rows = [(p, span_text(getattr(self, f"p{p}"))) for p in _PERCENTS if p == _MEDIAN or not self._is_vague]
        return (Sheet(("of 100 futures", "quota in"), rows, _CLOSED if self._is_vague else ""),)

    _repr_html_ = repr_html


class Risk(msgspec.Struct, Framed, frozen=True):
    """How likely it is that a workload is evicted.

    Attributes:
        workload: Its key.
        probability: In which part of the futures it is evicted.
        low: Where the 95 % interval of it begins, by Wilson's score.
        high: Where it ends.
        rules: By rule or reason the part of the futures in which it does it first.
        futures: How many were looked at.
        within: So many seconds from now.
        closed: Whether no job was assumed to arrive meanwhile, as where no `future` is given: then nobody that arrives
            preempts the workload.
    """

    workload: str
    probability: float
    low: float
    high: float
    rules: dict[str, float]
    futures: int
    within: float
    closed: bool = False

    def to_table(self) -> Columns:
        """Return a row for each rule that evicts the workload first: `rule` and its `probability`."""
        return table_of(("rule", "probability"), self.rules.items())

    def __str__(self) -> str:
        """The answer in a sentence."""
        by = ", ".join(f"{rule} {part:.0%}" for rule, part in self.rules.items())
        often = f"{self.probability:.0%} of {counted(self.futures, 'future')} ({self.low:.0%} to {self.high:.0%})"
        assumed = "; assumes that no job arrives meanwhile" if self.closed else ""
        return f"{self.workload}: evicted within {span_text(self.within)} in {often}{f': {by}' if by else ''}{assumed}"

    def sheets(self) -> tuple[Sheet]:
        """The answer, then the rules."""
        rows = [("evicted", f"{self.probability:.1%}"), *((rule, f"{p:.1%}") for rule, p in self.rules.items())]
        return (Sheet(("what", "part of the futures"), rows),)

    _repr_html_ = repr_html


class _Futures:
    """A Scheduler's futures: one a seed."""

    def __init__(self, scheduler: Scheduler, item: Any, runtimes: Any, future: Any, settings: dict[str, Any]) -> None:
        self._scheduler = scheduler.fork()
        if isinstance(item, str):
            self.key = self._scheduler.engine.key(self._scheduler.id_of(item))
        else:
            keys = self._scheduler.submit(item)
            if len(keys) != 1:
                raise InvalidSpecError(f"{item!r} is {len(keys)} workloads; it must be one")
            (self.key,) = keys
        self.living = Living(self._scheduler)
        if self.key not in self.living.rows:
            raise StateError(f'Workload "{self.key}": has finished')
        self._runtimes = None if runtimes is None else Runtimes(runtimes)
        self._future, self._settings = future, settings
        self.row = self.living.rows[self.key]

    @property
    def is_certain(self) -> bool:
        """Whether all futures are the same."""
        return self._runtimes is None and not callable(self._future) and not self._settings.get("delays")

    def run(self, seed: int, record: Recording) -> Simulation:
        """The future of a seed, before its first moment."""
        table = self.living.and_coming(self._runtimes, self._future, seed)
        return Simulation(self._scheduler, table, seed=seed, record=record, **self._settings)


@checked
def eta(
    scheduler: Scheduler,
    workload: Any,
    runtimes: Any,
    *,
    future: Any = None,
    n: int = 200,
    seed: int = 0,
    horizon: Any = "30d",
    threads: int | None = None,
    **settings: Any,
) -> Eta:
    """When a workload gets quota, as far as one can know.

    In each of `n` futures it is drawn for how long those who run still do, given how long they have, and for how long
    those who wait will; Kueue's rules decide the rest.

    Args:
        scheduler: As it is now; it is not changed.
        workload: The key of one that waits, or what `Scheduler.submit` takes.
        runtimes: What is known of runtimes: a distribution or a time for all; by LocalQueue one for each, `""` for all
            others; or a log, a `Jobs`, from which they are drawn by queue.
        future: Jobs that come meanwhile, or a function that makes them from a seed; `submit` counts from now. Without
            them no job overtakes, the answer is too early, and the result prints no range: it says what it assumes.
        n: How many futures.
        seed: Of the first.
        horizon: How far is looked.
        threads: How many go on at once; by default one on each core.
        settings: What `simulate` takes beside, as `model`, `clock`, `delays`.

    Raises:
        NotFoundError: There is no such workload, or nothing is known of a queue's runtimes.
        StateError: The workload has finished.
        InvalidSpecError: Something is not valid.
    """
    if n < 1:
        raise InvalidSpecError(f"eta: n {n}; it must be 1 or more")
    futures = _Futures(scheduler, workload, runtimes, future, settings)
    end = moment("eta: horizon", horizon)
    if futures.living.has_quota(futures.key):
        return _eta_of(futures.key, [0.0] * n, end, closed=future is None)

    def look(number: int, stop: threading.Event) -> float:
        run, until = futures.run(number, NOTHING), min(_FIRST_LOOK, end)
        while not stop.is_set():
            run.run(until / SECOND)
            if run.states[futures.row] >= _RUNNING:
                started = float(run.result().jobs["first_start"][futures.row])
                return math.inf if math.isnan(started) else started
            if until >= end:
                break
            until = min(2 * until, end)
        return math.inf

    seconds = in_order(look, range(seed, seed + n), threads)
    return _eta_of(futures.key, seconds, end, closed=future is None)


def _eta_of(key: str, seconds: Sequence[float], end: int, *, closed: bool) -> Eta:
    ordered = np.sort(seconds)
    p5, p10, p50, p90, p95 = (percentile(ordered, percent) for percent in _PERCENTS)
    return Eta(key, p5, p10, p50, p90, p95, tuple(seconds), end / SECOND, closed=closed)


@checked
def risk(
    scheduler: Scheduler,
    workload: Any,
    *,
    within: Any = "24h",
    future: Any = None,
    runtimes: Any = None,
    n: int = 200,
    seed: int = 0,
    threads: int | None = None,
    **settings: Any,
) -> Risk:
    """How likely it is that a workload is evicted, and by which rule.

    Args:
        scheduler: As it is now; it is not changed.
        workload: The key of one, or what `Scheduler.submit` takes.
        within: How far is looked.
        future: Jobs that come meanwhile, or a function that makes them from a seed; `submit` counts from now.
        runtimes: What is known of runtimes, as `eta` takes it; without, those who are there now do not end.
        n: How many futures; one where nothing is drawn, as all are the same.
        seed: Of the first.
        threads: How many go on at once; by default one on each core.
        settings: What `simulate` takes beside, as `model`, `clock`, `delays`.

    Raises:
        NotFoundError: There is no such workload, or nothing is known of a queue's runtimes.
        StateError: The workload has finished.
        InvalidSpecError: Something is not valid.
    """
    if n < 1:
        raise InvalidSpecError(f"risk: n {n}; it must be 1 or more")
    futures = _Futures(scheduler, workload, runtimes, future, settings)
    end = moment("risk: within", within)

    def look(number: int, _: threading.Event) -> str | None:
        run = futures.run(number, Recording(decisions=True, runs=False, usage=False))
        run.run(end / SECOND)
        return _first_eviction(run.result().decisions, futures.row)

    total = 1 if futures.is_certain else n
    found = [rule for rule in in_order(look, range(seed, seed + total), threads) if rule is not None]
    low, high = wilson(len(found), total) if total > 1 else (float(len(found)), float(len(found)))
    rules = {rule: found.count(rule) / total for rule in sorted(set(found))}
    return Risk(futures.key, len(found) / total, low, high, rules, total, end / SECOND, closed=future is None)


def _first_eviction(decisions: Any, row: int) -> str | None:
    """The rule by which a job is evicted first, or the reason where no rule did it."""
    kind = decisions["kind"]
    rows: NDArray[np.int64] = np.flatnonzero(
        (decisions["job"] == row) & (kind.codes == list(kind.names).index("Evicted"))
    )
    if not len(rows):
        return None
    return decisions["rule"][rows[0]] or str(decisions["reason"][rows[0]])
