"""Each reason for which a workload does not run has a code."""

from __future__ import annotations

import pytest

import kueuepy as kq
from kueuepy.objects import LabelSelector
from schemas import validate_explanation

FLAVOR = kq.ResourceFlavor("default")
LOWER = kq.Preemption(within_cluster_queue="LowerPriority")


def queue(name="q", cpu=4, **fields):
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, **fields)


def after(cluster, *jobs, **settings):
    """A Scheduler after it settled with jobs (name, CPUs, priority) in turn."""
    scheduler = kq.Scheduler(cluster, **settings)
    for name, cpu, *priority in jobs:
        pods = (kq.PodSet.of(requests={"cpu": cpu}),)
        scheduler.submit(kq.Workload(name, queue_name="q", priority=priority[0] if priority else 0, pod_sets=pods))
        scheduler.advance(1)
        scheduler.settle()
    return scheduler


def root(scheduler, name="job"):
    return scheduler.explain(name).root_cause


def test_a_lack_of_quota():
    found = root(after(kq.Cluster(FLAVOR, queue()), ("held", 3), ("job", 2)))
    assert found.code == "QuotaExceeded"
    assert found.text == "default: cpu: requests 2, 1 available: 1 short"
    assert found.facts == {
        "pod_set": "main",
        "flavor": "default",
        "resource": "cpu",
        "requested": 2000,
        "available": 1000,
        "missing": 1000,
        "node": "q",
        "limit": "quota",
    }


def test_a_request_above_the_maximum():
    found = root(after(kq.Cluster(FLAVOR, queue()), ("job", 9)))
    assert found.code == "NeverFits"
    assert (found.facts["requested"], found.facts["maximum"]) == (9000, 4000)


def test_a_request_above_the_maximum_behind_a_blocked_head():
    scheduler = after(kq.Cluster(FLAVOR, queue(queueing_strategy="StrictFIFO")), ("held", 3), ("head", 2), ("job", 9))
    assert root(scheduler).code == "NeverFits"
    assert root(scheduler, "head").code == "QuotaExceeded"


def test_the_best_of_several_flavors_decides():
    flavors = [
        FLAVOR,
        kq.ResourceFlavor("large"),
        kq.ResourceFlavor("spot", node_taints=[kq.Taint.of("a=b:NoSchedule")]),
    ]
    quotas = {"spot": {"cpu": 9}, "default": {"cpu": 2}, "large": {"cpu": 4}}
    scheduler = after(kq.Cluster(flavors, kq.ClusterQueue.of("q", quotas)), ("held", 4), ("job", 3))
    assert (root(scheduler).code, root(scheduler).facts["flavor"]) == ("QuotaExceeded", "large")


def test_a_taint():
    spot = kq.ResourceFlavor("default", node_taints=[kq.Taint.of("spot=true:NoSchedule")])
    found = root(after(kq.Cluster(spot, queue()), ("job", 1)))
    assert found.code == "NoMatchingFlavor"
    assert set(found.facts["messages"]) == {"default"}
    assert "untolerated taint" in found.text


def test_a_resource_that_no_flavor_provides():
    scheduler = kq.Scheduler(kq.Cluster(FLAVOR, queue()))
    scheduler.submit({"name": "job", "queue": "q", "nvidia.com/gpu": 1})
    scheduler.settle()
    assert root(scheduler).code == "NoMatchingFlavor"
    assert root(scheduler).facts["resources"] == ["nvidia.com/gpu"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("stopped", "ClusterQueueInactive"), ("nowhere", "LocalQueueMissing"), ("held", "LocalQueueStopped")],
)
def test_a_queue_that_is_missing_or_stopped(name, kind):
    scheduler = kq.Scheduler(kq.Cluster(FLAVOR, queue(), queue("stopped", stop_policy="Hold")))
    scheduler.apply(kq.LocalQueue("held", cluster_queue="q", stop_policy="Hold"))
    scheduler.submit({"name": "job", "queue": name, "cpu": 1})
    scheduler.settle()
    found = root(scheduler)
    assert (found.code, found.facts["kind"], found.facts["queue"]) == ("QueueInactive", kind, name)
    assert found.facts["inactivity"] == (["Stopped"] if name == "stopped" else [])


