"""Reclaimable pods and elastic slices (WL_06, WL_07).

There are no recordings of Kueue for either. These tests are based on its source:

- WL-06: `pkg/workload/workload.go:totalRequestsFromPodSets,totalRequestsFromAdmission`,
  `pkg/webhooks/workload_webhook.go:validateReclaimablePodsUpdate`, `pkg/controller/core/workload_controller.go:Update`
- WL-07: `pkg/workloadslicing/workloadslicing.go:ReplacedWorkloadSlice,FindReplacedSliceTarget,ScaledDown`,
  `pkg/scheduler/flavorassigner/flavorassigner.go:findFlavorForPodSets,append,TotalRequestsFor`,
  `pkg/scheduler/scheduler.go:processEntry,replaceWorkloadSlice`
"""

import pytest

import kueuepy as kq

from .life import DEFAULT, preempting, queue


def test_WL_06_one_of_four_pods_is_reclaimed_and_three_keep_quota(stage):
    story = stage(DEFAULT, queue(4))
    story.submit("q", name="w", pods=4)
    story.settle()
    story.submit("q", name="next")
    story.settle()
    assert story.running() == ["w"]
    story.scheduler.reclaim("w", 1)
    assert story.used("q") == 3
    story.settle()
    assert story.running() == ["w", "next"]


def test_WL_06_reclaimable_pods_cannot_decrease_with_reserved_quota(stage):
    story = stage(DEFAULT, queue(4))
    story.submit("q", name="w", pods=4)
    story.scheduler.reclaim("w", 2)
    story.scheduler.reclaim("w", 1)
    story.settle()
    assert story.used("q") == 3
    with pytest.raises(kq.errors.InvalidSpecError, match="it must be 1 at least"):
        story.scheduler.reclaim("w", 0)
    with pytest.raises(kq.errors.InvalidSpecError, match="0 to its count"):
        story.scheduler.reclaim("w", 5)
    story.scheduler.reclaim("w", 4)
    assert story.used("q") == 0


def test_WL_06_with_partial_admission_only_pods_below_the_admitted_count_release_quota(stage):
    story = stage(DEFAULT, queue(9))
    story.submit("q", name="w", pods=20, min_count=5)
    story.settle()
    story.scheduler.reclaim("w", 11)
    assert story.used("q") == 9
    story.scheduler.reclaim("w", 13)
    assert story.used("q") == 7


def test_WL_06_a_requeued_workload_requests_only_its_remaining_pods(stage):
    story = stage(DEFAULT, queue(4, preemption=preempting()))
    story.submit("q", name="w", pods=4)
    story.settle()
    story.scheduler.reclaim("w", 3)
    story.submit("q", name="high", requests={"cpu": 4}, priority=1)
    story.settle()
    story.scheduler.apply(queue(5, preemption=preempting()))
    story.settle()

    assert (story.running(), story.used("q")) == (["w", "high"], 5)


def test_WL_06_without_the_feature_gate_reclaimable_pods_are_ignored(stage):
    configuration = kq.Configuration(feature_gates={"ReclaimablePods": False})
    story = stage(DEFAULT, queue(4), configuration=configuration)
    story.submit("q", name="w", pods=4)
    story.settle()
    story.scheduler.reclaim("w", 1)

    assert story.used("q") == 4


def _slice(name, pods, replaces=None, **fields):
    annotations = {"kueue.x-k8s.io/elastic-job": "true"}
    if replaces:
        annotations["kueue.x-k8s.io/workload-slice-replacement-for"] = f"default/{replaces}"
    pod_set = kq.PodSet.of(count=pods, requests={"cpu": 1})
    return kq.Workload(name, queue_name="q", annotations=annotations, pod_sets=(pod_set,), **fields)


def _elastic(stage, **quotas):
    flavors = [kq.ResourceFlavor(name) for name in quotas]
    story = stage(*flavors, kq.ClusterQueue.of("q", {name: {"cpu": cpu} for name, cpu in quotas.items()}))
    story.scheduler.submit(_slice("s1", 3))
    story.settle()
    return story


def test_WL_07_scaling_from_3_to_10_needs_quota_for_7(stage):
    story = _elastic(stage, one=10)
    story.scheduler.submit(_slice("s2", 10, "s1", uid="u2", labels={"kueue.x-k8s.io/job-uid": "j"}))
    story.settle()

    assert (story.running(), story.used("q")) == (["s2"], 10)
    assert story.condition("s1", "Finished") == (
        "WorkloadSliceReplaced",
        "Replaced to accommodate a workload (UID: u2, JobUID: j) due to workload slice aggregation",
    )


def test_WL_07_scaling_up_keeps_the_flavor(stage):
    story = _elastic(stage, one=3, two=100)
    story.scheduler.submit(_slice("s2", 10, "s1"))
    story.settle()

    assert story.running() == ["s1"]
    assert "could not assign two flavor since the original workload is assigned: one" in story.condition("s2")[1]


def test_WL_07_scaling_down_is_in_place_and_scaling_up_needs_the_difference(stage):
    story = _elastic(stage, one=4)
    story.submit("q", name="waits", requests={"cpu": 3})
    story.settle()
    story.scheduler.apply(_slice("s1", 1))
    assert story.used("q") == 1
    story.settle()
    assert story.running() == ["s1", "waits"]
    story.scheduler.finish("waits")
    story.scheduler.submit(_slice("s2", 4, "s1"))
    story.settle()

    assert (story.running(), story.used("q")) == (["s2"], 4)


def test_WL_07_a_replaced_slice_is_not_counted_for_later_heads_of_the_cycle(stage):
    queues = [kq.ClusterQueue.of(name, {"one": {"cpu": 5}}, cohort_name="c") for name in ("q", "r")]
    story = stage(kq.ResourceFlavor("one"), *queues)
    story.scheduler.submit(_slice("s1", 3))
    story.settle()
    story.scheduler.submit(_slice("s2", 5, "s1"))
    story.submit("r", name="other", requests={"cpu": 7})
    story.scheduler.cycle()

    # The slice of 5 and the new one of 7 need 12 of 10: the replaced slice is subtracted although only 2 were added.
    assert (story.used("q"), story.used("r")) == (5, 7)
