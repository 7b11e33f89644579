"""Gated workloads, and the requests of pods (WL_13, WL_14).

There are no recordings of Kueue for LimitRanges and RuntimeClasses. These tests are based on its source:

- `pkg/workload/resources.go:AdjustResources,ValidateResources,ValidateLimitRange`
- `pkg/controller/core/workload_controller.go:queueReconcileForPending` (later changes)
- `pkg/controller/core/workload_controller.go:mayUpdateConditionForAdmissionGatedBy`
"""

import msgspec
import pytest

import kueuepy as kq

from .life import DEFAULT, queue


def test_WL_13_a_gated_workload_is_queued_when_its_gate_is_removed(stage):
    story = stage(DEFAULT, queue(1))
    gate = {"kueue.x-k8s.io/admission-gated-by": "example.com/a,example.com/b"}
    story.submit("q", name="gated", annotations=gate, priority=5)
    story.submit("q", name="free")
    story.settle()
    assert story.running() == ["free"]
    assert story.condition("gated") == ("AdmissionGated", "Admission is gated by: example.com/a,example.com/b")
    known = msgspec.structs.replace(story.scheduler.workload("gated"), status=None)
    gate = {"kueue.x-k8s.io/admission-gated-by": "example.com/b"}
    story.scheduler.apply(msgspec.structs.replace(known, annotations=gate))
    story.scheduler.finish("free")
    story.settle()
    assert story.condition("gated") == ("AdmissionGated", "Admission is gated by: example.com/b")
    story.scheduler.apply(msgspec.structs.replace(known, annotations={}))
    story.scheduler._engine.settle()
    assert story.condition("gated") == ("PendingEvaluation", "AdmissionGatedBy cleared, waiting for quota reservation")
    story.settle()
    assert story.running() == ["gated"]


def test_WL_13_an_admission_gate_cannot_be_added_later_and_needs_its_feature_gate(stage):
    gate = {"kueue.x-k8s.io/admission-gated-by": "example.com/a"}
    story = stage(DEFAULT, queue(), configuration=kq.Configuration(feature_gates={"AdmissionGatedBy": False}))
    story.submit("q", name="w", annotations=gate)
    story.settle()
    assert story.running() == ["w"]

    story = stage(DEFAULT, queue())
    story.submit("q", name="w")
    known = story.scheduler.workload("w")
    with pytest.raises(kq.errors.InvalidSpecError, match="admission-gated-by"):
        story.scheduler.apply(msgspec.structs.replace(known, annotations=gate))


def test_WL_13_a_gated_workload_without_a_queue_does_not_keep_settle_running(stage):
    story = stage(DEFAULT, queue())
    gate = {"kueue.x-k8s.io/admission-gated-by": "example.com/a"}
    story.submit("missing", name="w", annotations=gate)
    story.settle()

    assert story.waiting() == {"w": "AdmissionGated"}


def _container(limits=None, restart=None, **requests):
    resources = {"requests": requests, "limits": limits or {}}
    return {"name": "c", "resources": resources, **({"restartPolicy": restart} if restart else {})}


PODS = {
    "containers in sum": ({"containers": [_container(cpu="1"), _container(cpu="500m")]}, 1.5),
    "an init container that asks for more": (
        {"containers": [_container(cpu="1")], "initContainers": [_container(cpu="3"), _container(cpu="2")]},
        3,
    ),
    "a sidecar beside the containers": (
        {"containers": [_container(cpu="1")], "initContainers": [_container(cpu="2", restart="Always")]},
        3,
    ),
    "an init container beside the sidecars before it": (
        {
            "containers": [_container(cpu="1")],
            "initContainers": [_container(cpu="1", restart="Always"), _container(cpu="4")],
        },
        5,
    ),
    "limits where requests are missing": ({"containers": [_container(limits={"cpu": "2"})]}, 2),
    "defaults of the namespace": ({"containers": [_container(), _container(cpu="1")]}, 1.25),
    "the overhead of the runtime class": (
        {"containers": [_container(cpu="1")], "runtimeClassName": "sandboxed"},
        1.5,
    ),
    "the overhead that is written already": (
        {"containers": [_container(cpu="1")], "runtimeClassName": "sandboxed", "overhead": {"cpu": "2"}},
        3,
    ),
    "requests of the pod as a whole": (
        {"containers": [_container(cpu="1")], "resources": {"requests": {"cpu": "4"}}},
        4,
    ),
    "limits of the pod as a whole": ({"containers": [_container(cpu="1")], "resources": {"limits": {"cpu": "6"}}}, 6),
}


