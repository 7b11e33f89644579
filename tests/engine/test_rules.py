"""Rules from Kueue's source that no recording shows. Each test names the source."""

from __future__ import annotations

import pytest

from replay import replay

pytestmark = pytest.mark.sanitizer
API = "kueue.x-k8s.io/v1beta2"
NEVER = {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"}


def obj(kind, name, spec=None, namespace="", api=API):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec or {}}


def queue(name, *flavors, cpu=4, cohort="", preemption=NEVER, **fields):
    quota = [{"name": one, "resources": [{"name": "cpu", "nominalQuota": str(cpu)}]} for one in flavors]
    groups = [{"coveredResources": ["cpu"], "flavors": quota}]
    common = {"namespaceSelector": {}, "resourceGroups": groups, "preemption": preemption}
    return obj("ClusterQueue", name, {**common, **({"cohortName": cohort} if cohort else {}), **fields})


def local(name, cluster_queue, **fields):
    return obj("LocalQueue", name, {"clusterQueue": cluster_queue, **fields}, "ns")


def workload(name, local_queue, *cpus, priority=0):
    pods = [
        {
            "name": f"set-{number}",
            "count": 1,
            "template": {
                "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}]}
            },
        }
        for number, cpu in enumerate(cpus)
    ]
    made = obj("Workload", name, {"queueName": local_queue, "priority": priority, "podSets": pods}, "ns")
    made["metadata"]["uid"] = f"uid-{name}"
    return made


def change(name, **spec):
    return obj("Workload", name, spec, "ns")


def run(objects, *steps, **config):
    base = [obj("Namespace", "ns", api="v1"), *(obj("ResourceFlavor", name) for name in "abx")]
    timed = [{"at": at, **step} for at, step in enumerate(steps, 1)]
    return replay({"name": "story", "config": config, "objects": base + objects, "steps": timed})


def says(result, name):
    """Return the message that a step wrote for a workload; none if unchanged."""
    return next((entry["message"] for entry in result.get("pending", ()) if entry["workload"] == f"ns/{name}"), None)


FROM_THE_FIRST, RESUMED = (f"flavor {name}, previously considered podsets requests (2)" for name in "ab")
TWO_SETS = workload("w", "l", 2, 100)
"""Its first pod set fits, the second nowhere: the scan of flavors ends at the first one, and goes on next time."""
TRY = {"submit": [TWO_SETS], "cycle": True}
CYCLE = {"cycle": True}
STOPPED = [{"apply": [local("l", "q", stopPolicy="Hold")]}, {"apply": [local("l", "q", stopPolicy="None")]}]
INACTIVE = [{"apply": [change("w", active=active)], "settle": True} for active in (False, True)]


def test_the_flavor_search_continues_where_it_stopped():
    first, second = run([queue("q", "a", "b"), local("l", "q")], TRY, CYCLE)
    assert FROM_THE_FIRST in says(first, "w")
    assert RESUMED in says(second, "w")


@pytest.mark.parametrize(
    "changes", [STOPPED, INACTIVE, [{"apply": [change("w", queueName="l2")]}]], ids=["stopped", "inactive", "moved"]
)
def test_a_workload_removed_from_its_queue_restarts_the_flavor_search(changes):
    """`pkg/cache/queue/manager.go:AddOrUpdateWorkloadWithoutLock`: a new Info, where none is tracked."""
    queues = [queue("q", "a", "b"), local("l", "q"), local("l2", "q")]
    *_, last = run(queues, TRY, *changes, CYCLE)
    assert RESUMED not in (says(last, "w") or FROM_THE_FIRST)
    assert last["queues"] == {"q": {"pending": ["ns/w"], "inadmissible": []}}


def test_a_local_queue_that_moves_keeps_flavor_progress():
    """`pkg/cache/queue/manager.go:UpdateLocalQueue` hands the same Infos on."""
    queues = [queue("q", "a", "b"), queue("q2", "a", "b"), local("l", "q")]
    *_, last = run(queues, TRY, {"apply": [local("l", "q2")]}, CYCLE)
    assert RESUMED in says(last, "w")


def after_a_hold(queues, **back):
    """Return the message of `w` when its held queue is resumed with these fields after two cycles."""
    common = {"cohort": "c", **back}
    others = [queue("other", "x"), local("lo", "other")]
    *_, last = run(
        [queue("q", "a", "b", cohort="c"), local("l", "q"), *queues, *others],
        TRY,
        {"apply": [queue("q", "a", "b", cohort="c", stopPolicy="Hold")]},
        *({"submit": [workload(f"x{n}", "lo", 1)], "cycle": True} for n in range(2)),
        {"apply": [queue("q", "a", "b", **common)]},
        CYCLE,
    )
    return says(last, "w")


