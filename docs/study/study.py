"""The simulations of the study: policies, bootstrapped weeks, and the metrics of each week."""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import kueuepy as kq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

GPU = "nvidia.com/gpu"
FLAVOR_RESOURCE = f"default/{GPU}"
DAY, HOUR = 86_400, 3_600
BEFORE, MEASURED, AFTER = 7, 7, 3
"""Days of a simulation: the warm-up, the week that is measured, and days that keep the cluster busy after it."""
WEEKS = 39
"""Number of bootstrapped weeks: the range of 39 values contains the next one with a probability of 38/40 = 95 %."""
LOADS = (0.7, 0.85, 1.0, 1.1)
LATE = 60.0
"""A job gets its nominal quota late if it waits for longer than this time, in seconds."""
GRACE = 30.0
"""Time for which an evicted job keeps its quota, in seconds."""
HOST, RACK = 8, 4
"""GPUs of a host, and hosts of a rack."""
_AMPLE = 2**50
"""The capacity of a host for resources other than GPUs, which no job exceeds."""

_RESTART = kq.sim.RunModel(grace=GRACE)
_CHECKPOINT = kq.sim.RunModel("checkpoint", every="30m", cost="10s", restore="2m", grace=GRACE)
_FAIR = kq.Configuration(fair_sharing=kq.objects.FairSharingConfig())


class Policy(NamedTuple):
    """A policy of the study.

    Attributes:
        name: The name of the policy in the results.
        title: The name of the policy in tables.
        cohort: Whether all ClusterQueues share one cohort.
        reclaim: The value of `reclaimWithinCohort`.
        fair: Whether fair sharing is enabled.
        strict: Whether the queueing strategy is StrictFIFO instead of BestEffortFIFO.
        topology: Whether pods are placed on hosts of 8 GPUs.
        model: How an evicted job continues: from its start, or from a checkpoint, at a cost.
    """

    name: str
    title: str
    cohort: bool = True
    reclaim: str = "Never"
    fair: bool = False
    strict: bool = False
    topology: bool = False
    model: kq.sim.RunModel = _RESTART


POLICIES = (
    Policy("private", "private quotas", cohort=False),
    Policy("shared", "shared cohort"),
    Policy("lower", "reclaim LowerPriority", reclaim="LowerPriority"),
    Policy("reclaim", "reclaim, restart", reclaim="Any"),
    Policy("reclaim-checkpoint", "reclaim, checkpoints", reclaim="Any", model=_CHECKPOINT),
    Policy("fair", "fair sharing, restart", reclaim="Any", fair=True),
    Policy("fair-checkpoint", "fair sharing, checkpoints", reclaim="Any", fair=True, model=_CHECKPOINT),
    Policy("strict-private", "private quotas, StrictFIFO", cohort=False, strict=True),
    Policy("strict-shared", "shared cohort, StrictFIFO", strict=True),
    Policy("strict-reclaim", "reclaim, restart, StrictFIFO", reclaim="Any", strict=True),
    Policy("hosts-shared", "shared cohort, hosts", topology=True),
    Policy("hosts-reclaim", "reclaim, restart, hosts", reclaim="Any", topology=True),
)
METRICS = {
    "wait_mean": 1 / HOUR,
    "wait_p95": 1 / HOUR,
    "longest_wait": 1 / HOUR,
    "utilisation": 100,
    "effective_utilisation": 100,
    "evictions": 1,
    "lost_hours": 1,
    "overhead_hours": 1,
    "idle_while_waiting": 1,
    "borrowed_hours": 1,
}
"""Metrics of `Kpis`, with the factor to the unit of the study: hours, per cent, counts or GPU-hours."""
OWN = ("entitled", "late", "late_p95", "late_p99", "late_max")
"""Metrics of jobs that are entitled to quota; see `entitled`."""


def cluster(policy: Policy, jobs: kq.Jobs, nominal: Mapping[str, int] | None = None) -> kq.Cluster:
    """Return the cluster of a policy.

    Args:
        policy: The policy.
        jobs: The log.
        nominal: The nominal quota of each ClusterQueue in GPUs; by default, it is estimated from the whole log.

    Raises:
        SystemExit: A queue of the log has no nominal quota.
    """
    fields: dict[str, Any] = {
        "preemption": kq.Preemption(reclaim_within_cohort=policy.reclaim),
        "queueing_strategy": "StrictFIFO" if policy.strict else "BestEffortFIFO",
    }
    cohort = "all" if policy.cohort else None
    found = kq.sim.cluster_of(jobs, cohort=cohort, **fields)
    if nominal is not None:
        if missing := sorted(quotas(found).keys() - nominal.keys()):
            raise SystemExit(f"no ClusterQueue with a quota of {GPU} for the queues {', '.join(missing)} of the log")
        amounts: dict[str, dict[str, Any]] = {name: {} for name in nominal}
        for queue in found.cluster_queues:  # other resources of the log keep their estimates
            amounts[queue.name] = {quota.name: quota.nominal_quota for quota in _amounts(queue)}
        given = [
            kq.ClusterQueue.of(name, {"default": {**amounts[name], GPU: gpus}}, cohort_name=cohort, **fields)
            for name, gpus in nominal.items()
        ]
        found = found.replace(*given)
    if policy.fair:
        found = found.replace(configuration=_FAIR)
    if policy.topology:
        racks = kq.Topology("hosts", levels=["rack", "kubernetes.io/hostname"])
        flavor = kq.ResourceFlavor("default", node_labels={"pool": "gpu"}, topology_name="hosts")
        shape = (math.ceil(sum(quotas(found).values()) / HOST / RACK), RACK)
        capacity = dict.fromkeys(jobs.resources, _AMPLE) | {GPU: HOST}
        hosts = kq.objects.nodes(racks, shape, labels={"pool": "gpu"}, capacity=capacity)
        found = found.replace(flavor, racks, *hosts)
    return found


