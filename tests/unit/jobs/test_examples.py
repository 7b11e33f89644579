"""Every kind of job, from a manifest as its users write it: pod sets, start and stop."""

from pathlib import Path

import pytest

from kueuepy.jobs import kinds, suspend, to_workloads
from kueuepy.manifest import load
from kueuepy.objects import PriorityClass, WorkloadPriorityClass

EXAMPLES = Path(__file__).parents[3] / "examples" / "jobs"

POD_SETS = {
    "job": {"main": (3, {"cpu": "1", "memory": "200Mi"})},
    "job-partial": {"main": (20, {"cpu": "1"})},
    "job-elastic": {"main": (3, {"cpu": "1"})},
    "cronjob": {"main": (2, {"cpu": "500m", "memory": "1Gi"})},
    "jobset": {"leader": (1, {"cpu": "2", "memory": "4Gi"}), "workers": (8, {"cpu": "8", "memory": "32Gi"})},
    "pytorchjob": {"master": (1, {"cpu": "4", "memory": "16Gi"}), "worker": (4, {"cpu": "8", "memory": "64Gi"})},
    "tfjob": {"ps": (2, {"cpu": "2", "memory": "8Gi"}), "worker": (4, {"cpu": "4", "memory": "16Gi"})},
    "xgboostjob": {"master": (1, {"cpu": "1", "memory": "2Gi"}), "worker": (2, {"cpu": "4", "memory": "8Gi"})},
    "paddlejob": {"worker": (2, {"cpu": "4", "memory": "16Gi"})},
    "jaxjob": {"worker": (3, {"cpu": "16", "memory": "64Gi"})},
    "mpijob": {"launcher": (1, {"cpu": "2"}), "worker": (4, {"cpu": "16", "memory": "64Gi"})},
    "raycluster": {"head": (1, {"cpu": "1", "memory": "2Gi"}), "gpu": (12, {"cpu": "4", "memory": "16Gi"})},
    "rayjob": {
        "head": (1, {"cpu": "2", "memory": "4Gi"}),
        "small": (2, {"cpu": "4"}),
        "large": (1, {"cpu": "16"}),
        "submitter": (1, {"cpu": "500m", "memory": "200Mi"}),
    },
    "rayservice": {"head": (1, {"cpu": "2", "memory": "4Gi"}), "replicas": (2, {"cpu": "8", "memory": "16Gi"})},
    "trainjob": {"dataset-initializer": (1, {"cpu": "500m"}), "node": (4, {"cpu": "8", "memory": "64Gi"})},
    "appwrapper": {"pipeline-0": (2, {"cpu": "1", "memory": "2Gi"}), "pipeline-1": (3, {"cpu": "500m"})},
    "sparkapplication": {
        "driver": (1, {"cpu": "500m", "memory": "1Gi"}),
        "executor": (3, {"cpu": "2", "memory": "4Gi"}),
    },
    "pod": {"main": (1, {"cpu": "2", "memory": "8Gi"})},
    "podgroup": {"4ebdd4a6": (2, {"cpu": "1", "memory": "1Gi"}), "dc85db45": (1, {"cpu": "1"})},
    "deployment": {"main": (1, {"cpu": "250m", "memory": "128Mi"})},
    "statefulset": {"main": (3, {"cpu": "1", "memory": "4Gi"})},
    "leaderworkerset": {"leader": (1, {"cpu": "4", "memory": "16Gi"}), "worker": (4, {"cpu": "8", "memory": "64Gi"})},
}
HOW_MANY = {"deployment": 3, "leaderworkerset": 2}
QUEUES = dict.fromkeys(("rayservice", "deployment", "statefulset", "leaderworkerset"), "serving") | dict.fromkeys(
    ("cronjob", "sparkapplication"), "reports"
)
STARTED_THROUGH_PODS = ("deployment", "statefulset", "leaderworkerset", "cronjob")
DELETED_TO_STOP = ("pod", "podgroup")
STARTED_ITSELF = [name for name in POD_SETS if name not in (*STARTED_THROUGH_PODS, *DELETED_TO_STOP)]


def requests(pod_set):
    return pod_set.template["spec"]["containers"][0]["resources"]["requests"]


def placed(value):
    """Every node selector in a manifest."""
    if isinstance(value, dict):
        found = [value["nodeSelector"]] if "nodeSelector" in value else []
        return found + [selector for item in value.values() for selector in placed(item)]
    return [selector for item in value for selector in placed(item)] if isinstance(value, list) else []


def test_there_is_an_example_of_every_kind(example):
    shown = {example(name)["kind"] for name in POD_SETS}
    assert {kind for _, kind in kinds()} <= shown


@pytest.mark.parametrize("name", POD_SETS)
def test_pod_sets(name, workloads):
    found = workloads(name)
    assert len(found) == HOW_MANY.get(name, 1)
    for workload in found:
        assert {p.name: (p.count, requests(p)) for p in workload.pod_sets} == POD_SETS[name]
        assert [p.name for p in workload.pod_sets] == list(POD_SETS[name])
        assert workload.namespace == "team-a"
        assert workload.queue_name == QUEUES.get(name, "training")


def test_a_directory_of_jobs_is_read_and_converted_at_once():
    found = load(EXAMPLES)
    classes = [WorkloadPriorityClass("high", value=1000), PriorityClass("batch-high", value=500)]
    workloads = to_workloads(found.jobs, related=found.others, priority_classes=classes)
    assert len(workloads) == len(POD_SETS) + sum(HOW_MANY.values()) - len(HOW_MANY)
    assert len({workload.name for workload in workloads}) == len(workloads)


@pytest.mark.parametrize("name", STARTED_ITSELF)
def test_start_places_every_pod_set_and_stop_restores_what_was(name, example, run, adapter):
    manifest, related = example(name, related=True)
    held, started, stopped = run(manifest, related)
    assert adapter(held, related=related).is_suspended()
    assert not adapter(started, related=related).is_suspended()
    assert placed(started).count({"instance-type": "spot"}) == len(POD_SETS[name])
    assert stopped == held


@pytest.mark.parametrize("name", DELETED_TO_STOP)
def test_pods_are_ungated_to_start_and_deleted_to_stop(name, example, run, adapter):
    held, started, stopped = run(example(name))
    assert adapter(held).is_suspended()
    assert not adapter(started).is_suspended()
    assert placed(started) == [{"instance-type": "spot"}] * sum(count for count, _ in POD_SETS[name].values())
    assert "schedulingGates" not in str(started)
    assert stopped is None


@pytest.mark.parametrize("name", STARTED_THROUGH_PODS)
def test_what_makes_jobs_or_pods_is_not_changed_to_start_or_to_stop(name, example, run):
    held, started, stopped = run(example(name))
    assert held == started == stopped


@pytest.mark.parametrize("name", POD_SETS)
def test_a_job_that_is_held_back_already_is_not_changed_again(name, example):
    manifest, related = example(name, related=True)
    held = suspend(manifest, related=related)
    assert suspend(held, related=related) == held
