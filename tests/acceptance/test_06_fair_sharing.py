"""Fair sharing between ClusterQueues and Cohorts (FS)."""

import math

import pytest

import kueuepy as kq
from kueuepy.lint import lint

DEFAULT = kq.ResourceFlavor("default")
POLICIES = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"


def _fair(*strategies, **gates):
    strategies = strategies or (FINAL, INITIAL)
    return kq.Configuration(fair_sharing=kq.FairSharingConfig(strategies), feature_gates=gates)


def _queue(name, cpu, cohort="k", weight="1", **fields):
    fields.setdefault("preemption", POLICIES)
    return kq.ClusterQueue.of(
        name, {"default": {"cpu": cpu}}, cohort_name=cohort, fair_sharing=kq.FairSharing(weight), **fields
    )


def _pool(name, cpu):
    return kq.Cohort(name, resource_groups=[kq.ResourceGroup.of({"default": {"cpu": cpu}})])


def _share(story, name):
    return next(row for row in story.scheduler.shares.rows() if row["name"] == name)


def _compared(story, name):
    """The shares that a rule compared for each candidate: ours, theirs before and after its loss; whether it held."""
    found = [cause.facts for cause in story.scheduler.explain(name).find("comparison")]
    return [tuple(facts[field] for field in ("our_share", "their_share", "final_share", "holds")) for facts in found]


def _preemptions(settled):
    return len(settled.preempted)


def test_FS_01_the_configuration_enables_fair_sharing():
    text = (
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        "fairSharing:\n  preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]\n"
    )
    assert kq.load(text).configuration.fair_sharing.preemption_strategies == (FINAL, INITIAL)
    assert kq.Configuration().fair_sharing is None


@pytest.mark.parametrize(("weight", "share", "rounded"), [("1", 250, 250), ("2", 125, 125), ("0", math.inf, 2**63 - 1)])
def test_FS_02_FS_03_the_share_is_borrowed_over_lendable_quota_divided_by_the_weight(stage, weight, share, rounded):
    story = stage(DEFAULT, _queue("a", 10, weight=weight), _queue("b", 10), configuration=_fair())
    story.submit("a", 15)
    story.settle()
    found = _share(story, "a")
    assert (found["share"], found["rounded"]) == (share, rounded)
    assert (found["borrowed"], found["lendable"]) == (5, 20)
    assert _share(story, "b")["share"] == 0


def test_FS_02_the_status_rounds_up(stage):
    story = stage(DEFAULT, _queue("a", 1), _queue("b", 2), configuration=_fair())
    story.submit("a", 2)
    story.settle()
    found = _share(story, "a")
    assert (found["share"], found["rounded"]) == (1000 / 3, 334)


def test_FS_04_the_head_with_the_smaller_share_is_considered_first(stage):
    story = stage(DEFAULT, _pool("k", 5), _queue("a", 0), _queue("b", 0), configuration=_fair())
    story.submit("a", 3)
    story.submit("b", 1)
    story.settle()
    story.submit("a", name="a-next")
    story.submit("b", name="b-next")
    cycle = story.scheduler.cycle()
    assert [d.workload for d in cycle.admitted] == ["default/b-next"]


def test_FS_04_a_head_that_does_not_borrow_is_considered_first(stage):
    story = stage(DEFAULT, _queue("a", 0, weight="1000"), _queue("b", 2), configuration=_fair())
    story.submit("b", name="b-first")
    story.settle()
    story.submit("a", name="a-next")
    story.submit("b", name="b-next")
    assert [d.workload for d in story.scheduler.cycle().admitted] == ["default/b-next"]


def test_FS_04_with_equal_shares_priority_and_then_age_decide(stage):
    story = stage(DEFAULT, _pool("k", 1), *(_queue(name, 0) for name in "abc"), configuration=_fair())
    story.submit("a", name="young", created=9)
    story.submit("b", name="old", created=1)
    story.submit("c", name="urgent", created=9, priority=1)
    for name in ("urgent", "old", "young"):
        assert [d.workload for d in story.scheduler.cycle().admitted] == [f"default/{name}"]
        story.scheduler.finish(name)


