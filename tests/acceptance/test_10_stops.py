"""Stopped queues, inactive workloads, execution time limits, and the release of quota (WL_08 to WL_16).

There are no recordings of Kueue for stops of reserved workloads, for two stopped queues of one workload, and for jobs
that take time to stop. These tests are based on its source:

- `pkg/controller/core/workload_controller.go:reconcileOnLocalQueueActiveState,reconcileOnClusterQueueActiveState`
- `pkg/controller/core/localqueue_controller.go:Update`, `pkg/cache/queue/manager.go:ClusterQueueForWorkload`
  (a stopped LocalQueue hides its ClusterQueue)
- `pkg/controller/jobframework/reconciler.go:ReconcileGenericJob`, `pkg/workload/workload.go:OwnedBySinglePod`
"""

import msgspec
import pytest

import kueuepy as kq

from .life import CHECK, CHECKED, DEFAULT, preempting, queue, status


def _local(stop="None"):
    return kq.LocalQueue("q", cluster_queue="q", stop_policy=stop)


def test_WL_08_hold_keeps_running_workloads_and_admits_none(stage):
    story = stage(DEFAULT, queue(9))
    story.submit("q", 12)
    story.settle()
    story.scheduler.apply(queue(9, stop_policy="Hold"))
    story.settle()
    assert (len(story.running()), story.evicted()) == (9, [])
    story.scheduler.finish("q-0000")
    story.settle()
    assert len(story.running()) == 8
    story.scheduler.apply(queue(9))
    story.settle()
    assert len(story.running()) == 9


