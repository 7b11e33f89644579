"""Nodes and pods that are added, changed and deleted while a Scheduler runs."""

import json

import msgspec
import pytest

import kueuepy as kq
from kueuepy.manifest import from_dict, to_dict
from kueuepy.platform.journal import Journal

from .conftest import FLAVOR, RACKS, centre, hosts, job, places

change = msgspec.structs.replace


def test_eight_pods_are_placed_on_two_hosts_of_four(scheduler):
    scheduler.submit(job("train", 8, kq.objects.required("rack")))
    (decision,) = scheduler.cycle()

    assert isinstance(decision, kq.Admitted)
    assert str(decision.pod_sets[0].topology_assignment) == "b1-r1-h1: 4, b1-r1-h2: 4"
    assert places(scheduler, "train") == {"b1-r1-h1": 4, "b1-r1-h2": 4}


def test_try_admit_returns_the_domains_of_the_pods(scheduler):
    decision = scheduler.try_admit(job("train", 5, kq.objects.required("rack")))

    assert str(decision.pod_sets[0].topology_assignment) == "b1-r1-h1: 4, b1-r1-h2: 1"


def test_one_pod_of_eight_gpus_fits_the_quota_and_no_host(scheduler):
    scheduler.submit(job("train", 1, kq.objects.required("rack"), gpus=8))
    (decision,) = scheduler.cycle()

    assert decision.reason == "TopologyPlacementFailed"
    assert 'Total nodes: 2; excluded: resource "nvidia.com/gpu": 2' in decision.message


def test_a_new_node_admits_waiting_workloads(scheduler):
    scheduler.submit(job("train", 12, kq.objects.required("rack")))
    scheduler.settle()
    assert places(scheduler, "train") is None

    scheduler.apply(hosts(1, 1, 3)[2])
    scheduler.settle()

    assert places(scheduler, "train") == {"b1-r1-h1": 4, "b1-r1-h2": 4, "b1-r1-h3": 4}


def test_a_cordoned_node_keeps_its_pods_and_gets_no_more(scheduler):
    first, second = scheduler.cluster.nodes
    scheduler.submit(job("there", 4, kq.objects.required(kq.objects.HOSTNAME_LABEL)))
    scheduler.settle()
    (held,) = places(scheduler, "there")
    scheduler.apply(change(first, unschedulable=True), change(second, unschedulable=True))

    scheduler.submit(job("late", 1, kq.objects.required("rack")))
    scheduler.settle()
    assert places(scheduler, "there") == {held: 4}
    assert places(scheduler, "late") is None

    scheduler.apply(first, second)
    scheduler.settle()
    assert places(scheduler, "late") == {({"b1-r1-h1", "b1-r1-h2"} - {held}).pop(): 1}


def test_pods_of_a_deleted_node_are_placed_on_another():
    scheduler = kq.Scheduler(centre(hosts(1, 1, 3)))
    scheduler.submit(job("train", 8, kq.objects.required("rack")))
    scheduler.settle()
    assert places(scheduler, "train") == {"b1-r1-h1": 4, "b1-r1-h2": 4}

    scheduler.remove(scheduler.cluster.nodes[1])
    assert scheduler.workload("train").status.unhealthy_nodes == ("b1-r1-h2",)
    scheduler.advance(5)
    scheduler.settle()

    assert places(scheduler, "train") == {"b1-r1-h1": 4, "b1-r1-h3": 4}
    assert scheduler.workload("train").status.unhealthy_nodes == ()


def test_pods_of_a_node_that_is_not_ready_are_replaced_once_deleted(scheduler):
    scheduler.submit(job("train", 2, kq.objects.required("rack")))
    scheduler.settle()
    (host,) = places(scheduler, "train")
    pod = kq.objects.Pod.of("train-0", host, annotations={"kueue.x-k8s.io/podset-required-topology": "rack"})
    node = next(node for node in scheduler.cluster.nodes if node.name == host)
    scheduler.apply(pod, change(node, ready=False))
    scheduler.advance(60)
    scheduler.settle()
    assert places(scheduler, "train") == {host: 2}

    scheduler.apply(change(pod, phase="Failed"))
    scheduler.advance(5)
    scheduler.settle()

    assert host not in places(scheduler, "train")


def test_pods_outside_kueue_use_capacity_until_they_finish(scheduler):
    agent = kq.objects.Pod.of("agent", "b1-r1-h1", requests={"nvidia.com/gpu": 1}, namespace="kube-system")
    scheduler.apply(agent)
    scheduler.submit(job("train", 8, kq.objects.required("rack")))
    scheduler.settle()
    assert places(scheduler, "train") is None

    scheduler.apply(change(agent, phase="Succeeded"))
    scheduler.settle()
    assert places(scheduler, "train") is None
    scheduler.advance(10)  # freed capacity is checked every 10 s
    scheduler.settle()

    assert places(scheduler, "train") == {"b1-r1-h1": 4, "b1-r1-h2": 4}


