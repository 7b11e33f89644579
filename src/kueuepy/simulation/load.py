"""Analysis of jobs before a simulation: loads, jobs that can never fit, and an initial configuration for a log."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, checked, counted, verb
from kueuepy.fleet.value import nominal_of
from kueuepy.objects import SECOND, ClusterQueue, Cohort, LocalQueue, ResourceFlavor
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.grouped import Groups, sums
from kueuepy.tables.columns import Categorical, Columns, categorical, exact, unit_of


def loads(jobs: JobColumns) -> dict[str, NDArray[np.float64]]:
    """Return the mean usage of each queue by resource if no job waited: `sum(runtime * amount) / span`.

    CPU amounts are in millicores.
    """
    queue, held = jobs["queue"], np.maximum(jobs["runtime"], 0) / SECOND * jobs.column("pods", 1)
    work = {name: np.bincount(queue.codes, held * jobs[name], len(queue.names)) for name in jobs.resources}
    # Jobs that are all submitted at once have no mean.
    return {name: total / (jobs.span or np.inf) for name, total in work.items()}


def trees_of(cluster: Cluster) -> dict[str, str]:
    """Return the root Cohort of each ClusterQueue, or the ClusterQueue itself if it has no cohort."""
    above = {cohort.name: cohort.parent_name for cohort in cluster.cohorts}
    return {queue.name: _root(queue.cohort_name, above) or queue.name for queue in cluster.cluster_queues}


def _root(cohort: str | None, above: dict[str, str | None]) -> str | None:
    # A cycle of cohorts is an error of the cluster, which the Scheduler reports.
    seen = {cohort}
    while cohort and (parent := above.get(cohort)) and parent not in seen:
        seen.add(cohort := parent)
    return cohort


def describe(jobs: JobColumns, cluster: Cluster | None = None) -> Columns:
    """Return the number of jobs and the mean load of each queue; see `Jobs.describe`."""
    queue = jobs["queue"]
    counts = np.bincount(queue.codes, minlength=len(queue.names))
    columns: dict[str, Any] = {
        "queue": categorical(queue.names),
        "jobs": counts.astype(np.int64),
        "part": counts / max(1, len(jobs)),
    }
    there = {local.key: local.cluster_queue for local in cluster.local_queues} if cluster is not None else {}
    nominal = {queue.name: nominal_of(queue) for queue in cluster.cluster_queues} if cluster is not None else {}
    for resource, own in loads(jobs).items():
        columns[f"mean {resource}"] = own / unit_of(resource)
        if cluster is not None:
            quota = np.array([nominal.get(there.get(name, ""), {}).get(resource, 0) for name in queue.names])
            columns[f"load {resource}"] = np.divide(own, quota, out=np.full(len(own), np.nan), where=quota > 0)
    return Columns(columns)


def check(jobs: JobColumns, cluster: Cluster) -> tuple[str, ...]:
    """Return descriptions of the problems that the jobs would have on a cluster; see `Jobs.check`."""
    there = {local.key: local.cluster_queue for local in cluster.local_queues}
    return (*_absent(jobs, there), *never_admitted(jobs, cluster), *_overloads(jobs, cluster, there))


def never_admitted(jobs: JobColumns, cluster: Cluster) -> list[str]:
    """Return a description of the jobs of each LocalQueue that can never get their quota."""
    return [f"{counted(n, 'job')} of {name} {what}" for name, n, what in too_large(jobs, Scheduler(cluster))]


def _absent(jobs: JobColumns, there: Mapping[str, str]) -> Iterator[str]:
    queue = jobs["queue"]
    counts = np.bincount(queue.codes, minlength=len(queue.names))
    for name, count in zip(queue.names, counts.tolist(), strict=True):
        if count and name not in there:
            yield f"{counted(count, 'job')} {verb(count, 'name')} the LocalQueue {name}, which does not exist"


def too_large(jobs: JobColumns, scheduler: Scheduler) -> Iterator[tuple[str, int, str]]:
    """Yield the LocalQueues with jobs that can never get their quota, with the number of jobs and a description.

    The largest quota of a single flavor that is available to a ClusterQueue limits its jobs.
    """
    there = {local.key: local.cluster_queue for local in scheduler.cluster.local_queues}
    most, queue = _potential(scheduler), jobs["queue"]
    pods, fewest = jobs.column("pods", 1), jobs.column("min_pods", -1)
    # Partial admission needs no more than the smallest number of pods.
    pods = np.where(fewest > 0, fewest, pods)
    limits = {name: [most.get(there.get(own, ""), {}).get(name, 0) for own in queue.names] for name in jobs.resources}
    large = {
        resource: np.bincount(
            queue.codes[jobs[resource] * pods > np.array(limit, np.int64)[queue.codes]], minlength=len(queue.names)
        )
        for resource, limit in limits.items()
    }
    for code, name in enumerate(queue.names):
        for resource, counts in large.items() if name in there else ():
            if count := int(counts[code]):
                limit = limits[resource][code] / unit_of(resource)
                yield name, count, f"{verb(count, 'request')} more {resource} than the queue can ever get, {limit:g}"


def _potential(scheduler: Scheduler) -> dict[str, dict[str, int]]:
    """Return the largest quota of a single flavor that is available to a ClusterQueue, by ClusterQueue and resource."""
    table = exact(scheduler.quota)  # in millicores, as the jobs
    found: dict[str, dict[str, int]] = {}
    for row in table.rows():
        if row["kind"] == "ClusterQueue":
            own = found.setdefault(row["name"], {})
            own[row["resource"]] = max(own.get(row["resource"], 0), row["potential"])
    return found


def _overloads(jobs: JobColumns, cluster: Cluster, there: Mapping[str, str]) -> list[str]:
    tree_of, above = trees_of(cluster), {cohort.name: cohort.parent_name for cohort in cluster.cohorts}
    trees, mean = [tree_of.get(there.get(name, ""), "") for name in jobs["queue"].names], loads(jobs)
    asked = sums(((tree, name), float(own[code])) for code, tree in enumerate(trees) for name, own in mean.items())
    nodes: list[tuple[str, ClusterQueue | Cohort]] = [(tree_of[queue.name], queue) for queue in cluster.cluster_queues]
    nodes += [(_root(cohort.name, above) or cohort.name, cohort) for cohort in cluster.cohorts]
    quota = sums(((root, name), amount) for root, node in nodes for name, amount in nominal_of(node).items())
    return [
        f"{tree}: a load of {mean / quota[tree, resource]:.2f} on {resource}: waits grow with the length of the run"
        for (tree, resource), mean in asked.items()
        if quota.get((tree, resource)) and mean > quota[tree, resource]
    ]


@checked
def cluster_of(
    jobs: JobColumns, headroom: float = 1.05, cohort: str | None = "all", flavor: str = "default", **fields: Any
) -> Cluster:
    """Create a cluster configuration for a log: one ClusterQueue for each queue, in one cohort.

    The quotas are estimates, because a log contains neither the size of its cluster nor the quota of each queue. The
    nominal quota of a queue and flavor is the larger of two values, rounded up: the request of its largest job, and
    `headroom` times its mean load. Simulated waits depend on the quotas. Replace the estimates with the real quotas
    before you compare simulated waits with the waits in the log.

    If the jobs have a column `flavor`, each flavor in it becomes a ResourceFlavor with the node label
    `kueuepy.dev/flavor`. With a column `flavor`, each queue gets quota only for the flavors that its jobs use.

    >>> from kueuepy import Jobs
    >>> jobs = Jobs({"queue": ["a", "b"], "submit": [0, 60], "runtime": ["1h", "90s"], "gpu": [1, 8]})
    >>> [queue.name for queue in cluster_of(jobs).cluster_queues]
    ['a', 'b']

    Args:
        jobs: The jobs.
        headroom: The factor between mean load and nominal quota, 0 or more; 1.05 by default, which adds 5 %.
        cohort: The cohort of all ClusterQueues; `all` by default, `None` for no cohort.
        flavor: The flavor of jobs without a flavor; `default` by default.
        fields: Fields of each ClusterQueue, such as `queueing_strategy="StrictFIFO"`.

    Returns:
        A cluster with the ResourceFlavors, ClusterQueues and LocalQueues of the jobs.

    Raises:
        InvalidSpecError: `headroom` is negative or not finite, or an option is invalid.
    """
    jobs = jobs.exact()
    queue, flavors, span = jobs["queue"], _flavors_of(jobs, flavor), jobs.span
    used = {flavors.names[code]: code for code in np.unique(flavors.codes).tolist()} or {flavor: 0}
    # A single flavor needs no node label to tell it from others.
    alone = [*used] == [flavor]
    objects: list[Any] = [ResourceFlavor(n) if alone else ResourceFlavor(n, node_labels={_LABEL: n}) for n in used]
    for key, rows in zip(queue.names, Groups.by(queue.codes, len(queue.names)).parts(), strict=True):
        if len(rows):
            namespace, _, name = key.partition("/")
            own = {f: rows[flavors.codes[rows] == code] for f, code in used.items()}
            quotas = {f: _quotas(jobs, mine, headroom, span) for f, mine in own.items() if len(mine)}
            covered = dict.fromkeys(resource for amounts in quotas.values() for resource in amounts)
            whole = {f: {resource: amounts.get(resource, 0) for resource in covered} for f, amounts in quotas.items()}
            objects.append(ClusterQueue.of(name, whole, cohort_name=cohort, **fields))
            objects.append(LocalQueue(name, namespace=namespace, cluster_queue=name))
    return Cluster(objects)


_LABEL = "kueuepy.dev/flavor"


def _flavors_of(jobs: JobColumns, other: str) -> Categorical:
    """Return the flavor of each job; a job without a flavor has the flavor `other`."""
    if "flavor" not in jobs.names:
        return Categorical(np.zeros(len(jobs), np.int32), [other])
    column = jobs["flavor"]
    names = [*column.names, *([] if other in column.names else [other])]
    return Categorical(np.where(column.codes < 0, names.index(other), column.codes).astype(np.int32), names)


def _quotas(jobs: JobColumns, rows: NDArray[np.int64], headroom: float, span: float) -> dict[str, int]:
    """Return the nominal quota for some jobs by resource, in displayed units (cores for CPU).

    Args:
        jobs: All jobs.
        rows: The rows of the jobs.
        headroom: The factor between mean load and nominal quota.
        span: The time from the first submission to the last, in seconds.

    Raises:
        InvalidSpecError: The headroom is negative or not finite.
    """
    if not 0 <= headroom < math.inf:
        raise InvalidSpecError(f"cluster_of: headroom: {headroom!r:.99}; it must be 0 or more")
    pods: Any = jobs["pods"][rows] if "pods" in jobs.names else 1
    found, runtime = {}, np.maximum(jobs["runtime"][rows], 0) / SECOND
    for resource in jobs.resources:
        size = unit_of(resource)
        asked = jobs[resource][rows] * pods
        load = float((runtime * asked).sum()) / span if span else 0.0
        # The largest job must fit, however low the mean load is; 9 digits hide errors of binary fractions.
        found[resource] = max(-(-int(asked.max()) // size), math.ceil(round(headroom * load / size, 9)))
    return {resource: amount for resource, amount in found.items() if amount}
