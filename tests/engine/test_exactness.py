"""Rare differences that were found by attack, each decided like Kueue's source."""

import pytest

from stories import KUEUE, flavor, local_queue, namespace, queue, run, workload


def cohort(name, parent=None):
    spec = {"parentName": parent} if parent else {}
    return {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def test_a_cohort_cycle_above_an_active_queue_only_affects_its_head():
    """The cache keeps the status of a queue that was active (pkg/cache/scheduler/snapshot.go:skipInactiveCQReason)."""
    objects = [namespace(), flavor(), cohort("a"), cohort("b", "a"), queue(cohortName="b"), local_queue()]
    ring = {"apply": [cohort("a", "b")], "submit": [workload("w1"), workload("w2")], "cycle": True}
    results = run(ring, {"settle": True}, {"apply": [cohort("a")], "cycle": True}, objects=objects)
    suspended = {"workload": "ns/w1", "reason": "Suspended", "message": "ClusterQueue cq is inactive"}
    assert not results[0].get("idle")
    assert results[0]["pending"] == [suspended]
    assert results[0]["queues"] == {"cq": {"pending": ["ns/w1", "ns/w2"], "inadmissible": ["ns/w1"]}}
    waits = {"reason": "PendingEvaluation", "message": "Workload is pending evaluation in the scheduling queue"}
    assert results[1]["pending"] == [{"workload": "ns/w1", **waits}]
    assert [entry["workload"] for entry in results[2]["reserved"]] == ["ns/w1"]


def test_a_queue_that_joins_a_cohort_cycle_is_inactive():
    """updateClusterQueue gives up before it looks at the queue's flavors (pkg/cache/scheduler/clusterqueue.go)."""
    objects = [namespace(), flavor(), cohort("a", "b"), cohort("b", "a"), queue(cohortName="b"), local_queue()]
    [result] = run({"submit": [workload("w1")], "cycle": True}, objects=objects)
    assert result["idle"]


def test_a_request_beyond_int64_is_reported_saturated():
    job = workload("w", requests={"cpu": "9223372036854775807"}, count=2)
    [result] = run({"submit": [job], "cycle": True})
    assert "current podset request (9223372036854775807m) > maximum capacity (10)" in result["pending"][0]["message"]


@pytest.mark.parametrize(
    ("config", "said"), [({"fairSharing": {}}, "no longer fits after processing another"), ({}, "")]
)
def test_usage_that_saturates_in_a_tournament_is_not_restored(config, said):
    """Kueue takes a simulated addition back by removing it (pkg/scheduler/fair_sharing_iterator.go:computeDRS).

    What has become unlimited stays so (pkg/resources/amount.go:Sub): for the rest of the cycle the cohort is full.
    """
    vast = "6000000000000000"
    queues = [queue("q1", vast, cohortName="c"), queue("q2", cohortName="c")]
    objects = [namespace(), flavor(), *queues, *(local_queue(f"l{n}", f"q{n}") for n in (1, 2))]
    first = {"submit": [workload("first", vast, queue_name="l1")], "cycle": True}
    jobs = [workload("again", vast, queue_name="l1"), workload("other", "1", queue_name="l2")]
    results = run(first, {"submit": jobs, "cycle": True}, {"cycle": True}, objects=objects, **config)
    told = {entry["workload"]: entry["message"] for entry in results[1]["pending"]}
    reserved = [[entry["workload"] for entry in result.get("reserved", ())] for result in results[1:]]
    if said:
        assert said in told["ns/other"]
        assert reserved == [[], ["ns/other"]]
    else:
        assert reserved == [["ns/other"], []]


@pytest.mark.parametrize(("config", "leaves"), [({"fairSharing": {}}, []), ({}, ["ns/first"])])
def test_usage_that_saturates_while_victims_are_sought_is_not_restored(config, leaves):
    """The same in pkg/scheduler/preemption/preemption.go:fairPreemptions: no preemption and no admission."""
    vast = "6000000000000000"
    own = queue("q1", vast, cohortName="c", preemption={"withinClusterQueue": "LowerPriority"})
    doors = [local_queue(f"l{n}", f"q{n}") for n in (1, 2)]
    objects = [namespace(), flavor(), own, queue("q2", cohortName="c"), *doors]
    first = {"submit": [workload("first", vast, queue_name="l1")], "cycle": True}
    jobs = [workload("again", vast, queue_name="l1", priority=1), workload("other", "1", queue_name="l2")]
    results = run(first, {"submit": jobs, "cycle": True}, objects=objects, **config)
    assert [entry["workload"] for entry in results[1].get("evicted", ())] == leaves
    told = {entry["workload"]: entry["message"] for entry in results[1]["pending"]}
    assert ("insufficient unused quota for cpu in flavor f, 1 more needed" in told["ns/other"]) == (not leaves)


def test_a_restart_continues_from_the_usage_history_of_local_queues():
    """Fault 34: pkg/controller/core/localqueue_controller.go:initializeAfsIfNeeded seeds the ledger from the status."""
    usage = {"consumedResources": {"cpu": "5"}, "lastUpdate": "2026-01-01T00:00:00Z"}
    history = {"fairSharing": {"admissionFairSharingStatus": usage, "weightedShare": 0}}
    objects = [
        namespace(),
        flavor(),
        queue(cpu="1", admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"}),
        {**local_queue(), "status": history},
        local_queue("fresh"),
    ]
    jobs = [workload("early"), workload("late", queue_name="fresh")]
    config = {"admissionFairSharing": {"usageHalfLifeTime": "10m", "usageSamplingInterval": "1m"}}
    results = run({"settle": True}, {"submit": jobs, "cycle": True}, objects=objects, **config)
    assert results[0]["consumed"] == {"ns/lq": {"cpu": "5.000000000"}}
    assert [entry["workload"] for entry in results[1]["reserved"]] == ["ns/late"]


@pytest.mark.parametrize("version", ["v0.16", "v0.17"])
def test_before_v0_17_the_history_was_not_read(version):
    usage = {"consumedResources": {"cpu": "5"}, "lastUpdate": "2026-01-01T00:00:00Z"}
    history = {"fairSharing": {"admissionFairSharingStatus": usage, "weightedShare": 0}}
    objects = [namespace(), flavor(), queue(), {**local_queue(), "status": history}]
    config = {"admissionFairSharing": {"usageHalfLifeTime": "10m"}, "version": version}
    [result] = run({"settle": True}, objects=objects, **config)
    assert bool(result["consumed"]) == (version == "v0.17")
