"""Workloads with devices in queues: a queue has a copy that events do not update, as in Kueue."""

from stories import KUEUE, flavor, local_queue, namespace, queue, run, workload

CHECK = {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": "budget"}, "spec": {"controllerName": "x"}}
TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "two", "namespace": "ns"},
    "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2}}]}}},
}
SETTLE, CYCLE = {"settle": True}, {"cycle": True}


def claiming(name, priority=0):
    made = workload(name, priority=priority)
    claim = {"name": "d", "resourceClaimTemplateName": "two"}
    made["spec"]["podSets"][0]["template"]["spec"]["resourceClaims"] = [claim]
    return made


def replayed(*steps, gpus="1", others=()):
    """Replay steps on a queue with an admission check that has too few devices for any workload."""
    quotas = [{"name": "cpu", "nominalQuota": "9"}, {"name": "gpus", "nominalQuota": gpus}]
    groups = [{"coveredResources": ["cpu", "gpus"], "flavors": [{"name": "f", "resources": quotas}]}]
    own = queue(resourceGroups=groups, admissionChecksStrategy={"admissionChecks": [{"name": "budget"}]})
    mappings = [{"name": "gpus", "deviceClassNames": ["gpu"]}]
    objects = [namespace(), flavor(), CHECK, own, local_queue(), TEMPLATE, *others]
    return run(*steps, objects=objects, resources={"deviceClassMappings": mappings})


def messages(result):
    return {entry["workload"]: entry["message"] for entry in result["pending"]}


def retry(name):
    return {"checks": [{"workload": f"ns/{name}", "name": "budget", "state": "Retry"}]}


def test_a_cycle_does_not_see_a_check_that_failed_after_the_last_count():
    result = replayed({"submit": [claiming("a")], **SETTLE}, {**retry("a"), **CYCLE})[-1]
    assert "insufficient quota for gpus" in messages(result)["ns/a"]


def test_a_cycle_sees_a_check_that_failed_before_the_last_count():
    result = replayed({"submit": [claiming("a")], **SETTLE}, {**retry("a"), **SETTLE, **CYCLE})[-1]
    assert messages(result) == {"ns/a": "The workload has failed admission checks"}


def test_a_workload_returns_to_its_queue_with_its_present_priority():
    lower = {"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": "a", "namespace": "ns"}}
    change = {"apply": [{**lower, "spec": {"priority": 3}}]}
    submit = {"submit": [claiming("a", 5), claiming("b", 4)], **SETTLE}
    *_, changed, returned = replayed(submit, change, CYCLE)
    assert changed["queues"]["cq"] == {"pending": ["ns/a", "ns/b"], "inadmissible": []}
    assert returned["queues"]["cq"] == {"pending": ["ns/b", "ns/a"], "inadmissible": ["ns/a"]}


def move(name, target):
    """Change the queueName of a workload."""
    changed = {"apiVersion": KUEUE, "kind": "Workload", "metadata": {"name": name, "namespace": "ns"}}
    return {"apply": [{**changed, "spec": {"queueName": target}}]}


def moved_to_another_queue(*steps, gpus="1"):
    """Submit and count a workload, move it from queue cq to queue wide, and run the steps."""
    quotas = [{"name": "cpu", "nominalQuota": "9"}, {"name": "gpus", "nominalQuota": "1"}]
    groups = [{"coveredResources": ["cpu", "gpus"], "flavors": [{"name": "f", "resources": quotas}]}]
    others = queue("wide", resourceGroups=groups), local_queue("other", "wide")
    submit = {"submit": [claiming("a")], **SETTLE}
    return replayed(submit, move("a", "other"), *steps, gpus=gpus, others=others)[1:]


def pending(result):
    return {name: entry["pending"] for name, entry in result["queues"].items() if entry["pending"]}


def test_a_moved_workload_stays_in_its_queue_until_its_devices_are_counted():
    moved, settled = moved_to_another_queue(SETTLE)
    assert pending(moved) == {"cq": ["ns/a"]}
    assert pending(settled) == {"wide": ["ns/a"]}


def test_a_cycle_takes_a_moved_workload_from_its_old_queue_and_returns_it_to_the_new_one():
    _, cycled, settled = moved_to_another_queue(CYCLE, SETTLE)
    assert "maximum capacity (1)" in messages(cycled)["ns/a"]
    assert cycled["queues"]["wide"] == {"pending": ["ns/a"], "inadmissible": ["ns/a"]}
    assert pending(settled) == {"wide": ["ns/a"]}


def test_a_cycle_admits_a_moved_workload_to_its_old_queue():
    _, cycled = moved_to_another_queue(CYCLE, gpus="2")
    assert [(entry["workload"], entry["clusterQueue"]) for entry in cycled["reserved"]] == [("ns/a", "cq")]


def test_a_moved_workload_leaves_its_old_queue_if_its_new_one_does_not_exist():
    submit = {"submit": [claiming("a")], **SETTLE}
    *_, moved, settled = replayed(submit, move("a", "absent"), SETTLE)
    assert pending(moved) == {"cq": ["ns/a"]}
    assert pending(settled) == {}


def test_a_moved_workload_is_removed_with_its_old_local_queue():
    gone = {"remove": [{"kind": "LocalQueue", "metadata": local_queue()["metadata"]}]}
    moved, removed, settled = moved_to_another_queue(gone, SETTLE)
    assert pending(moved)["cq"] == ["ns/a"]
    assert pending(removed) == {}
    assert pending(settled) == {"wide": ["ns/a"]}