def test_WL_08_drain_evicts_all_nine_and_refills_one_per_cycle(stage):
    story = stage(DEFAULT, queue(9))
    story.submit("q", 12)
    story.settle()
    story.scheduler.apply(queue(9, stop_policy="HoldAndDrain"))
    story.settle()
    assert (story.running(), len(story.evicted())) == ([], 9)
    assert story.condition("q-0000", "Evicted") == ("ClusterQueueStopped", "The ClusterQueue is stopped")
    story.scheduler.apply(queue(9))
    grown = []
    for _ in range(10):
        story.scheduler.cycle()
        grown.append(len(story.running()))
    assert grown == [1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
    assert story.conditions("q-0000")["Requeued"] == ("True", "ClusterQueueRestarted")


def test_WL_09_a_stopped_local_queue_drains_only_its_workloads(stage):
    others = kq.LocalQueue("other", cluster_queue="q")
    story = stage(DEFAULT, queue(9), _local(), others)
    story.submit("q", 3)
    story.submit("other", 3)
    story.settle()
    story.scheduler.apply(_local("HoldAndDrain"))
    story.settle()
    assert story.running() == [f"other-000{n}" for n in range(3)]
    assert story.condition("q-0000", "Evicted") == ("LocalQueueStopped", "The LocalQueue is stopped")
    assert story.condition("q-0000") == ("Suspended", "LocalQueue q is inactive")
    story.scheduler.apply(_local())
    story.settle()
    assert len(story.running()) == 6
    assert story.conditions("q-0000")["Requeued"] == ("True", "LocalQueueRestarted")


def test_WL_09_hold_keeps_running_workloads_and_admits_none(stage):
    story = stage(DEFAULT, queue(9), _local())
    story.submit("q", 2)
    story.settle()
    story.scheduler.apply(_local("Hold"))
    story.submit("q", name="late")
    story.settle()

    assert story.running() == ["q-0000", "q-0001"]
    assert story.condition("late") == ("Suspended", "LocalQueue q is inactive")


@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
@pytest.mark.parametrize("kind", ["ClusterQueue", "LocalQueue"])
def test_WL_08_WL_09_a_quota_reservation_is_cancelled_without_an_eviction(stage, kind, policy):
    story = stage(DEFAULT, CHECK, queue(admission_checks_strategy=CHECKED), _local())
    story.submit("q", name="w")
    story.settle()
    if kind == "LocalQueue":
        story.scheduler.apply(_local(policy))
    else:
        story.scheduler.apply(queue(admission_checks_strategy=CHECKED, stop_policy=policy))
    story.scheduler._engine.settle()

    assert (story.running(), story.evicted()) == ([], [])
    assert story.condition("w") == ("Suspended", f"{kind} q is inactive")
    story.scheduler.apply(_local(), queue(admission_checks_strategy=CHECKED))
    story.settle()
    assert story.running() == ["w"]


def test_WL_09_draining_a_cluster_queue_skips_workloads_of_a_held_local_queue(stage):
    story = stage(DEFAULT, queue(9), _local())
    story.submit("q", name="w")
    story.settle()
    story.scheduler.apply(_local("Hold"))
    story.scheduler.apply(queue(9, stop_policy="HoldAndDrain"))
    story.settle()
    assert story.running() == ["w"]
    story.scheduler.apply(_local())
    story.settle()
    assert (story.running(), story.condition("w", "Evicted")[0]) == ([], "ClusterQueueStopped")


def test_WL_10_an_inactive_workload_is_evicted_and_not_queued(stage):
    story = stage(DEFAULT, queue(1))
    story.submit("q", name="w")
    story.submit("q", name="next")
    story.settle()
    known = msgspec.structs.replace(story.scheduler.workload("w"), status=None)
    story.scheduler.apply(msgspec.structs.replace(known, active=False))
    story.settle()
    assert story.running() == ["next"]
    assert story.condition("w", "Evicted") == ("Deactivated", "The workload is deactivated")
    assert story.condition("w") == ("Deactivated", "The workload is deactivated")
    story.scheduler.finish("next")
    story.settle()
    assert story.running() == []
    story.scheduler.apply(known)
    story.settle()
    assert story.running() == ["w"]


def test_WL_11_a_workload_is_deactivated_after_runs_of_60_and_40_of_100_seconds(stage):
    story = stage(DEFAULT, queue(1, preemption=preempting()))
    story.submit("q", name="w", maximum_execution_time_seconds=100)
    story.settle()
    story.scheduler.advance(59)
    story.submit("q", name="high", priority=1)
    story.settle()
    assert status(story, "w").accumulated_past_execution_time_seconds == 60
    story.scheduler.finish("high")
    story.scheduler.settle()
    story.scheduler.advance(39)
    story.scheduler.settle()
    assert story.is_true("w", "Admitted")
    story.scheduler.advance(1)
    story.scheduler.settle()
    assert story.condition("w", "Evicted") == (
        "DeactivatedDueToMaximumExecutionTimeExceeded",
        "The workload is deactivated due to exceeding the maximum execution time",
    )


def test_WL_11_a_reactivated_workload_without_execution_time_left_stays_inadmissible(stage):
    story = stage(DEFAULT, queue(1))
    story.submit("q", name="w", maximum_execution_time_seconds=10)
    story.settle()
    story.scheduler.advance(10)
    story.settle()
    assert not story.scheduler.workload("w").active
    story.scheduler.apply(msgspec.structs.replace(story.scheduler.workload("w"), active=True, status=None))
    story.settle()

    assert story.running() == []
    assert story.conditions("w")["Requeued"] == ("False", "DeactivatedDueToMaximumExecutionTimeExceeded")


def test_WL_16_quota_is_released_when_the_pods_are_deleted(stage):
    story = stage(DEFAULT, queue(1, preemption=preempting()), stopping="30s")
    story.submit("q", name="low")
    story.settle()
    story.submit("q", name="high", priority=1)
    story.settle()
    assert (story.running(), story.evicted()) == (["low"], ["low"])
    assert story.waiting() == {"high": "WaitingForPreemptedWorkloads"}
    story.scheduler.advance(29)
    story.scheduler.settle()
    assert story.running() == ["low"]
    story.scheduler.advance(1)
    story.scheduler.settle()
    assert story.running() == ["high"]


def test_WL_16_the_workload_of_a_single_pod_does_not_queue_again(stage):
    story = stage(DEFAULT, queue(1, preemption=preempting()))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
    }
    (key,) = story.scheduler.submit(pod)
    story.settle()
    story.submit("q", name="high", priority=1)
    story.settle()
    story.scheduler.finish("high")
    story.settle()

    assert story.running() == []
    assert story.conditions(key)["Requeued"] == ("False", "Preempted")
