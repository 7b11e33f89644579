"""Comparison of policies: the same jobs under several configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from kueuepy.cluster import Cluster
from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, NotFoundError, checked, checked_methods, counted, spelled_out, verb
from kueuepy.explain.words import amount, share_text
from kueuepy.fleet import Fleet
from kueuepy.look.chart import Axis, Chart, Key, Label, Line, Mark
from kueuepy.look.notebook import MOST_ROWS, Sheet, listed
from kueuepy.look.numbers import busiest, duration
from kueuepy.look.plot import axes_of, draw
from kueuepy.look.svg import side_by_side
from kueuepy.simulation.catalogue import FLEET_FIGURES, SHOWN, figure_text, label_of, titled
from kueuepy.simulation.changes import DecisionChange, JobChange, decisions_of, jobs_of, queues_of
from kueuepy.simulation.confidence import differences, intervals
from kueuepy.simulation.model import SimulateSettings
from kueuepy.simulation.pages import words
from kueuepy.simulation.pictures.catalogue import Plots, data_alike, in_order
from kueuepy.simulation.pictures.charts import PictureOptions
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.values import row_columns
from kueuepy.tables.columns import Columns, Framed, joined, table_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from typing_extensions import Unpack

    from kueuepy.look.svg import Picture
    from kueuepy.simulation.changes import JobOutcome, QueueOutcome
    from kueuepy.simulation.figures import Kpis
    from kueuepy.simulation.pictures.charts import PictureName
    from kueuepy.simulation.result import Result
    from kueuepy.simulation.simulate import Progress
    from kueuepy.simulation.table import Jobs

_HEADER = ("ClusterQueue", "Policy", "Admitted", "Mean wait", "Longest wait", "Evictions")
# The columns of `Comparison.rows` that fit into a display of 80 characters, and their titles above.
_IN_HEADER = (0, 1, 2, 6, 7, 8)
_TWO = 2
# Pixels of a metric in the chart of differences: three lines of text above a mark.
_ROW = 60.0
_VERDICTS = (Key("better", "good", "dot"), Key("worse", "bad", "dot"), Key("neither", "quiet", "dot"))


class ComparisonPlots(Plots):
    """The pictures of all policies as matplotlib Axes, below each other and with the same axes.

    Each method draws on a list of Axes, one for each policy, or on a new figure, and returns the list. The methods and
    their arguments are those of `Result.plot`.
    """

    def __init__(self, results: Mapping[str, Result]) -> None:
        """Create the pictures of results by name of the policy."""
        self._results = results

    def __call__(self, name: str = "differences", *, ax: Any = None, **options: Any) -> list[Any]:
        """Draw the picture with the given name, as for `Comparison.picture`."""
        charts = _charts(self._results, name, options)
        axes: list[Any] = axes_of(rows=len(charts)) if ax is None else list(ax)
        for one, (policy, chart) in zip(axes, charts.items(), strict=True):
            draw(msgspec.structs.replace(chart, policy=policy), one)
        return axes


@checked_methods
class Comparison(Framed):
    """The results of simulating the same jobs under several policies.

    `changes`, `decisions` and `most_delayed` compare individual jobs between the first policy and the last policy.
    `between(a, b)` compares any two policies. `Comparison({"a": result, "b": result})` combines
    existing results.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> def run(gpus):
    ...     queue = ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": gpus}})
    ...     jobs = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
    ...     return simulate(Cluster(ResourceFlavor("h100"), queue), jobs)
    >>> found = Comparison({"two": run(2), "three": run(3)})
    >>> {name: kpis.wait_mean for name, kpis in found.kpis.items()}
    {'two': 1160.0, 'three': 0.0}

    Attributes:
        names: The names of the policies, in order.
        results: The results by name of the policy.
    """

    def __init__(self, results: Mapping[str, Result]) -> None:
        """Store the results in order.

        Args:
            results: The results of one or more policies, by name of the policy.

        Raises:
            InvalidSpecError: `results` is empty.
        """
        if not results:
            raise InvalidSpecError("comparison: no result; give one at least")
        self.results = dict(results)
        self.names = tuple(self.results)

    @property
    def before(self) -> Result:
        """The result under the first policy."""
        return self.results[self.names[0]]

    @property
    def after(self) -> Result:
        """The result under the last policy."""
        return self.results[self.names[-1]]

    def __getitem__(self, name: str) -> Result:
        """Return the result of a policy.

        Raises:
            NotFoundError: The name is not the name of a policy.
        """
        if name not in self.results:
            raise NotFoundError(f'comparison: "{name}" names no policy; there are {", ".join(self.names)}')
        return self.results[name]

    def between(self, first: str, second: str) -> Comparison:
        """Return a Comparison of two of the policies.

        Args:
            first: The name of the policy to compare with.
            second: The name of the policy to compare.

        Raises:
            NotFoundError: One of the names is not the name of a policy.
        """
        return Comparison({first: self[first], second: self[second]})

    def differences(self) -> Columns:
        """Return the difference of each metric from its value under the first policy, with 95 % confidence intervals.

        The differences are paired because all policies run the same jobs, so the variation between jobs cancels out.
        The interval of a difference is therefore usually narrower than the intervals of the two means.

        Returns:
            One row for each metric and each policy except the first. The columns are `policy`, `metric`,
            `jobs` (the number of jobs that have the metric under both policies), `first` and `second` (the means),
            `difference` (the mean difference, second minus first), and `low` and `high` (the limits of the confidence
            interval of the difference). The limits are NaN if fewer than 640 jobs have the metric. Waits are in
            seconds.

        Raises:
            InvalidSpecError: The results have different jobs.
        """
        return differences(self.results)

    def tidy(self) -> Columns:
        """Return the metrics of all policies, one value per row: `policy`, then the columns of `Result.tidy`."""
        return joined({name: result.tidy() for name, result in self.results.items()}, "policy")

    @cached_property
    def changes(self) -> tuple[JobChange, ...]:
        """The jobs whose start, flavor, wait, reason or number of evictions differs under the last policy."""
        before, after = jobs_of(self.before), jobs_of(self.after)
        pairs = [(key, job, after[key]) for key, job in before.items() if key in after]
        return tuple(JobChange(*pair) for pair in pairs if pair[1] != pair[2])

    @cached_property
    def decisions(self) -> tuple[DecisionChange, ...]:
        """The decisions that differ between the first and the last policy, in chronological order."""
        before, after = decisions_of(self.before), decisions_of(self.after)
        keys = sorted({*before, *after})
        pairs = [(at, tuple(before.get(at, ())), tuple(after.get(at, ()))) for at in keys]
        return tuple(DecisionChange(*at, first, last) for at, first, last in pairs if first != last)

    @cached_property
    def queues(self) -> dict[str, tuple[QueueOutcome | None, ...]]:
        """The outcomes of each ClusterQueue, one per policy; `None` for policies under which it is not active."""
        outcomes = [queues_of(result) for result in self.results.values()]
        names = in_order(self.before, {name for queues in outcomes for name in queues})
        return {name: tuple(queues.get(name) for queues in outcomes) for name in names}

    @property
    def kpis(self) -> dict[str, Kpis]:
        """The metrics of each simulation, by name of the policy."""
        return {name: result.kpis for name, result in self.results.items()}

    def figures(self) -> list[tuple[str, ...]]:
        """Return the most important metrics as text: one row per metric, one column per policy."""
        values = [dict(kpis.rows()) for kpis in self.kpis.values()]
        of_fleets = [name for name in FLEET_FIGURES if all(name in one for one in values)]
        names = dict.fromkeys(name for one in values for name in one)
        order = (*SHOWN["policies"], *of_fleets)
        chosen = [name for own in order for name in names if name.partition(" ")[0] == own]
        return [(name, *(figure_text(name, one.get(name, 0.0)) for one in values)) for name in chosen]

    def most_delayed(self, most: int = MOST_ROWS) -> list[JobChange]:
        """Return the jobs that wait longer under the last policy than under the first, sorted by decreasing difference.

        Args:
            most: The largest number of jobs to return; 20 by default.
        """
        worse = [change for change in self.changes if change.after.waited > change.before.waited]
        return sorted(worse, key=lambda change: change.before.waited - change.after.waited)[:most]

    def rows(self) -> list[tuple[str, ...]]:
        """Return rows of text, one for each ClusterQueue and policy."""
        return [(queue, policy, *_cells(outcome)) for queue, policy, outcome in self._outcomes()]

    def _outcomes(self) -> Iterator[tuple[str, str, QueueOutcome]]:
        """Yield the outcome of each ClusterQueue under each policy that has it."""
        for queue, outcomes in self.queues.items():
            for policy, outcome in zip(self.names, outcomes, strict=True):
                if outcome is not None:
                    yield queue, policy, outcome

    def to_table(self) -> Columns:
        """Return one row for each ClusterQueue and policy; `usage f/cpu` is the usage of a flavor's resource."""
        rows = []
        for queue, policy, outcome in self._outcomes():
            rows.append({"cluster_queue": queue, "policy": policy, **msgspec.to_builtins(outcome)})
            for name in ("usage", "mean_usage"):
                used = rows[-1].pop(name).items()
                rows[-1] |= {f"{name} {pair}": value / unit_of(pair) for pair, value in used}
        columns = row_columns(rows)
        return table_of(tuple(columns), zip(*columns.values(), strict=True))

    @spelled_out(PictureOptions)
    def picture(
        self, name: PictureName | Literal["differences"] = "differences", **options: Unpack[PictureOptions]
    ) -> Picture:
        """Return a picture of the differences, or the pictures of all policies as one SVG with the same axes.

        Args:
            name: `differences`, the default: the main metrics under the first policy and each other one, with the
                difference, its confidence interval and whether it is better; or a picture of `Result.picture`.
            options: Options of the picture, as for `Result.picture`.

        Raises:
            InvalidSpecError: The picture does not exist.
            StateError: The picture needs a table that was not recorded.
        """
        return side_by_side(_charts(self.results, name, options))

    @property
    def plot(self) -> ComparisonPlots:
        """Pictures of all policies as matplotlib Axes: `found.plot()`, or `found.plot.usage()`."""
        return ComparisonPlots(self.results)

    __repr__ = Framed.__str__

    def sheets(self) -> tuple[Sheet, ...]:
        """Return tables for display: warnings, metrics, queues and the jobs whose waits differ most."""
        first, last = self.names[0], self.names[-1]
        largest = sorted(self.changes, key=lambda change: -abs(change.after.waited - change.before.waited))[:MOST_ROWS]
        changes = [(change.workload, *_jobs(change)) for change in largest]
        number, jobs = len(self.changes), counted(len(self.before.jobs), "job")
        pair = f" under {last} (the last policy) than under {first} (the first; between(a, b) others)"
        pair = pair if len(self.names) > _TWO else ""
        caption = f"{number} of {jobs} {verb(number, 'have')} a different outcome{pair}"
        jobs_ = (Sheet(("Job", first, last), changes, f"{caption}, largest change first", number, ".changes"),)
        metrics = [(titled(name), *values) for name, *values in self.figures()]
        queues = [tuple(row[at] for at in _IN_HEADER) for row in self.rows()]
        return (
            *listed("Warning", words.warnings_of_all(self.results)),
            *self._in_words(),
            Sheet(("Metric", *self.names), metrics, source=".figures()"),
            Sheet(_HEADER, queues, "ClusterQueues", source=".rows()"),
            *(jobs_ if changes else listed("Jobs", [caption])),
        )

    def _in_words(self) -> tuple[Sheet, ...]:
        """Return the difference between the policies in sentences, the advice, the largest problem, and the next step.

        A comparison of one policy, or without jobs, has no such table.
        """
        if len(self.names) < _TWO or not all(kpis.jobs for kpis in self.kpis.values()):
            return ()
        best, advice = words.recommended(self.results)
        texts = [*words.of_results(self.results), advice, *words.problem(self[best]).lines(best)]
        return listed("Result", texts)


