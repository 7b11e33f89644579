"""Section 7: admission fair sharing between the LocalQueues of a ClusterQueue."""

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
):
    usage = kq.AdmissionFairSharing(half_life * SECOND, sampling * SECOND, weights or {})
    queue = kq.ClusterQueue.of(
        "cq",
        {"default": quotas},
        queueing_strategy=strategy,
        admission_scope="UsageBasedAdmissionFairSharing",
        preemption=preemption or kq.Preemption(),
    )
    doors = [
        kq.LocalQueue(f"lq-{name}", cluster_queue="cq", fair_sharing=kq.FairSharing(weight))
        for name, weight in zip("ab", local_weights, strict=True)
    ]
    return stage(DEFAULT, queue, *doors, configuration=kq.Configuration(admission_fair_sharing=usage))


def _consumed(story, queue, resource="cpu"):
    return float(story.scheduler.engine.consumed()[f"default/{queue}"][resource])


def test_AF_01_local_queues_take_turns_by_their_usage(stage):
    story = _stage(stage, 3600, 10, {"cpu": 9})
    story.submit("lq-a", 3, {"cpu": 3})
    story.settle()
    story.submit("lq-a", 1, {"cpu": 3}, name="a-more", priority=100)
    story.submit("lq-b", 1, {"cpu": 3}, name="b-first")
    assert [row["key"] for row in story.scheduler.queues.rows()] == ["default/b-first", "default/a-more"]
    story.scheduler.finish("lq-a-0000")
    assert [d.workload for d in story.settle().admitted] == ["default/b-first"]


def test_AF_02_AF_03_usage_decays_towards_what_runs_after_an_entry_penalty(stage):
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


@pytest.mark.parametrize(
    ("weights", "first"), [({}, "b"), ({"cpu": 2.0, "memory": 1.0}, "b"), ({"memory": 1 / 2**30}, "a")]
)
def test_AF_04_memory_counts_in_bytes_unless_it_is_weighed(stage, weights, first):
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


def test_AF_06_the_heaviest_local_queue_loses_first(stage):
    lower = kq.Preemption(within_cluster_queue="LowerPriority")
    story = _stage(stage, 3600, 10, {"cpu": 9}, preemption=lower)
    story.submit("lq-a", 2, {"cpu": 3})
    story.settle()
    story.submit("lq-b", 1, {"cpu": 3}, name="latest")
    story.settle()
    story.submit("lq-b", 1, {"cpu": 3}, name="urgent", priority=9)
    (decision,) = story.scheduler.cycle()
    assert [target.workload.rpartition("-")[0] for target in decision.targets] == ["default/lq-a"]
