import pytest

import kueuepy as kq
from teams import DEFAULT, queue, workload


def test_try_admit_answers_and_changes_nothing(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 20))
    scheduler.settle()
    before = scheduler._engine.fingerprint(), scheduler._engine.save()
    match scheduler.try_admit(workload("x", "team-b")):
        case kq.Admitted(name, queue_name, flavors=flavors):
            assert (name, queue_name, flavors) == ("default/x", "team-b", {"main": {"cpu": "default"}})
    match scheduler.try_admit(workload("x", "team-b", 2)):
        case kq.Pending(_, reason, message=message):
            assert reason == "WaitingForQuota"
            assert message.endswith("insufficient unused quota for cpu in flavor default, 1 more needed")
    assert (scheduler._engine.fingerprint(), scheduler._engine.save()) == before


def test_try_admit_of_a_waiting_workload_matches_the_next_cycle(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 22))
    asked = scheduler.try_admit("w")
    (decided,) = scheduler.cycle()
    assert (asked.reason, asked.message) == (decided.reason, decided.message)


@pytest.mark.parametrize(
    ("item", "reason", "message"),
    [
        (workload("x", "nowhere"), "Misconfigured", "LocalQueue nowhere doesn't exist"),
        (workload("x", "team-a", active=False), "Deactivated", "The workload is deactivated"),
    ],
)
def test_try_admit_explains_workloads_that_no_cycle_considers(team, item, reason, message):
    answer = kq.Scheduler(team).try_admit(item)
    assert (answer.reason, answer.message) == (reason, message)


def test_answers_have_the_order_of_their_questions(team):
    scheduler = kq.Scheduler(team)
    items = [workload(f"x{cpu}", "team-a", cpu) for cpu in (1, 21, 22)]
    answers = scheduler.try_admit_many([*items, {"name": "row", "queue": "team-b", "cpu": 3}])
    assert answers.verdicts == ("Admitted", "Admitted", "Pending", "Admitted")
    assert [a.workload for a in answers] == ["default/x1", "default/x21", "default/x22", "default/row"]
    assert answers[-1].workload == "default/row"
    assert len(answers[1:3]) == 2
    question = scheduler.question(items[0])
    assert scheduler.try_admit_many([question] * 3).verdicts == ("Admitted",) * 3


def test_answers_are_rendered_on_access_even_after_their_names_were_renumbered(team):
    scheduler = kq.Scheduler(team)
    items = [workload(f"x{cpu}", "team-a", cpu) for cpu in (1, 22, 10**6)]
    expected = [scheduler.try_admit(item) for item in items]
    assert all(decision.message for decision in expected[1:])
    answers = scheduler.try_admit_many(items)
    scheduler.submit({"name": f"later-{number}", "queue": f"queue-{number}", "cpu": 1} for number in range(3000))
    scheduler.delete(*(f"default/later-{number}" for number in range(3000)))
    assert list(answers) == expected


def test_one_question_is_one_workload(team):
    with pytest.raises(kq.errors.InvalidSpecError, match="2 workloads"):
        kq.Scheduler(team).try_admit([workload("x", "team-a"), workload("y", "team-a")])


def test_the_largest_count_fits_and_one_more_does_not(team):
    scheduler = kq.Scheduler(team)
    job = workload("x", "team-a")
    assert scheduler.largest_count(job) == 21
    assert scheduler.largest_count(workload("x", "team-a", 4)) == 5
    with pytest.raises(kq.errors.NotFoundError, match="LocalQueue nowhere doesn't exist"):
        scheduler.largest_count(workload("x", "nowhere"))
    assert scheduler.largest_count(scheduler.question(job)) == 21
    with pytest.raises(kq.errors.NotFoundError, match="names no pod set"):
        scheduler.largest_count(job, pod_set="worker")


def test_the_largest_count_can_include_preemption():
    lower = kq.Preemption(within_cluster_queue="LowerPriority")
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queue("a", 9, preemption=lower)))
    scheduler.submit(workload("low", "a", 6))
    scheduler.settle()
    high = workload("high", "a", priority=1)
    assert scheduler.largest_count(high) == 3
    assert scheduler.largest_count(high, preempting=True) == 9