def _charts(results: Mapping[str, Result], name: str, options: Mapping[str, Any]) -> dict[str, Chart]:
    """Return the charts of a comparison by name of the policy."""
    if name != "differences":
        return dict(zip(results, data_alike(list(results.values()), name, **options), strict=True))
    if options:
        raise InvalidSpecError(f"picture: differences: {next(iter(options))}: is not an option; the picture has none")
    if len(results) < _TWO:
        raise InvalidSpecError("picture: differences: needs two policies; this comparison has one")
    first, *others = results
    return {other: _differences({first: results[first], other: results[other]}) for other in others}


def _differences(results: Mapping[str, Result]) -> Chart:
    """Return a chart of the main metrics under two policies, with the relative change and its interval."""
    (first, second), (one, other) = results, results.values()
    values = [dict(result.kpis.rows()) for result in (one, other)]
    pair, paired, marks = busiest(one.kpis.utilisation), intervals(results), list[Mark]()
    is_cut = any(map(words.blocked, results.values()))
    names = [
        name
        for figure in SHOWN["sweep"]
        for name in (figure, f"{figure} {pair}")
        if any(name in each for each in values)
    ]
    for row, name in enumerate(names):
        base, value = (each.get(name, 0) for each in values)
        between = paired.get((second, name))
        found = words.verdict(name, base, value, between, is_cut=is_cut)
        colour = {"better": "good", "worse": "bad"}.get(found.word, "quiet")
        told = f"{figure_text(name, base)} → {figure_text(name, value)}: {found}"
        figure, _, limits = name.partition(" ")
        limits = f"95% confidence interval {found.interval}" if between else limits
        lines = ((0.2, label_of(figure), "ink"), (0.42, told, colour), (0.64, limits, "quiet"))
        marks += [Label(-1.0, row + at, text, colour=ink, bold=ink == "ink") for at, text, ink in lines]
        if base:
            at, *ends = (max(-1.0, min(1.0, each / abs(base))) for each in (value - base, *(between or ())))
            marks += [Line(np.array(ends), np.full(2, row + 0.8), "ink", width=1.2)] if ends else []
            marks.append(Line(np.array([at]), np.array([row + 0.8]), colour, dots="o"))
    marks.append(Line(np.zeros(2), np.array([0, len(names)]), "quiet", width=0.8, dashed=True))
    across = Axis(f"Change from “{first}” to “{second}”", (-1.05, 1.05), kind="share")
    keys = (Key("95% interval", "ink", "line"), *_VERDICTS)
    title, down = words.recommended(results)[1], Axis("", (float(len(names)), 0.0), ticks=())
    return Chart(title, across, down, tuple(marks), keys, height=_ROW * len(names))


