"""Objects that come late, go, and come back."""

from __future__ import annotations

import itertools

import pytest

from kueuepy import _core
from kueuepy.errors import NotFoundError
from kueuepy.objects import (
    Admission,
    ClusterQueue,
    Condition,
    LocalQueue,
    Namespace,
    PodSet,
    PodSetAssignment,
    ResourceFlavor,
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


@pytest.mark.parametrize("kind", ["ClusterQueue", "LocalQueue", "ResourceFlavor", "Namespace"])
def test_what_goes_may_come_back(kind):
    made = engine(OBJECTS)
    namespace, name = {"LocalQueue": ("default", "q"), "Namespace": ("", "default"), "ResourceFlavor": ("", "f")}.get(
        kind, ("", "q")
    )
    made.delete_object(kind, namespace, name)
    assert made.check() == []
    made.finish(made.find("default/holds"))
    made.settle()
    assert made.cycle()[1] == 0
    assert made.check() == []
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
        lambda made, unknown: made.life(unknown),
        lambda made, unknown: made.explain(unknown),
        lambda made, unknown: made.ask([unknown]),
        lambda made, unknown: made.finish(unknown),
    ],
)
def test_an_id_that_no_workload_has_is_an_error(ask, unknown):
    with pytest.raises(NotFoundError, match=f"no workload has the id {unknown}"):
        ask(engine(OBJECTS), unknown)
