"""Admission fair sharing between the LocalQueues of a ClusterQueue (AF)."""

import msgspec
import pytest

import kueuepy as kq

SECOND = 10**9
DEFAULT = kq.ResourceFlavor("default")


def _stage(
    stage,
    half_life,
    sampling,
    quotas,
    *,
    weights=None,
    preemption=None,
    local_weights=("1", "1"),
    strategy="StrictFIFO",
    checks=(),
):
    usage = kq.objects.AdmissionFairSharing(half_life, sampling, weights or {})
    queue = kq.ClusterQueue.of(
        "cq",
        {"default": quotas},
        queueing_strategy=strategy,
        admission_scope="UsageBasedAdmissionFairSharing",
        preemption=preemption or kq.Preemption(),
        admission_checks_strategy=tuple(map(kq.objects.AdmissionCheckStrategyRule, checks)),
    )
    declared = [kq.AdmissionCheck(name, controller_name="a-controller") for name in checks]
    doors = [
        kq.LocalQueue(f"lq-{name}", cluster_queue="cq", fair_sharing=kq.FairSharing(weight))
        for name, weight in zip("ab", local_weights, strict=True)
    ]
    return stage(DEFAULT, *declared, queue, *doors, configuration=kq.Configuration(admission_fair_sharing=usage))


def _consumed(story, queue, resource="cpu"):
    return float(story.scheduler._engine.consumed()[f"default/{queue}"][resource])


def test_AF_01_local_queues_alternate_by_usage(stage):
    story = _stage(stage, 3600, 10, {"cpu": 9})
    story.submit("lq-a", 3, {"cpu": 3})
    story.settle()
    story.submit("lq-a", 1, {"cpu": 3}, name="a-more", priority=100)
    story.submit("lq-b", 1, {"cpu": 3}, name="b-first")
    assert [row["key"] for row in story.scheduler.queues.rows()] == ["default/b-first", "default/a-more"]
    story.scheduler.finish("lq-a-0000")
    assert [d.workload for d in story.settle().admitted] == ["default/b-first"]


def test_AF_02_AF_03_usage_decays_towards_current_usage_after_an_entry_penalty(stage):
    story = _stage(stage, 10, 10, {"cpu": 4})
    story.submit("lq-a", 1, {"cpu": 4}, name="runs")
    story.scheduler.settle()
    assert _consumed(story, "lq-a") == 2  # the penalty: A = 0.5 of the request
    for usage in (3, 3.5):
        story.scheduler.advance(10)
        story.submit("lq-b", 1, {"cpu": 4}, name=f"waits-{usage}")
        story.scheduler.settle()
        assert _consumed(story, "lq-a") == usage


def test_AF_02_a_week_of_half_life_and_samples_of_five_minutes(stage):
    story = _stage(stage, 168 * 3600, 300, {"cpu": 1000})
    story.submit("lq-a", 1, {"cpu": 1000}, name="runs")
    story.scheduler.settle()
    assert _consumed(story, "lq-a") / 1000 == pytest.approx(3.4376e-4, rel=1e-4)


def test_AF_02_usage_halves_in_every_half_life_without_running_workloads(stage):
    story = _stage(stage, 600, 300, {"cpu": 8})
    story.scheduler.settle()
    story.scheduler.advance(10)
    story.submit("lq-a", 1, {"cpu": 4}, name="runs")
    story.scheduler.settle()
    # The penalty of 4 x (1 - 0.5^(300/600)), and 10 s of 4 cores: both cut at the ninth digit.
    assert story.scheduler._engine.consumed()["default/lq-a"] == {"cpu": "1.217516793"}
    for passed, consumed in ((300, "2.032487255"), (300, "2.608758395")):
        story.scheduler.advance(passed)
        story.scheduler.settle()
        assert story.scheduler._engine.consumed()["default/lq-a"] == {"cpu": consumed}
    story.scheduler.advance(90)
    story.scheduler.finish("runs")
    for passed, consumed in ((210, "1.844670751"), (300, "1.304379197")):
        story.scheduler.advance(passed)
        story.scheduler.settle()
        assert story.scheduler._engine.consumed()["default/lq-a"] == {"cpu": consumed}


def test_AF_02_without_a_half_life_past_usage_is_ignored(stage):
    story = _stage(stage, 0, 300, {"cpu": 6})
    story.submit("lq-a", 1, {"cpu": 6}, name="runs")
    story.settle()
    story.scheduler.advance(1000)
    story.settle()
    assert story.scheduler._engine.consumed() == {}
    story.submit("lq-b", 1, {"cpu": 3}, name="b-next")
    story.submit("lq-a", 1, {"cpu": 3}, name="a-next", priority=1)
    assert [row["key"] for row in story.scheduler.queues.rows()] == ["default/a-next", "default/b-next"]


def test_AF_03_the_penalty_is_added_with_the_reservation_and_removed_once(stage):
    story = _stage(stage, 10, 10, {"cpu": 8}, checks=["check"])
    story.submit("lq-a", 1, {"cpu": 4}, name="runs")
    story.scheduler.settle()
    assert story.scheduler._engine.consumed()["default/lq-a"] == {"penalty:cpu": "2.000000000"}
    story.scheduler.set_check("runs", "check", "Ready")
    for _ in range(2):
        story.scheduler.settle()
        assert story.scheduler._engine.consumed()["default/lq-a"] == {"cpu": "2.000000000"}