def test_a_removed_pod_frees_capacity(scheduler):
    agent = kq.objects.Pod.of("agent", "b1-r1-h1", requests={"nvidia.com/gpu": 4})
    scheduler.apply(agent)
    assert scheduler.largest_count(job("probe", 1, kq.objects.required("rack"))) == 4
    scheduler.remove(agent)
    assert scheduler.largest_count(job("probe", 1, kq.objects.required("rack"))) == 8
    assert scheduler.cluster.pods == ()


def test_a_pod_placed_by_a_topology_is_not_counted_twice(scheduler):
    marks = {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}
    scheduler.apply(kq.objects.Pod.of("rank-0", "b1-r1-h1", requests={"nvidia.com/gpu": 4}, annotations=marks))

    assert scheduler.largest_count(job("probe", 1, kq.objects.required("rack"))) == 8


def test_a_fork_keeps_its_own_nodes(scheduler):
    fork = scheduler.fork()
    fork.remove(*fork.cluster.nodes)

    assert fork.largest_count(job("probe", 1, kq.objects.required("rack"))) == 0
    assert scheduler.largest_count(job("probe", 1, kq.objects.required("rack"))) == 8


@pytest.mark.parametrize("others", [(), ({"kubernetes.io/hostname": "nowhere"},)], ids=["", "with another"])
def test_changes_of_pods_in_a_fork_do_not_affect_the_original(others):
    """A node's demands are numbered as they come, by each fork for itself."""
    old, new = (
        kq.ResourceFlavor(name, node_labels={"gpu": name}, tolerations=tolerations, topology_name="racks")
        for name, tolerations in (("old", ()), ("new", (kq.objects.Toleration("aging", operator="Exists"),)))
    )
    nodes = [
        kq.objects.nodes(RACKS, (1, 1, 1), labels={"gpu": name}, capacity={"nvidia.com/gpu": 4}, prefix=name)
        for name in ("old", "new")
    ]
    queue = kq.ClusterQueue.of("vision", {name: {"nvidia.com/gpu": 8} for name in ("old", "new")})
    scheduler = kq.Scheduler(kq.Cluster(RACKS, old, new, queue, nodes))
    scheduler.submit(job("first", 1, kq.objects.required("rack"), gpus=4))
    scheduler.settle()
    one, another = scheduler.fork(), scheduler.fork()
    second = job("second", 1, kq.objects.required("rack"), gpus=4)
    one.submit(second)
    one.settle()
    for number, selector in enumerate(others):
        pods = kq.PodSet.of(
            requests={"nvidia.com/gpu": 1}, node_selector=selector, topology_request=kq.objects.required("rack")
        )
        another.submit(kq.Workload(f"other-{number}", queue_name="vision", pod_sets=(pods,)))
        another.settle()
    another.submit(second)
    another.settle()

    assert places(one, "second") == places(another, "second") == {"newb1-r1-h1": 1}


def test_a_saved_scheduler_keeps_nodes_and_assignments(scheduler, tmp_path):
    scheduler.apply(kq.objects.Pod.of("agent", "b1-r1-h1", requests={"nvidia.com/gpu": 1}))
    scheduler.submit(job("train", 5, kq.objects.required("rack")))
    scheduler.settle()
    scheduler.save(tmp_path / "saved")
    again = kq.Scheduler.load(tmp_path / "saved")

    assert places(again, "train") == places(scheduler, "train")
    assert again.cluster == scheduler.cluster
    assert again.largest_count(job("probe", 1, kq.objects.required("rack"))) == 2


@pytest.mark.parametrize("shape", [(1, 2), (1, 1, 0), (1, 1, 1, 1)])
def test_a_shape_needs_a_number_for_each_level(shape):
    with pytest.raises(kq.errors.InvalidSpecError, match="it must be a number for each of block, rack, kubernetes"):
        kq.objects.nodes(RACKS, shape, capacity={})


def test_nodes_of_a_topology_without_hosts_are_counted_within_its_lowest_domains():
    made = kq.objects.nodes(["zone"], (2, 2), capacity={"cpu": 4}, prefix="x-", taints=["spot=true:NoSchedule"])

    assert [node.labels["zone"] for node in made] == ["z1", "z1", "z2", "z2"]
    assert [node.name for node in made] == ["x-z1-h1", "x-z1-h2", "x-z2-h1", "x-z2-h2"]
    assert made[0].allocatable == {"pods": 110, "cpu": 4}
    assert made[0].taints == (kq.Taint("spot", "true", "NoSchedule"),)


