"""Library functions behind the commands (CL)."""

import kueuepy as kq

DEFAULT = kq.ResourceFlavor("default")


def _teams(stage):
    queues = [
        kq.ClusterQueue.of(f"team-{x}", {"default": {"cpu": n}}, cohort_name="ab") for x, n in (("a", 9), ("b", 12))
    ]
    return stage(DEFAULT, *queues)


def test_CL_03_explain_shows_reasons_and_remedies(stage):
    story = _teams(stage)
    story.submit("team-a", 22)
    story.settle()
    text = str(story.scheduler.explain("team-a-0021"))
    assert text.startswith("default/team-a-0021 is pending: WaitingForQuota")
    assert "cpu: requests 1, 0 available: 1 short" in text
    assert "it would fit if" in text
    assert "1 cpu became free in ab, or the quota of ab increased by that amount" in text


def test_CL_05_pending_workloads_are_listed_with_positions(stage):
    story = _teams(stage)
    story.submit("team-a", 24)
    story.settle()
    rows = story.scheduler.queues.rows()
    assert [(row["key"][-2:], row["position_in_cluster_queue"]) for row in rows] == [("21", 0), ("22", 1), ("23", 2)]


def test_CL_06_a_queue_is_stopped_and_resumed(stage):
    story = _teams(stage)
    queue = story.scheduler.cluster.get(kq.ClusterQueue, "team-a")
    story.scheduler.apply(kq.ClusterQueue.of("team-a", {"default": {"cpu": 9}}, cohort_name="ab", stop_policy="Hold"))
    story.submit("team-a")
    assert story.settle().admitted == ()
    story.scheduler.apply(queue)
    assert len(story.settle().admitted) == 1


def test_CL_09_compare_lists_the_decisions_that_differ():
    cluster = kq.load(
        kq.dump(
            kq.Cluster(
                DEFAULT,
                *(kq.ClusterQueue.of(x, {"default": {"cpu": n}}, cohort_name="k") for x, n in (("a", 0), ("b", 4))),
            )
        )
    )
    closed = kq.ClusterQueue.of("b", {"default": {"cpu": kq.Quota(4, lending_limit=0)}}, cohort_name="k")
    comparison = kq.compare(
        cluster, cluster.replace(closed), [{"name": "w", "queue": "a", "cpu": 1}], names=("lends", "keeps")
    )
    (change,) = comparison.changes
    assert (change.before.started, change.after.started, change.after.reason) == (0, None, "ExceedsMaxQuota")
