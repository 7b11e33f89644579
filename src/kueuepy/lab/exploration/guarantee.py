"""`guarantee`: questions about what a cluster guarantees, with one form of answer."""

from __future__ import annotations

import math
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, checked, counted, expect_one_of, first_of, spelled_out, verb
from kueuepy.explain.whatif import Edit, edited, workloads_over_quota
from kueuepy.lab.exploration.remaining import Living, Runtimes
from kueuepy.lab.exploration.runs import NOTHING, in_order
from kueuepy.lab.exploration.sweep import setup_of
from kueuepy.lab.exploration.trial import Fact, Guarantee, facts_of, limits, safety, without_workloads
from kueuepy.look.numbers import duration, number
from kueuepy.objects import SECOND
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.simulation.grouped import percentile, sums
from kueuepy.simulation.items import concat
from kueuepy.simulation.model import Edit as FieldEdit
from kueuepy.simulation.model import RunSettings, time_after
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.table import Jobs
from kueuepy.tables.columns import Categorical, categorical

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.base import JobColumns

_HOUR = 3600
# The maximum number of groups. Each group needs two simulations.
_MOST = 1000
# Each answer lists what could make it wrong in a real cluster.
_NOT_IN_DELAYS = (
    "random variation: all simulations run the same jobs once, so that there is no confidence interval",
    "delays of several groups together, which are not the sum of the delays of each",
)


def delays(
    cluster: Cluster,
    jobs: Any,
    by: str = "cluster_queue",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[RunSettings],
) -> Guarantee:
    """Measure how much the jobs of each group delay the jobs of the other groups; see `guarantee`."""
    cluster = without_workloads(cluster)
    setup = setup_of(cluster, jobs, settings)
    options: dict[str, Any] = {**msgspec.structs.asdict(setup.settings), "record": NOTHING}
    # The simulation leaves out jobs without a LocalQueue.
    table = Simulation(cluster, setup.jobs_of(0), **options).jobs
    groups = _groups(cluster, table, by)
    n = len(groups.names)
    if not 1 <= n <= _MOST:
        raise InvalidSpecError(f'guarantee: "{by}" makes {n} groups; there must be 1 to {_MOST:,}')

    def waits(chosen: NDArray[np.bool_], stop: threading.Event) -> Any:
        if not chosen.any() or stop.is_set():
            return np.zeros(n)
        run = Simulation(cluster, table.where(chosen), **options)
        run.run()
        return np.bincount(groups.codes[chosen], run.result().jobs["waited"], minlength=n)

    # All jobs, then the jobs without each group, then each group alone.
    masks = [np.ones(len(table), bool)]
    masks += [groups.codes != code for code in range(n)]
    masks += [groups.codes == code for code in range(n)]
    report = None if progress is None else lambda done: progress(done, len(masks))
    counts = np.bincount(groups.codes, minlength=n)
    means = np.array(in_order(waits, masks, threads, report)) / counts
    # The delays in seconds: row r and column c is the delay of c by r.
    names, caused, by_all = list(groups.names), means[0] - means[1 : n + 1], means[0] - means[n + 1 :]
    # Without its own jobs, a group has no wait to compare with.
    np.fill_diagonal(caused, 0.0)
    total, alone = caused @ counts / _HOUR, np.diagonal(by_all)
    causes, delayed = (np.argsort(-values, kind="stable").tolist() for values in (total, alone))
    because = ["No group delays the other groups."]
    if is_delayed := bool(total[causes[0]] > 0):
        added = number(float(total[causes[0]]))
        because = [f"{names[causes[0]]} delays the others most: its jobs add {added} h of waiting."]
        if alone[delayed[0]] > 0:
            longer = f"{duration(float(alone[delayed[0]]))} longer on average than without the jobs of the others."
            because.append(f"{names[delayed[0]]} is delayed most: each of its jobs waits {longer}")
    facts = [Fact(names[row], "adds in total", total[row] * _HOUR) for row in causes]
    facts += [Fact(names[row], "delayed by all others", alone[row]) for row in delayed]
    facts += [Fact(names[row], f"delays {names[c]}", caused[row, c]) for row in causes for c in delayed if c != row]
    facts += [Fact(name, "waits", means[0, position]) for position, name in enumerate(names)]
    return Guarantee("delays", not is_delayed, tuple(because), facts_of(map(_in_words, facts)), _NOT_IN_DELAYS)


