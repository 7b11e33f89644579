"""The entries of a comparison of policies: the outcomes of jobs and ClusterQueues, and the decisions about jobs."""

import math
from typing import Literal

import msgspec
import numpy as np

from kueuepy.errors import StateError
from kueuepy.simulation.columns import keys_of
from kueuepy.simulation.grouped import Series
from kueuepy.simulation.recorded import Recorded
from kueuepy.simulation.result import Result
from kueuepy.tables.columns import exact, is_named

_WAITING, _DEACTIVATED = "Waiting", "Deactivated"
_MOST_MOVES = 4


class JobOutcome(msgspec.Struct, frozen=True):
    """The outcome of one job.

    Attributes:
        cluster_queue: The job's ClusterQueue; empty if the job has none.
        started: The time of the job's last quota reservation, in seconds after the start; `None` if quota was never
            reserved for the job.
        flavors: The flavor of each resource in the last quota reservation, by pod set.
        waited: The job's total waiting time in seconds, up to the end of the simulation if the job still waits.
        evictions: Number of evictions of the job.
        reason: Kueue's reason why the job waits at the end or was deactivated; empty otherwise.
        arrived: The job's submission time, in seconds after the start.
        finished: The time at which the job finished, in seconds after the start; `None` if the job did not finish.
        lost: By `flavor/resource`, the progress lost to evictions, multiplied by the quota held. The unit is
            millicore-seconds for CPU, and the resource's own unit multiplied by seconds for any other resource.
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


class JobChange(msgspec.Struct, frozen=True):
    """A job with different outcomes under two policies.

    Attributes:
        workload: The key of the job's Workload, `namespace/name`.
        before: The outcome under the first policy.
        after: The outcome under the second policy.
    """

    workload: str
    before: JobOutcome
    after: JobOutcome


class Move(msgspec.Struct, frozen=True):
    """A quota reservation or an eviction.

    Attributes:
        seconds: The time, in seconds after the start of the simulation.
        workload: The key of the job's Workload, `namespace/name`.
        cluster_queue: The ClusterQueue of the Workload.
        kind: `QuotaReserved` or `Evicted`, as in Kueue's events.
        flavors: For a reservation, the flavor of each resource, by pod set.
        reason: For an eviction, Kueue's reason.
        rule: For a preemption, the rule: `InClusterQueue`, `InCohortReclamation`, `InCohortFairSharing` or
            `InCohortReclaimWhileBorrowing`.
        preemptor: For a preemption, the key of the preempting workload.
    """

    seconds: float
    workload: str
    cluster_queue: str
    kind: Literal["QuotaReserved", "Evicted"]
    flavors: dict[str, dict[str, str]]
    reason: str = ""
    rule: str = ""
    preemptor: str = ""

    def __str__(self) -> str:
        """Return a description of the decision, without the time and the workload."""
        if self.kind == "QuotaReserved":
            names = sorted({flavor for flavors in self.flavors.values() for flavor in flavors.values()})
            return f"gets quota{' on ' + ', '.join(names) if names else ''}"
        return f"is preempted by {self.preemptor}: {self.rule}" if self.rule else f"is evicted: {self.reason}"


class DecisionChange(msgspec.Struct, frozen=True):
    """A point in time at which two policies make different decisions about a job.

    Attributes:
        seconds: The time, in seconds after the start of the simulation.
        workload: The key of the job's Workload, `namespace/name`.
        before: The decisions under the first policy; may be empty.
        after: The decisions under the second policy; may be empty.
    """

    seconds: float
    workload: str
    before: tuple[Move, ...]
    after: tuple[Move, ...]

    def __str__(self) -> str:
        """Return a description in one line."""
        return f"at {self.seconds:g} s {self.workload} {_few(self.before)} → {_few(self.after)}"


def _few(moves: tuple[Move, ...]) -> str:
    """Return only the first decisions at a point in time, because a preemption loop can cause thousands of them."""
    more = f", and {len(moves) - _MOST_MOVES} more moves" if len(moves) > _MOST_MOVES else ""
    return ", ".join(map(str, moves[:_MOST_MOVES])) + more or "—"


class QueueOutcome(msgspec.Struct, frozen=True):
    """The outcome for one ClusterQueue.

    Attributes:
        jobs: Number of submitted jobs.
        admitted: Number of jobs for which quota was reserved at least once.
        usage: Usage at the end by `flavor/resource`, in millicores for CPU.
        mean_usage: Time-weighted mean of the usage; usage at the end if no virtual time passed in the simulation.
        share: Weighted dominant resource share at the end, in thousandths (‰), as in Kueue's status. The share is the
            borrowed quota relative to the lendable quota of the cohort, divided by the weight of the ClusterQueue.
        mean_share: Time-weighted mean of the share; share at the end if no virtual time passed in the simulation.
        peak_share: Largest share.
        waited: Mean waiting time of the ClusterQueue's jobs, in seconds.
        longest: Longest waiting time of the ClusterQueue's jobs, in seconds.
        evictions: Number of evictions of the ClusterQueue's jobs.
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


