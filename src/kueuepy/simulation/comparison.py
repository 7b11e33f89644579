"""Policies side by side: the same jobs under several configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.words import counted, verb
from kueuepy.explain.words import amount, share_text
from kueuepy.fleet import Fleet
from kueuepy.notebook import Sheet, repr_html
from kueuepy.simulation.catalogue import FLEET_FIGURES, figure_text, shown
from kueuepy.simulation.history import Fact, Move
from kueuepy.simulation.outcomes import JobOutcome, QueueOutcome, Run
from kueuepy.simulation.pairs import differences
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.warn import AFTER_LAST
from kueuepy.tables import Columns
from kueuepy.tables.framed import joined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.simulation.figures import Kpis
    from kueuepy.simulation.picture import Picture
    from kueuepy.simulation.result import Result
    from kueuepy.simulation.table import Jobs

_HEADER = (
    "ClusterQueue",
    "policy",
    "admitted",
    "mean usage",
    "mean share (‰)",
    "peak share (‰)",
    "mean wait",
    "longest",
    "evictions",
)
_TITLES = {
    "share": "weighted share of each ClusterQueue",
    "usage": "usage of each ClusterQueue",
    "waiting": "workloads that wait in each ClusterQueue",
    "consumed": "decayed usage of each LocalQueue",
}
_SHOWN = 20
_TWO = 2
_MOST_MOVES = 4


class DecisionChange(msgspec.Struct, frozen=True):
    """A moment at which two policies decide otherwise about a job.

    Attributes:
        seconds: When, in seconds after the start of the run.
        workload: The job's key.
        before: What the first policy decided then; nothing, perhaps.
        after: What the second did.
    """

    seconds: float
    workload: str
    before: tuple[Move, ...]
    after: tuple[Move, ...]

    def __str__(self) -> str:
        """The moment in one line."""
        return f"at {self.seconds:g} s {self.workload} {_moves(self.before)} → {_moves(self.after)}"


class JobChange(msgspec.Struct, frozen=True):
    """A job that fares otherwise.

    Attributes:
        workload: Its key.
        before: What became of it under the first policy.
        after: What became of it under the second.
    """

    workload: str
    before: JobOutcome
    after: JobOutcome


@checked_methods
class Comparison:
    """The same jobs under several policies; `before` and `after` are the first and the last.

    `changes`, `decisions` and `hurt` set single jobs under the first policy beside those under the last; of more than
    two policies, `between(a, b)` compares any other pair. `Comparison({"a": result, "b": result})` joins results.

    Attributes:
        names: What the policies are called.
        results: What came of each, by name.
    """

    def __init__(self, results: Mapping[str, Result]) -> None:
        """Hold the results, in order.

        Raises:
            InvalidSpecError: There is none.
        """
        if not results:
            raise InvalidSpecError("comparison: no result; give one at least")
        self.results = dict(results)
        self.names = tuple(self.results)
        self._runs = {name: Run(result) for name, result in self.results.items()}

    @property
    def before(self) -> Run:
        """The run under the first policy."""
        return self._runs[self.names[0]]

    @property
    def after(self) -> Run:
        """The run under the last policy."""
        return self._runs[self.names[-1]]

    def __getitem__(self, name: str) -> Result:
        """What came of a policy.

        Raises:
            NotFoundError: There is no policy of this name.
        """
        if name not in self.results:
            raise NotFoundError(f'comparison: "{name}" names no policy; there are {", ".join(self.names)}')
        return self.results[name]

    def between(self, first: str, second: str) -> Comparison:
        """Two of the policies, whose jobs and decisions are then set beside each other."""
        return Comparison({first: self[first], second: self[second]})

    def _pair(self) -> str:
        """Say which two policies single jobs are compared under, where there are more."""
        if len(self.names) <= _TWO:
            return ""
        return f" under {self.names[-1]} (the last policy) than under {self.names[0]} (the first; between(a, b) others)"

    def differences(self) -> Columns:
        """Return how much larger figures are than under the first policy, job by job, with 95 % intervals.

        A row for each other policy and figure: `policy`, `figure`, the number of `jobs` that have the figure under both
        policies, their `first` and `second` mean, the mean `difference` (second minus first), and where its interval
        begins and ends (`low`, `high`; NaN of fewer than 640 jobs). Both policies run the same jobs, so that what
        differs between jobs drops out: such an interval is narrower than those of the two means. Waits are in seconds.
        """
        return differences(self.results)

    def tidy(self) -> Columns:
        """Return the figures of all policies, one value a row: `policy`, then the columns of `Result.tidy`."""
        return joined({name: result.tidy() for name, result in self.results.items()}, "policy")

    @cached_property
    def changes(self) -> tuple[JobChange, ...]:
        """The jobs that fare otherwise under the last policy: another start, flavor, wait, reason or evictions."""
        before, after = self.before.jobs, self.after.jobs
        pairs = [(key, job, after[key]) for key, job in before.items() if key in after]
        return tuple(JobChange(*pair) for pair in pairs if pair[1] != pair[2])

    @cached_property
    def decisions(self) -> tuple[DecisionChange, ...]:
        """The decisions that differ: who gets quota and who is evicted, by moment and job, in order."""
        sides: tuple[_Moments, _Moments] = ({}, {})
        for side, run in zip(sides, (self.before, self.after), strict=True):
            for move in run.moves:
                side.setdefault((move.seconds, move.workload), []).append(move)
        both = {
            moment: tuple(tuple(side.get(moment, ())) for side in sides) for moment in sorted({*sides[0], *sides[1]})
        }
        return tuple(DecisionChange(*moment, *pair) for moment, pair in both.items() if pair[0] != pair[1])

    @cached_property
    def queues(self) -> dict[str, tuple[QueueOutcome | None, ...]]:
        """Each ClusterQueue under all policies; `None` where it is not active."""
        names = dict.fromkeys(name for run in self._runs.values() for name in run.queues)
        return {name: tuple(run.queues.get(name) for run in self._runs.values()) for name in names}

    @property
    def kpis(self) -> dict[str, Kpis]:
        """The figures of each run, by the name of the policy: utilisation, goodput, waits, evenness and so on."""
        return {name: result.kpis for name, result in self.results.items()}

    def figures(self) -> list[tuple[str, ...]]:
        """The figures by which people choose, one a row, a column for each policy; times and hours as they are read."""
        rows = []
        for figure in self._shown():
            values = [getattr(kpis, figure) for kpis in self.kpis.values()]
            cells = dict.fromkeys(cell for value in values if isinstance(value, dict) for cell in value)
            rows += [
                (f"{figure} {cell}", *(figure_text(figure, value.get(cell, 0.0)) for value in values)) for cell in cells
            ]
            if not any(isinstance(value, dict) for value in values):
                rows.append((figure, *(figure_text(figure, value) for value in values)))
        return rows

    def _shown(self) -> tuple[str, ...]:
        """The figures to show; those of dispatching if all policies are fleets."""
        of_fleets = [name for name in FLEET_FIGURES if all(hasattr(kpis, name) for kpis in self.kpis.values())]
        return (*shown("policies"), *of_fleets)

    def most_delayed(self, most: int = _SHOWN) -> list[JobChange]:
        """The jobs that wait longer under the last policy than under the first, the worst first."""
        worse = [change for change in self.changes if change.after.waited > change.before.waited]
        return sorted(worse, key=lambda change: change.before.waited - change.after.waited)[:most]

    def rows(self) -> list[tuple[str, ...]]:
        """Rows of text for each ClusterQueue, one for each policy."""
        return [
            (queue, self.names[i], *_cells(outcome))
            for queue, all_ in self.queues.items()
            for i, outcome in enumerate(all_)
            if outcome is not None
        ]

    def to_pandas(self) -> Any:
        """A row for each ClusterQueue and policy.

        Raises:
            UnsupportedError: pandas is not installed.
        """
        rows = [
            {"cluster_queue": queue, "policy": self.names[i], **msgspec.to_builtins(outcome)}
            for queue, all_ in self.queues.items()
            for i, outcome in enumerate(all_)
            if outcome is not None
        ]
        names = rows[0] if rows else ()
        return Columns({name: [row[name] for row in rows] for name in names}).to_pandas()

    def picture(self, fact: Fact = "share", flavor_resource: str = "") -> Picture:
        """A fact over time under all policies, side by side.

        Args:
            fact: The `share`, the `usage` or the number of `waiting` workloads of each ClusterQueue; or what each
                LocalQueue has `consumed` under admission fair sharing.
            cell: Of usage, the `flavor/resource`, and of what is consumed, the resource; without it the one that
                comes first.
        """
        from kueuepy.simulation.picture import steps  # noqa: PLC0415 - only on use

        if not cell and fact in ("usage", "consumed"):
            tables = (run.history for run in self._runs.values())
            cell = min(
                (row["flavor_resource"] for table in tables for row in table.rows() if row["fact"] == fact), default=""
            )
        panels = {name: run.history.series(fact, cell) for name, run in self._runs.items()}
        title = f"{_TITLES[fact]}{f' ({cell})' if cell else ''}"
        return steps(title, panels, max(run.seconds for run in self._runs.values()))

    def _warnings(self) -> list[str]:
        every = [(name, text) for name, result in self.results.items() for text in result.warnings]
        return [f"{name}: {text}" for name, text in every if AFTER_LAST not in text]

    def __str__(self) -> str:
        """Warnings, all policies queue by queue, and the first of the jobs that fare otherwise."""
        lines = [*self._warnings(), *_aligned([_HEADER, *self.rows()])]
        changes = self.changes
        lines.append(
            f"{len(changes)} of {counted(len(self.before.jobs), 'job')} {verb(len(changes), 'fare')} otherwise"
            f"{self._pair()}"
        )
        lines += [f"  {c.workload}: {_job(c.before)} → {_job(c.after)}" for c in changes[:_SHOWN]]
        if len(changes) > _SHOWN:
            lines.append(f"  and {len(changes) - _SHOWN} more: see .changes")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Warnings, and the figures of all policies side by side."""
        return "\n".join([*self._warnings(), *_aligned([("", *self.names), *self.figures()])])

    def sheets(self) -> tuple[Sheet, ...]:
        """What to know before, figures, queues, and the first jobs that fare otherwise."""
        first, last = self.names[0], self.names[-1]
        changes = [(c.workload, _job(c.before), _job(c.after)) for c in self.changes[:_SHOWN]]
        caption = f"jobs that fare otherwise{self._pair()}: {len(self.changes)} of {len(self.before.jobs)}"
        warned = [Sheet(("to know before",), [(text,) for text in self._warnings()])] if self._warnings() else []
        return (
            *warned,
            Sheet(("figure", *self.names), self.figures()),
            Sheet(_HEADER, self.rows()),
            Sheet(("job", first, last), changes, caption),
        )

    _repr_html_ = repr_html


