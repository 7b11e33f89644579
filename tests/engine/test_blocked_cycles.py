"""A cycle that waits for pods (`waitForPodsReady.blockAdmission`) while its objects change."""

import kueuepy as kq
from saved import from_bytes, to_bytes

HOSTNAME = "kubernetes.io/hostname"


def waiting(pod_sets, *objects, cpu=8):
    """`first` is admitted but its pods are not ready; `second` fits and waits for them."""
    waits = kq.objects.WaitForPodsReady(timeout=300, block_admission=True)
    flavor = kq.ResourceFlavor("f", node_labels={"pool": "a"}, topology_name="room")
    topology = kq.Topology("room", levels=[HOSTNAME])
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": cpu}})
    cluster = kq.Cluster(flavor, topology, queue, *objects, configuration=kq.Configuration(wait_for_pods_ready=waits))
    scheduler = kq.Scheduler(cluster, now=0)
    scheduler.submit(kq.Workload("first", queue_name="q", priority=1, pod_sets=(pod_set("main"),)))
    scheduler.settle()
    scheduler.submit(kq.Workload("second", queue_name="q", pod_sets=pod_sets))
    scheduler.settle()
    assert scheduler.workload("default/second").status.admission is None
    return scheduler


def pod_set(name, cpu=2):
    return kq.PodSet.of(name, requests={"cpu": cpu}, topology_request={"required": HOSTNAME})


def node(name, cpu="2"):
    return kq.Node(name, labels={"pool": "a", HOSTNAME: name}, capacity={"cpu": cpu, "pods": "8"})


def test_a_blocked_cycle_uses_the_topology_of_its_start():
    scheduler = waiting((pod_set("main"),), node("n1"), node("n2"))
    scheduler.remove(node("n2"))
    scheduler.apply(node("n0"), node("n3"))
    loaded = from_bytes(to_bytes(scheduler))
    for one in (scheduler, loaded):
        one.pods_ready("default/first")
        (decision,) = one.cycle()
        assert isinstance(decision, kq.Admitted)
        assert "n2" in repr(decision.pod_sets)
    assert to_bytes(loaded) == to_bytes(scheduler)


def test_a_workload_may_lose_pod_sets_during_a_blocked_cycle():
    limits = kq.objects.LimitRange(
        "limits", limits=(kq.objects.LimitRangeItem(type="Container", default_request={"cpu": "1"}),)
    )
    scheduler = waiting((pod_set("main"), pod_set("more")), node("n1", "8"), limits)
    known = scheduler.workload("default/second")
    scheduler.apply(kq.Workload("second", queue_name="q", uid=known.uid, pod_sets=(pod_set("main"),)))
    scheduler.settle()
    assert not scheduler._engine.check()
    scheduler.pods_ready("default/first")
    scheduler.settle()
    assert not scheduler._engine.check()
    assert from_bytes(to_bytes(scheduler))._engine.fingerprint() == scheduler._engine.fingerprint()


def test_a_workload_may_get_pod_sets_during_a_blocked_cycle():
    scheduler = waiting((pod_set("main"),), node("n1", "8"))
    known = scheduler.workload("default/second")
    more = (pod_set("more"), pod_set("main"))
    scheduler.apply(kq.Workload("second", queue_name="q", uid=known.uid, pod_sets=more))
    scheduler.pods_ready("default/first")
    scheduler.settle()
    assert not scheduler._engine.check()


def test_a_question_about_a_head_not_yet_reached_uses_the_state_at_cycle_start():
    waits = kq.objects.WaitForPodsReady(timeout=300, block_admission=True)
    queues = [kq.ClusterQueue.of(name, {"f": {"cpu": 4}, "g": {"cpu": 0}}) for name in "ab"]
    doors = [kq.LocalQueue(name, cluster_queue=name) for name in "ab"]
    objects = [kq.ResourceFlavor("f"), kq.ResourceFlavor("g"), *queues, *doors]
    scheduler = kq.Scheduler(kq.Cluster(*objects, configuration=kq.Configuration(wait_for_pods_ready=waits)), now=0)
    pods = (kq.PodSet.of(requests={"cpu": 1}),)
    scheduler.submit(kq.Workload("first", queue_name="a", pod_sets=pods))
    scheduler.settle()
    scheduler.submit(*(kq.Workload(f"next-{q}", queue_name=q, pod_sets=pods, priority=int(q == "a")) for q in "ab"))
    scheduler.cycle()
    # Both are heads of the cycle that waits; the second one fits its first flavor, and has not waited itself.
    assert scheduler.explain("next-a").verdict == "Pending"
    assert scheduler.explain("next-b").verdict == "Fits"
    assert isinstance(scheduler.try_admit("default/next-b"), kq.Admitted)