def jobs_of(run: Recorded) -> dict[str, JobOutcome]:
    """Return the outcome of each job by key, including the Workloads and jobs that the cluster itself contains."""
    jobs, runs, assigned, lost = run.jobs, run.runs, _assigned(run), _lost(run)
    order = np.argsort(runs["run"], kind="stable")
    # Later runs replace earlier ones: the last reservation counts.
    last = dict(zip(runs["job"][order].tolist(), order.tolist(), strict=True))
    names = ("cluster_queue", "waited", "evictions", "reason", "submit", "end", "state")
    found = {}
    for row, (key, queue, waited, evictions, reason, submit, end, state) in enumerate(
        zip(keys_of(run.jobs), *(jobs[name] for name in names), strict=True)
    ):
        own = last.get(row)
        found[key] = JobOutcome(
            queue or "",
            None if own is None else float(runs["reserved"][own]),
            {} if own is None else assigned[int(runs["assignment"][own])],
            float(waited),
            int(evictions),
            # The last reason of a job that runs is out of date.
            (reason or "") if state in (_WAITING, _DEACTIVATED) else "",
            float(submit),
            float(end) if state == "Finished" else None,
            lost.get(row, {}),
        )
    return found


def decisions_of(run: Recorded, until: float = math.inf) -> dict[tuple[float, str], list[Move]]:
    """Return the quota reservations and evictions by time and workload key.

    Args:
        run: The simulation.
        until: The latest time of the decisions to return, in seconds.
    """
    runs, assigned, keys = run.runs, _assigned(run), keys_of(run.jobs)
    # The objects of a long run would not fit into memory; often only its beginning is asked for.
    early = np.flatnonzero(runs["reserved"] <= until)
    admissions = zip(*(runs[name][early].tolist() for name in ("job", "reserved", "assignment")), strict=True)
    given = {(job, at): assigned[code] for job, at, code in admissions}
    names = ("kind", "job", "seconds", "cluster_queue", "preemptor", "reason", "rule")
    found: dict[tuple[float, str], list[Move]] = {}
    rows = np.flatnonzero(run.decisions["seconds"] <= until).tolist()
    columns = [run.decisions[name] for name in names]
    for kind, job, at, queue, by, why, rule in ([column[row] for column in columns] for row in rows):
        key = float(at), keys[job]
        if kind == "QuotaReserved":
            move = Move(*key, queue or "", kind, given.get((job, at), {}))
        elif kind in ("Evicted", _DEACTIVATED):
            move = Move(*key, queue or "", "Evicted", {}, why or "", rule or "", keys[by] if by >= 0 else "")
        else:
            continue
        found.setdefault(key, []).append(move)
    return found


