"""ClusterQueues of v1beta1: resource groups, cohorts, limits, preemption, fungibility and stop policies."""

import pytest

import kueuepy as kq

GI = 2**30


def test_OBJ_07_all_examples_of_v1beta1_load(manifest):
    names = "cluster-queue resource-groups team-ab lending-limit preemption fungibility stop"
    for name in names.split():
        assert manifest(f"001/{name}").versions == {"v1beta1"}

    (queue, _) = manifest("001/fungibility").cluster_queues
    assert queue.flavor_fungibility == kq.objects.FlavorFungibility("TryNextFlavor", "MayStopSearch")


def test_QT_01_a_quota_of_five_pods_admits_five_pods(seed):
    story = seed("001/cluster-queue")
    story.submit("cluster-queue", 9, {"cpu": 1, "memory": "4Gi"})
    story.settle()

    assert len(story.running()) == 5


def test_QT_01_without_a_quota_of_pods_all_nine_fit(seed):
    story = seed("001/team-ab")
    queue = story.scheduler.cluster.cluster_queues[0]
    alone = kq.ClusterQueue(queue.name, resource_groups=queue.resource_groups)
    story.scheduler.apply(alone)
    story.submit("team-a-cq", 10, {"cpu": 1, "memory": "4Gi"})
    story.settle()

    assert len(story.running()) == 9


def test_QT_02_pods_are_counted_by_kueue(seed):
    story = seed("001/cluster-queue")
    story.submit("cluster-queue", 6, {"memory": 0})
    story.submit("cluster-queue", 1, {"memory": 0}, name="six", pods=6)
    story.settle()

    assert len(story.running()) == 5
    assert story.used("cluster-queue", "pods") == 5
    assert story.condition("six")[0] == "ExceedsMaxQuota"


def test_QT_02_sixty_pods_get_the_flavor_with_a_quota_of_a_hundred_pods(seed):
    story = seed("001/resource-groups")
    story.submit("cluster-queue", 1, {"cpu": "100m"}, name="many", pods=60)
    story.settle()

    assert story.flavors("many") == {"cpu": "on-demand", "pods": "on-demand"}


@pytest.mark.parametrize(
    ("requests", "flavors"),
    [
        ({"cpu": 10}, {"cpu": "on-demand", "pods": "on-demand"}),
        ({"cpu": 10, "gpu": 10}, {"cpu": "on-demand", "pods": "on-demand", "gpu": "vendor1"}),
        ({"cpu": 19}, None),
        ({"gpu": 11}, None),
    ],
)
def test_QT_03_flavors_of_resource_groups_are_independent(seed, requests, flavors):
    story = seed("001/resource-groups")
    story.submit("cluster-queue", 1, requests, name="job")
    story.settle()

    if flavors:
        assert story.flavors("job") == flavors
    else:
        assert story.condition("job")[0] == "ExceedsMaxQuota"


def test_QT_05_the_22nd_job_waits_and_one_of_22_cpus_never_fits(seed):
    story = seed("001/team-ab")
    story.submit("team-a-cq", 22)
    story.settle()
    assert story.used("team-a-cq") == 21
    reason, message = story.condition("team-a-cq-0021")
    assert reason == "WaitingForQuota"
    assert "insufficient unused quota for cpu in flavor default-flavor, 1 more needed" in message

    story = seed("001/team-ab")
    story.submit("team-a-cq", 1, {"cpu": 22}, name="large")
    story.settle()
    reason, message = story.condition("large")
    assert reason == "ExceedsMaxQuota"
    assert "maximum capacity (21)" in message


def test_QT_05_QT_22_WI_05_the_largest_count_is_21_or_10_with_a_limit(seed):
    job = kq.Workload("job", queue_name="team-a-cq", pod_sets=(kq.PodSet.of(requests={"cpu": 1}),))

    assert seed("001/team-ab").scheduler.largest_count(job) == 21
    assert seed("001/borrowing-limit", strict=False).scheduler.largest_count(job) == 10
    assert seed("001/lending-limit").scheduler.largest_count(job) == 10


def test_QT_06_without_a_cohort_a_queue_uses_up_to_its_quota_of_9(seed):
    story = seed("001/team-ab")
    queue = story.scheduler.cluster.cluster_queues[0]
    story.scheduler.apply(kq.ClusterQueue(queue.name, resource_groups=queue.resource_groups))
    story.submit("team-a-cq", 25, {"cpu": 1, "memory": "4Gi"})
    story.settle()

    assert story.used("team-a-cq") == 9
    assert story.used("team-a-cq", "memory") == 36 * GI


