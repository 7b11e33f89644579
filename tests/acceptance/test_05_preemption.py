"""Preemption, in addition to the example clusters (PR)."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.platform.metrics import Watch

DEFAULT = kq.ResourceFlavor("default")
ANY = kq.Preemption(reclaim_within_cohort="Any")


def _queue(name, cpu, policy=None, cohort="c", **fields):
    preemption = policy or kq.Preemption()
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, cohort_name=cohort, preemption=preemption, **fields)


def _come(story, queue, *jobs):
    """Submit jobs (name, CPUs, priority) and run a cycle after each."""
    for name, cpu, priority in jobs:
        story.submit(queue, 1, {"cpu": cpu}, name=name, priority=priority)
        story.settle()


def _within(policy):
    return kq.Preemption(within_cluster_queue=policy)


@pytest.mark.parametrize(
    ("policy", "priority", "created", "victims"),
    [
        ("Never", 10, 100, 0),
        ("LowerPriority", 10, 100, 4),
        ("LowerPriority", 0, 0, 0),
        ("LowerOrNewerEqualPriority", 10, 100, 4),
        ("LowerOrNewerEqualPriority", 0, 0, 4),
        ("LowerOrNewerEqualPriority", 0, 100, 0),
    ],
)
def test_PR_03_preemption_candidates_of_within_cluster_queue(stage, policy, priority, created, victims):
    story = stage(DEFAULT, _queue("q", 16, _within(policy), None))
    _come(story, "q", *((f"low-{number:02d}", 1, 0) for number in range(16)))
    story.submit("q", 1, {"cpu": 4}, name="new", priority=priority, created=created)
    story.settle()

    assert story.evicted() == [f"low-{number:02d}" for number in range(16 - victims, 16)]


@pytest.mark.parametrize(("priority", "victims"), [(0, 0), (1, 12)])
def test_PR_05_reclaim_from_lower_priority_only(stage, priority, victims):
    story = stage(DEFAULT, _queue("a", 9), _queue("b", 12, kq.Preemption(reclaim_within_cohort="LowerPriority")))
    story.submit("a", 21)
    story.settle()
    _come(story, "b", ("own", 12, priority))

    assert len(story.evicted()) == victims


def _standard_and_best_effort(stage, threshold):
    borrowing = kq.objects.BorrowWithinCohort("LowerPriority", threshold)
    policy = kq.Preemption("LowerPriority", "LowerPriority", borrowing)
    names = ("a-standard", "a-best-effort", "b-standard", "b-best-effort")
    borrowers = [_queue(name, kq.Quota(0, borrowing_limit=100), policy) for name in names]
    return stage(DEFAULT, *borrowers, _queue("shared", kq.Quota(100, borrowing_limit=0)))


def test_PR_06_PR_12_a_borrower_preempts_best_effort_work(stage):
    story = _standard_and_best_effort(stage, 100)
    _come(story, "a-best-effort", *((f"be-{number}", 10, 50) for number in range(10)))
    _come(story, "a-standard", ("std", 60, 250))

    assert story.evicted() == [f"be-{number}" for number in range(4, 10)]
    assert story.condition("be-9", "Preempted")[0] == "InCohortReclaimWhileBorrowing"
    assert (story.used("a-standard"), story.used("a-best-effort")) == (60, 40)


@pytest.mark.parametrize(
    ("priority", "threshold", "victims"), [(100, 100, 6), (101, 100, 0), (250, 100, 0), (250, None, 6)]
)
def test_PR_07_the_threshold_protects_workloads_of_higher_priority(stage, priority, threshold, victims):
    story = _standard_and_best_effort(stage, threshold)
    _come(story, "b-standard", *((f"victim-{number}", 10, priority) for number in range(10)))
    _come(story, "a-standard", ("std", 60, 300))

    assert len(story.evicted()) == victims


def test_PR_08_a_workload_above_nominal_quota_reclaims_nothing(stage):
    story = stage(DEFAULT, _queue("a", 9), _queue("b", 12, ANY))
    story.submit("a", 21)
    story.settle()
    _come(story, "b", ("beyond", 13, 100))

    assert story.evicted() == []


def test_PR_09_only_workloads_that_use_the_insufficient_flavor_are_candidates(stage):
    flavors = [kq.ResourceFlavor(name, node_labels={"type": name}) for name in ("one", "two")]
    quotas = {"one": {"cpu": 4}, "two": {"cpu": 4}}
    story = stage(*flavors, kq.ClusterQueue.of("q", quotas, preemption=_within("LowerPriority")))
    story.submit("q", 1, {"cpu": 4}, name="on-one", priority=1, node_selector={"type": "one"})
    story.submit("q", 1, {"cpu": 4}, name="on-two", node_selector={"type": "two"})
    story.settle()
    story.submit("q", 1, {"cpu": 4}, name="high", priority=2, node_selector={"type": "one"})
    story.settle()

    assert story.evicted() == ["on-one"]


def test_PR_10_workloads_of_other_queues_are_preempted_before_those_of_the_own_queue(stage):
    policy = kq.Preemption("Any", "LowerPriority")
    story = stage(DEFAULT, _queue("a", 6, policy), _queue("b", 6))
    _come(story, "b", ("other-1", 6, 5), ("other-2", 2, 5))
    _come(story, "a", ("mine", 4, 0))
    _come(story, "a", ("new", 2, 10))

    assert story.evicted() == ["other-2"]


def test_PR_10_lower_priority_is_preempted_first_and_then_the_newest(stage):
    story = stage(DEFAULT, _queue("q", 4, _within("LowerPriority"), None))
    _come(story, "q", ("old-1", 1, 1), ("low", 1, 0), ("old-2", 1, 1), ("newest", 1, 1))
    _come(story, "q", ("first", 1, 9))
    assert story.evicted() == ["low"]

    _come(story, "q", ("second", 1, 9))
    assert story.evicted() == ["low", "newest"]


def test_PR_11_PR_14_a_preemptor_within_its_queue_may_borrow(stage):
    story = stage(DEFAULT, _queue("a", 4, _within("LowerPriority")), _queue("b", 4))
    _come(story, "a", ("low-1", 4, 0), ("low-2", 4, 0), ("high", 4, 10))

    assert story.evicted() == ["low-2"]
    assert story.used("a") == 8


def test_PR_13_PR_15_below_nominal_quota_it_preempts_all_candidates_without_borrowing(stage):
    policy = kq.Preemption("Any", "LowerPriority")
    story = stage(DEFAULT, _queue("a", 6, policy), _queue("b", 6))
    _come(story, "b", ("b-1", 6, 100), ("b-2", 3, 100))
    _come(story, "a", ("a-low", 3, 0))
    _come(story, "a", ("a-high", 6, 10))

    assert story.evicted() == ["b-2", "a-low"]
    assert (story.used("a"), story.used("b")) == (6, 6)


def test_PR_16_no_workload_is_preempted_unnecessarily(stage):
    story = stage(DEFAULT, _queue("q", 7, _within("LowerPriority"), None))
    _come(story, "q", ("four", 4, 0), ("one", 1, 0), ("two", 2, 0), ("new", 4, 10))

    assert story.evicted() == ["four"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(1, 12))
def test_PR_17_no_queue_is_reduced_below_its_nominal_quota(borrowed, asked):
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, _queue("a", 9), _queue("b", 12, ANY)))
    pods = [("a", f"a-{number}", cpu) for number, cpu in enumerate(borrowed)]
    for queue, name, cpu in [*pods, ("b", "own", asked)]:
        pod_set = kq.PodSet.of(requests={"cpu": cpu})
        scheduler.submit(kq.Workload(name, queue_name=queue, pod_sets=(pod_set,)))
        before = scheduler._engine.usage()["a"].get("default/cpu", 0)
        scheduler.advance(1)
        scheduler.settle(max_cycles=4)

    after = scheduler._engine.usage()["a"].get("default/cpu", 0)
    assert after == before or after + 4000 > 9000


def test_PR_18_queues_nearer_in_the_cohort_tree_are_preferred(stage):
    limit = [kq.ResourceGroup.of({"default": {"cpu": 6}})]
    story = stage(
        DEFAULT,
        kq.Cohort("root"),
        kq.Cohort("left", parent_name="root", resource_groups=limit),
        kq.Cohort("right", parent_name="root"),
        _queue("near", 0, kq.Preemption(reclaim_within_cohort="Any"), "left"),
        _queue("own", 6, kq.Preemption(reclaim_within_cohort="LowerPriority"), "left"),
        _queue("far", 0, cohort="right"),
    )
    _come(story, "far", ("far-high", 6, 1000))
    _come(story, "near", ("near-low", 6, 0))
    _come(story, "own", ("mine", 6, 1))

    assert story.running() == ["near-low", "mine"]
    assert story.condition("far-high", "Preempted")[0] == "InCohortReclamation"


def test_PR_19_PR_27_every_preemption_has_the_reason_of_its_rule(stage):
    story = stage(DEFAULT, _queue("a", 4), _queue("b", 4, kq.Preemption("Any", "LowerPriority")))
    watch = Watch(story.scheduler)
    _come(story, "a", ("borrower", 8, 0))
    _come(story, "b", ("low", 4, 0))
    _come(story, "a", ("within-nominal", 4, 0))
    _come(story, "b", ("high", 4, 9))

    reasons = [story.condition(name, "Preempted")[0] for name in story.evicted()]
    assert reasons == ["InCohortReclamation", "InClusterQueue"]
    counted = re.findall(
        r'^kueue_preempted_workloads_total\{.*reason="(\w+)".*\} ([\d.]+)$', watch.metrics_text(), re.MULTILINE
    )
    assert sorted(counted) == [("InClusterQueue", "1.0"), ("InCohortReclamation", "1.0")]


def test_PR_20_the_preemptor_waits_until_its_victim_has_stopped(stage):
    story = stage(DEFAULT, _queue("q", 4, _within("LowerPriority"), None))
    _come(story, "q", ("low", 4, 0))
    story.submit("q", 1, {"cpu": 4}, name="high", priority=1)
    (decision,) = story.scheduler.cycle()

    assert decision == kq.Preempting(
        workload="default/high",
        cluster_queue="q",
        targets=(kq.Target("default/low", "InClusterQueue", "q"),),
        reason="WaitingForPreemptedWorkloads",
        message=decision.message,
        attempts=decision.attempts,
    )
    assert story.used("q") == 4
    assert story.is_true("low", "QuotaReserved")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 9), st.integers(0, 2)), max_size=14))
def test_PR_28_classical_preemption_terminates(jobs):
    policy = kq.Preemption("Any", "LowerPriority", kq.objects.BorrowWithinCohort("LowerPriority", 1))
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, _queue("a", 5, policy), _queue("b", 5, policy)))
    for number, (queue, cpu, priority) in enumerate(jobs):
        pod_set = kq.PodSet.of(requests={"cpu": cpu})
        scheduler.submit(kq.Workload(f"j-{number:02d}", queue_name=queue, pod_sets=(pod_set,), priority=priority))
    settled = scheduler.settle(max_cycles=500)

    assert settled.finished
    assert settled.loop is None