def queues_of(result: Result) -> dict[str, QueueOutcome]:
    """Return the outcome of each ClusterQueue, by name."""
    try:
        shares, usages = result.shares_and_usage()
    except StateError:  # a result from files has no engine, but its series end with the same values
        shares, usages = _last(result)
    jobs, means, found = result.jobs, _means(result), {}
    for name, usage in usages.items():
        rows = is_named(jobs["cluster_queue"], name)
        waited = jobs["waited"][rows]
        mean, share, peak = means.get(name, ({}, None, 0.0))
        found[name] = QueueOutcome(
            jobs=int(rows.sum()),
            admitted=int((jobs["runs"][rows] > 0).sum()),
            usage=usage,
            mean_usage={pair: value for pair, value in mean.items() if value},
            share=shares.get(name, 0.0),
            mean_share=shares.get(name, 0.0) if share is None else share,
            peak_share=peak,
            waited=float(waited.mean()) if len(waited) else 0.0,
            longest=float(waited.max(initial=0.0)),
            evictions=int(jobs["evictions"][rows].sum()),
        )
    return found


def _last(run: Recorded) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
    """Return the last recorded share of each ClusterQueue, and its last usage by `flavor/resource`."""
    usage = Series(exact(run.usage))
    ends = usage.groups.bounds[1:] - 1
    last = [usage.column(name)[ends].tolist() for name in ("share", "used")]
    shares: dict[str, float] = {}
    usages: dict[str, dict[str, int]] = {name: {} for name in run.totals["queues"]}
    for (queue, pair), share, used in zip(usage.keys, *last, strict=True):
        shares[queue] = share
        usages.setdefault(queue, {})[pair] = int(used)
    return shares, usages


def _assigned(run: Recorded) -> list[dict[str, dict[str, str]]]:
    """Return the flavors by pod set and resource, for each assignment."""
    found = []
    for assigned in run.totals["assigned"]:
        by_pod_set: dict[str, dict[str, str]] = {}
        for pod_set, resource, flavor, _ in assigned:
            by_pod_set.setdefault(pod_set, {})[resource] = flavor
        found.append(by_pod_set)
    return found


def _lost(run: Recorded) -> dict[int, dict[str, float]]:
    """Return the work that each evicted job lost, by row and `flavor/resource`."""
    runs, found = run.runs, dict[int, dict[str, float]]()
    evicted = is_named(runs["outcome"], "Preempted") | is_named(runs["outcome"], "Evicted")
    for row in np.flatnonzero(evicted).tolist():
        lost = found.setdefault(int(runs["job"][row]), {})
        for _, resource, flavor, amount in run.totals["assigned"][int(runs["assignment"][row])]:
            pair = f"{flavor}/{resource}"
            lost[pair] = lost.get(pair, 0.0) + amount * float(runs["lost"][row])
    return found


def _means(run: Recorded) -> dict[str, tuple[dict[str, float], float | None, float]]:
    """Return each queue's mean usage by `flavor/resource`, mean share (`None` if no time passed) and largest share."""
    usage, seconds = Series(exact(run.usage)), run.seconds
    used, share, lengths = usage.column("used"), usage.column("share"), usage.lengths(0.0, seconds)
    means = usage.integrals(used, lengths) / seconds if seconds else used[usage.groups.bounds[1:] - 1]
    holds = lengths > 0  # an infinite share for no time would give NaN
    shares = usage.groups.where(holds).sums(share[holds] * lengths[holds])
    found: dict[str, tuple[dict[str, float], float | None, float]] = {}
    rows = zip(usage.keys, means.tolist(), shares.tolist(), usage.groups.largest(share).tolist(), strict=True)
    for (queue, pair), mean, total, peak in rows:
        own, _, highest = found.get(queue, ({}, None, 0.0))
        own[pair] = float(mean)
        found[queue] = (own, total / seconds if seconds else None, max(highest, peak))
    return found
