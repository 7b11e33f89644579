"""Engine.check() accepts consistent states and reports every inconsistency of broken states."""

from __future__ import annotations

import pytest

from kueuepy import Cluster, ClusterQueue, Node, PodSet, ResourceFlavor, Scheduler, Topology, Workload
from kueuepy.objects import Pod
from rules import rules

WRONG = {
    "usage": r"main f/cpu: usage is kept as 4001 but is 4000",
    "nominal": r"main f/cpu: nominal quota is kept as 1 but is 4000",
    "account": r"workload default/holds is not once on the account that it names",
    "charge": r"workload default/holds charges other amounts than its admission says",
    "admission": r"workload default/holds has an admission without a reservation, or the reverse",
    "twice": r"workload default/holds has a condition twice",
    "future": r"workload default/holds has a condition from the future",
    "place": r"workload default/waits names a queue without waiting in it, or the reverse",
    "in flight": r"queue main: waits is in a bucket but not placed as queued",
    "lost": r"workload default/waits is lost: it neither waits nor holds quota",
    "time": r"queue main: waits waits with an outdated timestamp",
    "priority": r"queue main: waits is in a bucket of another priority",
    "deleted": r"workload default/waits waits although it may not",
    "preemptor": r"workload default/holds is no longer the queue's preemptor",
    "key": r"workload default/holds is not found by its key",
    "listed": r"workload default/waits is mistaken about being listed for the controllers",
    "activity": r"node main: is mistaken about being active",
    "cohort": r"node main: has a wrong root",
    "ledger": r"a LocalQueue consumed less than nothing",
    "wake": r"a tree is to be requeued that does not exist",
}
WRONG_OF_TOPOLOGIES = {
    "tree": r"flavor f has a tree without a topology, or the reverse",
    "free room": r"flavor f keeps 8001 cpu as free in n1, where it is 8000",
    "used room": r"flavor f keeps 3999 cpu as used in n1, where it is 4000",
    "assumed room": r"flavor f has pods assumed between two decisions",
    "placed pods": r"workload default/holds charges other pods than it has placed",
}


def scheduler():
    queue = ClusterQueue.of("main", {"f": {"cpu": 4}}, cohort_name="all")
    made = Scheduler(Cluster(ResourceFlavor("f"), queue), now=0)
    pods = (PodSet.of(requests={"cpu": 4}),)
    made.submit(Workload(name, queue_name="main", pod_sets=pods) for name in ("holds", "waits"))
    made.settle()
    return made


def placed():
    """The same with a topology assignment of the workload, and an unmanaged pod on the same node."""
    labels = {"pool": "f", "kubernetes.io/hostname": "n1"}
    nodes = Node("n1", labels=labels, allocatable={"cpu": 9, "pods": 9})
    topology = Topology("t", levels=("kubernetes.io/hostname",))
    flavor = ResourceFlavor("f", node_labels={"pool": "f"}, topology_name="t")
    made = Scheduler(Cluster(topology, flavor, nodes, ClusterQueue.of("main", {"f": {"cpu": 4}})), now=0)
    made._engine.apply(Pod.of("theirs", "n1", requests={"cpu": 1}))
    pods = (PodSet.of(requests={"cpu": 4}, topology_request={"unconstrained": True}),)
    made.submit(Workload(name, queue_name="main", pod_sets=pods) for name in ("holds", "waits"))
    made.settle()
    return made


def test_every_broken_invariant_has_a_message():
    assert set(WRONG) | set(WRONG_OF_TOPOLOGIES) == set(rules().CORRUPTIONS)


@pytest.mark.parametrize("name", WRONG_OF_TOPOLOGIES)
def test_broken_topology_invariants_are_detected(name):
    tables = rules().Tables(placed()._engine)
    assert tables.check() == []
    tables.corrupt(name, "default/waits", "default/holds")
    assert WRONG_OF_TOPOLOGIES[name] in tables.check()


@pytest.mark.parametrize("name", WRONG)
def test_broken_invariants_are_detected(name):
    tables = rules().Tables(scheduler()._engine)
    assert tables.check() == []
    tables.corrupt(name, "default/waits", "default/holds")
    assert WRONG[name] in tables.check()


def test_a_consistent_engine_has_no_problems():
    assert scheduler()._engine.check() == []
