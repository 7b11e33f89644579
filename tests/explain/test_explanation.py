import pytest

import kueuepy as kq
from teams import DEFAULT, queue, workload

LOWER = kq.Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")


def _full(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(*(workload(f"a{i:02}", "team-a") for i in range(22)))
    scheduler.settle()
    return scheduler


def test_a_waiting_workload_is_explained_flavor_by_flavor_up_the_cohort_tree(team):
    explanation = _full(team).explain("a21")
    assert (explanation.verdict, explanation.reason) == ("Pending", "WaitingForQuota")
    (resource,) = explanation.find("resource")
    assert (resource.facts["asked"], resource.facts["available"], resource.facts["missing"]) == (1000, 0, 1000)
    nodes = [(c.facts["name"], c.facts["available"], c.facts["binds"]) for c in explanation.find("node")]
    assert nodes == [("team-a", 0, False), ("all", 0, True)]
    (holder,) = explanation.find("holder")
    assert (holder.facts["name"], holder.facts["borrowed"], holder.facts["lends"]) == ("team-b", 0, 12000)
    assert len(explanation.find("sufficient_alone")[0].facts["workloads"]) == 5
    assert "1 cpu became free in all" in explanation.find("remedy")[0].text


def test_the_text_is_a_tree_and_the_dict_is_the_same(team):
    explanation = _full(team).explain("a21")
    text = str(explanation)
    assert text.splitlines()[0] == "default/a21 is pending: WaitingForQuota"
    for cause in explanation.causes:
        for found in cause.walk():
            assert found.text in text
    assert explanation.to_dict()["causes"][0]["kind"] == "flavor"


def test_explaining_changes_nothing(team):
    scheduler = _full(team)
    before = scheduler._engine.fingerprint()
    keys = scheduler.keys()
    for key in keys:
        scheduler.explain(key)
    assert scheduler._engine.fingerprint() == before


def test_the_effective_borrowing_limit_is_named():
    a = kq.ClusterQueue.of("a", {"default": {"cpu": kq.Quota(9, borrowing_limit=1)}}, cohort_name="all")
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, a, queue("b", 12, cohort_name="all")))
    scheduler.submit(workload("w", "a", 10), workload("x", "a", 1))
    scheduler.settle()
    explanation = scheduler.explain("x")
    assert [c.facts["name"] for c in explanation.find("node") if c.facts["binds"]] == ["a"]
    assert "the borrowingLimit of a increased" in explanation.find("remedy")[0].text


def test_requests_that_can_never_fit_are_distinguished(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("huge", "team-a", 22))
    scheduler.settle()
    explanation = scheduler.explain("huge")
    assert explanation.reason == "ExceedsMaxQuota"
    assert "but at most 21 can ever be available" in explanation.find("resource")[0].text
    assert "quotas and limits allowed 22 cpu; now they allow at most 21" in explanation.find("remedy")[0].text


def test_a_taint_and_a_resource_without_quota_are_explained():
    spot = kq.ResourceFlavor("spot", node_taints=[kq.Taint.of("spot=true:NoSchedule")])
    scheduler = kq.Scheduler(kq.Cluster(spot, kq.ClusterQueue.of("q", {"spot": {"cpu": 9}})))
    gpus = kq.PodSet.of(requests={"nvidia.com/gpu": 1})
    scheduler.submit(workload("w", "q"), kq.Workload("g", queue_name="q", pod_sets=(gpus,)))
    scheduler.settle()
    assert "untolerated taint" in scheduler.explain("w").find("eligibility")[0].text
    assert scheduler.explain("g").find("undeclared")[0].facts == {"resource": "nvidia.com/gpu"}
    assert "covered nvidia.com/gpu" in scheduler.explain("g").find("remedy")[0].text


@pytest.mark.parametrize(
    ("queue_name", "text"),
    [("nowhere", "LocalQueue nowhere doesn't exist"), ("stopped", "ClusterQueue stopped is inactive")],
)
def test_an_inactive_queue_is_the_obstacle(queue_name, text):
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queue("stopped", 9, stop_policy="Hold")))
    scheduler.submit(workload("w", queue_name))
    scheduler.settle()
    explanation = scheduler.explain("w")
    assert explanation.verdict == "Pending"
    assert [cause.text for cause in explanation.find("obstacle")] == [text]


