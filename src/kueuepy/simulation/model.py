"""What a run is asked for beside its jobs: what evictions cost, what takes time, what changes, what is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence  # noqa: TC003 - help() shows signatures
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Union

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND, Object
from kueuepy.objects.times import LONGEST
from kueuepy.simulation.distributions import TABLE, distribution_of, draws
from kueuepy.simulation.spans import parse_span, span

if TYPE_CHECKING:
    from kueuepy.simulation.distributions import Distribution

Time = Any
"""A number of seconds, a text such as `90s`, `2h30m` or `1d`, or a timedelta."""


class RunModel(msgspec.Struct, frozen=True):
    """What an eviction costs a job; columns of the same names in its table win over it.

    A run after `done` of `runtime` holds its quota for `restore` (not in the first run), then for what is left to do,
    and `cost` for each checkpoint, one after each `every` of progress and none at the end. Evicted after h, it has
    worked for a = max(0, h - restore), and has made k = floor(a / (every + cost)) checkpoints; kept are k * every. So
    held = kept + overhead + lost, exactly.

    Attributes:
        on_eviction: `restart`: from the start; `checkpoint`: from the last checkpoint; `resume`: where it was.
        every: Progress between checkpoints.
        cost: Of a checkpoint: quota is held, nothing is done.
        restore: The same at the start of each run after an eviction.
        grace: For how long an evicted job keeps its quota.
    """

    on_eviction: Literal["restart", "checkpoint", "resume"] = "restart"
    every: Time = 0
    cost: Time = 0
    restore: Time = 0
    grace: Time = 0

    def options(self) -> dict[str, Any]:
        """As the core takes it, in nanoseconds.

        Raises:
            InvalidSpecError: A value is none for its field.
        """
        known = ("restart", "checkpoint", "resume")
        if self.on_eviction not in known:
            raise InvalidSpecError(f"model: on_eviction {self.on_eviction!r}; it must be one of {', '.join(known)}")
        times = {name: span(f"model: {name}", getattr(self, name)) for name in ("every", "cost", "restore", "grace")}
        if self.on_eviction == "checkpoint" and not times["every"]:
            raise InvalidSpecError('model: on_eviction "checkpoint" needs every > 0')
        return {"on_eviction": self.on_eviction, **times}


class Clock(msgspec.Struct, frozen=True):
    """What a scheduling cycle takes of virtual time: `cycle + per_head * heads`; nothing by default.

    Without, the cycles of a moment follow until one changes nothing. With it, ends and arrivals during a cycle are seen
    by the next one.
    """

    cycle: Time = 0
    per_head: Time = 0

    def options(self) -> dict[str, int]:
        """As the core takes it, in nanoseconds."""
        return {name: span(f"clock: {name}", getattr(self, name)) for name in ("cycle", "per_head")}


class Recording(msgspec.Struct, frozen=True):
    """What a run keeps: figures always, and these tables.

    Attributes:
        decisions: Every decision in order.
        runs: Every admission, and what became of it.
        usage: How usage, waiting and shares went: where they change (`True` or `changes`), as they are after each step
            of so much time (`"1h"`), or not at all. Figures of windows, and pictures, are as fine as this is.
        cycles: Every scheduling cycle: its heads, and how many were admitted and evicted.
    """

    decisions: bool = True
    runs: bool = True
    usage: bool | str | Time = True
    cycles: bool = False

    def step(self) -> int:
        """The nanoseconds of a step of usage; 0 for changes.

        Raises:
            InvalidSpecError: It is no time.
        """
        if self.usage in (True, False, None, "changes"):
            return 0
        if found := span("record: usage", self.usage):
            return found
        raise InvalidSpecError(f"record: usage: {self.usage!r}; it must be changes, or a time of more than 0")

    def options(self) -> dict[str, bool]:
        """As the core takes it."""
        self.step()
        names = ("decisions", "runs", "usage", "cycles")
        return {name: bool(getattr(self, name)) for name in names}


class CheckDelay(msgspec.Struct, frozen=True):
    """An admission check turns Ready some time after quota was reserved: as where nodes are provisioned.

    Attributes:
        check: The AdmissionCheck.
        delay: A time, or a distribution of times.
        fails: The probability that it asks for a retry instead.
        capacity: What changes with the first answer that is Ready, as where an autoscaler adds nodes: an `Edit`, as
            of a nominal quota, or an object.
    """

    check: str
    delay: Any
    fails: float = 0.0
    capacity: Any = None


class Startup(msgspec.Struct, frozen=True):
    """Pods on a flavor are ready some time after admission; until then their job does nothing.

    With `waitForPodsReady` its timeouts and backoffs are Kueue's. Without, pods are ready at once for Kueue.

    Attributes:
        flavor: The ResourceFlavor.
        delay: A time, or a distribution of times.
    """

    flavor: str
    delay: Any


class Failures(msgspec.Struct, frozen=True):
    """Nodes of a flavor fail, as a Poisson process; who runs there is evicted as Kueue does when a node fails.

    There are as many nodes as the flavor's nominal quota makes. Runs lie on them in the order of their jobs, so that
    one is hit with a probability in proportion to what it holds, and none where the node is free.

    Attributes:
        flavor: The ResourceFlavor.
        mtbf: The mean time between failures of one node.
        repair: A time, or a distribution of times, until the node is there again.
        unit: What a node has, by one resource, such as `{"nvidia.com/gpu": 8}`.
        lowers_quota: Whether the nominal quota of the queue that uses most falls by a node until the repair.
    """

    flavor: str
    mtbf: Time
    repair: Any
    unit: Mapping[str, int]
    lowers_quota: bool = False


Delay = Union[CheckDelay, Startup, Failures]  # noqa: UP007 - at run time
_WHOLE = 1 << 32
_CLOCK_PART = re.compile(r"[0-9]{1,6}")


def delay_options(delays: Sequence[Delay], seed: int, changed: Callable[[Any], list[Object]]) -> dict[str, list[Any]]:
    """All delays as the core takes them: tables of 65,536 times each, from streams of their own.

    A job's draw is the entry at hash64(row, number of the run) of its table, so that a policy that evicts more does not
    shift the draws of others.

    Args:
        delays: The delays.
        seed: Of all draws.
        changed: The objects that something to apply comes to.

    Raises:
        InvalidSpecError: A value is none for its field.
    """
    found: dict[str, list[Any]] = {"checks": [], "startups": [], "failures": []}
    for place, delay in enumerate(delays):
        where = f"delays[{place}]"
        if isinstance(delay, CheckDelay):
            if not 0 <= delay.fails <= 1:
                raise InvalidSpecError(f"{where}: fails {delay.fails!r}; it must be from 0 to 1")
            times = _table(seed, f"check {delay.check}", delay.delay)
            fails = _parts(seed, f"fails {delay.check}")
            objects = [] if delay.capacity is None else changed(delay.capacity)
            found["checks"].append((delay.check, times, fails, int(delay.fails * _WHOLE), objects))
        elif isinstance(delay, Startup):
            found["startups"].append((delay.flavor, _table(seed, f"startup {delay.flavor}", delay.delay)))
        elif isinstance(delay, Failures):
            found["failures"].append(_failures(where, delay, seed))
        else:
            raise InvalidSpecError(f"{where}: {delay!r}; it must be a CheckDelay, a Startup or Failures")
    return found


def _failures(where: str, delay: Failures, seed: int) -> tuple[Any, ...]:
    mtbf = span(f"{where}: mtbf", delay.mtbf)
    if len(delay.unit) != 1 or not mtbf:
        raise InvalidSpecError(f"{where}: unit {dict(delay.unit)}, mtbf {delay.mtbf!r}; one resource and more than 0")
    ((resource, amount),) = delay.unit.items()
    most = LONGEST // 1000
    if not isinstance(amount, Integral) or isinstance(amount, bool) or not 1 <= amount <= most:
        raise InvalidSpecError(f"{where}: unit: {resource}: is {amount!r}; it must be a whole number from 1 to {most}")
    unit = int(amount) * 1000 if resource == "cpu" else int(amount)
    gaps = np.floor(-np.log1p(-draws(seed, f"failure {delay.flavor}", TABLE)) * _WHOLE).astype(np.int64)
    places, repair = _parts(seed, f"place {delay.flavor}"), _table(seed, f"repair {delay.flavor}", delay.repair)
    return (delay.flavor, resource, unit, gaps.tolist(), places, repair, mtbf, delay.lowers_quota)


def _table(seed: int, name: str, times: Distribution | Any) -> list[int]:
    found: list[int] = distribution_of(times).nanoseconds(draws(seed, name, TABLE)).tolist()
    return found


def _parts(seed: int, name: str) -> list[int]:
    found: list[int] = np.floor(draws(seed, name, TABLE) * _WHOLE).astype(np.int64).tolist()
    return found


class Delete(msgspec.Struct, frozen=True):
    """An object is deleted: `ClusterQueue/team-a`, `LocalQueue/namespace/name`."""

    what: str


class Finish(msgspec.Struct, frozen=True):
    """A job is done, by its name, namespace/name or row, wherever it is."""

    job: str | int


class Evict(msgspec.Struct, frozen=True):
    """A job loses its quota, as when its node fails, and waits again."""

    job: str | int


class Priority(msgspec.Struct, frozen=True):
    """A job has another priority."""

    job: str | int
    priority: int


class Edit(msgspec.Struct, frozen=True):
    """A field of objects has another value, by a path as `Cluster.edit` takes it."""

    path: str
    value: Any


What = Union[Object, Delete, Finish, Evict, Priority, Edit]  # noqa: UP007 - at run time


MOST_MOMENTS = 1_000_000
"""The largest number of times that an event of a run may come."""


class Event(msgspec.Struct, frozen=True):
    """Something changes: `Event("2d", ClusterQueue(...))`, or each day at ten `Event(every="1d", at="22:00", what=...)`.

    Attributes:
        when: How long after the first submission, as `36h` or `1d 12:00`.
        what: An object to apply, an Edit, or a Delete, Finish, Evict or Priority; or several.
        every: It comes again and again; without `times` until the last submission.
        at: Of `every`: the time of day, counted from the start, at which it comes first.
        times: How often it comes, 1,000,000 times at most.
    """

    when: Time = None
    what: Any = ()
    every: Time = None
    at: str | None = None
    times: int | None = None

    def moments(self, where: str, span_of_jobs: int) -> list[int]:
        """When it happens, in nanoseconds after the start.

        Raises:
            InvalidSpecError: It says no time, or two.
        """
        if (self.when is None) == (self.every is None):
            raise InvalidSpecError(f"{where}: give when or every, one of the two")
        if self.when is not None:
            return [moment(f"{where}: when", self.when)]
        step = span(f"{where}: every", self.every)
        if not step:
            raise InvalidSpecError(f"{where}: every {self.every!r}; it must be more than 0")
        first = clock_time(f"{where}: at", self.at) if self.at is not None else step
        last = span_of_jobs if self.times is None else first + (self.times - 1) * step
        often = range(first, last + 1, step)
        # Its length may be more than len() tells.
        if last >= first and (last - first) // step >= MOST_MOMENTS:
            raise InvalidSpecError(
                f"{where}: every {self.every!r}: comes {(last - first) // step + 1} times; it must come at most "
                f"{MOST_MOMENTS} times"
            )
        return list(often)


_LONGEST_NUMBER = 18


def clock_time(where: str, text: str) -> int:
    """Nanoseconds of a time of day such as `14:00`.

    Raises:
        InvalidSpecError: It is none.
    """
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(_CLOCK_PART.fullmatch(part) for part in parts):
        raise InvalidSpecError(f"{where}: {text!r}; it must be a time of day such as 14:00")
    if max(map(len, parts)) > _LONGEST_NUMBER:
        raise InvalidSpecError(f"{where}: {text!r}; it must be a time of day such as 14:00")
    hours, minutes, seconds = (*map(int, parts), 0)[:3]
    return ((hours * 60 + minutes) * 60 + seconds) * 10**9


def moment(where: str, value: Any, most: float = LONGEST) -> int:
    """Nanoseconds of a time after the start, up to `most`: as `span`, and `2d 14:00`.

    Raises:
        InvalidSpecError: It is none.
    """
    if isinstance(value, str) and ":" in value and parse_span(value) is None:
        days, _, clock = value.strip().rpartition(" ")
        found = (span(where, days, most) if days else 0) + clock_time(where, clock)
        if found > most:
            raise InvalidSpecError(f"{where}: {value!r}; it must be at most {int(most) // SECOND} seconds")
        return found
    return span(where, value, most)


OnLoop = Literal["hold", "stop", "raise"]
Missing = Literal["error", "skip", "wait"]


class Settings(msgspec.Struct, frozen=True):
    """All that a run was asked for beside cluster and jobs."""

    model: RunModel = RunModel()
    events: tuple[Event, ...] = ()
    clock: Clock = Clock()
    delays: tuple[Any, ...] = ()
    until: Any = None
    warmup: Any = 0
    seed: int = 0
    record: Recording = Recording()
    on_loop: OnLoop = "hold"
    missing: Missing = "error"
