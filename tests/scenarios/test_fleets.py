"""Recorded scenarios of a manager and its workers: clusters and MultiKueue act like Kueue."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest

from kueuepy import Cluster, ClusterQueue, Fleet, FleetScheduler, ResourceFlavor
from kueuepy.errors import KueueError
from replay import replay
from scenario.difference import fleet_differences, fleet_facts
from scenario.fleet import FleetReplay

DATA = Path(__file__).parent / "data" / "fleets"
SHARE_UNDER_SANITIZERS = 5


def scenarios():
    for path in sorted(DATA.glob("*.jsonl.gz")):
        with gzip.open(path, "rb") as lines:
            for number, line in enumerate(lines):
                scenario = msgspec.json.decode(line)
                marks = [pytest.mark.sanitizer] if number % SHARE_UNDER_SANITIZERS == 0 else []
                yield pytest.param(line, id=scenario["name"], marks=marks)


@pytest.mark.parametrize("line", list(scenarios()))
def test_a_fleet_decides_like_the_recorded_kueue(line):
    scenario = msgspec.json.decode(line)
    assert len(scenario["steps"]) == len(scenario["results"])
    run = FleetReplay(scenario)
    for number, (step, recorded) in enumerate(zip(scenario["steps"], scenario["results"], strict=True)):
        found = fleet_differences(recorded, run.step(step))
        assert not found, f"step {number}: {msgspec.json.encode(step)[:300]!r}"


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ({"at": 0, "on": "w9", "settle": True}, "'w9'; it must be one of"),
        ({"at": 0, "connect": ["w9"]}, "the worker 'w9'"),
        ({"at": 0, "on": "manager", "finish": ["default/absent"]}, "'default/absent', which does not exist"),
        ({"at": 0, "dispatches": True}, "unknown field `dispatches`"),
    ],
)
def test_an_unknown_step_is_an_error(step, problem):
    with gzip.open(DATA / "multikueue-cases.jsonl.gz", "rb") as lines:
        scenario = msgspec.json.decode(next(lines))
    with pytest.raises(KueueError, match=problem):
        replay(scenario | {"steps": [step], "results": None})


def of_kind(kind, name, namespace=None, **fields):
    where = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    group = "v1" if kind == "Namespace" else "kueue.x-k8s.io/v1beta2"
    return {"apiVersion": group, "kind": kind, "metadata": where, **fields}


def config(*clusters):
    return of_kind("MultiKueueConfig", "all", spec={"clusters": list(clusters)})


def cluster(name, *objects, checks=()):
    """A cluster with one ClusterQueue of 4 cpu."""
    flavor = {"name": "any", "resources": [{"name": "cpu", "nominalQuota": "4"}]}
    spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}]}
    if checks:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": check} for check in checks]}
    own = [
        of_kind("Namespace", "default"),
        of_kind("ResourceFlavor", "any", spec={}),
        *objects,
        of_kind("ClusterQueue", "main", spec=spec),
        of_kind("LocalQueue", "main", "default", spec={"clusterQueue": "main"}),
    ]
    return {"name": name, "objects": own}


def documents(*workers, dispatcher="example.com/dispatcher", declared=None):
    """A manager and workers; `declared` are the workers with a MultiKueueCluster, by default all."""
    members = [of_kind("MultiKueueCluster", name) for name in (workers if declared is None else declared)]
    reference = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}
    spec = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": reference}
    check = of_kind("AdmissionCheck", "mk", spec=spec)
    manager = cluster("manager", config(*workers), *members, check, checks=["mk"])
    clusters = [manager, *(cluster(name) for name in workers)]
    settings = {"multiKueue": {"dispatcherName": dispatcher}}
    return {"name": "made", "clusters": clusters, "steps": [], "config": settings}


def fleet(*workers, **settings):
    return FleetReplay(documents(*workers, **settings))


def workload(name, **spec):
    requests = {"requests": {"cpu": "1"}}
    pods = {
        "name": "main",
        "count": 1,
        "template": {"spec": {"containers": [{"name": "c", "resources": requests}]}},
    }
    return of_kind("Workload", name, "default", spec={"queueName": "main", "podSets": [pods], **spec})


def run_steps(run, *steps):
    return [run.step({"at": at, **step}) for at, step in enumerate(steps, start=1)]


SUBMIT = {"on": "manager", "submit": [workload("x")], "settle": True, "cycle": True}
TO_W1 = {"on": "manager", "nominate": [{"workload": "default/x", "clusters": ["w1"]}]}
TO_W2 = {"on": "manager", "nominate": [{"workload": "default/x", "clusters": ["w2"]}]}
WORKS = {"on": "w1", "settle": True, "cycle": True}
LOOK = {"dispatch": True}
ADMITTED = 'The workload was admitted on "w1"'


def test_a_look_clears_nominations_of_an_admitted_workload():
    *_, nominated, looked = run_steps(fleet("w1", "w2"), SUBMIT, TO_W1, LOOK, WORKS, LOOK, TO_W2, LOOK)
    assert fleet_facts(nominated)["checks"] == {"default/x": ("Ready", ADMITTED, ("w2",), "w1")}
    assert fleet_facts(looked)["checks"] == {"default/x": ("Ready", ADMITTED, (), "w1")}


@pytest.mark.parametrize("lost", [(), ({"disconnect": ["w1"]},)])
def test_a_cluster_removed_from_the_config_no_longer_admits(lost):
    change = {"on": "manager", "apply": [config("w2")]}
    *_, looked = run_steps(fleet("w1", "w2"), SUBMIT, TO_W1, LOOK, WORKS, LOOK, *lost, change, LOOK)
    message = 'Admitting remote no longer exists, Previously: "Ready"'
    assert fleet_facts(looked)["checks"] == {"default/x": ("Retry", message, (), "w1")}
    assert not fleet_facts(looked)["deleted"]


def test_without_a_config_nothing_is_dispatched():
    removed = {"on": "manager", "remove": [config("w1")]}
    run = fleet("w1", dispatcher="kueue.x-k8s.io/multikueue-dispatcher-all-at-once")
    *_, missing, restored, looked = run_steps(
        run, SUBMIT, removed, LOOK, {"on": "manager", "apply": [config("ghost", "w1")]}, LOOK
    )
    assert "created" not in missing
    assert "created" not in restored
    assert fleet_facts(looked)["created"] == [("w1", "default/x")]


def test_a_new_workload_of_the_same_name_takes_over_the_copies():
    delete = {"on": "manager", "delete": ["default/x"]}
    *_, looked = run_steps(fleet("w1", "w2"), SUBMIT, TO_W1, LOOK, WORKS, delete, SUBMIT, TO_W1, LOOK)
    facts = fleet_facts(looked)
    assert facts["checks"] == {"default/x": ("Ready", ADMITTED, (), "w1")}
    assert facts["started"] == [("w1", "default/x")]
    assert not facts["deleted"]
    assert not facts["created"]


def test_a_changed_workload_that_kueue_deactivated_stays_inactive():
    limited = {**SUBMIT, "submit": [workload("x", maximumExecutionTimeSeconds=1)]}
    settle = {"on": "manager", "settle": True, "cycle": True}
    change = {**settle, "apply": [of_kind("Workload", "x", "default", spec={"priority": 5})]}
    *_, stopped, changed = run_steps(
        fleet("w1"), limited, TO_W1, LOOK, WORKS, LOOK, settle, settle, settle, settle, change
    )
    assert "reserved" not in changed["clusters"]["manager"]
    assert not changed["clusters"]["manager"]["queues"]
    assert not stopped["clusters"]["manager"]["queues"]


DELETE = {"on": "manager", "delete": ["default/x"]}
WAIT = {key: SUBMIT[key] for key in ("on", "submit")}
COLLECT = {"collect": True}
ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


def test_a_job_without_its_copy_is_deleted_with_the_workload():
    lost = {"on": "w1", "delete": ["default/x"]}
    *_, looked, again = run_steps(fleet("w1"), SUBMIT, TO_W1, LOOK, WORKS, LOOK, lost, DELETE, LOOK, LOOK)
    assert fleet_facts(looked)["stopped"] == [("w1", "default/x")]
    assert not fleet_facts(looked)["deleted"]
    assert not fleet_facts(again)["stopped"]


def test_a_new_copy_takes_over_the_job_of_a_deleted_copy():
    """The workload was running, so that its eviction needs a copy that stops the job."""
    lost, settle = {"on": "w1", "delete": ["default/x"]}, {"on": "manager", "settle": True}
    steps = (SUBMIT, LOOK, WORKS, LOOK, settle, WORKS, LOOK, lost, LOOK, settle, LOOK, WORKS, LOOK)
    *_, lost, _, evicted, copied, _, stopped = run_steps(fleet("w1", dispatcher=ALL_AT_ONCE), *steps)[-7:]
    assert evicted["clusters"]["manager"]["evicted"][0]["reason"] == "AdmissionCheck"
    assert fleet_facts(copied)["created"] == [("w1", "default/x")]
    assert fleet_facts(stopped)["deactivating"] == [("w1", "default/x")]
    assert not fleet_facts(stopped)["started"]


def test_garbage_collection_deletes_copies_whose_workload_was_replaced_and_deleted():
    steps = (SUBMIT, TO_W1, LOOK, DELETE, WAIT, LOOK, DELETE, LOOK, COLLECT)
    *_, looked, collected = run_steps(fleet("w1"), *steps)
    assert not fleet_facts(looked)["deleted"]
    assert fleet_facts(collected)["deleted"] == [("w1", "default/x")]


def test_garbage_collection_keeps_workloads_that_users_created_on_a_worker():
    own = {"on": "w1", "submit": [workload("x")]}
    *_, looked, collected = run_steps(fleet("w1"), own, SUBMIT, TO_W1, LOOK, DELETE, COLLECT)
    assert not fleet_facts(looked)["deleted"]
    assert not fleet_facts(collected)["deleted"]


def test_a_round_continues_for_a_new_workload_of_the_same_name():
    workers = ("w1", "w2", "w3", "w4")
    *_, first, _, _, second = run_steps(fleet(*workers, dispatcher=INCREMENTAL), SUBMIT, LOOK, DELETE, SUBMIT, LOOK)
    assert fleet_facts(first)["checks"] == {"default/x": ("Pending", "", ("w1", "w2", "w3"), "")}
    assert not fleet_facts(second)["checks"]


def test_a_cluster_without_a_multikueuecluster_is_not_connected():
    run = fleet("w1", "w2", dispatcher=ALL_AT_ONCE, declared=("w1",))
    _, looked, _, later = run_steps(run, SUBMIT, LOOK, ADD_W2, LOOK)
    assert fleet_facts(looked)["checks"] == {"default/x": ("Pending", "", ("w1",), "")}
    assert fleet_facts(later)["checks"] == {"default/x": ("Pending", "", ("w1", "w2"), "")}


ADD_W2 = {"on": "manager", "apply": [of_kind("MultiKueueCluster", "w2")]}


def test_a_look_restores_the_message_of_a_check():
    said = {"workload": "default/x", "name": "mk", "state": "Ready", "message": "by hand"}
    event = {"on": "manager", "checks": [said]}
    *_, changed, looked = run_steps(fleet("w1"), SUBMIT, TO_W1, LOOK, WORKS, LOOK, event, LOOK)
    assert fleet_facts(changed)["checks"] == {"default/x": ("Ready", "by hand", (), "w1")}
    assert fleet_facts(looked)["checks"] == {"default/x": ("Ready", ADMITTED, (), "w1")}


def test_a_workload_that_a_user_created_on_a_worker_is_taken_over_as_the_copy():
    own = {"on": "w1", "submit": [workload("x")], "settle": True, "cycle": True}
    *_, looked, _ = run_steps(fleet("w1", "w2"), own, SUBMIT, TO_W1, LOOK, LOOK)
    facts = fleet_facts(looked)
    assert facts["checks"] == {"default/x": ("Ready", ADMITTED, (), "w1")}
    assert facts["started"] == [("w1", "default/x")]
    assert not facts["created"]


def test_a_workload_of_a_user_with_another_spec_is_replaced_by_a_copy():
    own = {"on": "w1", "submit": [workload("x", priority=3)], "settle": True, "cycle": True}
    *_, looked = run_steps(fleet("w1"), own, SUBMIT, TO_W1, LOOK)
    facts = fleet_facts(looked)
    assert facts["deleted"] == facts["created"] == [("w1", "default/x")]
    assert not facts["started"]


def with_job(name):
    """A workload of a job that a user created on the worker."""
    made = workload(name)
    made["metadata"]["labels"] = {"kueue.x-k8s.io/job-uid": "own"}
    return made


def test_the_job_of_a_user_of_the_same_name_ends_the_look_with_an_error():
    own = {"on": "w1", "submit": [with_job("x")]}
    both = {"on": "manager", "nominate": [{"workload": "default/x", "clusters": ["w1", "w2"]}]}
    finish = {"on": "w1", "finish": ["default/x"]}
    steps = (own, SUBMIT, both, LOOK, WORKS, LOOK, finish, LOOK)
    *_, copied, _, looked, _, finished = run_steps(fleet("w1", "w2"), *steps)
    assert fleet_facts(copied)["created"] == [("w2", "default/x")]
    facts = fleet_facts(looked)
    assert facts["deleted"] == [("w2", "default/x")]
    assert not facts["started"]
    assert not facts["checks"]
    assert not fleet_facts(finished)["finished"]


def test_controllers_that_start_again_take_over_copies_and_jobs():
    step = FleetScheduler(
        Fleet(
            {name: Cluster(ResourceFlavor("any"), ClusterQueue.of("team", {"any": {"cpu": 1}})) for name in ("a", "b")}
        )
    )
    step.manager.submit({"name": "run", "queue": "team", "cpu": 1}, {"name": "wait", "queue": "team", "cpu": 1})
    step.manager.cycle()
    step.manager.cycle()
    step.dispatch()
    step["a"].cycle()
    step.dispatch()
    before = {key: step.status(f"default/{key}") for key in ("run", "wait")}
    assert before["run"].cluster == "a"
    assert [copy.cluster for copy in before["wait"].copies] == ["a", "b"]
    step.restart()
    assert step.dispatch() == ()
    assert {key: step.status(f"default/{key}") for key in ("run", "wait")} == before
    step.finish("default/run")
    assert [(move.what, move.cluster) for move in step.dispatch()] == [("stopped", "a"), ("deleted", "a")]


TOPOLOGY = [
    of_kind("Topology", "racks", spec={"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}),
    of_kind("ResourceFlavor", "any", spec={"nodeLabels": {"pool": "any"}, "topologyName": "racks"}),
]
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"pool": "any", "kubernetes.io/hostname": "n1"}},
    "spec": {},
    "status": {"allocatable": {"cpu": "4", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]},
}


def placed_fleet(*worker_objects):
    """A fleet whose manager has a flavor with a topology, and nodes neither on the manager nor, by default, on w1."""
    scenario = documents("w1")
    manager, worker = scenario["clusters"]
    manager["objects"] = [doc for doc in manager["objects"] if doc["kind"] != "ResourceFlavor"]
    manager["objects"][1:1] = TOPOLOGY
    if worker_objects:
        worker["objects"] = [doc for doc in worker["objects"] if doc["kind"] != "ResourceFlavor"]
        worker["objects"][1:1] = worker_objects
    return FleetReplay(scenario)


def placed(name):
    made = workload(name)
    made["spec"]["podSets"][0]["topologyRequest"] = {"required": "kubernetes.io/hostname"}
    return made


def delays(result):
    """The states of the delayed topology requests in the assignments that the manager made or changed."""
    facts = result["clusters"].get("manager", {})
    entries = [*(facts.get("reserved") or ()), *(facts.get("assigned") or ())]
    return {entry["workload"]: [one.get("delayedTopologyRequest") for one in entry["podSets"]] for entry in entries}


def test_a_delayed_topology_request_is_ready_once_the_copy_has_a_topology_assignment():
    run, submit = placed_fleet(*TOPOLOGY, NODE), {**SUBMIT, "submit": [placed("x")]}
    reserved, _, _, worked, looked, again = run_steps(run, submit, TO_W1, LOOK, WORKS, LOOK, LOOK)
    assert delays(reserved) == {"default/x": ["Pending"]}
    assert worked["clusters"]["w1"]["reserved"][0]["podSets"][0]["topology"]
    assert fleet_facts(looked)["checks"] == {"default/x": ("Ready", ADMITTED, (), "w1")}
    assert delays(looked) == {"default/x": ["Ready"]}
    assert not delays(again)


def test_a_delayed_topology_request_stays_pending_if_the_worker_assigns_no_topology():
    submit = {**SUBMIT, "submit": [placed("x")]}
    reserved, *_, looked = run_steps(placed_fleet(), submit, TO_W1, LOOK, WORKS, LOOK)
    assert delays(reserved) == {"default/x": ["Pending"]}
    assert not delays(looked)


READY, FAILED = {"on": "w1", "podsReady": ["default/x"], "settle": True}, {"on": "w1", "podsFailed": ["default/x"]}
SETTLE = {"on": "manager", "settle": True}


def conditions(run, name, workload="default/x"):
    engine = run._runs["manager"].engine
    return engine.condition(engine.find(workload), name)


def waiting_fleet(timeout):
    scenario = documents("w1")
    scenario["clusters"][0]["config"] = {"waitForPodsReady": {"timeout": timeout}}
    return FleetReplay(scenario)


def test_the_pods_of_the_manager_are_ready_when_those_of_the_copy_are():
    run = waiting_fleet("100s")
    admitted = (SUBMIT, TO_W1, LOOK, WORKS, LOOK, SETTLE, WORKS)
    run_steps(run, *admitted, LOOK, SETTLE)
    assert conditions(run, "PodsReady")[:2] == (False, "WaitForStart")
    run.step({"at": 20, **READY})
    run.step({"at": 21, **LOOK})
    run.step({"at": 22, **SETTLE})
    assert conditions(run, "PodsReady")[:2] == (True, "Started")
    run.step({"at": 30, **FAILED})
    run.step({"at": 31, **LOOK})
    run.step({"at": 32, **SETTLE})
    assert conditions(run, "PodsReady")[:2] == (False, "WaitForRecovery")


@pytest.mark.parametrize("ready", [True, False])
def test_the_manager_evicts_a_workload_whose_copy_does_not_become_ready(ready):
    run = waiting_fleet("100s")
    run_steps(run, SUBMIT, TO_W1, LOOK, WORKS, LOOK, SETTLE, WORKS)
    if ready:
        run.step({"at": 20, **READY})
    run.step({"at": 21, **LOOK})
    run.step({"at": 22, **SETTLE})
    result = run.step({"at": 150, **SETTLE})
    evicted = result["clusters"].get("manager", {}).get("evicted")
    assert evicted == (None if ready else [{"workload": "default/x", "reason": "PodsReadyTimeout"}])
    looked = run.step({"at": 151, **LOOK})
    assert fleet_facts(looked)["deactivating"] == ([] if ready else [("w1", "default/x")])
