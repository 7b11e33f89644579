"""Explanations compared with golden files; `pytest tests/golden --regold` rewrites them for review."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from kueuepy import (
    Cluster,
    ClusterQueue,
    Cohort,
    Configuration,
    FairSharingConfig,
    LocalQueue,
    PodSet,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    Scheduler,
    Taint,
    Topology,
    Workload,
)
from kueuepy.explain import words
from kueuepy.objects import (
    BorrowWithinCohort,
    FlavorFungibility,
    LabelSelector,
    Pod,
    RequeuingStrategy,
    WaitForPodsReady,
    nodes,
    required,
    unconstrained,
)

HERE = Path(__file__).parent / "explanations"
FLAVOR = ResourceFlavor("default")


def _queue(name, cpu, **fields):
    return ClusterQueue.of(name, {"default": {"cpu": cpu}}, **fields)


def _pool(name, cpu=0, **fields):
    return Cohort(name, resource_groups=[ResourceGroup.of({"default": {"cpu": cpu}})], **fields)


def _after(cluster, *jobs):
    """Return a Scheduler after submitting jobs (name, queue, CPUs, priority) one by one."""
    scheduler = Scheduler(cluster)
    for name, queue, cpu, *priority in jobs:
        pods = (PodSet.of(requests={"cpu": cpu}),)
        scheduler.submit(Workload(name, queue_name=queue, priority=priority[0] if priority else 0, pod_sets=pods))
        scheduler.advance(1)
        scheduler.settle()
    return scheduler


def behind_a_blocked_head():
    scheduler = _after(
        Cluster(FLAVOR, _queue("q", 9, queueing_strategy="StrictFIFO")), ("old", "q", 10), ("new", "q", 3)
    )
    return scheduler, ("old", "new")


def borrowing_above_the_threshold_is_protected():
    policy = Preemption("LowerPriority", "LowerPriority", BorrowWithinCohort("LowerPriority", 100))
    cluster = Cluster(
        FLAVOR,
        _queue("standard", Quota(0, 100), preemption=policy, cohort_name="c"),
        _queue("best-effort", Quota(0, 100), preemption=policy, cohort_name="c"),
        _queue("shared", Quota(100, 0), cohort_name="c"),
    )
    held = ((f"held-{priority}", "best-effort", 20, priority) for priority in (50, 100, 101, 250, 300))
    return _after(cluster, *held, ("std", "standard", 60, 300)), ("std",)


def limits_up_the_tree():
    cluster = Cluster(
        FLAVOR,
        Cohort("root"),
        _pool("left", Quota(2, borrowing_limit=3), parent_name="root"),
        _pool("right", Quota(1, lending_limit=4), parent_name="root"),
        _queue("l1", 3, cohort_name="left"),
        _queue("l2", 2, cohort_name="left"),
        _queue("r1", 6, cohort_name="right"),
        _queue("r2", Quota(4, lending_limit=1), cohort_name="right"),
    )
    return _after(cluster, ("a", "l2", 4), ("b", "l1", 5), ("c", "l1", 4)), ("b", "c")


def several_pod_sets_and_groups():
    spot = ResourceFlavor("spot", node_taints=[Taint.of("spot=true:NoSchedule")])
    groups = [
        ResourceGroup.of({"spot": {"cpu": 9, "memory": "36Gi"}, "default": {"cpu": 6, "memory": "10Gi"}}),
        ResourceGroup.of({"v1": {"gpu": 2}, "v2": {"gpu": 1}}),
    ]
    flavors = [spot, FLAVOR, ResourceFlavor("v1"), ResourceFlavor("v2")]
    scheduler = Scheduler(Cluster(flavors, ClusterQueue("q", resource_groups=groups)))
    held = PodSet.of("main", 2, requests={"cpu": 1, "memory": "4Gi", "gpu": 1})
    driver = PodSet.of("driver", requests={"cpu": 1, "memory": "1Gi"})
    workers = PodSet.of("workers", 2, requests={"cpu": 2, "memory": "3Gi", "gpu": 1})
    scheduler.submit(Workload("held", queue_name="q", pod_sets=(held,)))
    scheduler.submit(Workload("job", queue_name="q", pod_sets=(driver, workers)))
    scheduler.settle()
    return scheduler, ("held", "job")


def reclaimed_and_reclaiming():
    policy = Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    cluster = Cluster(FLAVOR, _queue("a", 4, cohort_name="c"), _queue("b", 4, cohort_name="c", preemption=policy))
    scheduler = _after(cluster, ("a1", "a", 3), ("a2", "a", 3), ("b1", "b", 2, 5))
    scheduler.submit(Workload("b2", queue_name="b", priority=1, pod_sets=(PodSet.of(requests={"cpu": 2}),)))
    scheduler.cycle()
    return scheduler, ("b2", "a2", "a1")


def compared_shares():
    policy = Preemption("Any", "LowerPriority")
    queues = [_queue(name, 0, cohort_name="org", preemption=policy) for name in ("a", "b")]
    cluster = Cluster(FLAVOR, _pool("org", 4), queues, configuration=Configuration(fair_sharing=FairSharingConfig()))
    return _after(cluster, *((f"a{n}", "a", 1) for n in range(4)), ("b0", "b", 1), ("b1", "b", 2)), ("b0", "b1")


def a_resource_without_preemption():
    reclaim = Preemption(reclaim_within_cohort="Any")
    queues = [
        ClusterQueue.of("gpus", {"default": {"cpu": 0, "gpu": 1}}, cohort_name="k", preemption=reclaim),
        ClusterQueue.of("cpus", {"default": {"cpu": 2, "gpu": 0}}, cohort_name="k"),
    ]
    scheduler = Scheduler(Cluster(FLAVOR, queues))
    both = (PodSet.of(requests={"cpu": 2, "gpu": 1}),)
    for name, queue in (("held", "cpus"), ("new", "gpus")):
        scheduler.submit(Workload(name, queue_name=queue, pod_sets=both))
        scheduler.settle()
    return scheduler, ("new",)


def never_evaluated():
    closed = LabelSelector(match_labels={"team": "x"})
    queues = [
        _queue("stopped", 9, stop_policy="Hold"),
        _queue("open", 9),
        _queue("closed", 9, namespace_selector=closed),
    ]
    scheduler = Scheduler(Cluster(FLAVOR, queues))
    scheduler.apply(LocalQueue("held", cluster_queue="open", stop_policy="Hold"))
    scheduler.apply(LocalQueue("lost", cluster_queue="nowhere"))
    for queue in ("stopped", "held", "lost", "closed", "unknown"):
        scheduler.submit(Workload(f"in-{queue}", queue_name=queue, pod_sets=(PodSet.of(requests={"cpu": 1}),)))
    scheduler.submit(Workload("off", queue_name="open", active=False, pod_sets=(PodSet.of(requests={"cpu": 1}),)))
    scheduler.settle()
    return scheduler, ("in-stopped", "in-held", "in-lost", "in-closed", "in-unknown", "off")


def admission_after_a_delay():
    wait = WaitForPodsReady(timeout=60, requeuing_strategy=RequeuingStrategy(backoff_base_seconds=60))
    scheduler = Scheduler(Cluster(FLAVOR, _queue("q", 9), configuration=Configuration(wait_for_pods_ready=wait)))
    scheduler.submit(Workload("slow", queue_name="q", pod_sets=(PodSet.of(requests={"cpu": 9}),)))
    scheduler.settle()
    scheduler.advance(61)
    scheduler.settle()
    limited = (PodSet.of(requests={"cpu": 5}),)
    scheduler.submit(Workload("limited", queue_name="q", maximum_execution_time_seconds=50, pod_sets=limited))
    scheduler.settle()
    many = (PodSet.of(count=8, min_count=6, requests={"cpu": 1}),)
    scheduler.submit(Workload("elastic", queue_name="q", pod_sets=many))
    scheduler.settle()
    return scheduler, ("slow", "elastic")


def many_equal_workloads():
    cluster = Cluster(FLAVOR, _queue("a", 60, cohort_name="k"), _queue("b", 60, cohort_name="k"))
    scheduler = Scheduler(cluster)
    for number in range(60):
        for queue in "ab":
            pods = (PodSet.of(requests={"cpu": 1}),)
            scheduler.submit(Workload(f"{queue}-{number:02d}", queue_name=queue, pod_sets=pods))
    scheduler.settle()
    scheduler.submit(Workload("new", queue_name="a", pod_sets=(PodSet.of(requests={"cpu": 1}),)))
    scheduler.settle()
    return scheduler, ("new",)


def no_flavor_matches():
    spot = ResourceFlavor(
        "spot", node_labels={"type": "spot"}, node_taints=[Taint.of("spot=true:NoSchedule"), Taint.of("old:NoExecute")]
    )
    quotas = {"spot": {"cpu": 9}, "on-demand": {"cpu": 9}}
    flavors = [spot, ResourceFlavor("on-demand", node_labels={"type": "on-demand"})]
    scheduler = Scheduler(Cluster(flavors, ClusterQueue.of("q", quotas)))
    pods = (PodSet.of(requests={"cpu": 1}, node_selector={"type": "gpu"}),)
    scheduler.submit(Workload("job", queue_name="q", pod_sets=pods))
    scheduler.settle()
    return scheduler, ("job",)


def waiting_for_preempted_workloads():
    queue = _queue("q", 4, preemption=Preemption(within_cluster_queue="LowerPriority"))
    scheduler = Scheduler(Cluster(FLAVOR, queue), stopping=30)
    for name, priority in (("low", 0), ("high", 2), ("middle", 1)):
        pods = (PodSet.of(requests={"cpu": 4}),)
        scheduler.submit(Workload(name, queue_name="q", priority=priority, pod_sets=pods))
        scheduler.advance(1)
        scheduler.settle()
    return scheduler, ("high", "middle", "low")


def flavor_search_not_finished():
    fungibility = FlavorFungibility(when_can_preempt="MayStopSearch")
    policy = Preemption(within_cluster_queue="LowerPriority")
    quotas = {"one": {"cpu": 4}, "two": {"cpu": 4}}
    queue = ClusterQueue.of("q", quotas, preemption=policy, flavor_fungibility=fungibility)
    scheduler = Scheduler(Cluster(ResourceFlavor("one"), ResourceFlavor("two"), queue))
    sets = (PodSet.of("a", requests={"cpu": 4}), PodSet.of("b", requests={"cpu": 5}))
    for name, priority, pods in (("low", 0, sets[:1]), ("high", 1, sets)):
        scheduler.submit(Workload(name, queue_name="q", priority=priority, pod_sets=pods))
        scheduler.settle()
    return scheduler, ("high",)


def no_rack_fits():
    levels = ["block", "rack", "kubernetes.io/hostname"]
    racks, h100 = Topology("racks", levels=levels), {"gpu": "h100"}
    hosts = list(nodes(racks, (2, 3, 2), labels=h100, capacity={"nvidia.com/gpu": 4}))
    hosts[1] = replace(hosts[1], taints=[Taint.of("repair=yes:NoSchedule")])
    queue = ClusterQueue.of("q", {"h100": {"nvidia.com/gpu": 60}})
    flavor = ResourceFlavor("h100", node_labels=h100, topology_name="racks")
    scheduler = Scheduler(
        Cluster(racks, flavor, queue, hosts, Pod.of("agent", "b2-r1-h1", requests={"nvidia.com/gpu": 1}))
    )
    for name, count, gpus, request in (
        ("there", 6, 1, required("rack")),
        ("next", 12, 1, required("block", slices=[("rack", 6)])),
        ("wide", 21, 1, required("block")),
        ("tall", 1, 8, required("rack")),
        ("anywhere", 60, 1, unconstrained()),
    ):
        pods = (PodSet.of(count=count, requests={"nvidia.com/gpu": gpus}, topology_request=request),)
        scheduler.submit(Workload(name, queue_name="q", pod_sets=pods))
        scheduler.settle()
    return scheduler, ("wide", "tall", "anywhere")


STORIES = [
    no_rack_fits,
    flavor_search_not_finished,
    no_flavor_matches,
    waiting_for_preempted_workloads,
    a_resource_without_preemption,
    never_evaluated,
    admission_after_a_delay,
    many_equal_workloads,
    behind_a_blocked_head,
    borrowing_above_the_threshold_is_protected,
    limits_up_the_tree,
    several_pod_sets_and_groups,
    reclaimed_and_reclaiming,
    compared_shares,
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_the_explanation_equals_its_golden_file(story, request):
    scheduler, names = story()
    told = "\n\n".join(str(scheduler.explain(name)) for name in names) + "\n"
    path = HERE / f"{story.__name__}.txt"
    if request.config.getoption("--regold"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(told, encoding="utf-8")
    assert told == path.read_text(encoding="utf-8")


def test_every_golden_explanation_has_a_story():
    assert {path.stem for path in HERE.glob("*.txt")} == {story.__name__ for story in STORIES}


def test_a_verdict_agrees_with_the_number_of_candidates():
    one, several = (words.hidden(count, {"NotNewer": count}) for count in (1, 2))
    assert one == "and 1 more; in total: 1 not preempted: its priority is equal, and it is not newer"
    assert several == "and 2 more; in total: 2 not preempted: their priorities are equal, and they are not newer"


def test_no_sentence_is_changed_after_it_was_made():
    assert not [path.name for path in Path(words.__file__).parent.glob("*.py") if ".replace(" in path.read_text()]