def test_an_admitted_workload_is_explained_with_flavor_borrowing_and_rejected_flavors():
    quotas = {"first": {"cpu": 1}, "second": {"cpu": 4}}
    a = kq.ClusterQueue.of("a", quotas, cohort_name="all")
    b = kq.ClusterQueue.of("b", {"second": {"cpu": 8}}, cohort_name="all")
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("first"), kq.ResourceFlavor("second"), a, b))
    scheduler.submit(workload("w", "a", 6))
    scheduler.settle()
    explanation = scheduler.explain("w")
    (held,) = explanation.find("held")
    assert (held.facts["flavor"], held.facts["amount"], held.facts["borrowed"]) == ("second", 6000, 2000)
    assert [c.facts["name"] for c in explanation.find("lender")] == ["b"]
    (earlier,) = explanation.find("earlier_flavor")
    assert earlier.facts == {"flavor": "first", "mode": "NoFit"}
    assert "ExceedsMaxQuota" in earlier.text


def test_a_preemption_is_explained_with_targets_other_candidates_and_rules():
    cluster = kq.Cluster(DEFAULT, queue("a", 4, cohort_name="k", preemption=LOWER), queue("b", 4, cohort_name="k"))
    scheduler = kq.Scheduler(cluster)
    names = (("low", "a", 2, 1), ("same", "a", 1, 9), ("own", "b", 2, 0), ("over", "b", 3, 0))
    for name, queue_name, cpu, priority in names:
        scheduler.submit(workload(name, queue_name, cpu, priority=priority))
    scheduler.settle()
    scheduler.submit(workload("high", "a", 3, priority=9))
    explanation = scheduler.explain("high")
    assert explanation.verdict == "Preempting"
    verdicts = {c.facts["workload"].partition("/")[2]: c.facts["verdict"] for c in explanation.find("candidate")}
    (decision,) = scheduler.cycle()
    assert [t.workload for t in decision.targets] == [
        f"default/{name}" for name, verdict in verdicts.items() if verdict == "Taken"
    ]
    assert verdicts["same"] == "PriorityNotLower"
    victim = scheduler.explain(decision.targets[0].workload)
    assert victim.verdict == "Evicted"
    assert victim.find("preempted_by")[0].facts["workload"] == "default/high"


def test_policies_that_protect_workloads_are_named():
    cluster = kq.Cluster(DEFAULT, queue("a", 4, cohort_name="k"), queue("b", 4, cohort_name="k"))
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(workload("mine", "a", 2), workload("theirs", "b", 6))
    scheduler.settle()
    scheduler.submit(workload("w", "a", 2, priority=9))
    scheduler.settle()
    verdicts = {c.facts["workload"]: c.facts["verdict"] for c in scheduler.explain("w").find("candidate")}
    assert verdicts == {"default/mine": "WithinClusterQueueNever", "default/theirs": "ReclaimWithinCohortNever"}


def test_preemption_that_is_not_considered_is_explained(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("b", "team-b", 12))
    scheduler.settle()
    scheduler.submit(workload("a", "team-a", 10))
    scheduler.settle()
    assert "borrowWithinCohort is Never" in scheduler.explain("a").find("no_preemption")[0].text


def test_fair_sharing_shows_the_shares_that_the_rule_compared(fair):
    scheduler = kq.Scheduler(fair)
    scheduler.submit(*(workload(f"a{i}", "a") for i in range(8)))
    scheduler.settle()
    scheduler.submit(workload("b0", "b"))
    explanation = scheduler.explain("b0")
    (comparison,) = explanation.find("comparison")
    shares = [comparison.facts[name] for name in ("our_share", "their_share", "final_share")]
    assert (comparison.facts["strategy"], shares) == ("LessThanOrEqualToFinalShare", [125, 1000, 875])
    (share,) = scheduler.explain("a0").find("share")
    assert (share.facts["resource"], share.facts["borrowed"], share.facts["lendable"]) == ("cpu", 8000, 8000)
    assert share.text == "share of ClusterQueue a: 1000, by cpu: borrows 8 of 8 lendable"