def test_FS_05_less_than_or_equal_to_final_share(stage):
    story = stage(DEFAULT, _pool("k", 8), _queue("a", 0), _queue("b", 0), configuration=_fair(FINAL))
    story.submit("a", 1, {"cpu": 8}, name="whole")
    story.settle()
    story.submit("b", 1, {"cpu": 6}, name="six")
    assert isinstance(story.scheduler.cycle()[0], kq.Pending)
    assert _compared(story, "six") == [(750, 1000, 0, False)]


def test_FS_05_equal_final_shares_allow_preemption(stage):
    story = stage(DEFAULT, _pool("k", 8), _queue("a", 0), _queue("b", 0), configuration=_fair(FINAL))
    story.submit("a", 2, {"cpu": 4})
    story.settle()
    story.submit("b", 1, {"cpu": 4}, name="four")
    assert _compared(story, "four") == [(500, 1000, 500, True)]
    assert len(story.scheduler.cycle()[0].targets) == 1


def test_FS_06_equal_initial_shares_do_not_allow_preemption(stage):
    story = stage(DEFAULT, _pool("k", 8), *(_queue(name, 0) for name in "abc"), configuration=_fair(INITIAL))
    for queue, cpu in (("a", 4), ("b", 2), ("c", 2)):
        story.submit(queue, 1, {"cpu": cpu})
    story.settle()
    story.submit("b", 1, {"cpu": 2}, name="two")
    assert _compared(story, "two") == [(500, 500, 0, False), (500, 250, 0, False)]
    assert isinstance(story.scheduler.cycle()[0], kq.Pending)


def test_FS_06_less_than_initial_share(stage):
    story = stage(DEFAULT, _pool("k", 8), _queue("a", 0), _queue("b", 0), configuration=_fair(INITIAL))
    story.submit("a", 1, {"cpu": 8}, name="whole")
    story.settle()
    story.submit("b", 1, {"cpu": 6}, name="six")
    (decision,) = story.scheduler.cycle()
    assert decision.targets == (kq.Target("default/whole", "InCohortFairSharing", "a"),)
    assert _compared(story, "six") == [(750, 1000, 0, True)]


@pytest.mark.parametrize("strategies", [(FINAL,), (INITIAL,), (FINAL, INITIAL)])
def test_FS_07_valid_lists_of_strategies(strategies):
    assert kq.Cluster(configuration=_fair(*strategies)).configuration.fair_sharing.preemption_strategies == strategies


@pytest.mark.parametrize("strategies", [(INITIAL, FINAL), (FINAL, FINAL), ()])
def test_FS_07_other_lists_of_strategies_are_rejected(strategies):
    with pytest.raises(kq.errors.InvalidSpecError, match="preemptionStrategies"):
        kq.Cluster(configuration=kq.Configuration(fair_sharing=kq.FairSharingConfig(strategies)))


@pytest.mark.parametrize("policy", ["Never", "LowerPriority"])
def test_FS_08_borrow_within_cohort_has_no_effect(stage, policy):
    borrow = kq.objects.BorrowWithinCohort(policy)
    preemption = kq.Preemption("Any", "LowerPriority", borrow)
    queues = [_queue(name, 0, preemption=preemption) for name in "ab"]
    story = stage(DEFAULT, _pool("k", 8), *queues, configuration=_fair())
    story.submit("a", 8)
    story.settle()
    story.submit("b", 8)
    assert _preemptions(story.settle()) == 4
    assert (story.used("a"), story.used("b")) == (4, 4)
    warned = {finding.object for finding in lint(story.scheduler.cluster) if finding.rule == "L5"}
    assert len(warned) == (0 if policy == "Never" else 2)


def test_FS_09_story_of_300_gpus_at_a_tenth(stage):
    queues = [_queue("1a", 0, "c1"), _queue("1b", 0, "c1"), _queue("1c", 0, "c1", "3"), _queue("2a", 0, "c2")]
    cohorts = [_pool("root", 30), kq.Cohort("c1", parent_name="root"), kq.Cohort("c2", parent_name="root")]
    story = stage(DEFAULT, *cohorts, *queues, configuration=_fair())
    for name in ("1a", "1b", "1c", "2a"):
        story.submit(name, 30)
    assert _preemptions(story.settle()) == 10
    assert [story.used(name) for name in ("1a", "1b", "1c", "2a")] == [3, 3, 9, 15]
    assert [_share(story, name)["share"] for name in ("1a", "1b", "1c")] == [100, 100, 100]
    assert [_share(story, name)["share"] for name in ("2a", "c1", "c2")] == [500, 500, 500]


