"""The order of workloads if the usage of LocalQueues orders a ClusterQueue (admission fair sharing)."""

from __future__ import annotations

import pytest

from kueuepy import _core
from kueuepy.objects import (
    AdmissionCheck,
    AdmissionCheckStrategyRule,
    AdmissionFairSharing,
    ClusterQueue,
    Configuration,
    FairSharing,
    LocalQueue,
    Namespace,
    PodSet,
    ResourceFlavor,
    Workload,
)

pytestmark = pytest.mark.sanitizer
SECOND = 1_000_000_000
SCOPE = {"admission_scope": "UsageBasedAdmissionFairSharing"}


def queue(cpu, **fields):
    return ClusterQueue.of("cq", {"f": {"cpu": cpu}}, **fields)


def engine(**fields):
    made = _core.Engine(
        Configuration(
            admission_fair_sharing=AdmissionFairSharing(usage_half_life_time=1000, usage_sampling_interval=10)
        )
    )
    for obj in (
        Namespace("default"),
        ResourceFlavor("f"),
        queue(1, **fields),
        *(LocalQueue(name, cluster_queue="cq") for name in ("a", "b")),
    ):
        made.apply(obj)
    return made


def submit(made, name, local_queue):
    made.submit(Workload(name, queue_name=local_queue, pod_sets=(PodSet.of(requests={"cpu": 1}),)))


def admitted_next(made, at):
    """Return the workload that is admitted after the running one has finished."""
    for name in list(waiting(made)):
        assert made.admission(made.find(f"default/{name}")) is None
    made.set_now(at * SECOND)
    made.settle()
    before = waiting(made)
    made.cycle()
    (admitted,) = set(before) - set(waiting(made))
    return admitted


def waiting(made):
    return [key.removeprefix("default/") for key in made.queues().get("cq", ([], []))[0]]


def test_the_local_queue_with_less_usage_is_first():
    made = engine(**SCOPE)
    submit(made, "a1", "a")
    assert admitted_next(made, 1) == "a1"
    submit(made, "a2", "a")
    submit(made, "b1", "b")
    made.finish(made.find("default/a1"))
    assert admitted_next(made, 30) == "b1"
    assert made.check() == []


def test_the_order_uses_the_admission_scope_at_creation():
    # pkg/cache/queue/cluster_queue.go:newClusterQueue makes the comparison; Update does not touch it.
    made = engine()
    made.apply(queue(1, **SCOPE))
    submit(made, "a1", "a")
    assert admitted_next(made, 1) == "a1"
    submit(made, "a2", "a")
    submit(made, "b1", "b")
    assert waiting(made) == ["a2", "b1"]
    made.finish(made.find("default/a1"))
    assert admitted_next(made, 30) == "a2"
    assert made.check() == []


def test_a_new_weight_reorders_the_queue_immediately():
    made = engine(**SCOPE)
    submit(made, "a1", "a")
    assert admitted_next(made, 1) == "a1"
    for name, local_queue in (("a2", "a"), ("b1", "b")):
        submit(made, name, local_queue)
    assert waiting(made) == ["b1", "a2"]
    made.apply(LocalQueue("b", cluster_queue="cq", fair_sharing=FairSharing(weight="0")))
    assert waiting(made) == ["a2", "b1"]
    made.finish(made.find("default/a1"))
    assert admitted_next(made, 2) == "a2"
    assert made.check() == []


def test_an_empty_penalty_is_not_pending():
    # pkg/cache/queue/afs/entry_penalties.go:HasPendingPenalty looks at amounts.
    made = engine(**SCOPE, admission_checks_strategy=(AdmissionCheckStrategyRule("check"),))
    made.apply(AdmissionCheck("check", controller_name="controller"))
    submit(made, "a1", "a")
    made.set_now(SECOND)
    made.cycle()
    made.set_check(made.find("default/a1"), "check", "Ready")
    made.settle()
    before = made.consumed()["default/a"]
    made.submit(Workload("a2", queue_name="a", pod_sets=(PodSet.of(requests={"cpu": 0}),)))
    made.cycle()
    assert made.admission(made.find("default/a2")) is not None
    made.set_now(5 * SECOND)
    made.settle()
    assert made.consumed()["default/a"]["cpu"] == before["cpu"]
    made.set_now(11 * SECOND)
    made.settle()
    assert made.consumed()["default/a"]["cpu"] != before["cpu"]


def test_the_order_of_local_queues_in_a_new_cluster_queue_does_not_depend_on_their_history():
    made = engine(**SCOPE)
    made.delete_object("LocalQueue", "default", "a")
    made.delete_object("ClusterQueue", "", "cq")
    loaded = _core.Engine.load(made.save())  # forgets the LocalQueue `a`, which then comes after `b`
    for one in (made, loaded):
        one.apply(LocalQueue("a", cluster_queue="cq"))
        for name in ("a1", "b1", "b2"):
            submit(one, name, name[0])
        one.apply(queue(1, **SCOPE))
    assert made.queues() == loaded.queues()
    assert made.fingerprint() == loaded.fingerprint()