def test_QT_09_QT_10_one_queue_may_borrow_one_cpu_and_the_other_without_limit(seed):
    for queue, most in (("team-a-cq", 10), ("team-b-cq", 21)):
        story = seed("001/borrowing-limit", strict=False)
        story.submit(queue, 25)
        story.settle()
        assert story.used(queue) == most


def test_OBJ_24_T_06_a_covered_resource_without_quota_is_rejected_or_counts_as_zero(seed, manifest):
    with pytest.raises(kq.errors.InvalidSpecError, match="memory"):
        seed("001/borrowing-limit")

    notes = [str(note) for note in manifest("001/borrowing-limit", strict=False).notes]
    assert len([note for note in notes if "no quota for covered resource memory" in note]) == 2


@pytest.mark.parametrize(("others", "most"), [(0, 10), (11, 10), (12, 9)])
def test_QT_11_quota_beyond_the_lending_limit_is_not_lent(seed, others, most):
    story = seed("001/lending-limit")
    story.submit("team-b-cq", others)
    story.settle()
    story.submit("team-a-cq", 25)
    story.settle()

    assert story.used("team-a-cq") == most


def test_QT_11_T_08_the_lender_can_borrow_the_whole_quota_of_the_other(seed):
    story = seed("001/lending-limit")
    story.submit("team-b-cq", 25)
    story.settle()

    assert story.used("team-b-cq") == 21


def test_Q_05_a_head_within_nominal_quota_is_considered_first(seed):
    story = seed("001/team-ab")
    story.submit("team-a-cq", 1, {"cpu": 9}, name="a-old")
    story.settle()
    story.submit("team-a-cq", 1, {"cpu": 1}, name="a-new", priority=1000)
    story.submit("team-b-cq", 1, {"cpu": 12}, name="b-new")
    story.settle()

    assert story.running() == ["a-old", "b-new"]


def test_Q_07_T_01_only_reclaim_guarantees_the_quota_of_team_b(seed):
    story = seed("001/team-ab")
    story.submit("team-a-cq", 25)
    story.submit("team-b-cq", 25)
    story.settle()
    assert (story.used("team-a-cq"), story.used("team-b-cq")) == (10, 11)

    story = seed("001/team-ab-reclaim")
    story.submit("team-a-cq", 25)
    story.submit("team-b-cq", 25)
    story.settle()
    assert (story.used("team-a-cq"), story.used("team-b-cq")) == (9, 12)
    (victim,) = story.evicted()
    assert story.condition(victim, "Preempted")[0] == "InCohortReclamation"


def test_Q_07_two_large_jobs_and_one_need_no_preemption(seed):
    story = seed("001/team-ab-reclaim")
    story.submit("team-a-cq", 2, {"cpu": 9})
    story.submit("team-b-cq", 1, {"cpu": 12})
    story.settle()

    assert (story.used("team-a-cq"), story.used("team-b-cq")) == (9, 12)
    assert story.evicted() == []


def test_PR_05_PR_17_reclaim_preempts_only_borrowing_workloads(seed):
    story = seed("001/team-ab-reclaim")
    story.submit("team-a-cq", 21, priority=100)
    story.settle()
    story.submit("team-b-cq", 1, {"cpu": 12}, name="own")
    story.settle()

    assert story.used("team-a-cq") == 9
    assert story.used("team-b-cq") == 12
    assert len(story.evicted()) == 12


def test_PR_07_T_05_while_borrowing_only_priorities_up_to_the_threshold_are_preempted(seed):
    for priority, evicted in ((100, 1), (101, 0)):
        story = seed("001/preemption")
        story.submit("team-b-cq", 1, {"cpu": 21}, name="borrower", priority=priority)
        story.settle()
        story.submit("team-a-cq", 1, {"cpu": 10}, name="borrows-too", priority=300)
        story.settle()
        assert len(story.evicted()) == evicted


def test_FL_12_the_next_flavor_is_preferred_to_borrowing(seed):
    story = seed("001/fungibility")
    story.submit("team-a-cq", 1, {"cpu": 4}, name="job")
    story.settle()
    assert story.flavors("job") == {"cpu": "flavor2"}

    story = seed("001/fungibility")
    queue = story.scheduler.cluster.get(kq.ClusterQueue, "team-a-cq")
    story.scheduler.apply(kq.ClusterQueue(queue.name, resource_groups=queue.resource_groups, cohort_name="team-ab"))
    story.submit("team-a-cq", 1, {"cpu": 4}, name="job")
    story.settle()
    assert story.flavors("job") == {"cpu": "flavor1"}


def test_WL_08_QT_25_T_19_a_held_queue_admits_nothing_and_still_lends(seed):
    story = seed("001/stop")
    story.submit("team-a-cq", 1)
    story.submit("team-b-cq", 25)
    story.settle()

    assert story.running("team-a") == []
    assert story.used("team-b-cq") == 21
