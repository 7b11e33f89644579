"""Two policies side by side: the same jobs under two configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.explain.words import amount, share_text
from kueuepy.notebook import Sheet, repr_html
from kueuepy.simulation.history import Fact, Move
from kueuepy.simulation.run import JobOutcome, QueueOutcome, Run, run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.kpis import Kpis
    from kueuepy.simulation.picture import Picture

_HEADER = (
    "ClusterQueue",
    "policy",
    "admitted",
    "mean usage",
    "mean share",
    "peak share",
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


class DecisionChange(msgspec.Struct, frozen=True):
    """A moment at which the policies decide otherwise about a job.

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


class Comparison(msgspec.Struct, frozen=True):
    """The same jobs under two policies.

    Attributes:
        names: What the two are called.
        before: The run under the first.
        after: The run under the second.
    """

    names: tuple[str, str]
    before: Run
    after: Run

    @property
    def changes(self) -> tuple[JobChange, ...]:
        """The jobs that fare otherwise: another start, flavor, wait, reason or number of evictions."""
        pairs = [(key, job, self.after.jobs[key]) for key, job in self.before.jobs.items() if key in self.after.jobs]
        return tuple(JobChange(*pair) for pair in pairs if pair[1] != pair[2])

    @property
    def decisions(self) -> tuple[DecisionChange, ...]:
        """The decisions that differ: who gets quota and who is evicted, by moment and job, in order."""
        sides: tuple[_Moments, _Moments] = ({}, {})
        for side, run_ in zip(sides, (self.before, self.after), strict=True):
            for move in run_.moves:
                side.setdefault((move.seconds, move.workload), []).append(move)
        both = {
            moment: tuple(tuple(side.get(moment, ())) for side in sides) for moment in sorted({*sides[0], *sides[1]})
        }
        return tuple(DecisionChange(*moment, *pair) for moment, pair in both.items() if pair[0] != pair[1])

    @property
    def queues(self) -> dict[str, tuple[QueueOutcome | None, QueueOutcome | None]]:
        """Each ClusterQueue under both; `None` where it is not active."""
        names = dict.fromkeys((*self.before.queues, *self.after.queues))
        return {name: (self.before.queues.get(name), self.after.queues.get(name)) for name in names}

    @property
    def kpis(self) -> dict[str, Kpis]:
        """The figures of both runs, by the name of the policy: utilisation, goodput, waits, evenness and so on."""
        return dict(zip(self.names, (self.before.kpis, self.after.kpis), strict=True))

    def rows(self) -> list[tuple[str, ...]]:
        """Two rows of text for each ClusterQueue, one for each policy."""
        return [
            (queue, self.names[i], *_told(outcome))
            for queue, pair in self.queues.items()
            for i, outcome in enumerate(pair)
            if outcome is not None
        ]

    def to_pandas(self) -> Any:
        """A row for each ClusterQueue and policy.

        Raises:
            UnsupportedError: pandas is not installed.
        """
        from kueuepy.tables import Columns  # noqa: PLC0415 - only on use

        rows = [
            {"cluster_queue": queue, "policy": self.names[i], **msgspec.to_builtins(outcome)}
            for queue, pair in self.queues.items()
            for i, outcome in enumerate(pair)
            if outcome is not None
        ]
        names = rows[0] if rows else ()
        return Columns({name: [row[name] for row in rows] for name in names}).to_pandas()

    def picture(self, fact: Fact = "share", cell: str = "") -> Picture:
        """A fact over time under both policies, side by side.

        Args:
            fact: The `share`, the `usage` or the number of `waiting` workloads of each ClusterQueue; or what each
                LocalQueue has `consumed` under admission fair sharing.
            cell: Of usage, the `flavor/resource`, and of what is consumed, the resource; without it the one that
                comes first.
        """
        from kueuepy.simulation.picture import steps  # noqa: PLC0415 - only on use

        if not cell and fact in ("usage", "consumed"):
            tables = (run_.history for run_ in (self.before, self.after))
            cell = min((row["cell"] for table in tables for row in table.rows() if row["fact"] == fact), default="")
        panels = {
            name: run_.history.series(fact, cell)
            for name, run_ in zip(self.names, (self.before, self.after), strict=True)
        }
        title = f"{_TITLES[fact]}{f' ({cell})' if cell else ''}"
        return steps(title, panels, max(self.before.seconds, self.after.seconds))

    def __str__(self) -> str:
        """Both policies queue by queue, then the jobs that fare otherwise."""
        rows = [_HEADER, *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        changes = self.changes
        lines.append(f"{len(changes)} of {len(self.before.jobs)} jobs fare otherwise")
        lines += [f"  {c.workload}: {_job(c.before)} → {_job(c.after)}" for c in changes]
        loops = zip(self.names, (self.before.loops, self.after.loops), strict=True)
        lines += [f"{name}: {loop}" for name, found in loops for loop in found]
        return "\n".join(lines)

    def sheets(self) -> tuple[Sheet, Sheet]:
        """Both policies queue by queue, and the jobs that fare otherwise."""
        changes = [(c.workload, _job(c.before), _job(c.after)) for c in self.changes]
        return Sheet(_HEADER, self.rows()), Sheet(("job", *self.names), changes, "jobs that fare otherwise")

    _repr_html_ = repr_html


def compare(
    before: Cluster, after: Cluster, jobs: Iterable[Any] = (), *, names: tuple[str, str] = ("before", "after")
) -> Comparison:
    """The same jobs under two clusters, or under one with two Configurations.

    Each job comes at its creation time (`submit` of a row), at the start without one; it ends when it has run for its
    `duration`, and never without one. A job that is evicted starts anew. Where `waitForPodsReady` is on, the pods of an
    admitted job are ready at once; nobody answers admission checks. The run ends when nothing happens any more.
    Endless preemption is reported; the run goes on from what holds quota when it was found.

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
        before: The first policy.
        after: The second.
        jobs: Rows, frames, Workloads or manifests of jobs, beside those of the clusters.
        names: What to call the two.

    Raises:
        InvalidSpecError: A job is not valid.
    """
    items = list(jobs)
    return Comparison(names, run(before, items), run(after, items))


_Moments = dict[tuple[float, str], list[Move]]


def _moves(moves: tuple[Move, ...]) -> str:
    return ", ".join(map(str, moves)) or "—"


def _told(outcome: QueueOutcome) -> tuple[str, ...]:
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
