"""Explanations, what-if questions and largest counts (WI)."""

import pytest

import kueuepy as kq

DEFAULT = kq.ResourceFlavor("default")
POD = {"cpu": 1, "memory": "4Gi"}


def _team(name, cpu, memory, *, borrow=None, lend=None):
    quotas = {"cpu": kq.Quota(cpu, borrow and borrow[0], lend and lend[0])}
    quotas["memory"] = kq.Quota(memory, borrow and borrow[1], lend and lend[1])
    return kq.ClusterQueue.of(name, {"default": quotas}, cohort_name="team-ab")


def _teams(stage, a=None, b=None):
    return stage(DEFAULT, _team("team-a", 9, "36Gi", **(a or {})), _team("team-b", 12, "48Gi", **(b or {})))


def test_WI_01_the_explanation_of_a_waiting_workload_has_amounts_users_and_lent_quota(stage):
    story = _teams(stage)
    story.submit("team-a", 22, POD)
    story.settle()
    explanation = story.scheduler.explain("team-a-0021")
    cpu = next(cause for cause in explanation.find("resource") if cause.facts["resource"] == "cpu")
    assert (cpu.facts["where"], cpu.facts["available"], cpu.facts["missing"]) == ("team-ab", 0, 1000)
    nodes = {c.facts["name"]: c.facts["available"] for c in cpu.causes if c.kind == "node"}
    assert nodes == {"team-a": 0, "team-ab": 0}
    (b,) = (c.facts for c in cpu.causes if c.kind == "holder")
    assert (b["name"], b["borrowed"], b["lends"]) == ("team-b", 0, 12000)
    assert any(c.kind == "sufficient_alone" for c in cpu.causes)


def test_WI_01_a_bypassed_workload_gets_the_reasons_of_an_evaluation(stage):
    story = _teams(stage)
    story.submit("team-a", 23, POD)
    story.settle()
    seen, twin = (story.scheduler.explain(f"team-a-00{i}") for i in (21, 22))
    assert (twin.reason, twin.message) == (seen.reason, seen.message)
    assert [c.facts for c in twin.find("resource")] == [c.facts for c in seen.find("resource")]


def test_WI_02_the_explanation_of_an_admitted_workload_has_flavor_borrowing_and_rejected_flavors(stage):
    quotas = {"spot": {"cpu": 9}, "on-demand": {"cpu": 9}}
    spot = kq.ResourceFlavor("spot", node_taints=[kq.Taint.of("spot=true:NoSchedule")])
    queues = [kq.ClusterQueue.of(name, quotas, cohort_name="k") for name in ("a", "b")]
    story = stage(spot, kq.ResourceFlavor("on-demand"), *queues)
    story.submit("a", 1, {"cpu": 12}, name="job")
    story.settle()
    explanation = story.scheduler.explain("job")
    (held,) = explanation.find("held")
    assert (held.facts["flavor"], held.facts["borrowed"]) == ("on-demand", 3000)
    (lender,) = explanation.find("lender")
    assert (lender.facts["name"], lender.facts["lends"]) == ("b", 9000)
    assert [c.facts["flavor"] for c in explanation.find("earlier_flavor")] == ["spot"]
    assert "NoMatchingFlavor" in explanation.find("earlier_flavor")[0].text


def test_WI_03_the_explanation_of_a_preemption_has_the_rule_and_each_candidate(stage):
    policies = kq.Preemption(reclaim_within_cohort="LowerPriority", within_cluster_queue="LowerPriority")
    a = kq.ClusterQueue.of("a", {"default": {"cpu": 4}}, cohort_name="k", preemption=policies)
    story = stage(DEFAULT, a, kq.ClusterQueue.of("b", {"default": {"cpu": 4}}, cohort_name="k"))
    for name, priority in (("b-high", 9), ("b-low", 1), ("b-lower", 0)):
        story.submit("b", 1, {"cpu": 2}, name=name, priority=priority)
    story.submit("a", 1, {"cpu": 2}, name="a-peer", priority=5)
    story.settle()
    story.submit("a", 1, {"cpu": 2}, name="a-new", priority=5)
    explanation = story.scheduler.explain("a-new")
    verdicts = {c.facts["workload"]: (c.facts["verdict"], c.facts["reason"]) for c in explanation.find("candidate")}
    assert verdicts == {
        "default/b-lower": ("Taken", "InCohortReclamation"),
        "default/b-low": ("NotNeeded", None),
        "default/b-high": ("PriorityNotLower", None),
        "default/a-peer": ("PriorityNotLower", None),
    }
    (decision,) = story.scheduler.cycle()
    assert decision.targets == (kq.Target("default/b-lower", "InCohortReclamation", "b"),)