@pytest.mark.parametrize("rule", PODS)
def test_WL_14_pod_requests(stage, rule):
    pod, cpu = PODS[rule]
    limits = kq.objects.LimitRange(
        "l", limits=(kq.objects.LimitRangeItem(type="Container", default_request={"cpu": "250m"}),)
    )
    ranges = [limits] if rule == "defaults of the namespace" else []
    story = stage(DEFAULT, queue(100), kq.objects.RuntimeClass("sandboxed", overhead={"cpu": "500m"}), *ranges)
    pod_set = kq.PodSet("main", 2, template={"spec": pod})
    story.scheduler.submit(kq.Workload("w", queue_name="q", pod_sets=(pod_set,)))
    story.settle()

    assert story.used("q") == 2 * cpu


def _limits(**fields):
    return kq.objects.LimitRange("l", limits=(kq.objects.LimitRangeItem(type="Container", **fields),))


def test_WL_14_requests_above_limits_are_rejected_with_the_message_of_kueue(stage):
    story = stage(DEFAULT, queue())
    pod_set = kq.PodSet.of(requests={"cpu": 2}, limits={"cpu": 1})
    story.scheduler.submit(kq.Workload("w", queue_name="q", pod_sets=(pod_set,)))
    story.settle()

    assert story.condition("w") == (
        "Misconfigured",
        (
            "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid value: "
            '["cpu"]: requests must not exceed its limits'
        ),
    )


@pytest.mark.parametrize(
    ("bounds", "words"),
    [({"max": {"cpu": 1}}, "above the limitRange max"), ({"min": {"cpu": 3}}, "below the limitRange min")],
)
def test_WL_14_limit_ranges_of_the_namespace_bound_container_requests(stage, bounds, words):
    story = stage(DEFAULT, queue(), _limits(**bounds))
    story.submit("q", name="w", requests={"cpu": 2})
    story.settle()

    assert story.condition("w") == (
        "Misconfigured",
        (
            "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec.containers[0]: "
            f'Invalid value: ["cpu"]: requests must not be {words}'
        ),
    )


def test_WL_14_a_default_limit_below_the_request_is_detected_only_by_the_scheduler(stage):
    story = stage(DEFAULT, queue(), _limits(default={"cpu": 1}))
    story.submit("q", name="w", requests={"cpu": 2})
    (decision,) = story.scheduler.cycle()
    assert decision.message.startswith("resources validation failed")
    story.scheduler._engine.settle()

    # The workload controller reads the template as written, which has no limit.
    assert story.condition("w") == ("PendingEvaluation", "Workload is pending evaluation in the scheduling queue")


def test_WL_14_a_changed_default_applies_to_waiting_workloads(stage):
    story = stage(DEFAULT, queue(1), _limits(default_request={"cpu": 2}))
    pod_set = kq.PodSet("main", template={"spec": {"containers": [_container()]}})
    story.scheduler.submit(kq.Workload("w", queue_name="q", pod_sets=(pod_set,)))
    story.settle()
    assert story.waiting() == {"w": "ExceedsMaxQuota"}
    story.scheduler.apply(_limits(default_request={"cpu": 1}))
    story.settle()
    assert (story.running(), story.used("q")) == (["w"], 1)


def test_WL_14_a_changed_or_deleted_runtime_class_applies_to_waiting_workloads(stage):
    heavy = kq.objects.RuntimeClass("sandboxed", overhead={"cpu": 1})
    story = stage(DEFAULT, queue(1), heavy)
    spec = {"containers": [_container(cpu="1")], "runtimeClassName": "sandboxed"}
    story.scheduler.submit(kq.Workload("w", queue_name="q", pod_sets=(kq.PodSet("main", template={"spec": spec}),)))
    story.settle()
    assert story.waiting() == {"w": "ExceedsMaxQuota"}
    story.scheduler.remove(heavy)
    story.settle()
    assert story.running() == ["w"]
