"""Preemption loops that were reported by users of Kueue; those that still occur are detected (FS_13)."""

import pytest

import kueuepy as kq

DEFAULT = kq.ResourceFlavor("default")
FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"


def _fair(*strategies):
    return kq.Configuration(fair_sharing=kq.FairSharingConfig(strategies or (FINAL, INITIAL)))


def _queue(name, cpu, weight="1", within="LowerOrNewerEqualPriority"):
    return kq.ClusterQueue.of(
        name,
        {"default": {"cpu": cpu}},
        cohort_name="loop",
        fair_sharing=kq.FairSharing(weight),
        preemption=kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue=within),
    )


def _submitted(story, *jobs):
    """Submit jobs one second apart; return the result of the last one."""
    for queue, name, cpu, priority in jobs:
        story.submit(queue, 1, {"cpu": cpu}, name=name, priority=priority)
        settled = story.settle()
    return settled


BASE, BORROWER = ("reclaiming", "w-base", 6, 0), ("borrowing", "w-borrower", 13, 0)


@pytest.mark.parametrize("strategies", [(FINAL, INITIAL), (FINAL,), (INITIAL,)])
def test_FS_13_the_preemptee_is_admitted_instead_of_the_preemptor(stage, strategies):
    """kubernetes-sigs/kueue#14543, as its report reproduces it: 10 CPUs each, 6 and 13 in use, 8 more wanted.

    Without w-base the newcomer would be within its nominal quota, so w-borrower may be taken; then w-base is put back,
    and with it the newcomer's share is 200, more than the 150 of w-borrower, which gets its quota back first.
    """
    story = stage(DEFAULT, _queue("reclaiming", 10), _queue("borrowing", 10), configuration=_fair(*strategies))
    settled = _submitted(story, BASE, BORROWER, ("reclaiming", "w-incoming", 8, 10))
    assert not settled.finished
    assert (settled.loop.period, settled.loop.workloads) == (2, ("default/w-borrower",))
    assert str(settled.loop) == "endless preemption: the same decisions every 2 cycles for default/w-borrower"
    back, taken = settled.loop.cycles
    assert [decision.workload for decision in back.admitted] == ["default/w-borrower"]
    (preempting,) = taken.preempting
    assert preempting.workload == "default/w-incoming"
    assert preempting.targets == (kq.Target("default/w-borrower", "InCohortFairSharing", "borrowing"),)
    assert "default/w-base" in {f"default/{name}" for name in story.running()}


def test_FS_13_two_workloads_would_preempt_each_other(stage):
    """#14543: two workloads would preempt each other, although fair sharing is documented to exclude this."""
    objects = (DEFAULT, _queue("reclaiming", 10), _queue("borrowing", 10))
    one = stage(*objects, configuration=_fair())
    _submitted(one, BASE, BORROWER)
    one.submit("reclaiming", 1, {"cpu": 8}, name="w-incoming", created=0)
    other = stage(*objects, configuration=_fair())
    _submitted(other, BASE, ("reclaiming", "w-incoming", 8, 0))
    other.submit("borrowing", 1, {"cpu": 13}, name="w-borrower")
    assert [d.targets[0].workload for d in one.scheduler.cycle().preempting] == ["default/w-borrower"]
    assert [d.targets[0].workload for d in other.scheduler.cycle().preempting] == ["default/w-incoming"]


def test_FS_13_three_workloads_in_a_loop_of_six_cycles(stage):
    queues = [_queue(name, 4, within="LowerPriority") for name in ("q0", "q1")]
    story = stage(DEFAULT, *queues, configuration=_fair())
    jobs = (("q0", "w0", 6, 0), ("q1", "w1", 2, 2), ("q1", "w2", 4, 1), ("q0", "w3", 5, 0), ("q1", "w4", 2, 0))
    settled = _submitted(story, *jobs)
    assert (settled.finished, settled.loop.period) == (False, 6)
    assert settled.loop.workloads == ("default/w2", "default/w3", "default/w4")


def test_FS_13_two_queues_of_weight_0_preempt_only_once(stage):
    """#6774, #8975: two jobs of 4 use a pool of 8; only the job of lower priority is preempted."""
    pool = kq.Cohort("loop", resource_groups=[kq.ResourceGroup.of({"default": {"cpu": 8}})])
    queues = [_queue(name, 0, weight="0", within="Never") for name in "ab"]
    story = stage(DEFAULT, pool, *queues, configuration=_fair())
    settled = _submitted(story, ("a", "a1", 4, 9001), ("a", "a2", 4, 100), ("b", "b1", 4, 100))
    assert (settled.finished, settled.preempted) == (True, ("default/a2",))
    assert story.running() == ["a1", "b1"]


def test_FS_13_guaranteed_and_best_effort_queues_reach_a_stable_state(stage):
    """#3779: two tenants have 150m each, best effort has none; the second job of a tenant would borrow, and waits."""
    queues = [_queue("tenant-a", "150m"), _queue("tenant-b", "150m"), _queue("best-effort", 0)]
    story = stage(DEFAULT, *queues, configuration=_fair())
    settled = _submitted(
        story, ("tenant-a", "a1", "250m", 0), ("best-effort", "b1", "50m", 0), ("tenant-a", "a2", "50m", 0)
    )
    assert (settled.finished, settled.preempted) == (True, ())
    assert story.running() == ["a1", "b1"]


def test_FS_13_the_search_of_a_queue_without_a_cohort_ends(stage):
    """#12541: the second rule is never true for the queue's own share, so the search must end."""
    alone = kq.ClusterQueue.of(
        "alone", {"default": {"cpu": 4}}, preemption=kq.Preemption(within_cluster_queue="LowerPriority")
    )
    story = stage(DEFAULT, alone, configuration=_fair())
    settled = _submitted(story, ("alone", "low", 2, 0), ("alone", "high", 2, 9), ("alone", "next", 4, 5))
    assert (settled.finished, settled.preempted) == (True, ())
    assert story.running() == ["low", "high"]


def test_FS_13_smaller_jobs_of_the_second_queue_are_admitted(stage):
    """#7101: four jobs of 2 use a pool of 8; of jobs of 6, 5, 4 and 3, those that balance the shares are admitted."""
    pool = kq.Cohort("loop", resource_groups=[kq.ResourceGroup.of({"default": {"cpu": 8}})])
    queues = [_queue(name, 0, within="LowerPriority") for name in ("p1", "p2")]
    story = stage(DEFAULT, pool, *queues, configuration=_fair(FINAL))
    story.submit("p1", 4, {"cpu": 2})
    story.settle()
    settled = _submitted(story, ("p2", "six", 6, 0), ("p2", "five", 5, 0))
    assert (settled.finished, settled.preempted) == (True, ())
    settled = _submitted(story, ("p2", "four", 4, 0))
    assert (settled.finished, len(settled.preempted)) == (True, 2)
    assert (story.used("p1"), story.used("p2")) == (4, 4)
    assert _submitted(story, ("p2", "three", 3, 0)).preempted == ()