def test_whatif_shows_changed_decisions_and_does_not_change_the_scheduler(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 22))
    scheduler.settle()
    difference = scheduler.whatif(queue("team-b", 13, cohort_name="all"))
    assert (difference.admitted, difference.lost, len(difference)) == (("default/w",), (), 1)
    assert str(difference) == "default/w: Pending (ExceedsMaxQuota) → Admitted (default)"
    assert scheduler.explain("w").verdict == "Pending"
    text = str(scheduler.whatif(lambda trial: trial.advance("1h")))
    assert text.startswith("nothing changes\ndefault/w stays pending: ExceedsMaxQuota: ")
    with pytest.raises(kq.errors.InvalidSpecError, match="is not an edit"):
        scheduler.whatif(42)


def test_another_configuration_can_be_a_whatif_edit(fair):
    classical = fair.replace(configuration=kq.Configuration())
    scheduler = kq.Scheduler(classical)
    scheduler.submit(*(workload(f"a{i}", "a") for i in range(8)))
    scheduler.settle()
    scheduler.advance(1)
    scheduler.submit(*(workload(f"b{i}", "b") for i in range(8)))
    difference = scheduler.whatif(kq.Configuration(fair_sharing=kq.FairSharingConfig()))
    assert (len(difference.admitted), len(difference.lost)) == (4, 4)


def test_victims_of_a_quota_reduction(team):
    scheduler = kq.Scheduler(team)
    for i in range(3):
        scheduler.advance(1)
        scheduler.submit(workload(f"a{i}", "team-a", 6, priority=2 - i))
        scheduler.settle()
    assert kq.lab.workloads_over_quota(scheduler) == ()
    smaller = queue("team-b", 5, cohort_name="all")
    assert kq.lab.workloads_over_quota(scheduler, smaller) == ("default/a2",)
    assert kq.lab.workloads_over_quota(scheduler, smaller, queue("team-a", 3, cohort_name="all")) == (
        "default/a2",
        "default/a1",
    )
    scheduler.apply(smaller)
    assert not scheduler.settle().preempted
    assert scheduler.usage.value("team-a", "default", "cpu") == 18000


def test_victims_of_a_quota_reduction_are_minimal():
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queue("a", 9)))
    scheduler.submit(workload("small", "a", 1, priority=0), workload("large", "a", 8, priority=1))
    scheduler.settle()
    assert kq.lab.workloads_over_quota(scheduler, queue("a", 1)) == ("default/large",)


def test_a_first_evaluation_is_no_change():
    """Without the quota, the second workload is not evaluated, because its equal waits; with it, it is, and waits."""
    quota = kq.ClusterQueue.of("q", {"f": {"cpu": 2}})
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), quota))
    scheduler.submit([{"name": f"w{n}", "queue": "q", "cpu": 2} for n in range(4)])
    scheduler.settle()
    assert dict(zip(scheduler.workloads["key"], scheduler.workloads["reason"], strict=True))["default/w2"] == ""
    difference = scheduler.whatif({"ClusterQueue/q:quota[f/cpu].nominalQuota": 4})
    assert [change.workload for change in difference.changes] == ["default/w1"]


def test_a_workload_that_moves_to_another_node_is_listed():
    host = kq.objects.HOSTNAME_LABEL

    def job(name, cpu, priority=0):
        pod_set = kq.PodSet.of(count=1, requests={"cpu": cpu}, topology_request=kq.objects.required(host))
        return kq.Workload(name, queue_name="a", priority=priority, pod_sets=(pod_set,))

    flavor = kq.ResourceFlavor("default", node_labels={"x": "y"}, topology_name="hosts")
    nodes = (
        kq.Node(name, labels={host: name, "x": "y"}, allocatable={"cpu": cpu, "pods": 9})
        for name, cpu in (("n1", 2), ("n2", 4))
    )
    scheduler = kq.Scheduler(kq.Cluster(kq.Topology("hosts", levels=[host]), flavor, nodes, queue("a", 6)))
    for name in ("first", "low"):  # on n1 and on n2
        scheduler.submit(job(name, 2))
        scheduler.settle()
    scheduler.finish("first")
    scheduler.submit(job("high", 4, 1))
    policy = kq.Preemption(within_cluster_queue="LowerPriority")
    text = str(scheduler.whatif(queue("a", 6, preemption=policy)))
    assert "default/low: Admitted (default) → Admitted (default; preempted and admitted again)" in text
