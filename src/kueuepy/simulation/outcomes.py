"""Outcomes of a simulation by job and by ClusterQueue, for comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.engine.cached import cached_property
from kueuepy.simulation.history import HistoryTable, Move, history_of
from kueuepy.simulation.series import pieces
from kueuepy.tables.columns import exact, is_named

if TYPE_CHECKING:
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.figures import Kpis
    from kueuepy.simulation.recorded import PreemptionLoop
    from kueuepy.simulation.result import Result

_WAITING, _DEACTIVATED = "Waiting", "Deactivated"


class JobOutcome(msgspec.Struct, frozen=True):
    """The outcome of one job.

    Attributes:
        cluster_queue: Its ClusterQueue; empty if there is none.
        started: The time of its last quota reservation, in seconds after the start; `None` if it never got quota.
        flavors: The flavor of each resource at that time, by pod set.
        waited: Its total waiting time in seconds, up to the end of the simulation if it still waits.
        evictions: Number of its evictions.
        reason: Kueue's reason why it waits at the end or was deactivated; empty otherwise.
        arrived: Its submission time, in seconds after the start.
        finished: The time at which it finished, in seconds after the start; `None` if it did not finish.
        lost: The progress lost by evictions multiplied by the quota held, in amount times seconds by `flavor/resource`;
            thousandths for cpu.
    """

    cluster_queue: str
    started: float | None
    flavors: dict[str, dict[str, str]]
    waited: float
    evictions: int
    reason: str
    arrived: float = 0.0
    finished: float | None = None
    lost: dict[str, float] = {}


class QueueOutcome(msgspec.Struct, frozen=True):
    """The outcome for one ClusterQueue.

    Attributes:
        jobs: Number of submitted jobs.
        admitted: Number of jobs that got quota at least once.
        usage: Usage at the end by `flavor/resource`, in thousandths for cpu.
        mean_usage: Time-weighted mean of the usage; usage at the end if the simulation took no time.
        share: Weighted dominant resource share at the end, as in Kueue's status: the borrowed quota in thousandths (‰)
            of the lendable quota of its cohort, divided by its weight.
        mean_share: Time-weighted mean of the share; share at the end if the simulation took no time.
        peak_share: Largest share.
        waited: Mean waiting time of its jobs, in seconds.
        longest: Longest waiting time of its jobs, in seconds.
        evictions: Number of evictions of its jobs.
    """

    jobs: int
    admitted: int
    usage: dict[str, int]
    mean_usage: dict[str, float]
    share: float
    mean_share: float
    peak_share: float
    waited: float
    longest: float
    evictions: int


class Run:
    """The outcomes under one policy, computed on demand."""

    def __init__(self, result: Result) -> None:
        """Store the result."""
        self.result = result

    @property
    def seconds(self) -> float:
        """Length of the simulation, in seconds of virtual time."""
        return self.result.seconds

    @property
    def kpis(self) -> Kpis:
        """The metrics of the simulation."""
        return self.result.kpis

    @property
    def loops(self) -> tuple[PreemptionLoop, ...]:
        """The preemption loops that were found."""
        return self.result.loops

    @property
    def scheduler(self) -> Scheduler:
        """The Scheduler at the end of the simulation."""
        return self.result.scheduler

    @cached_property
    def keys(self) -> list[str]:
        """The key of each job's Workload (`namespace/name`), by row."""
        queues = self.result.jobs["queue"]
        spaces = [name.partition("/")[0] for name in queues.names]
        return [f"{spaces[code]}/{self.result.name_of(row)}" for row, code in enumerate(queues.codes.tolist())]

    @cached_property
    def history(self) -> HistoryTable:
        """Shares, usage and queue lengths over time."""
        return history_of(self.result)

    @cached_property
    def _assigned(self) -> list[dict[str, dict[str, str]]]:
        """The flavors by pod set and resource, for each assignment."""
        found = []
        for assigned in self.result.totals["assigned"]:
            by_pod_set: dict[str, dict[str, str]] = {}
            for pod_set, resource, flavor, _ in assigned:
                by_pod_set.setdefault(pod_set, {})[resource] = flavor
            found.append(by_pod_set)
        return found

    @cached_property
    def jobs(self) -> dict[str, JobOutcome]:
        """The outcome of each job by key, including Workloads and jobs of the cluster itself."""
        jobs, runs = self.result.jobs, self.result.runs
        last, lost = self._last_runs(), self._lost()
        state, reason, queue = jobs["state"], jobs["reason"], jobs["cluster_queue"]
        waited, evictions, submit, end = (jobs[name] for name in ("waited", "evictions", "submit", "end"))
        found = {}
        for row, key in enumerate(self.keys):
            run = last.get(row)
            found[key] = JobOutcome(
                queue[row] or "",
                None if run is None else float(runs["reserved"][run]),
                {} if run is None else self._assigned[int(runs["assignment"][run])],
                float(waited[row]),
                int(evictions[row]),
                (reason[row] or "") if state[row] in (_WAITING, _DEACTIVATED) else "",
                float(submit[row]),
                float(end[row]) if state[row] == "Finished" else None,
                lost.get(row, {}),
            )
        return found

    def _last_runs(self) -> dict[int, int]:
        """Return, for each job, the row of its last run in the table of runs."""
        runs = self.result.runs
        order = np.argsort(runs["run"], kind="stable")
        return dict(zip(runs["job"][order].tolist(), order.tolist(), strict=True))

    def _lost(self) -> dict[int, dict[str, float]]:
        """Return the work that each evicted job lost, by row and `flavor/resource`."""
        runs, found = self.result.runs, dict[int, dict[str, float]]()
        evicted = is_named(runs["outcome"], "Preempted") | is_named(runs["outcome"], "Evicted")
        for run in np.flatnonzero(evicted).tolist():
            self._add_lost(found.setdefault(int(runs["job"][run]), {}), run)
        return found

    def _add_lost(self, lost: dict[str, float], run: int) -> None:
        runs = self.result.runs
        for _, resource, flavor, amount in self.result.totals["assigned"][int(runs["assignment"][run])]:
            cell = f"{flavor}/{resource}"
            lost[cell] = lost.get(cell, 0.0) + amount * float(runs["lost"][run])

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """Quota reservations and evictions, in chronological order."""
        runs = self.result.runs
        admissions = zip(runs["job"].tolist(), runs["reserved"].tolist(), runs["assignment"].tolist(), strict=True)
        given = {(job, at): self._assigned[code] for job, at, code in admissions}
        decisions, keys, found = self.result.decisions, self.keys, []
        names = ("kind", "job", "seconds", "cluster_queue", "preemptor", "reason", "rule")
        for kind, job, at, queue, by, why, rule in zip(*(decisions[name] for name in names), strict=True):
            if kind == "QuotaReserved":
                found.append(Move(float(at), keys[job], queue or "", kind, given.get((job, at), {})))
            elif kind in ("Evicted", _DEACTIVATED):
                preemptor = keys[by] if by >= 0 else ""
                found.append(Move(float(at), keys[job], queue or "", "Evicted", {}, why or "", rule or "", preemptor))
        return tuple(found)

    @cached_property
    def queues(self) -> dict[str, QueueOutcome]:
        """The outcome of each ClusterQueue, by name."""
        shares, usages = self.result.shares_and_usage()
        jobs = self.result.jobs
        queue = jobs["cluster_queue"]
        started = jobs["runs"] > 0
        means = self._means()
        found = {}
        for name, usage in usages.items():
            rows = is_named(queue, name)
            waited = jobs["waited"][rows]
            mean, share, peak = means.get(name, ({}, None, 0.0))
            found[name] = QueueOutcome(
                jobs=int(rows.sum()),
                admitted=int(started[rows].sum()),
                usage=usage,
                mean_usage={cell: value for cell, value in mean.items() if value},
                share=shares.get(name, 0.0),
                mean_share=shares.get(name, 0.0) if share is None else share,
                peak_share=peak,
                waited=float(waited.mean()) if len(waited) else 0.0,
                longest=float(waited.max(initial=0.0)),
                evictions=int(jobs["evictions"][rows].sum()),
            )
        return found

    def _means(self) -> dict[str, tuple[dict[str, float], float | None, float]]:
        """Return mean usage, mean share (`None` if the simulation took no time) and largest share of each queue."""
        usage, seconds = exact(self.result.usage), self.seconds
        found: dict[str, tuple[dict[str, float], float | None, float]] = {}
        for queue, cell, rows, lengths in pieces(usage, 0.0, seconds, seconds):
            means, share, peak = found.setdefault(queue, ({}, None, 0.0))
            used, shares = usage["used"][rows], usage["share"][rows]
            means[cell] = float((used * lengths).sum() / seconds) if seconds else float(used[-1])
            if seconds:
                share = _mean(shares, lengths, seconds)
            found[queue] = (means, share, max(peak, float(shares.max(initial=0.0))))
        return found


def _mean(values: Any, lengths: Any, seconds: float) -> float:
    holds = lengths > 0  # an infinite share for no time would give NaN
    return float((values[holds] * lengths[holds]).sum() / seconds)
