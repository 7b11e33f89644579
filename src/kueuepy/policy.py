"""Two policies side by side: the same jobs under two configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.explain_words import amount
from kueuepy.policy_run import JobOutcome, QueueOutcome, Run, run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.cluster import Cluster

_HEADER = ("ClusterQueue", "", "admitted", "usage", "share", "waited", "evictions")


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
    def queues(self) -> dict[str, tuple[QueueOutcome | None, QueueOutcome | None]]:
        """Each ClusterQueue under both; `None` where it is not active."""
        names = dict.fromkeys((*self.before.queues, *self.after.queues))
        return {name: (self.before.queues.get(name), self.after.queues.get(name)) for name in names}

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
        from kueuepy.frames import Columns  # noqa: PLC0415 - only on use

        rows = [
            {"cluster_queue": queue, "policy": self.names[i], **msgspec.to_builtins(outcome)}
            for queue, pair in self.queues.items()
            for i, outcome in enumerate(pair)
            if outcome is not None
        ]
        names = rows[0] if rows else ()
        return Columns({name: [row[name] for row in rows] for name in names}).to_pandas()

    def __str__(self) -> str:
        """Both policies queue by queue, then the jobs that fare otherwise."""
        rows = [_HEADER, *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        changes = self.changes
        lines.append(f"{len(changes)} of {len(self.before.jobs)} jobs fare otherwise")
        lines += [f"  {c.workload}: {_job(c.before)} → {_job(c.after)}" for c in changes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same as two tables, for notebooks."""
        from kueuepy.html import table  # noqa: PLC0415 - only a notebook asks

        changes = [(c.workload, _job(c.before), _job(c.after)) for c in self.changes]
        return table(_HEADER, self.rows()) + table(("job", *self.names), changes, "jobs that fare otherwise")


def compare(
    before: Cluster, after: Cluster, jobs: Iterable[Any] = (), *, names: tuple[str, str] = ("before", "after")
) -> Comparison:
    """The same jobs under two clusters, or under one with two Configurations.

    Each job comes at its creation time (`submit` of a row), at the start without one; it ends when it has run for its
    `duration`, and never without one. A job that is evicted starts anew. The run ends when nothing happens any more.

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


def _told(outcome: QueueOutcome) -> tuple[str, ...]:
    used = [f"{cell} {amount(cell.partition('/')[2], round(value))}" for cell, value in outcome.mean_usage.items()]
    return (
        f"{outcome.admitted}/{outcome.jobs}",
        ", ".join(used) or "0",
        f"{outcome.share:g}",
        f"{outcome.waited:g} s",
        str(outcome.evictions),
    )


def _job(outcome: JobOutcome) -> str:
    start = f"started at {outcome.started:g} s" if outcome.started is not None else "never started"
    flavors = sorted({flavor for flavors in outcome.flavors.values() for flavor in flavors.values()})
    evicted = f", evicted {outcome.evictions} times" if outcome.evictions else ""
    waits = f", waits: {outcome.reason}" if outcome.reason else ""
    return f"{start}{' on ' + ', '.join(flavors) if flavors else ''}{evicted}{waits}"