def _in_words(fact: Fact) -> Fact:
    """Return the fact with its time in words."""
    return fact._replace(detail=duration(float(fact.value)))


def _groups(cluster: Cluster, jobs: Jobs, by: str) -> Categorical:
    """Return the names of the groups that contain at least one job, and the index of each job's group among them."""
    column = jobs["queue" if by == "cluster_queue" else by]
    if not isinstance(column, Categorical):
        column = categorical(map(str, column.tolist()))
    leads = {queue.key: queue.cluster_queue for queue in cluster.local_queues} if by == "cluster_queue" else {}
    texts = np.array([*(leads.get(name, name) for name in map(str, column.names)), "none"])[column.codes]
    names, codes = np.unique(texts, return_inverse=True)
    return Categorical(codes.astype(np.int32), names.tolist())


# The text names the first workloads; the table of facts has all.
_SHOWN = 10
_PERCENTS = (10, 50, 90)
_NOT_IN_SHRINK = (
    "runtimes are drawn from what was given: of a log that has little in common with today's jobs they are wrong",
    "workloads that are removed by hand, and autoscalers",
)


def shrink(
    scheduler: Scheduler,
    edits: Sequence[Edit | FieldEdit],
    *,
    runtimes: Any,
    future: Any = None,
    n: int = 50,
    seed: int = 0,
    horizon: Any = "30d",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[RunSettings],
) -> Guarantee:
    """Estimate how long usage stays above quota after edits that reduce quota; see `guarantee`."""
    if n < 1:
        raise InvalidSpecError(f"guarantee: n {n}; it must be 1 or more")
    after = scheduler.fork()
    for edit in edits:
        for one in _objects(after, edit):
            after = edited(after, one)
    end = time_after("guarantee: horizon", horizon) / SECOND
    living, known = Living(after), Runtimes(runtimes)
    leaving = workloads_over_quota(after)
    # If usage is within quota now, no future has to be simulated: admissions respect the reduced quota.
    if not leaving:
        at_once = facts_of(_times([0.0] * n, seed))
        return Guarantee("shrink", True, ("usage is within quota at once",), at_once, _NOT_IN_SHRINK)  # noqa: FBT003 - a verdict

    def look(number: int, stop: threading.Event) -> float:
        run = Simulation(after, living.and_coming(known, future, number), seed=number, record=NOTHING, **settings)
        while not stop.is_set() and run.step() and run.now <= end:
            if not workloads_over_quota(run.scheduler):
                return run.now
        return math.inf

    report = None if progress is None else lambda done: progress(done, n)
    seconds = in_order(look, range(seed, seed + n), threads, report)
    low, middle, high = (duration(percentile(np.sort(seconds), percent)) for percent in _PERCENTS)
    late = sum(map(math.isinf, seconds))
    more = f"; not within {duration(end)} in {late} of {n}" if late else ""
    because = (
        f"within quota after {middle} (median), {low} to {high} (80% interval){more}",
        f"{len(leaving)} would have to be removed for that at once: {first_of(leaving, _SHOWN)}",
    )
    facts = [Fact(key, "order of removal", position) for position, key in enumerate(leaving, 1)]
    above = sums(item for key in leaving for item in _amounts(after, key))
    facts += [Fact(pair, "above quota", amount) for pair, amount in above.items()]
    return Guarantee("shrink", not late, because, facts_of([*facts, *_times(seconds, seed)]), _NOT_IN_SHRINK)