def test_a_namespace_that_the_queue_does_not_select():
    closed = queue(namespace_selector=LabelSelector(match_labels={"team": "x"}))
    found = root(after(kq.Cluster(FLAVOR, closed), ("job", 1)))
    assert (found.code, found.facts) == ("NamespaceNotSelected", {"namespace": "default", "cluster_queue": "q"})


def test_an_admission_check():
    checked = queue(admission_checks_strategy=[kq.objects.AdmissionCheckStrategyRule("budget")])
    cluster = kq.Cluster(FLAVOR, checked, kq.objects.AdmissionCheck("budget", controller_name="example.com/budget"))
    scheduler = after(cluster, ("job", 1))
    found = root(scheduler)
    assert (found.code, found.facts) == ("CheckPending", {"checks": [{"name": "budget", "state": "Pending"}]})
    scheduler.set_check("job", "budget", "Ready")
    scheduler.settle()
    assert root(scheduler) is None


def test_a_topology_without_capacity():
    levels = ["rack", "kubernetes.io/hostname"]
    racks = kq.Topology("racks", levels=levels)
    hosts = list(kq.objects.nodes(racks, (2, 2), labels={"gpu": "h100"}, capacity={"cpu": 4}))
    flavor = kq.ResourceFlavor("default", node_labels={"gpu": "h100"}, topology_name="racks")
    scheduler = kq.Scheduler(kq.Cluster(racks, flavor, queue(cpu=99), hosts))
    pods = (kq.PodSet.of(count=3, requests={"cpu": 3}, topology_request=kq.objects.required("rack")),)
    scheduler.submit(kq.Workload("job", queue_name="q", pod_sets=pods))
    scheduler.settle()
    found = root(scheduler)
    assert found.code == "TopologyNoFit"
    assert [found.facts[name] for name in ("topology", "requested", "fits", "fits_if_empty")] == ["racks", 3, 2, 2]


def test_the_position_in_a_queue():
    scheduler = after(kq.Cluster(FLAVOR, queue(queueing_strategy="StrictFIFO")), ("held", 3), ("head", 2), ("job", 1))
    found = root(scheduler)
    assert found.code == "BehindInQueue"
    assert found.facts == {"cluster_queue": "q", "position": 1, "head": "default/head"}


def test_a_workload_that_fits_after_those_before_it():
    scheduler = kq.Scheduler(kq.Cluster(FLAVOR, queue()))
    scheduler.submit({"name": "first", "queue": "q", "cpu": 1}, {"name": "job", "queue": "q", "cpu": 1})
    assert root(scheduler, "first") is None
    assert (root(scheduler).code, root(scheduler).facts["head"]) == ("BehindInQueue", None)


def test_a_preemption():
    scheduler = after(kq.Cluster(FLAVOR, queue(preemption=LOWER)), ("low", 4, 0), ("job", 4, 9), stopping=60)
    found = root(scheduler)
    assert (found.code, found.facts) == ("WaitingForPreemption", {"workloads": ["default/low"], "count": 1})


def test_a_workload_that_fits_although_kueue_refused_it():
    condition = kq.objects.Condition("QuotaReserved", status="False", reason="Pending", message="no quota")
    pods = (kq.PodSet.of(requests={"cpu": 1}),)
    status = kq.objects.WorkloadStatus(conditions=(condition,))
    refused = kq.Workload("job", queue_name="q", pod_sets=pods, status=status)
    scheduler = kq.Scheduler(kq.Cluster(FLAVOR, queue(), refused))
    assert (root(scheduler).code, root(scheduler).facts) == ("NotModelled", {"reason": "Pending"})


def test_a_deactivated_workload():
    scheduler = after(kq.Cluster(FLAVOR, queue()))
    scheduler.submit(kq.Workload("job", queue_name="q", active=False, pod_sets=(kq.PodSet.of(requests={"cpu": 1}),)))
    scheduler.settle()
    assert root(scheduler).code == "Deactivated"