@pytest.mark.parametrize(
    ("back", "resumes"),
    [({}, True), ({"queueingStrategy": "StrictFIFO"}, True), ({"cpu": 5}, False), ({"cohort": "d"}, False)],
)
def test_only_changes_of_quota_or_cohort_affect_the_tree(back, resumes):
    """`pkg/cache/scheduler/clusterqueue.go:updateClusterQueue`."""
    said = after_a_hold([queue("sibling", "a", cohort="c")], **back)
    assert (RESUMED in (said or "")) is resumes


def test_an_implicit_cohort_changes_with_its_only_queue():
    """`pkg/cache/hierarchy/manager.go:UpdateClusterQueueEdge`: it goes with its last child, and another one comes."""
    assert after_a_hold([]) is None
    assert RESUMED in after_a_hold([obj("Cohort", "c")])


def test_a_finished_eviction_no_longer_orders_a_workload():
    """`pkg/workload/workload.go:GetQueueOrderTimestamp` counts an eviction only while Evicted is true."""
    newer = {"withinClusterQueue": "LowerOrNewerEqualPriority"}
    wait = {"timeout": "10s", "requeuingStrategy": {"timestamp": "Eviction", "backoffBaseSeconds": 2}}
    steps = {
        1: {"submit": [workload("w1", "l", 2)], "cycle": True},
        2: {"submit": [workload("w3", "l", 2, priority=9)], "cycle": True},
        3: {"podsReady": ["ns/w3"], "settle": True},
        5: {"submit": [workload("w2", "l", 4)], "cycle": True},
        12: {"settle": True},
        20: {"settle": True},
        21: CYCLE,
        22: CYCLE,
        23: {"podsReady": ["ns/w1"], "settle": True},
        24: {"finish": ["ns/w3"], "settle": True},
        25: CYCLE,
    }
    results = run(
        [queue("q", "a", preemption=newer), local("l", "q")],
        *(steps.get(at, {}) for at in range(1, 26)),
        waitForPodsReady=wait,
    )
    assert results[11]["evicted"] == [{"workload": "ns/w1", "reason": "PodsReadyTimeout"}]
    assert results[21]["admitted"] == ["ns/w1"]
    assert "evicted" not in results[24]


def test_reactivating_a_workload_with_quota_requeues_no_others():
    """`pkg/controller/core/workload_controller.go:Update`, where the status stays Admitted."""
    *_, last = run(
        [queue("q", "a"), local("l", "q")],
        {"submit": [workload("w1", "l", 4)], "cycle": True},
        {"apply": [change("w1", active=False)]},
        {"submit": [workload("w2", "l", 4)], "cycle": True},
        {"submit": [workload("w3", "l", 1)], "cycle": True},
        {"apply": [change("w1", active=True)]},
        CYCLE,
    )
    assert last["idle"]


def test_an_evicted_workload_is_not_evicted_again():
    """`pkg/scheduler/preemption/preemption.go:IssuePreemptions` passes over evicted targets."""
    reclaims = {"reclaimWithinCohort": "Any", "withinClusterQueue": "Never"}
    quota = {"cohort": "c", "cpu": 2}
    queues = [
        queue("q1", "x", "a", "b", **quota),
        queue("q2", "a", preemption=reclaims, **quota),
        local("l1", "q1"),
        local("l2", "q2"),
    ]
    *_, last = run(
        queues,
        {"submit": [workload("v", "l1", 4)], "cycle": True},
        {"submit": [workload("p", "l2", 2)], "cycle": True},
        {"submit": [workload("w", "l1", 1, 100)], "cycle": True},
        {"submit": [workload("big", "l1", 50, priority=5)], "cycle": True},
        CYCLE,
    )
    assert last["queues"]["q1"]["inadmissible"] == ["ns/big", "ns/w"]


def test_without_the_feature_gate_a_status_update_resets_flavor_progress():
    """`pkg/cache/queue/manager.go:AddOrUpdateWorkloadWithoutLock`, `FlavorFungibilityPreserveScanProgress` off."""
    _, second, third = run(
        [queue("q", "a", "b"), local("l", "q")],
        TRY,
        CYCLE,
        CYCLE,
        featureGates={"FlavorFungibilityPreserveScanProgress": False},
    )
    assert says(second, "w") is None
    assert RESUMED in says(third, "w")


def test_without_the_feature_gate_usage_is_not_sampled():
    """`pkg/util/admissionfairsharing:Enabled` asks for the configuration and for the gate."""
    *_, last = run(
        [queue("q", "a", admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"}), local("l", "q")],
        {"submit": [workload("w", "l", 4)], "cycle": True},
        *([{}] * 7),
        {"settle": True},
        admissionFairSharing={"usageHalfLifeTime": "10s", "usageSamplingInterval": "1s"},
        featureGates={"AdmissionFairSharing": False},
    )
    assert not any(last["consumed"].values())
