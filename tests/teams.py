"""Small clusters for the tests of several components."""

import kueuepy as kq

DEFAULT = kq.ResourceFlavor("default")


def queue(name, cpu, **fields):
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, **fields)


def workload(name, queue_name, cpu=1, **fields):
    pods = fields.pop("pods", 1)
    pod_set = kq.PodSet.of(count=pods, requests={"cpu": cpu}, min_count=fields.pop("min_count", None))
    return kq.Workload(name, queue_name=queue_name, pod_sets=(pod_set,), **fields)


def two_teams():
    """Two teams in one cohort: 9 and 12 cpu."""
    return kq.Cluster(DEFAULT, queue("team-a", 9, cohort_name="all"), queue("team-b", 12, cohort_name="all"))


def fair_teams():
    """The same under fair sharing, with the policies that it needs."""
    policies = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    return kq.Cluster(
        DEFAULT,
        queue("a", 0, cohort_name="k", preemption=policies),
        queue("b", 0, cohort_name="k", preemption=policies),
        queue("shared", 8, cohort_name="k", preemption=policies),
        configuration=kq.Configuration(fair_sharing=kq.FairSharingConfig()),
    )
