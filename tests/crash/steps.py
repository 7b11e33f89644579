"""The random calls of the fuzzer, on a cluster with similar queues."""

from __future__ import annotations

import kueuepy as kq
from fuzz.calls import answering, step

__all__ = ["approve", "cluster", "step"]

_PODS_READY = kq.objects.WaitForPodsReady(timeout=120, recovery_timeout=60)
(approve,) = answering().values()


def cluster() -> kq.Cluster:
    """Return a cluster: three queues that borrow and preempt, a check, a pods-ready timeout, fair sharing."""
    preemption = kq.Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")
    checks = (kq.objects.AdmissionCheckStrategyRule("approval"),)
    queues = [
        kq.ClusterQueue.of(name, {"default": {"cpu": 8}}, cohort_name="all", preemption=preemption, **more)
        for name, more in (("a", {}), ("b", {"admission_checks_strategy": checks}), ("c", {}))
    ]
    approval = kq.AdmissionCheck("approval", controller_name="example.com/approval")
    configuration = kq.Configuration(wait_for_pods_ready=_PODS_READY, fair_sharing=kq.FairSharingConfig())
    return kq.Cluster(kq.ResourceFlavor("default"), approval, queues, configuration=configuration)