@checked
@spelled_out(SimulateSettings)
def compare(
    before: Cluster | Fleet | Mapping[str, Cluster | Fleet],
    after: Cluster | Fleet | Jobs | Iterable[Any] = (),
    jobs: Jobs | Iterable[Any] = (),
    *,
    names: tuple[str, str] = ("before", "after"),
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[SimulateSettings],
) -> Comparison:
    """Simulate the same jobs on several clusters.

    Call `compare(before, after, jobs)` for two clusters, or `compare({"name": cluster, ...}, jobs)` for any number.

    A job arrives at its creation time (`submit` of a row); without a creation time, the job arrives at the start. A job
    finishes after its runtime (`duration`); without a runtime, the job never finishes. An evicted job restarts from the
    beginning unless `model` specifies otherwise. If `waitForPodsReady` is enabled, the pods of an admitted job are
    ready immediately. Admission checks stay pending unless `delays` specifies when they become ready. Each simulation
    runs until no event is left. Preemption loops are reported, and admissions in the affected cohort tree stop until
    another event occurs in the tree.

    >>> from kueuepy import ClusterQueue, Cluster, ResourceFlavor
    >>> less, more = (Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": n}})) for n in (2, 3))
    >>> jobs = [{"name": f"job-{n}", "queue": "team", "cpu": 1, "duration": "1h"} for n in range(3)]
    >>> found = compare(less, more, jobs)
    >>> [pair[0].waited for pair in found.queues.values()], [pair[1].waited for pair in found.queues.values()]
    ([1200.0], [0.0])
    >>> for decision in found.decisions:
    ...     print(decision)
    at 0 s default/job-2 — → gets quota on f
    at 3600 s default/job-2 gets quota on f → —

    Args:
        before: The first Cluster or Fleet, or a mapping from names to clusters.
        after: The second Cluster or Fleet; if `before` is a mapping, the jobs.
        jobs: A `Jobs` table, or rows, a DataFrame, Workloads or manifests of jobs. Each simulation also includes the
            workloads of its cluster.
        names: The names of the two policies; `before` and `after` by default.
        threads: The number of threads; see `simulate`.
        progress: A function that receives a `Progress` at most ten times a second; its `done` and `total` count the
            jobs of all simulations.
        options: Keyword arguments of `simulate`: `model`, `events`, `clock`, `delays`, `until`, `warmup`, `seed`,
            `record`, `on_loop`, and `missing`, which is `error` for the first cluster and `wait` for the others by
            default.

    Returns:
        The results, and comparisons between them.

    Raises:
        InvalidSpecError: There is no cluster, or a job is invalid.
        NotFoundError: Jobs name LocalQueues that do not exist, and `missing` is `error`.
    """
    given: Any
    if isinstance(before, Mapping):
        clusters, given = dict(before), after
    elif isinstance(after, Cluster | Fleet):
        clusters, given = dict(zip(names, (before, after), strict=True)), jobs
        if len(clusters) < len(names):
            # Equal names would make one entry of two clusters.
            clusters = {f"{names[0]} (1)": before, f"{names[1]} (2)": after}
    else:
        raise InvalidSpecError('compare: give two clusters and jobs, or {"name": cluster, ...} and jobs')
    if not clusters:
        raise InvalidSpecError("compare: no cluster; give one at least")
    # An iterator would be empty for the second cluster.
    table = list(given) if isinstance(given, Iterator) else given  # read once for each cluster
    results = {}
    for index, (name, cluster) in enumerate(clusters.items()):
        # A policy may delete a queue; its jobs then wait, instead of ending the comparison.
        settings: SimulateSettings = {"missing": "wait" if index else "error", **options}
        run = Simulation(cluster, table, threads=threads, **settings)
        tell = None if progress is None else partial(_tell, progress, index, len(clusters))
        run.run(progress=tell or False)
        if tell is not None:
            tell(run.progress())
        results[name] = run.close()
        results[name].policy = name
    return Comparison(results)


