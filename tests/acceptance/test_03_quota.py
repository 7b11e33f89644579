"""Quota and cohorts, in addition to the example clusters (QT)."""

import pytest

import kueuepy as kq

GI = 2**30
DEFAULT = kq.ResourceFlavor("default")


def _queue(name, cpu, cohort="c", **fields):
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, cohort_name=cohort, **fields)


def _pool(name, cpu=0, **fields):
    groups = [kq.ResourceGroup.of({"default": {"cpu": cpu}})]
    return kq.Cohort(name, resource_groups=groups, **fields)


def _most(story, queue, count=40, requests=None):
    story.submit(queue, count, requests)
    story.settle()
    return len(story.running(queue))


@pytest.mark.parametrize(("own", "most"), [({}, 0), ({"gpu-a100": {"cpu": 0}}, 4)])
def test_QT_07_a_queue_can_only_borrow_its_own_flavors(stage, own, most):
    lender = kq.ClusterQueue.of("b", {"gpu-a100": {"cpu": 4}}, cohort_name="c")
    borrower = kq.ClusterQueue.of("a", {"default": {"cpu": 0}, **own}, cohort_name="c")
    story = stage(DEFAULT, kq.ResourceFlavor("gpu-a100"), lender, borrower)

    assert _most(story, "a", 5) == most
    if not most:
        assert story.condition("a-0000")[0] == "ExceedsMaxQuota"


def test_QT_08_a_pod_set_gets_a_resource_from_one_flavor(stage):
    queue = kq.ClusterQueue.of("q", {"ondemand": {"cpu": 1}, "spot": {"cpu": 2}})
    story = stage(kq.ResourceFlavor("ondemand"), kq.ResourceFlavor("spot"), queue)
    story.submit("q", 1, name="three", pods=3)
    story.settle()

    assert story.running() == []


def test_QT_09_a_borrowing_limit_of_0_is_never_to_borrow(stage):
    story = stage(DEFAULT, _queue("a", kq.Quota(8, borrowing_limit=0)), _queue("b", 16))

    assert _most(story, "a") == 8


def test_QT_17_a_cohort_may_have_quota(stage):
    story = stage(DEFAULT, _pool("hello-cohort", 12), _queue("q", 0, "hello-cohort"))

    assert _most(story, "q", 13) == 12
    assert story.condition("q-0012")[0] == "WaitingForQuota"


def _research(stage):
    limit = kq.ResourceGroup.of({"default": {"cpu": kq.Quota(0, borrowing_limit=0)}})
    return stage(
        DEFAULT,
        kq.Cohort("root"),
        kq.Cohort("research", parent_name="root", resource_groups=[limit]),
        _queue("of-research", 10, "research"),
        _queue("production", 10, "root"),
    )


@pytest.mark.parametrize(("queue", "most"), [("production", 20), ("of-research", 10)])
def test_QT_18_QT_19_a_cohort_that_must_not_borrow_can_still_lend(stage, queue, most):
    assert _most(_research(stage), queue) == most


def test_QT_18_organisations_that_do_not_borrow_and_a_queue_for_unused_quota(stage):
    closed = kq.ResourceGroup.of({"default": {"cpu": kq.Quota(0, borrowing_limit=0)}})
    organisations = [kq.Cohort(name, parent_name="root", resource_groups=[closed]) for name in ("one", "two")]
    queues = [_queue("of-one", 10, "one"), _queue("of-two", 10, "two"), _queue("special", 0, "root")]
    for queue, most in (("of-one", 10), ("of-two", 10), ("special", 20)):
        assert _most(stage(DEFAULT, kq.Cohort("root"), organisations, queues), queue) == most

    story = stage(DEFAULT, kq.Cohort("root"), organisations, queues)
    assert _most(story, "of-one", 4) == 4
    assert _most(story, "special") == 16


@pytest.mark.parametrize(("own", "limit", "lent", "others"), [(3, 4, 5, 6), (3, 9, 5, 6), (0, 2, 1, 0), (4, 0, 9, 9)])
def test_QT_18_the_maximum_is_the_quota_plus_the_smaller_of_borrowing_limit_and_lent_quota(
    stage, own, limit, lent, others
):
    queues = [
        _queue("a", kq.Quota(own, borrowing_limit=limit)),
        _queue("b", kq.Quota(lent + 2, lending_limit=lent)),
        _queue("c", others),
    ]
    assert _most(stage(DEFAULT, queues[:2]), "a") == own + min(limit, lent)
    assert _most(stage(DEFAULT, queues), "a") == own + min(limit, lent + others)


