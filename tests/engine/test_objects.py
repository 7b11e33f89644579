"""Objects that are created late, deleted and created again."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from kueuepy import _core
from kueuepy.errors import NotFoundError
from kueuepy.objects import (
    Admission,
    ClusterQueue,
    Condition,
    LabelSelector,
    LocalQueue,
    Namespace,
    PodSet,
    PodSetAssignment,
    ResourceFlavor,
    Taint,
    Workload,
    WorkloadStatus,
)

pytestmark = pytest.mark.sanitizer
PODS = (PodSet.of(requests={"cpu": 3}),)
HELD = WorkloadStatus(
    conditions=[Condition("QuotaReserved", "True", "QuotaReserved"), Condition("Admitted", "True", "Admitted")],
    admission=Admission("q", [PodSetAssignment("main", {"cpu": "f"}, {"cpu": 3})]),
)
OBJECTS = (
    Namespace("default"),
    ResourceFlavor("f"),
    ClusterQueue.of("q", {"f": {"cpu": 4}}),
    LocalQueue("q", cluster_queue="q"),
    Workload("holds", queue_name="q", pod_sets=PODS, status=HELD),
    Workload("waits", queue_name="q", pod_sets=PODS),
)


def engine(objects):
    made = _core.Engine()
    for obj in objects:
        if isinstance(obj, Workload):
            made.submit(obj)
        else:
            made.apply(obj)
        assert made.check() == [], obj
    return made


@pytest.mark.parametrize("objects", list(itertools.permutations(OBJECTS))[::7])
def test_objects_may_come_in_any_order(objects):
    made = engine(objects)
    made.settle()
    assert made.cycle()[:3] == (False, 0, 0)
    assert made.usage() == {"q": {"f/cpu": 3000}}
    assert made.queues() == {"q": (["default/waits"], ["default/waits"])}
    made.finish(made.find("default/holds"))
    made.settle()
    assert made.cycle()[:3] == (False, 1, 0)
    assert made.check() == []


@pytest.mark.parametrize("kind", ["ClusterQueue", "LocalQueue", "ResourceFlavor"])
def test_deleted_objects_can_be_added_again(kind):
    made = engine(OBJECTS)
    namespace, name = {"LocalQueue": ("default", "q"), "ResourceFlavor": ("", "f")}.get(kind, ("", "q"))
    made.delete_object(kind, namespace, name)
    assert made.check() == []
    made.finish(made.find("default/holds"))
    made.settle()
    # A flavor that a ClusterQueue uses stays at work until it is no longer used.
    assert made.cycle()[1] == (1 if kind == "ResourceFlavor" else 0)
    assert made.check() == []
    if kind == "ResourceFlavor":
        return
    made.apply(next(obj for obj in OBJECTS if type(obj).__name__ == kind))
    made.settle()
    assert made.cycle()[1] == 1, made.conditions(made.find("default/waits"))
    assert made.usage() == {"q": {"f/cpu": 3000}}
    assert made.check() == []


@pytest.mark.parametrize("unknown", [-2, -1, 6, 2**31 - 1])
@pytest.mark.parametrize(
    "ask",
    [
        lambda made, unknown: made.key(unknown),
        lambda made, unknown: made.condition(unknown, "Admitted"),
        lambda made, unknown: made.conditions(unknown),
        lambda made, unknown: made.admission(unknown),
        lambda made, unknown: made.status_details(unknown),
        lambda made, unknown: made.explain(unknown),
        lambda made, unknown: made.ask([unknown]),
        lambda made, unknown: made.finish(unknown),
    ],
)
def test_an_id_that_no_workload_has_is_an_error(ask, unknown):
    with pytest.raises(NotFoundError, match=f"no workload has the id {unknown}"):
        ask(engine(OBJECTS), unknown)


def test_a_deleted_cluster_queue_lends_its_quota_until_its_last_workload_releases_quota():
    lender = ClusterQueue.of("lender", {"f": {"cpu": 4}}, cohort_name="c")
    borrower = ClusterQueue.of("borrower", {"f": {"cpu": 1}}, cohort_name="c")
    holds, waits, first, second = (
        Workload(name, queue_name=queue, creation_timestamp=created, pod_sets=(PodSet.of(requests={"cpu": cpu}),))
        for created, (name, queue, cpu) in enumerate(
            [("holds", "lender", 1), ("waits", "lender", 9), ("first", "borrower", 3), ("second", "borrower", 2)]
        )
    )
    made = engine([Namespace("default"), ResourceFlavor("f"), lender, borrower])
    for name in ("lender", "borrower"):
        made.apply(LocalQueue(name, cluster_queue=name))
    made.submit(holds)
    made.submit(waits)
    made.settle()
    made.cycle()
    made.settle()

    made.delete_object("ClusterQueue", "", "lender")
    made.settle()
    made.submit(first)
    made.cycle()
    made.settle()
    assert made.usage() == {"borrower": {"f/cpu": 3000}, "lender": {"f/cpu": 1000}}
    assert made.check() == []

    made.finish(made.find("default/holds"))
    made.finish(made.find("default/first"))
    made.settle()
    made.submit(second)
    assert made.cycle()[1] == 0
    made.settle()
    assert made.usage() == {"borrower": {}}
    assert made.condition(made.find("default/waits"), "QuotaReserved")[2] == "ClusterQueue lender doesn't exist"
    assert made.check() == []


def after_a_change(*objects):
    """An engine in which `waits` is inadmissible after a cycle of its own, and what a cycle after a change admits."""
    made = engine([*objects, LocalQueue("q", cluster_queue="q"), Workload("waits", queue_name="q", pod_sets=PODS)])
    made.settle()
    assert made.cycle()[1] == 0
    made.settle()
    assert made.cycle()[0]  # no workload remains to be considered

    def after(*changes):
        for change in changes:
            made.apply(change)
        made.settle()
        idle, admitted, *_ = made.cycle()
        made.settle()
        assert made.check() == []
        return "asleep" if idle else "admitted" if admitted else "woken"

    return after


def test_changed_namespace_labels_requeue_workloads_and_creation_does_not():
    """`pkg/controller/core/clusterqueue_controller.go:cqNamespaceHandler`."""
    own = LabelSelector({"team": "a"})
    queue = ClusterQueue.of("q", {"f": {"cpu": 4}}, namespace_selector=own)
    late = after_a_change(ResourceFlavor("f"), queue)
    assert late(Namespace("default", labels={"team": "a"})) == "asleep"
    known = after_a_change(ResourceFlavor("f"), queue, Namespace("default"))
    assert known(Namespace("default", labels={"room": "b"})) == "asleep"
    assert known(Namespace("default", labels={"team": "a"})) == "admitted"


def test_only_changes_of_labels_and_taints_of_a_flavor_requeue_workloads():
    """`pkg/controller/core/resourceflavor_controller.go:flavorSchedulingFieldsChanged`."""
    tainted = ResourceFlavor("f", node_taints=(Taint("gpu", "", "NoSchedule"),))
    after = after_a_change(Namespace("default"), tainted, ClusterQueue.of("q", {"f": {"cpu": 4}}))
    assert after(tainted) == "asleep"
    assert after(msgspec.structs.replace(tainted, node_labels={"zone": "a"})) == "woken"
    assert after(ResourceFlavor("f")) == "admitted"
