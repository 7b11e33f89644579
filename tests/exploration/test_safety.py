"""Safety from preemption: proofs against random submissions, and counterexamples that are simulated."""

import re

import numpy as np
import pytest

import kueuepy as kq
from seeds import seeds

F = "f/cpu"


def notebooks(limit, **rules):
    """Return a cluster with a notebook queue and a team that reclaims its quota."""
    books = kq.ClusterQueue.of("notebooks", {"f": {"cpu": kq.Quota(9, borrowing_limit=limit)}}, cohort_name="all")
    team = kq.ClusterQueue.of("team", {"f": {"cpu": 12}}, cohort_name="all", preemption=kq.Preemption(**rules))
    return kq.Cluster(kq.ResourceFlavor("f"), books, team)


def evicted_by(cluster, found, name):
    """Return the workloads of a queue that the submissions of a counterexample evict, on a new Scheduler."""
    scheduler = kq.Scheduler(cluster, now=0)
    gone = set()
    for workload in found.submissions:
        scheduler.submit(workload)
        for decision in scheduler.settle().decisions:
            if isinstance(decision, kq.Preempting):
                gone |= {t.workload for t in decision.targets if t.cluster_queue == name}
        scheduler.advance(1)
    return gone


def last_evicted(found):
    """Return the workloads that the last submission of a counterexample evicts, and check the other facts."""
    *before, last = found.facts.rows()
    assert [row["measure"] for row in (*before, last)] == ["evicts"] * len(found.submissions)
    assert [row["value"] for row in before] == [0] * len(before)
    assert last["value"] == len(last["detail"].split(", "))
    return set(last["detail"].split(", "))


@pytest.mark.parametrize("rule", ["Any", "LowerPriority"])
def test_a_queue_that_never_preempts_is_unsafe_while_it_borrows(rule):
    cluster = notebooks(None, reclaim_within_cohort=rule)
    found = kq.lab.guarantee("safety", cluster, cluster_queue="notebooks")
    assert found.holds is False
    assert last_evicted(found)
    assert evicted_by(cluster, found, "notebooks") == last_evicted(found)
    assert "team may take back" in " ".join(found.because)


def test_without_borrowing_safety_is_proved():
    found = kq.lab.guarantee("safety", notebooks(0, reclaim_within_cohort="Any"), cluster_queue="notebooks")
    assert (found.holds, found.submissions) == (True, ())
    assert "never use more than its nominal quota" in " ".join(found.because)
    assert "not modelled" in str(found)


def test_a_queue_is_safe_if_no_queue_reclaims():
    assert kq.lab.guarantee("safety", notebooks(None), cluster_queue="notebooks").holds is True


def test_workloads_of_the_own_queue_may_evict():
    rules = kq.Preemption(within_cluster_queue="LowerPriority")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 4}}, preemption=rules))
    found = kq.lab.guarantee("safety", cluster, cluster_queue="q")
    assert found.holds is False
    assert evicted_by(cluster, found, "q")


def test_quota_that_cannot_be_lent_is_not_borrowed():
    """The lending limits are 0, so no queue can borrow."""
    books = kq.ClusterQueue.of("notebooks", {"f": {"cpu": 9}}, cohort_name="all")
    team = kq.ClusterQueue.of(
        "team",
        {"f": {"cpu": kq.Quota(12, lending_limit=0)}},
        cohort_name="all",
        preemption=kq.Preemption(reclaim_within_cohort="Any"),
    )
    assert (
        kq.lab.guarantee("safety", kq.Cluster(kq.ResourceFlavor("f"), books, team), cluster_queue="notebooks").holds
        is True
    )


def test_a_shielding_cohort_gives_neither_a_proof_nor_a_false_counterexample():
    cohort = kq.Cohort(
        "inner", parent_name="root", resource_groups=(kq.objects.ResourceGroup.of({"f": {"cpu": kq.Quota(0, 0)}}),)
    )
    books = kq.ClusterQueue.of("notebooks", {"f": {"cpu": 4}}, cohort_name="inner")
    other = kq.ClusterQueue.of("other", {"f": {"cpu": 4}}, cohort_name="inner")
    team = kq.ClusterQueue.of(
        "team", {"f": {"cpu": 4}}, cohort_name="root", preemption=kq.Preemption(reclaim_within_cohort="Any")
    )
    cluster = kq.Cluster(kq.ResourceFlavor("f"), cohort, kq.Cohort("root"), books, other, team)
    found = kq.lab.guarantee("safety", cluster, cluster_queue="notebooks", n=10)
    assert found.holds is None
    assert int(re.search(r"no proof, and (\d+) series", found.because[0])[1]) > 10


@pytest.mark.parametrize("seed", seeds(40, few=8))
def test_random_submissions_confirm_safe_and_unsafe_results(seed):
    """Test random clusters by brute force with other submissions than the search."""
    rng = np.random.Generator(np.random.PCG64(seed))

    def pick(*values):
        return values[int(rng.integers(len(values)))]

    queues = []
    for name in ("a", "b", "c"):
        quota = kq.Quota(int(rng.integers(0, 6)), pick(None, 0, 2), None)
        rules = kq.Preemption(
            within_cluster_queue=pick("Never", "Never", "LowerPriority"),
            reclaim_within_cohort=pick("Never", "Any", "LowerPriority"),
        )
        queues.append(kq.ClusterQueue.of(name, {"f": {"cpu": quota}}, cohort_name="all", preemption=rules))
    fair = kq.FairSharingConfig() if seed % 2 else None
    cluster = kq.Cluster(kq.ResourceFlavor("f"), *queues, configuration=kq.Configuration(fair_sharing=fair))
    found = kq.lab.guarantee("safety", cluster, cluster_queue="a", n=20)
    if found.holds is False:
        assert evicted_by(cluster, found, "a") == last_evicted(found)
        return
    for _ in range(20):
        scheduler = kq.Scheduler(cluster, now=0)
        for number in range(12):
            row = {"name": f"w{number}", "queue": pick("a", "b", "c"), "cpu": int(rng.integers(1, 7))}
            scheduler.submit({**row, "priority": int(rng.integers(3))})
            targets = [
                target
                for decision in scheduler.settle(max_cycles=50).decisions
                if isinstance(decision, kq.Preempting)
                for target in decision.targets
            ]
            assert "a" not in {target.cluster_queue for target in targets}
            scheduler.advance(1)


def test_unknown_names_are_rejected():
    with pytest.raises(kq.errors.NotFoundError, match='did you mean "notebooks"'):
        kq.lab.guarantee("safety", notebooks(0), cluster_queue="notebook")
    with pytest.raises(kq.errors.InvalidSpecError, match="n -1"):
        kq.lab.guarantee("safety", notebooks(0), cluster_queue="notebooks", n=-1)
    assert kq.lab.guarantee(
        "safety", notebooks(None, reclaim_within_cohort="Any"), cluster_queue="notebooks"
    )._repr_html_()