def test_domains_without_hosts_are_named_by_all_levels():
    zones = kq.Topology("racks", levels=["zone", "rack"])
    made = kq.objects.nodes(zones, (2, 1, 2), labels={"gpu": "h100"}, capacity={"nvidia.com/gpu": 4})
    queue = kq.ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 16}})
    scheduler = kq.Scheduler(kq.Cluster(zones, FLAVOR, queue, made))
    scheduler.submit(job("train", 10, kq.objects.preferred("rack")))
    scheduler.settle()

    assignment = scheduler.workload("train").status.admission.pod_set_assignments[0].topology_assignment
    assert assignment.levels == ("zone", "rack")
    assert str(assignment) == "z1/r1: 8, z2/r1: 2"


def test_whatif_with_a_new_node_shows_admitted_workloads(scheduler):
    scheduler.submit(job("train", 12, kq.objects.required("rack")))
    difference = scheduler.whatif(hosts(1, 1, 3)[2])

    assert difference.admitted == ("default/train",)
    assert difference.after.topology("racks").at("rack")[0].used["nvidia.com/gpu"] == 12
    assert len(scheduler.cluster.nodes) == 2


def test_a_journal_replays_changes_of_nodes_and_pods(scheduler, tmp_path):
    with Journal(tmp_path / "journal") as journal:
        live = journal.scheduler(scheduler.cluster)
        live.apply(kq.objects.Pod.of("agent", "b1-r1-h1", requests={"nvidia.com/gpu": 1}))
        live.submit(job("train", 2, kq.objects.required("rack")))
        live.settle()
        live.remove(next(node for node in live.cluster.nodes if node.name in places(live, "train")))
        live.advance(5)
        live.settle()
        before = live.workload("train")
    with Journal(tmp_path / "journal") as journal:
        again = journal.scheduler()
        assert again.workload("train") == before
        assert [pod.name for pod in again.cluster.pods] == ["agent"]


def test_a_dump_keeps_nodes_pods_and_assignments(scheduler):
    scheduler.apply(kq.objects.Pod.of("agent", "b1-r1-h1", requests={"nvidia.com/gpu": 1}))
    scheduler.submit(job("train", 5, kq.objects.required("rack")))
    scheduler.settle()
    text = kq.dump(kq.Cluster(scheduler.cluster.objects(), scheduler.workload("train"), names=False))
    again = kq.Scheduler(kq.load(text))

    assert places(again, "train") == places(scheduler, "train")
    assert str(again.topology("racks")) == str(scheduler.topology("racks"))


TAINT = kq.Taint("spot", "true", "NoExecute")
CHANGES = [
    ({}, {}, False),
    ({}, {"annotations": {"a": "b"}}, True),
    ({}, {"other_conditions": {"DiskPressure": "True"}}, True),
    ({"other_conditions": {"DiskPressure": "True"}}, {"other_conditions": {"DiskPressure": "False"}}, True),
    ({"other_conditions": {"DiskPressure": "True"}}, {"other_conditions": {}}, True),
    ({"ready": False}, {"ready": False, "ready_unknown": True}, True),
    ({"ready": False, "ready_unknown": True}, {"ready_unknown": False}, True),
    ({"ready": False, "ready_unknown": True}, {"ready": False, "ready_unknown": True}, False),
    ({"taints": (TAINT,)}, {"taints": (change(TAINT, time_added="2026-01-31T12:00:00Z"),)}, True),
]


@pytest.mark.parametrize(("before", "after", "wakes"), CHANGES, ids=str)
def test_a_changed_node_requeues_waiting_workloads(scheduler, before, after, wakes):
    """As `pkg/controller/tas/resource_flavor.go:checkNodeSchedulingPropertiesChanged`."""
    node = change(scheduler.cluster.nodes[0], **before)
    scheduler.apply(node)
    scheduler.submit(job("wide", 9, kq.objects.required("rack")))
    scheduler.settle()

    scheduler.apply(change(node, **after))
    assert bool(scheduler.cycle()) is wakes


def admitted(name, pods, **status):
    """A Workload of one pod set with an assignment."""
    one = job(name, sum(pods.values()), kq.objects.required("rack"))
    domains = tuple(kq.objects.TopologyDomain((host,), count) for host, count in pods.items())
    place = kq.objects.TopologyAssignment((kq.objects.HOSTNAME_LABEL,), domains)
    usage = {"nvidia.com/gpu": sum(pods.values())}
    given = kq.objects.PodSetAssignment("main", {"nvidia.com/gpu": "h100"}, usage, None, place)
    conditions = [kq.objects.Condition(kind, "True", kind) for kind in ("QuotaReserved", "Admitted")]
    held = kq.objects.WorkloadStatus(
        conditions=conditions, admission=kq.objects.Admission("vision", (given,)), **status
    )
    return change(one, status=held)


