"""Recorded scenarios of a manager and its workers: clusters and MultiKueue act like Kueue."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kueuepy.errors import KueueError
from kueuepy.replay import replay
from kueuepy.replay.fleet import FleetReplay
from scenarios.difference import differences

DATA = Path(__file__).parent / "data" / "fleets"
MOVES = ("created", "deleted", "updated", "started", "stopped", "gated", "opened", "deactivating")
SHARE_UNDER_SANITIZERS = 5


def scenarios():
    for path in sorted(DATA.glob("*.jsonl.gz")):
        with gzip.open(path, "rb") as lines:
            for number, line in enumerate(lines):
                scenario = msgspec.json.decode(line)
                marks = [pytest.mark.sanitizer] if number % SHARE_UNDER_SANITIZERS == 0 else []
                yield pytest.param(line, id=scenario["name"], marks=marks)


def fleet_facts(result: dict[str, Any]) -> dict[str, Any]:
    """What a step of a fleet adds to the results of its clusters."""
    checks = {
        entry["workload"]: (
            entry["state"],
            entry.get("message") or "",
            tuple(entry.get("nominated") or ()),
            entry.get("cluster") or "",
        )
        for entry in result.get("checks") or ()
    }
    finished = {
        entry["workload"]: (entry.get("reason") or "", entry.get("message") or "")
        for entry in result.get("finished") or ()
    }
    moves = {move: sorted((e["cluster"], e["workload"]) for e in result.get(move) or ()) for move in MOVES}
    return {"checks": checks, "finished": finished, **moves}


@pytest.mark.parametrize("line", list(scenarios()))
def test_a_fleet_decides_like_the_recorded_kueue(line):
    scenario = msgspec.json.decode(line)
    assert len(scenario["steps"]) == len(scenario["results"])
    run = FleetReplay(scenario)
    for number, (step, recorded) in enumerate(zip(scenario["steps"], scenario["results"], strict=True)):
        result = run.step(step)
        where = f"step {number}: {msgspec.json.encode(step)[:300]!r}"
        assert fleet_facts(result) == fleet_facts(recorded), where
        for cluster in {*(recorded.get("clusters") or {}), *result["clusters"]}:
            expected = (recorded.get("clusters") or {}).get(cluster) or {}
            assert not differences(expected, result["clusters"].get(cluster) or {}), f"{cluster}: {where}"


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


def fleet(*workers, dispatcher="example.com/dispatcher", declared=None):
    """A manager and workers; `declared` are the workers with a MultiKueueCluster, by default all."""
    members = [of_kind("MultiKueueCluster", name) for name in (workers if declared is None else declared)]
    reference = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}
    spec = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": reference}
    check = of_kind("AdmissionCheck", "mk", spec=spec)
    manager = cluster("manager", config(*workers), *members, check, checks=["mk"])
    clusters = [manager, *(cluster(name) for name in workers)]
    settings = {"multiKueue": {"dispatcherName": dispatcher}}
    return FleetReplay({"name": "made", "clusters": clusters, "steps": [], "config": settings})


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
