"""Properties of topology placement, for random data centres and workloads."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kueuepy import Cluster, ClusterQueue, Node, PodSet, Preemption, ResourceFlavor, Scheduler, Topology, Workload
from oracle.placement import Ask, Host, fits

LEVELS = ("block", "rack", "kubernetes.io/hostname")
QUEUES = ("a", "b")


@st.composite
def halls(draw, *, most=4):
    """Hosts: blocks of racks of a few, none empty."""
    hosts = []
    for block in range(draw(st.integers(1, 2))):
        for rack in range(draw(st.integers(1, 2))):
            for _ in range(draw(st.integers(1, 2))):
                path = (f"b{block}", f"b{block}-r{rack}", f"n{len(hosts)}")
                hosts.append(Host(path, draw(st.integers(0, most))))
    return hosts


@st.composite
def asks(draw, *, groups=True):
    slice_level = draw(st.sampled_from([None, None, 0, 1, 2]))
    leader = draw(st.sampled_from([None, 1, 2])) if groups and slice_level is None else None
    levels = [0, 1, 2] if slice_level is None else list(range(slice_level + 1))
    return Ask(
        count=draw(st.integers(1, 5)),
        cpu=draw(st.integers(1, 2)),
        required=draw(st.sampled_from([None, *levels])),
        slice_size=1 if slice_level is None else draw(st.integers(1, 3)),
        slice_level=slice_level,
        leader=leader,
    )


def request_of(ask, *, preferred):
    """The topologyRequest; what is not required is preferred at this level, or anywhere."""
    request = {}
    if ask.required is not None:
        request["required"] = LEVELS[ask.required]
    elif preferred is not None and (ask.slice_level is None or preferred <= ask.slice_level):
        request["preferred"] = LEVELS[preferred]
    elif ask.slice_level is None and ask.leader is None:
        request["unconstrained"] = True
    elif ask.slice_level is None:
        request["preferred"] = LEVELS[0]
    if ask.slice_level is not None:
        request |= {"podSetSliceRequiredTopology": LEVELS[ask.slice_level], "podSetSliceSize": ask.slice_size}
    return request | ({"podSetGroupName": "group"} if ask.leader is not None else {})


def job(name, ask, *, preferred=None, queue="a", priority=0):
    request = request_of(ask, preferred=preferred)
    pod_sets = [PodSet.of("workers", ask.count, requests={"cpu": ask.cpu}, topology_request=request)]
    if ask.leader is not None:
        pod_sets.append(PodSet.of("leader", requests={"cpu": ask.leader}, topology_request=request))
    return Workload(name, queue_name=queue, priority=priority, pod_sets=tuple(pod_sets))


def center(hosts, *, within="Never"):
    """Two queues that share the nodes; quota is never short."""
    nodes = [
        Node(
            host.path[-1],
            labels={"pool": "f", **dict(zip(LEVELS, host.path, strict=True))},
            allocatable={"cpu": host.free, "pods": 99},
        )
        for host in hosts
    ]
    flavor = ResourceFlavor("f", node_labels={"pool": "f"}, topology_name="hall")
    rules = Preemption(within_cluster_queue=within)
    queues = [ClusterQueue.of(name, {"f": {"cpu": 99}}, preemption=rules) for name in QUEUES]
    return Scheduler(Cluster(Topology("hall", levels=LEVELS), flavor, *nodes, *queues), now=0)


def places(scheduler, key):
    """Return the pods on each host by pod set; empty for a workload without quota."""
    held = scheduler._engine.admission(scheduler._engine.find(key))
    return {
        name: {values[-1]: pods for values, pods in place[1]}
        for name, _, _, place, _ in (held[1] if held else ())
        if place is not None
    }


@given(halls(), asks(), st.sampled_from([None, 0, 1, 2]))
def test_pods_are_placed_where_brute_force_finds_capacity(hosts, ask, preferred):
    scheduler = center(hosts)
    scheduler.submit(job("w", ask, preferred=preferred))
    scheduler.settle()
    assert bool(places(scheduler, "default/w")) == fits(hosts, ask)


def satisfies(hosts, ask, placed):
    """Check that the assignments meet the request."""
    paths = {host.path[-1]: host.path for host in hosts}
    workers, leader = placed.get("workers", {}), placed.get("leader", {})
    assert sum(workers.values()) == ask.count // ask.slice_size * ask.slice_size
    assert sum(leader.values()) == (0 if ask.leader is None else 1)
    if ask.required is not None:
        assert len({paths[name][: ask.required + 1] for name in (*workers, *leader)}) <= 1
    if ask.slice_level is not None:
        in_domain = Counter()
        for name, pods in workers.items():
            in_domain[paths[name][: ask.slice_level + 1]] += pods
        assert all(pods % ask.slice_size == 0 for pods in in_domain.values())


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["submit", "submit", "finish", "delete"]),
        asks(),
        st.sampled_from([None, 0, 1, 2]),
        st.sampled_from(QUEUES),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=12,
)


def live(hosts, steps):
    """Yield the Scheduler and the requests after each random step."""
    scheduler = center(hosts, within="LowerPriority")
    asked = {}
    for number, (what, ask, preferred, queue, priority) in enumerate(steps):
        holding = [key for key in asked if places(scheduler, key)]
        if what == "submit" or not holding:
            name = f"w{number}"
            scheduler.submit(job(name, ask, preferred=preferred, queue=queue, priority=priority))
            asked[f"default/{name}"] = ask
        else:
            getattr(scheduler, what)(holding[ask.count % len(holding)])
            asked.pop(holding[ask.count % len(holding)])
        scheduler.settle()
        yield scheduler, asked


@given(halls(most=6), STEPS)
def test_no_host_exceeds_its_capacity_and_every_assignment_meets_the_request(hosts, steps):
    for scheduler, asked in live(hosts, steps):
        used = Counter()
        for key, ask in asked.items():
            placed = places(scheduler, key)
            if not placed:
                continue
            satisfies(hosts, ask, placed)
            for pod_set, cpu in (("workers", ask.cpu), ("leader", ask.leader)):
                for name, pods in placed.get(pod_set, {}).items():
                    used[name] += pods * cpu
        assert all(used[host.path[-1]] <= host.free for host in hosts)
        assert scheduler._engine.check() == []


@given(halls(most=6), STEPS)
def test_equal_histories_give_equal_bytes(hosts, steps):
    saved = [[scheduler._engine.save() for scheduler, _ in live(order, steps)] for order in (hosts, hosts)]
    assert saved[0] == saved[1]


@given(halls(most=6), STEPS, st.randoms(use_true_random=False))
def test_the_order_of_nodes_does_not_matter(hosts, steps, chance):
    shuffled = chance.sample(hosts, len(hosts))
    for (one, asked), (other, _) in zip(live(hosts, steps), live(shuffled, steps), strict=True):
        assert {key: places(one, key) for key in asked} == {key: places(other, key) for key in asked}


@given(halls(most=6), STEPS, asks(), st.sampled_from([None, 0, 1, 2]))
def test_removing_a_workload_restores_the_free_capacity(hosts, steps, ask, preferred):
    *_, (scheduler, _) = live(hosts, steps)
    probe = job("probe", ask, preferred=preferred, priority=-1)
    found = []
    for _ in range(2):
        scheduler.submit(probe)
        scheduler.settle()
        found.append(places(scheduler, "default/probe"))
        scheduler.delete("default/probe")
        scheduler.settle()
    assert found[0] == found[1]