def test_AF_03_a_workload_that_never_starts_has_no_penalty(stage):
    story = _stage(stage, 10, 10, {"cpu": 8}, checks=["check"])
    story.submit("lq-a", 1, {"cpu": 4}, name="runs")
    story.scheduler.settle()
    story.scheduler.delete("runs")
    assert "default/lq-a" not in story.scheduler._engine.consumed()


@pytest.mark.parametrize(
    ("weights", "local_weight", "usage"),
    [({}, "1", 1073741826), ({"memory": 0.0}, "1", 2), ({"cpu": 3.0, "memory": 0.0}, "2", 3)],
)
def test_AF_04_usage_counts_cores_and_bytes(stage, weights, local_weight, usage):
    quotas = {"cpu": 9, "memory": "9Gi"}
    story = _stage(stage, 10, 10, quotas, weights=weights, local_weights=(local_weight, "1"), checks=["check"])
    story.submit("lq-a", 1, {"cpu": 4, "memory": "2Gi"}, name="waits")  # half of it is the penalty
    story.scheduler.settle()
    (told,) = [queue.consumed[0] for queue in story.scheduler._engine.local_queue_status() if queue.name == "lq-a"]
    assert told == usage


@pytest.mark.parametrize(
    ("weights", "first"), [({}, "b"), ({"cpu": 2.0, "memory": 1.0}, "b"), ({"memory": 1 / 2**30}, "a")]
)
def test_AF_04_memory_counts_in_bytes_without_a_resource_weight(stage, weights, first):
    story = _stage(stage, 3600, 10, {"cpu": 100, "memory": "100Gi"}, weights=weights)
    story.submit("lq-a", 1, {"cpu": 10, "memory": "2Gi"}, name="memory")
    story.submit("lq-b", 1, {"cpu": 80, "memory": "1Gi"}, name="cpu")
    story.settle()
    for queue in "ab":
        story.submit(f"lq-{queue}", 1, {"cpu": 20}, name=f"{queue}-next")
    assert story.scheduler.queues.rows()[0]["key"] == f"default/{first}-next"


@pytest.mark.parametrize(
    ("local_weights", "first"), [(("1", "1"), "b"), (("4", "1"), "a"), (("0", "1"), "b"), (("1", "0"), "a")]
)
def test_AF_05_usage_is_divided_by_the_weight_of_the_local_queue(stage, local_weights, first):
    story = _stage(stage, 3600, 10, {"cpu": 9}, local_weights=local_weights)
    story.submit("lq-a", 1, {"cpu": 6}, name="six")
    story.submit("lq-b", 1, {"cpu": 3}, name="three")
    story.settle()
    for queue in "ab":
        story.submit(f"lq-{queue}", 1, {"cpu": 3}, name=f"{queue}-next")
    assert story.scheduler.queues.rows()[0]["key"] == f"default/{first}-next"


@pytest.mark.parametrize(("by_usage", "victim"), [(True, "mine"), (False, "low")])
def test_AF_06_the_local_queue_with_most_usage_is_preempted_first_whatever_its_priority(stage, by_usage, victim):
    lower = kq.Preemption(within_cluster_queue="LowerPriority")
    story = _stage(stage, 3600, 10, {"cpu": 6}, preemption=lower)
    if not by_usage:
        queue = story.scheduler.cluster.get(kq.ClusterQueue, "cq")
        story.scheduler.apply(msgspec.structs.replace(queue, admission_scope=None))
    story.submit("lq-a", 1, {"cpu": 6}, name="before")
    story.settle()
    story.scheduler.finish("before")
    for door, name, priority in (("lq-a", "mine", 3), ("lq-b", "low", 0), ("lq-b", "middle", 1)):
        story.submit(door, 1, {"cpu": 2}, name=name, priority=priority)
        story.settle()
    story.submit("lq-b", 1, {"cpu": 2}, name="urgent", priority=5)
    (decision,) = story.scheduler.cycle()
    assert decision.targets == (kq.Target(f"default/{victim}", "InClusterQueue", "cq"),)


def test_AF_07_decayed_usage_is_recorded_for_each_local_queue():
    usage = kq.objects.AdmissionFairSharing(100, 10, {})
    queue = kq.ClusterQueue.of("cq", {"default": {"cpu": 4}}, admission_scope="UsageBasedAdmissionFairSharing")
    doors = [kq.LocalQueue(f"lq-{name}", cluster_queue="cq") for name in "ab"]
    configuration = kq.Configuration(admission_fair_sharing=usage)
    cluster = kq.Cluster(DEFAULT, queue, *doors, configuration=configuration)
    jobs = [
        {"name": "first", "queue": "lq-a", "cpu": 4, "submit": 0, "duration": 100},
        {"name": "second", "queue": "lq-b", "cpu": 4, "submit": 300, "duration": 10},
    ]
    found = kq.compare(cluster, cluster, jobs)
    series = {}
    for row in found.before.consumed.rows():
        series.setdefault(row["local_queue"], {})[row["seconds"]] = row["consumed"]
    assert set(series) == {"default/lq-a", "default/lq-b"}
    penalty = 4 * (1 - 0.5 ** (10 / 100))
    assert series["default/lq-a"][0] == pytest.approx(penalty)
    left = 0.5 ** (90 / 100)
    assert series["default/lq-a"][90] == pytest.approx(4 * (1 - left) + penalty * left)
    assert series["default/lq-a"][200] == pytest.approx(series["default/lq-a"][100] / 2)
    picture = found.picture("consumed")
    assert picture.title == "Decayed usage by LocalQueue (cpu)"
    assert picture.svg.count("<polyline") == 4