@checked
def compare(
    before: Cluster | Fleet | Mapping[str, Cluster | Fleet],
    after: Cluster | Fleet | Jobs | Iterable[Any] = (),
    jobs: Jobs | Iterable[Any] = (),
    *,
    names: tuple[str, str] = ("before", "after"),
    **options: Any,
) -> Comparison:
    """The same jobs under several clusters: `compare(before, after, jobs)` or `compare({"name": cluster, ...}, jobs)`.

    A cluster may be a `Fleet`.

    Each job comes at its creation time (`submit` of a row), at the start without one; it ends when it has run for its
    runtime (`duration`), and never without one. A job that is evicted starts anew, unless `model` says otherwise.
    Where `waitForPodsReady` is on, the pods of an admitted job are ready at once; nobody answers admission checks. The
    runs end when nothing happens any more. Endless preemption is reported, and held.

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
        before: The first policy, or all of them by name.
        after: The second policy; of several, the jobs.
        jobs: A `Jobs`, or rows, frames, Workloads or manifests of jobs, beside those of the clusters.
        names: What to call two.
        options: As `simulate` takes them: `model`, `events`, `clock`, `delays`, `until`, `warmup`, `seed`, `on_loop`,
            `missing`, which is `wait` by default.

    Raises:
        InvalidSpecError: A job is not valid.
    """
    given: Any
    if isinstance(before, Mapping):
        clusters, given = dict(before), after
    elif isinstance(after, Cluster | Fleet):
        clusters, given = dict(zip(names, (before, after), strict=True)), jobs
        if len(clusters) < len(names):
            clusters = {f"{names[0]} (1)": before, f"{names[1]} (2)": after}
    else:
        raise InvalidSpecError('compare: give two clusters and jobs, or {"name": cluster, ...} and jobs')
    if not clusters:
        raise InvalidSpecError("compare: no cluster; give one at least")
    table = list(given) if isinstance(given, Iterator) else given  # read once for each cluster
    results = {}
    for name, cluster in clusters.items():
        run = Simulation(cluster, table, **{"missing": "wait", **options})
        run.run()
        results[name] = run.result()
    return Comparison(results)


