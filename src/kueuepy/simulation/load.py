"""What jobs ask of a cluster before anything runs: loads, what can never fit, a first configuration for a log."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors.arguments import checked
from kueuepy.objects import SECOND
from kueuepy.simulation.figures import unit
from kueuepy.tables import Categorical, Columns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.cluster import Cluster
    from kueuepy.objects import ClusterQueue, Cohort
    from kueuepy.simulation.base import JobColumns

_NAMED = 5


def loads(jobs: JobColumns) -> dict[str, dict[str, float]]:
    """By queue and resource, how much of it is used on average if nobody waits: `sum(runtime * amount) / span`."""
    queue = jobs["queue"]
    span = jobs.span
    runtime = np.maximum(jobs["runtime"], 0) / SECOND
    pods = jobs.column("pods", 1)
    found: dict[str, dict[str, float]] = {name: {} for name in queue.names}
    for resource in jobs.resources:
        work = np.bincount(queue.codes, weights=runtime * pods * jobs[resource], minlength=len(queue.names))
        for name, total in zip(queue.names, work.tolist(), strict=True):
            found[name][resource] = total / span if span else 0.0
    return found


def nominal_of(cluster: Cluster) -> dict[str, dict[str, int]]:
    """By ClusterQueue and resource, its nominal quota of all flavors."""
    return _nominal(cluster.cluster_queues)


def _nominal(nodes: Iterable[ClusterQueue | Cohort]) -> dict[str, dict[str, int]]:
    from kueuepy._core import Quantity  # noqa: PLC0415 - only on use

    found: dict[str, dict[str, int]] = {}
    for node in nodes:
        own = found.setdefault(node.name, {})
        for group in node.resource_groups:
            for flavor in group.flavors:
                for quota in flavor.resources:
                    own[quota.name] = own.get(quota.name, 0) + Quantity(quota.nominal_quota).quota(quota.name)
    return found


def trees_of(cluster: Cluster) -> dict[str, str]:
    """By ClusterQueue, the root of its tree of Cohorts, or itself."""
    above = {cohort.name: cohort.parent_name for cohort in cluster.cohorts}
    return {queue.name: _root(queue.cohort_name, above) or queue.name for queue in cluster.cluster_queues}


def _root(cohort: str | None, above: dict[str, str | None]) -> str | None:
    seen = {cohort}
    while cohort and (parent := above.get(cohort)) and parent not in seen:
        seen.add(cohort := parent)
    return cohort


def describe(jobs: JobColumns, cluster: Cluster | None = None) -> Columns:
    """A row a queue: jobs, share of all, mean load of each resource; with a cluster, over the nominal quota."""
    queue = jobs["queue"]
    counts = np.bincount(queue.codes, minlength=len(queue.names))
    columns: dict[str, Any] = {
        "queue": Categorical(np.arange(len(queue.names), dtype=np.int32), queue.names),
        "jobs": counts.astype(np.int64),
        "part": counts / max(1, len(jobs)),
    }
    mean = loads(jobs)
    there = {local.key: local.cluster_queue for local in cluster.local_queues} if cluster is not None else {}
    nominal = nominal_of(cluster) if cluster is not None else {}
    for resource in jobs.resources:
        own = np.array([mean[name].get(resource, 0.0) for name in queue.names])
        columns[f"mean {resource}"] = own / unit(resource)
        if cluster is not None:
            quota = np.array([nominal.get(there.get(name, ""), {}).get(resource, 0) for name in queue.names])
            columns[f"load {resource}"] = np.divide(own, quota, out=np.full(len(own), np.nan), where=quota > 0)
    return Columns(columns)


def check(jobs: JobColumns, cluster: Cluster) -> tuple[str, ...]:
    """What will go wrong: queues that are not there, jobs larger than a queue could ever hold, loads over 1."""
    there = {local.key: local.cluster_queue for local in cluster.local_queues}
    queue = jobs["queue"]
    counts = np.bincount(queue.codes, minlength=len(queue.names))
    found = [
        f"{counts[code]} jobs name the LocalQueue {name}, which is not there"
        for code, name in enumerate(queue.names)
        if counts[code] and name not in there
    ]
    most = _potential(cluster)
    pods = jobs.column("pods", 1)
    fewest = jobs.column("min_pods", -1)
    pods = np.where(fewest > 0, fewest, pods)
    for code, name in enumerate(queue.names):
        mask = queue.codes == code
        own = most.get(there.get(name, ""), {})
        for resource in jobs.resources if name in there else ():
            asked = (jobs[resource] * pods)[mask]
            large = int((asked > own.get(resource, 0)).sum())
            if large:
                limit = own.get(resource, 0) / unit(resource)
                found.append(f"{large} jobs of {name} ask for more {resource} than it could ever hold, {limit:g}")
    return (*found, *_overloads(jobs, cluster, there))


def _potential(cluster: Cluster) -> dict[str, dict[str, int]]:
    """By ClusterQueue and resource, the most of one flavor that it could ever hold."""
    from kueuepy.scheduler import Scheduler  # noqa: PLC0415 - only on use

    table = Scheduler(cluster).quota
    found: dict[str, dict[str, int]] = {}
    for row in table.rows():
        if row["kind"] == "ClusterQueue":
            own = found.setdefault(row["name"], {})
            own[row["resource"]] = max(own.get(row["resource"], 0), row["potential"])
    return found


def _overloads(jobs: JobColumns, cluster: Cluster, there: dict[str, str]) -> list[str]:
    tree_of = trees_of(cluster)
    asked: dict[tuple[str, str], float] = {}
    for name, own in loads(jobs).items():
        for resource, mean in own.items():
            key = (tree_of.get(there.get(name, ""), ""), resource)
            asked[key] = asked.get(key, 0.0) + mean
    above = {cohort.name: cohort.parent_name for cohort in cluster.cohorts}
    quota: dict[tuple[str, str], float] = {}
    of_nodes = [(tree_of[name], amounts) for name, amounts in nominal_of(cluster).items()]
    of_nodes += [(_root(name, above) or name, amounts) for name, amounts in _nominal(cluster.cohorts).items()]
    for tree, amounts in of_nodes:
        for resource, amount in amounts.items():
            quota[tree, resource] = quota.get((tree, resource), 0.0) + amount
    return [
        f"{tree}: a load of {mean / quota[tree, resource]:.2f} on {resource}: waits grow with the length of the run"
        for (tree, resource), mean in asked.items()
        if quota.get((tree, resource)) and mean > quota[tree, resource]
    ]


@checked
def cluster_of(
    jobs: JobColumns, headroom: float = 1.05, cohort: str | None = "all", flavor: str = "default", **options: Any
) -> Cluster:
    """A first configuration for a log: a ClusterQueue for each queue, in one cohort.

    Nominal quota is the larger of its largest job and `headroom` times its mean load, rounded up.

    Args:
        jobs: The jobs.
        headroom: By how much quota exceeds the mean load.
        cohort: The cohort of all queues; `None` for none.
        flavor: The only flavor.
        options: Fields of each ClusterQueue, such as `queueing_strategy="StrictFIFO"`.
    """
    from kueuepy.cluster import Cluster  # noqa: PLC0415 - only on use
    from kueuepy.objects import ClusterQueue, LocalQueue, ResourceFlavor  # noqa: PLC0415

    mean = loads(jobs)
    queue = jobs["queue"]
    pods = jobs.column("pods", 1)
    objects: list[Any] = [ResourceFlavor(flavor)]
    for code, key in enumerate(queue.names):
        mask = queue.codes == code
        if not mask.any():
            continue
        quotas = {}
        for resource in jobs.resources:
            largest = int((jobs[resource] * pods)[mask].max())
            wanted = headroom * mean[key][resource]
            size = unit(resource)
            amount = max(-(-largest // size), math.ceil(round(wanted / size, 9)))
            if amount:
                quotas[resource] = amount
        namespace, _, name = key.partition("/")
        objects.append(ClusterQueue.of(name, {flavor: quotas}, cohort_name=cohort, **options))
        objects.append(LocalQueue(name, namespace=namespace, cluster_queue=name))
    return Cluster(objects)
