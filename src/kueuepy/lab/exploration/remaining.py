"""Runtimes and arrivals of jobs, drawn from those of a log (runtimes of unfinished jobs after Kaplan and Meier)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, NotFoundError, checked_methods
from kueuepy.objects import LONGEST, SECOND, Workload
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.simulation.base import CENSORED, JobColumns, censored_rows
from kueuepy.simulation.columns import NEVER
from kueuepy.simulation.distributions import TABLE, Distribution, Empirical, distribution_of, draws
from kueuepy.simulation.grouped import Groups
from kueuepy.simulation.items import concat, created, lifetime_of
from kueuepy.simulation.table import Jobs
from kueuepy.tables.columns import Categorical, categorical
from kueuepy.tables.kinds import span

# No LocalQueue has an empty name.
_OTHERS = ""


# The number of finished jobs from which a user of a queue has runtimes of their own.
_ENOUGH = 20


class KaplanMeier:
    """The distribution of runtimes, some of which are only known to be longer than the observed time.

    The product-limit estimate does not reach 1 if the longest observed runtime belongs to an unfinished job. Beyond the
    longest runtime of an unfinished job, the distribution is exponential, with a mean of the total runtime divided by
    the number of finished jobs.

    >>> import numpy as np
    >>> known = KaplanMeier(np.array([60.0, 60.0, 120.0, 300.0]), np.array([True, False, True, True]))
    >>> known.part(60), known.part(120), known.quantile(0.5)
    (0.25, 0.625, 120.0)

    Attributes:
        times: The runtimes of finished jobs in seconds, ascending and distinct.
        fractions: The estimated fraction of runtimes up to each of `times`.
        mean: The mean of the exponential tail, in seconds.
    """

    def __init__(self, seconds: NDArray[np.float64], finished: NDArray[np.bool_]) -> None:
        """Estimate the distribution.

        Args:
            seconds: The runtimes, of which at least one belongs to a finished job.
            finished: Whether each job has finished; otherwise, its runtime is a lower bound.
        """
        self.times, counts = np.unique(seconds[finished], return_counts=True)
        # A job is at risk up to its own end, and including it.
        at_risk = len(seconds) - np.searchsorted(np.sort(seconds), self.times, side="left")
        self.fractions = 1 - np.cumprod(1 - counts / at_risk)
        # The longest runtimes are known only to be longer; an exponential tail of this mean stands for them.
        self.mean = max(float(seconds.sum()) / int(finished.sum()), 1e-9)

    def part(self, seconds: float) -> float:
        """Return the estimated fraction of runtimes that are not longer than a time."""
        index = int(np.searchsorted(self.times, seconds, side="right"))
        if index == 0:
            return 0.0
        known = float(self.fractions[index - 1])
        if index < len(self.times) or known >= 1:
            return known
        return 1 - (1 - known) * math.exp(-(seconds - float(self.times[-1])) / self.mean)

    def nanoseconds(self, u: float) -> int:
        """Return the quantile `u` of the runtimes."""
        return int(self.quantile(u) * SECOND)

    def quantile(self, u: float) -> float:
        """Return the quantile `u` of the runtimes, in seconds; `u` is in the interval [0, 1)."""
        index = int(np.searchsorted(self.fractions, u, side="right"))
        if index < len(self.times):
            return float(self.times[index])
        rest = 1 - float(self.fractions[-1])
        # The bound keeps the logarithm of a draw next to 1 finite.
        beyond = 0.0 if rest <= 0 else -self.mean * math.log(max((1 - u) / rest, 1e-300))
        return min(float(self.times[-1]) + max(beyond, 0.0), LONGEST / SECOND)


class _Drawn:
    """A distribution of runtimes; measured runtimes are used directly, without a table of quantiles."""

    def __init__(self, known: Distribution) -> None:
        self._known = known
        self._count = len(known.values) if isinstance(known, Empirical) else 0

    @cached_property
    def _ordered(self) -> NDArray[np.float64]:
        count = self._count or TABLE
        # The middles of equal parts, because the quantile of 1 can be infinite.
        return np.sort(self._known.seconds((np.arange(count) + 0.5) / count))

    def part(self, seconds: float) -> float:
        """Return the fraction of runtimes that are not longer than a time."""
        return float(np.searchsorted(self._ordered, seconds, side="right")) / len(self._ordered)

    def nanoseconds(self, u: float) -> int:
        """Return the quantile `u` of the runtimes."""
        if self._count:
            return int(self._ordered[int(u * self._count)] * SECOND)
        return int(self._known.nanoseconds(np.array([u]))[0])


class Runtimes:
    """The expected runtimes of jobs by LocalQueue and, if a log names users, by user."""

    def __init__(self, known: Any) -> None:
        """Create the runtimes.

        Args:
            known: A distribution or a time for all jobs; a mapping from LocalQueues (`namespace/name`) to distributions
                or times, with `""` for all other queues; or a log (`Jobs`). Runtimes are drawn from the jobs of the
                same queue in the log, or from the whole log if the log has no such jobs. If 20 or more finished jobs of
                the queue have the same `user`, the runtimes of this user's jobs are drawn only from these jobs.
                Unfinished jobs (`censored`) are treated as censored at their running time so far (Kaplan-Meier).
        """
        given: dict[str, Any] = dict(known) if isinstance(known, Mapping) else {_OTHERS: known}
        if isinstance(known, JobColumns):
            given = _of_log(known.exact())
        self._by_queue: dict[str, _Drawn | KaplanMeier] = {
            name: value if isinstance(value, KaplanMeier) else _Drawn(distribution_of(value))
            for name, value in given.items()
        }

    def _of(self, queue: str, user: str = "") -> _Drawn | KaplanMeier:
        for name in (_place(queue, user), queue, _OTHERS):
            if name in self._by_queue:
                return self._by_queue[name]
        raise NotFoundError(
            f'runtimes: none is given for LocalQueue "{queue}"; there are {", ".join(self._by_queue)}; '
            'that of "" stands for all others'
        )

    def remaining(self, queue: str, ran: float, u: float, user: str = "") -> int:
        """Draw the remaining runtime of a job, in nanoseconds.

        The total runtime is drawn from the runtimes of the job's queue that are longer than `ran`. If no runtime of the
        queue is longer than `ran`, the total runtime is drawn from the runtimes in the entry `""` that are longer than
        `ran`. If the entry `""` also has no runtimes longer than `ran`, the job finishes immediately.

        Args:
            queue: The LocalQueue, `namespace/name`.
            ran: The time that the job has already run, in seconds.
            u: A random number in the interval [0, 1): the quantile of the remaining runtimes.
            user: The user of the job; empty if unknown.
        """
        known = self._of(queue, user)
        part = known.part(ran) if ran > 0 else 0.0
        if part >= 1 and _OTHERS in self._by_queue:
            known = self._by_queue[_OTHERS]
            part = known.part(ran)
        # No known runtime is longer, and 0 ns is not a runtime.
        if part >= 1:
            return 1
        return max(known.nanoseconds(part + u * (1 - part)) - round(ran * SECOND), 1)


def _place(queue: str, user: str) -> str:
    return f"{queue} {user}" if user else queue


def _of_log(log: JobColumns) -> dict[str, Empirical | KaplanMeier]:
    there = log["runtime"] >= 0
    ends = there & ~censored_rows(log)
    seconds = log["runtime"] / SECOND
    queue = log["queue"]
    groups = dict(zip(queue.names, Groups.by(queue.codes, len(queue.names)).parts(), strict=True))
    user = log["user"] if "user" in log.names else None
    if isinstance(user, Categorical) and len(user.names):
        pairs = np.where(user.codes < 0, -1, queue.codes.astype(np.int64) * len(user.names) + user.codes)
        known, codes = np.unique(pairs, return_inverse=True)
        for pair, rows in zip(known.tolist(), Groups.by(codes, len(known)).parts(), strict=True):
            index, who = divmod(pair, len(user.names))
            if pair >= 0 and user.names[who] and int(ends[rows].sum()) >= _ENOUGH:
                groups[_place(queue.names[index], user.names[who])] = rows
    groups[_OTHERS] = np.arange(len(log))
    found: dict[str, Empirical | KaplanMeier] = {}
    for name, rows in groups.items():
        mine = rows[there[rows]]
        if ends[mine].all() and len(mine):
            found[name] = Empirical(tuple(seconds[mine].tolist()))
        elif ends[mine].any():
            found[name] = KaplanMeier(seconds[mine], ends[mine])
    return found


class Living:
    """The pending and running workloads of a Scheduler, as jobs with random remaining runtimes."""

    def __init__(self, scheduler: Scheduler, users: str = "") -> None:
        """Read the current workloads of a Scheduler.

        Args:
            scheduler: The Scheduler.
            users: The label of workloads that names their user; empty if no label does.
        """
        self.workloads = [one for one in map(scheduler.workload, scheduler.keys()) if not _is(one, "Finished")]
        self.rows = {workload.key: row for row, workload in enumerate(self.workloads)}
        self._now = session_of(scheduler).engine.now
        self._ran = [_ran(workload, self._now) for workload in self.workloads]
        self._users = [str(dict(workload.labels or {}).get(users, "")) if users else "" for workload in self.workloads]

    def has_quota(self, key: str) -> bool:
        """Return whether a workload currently has quota."""
        return self._ran[self.rows[key]] is not None

    def jobs(self, runtimes: Runtimes | None, seed: int) -> Jobs:
        """Return the jobs with remaining runtimes drawn with a seed. Without `runtimes`, current jobs never finish."""
        queues = [f"{workload.namespace}/{workload.queue_name}" for workload in self.workloads]
        left = np.full(len(queues), NEVER)
        if runtimes is not None:
            parts = draws(seed, "remaining", len(queues)).tolist()
            each = zip(queues, self._ran, parts, self._users, strict=True)
            exact = [runtimes.remaining(queue, ran or 0.0, u, user) for queue, ran, u, user in each]
            left = np.array(exact, np.int64).view("m8[ns]")
        submit = [min(created(workload), self._now) for workload in self.workloads]
        return Jobs(
            {
                "name": np.array([workload.name for workload in self.workloads], object),
                "queue": categorical(queues),
                "submit": np.array(submit, np.int64).view("M8[ns]"),
                "runtime": left,
            }
        )

    def and_coming(self, runtimes: Runtimes | None, future: Any, seed: int) -> JobColumns:
        """Return the current jobs, followed by the jobs that will arrive.

        Args:
            runtimes: The expected runtimes; `None` if current jobs never finish.
            future: The jobs that will arrive, or a function that returns them for a seed; `None` if no jobs will
                arrive.
            seed: The seed.
        """
        table = self.jobs(runtimes, seed)
        coming = future(seed) if callable(future) else future
        if coming is None:
            return table
        coming = Jobs.of(coming).exact()
        # Of those that come, names are their own: a job of the Scheduler may be called j0000000, too.
        names = np.array([f"coming-{seed}-{row}" for row in range(len(coming))], object)
        return concat([table, coming._moved_to(coming["submit"] + self._now).assign(name=names)])  # noqa: SLF001 - exact


def _is(workload: Workload, condition: str) -> bool:
    return workload.status is not None and workload.status.is_true(condition)


def _ran(workload: Workload, now: int) -> float | None:
    """Return how long a workload has run, in seconds; 0 if it has quota but is not admitted, `None` without quota."""
    if not _is(workload, "QuotaReserved"):
        return None
    since = lifetime_of(workload.status).start
    return 0.0 if since is None else max(0, now - since) / SECOND


_DAY = 86400 * SECOND
# Bounds the time of one simulated future of a very busy log.
_MOST = 20_000


@checked_methods
class Arrivals:
    """Random future arrivals with the pattern of a recorded period, for `eta` and `risk`.

    A future consists of blocks of the recorded period in random order, each with the jobs that were submitted in the
    block. If the period is longer than two days, each block is one day long and begins at the time of day at which the
    future begins. A job that had not finished gets a runtime drawn from the Kaplan-Meier estimate for its queue.

    >>> rows = [{"queue": "team", "submit": 600 * n, "runtime": 60, "cpu": 1} for n in range(100)]
    >>> len(Arrivals(Jobs.of(rows), "1h")(0))
    6
    """

    def __init__(self, jobs: Jobs, horizon: Any = "2d", *, since: Any = 0) -> None:
        """Read the arrival pattern of a log.

        Args:
            jobs: The jobs of the period. If the `submit` times are seconds, they count from midnight at the start of
                the first day.
            horizon: The length of the period in which jobs arrive. A simulated future has at most 20,000 jobs.
            since: The time of day at which the futures begin: seconds or a string such as `14h`.

        Raises:
            InvalidSpecError: There are no jobs, or a time is not valid.
        """
        if not len(jobs):
            raise InvalidSpecError("Arrivals: jobs: is empty; there must be at least one job")
        table = jobs.exact()
        self._jobs = _complete(table)
        self._submit: NDArray[np.int64] = self._jobs["submit"]
        self._horizon = span("Arrivals: horizon", horizon)
        self._of_day = span("Arrivals: since", since) % _DAY
        first, last = int(self._submit.min()), int(self._submit.max()) + 1
        days = [
            start
            for start in range(first - first % _DAY + self._of_day, last, _DAY)
            if first <= start and start + _DAY <= last
        ]
        # Whole days keep the daily pattern; a shorter log has none that could be kept.
        self._block = _DAY if len(days) > 1 else last - first
        self._starts = days if len(days) > 1 else [first]

    def __call__(self, seed: int) -> Jobs:
        """Return the jobs of one simulated future; their `submit` times count from now.

        Args:
            seed: Seed of the random number generator.
        """
        count = -(-self._horizon // self._block)
        chosen = draws(seed, "arrivals", 2 * count)
        parts: list[JobColumns] = []
        left = _MOST
        for number in range(count):
            start = self._starts[int(chosen[2 * number] * len(self._starts))]
            if len(self._starts) == 1:  # a short period is rotated
                start += int(chosen[2 * number + 1] * self._block)
            end = min(self._block, self._horizon - number * self._block)
            part = self._part(start, end, number * self._block)
            if len(part) > left:
                part = part.take(np.arange(left))
            parts.append(part)
            left -= len(part)
            if not left:
                break
        whole = concat(parts)
        return Jobs._like(whole)  # noqa: SLF001 - as the class methods of Jobs

    def _part(self, start: int, length: int, offset: int) -> JobColumns:
        """Return the jobs of a block, with their submission times shifted to an offset."""
        after = (self._submit - start) % self._block if len(self._starts) == 1 else self._submit - start
        rows = np.flatnonzero((after >= 0) & (after < length))
        rows = rows[np.argsort(after[rows], kind="stable")]
        return self._jobs.take(rows)._moved_to(after[rows] + offset)  # noqa: SLF001 - exact


def _complete(table: JobColumns) -> JobColumns:
    """Return the jobs with drawn runtimes for unfinished jobs, without the columns that describe previous runs."""
    rows = np.flatnonzero(censored_rows(table))
    runtime = np.array(table["runtime"])
    if len(rows):
        known = Runtimes(table)
        queue = table["queue"]
        for row, u in zip(rows.tolist(), draws(0, "censored", len(rows)).tolist(), strict=True):
            ran = max(int(runtime[row]), 0)
            runtime[row] = ran + known.remaining(queue.names[queue.codes[row]], ran / SECOND, u)
    found = {name: table[name] for name in table.names if name != CENSORED}
    return table._with({**found, "runtime": runtime})  # noqa: SLF001 - exact
