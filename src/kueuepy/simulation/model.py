"""The settings of a simulation besides its jobs: eviction costs, delays, events and recorded tables."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, TypedDict, Union

import msgspec
import numpy as np

from kueuepy.cluster import Cluster
from kueuepy.cluster.planned import Planned
from kueuepy.errors import InvalidSpecError, KueueError, expect_one_of
from kueuepy.errors.arguments import expect_texts
from kueuepy.manifest import Item, Limits, from_dict, items
from kueuepy.objects import LONGEST, SECOND, Object, Workload, parse_span
from kueuepy.simulation.distributions import TABLE, Distribution, distribution_of, draws
from kueuepy.tables.kinds import span

Time = Any
"""A number of seconds, a string such as `90s`, `2h30m` or `1d`, or a timedelta."""


class RunModel(msgspec.Struct, frozen=True):
    """Model of what an eviction costs a job.

    The columns `every`, `cost`, `restore` and `grace` of `Jobs` override the values for individual jobs.

    A run lasts from an admission of a job to the end or the next eviction of the job. A run holds quota for `restore`
    (except in the first run), then for the remaining runtime, and for `cost` at each checkpoint. A job writes a
    checkpoint after each `every` of progress, except at the end. If a job is evicted when the time h has passed since
    its admission, the run has worked for a = max(0, h - restore) and has completed k = floor(a / (every + cost))
    checkpoints. The next run continues from k * every. The identity h = kept + overhead + lost holds exactly.

    Each time is a number of seconds, a string such as `30m`, or a timedelta; the default is 0.

    >>> RunModel("checkpoint", every="30m", cost="20s", restore="3m").on_eviction
    'checkpoint'

    Attributes:
        on_eviction: The progress that an evicted job keeps. With `restart` (the default), an evicted job loses all
            progress. With `checkpoint`, an evicted job continues from the last checkpoint. With `resume`, an evicted
            job loses no progress.
        every: The time that a job makes progress between two checkpoints; must be greater than 0 with `checkpoint`.
        cost: The duration of a checkpoint, during which the job holds quota without making progress.
        restore: The time that a run after an eviction needs to restore the job's state, during which the job holds
            quota.
        grace: The time from the eviction of a job to the release of its quota.
    """

    on_eviction: Literal["restart", "checkpoint", "resume"] = "restart"
    every: Time = 0
    cost: Time = 0
    restore: Time = 0
    grace: Time = 0

    def options(self) -> dict[str, Any]:
        """Return the options for the core, with times in nanoseconds.

        Raises:
            InvalidSpecError: A field has an invalid value.
        """
        expect_one_of("model: on_eviction", self.on_eviction, ("restart", "checkpoint", "resume"))
        times = {name: span(f"model: {name}", getattr(self, name)) for name in ("every", "cost", "restore", "grace")}
        if self.on_eviction == "checkpoint" and not times["every"]:
            raise InvalidSpecError('model: on_eviction "checkpoint" needs every > 0')
        return {"on_eviction": self.on_eviction, **times}


class Clock(msgspec.Struct, frozen=True):
    """The virtual time that a scheduling cycle takes: `cycle + per_head * heads`, where heads is the number of heads.

    By default, a cycle takes no time, and cycles follow each other until a cycle changes nothing. If a cycle takes
    time, jobs that arrive or finish during a cycle are considered in the next cycle.

    >>> Clock("2.4s", per_head=0.01).per_head
    0.01

    Attributes:
        cycle: The fixed duration of a cycle: seconds, a string such as `2s`, or a timedelta; 0 by default.
        per_head: The additional duration for each head: seconds, a string or a timedelta; 0 by default.
    """

    cycle: Time = 0
    per_head: Time = 0

    def options(self) -> dict[str, int]:
        """Return the options for the core, with times in nanoseconds."""
        return {name: span(f"clock: {name}", getattr(self, name)) for name in ("cycle", "per_head")}


class Recording(msgspec.Struct, frozen=True):
    """The tables that a simulation records; metrics of the whole simulation are always available.

    >>> Recording(usage="1h", cycles=True).cycles
    True

    Attributes:
        decisions: Whether to record every decision; `True` by default.
        runs: Whether to record every admission and its outcome; `True` by default.
        usage: Whether to record usage, waiting jobs and shares over time. `True` (the default) and `changes` record the
            values at each change. If `usage` is a time such as `1h`, the values are recorded at intervals of this
            length. `False` records nothing. The interval limits the time resolution of charts, and of metrics that are
            computed for a time window.
        cycles: Whether to record every scheduling cycle with the number of heads, admissions and evictions; `False` by
            default.
    """

    decisions: bool = True
    runs: bool = True
    usage: bool | str | Time = True
    cycles: bool = False

    def step(self) -> int:
        """Return the sampling interval of usage in nanoseconds; 0 to record each change.

        Raises:
            InvalidSpecError: `usage` is not a valid time.
        """
        if self.usage in (True, False, None, "changes"):
            return 0
        if found := span("record: usage", self.usage):
            return found
        raise InvalidSpecError(f"record: usage: {self.usage!r:.99}; it must be changes, or a time of more than 0")

    def options(self) -> dict[str, bool]:
        """Return the options for the core."""
        self.step()
        names = ("decisions", "runs", "usage", "cycles")
        return {name: bool(getattr(self, name)) for name in names}


class CheckDelay(msgspec.Struct, frozen=True):
    """The time until an admission check becomes Ready after quota reservation, for example to provision nodes.

    >>> from kueuepy.sim import Exponential
    >>> CheckDelay("provisioning", Exponential("4m"), fails=0.1).fails
    0.1

    Attributes:
        check: The name of the AdmissionCheck.
        delay: A time (seconds, a string or a timedelta), or a distribution of times.
        fails: The probability, between 0 and 1, that the attempt fails; 0 by default. The check becomes Retry, or as
            the `retryStrategy` of its ProvisioningRequestConfig says.
        capacity: An `Edit` or a Kueue object to apply when the check first becomes Ready, such as a higher nominal
            quota for nodes that an autoscaler adds. By default, no capacity is added.
        revoked: The time, or a distribution of times, from Ready until the capacity is revoked; never by default.
        expires: The same until the booking of nodes expires. A job that other checks still hold back is then retried.
    """

    check: str
    delay: Any
    fails: float = 0.0
    capacity: Any = None
    revoked: Any = None
    expires: Any = None


class Startup(msgspec.Struct, frozen=True):
    """The time that pods on a flavor need to become ready after admission.

    While the pods are not ready, their job makes no progress.

    If `waitForPodsReady` is enabled, Kueue's timeouts and backoffs apply. Without `waitForPodsReady`, Kueue treats the
    pods as ready immediately.

    >>> Startup("h100", delay="90s").flavor
    'h100'

    Attributes:
        flavor: The name of the ResourceFlavor.
        delay: A time (seconds, a string or a timedelta), or a distribution of times.
    """

    flavor: str
    delay: Any


class Failures(msgspec.Struct, frozen=True):
    """Failures of the nodes of a flavor, as a Poisson process. Kueue evicts the jobs on a failed node.

    For failures at given times, pass events with the Node and `ready=False`, and with the Node after the repair.

    The number of nodes is the total nominal quota of the flavor, divided by `unit`. Running jobs occupy the nodes in
    row order. The probability that a failure hits a job is therefore proportional to the quota that the job holds. The
    failure of a free node does not evict any job.

    The nodes of a flavor together can fail at most once per second on average; a value of `mtbf` that causes more
    failures raises an error. The failure rate is limited to an average of one failure per second, even if a quota
    change during the simulation would raise it above this limit.

    >>> Failures("h100", mtbf="30d", repair="4h", unit={"nvidia.com/gpu": 8}).lowers_quota
    False

    Attributes:
        flavor: The name of the ResourceFlavor.
        mtbf: The mean time between failures of one node: seconds, a string or a timedelta; greater than 0.
        repair: The time until the node returns, or a distribution of times.
        unit: The capacity of a node in exactly one resource, such as `{"nvidia.com/gpu": 8}`.
        lowers_quota: Whether a failure that evicts a job lowers the nominal quota by the capacity of one node until the
            repair; `False` by default. The ClusterQueue with the highest usage of the flavor loses the quota.
    """

    flavor: str
    mtbf: Time
    repair: Any
    unit: Mapping[str, int]
    lowers_quota: bool = False


Delay = Union[CheckDelay, Startup, Failures]  # noqa: UP007 - evaluated at run time
_WHOLE = 1 << 32
_CLOCK_PART = re.compile(r"[0-9]{1,6}")


def changed_by(thing: Any, cluster: Planned) -> list[Object]:
    """Apply an object or an `Edit` to the planned objects of a cluster, and return the changed objects.

    Raises:
        NotFoundError: The Edit does not match any object or field, or an object refers to one that does not exist.
        InvalidSpecError: `thing` is neither, or an object would not be valid.
    """
    if isinstance(thing, Edit):
        return cluster.edit(thing.path, thing.value)
    if isinstance(thing, Object) and not isinstance(thing, Workload):
        cluster.apply(thing)
        return [thing]
    raise InvalidSpecError(f"events: {thing!r:.99}; it must be an object, an Edit, Delete, Finish, Evict or Priority")


def delay_options(delays: Sequence[Delay], seed: int, cluster: Cluster) -> dict[str, list[Any]]:
    """Return all delays in the core's form: for each delay, a table of 65,536 values from its own random stream.

    hash64(row, number of the run) selects the table entry for a run of a job. The delays of a job therefore do not
    depend on the number of evictions of other jobs.

    Args:
        delays: The delays.
        seed: Seed of the random number generator.
        cluster: The cluster, to which the Edits of the delays refer.

    Raises:
        InvalidSpecError: A field of a delay has an invalid value.
    """
    found: dict[str, list[Any]] = {"checks": [], "startups": [], "failures": []}
    planned = Planned(cluster)  # of all delays, so that the capacity of one keeps that of those before it
    for index, delay in enumerate(delays):
        where = f"delays[{index}]"
        if isinstance(delay, msgspec.Struct):
            expect_texts(where, delay)
        if isinstance(delay, CheckDelay):
            if not 0 <= delay.fails <= 1:
                raise InvalidSpecError(f"{where}: fails {delay.fails!r:.99}; it must be from 0 to 1")
            # The name keeps the draws of a delay the same, whatever other delays a run has.
            times = _table(seed, f"check {delay.check}", delay.delay)
            fails = _parts(seed, f"fails {delay.check}")
            objects = [] if delay.capacity is None else changed_by(delay.capacity, planned)
            # The core compares the 32 bits of a draw with this bound.
            drawn: dict[str, Any] = {"delay": times, "fails": fails, "failing": int(delay.fails * _WHOLE)}
            ends = (("revoked", delay.revoked), ("expires", delay.expires))
            drawn |= {name: None if at is None else _table(seed, f"{name} {delay.check}", at) for name, at in ends}
            found["checks"].append({"check": delay.check, **drawn, "capacity": objects})
        elif isinstance(delay, Startup):
            times = _table(seed, f"startup {delay.flavor}", delay.delay)
            found["startups"].append({"flavor": delay.flavor, "delay": times})
        elif isinstance(delay, Failures):
            found["failures"].append(_failures(where, delay, seed))
        else:
            raise InvalidSpecError(f"{where}: {delay!r:.99}; it must be a CheckDelay, a Startup or Failures")
    return found


def _failures(where: str, delay: Failures, seed: int) -> dict[str, Any]:
    mtbf = span(f"{where}: mtbf", delay.mtbf)
    if len(delay.unit) != 1 or not mtbf:
        raise InvalidSpecError(f"{where}: unit {dict(delay.unit)}, mtbf {delay.mtbf!r:.99}; one resource, more than 0")
    ((resource, amount),) = delay.unit.items()
    # CPU is counted in millicores, which must fit into 64 bits.
    most = LONGEST // 1000
    if not isinstance(amount, Integral) or isinstance(amount, bool) or not 1 <= amount <= most:
        raise InvalidSpecError(f"{where}: unit: {resource}: is {amount!r:.99}; it must be an integer from 1 to {most}")
    unit = int(amount) * 1000 if resource == "cpu" else int(amount)
    # Exponential gaps, in units of 2**-32 of their mean.
    gaps = np.floor(-np.log1p(-draws(seed, f"failure {delay.flavor}", TABLE)) * _WHOLE).astype(np.int64)
    return {
        "flavor": delay.flavor,
        "resource": resource,
        "unit": unit,
        "gap": gaps.tolist(),
        "place": _parts(seed, f"place {delay.flavor}"),
        "repair": _table(seed, f"repair {delay.flavor}", delay.repair),
        "mtbf": mtbf,
        "lowers_quota": delay.lowers_quota,
    }


def _table(seed: int, name: str, times: Distribution | Any) -> list[int]:
    found: list[int] = distribution_of(times).nanoseconds(draws(seed, name, TABLE)).tolist()
    return found


def _parts(seed: int, name: str) -> list[int]:
    # Whole numbers compare equally on every machine.
    found: list[int] = np.floor(draws(seed, name, TABLE) * _WHOLE).astype(np.int64).tolist()
    return found


class Delete(msgspec.Struct, frozen=True):
    """The deletion of a Kueue object.

    >>> from kueuepy.sim import Event
    >>> Event("2d", Delete("ClusterQueue/team-a")).what
    Delete(what='ClusterQueue/team-a')

    Attributes:
        what: The object as `Kind/name`, or `Kind/namespace/name` for a namespaced object.
    """

    what: str


class Finish(msgspec.Struct, frozen=True):
    """The end of a waiting or running job.

    >>> from kueuepy.sim import Event
    >>> Event("36h", Finish("job-7")).what
    Finish(job='job-7')

    Attributes:
        job: The job's name, `namespace/name`, or row number.
    """

    job: str | int


class Evict(msgspec.Struct, frozen=True):
    """The eviction of a job, as after a node failure; the job then waits again.

    >>> from kueuepy.sim import Event
    >>> Event("36h", Evict("job-7")).what
    Evict(job='job-7')

    Attributes:
        job: The job's name, `namespace/name`, or row number.
    """

    job: str | int


class Priority(msgspec.Struct, frozen=True):
    """A change to a job's priority.

    >>> from kueuepy.sim import Event
    >>> Event("36h", Priority("job-7", 100)).what.priority
    100

    Attributes:
        job: The job's name, `namespace/name`, or row number.
        priority: The new priority, a 32-bit integer.
    """

    job: str | int
    priority: int


class Edit(msgspec.Struct, frozen=True):
    """A change to one field of one or more Kueue objects.

    >>> from kueuepy.sim import Event
    >>> path = "ClusterQueue/team-a:quota[h100/nvidia.com/gpu].nominalQuota"
    >>> Event("1d", Edit(path, 16)).what.value
    16

    Attributes:
        path: The path of the field, as in `Cluster.edit`.
        value: The new value.
    """

    path: str
    value: Any


MOST_OCCURRENCES = 1_000_000
"""The largest number of occurrences of a repeated event."""


class Event(msgspec.Struct, frozen=True):
    """A change that takes place once, or at regular intervals, during a simulation.

    Exactly one of `when` and `every` must be set. Times are numbers of seconds, strings or timedeltas.

    >>> Event("2d", Evict("job-7")).when
    '2d'
    >>> Event(every="1d", at="22:00", what=Edit("ClusterQueue/a:quota[h100/cpu].nominalQuota", 64)).at
    '22:00'

    Attributes:
        when: The time after the first submission, such as `36h` or `1d 12:00`. A date is not accepted.
        what: A Kueue object to create or replace, an `Edit`, `Delete`, `Finish`, `Evict` or `Priority`, or a list of
            these.
        every: The time between two occurrences of a repeated event.
        at: For a repeated event, the time of its first occurrence as a clock time such as `22:00`, where `00:00` is the
            first submission. By default, the event first occurs after one interval.
        times: The number of occurrences, at most 1,000,000. By default, the event is repeated until the last
            submission.
    """

    when: Time = None
    what: Any = ()
    every: Time = None
    at: str | None = None
    times: int | None = None

    def occurrences(self, where: str, span_of_jobs: int) -> list[int]:
        """Return the times of the event, in nanoseconds after the start.

        Args:
            where: The prefix of error messages.
            span_of_jobs: The time from the first to the last submission, in nanoseconds.

        Raises:
            InvalidSpecError: Neither or both of `when` and `every` are set, a time is invalid, or there are too many
                occurrences.
        """
        if (self.when is None) == (self.every is None):
            raise InvalidSpecError(f"{where}: give when or every, one of the two")
        if self.when is not None:
            return [time_after(f"{where}: when", self.when)]
        step = span(f"{where}: every", self.every)
        if not step:
            raise InvalidSpecError(f"{where}: every {self.every!r:.99}; it must be more than 0")
        first = clock_time(f"{where}: at", self.at) if self.at is not None else step
        last = span_of_jobs if self.times is None else first + (self.times - 1) * step
        often = range(first, last + 1, step)
        # len() fails for ranges with more than 2**63 - 1 elements.
        if last >= first and (last - first) // step >= MOST_OCCURRENCES:
            raise InvalidSpecError(
                f"{where}: every {self.every!r:.99}: comes {(last - first) // step + 1} times; it must come at most "
                f"{MOST_OCCURRENCES} times"
            )
        return list(often)


def clock_time(where: str, text: str) -> int:
    """Convert a clock time such as `14:00` or `14:00:30` to nanoseconds after midnight.

    Raises:
        InvalidSpecError: The string is not a clock time.
    """
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(_CLOCK_PART.fullmatch(part) for part in parts):
        raise InvalidSpecError(f"{where}: {text!r:.99}; it must be a time of day such as 14:00")
    hours, minutes, seconds = (*map(int, parts), 0)[:3]
    return ((hours * 60 + minutes) * 60 + seconds) * 10**9


def time_after(where: str, value: Any, most: float = LONGEST) -> int:
    """Convert a time after the start to nanoseconds: any value that `span` accepts, or a string such as `2d 14:00`.

    Args:
        where: The prefix of error messages.
        value: The time.
        most: The largest value allowed, in nanoseconds.

    Raises:
        InvalidSpecError: The value is not a time, or is too large.
    """
    # 1:30:00 is a span; only other texts without a date can be days and a time of day.
    if isinstance(value, str) and ":" in value and "-" not in value and parse_span(value) is None:
        days, _, clock = value.strip().rpartition(" ")
        found = (span(where, days, most) if days else 0) + clock_time(where, clock)
        if found > most:
            raise InvalidSpecError(f"{where}: {value!r:.99}; it must be at most {int(most) // SECOND} seconds")
        return found
    return span(where, value, most)


OnLoop = Literal["hold", "stop", "raise"]
Missing = Literal["error", "skip", "wait"]


class RunSettings(TypedDict, total=False):
    """Keyword arguments of `simulate` that other functions also accept and pass on to each simulation.

    Attributes:
        model: Model of what an eviction costs; see `RunModel`.
        events: Changes at given times.
        clock: The virtual time that a scheduling cycle takes.
        delays: Delays of admission checks and pod starts, and node failures.
        until: The time after the first submission at which each simulation stops.
        warmup: Length of the warm-up after the first submission; metrics exclude jobs submitted during the warm-up.
        on_loop: How to respond to a preemption loop: `hold`, `stop` or `raise`.
        missing: How to treat jobs whose LocalQueue does not exist: `error`, `skip` or `wait`.
    """

    model: RunModel
    events: Sequence[Event]
    clock: Clock
    delays: Sequence[Delay]
    until: Time
    warmup: Time
    on_loop: OnLoop
    missing: Missing


class SimulateSettings(RunSettings, total=False):
    """All keyword arguments of `simulate` that describe the simulation.

    Attributes:
        seed: Seed of the random number generator.
        record: The tables to record.
    """

    seed: int
    record: Recording


class Settings(msgspec.Struct, frozen=True):
    """The arguments of a simulation, except the cluster and the jobs; see `simulate`."""

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


def read_events(path: str | os.PathLike[str]) -> tuple[Event, ...]:
    """Read the events of a simulation from a YAML or JSON file.

    The file contains a list of events, or one event per document.

    | key | value |
    | --- | --- |
    | `when` | time after the first submission, such as `2d` |
    | `every`, `at`, `times` | for a repeated event: interval such as `1d`, first time such as `22:00`, count |
    | `edit` | a mapping from paths, as in `Cluster.edit`, to values |
    | `apply` | a Kueue object, as in a manifest |
    | `delete` | `Kind/name` of an object |
    | `finish`, `evict` | the name of a job |
    | `priority` | a mapping from names of jobs to priorities |

    Each event has either `when` or `every`, and exactly one of the keys from `edit` to `priority`.

    Args:
        path: The file.

    Returns:
        The events, for the argument `events` of `simulate`.

    Raises:
        InvalidSpecError: An event is invalid; the message names the file and the line.
        NotFoundError: The file cannot be read.
    """
    found: list[Event] = []
    for item in items(Path(path), Limits(), strict=True):
        found += _events(item)
    return tuple(found)


def _events(item: Item) -> Iterator[Event]:
    is_list = isinstance(item.value, list)
    for index, entry in enumerate(item.value if is_list else [item.value]):
        where = item.where((index,) if is_list else ())
        try:
            yield _event(entry)
        except KueueError as error:
            raise InvalidSpecError(f"{where}: {error}") from None


def _event(entry: Any) -> Event:
    given = [name for name in _WHAT if name in entry] if isinstance(entry, Mapping) else []
    if len(given) != 1:
        raise InvalidSpecError(f"an event must be a mapping with one of {', '.join(_WHAT)}")
    if unknown := [name for name in entry if name not in (*_WHEN, *_WHAT)]:
        raise InvalidSpecError(f"{unknown[0]}: is unknown; there are {', '.join((*_WHEN, *_WHAT))}")
    what = _WHAT[given[0]](entry[given[0]])
    event = Event(what=what, **{name: entry[name] for name in _WHEN if name in entry})
    # Only here can the error name the line of the file.
    event.occurrences("event", 0)
    return event


_WHEN = ("when", "every", "at", "times")
# The change that each key of an event in a file describes, made from the value of the key.
_WHAT: dict[str, Callable[[Any], Any]] = {
    "edit": lambda values: tuple(Edit(path, value) for path, value in values.items()),
    "apply": from_dict,
    "delete": lambda what: Delete(str(what)),
    "finish": lambda job: Finish(str(job)),
    "evict": lambda job: Evict(str(job)),
    "priority": lambda jobs: tuple(Priority(str(job), int(priority)) for job, priority in jobs.items()),
}