def test_a_failed_node_without_a_replacement_is_reported_with_its_cause():
    gates = {"TASFailedNodeReplacementFailFast": False}
    known = admitted("train", {"b1-r1-h1": 4, "gone": 4}, unhealthy_nodes=("gone",))
    cluster = centre(hosts(1, 1, 1), known, configuration=kq.Configuration(feature_gates=gates))
    scheduler = kq.Scheduler(cluster)
    scheduler.advance(1)
    (decision,) = scheduler.cycle()

    assert isinstance(decision, kq.Pending)
    assert decision.reason == "WaitingForQuota"  # no workload is preempted for it, scheduler.go:processEntry
    assert decision.message.startswith(
        "couldn't assign flavors to pod set main: topology \"racks\" doesn't allow to fit"
    )
    assert places(scheduler, "train") == {"b1-r1-h1": 4, "gone": 4}


OWNERS = [
    ([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}], {}, {"gone": 1}),
    (
        [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}],
        {"kueue.x-k8s.io/is-group-workload": "true"},
        {"b1-r1-h1": 1},
    ),
    ([{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name} for name in "pq"], {}, {"b1-r1-h1": 1}),
    ([{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}], {}, {"b1-r1-h1": 1}),
    ([], {}, {"b1-r1-h1": 1}),
]


@pytest.mark.parametrize(("owners", "annotations", "found"), OWNERS, ids=str)
def test_the_workload_of_a_single_pod_is_not_moved(owners, annotations, found):
    """As `pkg/workload/workload.go:OwnedBySinglePod`: the pod cannot go elsewhere."""
    known = admitted("train", {"gone": 1}, unhealthy_nodes=("gone",))
    known = change(known, owner_references=owners, annotations=annotations)
    assert from_dict(to_dict(known)).owner_references == tuple(owners)

    scheduler = kq.Scheduler(centre(hosts(1, 1, 1), known))
    scheduler.advance(1)
    scheduler.settle()

    assert places(scheduler, "train") == found


def test_for_an_unscheduled_pod_its_selected_node_is_checked():
    """As `pkg/controller/tas/node_controller.go:queueReconcileForPod`: 30 s have passed without a check."""
    gates = {"TASReplaceNodeDueToNotReadyOverFixedTime": True}
    marks = {"kueue.x-k8s.io/podset-required-topology": "rack"}
    runs = kq.objects.Pod.of("train-0", "b1-r1-h1", annotations=marks)
    cluster = centre(
        hosts(1, 1, 2), admitted("train", {"b1-r1-h1": 1}), configuration=kq.Configuration(feature_gates=gates)
    )
    scheduler = kq.Scheduler(cluster)
    scheduler.apply(runs, change(scheduler.cluster.nodes[0], ready=False))
    scheduler.advance(31)
    assert scheduler.workload("train").status.unhealthy_nodes == ()

    spec = {"containers": [{"name": "main"}], "nodeSelector": {kq.objects.HOSTNAME_LABEL: "b1-r1-h1"}}
    scheduler.apply(kq.objects.Pod("train-1", spec=spec, annotations=marks, phase="Pending"))
    assert scheduler.workload("train").status.unhealthy_nodes == ("b1-r1-h1",)


def test_only_nodes_of_a_flavor_requeue_inadmissible_workloads():
    gone = kq.Topology("gone", levels=[kq.objects.HOSTNAME_LABEL])
    unknown = kq.ResourceFlavor("a0", node_labels={"gpu": "a0"}, topology_name="gone")
    scheduler = kq.Scheduler(kq.Cluster(gone, unknown, *centre(hosts(1, 1, 2)).objects()))
    scheduler.remove(gone)
    other = kq.objects.nodes(RACKS, (1, 1, 3), labels={"gpu": "a100"}, capacity={"cpu": 96, "nvidia.com/gpu": 4})[2]
    scheduler.submit(job("train", 12, kq.objects.required("rack")))
    scheduler.settle()
    scheduler.apply(other)
    assert not scheduler.cycle()
    scheduler.apply(hosts(1, 1, 4)[3])
    (decision,) = scheduler.cycle()
    assert isinstance(decision, kq.Admitted)


def test_an_admitted_workload_without_an_admission_is_on_no_node(scheduler, tmp_path):
    common = {"status": "True", "reason": "x", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"conditions": [{"type": "Admitted", **common}]}
    manifest = to_dict(job("odd", 1, kq.objects.required("rack"))) | {"status": status}
    dump = tmp_path / "dump.json"
    items = [*map(to_dict, scheduler.cluster.objects()), manifest]
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    live = kq.platform.import_cluster(dump).scheduler
    live.remove(live.cluster.nodes[1])
    live.settle()
    assert live.workload("odd").status.unhealthy_nodes == ()
