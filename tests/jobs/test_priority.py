"""Priorities of jobs."""

import pytest

from kueuepy.errors import NotFoundError
from kueuepy.jobs import resolve_priority, to_workload
from kueuepy.objects import Configuration, PodSet, PriorityClass, PriorityClassRef, WorkloadPriorityClass

CLASSES = (
    WorkloadPriorityClass("high", value=1000),
    PriorityClass("high", value=5),
    PriorityClass("low", value=-5),
    PriorityClass("usual", value=20, global_default=True),
    PriorityClass("usual-too", value=10, global_default=True),
    PriorityClass("usual-again", value=10, global_default=True),
)


def pod_sets(*names):
    return [PodSet.of(f"p{i}", priority_class_name=name) for i, name in enumerate(names)]


@pytest.mark.parametrize(
    ("label", "names", "own_class", "value", "ref"),
    [
        ("high", ["low"], None, 1000, ("kueue.x-k8s.io", "WorkloadPriorityClass", "high")),
        ("", ["high"], None, 5, ("scheduling.k8s.io", "PriorityClass", "high")),
        ("", [None, "low", "high"], None, -5, ("scheduling.k8s.io", "PriorityClass", "low")),
        ("", ["high"], "low", -5, ("scheduling.k8s.io", "PriorityClass", "low")),
        ("", ["high"], "", 10, ("scheduling.k8s.io", "PriorityClass", "usual-too")),
        ("", [None], None, 10, ("scheduling.k8s.io", "PriorityClass", "usual-too")),
        (
            "",
            ["system-cluster-critical"],
            None,
            2_000_000_000,
            ("scheduling.k8s.io", "PriorityClass", "system-cluster-critical"),
        ),
    ],
)
def test_the_first_named_priority_class_is_used(label, names, own_class, value, ref):
    found = resolve_priority(label, pod_sets(*names), CLASSES, own_class=own_class)
    assert found == (value, PriorityClassRef(*ref))


def test_without_any_class_the_priority_is_0():
    assert resolve_priority("", pod_sets(None), CLASSES[:3]) == (0, None)


def test_an_unknown_priority_class_is_an_error():
    with pytest.raises(NotFoundError, match=r'^job: "hihg" names no WorkloadPriorityClass; did you mean "high"'):
        resolve_priority("hihg", (), CLASSES)
    with pytest.raises(NotFoundError, match=r'^job: "urgent" names no PriorityClass; known are'):
        resolve_priority("", pod_sets("urgent"), CLASSES)


def test_a_job_without_a_class_gets_the_class_named_default(job):
    default = [WorkloadPriorityClass("default", value=50)]
    assert to_workload(job(), priority_classes=default).priority == 50
    off = Configuration(feature_gates={"WorkloadPriorityClassDefaulting": False})
    assert to_workload(job(), priority_classes=default, config=off).priority == 0
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "o", "uid": "u", "controller": True}
    owned = job()
    owned["metadata"]["ownerReferences"] = [owner]
    assert to_workload(owned, priority_classes=default).priority == 0