def test_a_back_off():
    wait = kq.objects.WaitForPodsReady(
        timeout=60, requeuing_strategy=kq.objects.RequeuingStrategy(backoff_base_seconds=60)
    )
    cluster = kq.Cluster(FLAVOR, queue(), configuration=kq.Configuration(wait_for_pods_ready=wait))
    scheduler = after(cluster, ("job", 1))
    scheduler.advance(61)
    scheduler.settle()
    assert root(scheduler).code == "BackOff"
    assert 0 < root(scheduler).facts["seconds"] <= 60


def test_running_and_finished_workloads_have_no_root_cause():
    scheduler = after(kq.Cluster(FLAVOR, queue()), ("job", 1))
    assert root(scheduler) is None
    scheduler.finish("job")
    assert root(scheduler) is None
    validate_explanation(scheduler.explain("job").to_dict())
    assert "└─ finished 1970-01-01T00:00:01Z: Job finished successfully (Succeeded)" in str(scheduler.explain("job"))


def test_an_admission_gate():
    scheduler = after(kq.Cluster(FLAVOR, queue()))
    pods = (kq.PodSet.of(requests={"cpu": 1}),)
    gate = {"kueue.x-k8s.io/admission-gated-by": "example.com/later"}
    scheduler.submit(kq.Workload("job", queue_name="q", annotations=gate, pod_sets=pods))
    scheduler.settle()
    found = root(scheduler)
    assert (found.code, found.facts) == ("AdmissionGated", {"reason": "AdmissionGated"})
    assert "example.com/later" in found.text


def test_a_workload_on_hold():
    condition = kq.objects.Condition("QuotaReserved", status="False", reason="OnHold", message="its job is not ready")
    pods = (kq.PodSet.of(requests={"cpu": 1}),)
    status = kq.objects.WorkloadStatus(conditions=(condition,))
    scheduler = after(kq.Cluster(FLAVOR, queue(), kq.Workload("job", queue_name="q", pod_sets=pods, status=status)))
    found = root(scheduler)
    assert (found.code, found.text, found.facts) == ("OnHold", "its job is not ready", {"reason": "OnHold"})


def test_pods_that_are_not_ready():
    waits = kq.objects.WaitForPodsReady(timeout=300, block_admission=True)
    cluster = kq.Cluster(FLAVOR, queue(), configuration=kq.Configuration(wait_for_pods_ready=waits))
    scheduler = after(cluster, ("first", 1), ("job", 1))
    found = root(scheduler)
    assert (found.code, found.facts) == ("WaitingForPodsReady", {"reason": "WaitingForPodsReady"})
    scheduler.pods_ready("default/first")
    scheduler.settle()
    assert root(scheduler) is None


def test_a_request_that_a_limit_range_forbids():
    limits = kq.objects.LimitRange("small", limits=(kq.objects.LimitRangeItem(type="Container", max={"cpu": 2}),))
    scheduler = after(kq.Cluster(FLAVOR, queue(), limits), ("job", 3))
    found = root(scheduler)
    assert (found.code, found.facts) == ("InvalidWorkload", {"reason": "Misconfigured"})
    assert "above the limitRange max" in found.text


def test_a_flavor_search_that_continues():
    """The next cycle starts with the second flavor, which is too small, although the first one has capacity again."""
    flavors = FLAVOR, kq.ResourceFlavor("small")
    queues = [
        kq.ClusterQueue.of(name, {"default": {"cpu": cpu}, "small": {"cpu": 0}}, cohort_name="all")
        for name, cpu in (("lender", 2), ("q", 0))
    ]
    scheduler = kq.Scheduler(kq.Cluster(flavors, queues))
    scheduler.submit({"name": "first", "queue": "lender", "cpu": 2}, {"name": "job", "queue": "q", "cpu": 2})
    scheduler.cycle()
    assert root(scheduler).code == "QuotaExceeded"
    scheduler.finish("first")
    found = root(scheduler)
    assert (found.code, found.facts) == ("SearchContinues", {"reason": "ExceedsMaxQuota"})
    (decision,) = scheduler.cycle()
    assert isinstance(decision, kq.Pending)
