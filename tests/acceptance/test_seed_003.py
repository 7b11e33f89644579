"""Preemption: the three policies, queues that never preempt, and classical preemption or fair sharing."""

import pytest

import kueuepy as kq
from kueuepy.lint import lint


def test_OBJ_08_the_objects_are_of_v1beta2(manifest):
    found = manifest("003/team-a-queue", "003/non-preemptive-queue", strict=False)

    assert found.versions == {"v1beta2"}
    assert [queue.name for queue in found.cluster_queues] == ["team-a-queue", "non-preemptive-queue"]


def _fill(story, queue="team-a-queue"):
    for number in range(16):
        story.submit(queue, 1, name=f"low-{number:04d}")
        story.settle()


def test_PR_03_PR_21_a_higher_priority_evicts_the_newest_of_lower_priority(seed):
    story = seed("003/team-a-queue")
    _fill(story)
    story.submit("team-a-queue", 1, {"cpu": 4}, name="high", priority=10)
    story.settle()

    assert story.evicted() == ["low-0012", "low-0013", "low-0014", "low-0015"]
    assert "high" in story.running()
    assert story.condition("low-0015", "Preempted")[0] == "InClusterQueue"


def test_PR_03_a_workload_of_equal_priority_waits(seed):
    story = seed("003/team-a-queue")
    _fill(story)
    story.submit("team-a-queue", 1, {"cpu": 4}, name="equal")
    story.settle()

    assert story.evicted() == []
    assert story.condition("equal")[0] == "WaitingForQuota"


def test_PR_21_cohort_policies_have_no_effect_without_a_cohort(seed):
    story = seed("003/team-a-queue", "003/non-preemptive-queue", strict=False)
    story.submit("non-preemptive-queue", 1, {"cpu": 16}, name="notebook")
    _fill(story)
    story.submit("team-a-queue", 1, {"cpu": 16}, name="high", priority=1000)
    story.settle()

    assert "notebook" in story.running()


def test_PR_24_never_is_the_default(manifest):
    (queue,) = manifest("003/non-preemptive-queue").cluster_queues

    assert queue.preemption == kq.Preemption()


def test_PR_04_T_03_newer_refers_to_the_queue_order(stage):
    policy = kq.Preemption(within_cluster_queue="LowerOrNewerEqualPriority")
    story = stage(kq.ResourceFlavor("default"), kq.ClusterQueue.of("q", {"default": {"cpu": 2}}, preemption=policy))
    for name, created in (("x-admitted-first", 10), ("y-admitted-second", 0), ("preemptor", 5)):
        story.submit("q", 1, name=name, created=created)
        story.settle()

    assert story.evicted() == ["x-admitted-first"]
    assert story.running() == ["y-admitted-second", "preemptor"]


@pytest.mark.parametrize(("limit", "cpus", "evicted"), [(None, 12, ["notebook"]), (0, 9, [])])
def test_PR_22_T_04_a_queue_that_never_preempts_can_be_preempted_while_it_borrows(seed, limit, cpus, evicted):
    story = seed("003/notebooks")
    if limit is not None:
        quota = {"default-flavor": {"cpu": kq.Quota(9, borrowing_limit=limit)}}
        story.scheduler.apply(kq.ClusterQueue.of("notebooks", quota, cohort_name="team-ab"))
    story.submit("notebooks", 1, {"cpu": cpus}, name="notebook")
    story.settle()
    story.submit("team-b-cq", 1, {"cpu": 12}, name="own")
    story.settle()

    assert story.evicted() == evicted
    assert "own" in story.running()


@pytest.mark.parametrize(("policy", "ends"), [("classical", (8, 0)), ("fair-sharing", (4, 4))])
def test_PR_01_FS_12_the_two_global_policies(seed, policy, ends):
    story = seed("003/two-queues", f"003/{policy}")
    story.submit("team-a-queue", 10)
    story.settle()
    story.submit("team-b-queue", 10)
    settled = story.settle()

    assert (story.used("team-a-queue"), story.used("team-b-queue")) == ends
    assert len(settled.preempted) == ends[1]


def test_FS_08_T_05_borrow_within_cohort_has_no_effect_with_fair_sharing(seed):
    ends = []
    for borrowing in (kq.objects.BorrowWithinCohort("LowerPriority"), kq.objects.BorrowWithinCohort()):
        story = seed("003/two-queues", "003/fair-sharing")
        for queue in story.scheduler.cluster.cluster_queues:
            policy = kq.Preemption("Any", "LowerPriority", borrowing)
            changed = kq.ClusterQueue(
                queue.name, resource_groups=queue.resource_groups, cohort_name="org", preemption=policy
            )
            story.scheduler.apply(changed)
        story.submit("team-a-queue", 10)
        story.settle()
        story.submit("team-b-queue", 10)
        ends.append(story.settle().preempted)

    assert ends[0] == ends[1]
    assert len(ends[0]) == 4


@pytest.mark.parametrize(("limit", "warned"), [(None, True), (0, False)])
def test_PR_23_lint_warns_of_a_notebook_queue_that_others_can_preempt(manifest, limit, warned):
    found = manifest("003/notebooks")
    queues = [
        kq.ClusterQueue.of(
            queue.name,
            {"default-flavor": {"cpu": kq.Quota(quota, borrowing_limit=limit if queue.name == "notebooks" else None)}},
            cohort_name=queue.cohort_name,
            preemption=queue.preemption,
        )
        for queue, quota in zip(found.cluster_queues, (9, 12), strict=True)
    ]
    findings = lint(kq.Cluster(found.resource_flavors, queues))

    assert (("L3", 'ClusterQueue "notebooks"') in [(one.rule, one.object) for one in findings]) is warned