def _tell(progress: Callable[[Progress], None], index: int, number: int, own: Progress) -> None:
    """Report the progress of one of several simulations as a part of all of them."""
    whole = msgspec.structs.replace(own, done=index * own.total + own.done, total=number * own.total)
    progress(whole)


def _cells(outcome: QueueOutcome) -> tuple[str, ...]:
    used = [f"{pair} {amount(pair.partition('/')[2], round(value))}" for pair, value in outcome.mean_usage.items()]
    return (
        f"{outcome.admitted}/{outcome.jobs}",
        ", ".join(used) or "0",
        share_text(outcome.mean_share),
        share_text(outcome.peak_share),
        duration(outcome.waited),
        duration(outcome.longest),
        str(outcome.evictions),
    )


def _jobs(change: JobChange) -> tuple[str, str]:
    """Return the outcome of a job under two policies; the second one ends with the difference of the waits."""
    before, after = change.before, change.after
    first, last = (_job(outcome, flavors=before.flavors != after.flavors) for outcome in (before, after))
    # The end of the run cuts the wait of a job that did not start.
    longer = 0.0 if None in (before.started, after.started) else after.waited - before.waited
    return first, f"{last} ({'+' if longer > 0 else ''}{duration(longer)})" if longer else last


def _job(outcome: JobOutcome, *, flavors: bool) -> str:
    waited = f"{'waits' if outcome.started is not None else 'does not start in'} {duration(outcome.waited)}"
    names = sorted({flavor for own in outcome.flavors.values() for flavor in own.values()}) if flavors else []
    times = "once" if outcome.evictions == 1 else f"{outcome.evictions} times"
    evicted = f", evicted {times}" if outcome.evictions else ""
    reason = f": {outcome.reason}" if outcome.reason else ""
    return f"{waited}{', on ' + ', '.join(names) if names else ''}{evicted}{reason}"
