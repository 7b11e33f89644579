"""Workloads whose pod sets have different requests for flavors and topologies."""

import pytest

import kueuepy as kq
from scenario.runner import Replay

from .conftest import FLAVOR, RACKS, hosts
from .test_same_cycle import named, quota


def template(**spec):
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], **spec}}


@pytest.mark.parametrize("choosy", [0, 1])
def test_each_pod_set_of_a_group_decides_on_the_flavor(choosy):
    """A pod set without requests does not hide the failing node selector of another pod set."""
    pod_sets = [
        {"name": f"p{i}", "count": 1, "topologyRequest": {"podSetGroupName": "g"}, "template": template()}
        for i in range(2)
    ]
    pod_sets[choosy]["template"] = template(nodeSelector={"zone": "b"})
    objects = [
        named("ResourceFlavor", "f", spec={"nodeLabels": {"zone": "a"}}),
        *quota("q", 4),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}},
    ]
    replay = Replay({"name": "group", "config": {}, "objects": objects, "steps": [], "results": []})
    replay.step({"at": 1, "submit": [named("Workload", "w", spec={"queueName": "q", "podSets": pod_sets})]})
    result = replay.step({"at": 2, "cycle": True})

    assert "reserved" not in result
    assert [entry["reason"] for entry in result["pending"]] == ["NoMatchingFlavor"]


def test_usage_of_a_flavor_without_a_topology_is_ordered_between_two_pod_sets_with_one():
    """The invariants check the second pod set after an allowed exception of the first."""
    licence = "a.example/licence"
    queue = kq.ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 8}}, {"plain": {licence: 8}})
    counted = kq.objects.ResourceTransformation("nvidia.com/gpu", outputs={licence: "1"})
    configuration = kq.Configuration(resources=kq.objects.Resources(transformations=(counted,)))
    objects = (RACKS, FLAVOR, kq.ResourceFlavor("plain"), queue, hosts(1, 1, 2))
    scheduler = kq.Scheduler(kq.Cluster(*objects, configuration=configuration))
    pod_sets = [
        kq.PodSet.of(name, 2, requests={"nvidia.com/gpu": 1}, topology_request=kq.objects.required("rack"))
        for name in ("first", "second")
    ]
    scheduler.submit(kq.Workload("train", queue_name="vision", pod_sets=pod_sets))
    scheduler.settle()

    admission = scheduler.workload("train").status.admission
    assert admission is not None
    for assignment in admission.pod_set_assignments:
        assert assignment.flavors == {"nvidia.com/gpu": "h100", licence: "plain"}
        assert assignment.topology_assignment is not None
    assert scheduler._engine.check() == []