_Moments = dict[tuple[float, str], list[Move]]


def _moves(moves: tuple[Move, ...]) -> str:
    """The first moves of one moment: where preemption does not end, there are many."""
    more = f", and {len(moves) - _MOST_MOVES} more moves" if len(moves) > _MOST_MOVES else ""
    return ", ".join(map(str, moves[:_MOST_MOVES])) + more or "—"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cells(outcome: QueueOutcome) -> tuple[str, ...]:
    used = [f"{cell} {amount(cell.partition('/')[2], round(value))}" for cell, value in outcome.mean_usage.items()]
    return (
        f"{outcome.admitted}/{outcome.jobs}",
        ", ".join(used) or "0",
        share_text(outcome.mean_share),
        share_text(outcome.peak_share),
        f"{outcome.waited:g} s",
        f"{outcome.longest:g} s",
        str(outcome.evictions),
    )


def _job(outcome: JobOutcome) -> str:
    start = f"started at {outcome.started:g} s" if outcome.started is not None else "never started"
    flavors = sorted({flavor for flavors in outcome.flavors.values() for flavor in flavors.values()})
    times = "once" if outcome.evictions == 1 else f"{outcome.evictions} times"
    evicted = f", evicted {times}" if outcome.evictions else ""
    waits = f", waits: {outcome.reason}" if outcome.reason else ""
    return f"{start}{' on ' + ', '.join(flavors) if flavors else ''}{evicted}{waits}"