@pytest.mark.parametrize(
    ("policies", "important", "regular", "preempted"),
    [(POLICIES, 30, 10, 10), (kq.Preemption(), 20, 20, 0)],
)
def test_FS_10_cohort_weights_apply_if_queues_may_preempt(stage, policies, important, regular, preempted):
    story = stage(
        DEFAULT,
        _pool("root", 40),
        kq.Cohort("imp", parent_name="root", fair_sharing=kq.FairSharing("0.75")),
        kq.Cohort("reg", parent_name="root", fair_sharing=kq.FairSharing("0.25")),
        _queue("i", 0, "imp", preemption=policies),
        _queue("r", 0, "reg", preemption=policies),
        configuration=_fair(),
    )
    story.submit("i", 45)
    story.submit("r", 45)
    settled = story.settle()
    assert (story.used("i"), story.used("r"), _preemptions(settled)) == (important, regular, preempted)
    if preempted:
        assert (_share(story, "i")["share"], _share(story, "r")["share"]) == (750, 250)


@pytest.mark.parametrize(("on", "verdict"), [(True, kq.Preempting), (False, kq.Pending)])
def test_FS_11_a_queue_within_its_nominal_quota_may_always_preempt(stage, on, verdict):
    def queue(name, cpu, gpu):
        quotas = {"default": {"cpu": cpu, "gpu": gpu}}
        return kq.ClusterQueue.of(name, quotas, cohort_name="k", preemption=POLICIES)

    configuration = _fair(FairSharingPreemptWithinNominal=on)
    story = stage(DEFAULT, queue("a", 6, 0), queue("b", 2, 0), queue("c", 0, 4), configuration=configuration)
    story.submit("b", 1, {"gpu": 4}, name="gpus")
    story.submit("a", 8, {"cpu": 1}, name="cpus")
    story.settle()
    story.submit("b", 1, {"cpu": 1}, name="own")
    assert _share(story, "b")["share"] > _share(story, "a")["share"] > 0
    assert isinstance(story.scheduler.cycle()[0], verdict)


@pytest.mark.parametrize("strategies", [(FINAL,), (INITIAL,), (FINAL, INITIAL)])
def test_FS_12_usage_changes_from_eight_to_zero_to_four_each(stage, strategies):
    story = stage(DEFAULT, _queue("a", 0), _queue("b", 0), _queue("sh", 8), configuration=_fair(*strategies))
    story.submit("a", 8)
    story.settle()
    story.submit("b", 8)
    settled = story.settle()
    assert (story.used("a"), story.used("b"), _preemptions(settled), settled.loop) == (4, 4, 4, None)


def test_FS_12_with_classical_preemption_usage_stays_eight_to_zero(stage):
    story = stage(DEFAULT, _queue("a", 0), _queue("b", 0), _queue("sh", 8))
    story.submit("a", 8)
    story.settle()
    story.submit("b", 8)
    assert _preemptions(story.settle()) == 0
    assert (story.used("a"), story.used("b")) == (8, 0)


@pytest.mark.parametrize(("weight", "valid"), [("0", True), ("0.5", True), ("2", True), ("-1", False), ("1n", False)])
def test_FS_14_a_weight_is_0_or_more_than_a_billionth(weight, valid):
    weighed = kq.FairSharing(weight)
    objects = (DEFAULT, _queue("a", 1, weight=weight), kq.Cohort("k", fair_sharing=weighed))
    door = kq.LocalQueue("a", cluster_queue="a", fair_sharing=weighed)  # which Kueue does not validate
    assert kq.load(kq.dump(kq.Cluster(DEFAULT, _queue("a", 1), door))).local_queues == (door,)
    if valid:
        assert kq.load(kq.dump(kq.Cluster(*objects))) == kq.Cluster(*objects)
    else:
        with pytest.raises(kq.errors.InvalidSpecError, match="weight"):
            kq.Cluster(*objects)