def test_QT_18_whole_subtrees_borrow_from_each_other(stage):
    story = stage(
        DEFAULT,
        kq.Cohort("root"),
        kq.Cohort("left", parent_name="root"),
        kq.Cohort("right", parent_name="root"),
        _queue("a", 3, "left"),
        _queue("b", 4, "right"),
        _queue("c", 5, "right"),
    )

    assert _most(story, "a") == 12


@pytest.mark.parametrize(("lends", "most"), [(2, 7), (0, 5)])
def test_QT_19_a_cohort_lends_at_most_its_lending_limit(stage, lends, most):
    limit = kq.ResourceGroup.of({"default": {"cpu": kq.Quota(0, lending_limit=lends)}})
    story = stage(
        DEFAULT,
        kq.Cohort("root"),
        kq.Cohort("right", parent_name="root", resource_groups=[limit]),
        _queue("a", 5, "root"),
        _queue("b", 9, "right"),
    )

    assert _most(story, "a") == most


def test_QT_20_below_a_cycle_of_cohorts_nothing_is_admitted_and_running_workloads_continue(stage):
    story = stage(DEFAULT, kq.Cohort("up"), kq.Cohort("down", parent_name="up"), _queue("q", 9, "down"))
    story.submit("q", 1, name="runs")
    story.settle()
    story.scheduler.apply(kq.Cohort("up", parent_name="down"))
    story.submit("q", 1, name="waits")
    story.settle()

    assert story.running() == ["runs"]


def test_QT_21_reducing_quota_below_usage_evicts_no_workload_and_admits_none(stage):
    story = stage(DEFAULT, _queue("q", 9, None))
    story.submit("q", 12)
    story.settle()
    story.scheduler.apply(_queue("q", 5, None))
    story.settle()
    assert len(story.running()) == 9
    assert story.evicted() == []

    story.scheduler.finish("q-0000", "q-0001", "q-0002", "q-0003")
    story.settle()
    assert len(story.running()) == 5
    story.scheduler.finish("q-0004")
    story.settle()
    assert len(story.running()) == 5
    assert "q-0009" in story.running()


def test_QT_25_quota_borrowed_by_a_held_queue_cannot_be_reclaimed(stage):
    for stop, victims in (("Hold", 0), ("None", 12)):
        story = stage(DEFAULT, _queue("a", 9), _queue("b", 12, preemption=kq.Preemption(reclaim_within_cohort="Any")))
        story.submit("a", 21)
        story.settle()
        story.scheduler.apply(_queue("a", 9, stop_policy=stop))
        story.submit("b", 1, {"cpu": 12}, name="own")
        story.settle()
        assert len(story.evicted()) == victims
        assert ("own" in story.running()) is bool(victims)
        assert ("12 more needed" in story.condition("own")[1]) is not bool(victims)


def test_QT_26_the_quotas_of_a_first_cohort(stage):
    limits = {"cpu": kq.Quota(9, borrowing_limit=6), "memory": kq.Quota("36Gi", borrowing_limit="24Gi")}
    story = stage(
        DEFAULT,
        kq.ClusterQueue.of("team-a", {"default": limits}, cohort_name="c"),
        kq.ClusterQueue.of("team-b", {"default": {"cpu": 12, "memory": "48Gi"}}, cohort_name="c"),
    )

    assert _most(story, "team-a", 20, {"cpu": 1, "memory": "4Gi"}) == 15
    assert story.used("team-a", "memory") == 60 * GI


def _dedicated(name, arm, x86, memory):
    """Return a queue that lends memory and x86, but not its arm nodes."""
    return kq.ClusterQueue(
        name,
        resource_groups=[
            kq.ResourceGroup.of({"arm": {"cpu": kq.Quota(arm, borrowing_limit=0)}, "x86": {"cpu": x86}}),
            kq.ResourceGroup.of({"default": {"memory": memory}}),
        ],
        cohort_name="c",
    )


@pytest.mark.parametrize(("queue", "arm"), [("team-a", 9), ("team-b", 12)])
def test_QT_26_dedicated_and_shared_quotas(stage, queue, arm):
    shared = [kq.ResourceGroup.of({"x86": {"cpu": 6}}), kq.ResourceGroup.of({"default": {"memory": "24Gi"}})]
    story = stage(
        DEFAULT,
        kq.ResourceFlavor("arm"),
        kq.ResourceFlavor("x86"),
        _dedicated("team-a", 9, 0, "36Gi"),
        _dedicated("team-b", 12, 0, "48Gi"),
        kq.ClusterQueue("shared-cq", resource_groups=shared, cohort_name="c"),
    )

    assert _most(story, queue) == arm + 6
    assert (story.used(queue, flavor="arm"), story.used(queue, flavor="x86")) == (arm, 6)
    story.submit(queue, 30, {"memory": "4Gi"}, name="memory")
    story.settle()
    assert story.used(queue, "memory") == 108 * GI
