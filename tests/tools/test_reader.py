"""Scenarios are read completely, and unknown keys are errors."""

import pytest

from kueuepy.errors import UnsupportedError
from replay import replay
from scenario.reader import ScenarioError, check_scenario
from stories import KUEUE, flavor, local_queue, namespace, queue, run, scenario, workload


def test_transformations_and_excluded_prefixes_apply():
    resources = {
        "transformations": [{"input": "example.com/slot", "strategy": "Replace", "outputs": {"cpu": "2"}}],
        "excludeResourcePrefixes": ["example.com/free"],
    }
    job = workload("a")
    requests = {"example.com/slot": "3", "example.com/free-lunch": "1"}
    job["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"] = requests
    [result] = run({"submit": [job], "cycle": True}, resources=resources)
    assert result["reserved"][0]["podSets"][0]["usage"] == {"cpu": "6"}


def test_workloads_of_a_removed_queue_report_its_absence():
    gone = {"remove": [{"kind": "LocalQueue", "metadata": {"name": "lq", "namespace": "ns"}}], "settle": True}
    results = run({"submit": [workload("a", "20")], "cycle": True}, gone)
    assert results[1]["pending"] == [
        {"workload": "ns/a", "reason": "Misconfigured", "message": "LocalQueue lq doesn't exist"}
    ]


def test_reclaimable_pods_release_their_quota():
    counts = {"workload": "ns/a", "podSets": [{"name": "main", "count": 3}]}
    results = run({"submit": [workload("a", "2", count=4)], "cycle": True}, {"reclaimable": [counts]})
    assert [result["usage"]["cq"] for result in results] == [{"f/cpu": "8000"}, {"f/cpu": "2000"}]


def test_a_cycle_that_waits_for_pods_blocks_until_all_were_ready_once():
    """The head stays in the queue, even if the cycle exists only for a moment during a settle."""
    wait = {"timeout": "5m", "blockAdmission": True}
    results = run(
        {"submit": [workload("a"), workload("b")], "cycle": True},
        {"cycle": True},
        {"podsReady": ["ns/a"], "cycle": True},
        {"settle": True},
        {"podsFailed": ["ns/a"], "settle": True, "cycle": True},
        waitForPodsReady=wait,
    )
    assert [bool(result.get("blocked")) for result in results] == [False, True, True, True, False]
    assert not any(result.get("idle") for result in results)
    assert [bool(result.get("reserved")) for result in results] == [True, False, False, False, True]
    assert results[2]["queues"] == {"cq": {"pending": ["ns/b"], "inadmissible": []}}


def test_a_check_can_delay_with_a_message():
    check = {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": "budget"},
        "spec": {"controllerName": "x"},
    }
    strategy = {"admissionChecks": [{"name": "budget"}]}
    objects = [namespace(), flavor(), check, queue(admissionChecksStrategy=strategy), local_queue()]
    event = {"workload": "ns/a", "name": "budget", "state": "Retry", "requeueAfterSeconds": 60, "message": "no money"}
    results = run(
        {"submit": [workload("a")], "cycle": True},
        {"settle": True},
        {"settle": True, "checks": [event]},
        {"at": 70, "settle": True},
        objects=objects,
    )
    assert [bool(result.get("evicted")) for result in results] == [False, False, False, True]
    assert results[3]["evicted"] == [{"workload": "ns/a", "reason": "AdmissionCheck"}]
    assert results[3]["pending"][0]["message"] == 'Evicted due to AdmissionCheck in Retry state: "budget" (no money)'


def test_workloads_with_a_status_keep_their_state():
    job = workload("a", "4")
    time = "2000-01-01T00:00:00Z"
    assignment = {"name": "main", "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "4"}, "count": 1}
    job["status"] = {
        "admission": {"clusterQueue": "cq", "podSetAssignments": [assignment]},
        "conditions": [
            {"type": name, "status": "True", "reason": name, "message": "", "lastTransitionTime": time}
            for name in ("QuotaReserved", "Admitted")
        ],
    }
    [result] = run({"settle": True}, objects=[namespace(), flavor(), queue(), local_queue(), job])
    assert result["usage"] == {"cq": {"f/cpu": "4000"}}


def test_pods_and_nodes_outside_a_topology_have_no_effect():
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}, "spec": {"nodeName": "n"}}
    removed = [
        {"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}},
        {"kind": "Node", "metadata": {"name": "n"}},
    ]
    results = run({"apply": [node, pod], "submit": [workload("a")], "cycle": True}, {"remove": removed})
    assert results[0]["admitted"] == ["ns/a"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda s: s.update(weather="fine"), "weather"),
        (lambda s: s["config"].update(objectRetention={}), "objectRetention"),
        (lambda s: s["config"].update(resources={"roundings": []}), "roundings"),
        (lambda s: s["config"].update(featureGates={"PartialAdmision": False}), "PartialAdmission"),
        (lambda s: s["config"].update(waitForPodsReady={"enable": True}), "enable"),
        (lambda s: s["steps"][0].update(evict=["ns/a"]), "evict"),
        (lambda s: s["steps"][0].update(checks=[{"workload": "ns/a", "state": "Ready", "node": "n"}]), "node"),
        (lambda s: s["steps"][0].update(remove=[{"kind": "Workload", "metadata": {"name": "a"}}]), "Workload"),
        (lambda s: s["steps"][0].update(remove=[{"kind": "Service", "metadata": {"name": "a"}}]), "Service"),
        (lambda s: s["steps"][0].update(submit=[flavor("g")]), "ResourceFlavor"),
        (lambda s: s["objects"].append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}), "Service"),
    ],
)
def test_an_unknown_key_is_an_error_that_names_it(change, word):
    story = scenario({"submit": [workload("a")], "cycle": True})
    change(story)

    def read():
        check_scenario(story)
        replay(story)

    with pytest.raises((ScenarioError, UnsupportedError), match=word):
        read()


def test_an_object_that_an_api_server_rejects_is_an_error():
    """A resource covered by two groups."""
    twice = queue()
    group = twice["spec"]["resourceGroups"][0]
    other = {"coveredResources": ["cpu"], "flavors": [{**group["flavors"][0], "name": "g"}]}
    twice["spec"]["resourceGroups"] = [group, other]
    with pytest.raises(ValueError, match=r'resource "cpu" occurs twice; it may be in one group, once'):
        run({"cycle": True}, objects=[namespace(), flavor(), flavor("g"), twice])