def quotas(cluster: kq.Cluster) -> dict[str, int]:
    """Return the nominal quota of each ClusterQueue that has quota for GPUs, in GPUs; flavors are added up."""
    found = {}
    for queue in cluster.cluster_queues:
        gpus = [int(quota.nominal_quota) for quota in _amounts(queue) if quota.name == GPU]
        if gpus:
            found[queue.name] = sum(gpus)
    return found


def _amounts(queue: kq.ClusterQueue) -> list[kq.ResourceQuota]:
    """Return the quotas of a ClusterQueue for all its flavors and resources."""
    return [quota for group in queue.resource_groups for flavor in group.flavors for quota in flavor.resources]


class Days:
    """The days of a log, from which weeks are drawn."""

    def __init__(self, jobs: kq.Jobs) -> None:
        """Divide the log into days; days that are dates are divided into working days and weekends."""
        jobs = jobs.sort()
        submit = jobs["submit"]
        dated = submit.dtype.kind == "M"
        seconds = submit.astype("M8[ns]").astype(np.int64) / 1e9 if dated else np.asarray(submit, float)
        numbers = (seconds // DAY).astype(np.int64)
        self._days = {
            int(day): jobs.where(numbers == day).moved_to(seconds[numbers == day] % DAY) for day in np.unique(numbers)
        }
        # 1970-01-01 was a Thursday, so Saturday is day 2 of each block of 7 days.
        weekend = [day for day in self._days if dated and (day - 2) % 7 < 2]  # noqa: PLR2004 - Saturday and Sunday
        working = [day for day in self._days if day not in set(weekend)]
        self._kinds = (working or weekend, weekend or working)

    def __len__(self) -> int:
        """Return the number of days."""
        return len(self._days)

    def draw(self, seed: int) -> kq.Jobs:
        """Return a bootstrapped series of days: each day is drawn with replacement from the days of its kind.

        Every seventh and the day before it are weekend days. Jobs keep their time of day.
        """
        rng = np.random.Generator(np.random.PCG64(seed))
        parts = []
        for place in range(BEFORE + MEASURED + AFTER):
            kind = self._kinds[place % 7 > 4]  # noqa: PLR2004 - the last two days of a week
            day = self._days[kind[int(rng.integers(len(kind)))]]
            parts.append(day.moved_to(np.asarray(day["submit"], float) + place * DAY))
        return kq.Jobs.concat(parts).sort()


def entitled(result: kq.Result) -> Any:
    """Return which jobs were entitled to quota at once, as a mask.

    A job is entitled if it fitted into the free nominal quota of its ClusterQueue at its submission, no other job of
    the ClusterQueue was waiting, and no other job of the ClusterQueue was submitted at the same time.
    """
    jobs, usage = result.jobs, result.usage
    found = np.array(jobs["promised"])
    queues, submit = np.asarray(list(jobs["cluster_queue"])), np.asarray(jobs["submit"])
    named, times, waiting = np.asarray(list(usage["cluster_queue"])), usage["seconds"], usage["waiting"]
    for name in np.unique(queues):
        rows, changes = np.flatnonzero(queues == name), named == name
        at, count = times[changes], waiting[changes]
        last = np.searchsorted(at, submit[rows], side="left") - 1
        others = np.where(last >= 0, count[np.maximum(last, 0)], 0) > 0
        _, inverse, counts = np.unique(submit[rows], return_inverse=True, return_counts=True)
        found[rows] &= ~others & (counts[inverse] == 1)
    return found


def measure(policy: Policy, simulated: kq.Cluster, jobs: kq.Jobs, load: float) -> dict[str, Any]:
    """Simulate a policy for one week and return its metrics, with the mean wait of each queue."""
    scaled = jobs.scale_load(load)
    result = kq.simulate(simulated, scaled, model=policy.model, record=kq.sim.Recording(decisions=False))
    start, end = BEFORE * DAY / load, (BEFORE + MEASURED) * DAY / load
    kpis = result.figures(start, end)
    values: dict[str, Any] = {}
    for name, factor in METRICS.items():
        value = getattr(kpis, name)
        values[name] = (value.get(FLAVOR_RESOURCE, 0.0) if isinstance(value, dict) else value) * factor
    table = result.jobs
    inside = (table["submit"] >= start) & (table["submit"] < end)
    waits = np.sort(table["first_wait"][inside & entitled(result)])
    values["entitled"] = len(waits)
    values["late"] = 100 * float((waits > LATE).mean()) if len(waits) else 0.0
    for name, part in (("late_p95", 0.95), ("late_p99", 0.99), ("late_max", 1.0)):
        values[name] = float(waits[max(0, math.ceil(part * len(waits)) - 1)]) if len(waits) else 0.0
    queues = np.asarray(list(table["cluster_queue"]))
    means = {str(name): float(table["waited"][inside & (queues == name)].mean()) for name in np.unique(queues[inside])}
    idle = _idle_by_tree(result, start, end) if not policy.cohort else {}
    return {**values, "queues": {name: wait / HOUR for name, wait in means.items()}, "idle": idle}


def _idle_by_tree(result: kq.Result, start: float, end: float) -> dict[str, float]:
    """Return the hours of free quota that waiting jobs requested, by ClusterQueue without a cohort."""
    trees, times, idle = np.asarray(list(result.idle["tree"])), result.idle["seconds"], result.idle["idle"]
    found = {}
    for name in np.unique(trees):
        mine = trees == name
        at = np.clip(np.append(times[mine], end), start, end)
        found[str(name)] = float((np.diff(at) * idle[mine]).sum()) / HOUR
    return found


def run(
    jobs: kq.Jobs,
    loads: Iterable[float],
    weeks: Iterable[int],
    tell: Callable[[str], None] = lambda _: None,
    nominal: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Simulate every policy, load and week; return the metrics by policy and load, one value for each week."""
    days, loads, weeks = Days(jobs), tuple(loads), tuple(weeks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        clusters = {policy.name: cluster(policy, jobs, nominal) for policy in POLICIES}
        drawn = {seed: days.draw(seed) for seed in weeks}
        tasks = list(product(POLICIES, loads, weeks))
        # The longest simulations first, so that no thread is left with a long one at the end.
        order = sorted(range(len(tasks)), key=lambda place: (-tasks[place][1], not tasks[place][0].fair))
        found: list[dict[str, Any]] = [{}] * len(tasks)

        def one(place: int) -> None:
            policy, load, seed = tasks[place]
            found[place] = measure(policy, clusters[policy.name], drawn[seed], load)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for number, _ in enumerate(pool.map(one, order), 1):
                if number % 100 == 0 or number == len(tasks):
                    tell(f"{number} of {len(tasks)} simulations")
    results: dict[str, Any] = {}
    for (policy, load, _), values in zip(tasks, found, strict=True):
        into = results.setdefault(policy.name, {}).setdefault(f"{load:g}", {"queues": {}, "idle": {}})
        for name, value in values.items():
            if isinstance(value, dict):
                for key, each in value.items():
                    into[name].setdefault(key, []).append(rounded(each))
            else:
                into.setdefault(name, []).append(rounded(value))
    return results


def rounded(value: float) -> float:
    """Return a value with five significant digits."""
    return float(f"{value:.5g}")


def facts(
    path: Path,
    jobs: kq.Jobs,
    weeks: Iterable[int],
    loads: Iterable[float],
    nominal: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return the description of the input: its hash, its quotas, the settings, and the jobs of each measured week."""
    nominal = dict(nominal or quotas(cluster(POLICIES[0], jobs)))
    data, days, weeks = path.read_bytes(), Days(jobs), tuple(weeks)
    drawn = [np.asarray(days.draw(seed)["submit"], float) / DAY for seed in weeks]
    demand = {str(row["queue"]).rpartition("/")[2]: rounded(row[f"mean {GPU}"]) for row in jobs.describe().rows()}
    gpus = jobs.column("pods", 1) * np.asarray(jobs[GPU])
    work = gpus * np.asarray(jobs["runtime"])
    long = np.asarray(jobs["runtime"]) > 2 * DAY
    queues = np.asarray([str(name).rpartition("/")[2] for name in jobs["queue"]])
    return {
        "file": path.name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "content": hashlib.sha256(gzip.decompress(data) if path.suffix == ".gz" else data).hexdigest(),
        "version": kq.__version__,
        "jobs": len(jobs),
        "days": len(days),
        "weeks": len(weeks),
        "measured": [int(((at >= BEFORE) & (at < BEFORE + MEASURED)).sum()) for at in drawn],
        "loads": list(loads),
        "nominal": nominal,
        "demand": demand,
        "count": {name: int((queues == name).sum()) for name in nominal},
        "largest": {name: int(gpus[queues == name].max(initial=0)) for name in nominal},
        "single": rounded(100 * float((gpus == 1).mean())),
        "long_jobs": rounded(100 * float(long.mean())),
        "long_work": rounded(100 * float(work[long].sum() / work.sum())),
        "hosts": math.ceil(sum(nominal.values()) / HOST / RACK) * RACK,
    }
