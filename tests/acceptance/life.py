"""Helpers for tests of workload states: one ClusterQueue and short operations on its workloads."""

import kueuepy as kq

SECOND = 10**9
DEFAULT = kq.ResourceFlavor("default")
CHECK = kq.AdmissionCheck("check", controller_name="example.com/checks")
CHECKED = [kq.objects.AdmissionCheckStrategyRule("check")]


def queue(cpu=9, name="q", **fields):
    """Return a ClusterQueue with this quota of CPUs."""
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, **fields)


def preempting(policy="LowerPriority"):
    """Preemption within the ClusterQueue."""
    return kq.Preemption(within_cluster_queue=policy)


def waiting_for_pods(timeout=300, recovery=None, *, block=False, **strategy):
    """Return a configuration with this timeout for pods to become ready, in seconds."""
    return kq.Configuration(
        wait_for_pods_ready=kq.objects.WaitForPodsReady(
            timeout=timeout,
            recovery_timeout=None if recovery is None else recovery,
            block_admission=block,
            requeuing_strategy=kq.objects.RequeuingStrategy(**strategy),
        )
    )


def status(story, key):
    """The status of a workload."""
    return story.scheduler.workload(key).status