def test_an_unsubmitted_workload_can_be_explained(team):
    scheduler = kq.Scheduler(team)
    assert scheduler.explain({"name": "w", "queue": "team-a", "cpu": 22}).reason == "ExceedsMaxQuota"
    assert scheduler.keys() == ()


def test_the_explanation_of_a_queued_workload_says_that_it_fits(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("one", "team-a"), workload("two", "team-a"))
    explanation = scheduler.explain("two")
    assert explanation.headline == "default/two is pending and fits now"
    assert explanation.find("position")[0].facts == {"position": 1}
    scheduler.finish("one")
    assert scheduler.explain("one").verdict == "Finished"


def test_a_workload_that_fits_but_is_not_tried_again_says_so():
    queues = [queue(name, 4, cohort_name="all") for name in "ab"]
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queues, [kq.LocalQueue(name, cluster_queue=name) for name in "ab"]))
    scheduler.submit({"name": "runs", "queue": "a", "cpu": 4})
    scheduler.settle()
    scheduler.submit({"name": "waits", "queue": "b", "cpu": 8})
    scheduler.settle()
    scheduler.apply(kq.LocalQueue("a", cluster_queue="a", stop_policy="HoldAndDrain"))
    scheduler.settle()

    told = scheduler.explain("waits")
    assert told.headline == "default/waits is pending although it would fit"
    assert told.causes[0].text.startswith("no event makes Kueue try it again: a change of its queue, its cohort or")
    scheduler.apply(queue("b", 5, cohort_name="all"))
    assert scheduler.explain("waits").find("untried") == ()
    scheduler.settle()
    assert scheduler.explain("waits").verdict == "Admitted"


def test_an_unlimited_quota_has_no_limit():
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queue("team-a", 9)))
    scheduler.submit(workload("vast", "team-a", cpu=2**63 - 1))
    told = str(scheduler.explain("default/vast"))
    assert "cpu: requests at least 9223372036854775807m, but at most 9 can ever be available" in told
    assert "no limit" not in told


def test_no_quota_increase_is_suggested_if_others_use_the_maximum():
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, [queue(name, 2**53, cohort_name="all") for name in "abc"]))
    scheduler.submit(*(workload(f"w-{name}", name, cpu=2**53, pods=1) for name in "abc"))
    scheduler.settle()
    assert scheduler.explain("default/w-a").verdict == "Admitted"
    told = scheduler.explain("default/w-c")
    assert "used at least 9223372036854775807m, 0 available" in str(told)
    assert [cause.text.endswith("cpu became free in all (not tried)") for cause in told.find("remedy")] == [True]


def test_an_unfinished_flavor_search_is_explained():
    flavors = [kq.ResourceFlavor("f"), kq.ResourceFlavor("g")]
    queues = [kq.ClusterQueue.of(name, {"f": {"cpu": 2}, "g": {"cpu": 1}}, cohort_name="all") for name in "ab"]
    scheduler = kq.Scheduler(kq.Cluster(*flavors, *queues), now=0)
    scheduler.submit(workload("first", "a", 4), workload("second", "b", 4))
    scheduler.cycle()
    # `first` took all of f from `second`, whose search stopped there and goes on with g, though f is free by then.
    scheduler.finish("first")
    explanation = scheduler.explain("second")
    assert (explanation.verdict, explanation.reason) == ("Pending", "ExceedsMaxQuota")
    assert explanation.message == scheduler.try_admit("default/second").message
    assert explanation.find("flavor")[0].facts["mode"] == "Fit"
    (told,) = explanation.find("search_continues")
    assert "continues where the last cycle stopped" in told.text
    (decision,) = scheduler.cycle()
    assert decision.reason == "ExceedsMaxQuota"