def _times(seconds: list[float], seed: int) -> list[Fact]:
    """Return the percentiles of the time until usage is within quota, and the time of each simulated future."""
    ordered = np.sort(seconds)
    found = [Fact("all futures", f"p{percent}", float(percentile(ordered, percent))) for percent in _PERCENTS]
    found += [Fact(f"future {number}", "within quota after", each) for number, each in enumerate(seconds, seed)]
    return list(map(_in_words, found))


def _amounts(scheduler: Scheduler, key: str) -> Iterator[tuple[str, int]]:
    admission = session_of(scheduler).engine.admission(session_of(scheduler).state.id_of(key))
    for pod_set in admission.pod_sets if admission is not None else ():
        for resource, (flavor, amount) in pod_set.resources.items():
            yield f"{flavor}/{resource}", amount


def _objects(scheduler: Scheduler, edit: Edit | FieldEdit) -> list[Edit]:
    """Return an edit in a form that `whatif` accepts; a field edit becomes the objects that it changes."""
    if not isinstance(edit, FieldEdit):
        return [edit]
    cluster = scheduler.cluster
    before = list(cluster.objects())
    after = cluster.edit(edit.path, edit.value)
    changed: list[Edit] = [obj for obj in after.objects() if obj not in before]
    return changed if after.configuration == cluster.configuration else [*changed, after.configuration]


# The core's states of a job.
_WAITING, _RUNNING = 1, 2
_OUTSIDE = (
    "jobs that arrive a little earlier or later than in the previous period, or run a little longer",
    "priorities that are raised and jobs that are deleted by hand",
)