def test_WI_04_try_admit_returns_flavors_targets_or_the_reason(stage):
    policies = kq.Preemption(within_cluster_queue="LowerPriority")
    story = stage(DEFAULT, kq.ClusterQueue.of("q", {"default": {"cpu": 4}}, preemption=policies))
    story.submit("q", 1, {"cpu": 3}, name="low", priority=0)
    story.settle()

    def ask(cpu, priority):
        pods = (kq.PodSet.of(requests={"cpu": cpu}),)
        return story.scheduler.try_admit(kq.Workload("w", queue_name="q", pod_sets=pods, priority=priority))

    assert ask(1, 0).flavors == {"main": {"cpu": "default"}}
    assert ask(2, 1).targets == (kq.Target("default/low", "InClusterQueue", "q"),)
    assert (ask(2, 0).reason, ask(5, 0).reason) == ("WaitingForQuota", "ExceedsMaxQuota")
    assert story.scheduler.keys() == ("default/low",)


@pytest.mark.parametrize(
    ("a", "b", "largest"),
    [({}, {}, 21), ({"borrow": (1, "4Gi")}, {}, 10), ({}, {"lend": (1, "4Gi")}, 10)],
)
def test_WI_05_the_largest_count_that_would_be_admitted(stage, a, b, largest):
    story = _teams(stage, a, b)
    job = kq.Workload("w", queue_name="team-a", pod_sets=(kq.PodSet.of(requests=POD),))
    assert story.scheduler.largest_count(job) == largest


def test_WI_07_an_edit_shows_the_decisions_that_change(stage):
    story = _teams(stage, {"borrow": (1, "4Gi")})
    story.submit("team-a", 25, POD)
    story.settle()
    assert story.used("team-a") == 10
    difference = story.scheduler.whatif(_team("team-a", 9, "36Gi"))
    assert len(difference.admitted) == 11
    assert difference.lost == ()
    assert story.used("team-a") == 10


def test_WI_12_whether_a_workload_can_ever_run(stage):
    spot = kq.ResourceFlavor("spot", node_taints=[kq.Taint.of("spot=true:NoSchedule")])
    story = stage(DEFAULT, spot, kq.ClusterQueue.of("q", {"spot": {"cpu": 100}, "default": {"cpu": 4}}))
    story.submit("q", 1, {"cpu": 4}, name="first")
    story.settle()
    story.submit("q", 1, {"cpu": 4}, name="later")
    story.submit("q", 1, {"cpu": 5}, name="never")
    later, never = (story.scheduler.explain(name) for name in ("later", "never"))
    assert (later.reason, never.reason) == ("WaitingForQuota", "ExceedsMaxQuota")
    assert later.find("sufficient_alone")[0].facts["workloads"] == ("default/first",)
    assert never.find("resource")[0].facts["potential"] == 4000
    assert "untolerated taint" in never.find("eligibility")[0].text


def test_GAP_18_workloads_to_evict_before_a_quota_is_reduced(stage):
    story = _teams(stage)
    for i, priority in enumerate((5, 1, 9)):
        story.submit("team-a", 1, {"cpu": 6}, name=f"w{i}", priority=priority)
        story.settle()
    smaller = _team("team-b", 4, "48Gi")
    assert kq.lab.workloads_over_quota(story.scheduler, smaller) == ("default/w1",)
    story.scheduler.apply(smaller)
    assert story.settle().preempted == ()
    assert story.used("team-a") == 18
