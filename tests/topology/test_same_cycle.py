"""One cycle that assigns domains to a workload with quota and preempts it for another workload."""

import pytest

from scenario.runner import Replay

HOSTNAME = "kubernetes.io/hostname"


def named(kind, name, **body):
    namespace = {"namespace": "a"} if kind in ("LocalQueue", "Workload") else {}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name, **namespace}, **body}


def quota(name, cpu, **more):
    resources = [{"name": "cpu", "nominalQuota": str(cpu)}]
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": resources}]}
    spec = {"namespaceSelector": {}, "preemption": {"withinClusterQueue": "LowerPriority"}, "resourceGroups": [group]}
    return [
        named("ClusterQueue", name, spec={**spec, **more}),
        named("LocalQueue", name, spec={"clusterQueue": name}),
    ]


def workload(name, queue, cpu, priority=0):
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": str(cpu)}}}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    return named("Workload", name, spec={"queueName": queue, "priority": priority, "podSets": [pod_set]})


def node(name, cpu):
    status = {"allocatable": {"cpu": str(cpu), "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}
    labels = {HOSTNAME: name, "pool": "f"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def run(steps, *, queues):
    checks = {"admissionChecksStrategy": {"admissionChecks": [{"name": "prov"}]}}
    objects = [
        named("Topology", "hosts", spec={"levels": [{"nodeLabel": HOSTNAME}]}),
        named("ResourceFlavor", "f", spec={"nodeLabels": {"pool": "f"}, "topologyName": "hosts"}),
        named("AdmissionCheck", "prov", spec={"controllerName": "kueue.x-k8s.io/provisioning-request"}),
        *(node(f"n{i}", 4) for i in range(3)),
        *(one for name in queues for one in quota(name, 4, **(checks if name == "checked" else {}))),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}},
    ]
    replay = Replay({"name": "same-cycle", "config": {}, "objects": objects, "steps": [], "results": []})
    return [replay.step({"at": at, **step}) for at, step in enumerate(steps, start=1)], replay


def second_pass(*urgent):
    """`victim` waits for its second pass; then the urgent workloads arrive, and one cycle runs."""
    return [
        {"submit": [workload("victim", "checked", 2)]},
        {"cycle": True},
        {"checks": [{"workload": "a/victim", "name": "prov", "state": "Ready"}]},
        {"settle": True},
        {"submit": list(urgent)},
        {"cycle": True},
    ]


def test_a_later_admission_in_the_same_cycle_ends_an_eviction():
    """No eviction was written since the cycle admitted the victim, so its admission is the later write."""
    steps = second_pass(workload("urgent", "checked", 4, 10))
    results, replay = run([*steps, {"settle": True}, {"cycle": True}], queues=["checked"])

    last = results[len(steps) - 1]
    assert [entry["workload"] for entry in last["assigned"]] == ["a/victim"]
    assert "admitted" not in last  # the eviction has reset its check
    assert "evicted" not in last
    assert last["pending"][0]["reason"] == "WaitingForPreemptedWorkloads"
    assert [entry["workload"] for entry in results[-1]["evicted"]] == ["a/victim"]  # and stays evicted
    assert replay.engine.check() == []


def test_a_second_eviction_follows_the_admission():
    """The admission of the victim is written while the cycle waits for the eviction of `other`."""
    first = [{"submit": [workload("other", "free", 4)]}, {"cycle": True}]
    urgent = [workload("first", "free", 4, 20), workload("urgent", "checked", 4, 10)]
    steps = [*first, *second_pass(*urgent)]
    results, replay = run([*steps, {"settle": True}], queues=["checked", "free"])

    last = results[len(steps) - 1]
    assert last["admitted"] == ["a/victim"]
    assert [entry["workload"] for entry in last["assigned"]] == ["a/victim"]
    assert {entry["workload"]: (entry["reason"], entry["by"]) for entry in last["evicted"]} == {
        "a/other": ("Preempted", "a/first"),
        "a/victim": ("Preempted", "a/urgent"),
    }
    assert sorted(results[-1]["released"]) == ["a/other", "a/victim"]
    assert replay.engine.check() == []


@pytest.mark.parametrize("early", ["a-early", "z-early"])
def test_trees_that_share_nodes_are_processed_in_the_order_of_their_heads(early):
    """With ClusterQueues without a cohort, the oldest head gets the node that both need."""
    late = "m-late"
    objects = [
        named("Topology", "hosts", spec={"levels": [{"nodeLabel": HOSTNAME}]}),
        named("ResourceFlavor", "f", spec={"nodeLabels": {"pool": "f"}, "topologyName": "hosts"}),
        node("big", 4),
        *quota(early, 4),
        *quota(late, 4),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}},
    ]
    replay = Replay({"name": "trees", "config": {"fairSharing": {}}, "objects": objects, "steps": [], "results": []})
    replay.step({"at": 1, "submit": [workload("first", early, 4)]})
    replay.step({"at": 2, "submit": [workload("second", late, 4, priority=9)]})
    result = replay.step({"at": 3, "cycle": True})

    assert [entry["workload"] for entry in result["reserved"]] == ["a/first"]


def test_a_head_that_fits_precedes_one_that_reserves_capacity():
    """A head without preemption candidates reserves the node only after the heads that fit."""
    objects = [
        named("Topology", "hosts", spec={"levels": [{"nodeLabel": HOSTNAME}]}),
        named("ResourceFlavor", "f", spec={"nodeLabels": {"pool": "f"}, "topologyName": "hosts"}),
        node("big", 6),
        *quota("a-waits", 4),
        *quota("b-fits", 4),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}},
    ]
    replay = Replay({"name": "fits", "config": {"fairSharing": {}}, "objects": objects, "steps": [], "results": []})
    replay.step({"at": 1, "submit": [workload("holds", "a-waits", 2, priority=9)]})
    replay.step({"at": 2, "cycle": True})
    replay.step({"at": 3, "submit": [workload("waits", "a-waits", 4)]})  # needs what `holds` has, and may not take it
    replay.step({"at": 4, "submit": [workload("fits", "b-fits", 4)]})
    result = replay.step({"at": 5, "cycle": True})

    assert [entry["workload"] for entry in result["reserved"]] == ["a/fits"]