def starvation(
    cluster: Cluster,
    jobs: Jobs | Iterable[Any],
    period: Any,
    once: Jobs | Iterable[Any] = (),
    periods: int = 100,
    **settings: Unpack[RunSettings],
) -> Guarantee:
    """Determine whether a job starves if the same jobs are submitted in every period; see `guarantee`."""
    length = time_after("guarantee: period", period)
    table, single = (Jobs.of(given).exact() for given in (jobs, once or ()))
    _check_periods(cluster, table, length, periods, settings)
    # Two jobs in different namespaces can have the same name, so the simulated jobs get unique names.
    parts = [_named(single, "once")] if len(single) else []
    for index in range(periods):
        shifted = table._moved_to(table["submit"] + index * length)  # noqa: SLF001 - exact
        parts.append(_named(shifted, f"period-{index}"))
    whole = concat(parts)
    once_names = single["name"] if "name" in single.names else [None] * len(single)
    run = _Periodic(Simulation(without_workloads(cluster), whole, record=NOTHING, **settings), once_names)
    # A simulation begins with its first submission.
    origin = int(whole["submit"].min())
    seen: dict[Hashable, int] = {}
    waiting = []
    for index in range(1, periods):
        # Events exactly at the boundary belong to the next period.
        state = run.state_at((index * length - origin - 1) / SECOND, index)
        waiting.append(run.waiting)
        if state in seen:
            starved, bound = run.never_started(), run.longest_wait(index)
            because = [f"{fact.subject} starves: {fact.detail}" for fact in starved if fact.measure == "overtaken"]
            repeats = f"everything repeats every {counted(index - seen[state], 'period')}"
            because = because or ["no job starves"]
            because.append(f"from period {seen[state]} on, {repeats}; its jobs wait {duration(bound)} at most")
            cycle = (Fact("cycle", "first period", seen[state]), Fact("cycle", "periods", index - seen[state]))
            facts = facts_of([*starved, *cycle, Fact("periodic jobs", "longest wait", bound, duration(bound))])
            return Guarantee("starvation", not starved, tuple(because), facts, _OUTSIDE)
        seen[state] = index
    # In both halves: a single peak would be no trend.
    is_growing = waiting[-1] > waiting[len(waiting) // 2] > waiting[0]
    why = "the number of waiting jobs grows, the load is too high" if is_growing else "set more periods"
    because = [f"no proof: in {counted(periods, 'period')} no state repeated; {why}"]
    suspects = run.never_started()
    because += [f"still waits after {fact.detail}: {fact.subject}" for fact in suspects if fact.measure == "waited"]
    return Guarantee("starvation", None, tuple(because), facts_of(suspects), _OUTSIDE)


def _check_periods(cluster: Cluster, table: JobColumns, length: int, periods: int, settings: RunSettings) -> None:
    if length <= 0 or periods < 2:  # noqa: PLR2004
        raise InvalidSpecError(f"guarantee: {periods} periods of {length / SECOND} s; there must be 2, longer than 0")
    submit = table["submit"]
    if not len(table) or submit.min() < 0 or submit.max() >= length:
        raise InvalidSpecError("guarantee: jobs must be submitted within the period; give one at least")
    for name in ("delays", "events"):
        if settings.get(name):
            raise InvalidSpecError(f"guarantee: {name}: their effects do not repeat in every period; leave them out")
    if cluster.configuration.admission_fair_sharing is not None:
        raise InvalidSpecError("guarantee: admission fair sharing depends on past usage, which is not compared")


class _Periodic:
    """A simulation of jobs that are submitted in every period, and of jobs that are submitted once."""

    def __init__(self, run: Simulation, once: Sequence[str | None]) -> None:
        self._run, self._once = run, once
        self._names = list(run.jobs["name"])
        self._periods, self._numbers = zip(*map(_identity, self._names), strict=True)

    @property
    def waiting(self) -> int:
        """The number of waiting jobs."""
        return int((self._run.states == _WAITING).sum())

    def _relative(self, row: int, number: int) -> tuple[int, int]:
        """Return the number of periods since a job's submission (-1 for a one-time job), and the job's number."""
        period = self._periods[row]
        return (-1 if period is None else number - period, self._numbers[row])

    def state_at(self, seconds: float, number: int) -> Hashable:
        """Continue to the end of period `number`, and return the state that determines the rest of the simulation.

        The state consists of the order of the pending jobs, the running jobs with their start times, and the progress
        of each job. Times are relative to the boundary.
        """
        self._run.run(seconds)
        scheduler, states = self._run.scheduler, self._run.states
        rows = {name: row for row, name in enumerate(self._names)}
        by_key = {key: rows[scheduler.workload(key).name] for key in scheduler.keys()}  # noqa: SIM118
        table, jobs = scheduler.queues, self._run.result().jobs
        waiting = tuple(
            (table["cluster_queue"][at], self._relative(by_key[key], number), bool(table["inadmissible"][at]))
            for at, key in enumerate(table["key"])
        )
        # Sums of floating-point times differ in the last digits although the states are the same.
        done = np.round(jobs["held"] - jobs["lost"] - jobs["overhead"], 6).tolist()
        begun = dict(zip(scheduler.workloads["key"], scheduler.workloads["reserved"].tolist(), strict=True))
        there = [(key, row, self._relative(row, number)) for key, row in by_key.items()]
        now = session_of(scheduler).engine.now
        running = sorted((job, now - begun[key], done[row]) for key, row, job in there if states[row] == _RUNNING)
        kept = sorted((job, done[row]) for _, row, job in there if states[row] == _WAITING)
        return waiting, tuple(running), tuple(kept)

    def never_started(self) -> list[Fact]:
        """Return the one-time jobs that have never had quota: how long they wait, and how many jobs overtook them."""
        jobs = self._run.result().jobs
        starts, submits = jobs["first_start"], jobs["submit"]
        found = []
        for row, name in enumerate(self._names):
            if self._periods[row] is None and self._run.states[row] == _WAITING and np.isnan(starts[row]):
                subject, waited = self._once[self._numbers[row]] or name, float(jobs["waited"][row])
                later = int(((submits > submits[row]) & ~np.isnan(starts)).sum())
                text = f"{counted(later, 'job')} submitted later {verb(later, 'have')} started"
                found.append(Fact(subject, "waited", waited, duration(waited)))
                found.append(Fact(subject, "overtaken", later, f"{text} ({jobs['queue'][row]})"))
        return found

    def longest_wait(self, number: int) -> float:
        """Return the longest time that jobs of the periods before period `number` wait for their first start.

        The simulation continues until all jobs of the previous periods have started. Because the state repeats, jobs
        of later periods do not wait longer.
        """
        before = [row for row, period in enumerate(self._periods) if period is not None and period < number]
        waits = self._run.result().jobs["first_wait"][before]
        # Jobs of the last period can start after its end.
        while np.isnan(waits).any() and self._run.step():
            waits = self._run.result().jobs["first_wait"][before]
        return math.inf if np.isnan(waits).any() else float(waits.max())


def _named(table: JobColumns, kind: str) -> JobColumns:
    return table.assign(name=np.array([f"{kind}-{row}" for row in range(len(table))], object))


def _identity(name: str) -> tuple[int | None, int]:
    """Return the period of a job (`None` for a one-time job) and its number, from the name that `_named` gave it."""
    kind, *numbers = name.split("-")
    return int(numbers[0]) if kind == "period" else None, int(numbers[-1])


_ANALYSES: dict[str, Callable[..., Guarantee]] = {
    "safety": safety,
    "limits": limits,
    "starvation": starvation,
    "shrink": shrink,
    "delays": delays,
}


class GuaranteeOptions(RunSettings, total=False):
    """Keyword arguments of `guarantee`, in addition to those of `simulate`.

    `starvation` (without `delays` and `events`), `shrink` and `delays` accept the arguments of `simulate`.

    Attributes:
        cluster_queue: The name of the ClusterQueue, for `safety`.
        amounts: The required amount of each ClusterQueue, as a number or a Kubernetes quantity, for `limits`.
        flavor_resource: The flavor and resource, such as `h100/nvidia.com/gpu`, for `limits`.
        jobs: For `delays`, the jobs. For `starvation`, the jobs of every period, whose `submit` times count from the
            start of the period and lie within it.
        once: The jobs that are submitted once, for `starvation`; `submit` counts from the start of the first period.
            Default: none.
        period: The length of a period, as seconds or a string such as `24h`, for `starvation`.
        periods: The maximum number of periods to simulate, at least 2, for `starvation`. Default: 100.
        edits: For `shrink`: objects with less quota, field edits as `kueuepy.sim.Edit(path, value)`, a Configuration,
            or functions that change a Scheduler.
        runtimes: The expected runtimes, as `eta` accepts them, for `shrink`.
        future: Jobs that will arrive, or a function that returns them for a seed, for `shrink`; `submit` times count
            from now. Default: none.
        horizon: The time span to simulate, for `shrink`. Default: 30 days.
        by: The column that defines the groups, for `delays`: `cluster_queue`, or a column of jobs such as `queue` or
            `user`. Default: `cluster_queue`.
        n: The number of random series, for `safety`, or of simulated futures, for `shrink`. Default: 50.
        seed: The seed of the first series or future, for `safety` and `shrink`. Default: 0.
        threads: The number of simulations to run in parallel, for `shrink` and `delays`. Default: the number of
            available cores.
        progress: A function that is called with the number of finished simulations and their total number, at most ten
            times per second, for `shrink` and `delays`.
    """

    cluster_queue: str
    amounts: Mapping[str, str | int | float]
    flavor_resource: str
    jobs: Any
    once: Any
    period: Any
    periods: int
    edits: Sequence[Edit | FieldEdit]
    runtimes: Any
    future: Any
    horizon: Any
    by: str
    n: int
    seed: int
    threads: int | None
    progress: Callable[[int, int], None] | None


@checked
@spelled_out(GuaranteeOptions)
def guarantee(
    question: Literal["safety", "limits", "starvation", "shrink", "delays"],
    cluster: Cluster | Scheduler,
    **options: Unpack[GuaranteeOptions],
) -> Guarantee:
    """Determine whether a cluster guarantees something, by a proof, a counterexample or simulations.

    The question selects the analysis:

    - `safety`: No submission can evict workloads of `cluster_queue`, such as notebooks or services. The proof needs
      `withinClusterQueue: Never`, and that the queue can never use more than its nominal quota of any flavor and
      resource that another queue of its cohort tree may reclaim. Without a proof, series of submissions are simulated:
      first series that fill the queue and then submit a workload to each queue that may preempt, and then `n` random
      series. A Cohort whose usage stays within its quota also protects its queues, but this is not accepted as a proof:
      while evicted workloads terminate, a Cohort can temporarily exceed its quota.
    - `limits`: Each ClusterQueue in `amounts` always gets its amount of `flavor_resource`, whatever the other queues
      do. The guaranteed amount is simulated: all other ClusterQueues take as much as they can, the nearest in the
      cohort tree first, and then the queue requests quota at the lowest priority. Quota that the queue reclaims by
      preemption is part of the guaranteed amount. `edits` of the answer contains the largest lending limits that
      establish the guarantee.
    - `starvation`: No job in `once` waits indefinitely if `jobs` are submitted in every period
      (kubernetes-sigs/kueue#754). A state consists of the order of the pending jobs, the running jobs with their start
      times, and the progress of each job. If a state repeats at the end of a period, all following states repeat as
      well, so a one-time job that still waits starves, and no periodic job ever waits longer than before.
    - `shrink`: Usage is within quota before `horizon` after `edits` that reduce quota. Kueue does not evict workloads
      when quota is reduced (kubernetes-sigs/kueue#5176). Each of `n` simulated futures draws the remaining runtimes of
      running workloads.
    - `delays`: No group of jobs lengthens the waits of the other groups. All jobs are simulated, then the jobs without
      each group, and then each group alone.

    Args:
        question: The analysis.
        cluster: The cluster, whose workloads are ignored except for `shrink`, or a Scheduler, which is not modified.
        options: The arguments of the question, as `GuaranteeOptions` lists them.

    Returns:
        The verdict, the reasons and the facts. The measures in `facts` are: `evicts` for `safety`; `guaranteed`,
        `required`, `lendingLimit` and `borrowingLimit` for `limits`; `waited`, `overtaken` (jobs submitted later that
        have started), `first period` and `periods` of the repeated states, and `longest wait` for `starvation`; `order
        of removal`, `above quota`, `p10`, `p50`, `p90` and `within quota after` for `shrink`; `adds in total` (the sum
        over all jobs of other groups), `delayed by all others`, `delays GROUP` and `waits` for `delays`.

    Raises:
        NotFoundError: A ClusterQueue, a column or a path does not exist, or `runtimes` does not cover a queue.
        InvalidSpecError: An argument is missing, is not valid, or does not belong to the question.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, Quota, ResourceFlavor
        >>> quotas = {"f": {"cpu": Quota(9, borrowing_limit=0)}}
        >>> teams = [ClusterQueue.of(name, quotas, cohort_name="all") for name in ("a", "b")]
        >>> guarantee("safety", Cluster(ResourceFlavor("f"), *teams), cluster_queue="a").holds
        True
    """
    expect_one_of("guarantee: question", question, _ANALYSES)
    _check(question, options)
    state: Cluster | Scheduler = cluster.cluster if isinstance(cluster, Scheduler) else cluster
    # Only the answer to `shrink` depends on the workloads that run now.
    if question == "shrink":
        state = cluster if isinstance(cluster, Scheduler) else Scheduler(cluster)
    return _ANALYSES[question](state, **options)


def _check(question: str, options: Mapping[str, Any]) -> None:
    """Check that the arguments belong to the question, and that none is missing."""
    accepted = list(signature(_ANALYSES[question]).parameters.values())[1:]
    names = [one.name for one in accepted if one.kind is not Parameter.VAR_KEYWORD]
    settings = RunSettings.__annotations__ if len(names) < len(accepted) else {}
    for name in options:
        if name not in names and name not in settings:
            raise InvalidSpecError(f"guarantee: {name}: {question} does not accept it; it accepts {', '.join(names)}")
    for one in accepted:
        if one.default is Parameter.empty and one.name in names and one.name not in options:
            raise InvalidSpecError(f"guarantee: {question} needs {one.name}; it accepts {', '.join(names)}")
