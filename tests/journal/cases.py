"""A small cluster and workloads for the tests of this folder."""

from __future__ import annotations

import kueuepy as kq


def workload(name: str, queue: str = "vision", cpu: int = 3, **more: object) -> kq.Workload:
    """A workload of one pod."""
    return kq.Workload(name, queue_name=queue, pod_sets=(kq.PodSet.of(requests={"cpu": cpu}),), **more)


def small_cluster() -> kq.Cluster:
    """Two queues of one cohort, 9 CPU each; high priority preempts."""
    preemption = kq.Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")
    return kq.Cluster(
        kq.ResourceFlavor("default"),
        [
            kq.ClusterQueue.of(name, {"default": {"cpu": 9}}, cohort_name="team", preemption=preemption)
            for name in ("nlp", "vision")
        ],
    )
