"""Validation of Workloads and their status."""

from typing import Any

import msgspec
import pytest

from kueuepy.manifest import validate
from kueuepy.objects import (
    Admission,
    AdmissionCheckState,
    Condition,
    PodSet,
    PodSetAssignment,
    PriorityClassRef,
    ReclaimablePod,
    RequeueState,
    Workload,
    WorkloadStatus,
)

RESERVED = Condition("QuotaReserved", "True", "QuotaReserved", last_transition_time=1)
CLASS = PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "high")


def texts(workload: Workload, **gates: bool) -> list[str]:
    return [str(problem) for problem in validate(workload, feature_gates=gates)]


def pods(**fields: Any) -> Workload:
    return Workload("w", pod_sets=[PodSet(**fields)])


def template(**spec: Any) -> Workload:
    return pods(template={"spec": spec})


def topology(**request: Any) -> Workload:
    return pods(topology_request=request)


def status(*, count: int = 5, **fields: Any) -> Workload:
    return Workload("w", pod_sets=[PodSet("main", count)], status=WorkloadStatus(**fields))


def admitted(*assignments: PodSetAssignment, condition: Condition = RESERVED) -> Workload:
    return status(conditions=[condition], admission=Admission("q", assignments))


def container(**resources: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "resources": resources}]}


VALID: list[Workload] = [
    Workload("none"),
    Workload("many", pod_sets=[PodSet(f"p{i}") for i in range(18)]),
    pods(count=0),
    pods(count=2, min_count=2),
    template(**container(requests={"cpu": "100m", "memory": 0}, limits={"cpu": 1})),
    template(overhead={"cpu": "-1m"}, initContainers=[{"name": "i", "restartPolicy": "Always"}]),
    pods(template={"metadata": {"labels": {"a": "b"}, "annotations": {"A/b": "x y"}, "creationTimestamp": None}}),
    topology(required="rack"),
    topology(preferred="r" * 63, podSetSliceRequiredTopology="rack", podSetSliceSize=1, podSetGroupName="g" * 256),
    topology(podsetSliceRequiredTopologyConstraints=[{"topology": "rack", "size": 1}] * 3),
    Workload("prior", priority=7, priority_class_ref=CLASS),
    Workload(
        "pod-class", priority=7, priority_class_ref=PriorityClassRef("scheduling.k8s.io", "PriorityClass", "high")
    ),
    Workload("limited", maximum_execution_time_seconds=1, preemption_gates=[f"g{i}" for i in range(8)]),
    Workload("gated", annotations={"kueue.x-k8s.io/admission-gated-by": "example.com/a, example.com/b"}),
    Workload("boosted", annotations={"kueue.x-k8s.io/priority-boost": "none of a number"}),
    admitted(PodSetAssignment("main", {"cpu": "f"}, {"cpu": "5"}, 5)),
    admitted(PodSetAssignment("main", {}, {"cpu": "10m"}, 0)),
    admitted(PodSetAssignment("other"), condition=msgspec.structs.replace(RESERVED, status="False")),
    status(reclaimable_pods=[ReclaimablePod("main", 5)], requeue_state=RequeueState(0, 1)),
    status(admission_checks=[AdmissionCheckState(f"c{i}", "Ready", retry_count=0) for i in range(8)]),
    status(
        admission_checks=[
            AdmissionCheckState(
                "c", "Ready", pod_set_updates=[{"name": "main", "tolerations": [{"operator": "Exists"}]}]
            )
        ]
    ),
    status(conditions=[Condition(f"C{i}", "Unknown", "A_b,c:d") for i in range(16)]),
]


@pytest.mark.parametrize("workload", VALID)
def test_valid(workload: Workload):
    assert texts(workload) == []


POD = "spec.podSets[0]"
TEMPLATE = f"{POD}.template.spec"
REQUEST = f"{POD}.topologyRequest"
ASSIGNMENT = "status.admission.podSetAssignments"

INVALID: list[tuple[Workload, str]] = [
    (Workload("w", pod_sets=[PodSet(f"p{i}") for i in range(19)]), "spec.podSets: has 19 items; at most 18"),
    (Workload("w", pod_sets=[PodSet(), PodSet()]), 'spec.podSets[1].name: "main" occurs twice'),
    (pods(name="Main"), f'{POD}.name: is "Main"; it must be a DNS label'),
    (pods(count=-1), f"{POD}.count: is -1; it must be 0 or more"),
    (pods(count=2**31), f"{POD}.count: is 2147483648; it must be a signed 32-bit integer"),
    (pods(min_count=0), f"{POD}.minCount: is 0; it must be 1 or more"),
    (pods(count=2, min_count=3), f"{POD}.minCount: is 3; it must be at most count, 2"),
    (
        Workload("w", pod_sets=[PodSet("a", 2, 1), PodSet("b", 2, 1)]),
        "spec.podSets: have minCount in 2 pod sets; at most one may have it",
    ),
    (
        Workload("w", pod_sets=[PodSet("a", 2, 1)], annotations={"kueue.x-k8s.io/elastic-job": "true"}),
        "spec.podSets: have minCount in an elastic job",
    ),
    (template(**container(requests={"pods": 1})), f"{TEMPLATE}.containers[0].resources.requests.pods: is reserved"),
    (template(**container(limits={"pods": 1})), f"{TEMPLATE}.containers[0].resources.limits.pods: is reserved"),
    (template(resources={"requests": {"pods": 1}}), f"{TEMPLATE}.resources.requests.pods: is reserved"),
    (template(**container(requests={"cpu": "-1"})), f"{TEMPLATE}.containers[0].resources.requests.cpu: is -1"),
    (
        template(initContainers=[{"resources": {"requests": {"cpu": "1 Gi"}}}]),
        f'{TEMPLATE}.initContainers[0].resources.requests.cpu: is "1 Gi"; it must be a quantity',
    ),
    (
        template(**container(requests={"cpu": 0.5})),
        f"{TEMPLATE}.containers[0].resources.requests.cpu: is 0.5, a fraction",
    ),
    (template(**container(request={"cpu": 1})), 'resources.request: unknown field; did you mean "requests"?'),
    (template(nodeSelektor={}), f'{TEMPLATE}.nodeSelektor: unknown field; did you mean "nodeSelector"?'),
    (template(nodeSelector={"a": 1}), f"{TEMPLATE}.nodeSelector.a: is 1, a number; it must be a string"),
    (template(containers={}), f"{TEMPLATE}.containers: is a mapping; it must be a list"),
    (template(overhead={"cpu": "x"}), f'{TEMPLATE}.overhead.cpu: is "x"'),
    (
        template(
            affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": 5}}}
        ),
        "nodeSelectorTerms: is 5, a number; it must be a list",
    ),
    (
        pods(template={"metadata": {"labels": {"a b": ""}}}),
        f'{POD}.template.metadata.labels[a b]: is "a b"; it must be a label key',
    ),
    (
        pods(template={"metadata": {"annotations": {"a b": ""}}}),
        f'{POD}.template.metadata.annotations[a b]: is "a b"; it must be a label key',
    ),
    (topology(required="r" * 64), f"{REQUEST}.required: has 64 characters; 0 to 63"),
    (topology(podSetGroupName="g" * 257), f"{REQUEST}.podSetGroupName: has 257 characters; 0 to 256"),
    (topology(podSetSliceSize=1), f"{REQUEST}.podSetSliceRequiredTopology: is required"),
    (topology(podSetSliceRequiredTopology="rack"), f"{REQUEST}.podSetSliceSize: is required"),
    (topology(podSetSliceRequiredTopology="rack", podSetSliceSize=0), f"{REQUEST}.podSetSliceSize: is 0; it must be 1"),
    (topology(subGroupCount=-1), f"{REQUEST}.subGroupCount: is -1; it must be 0 or more"),
    (
        topology(podsetSliceRequiredTopologyConstraints=[{"topology": "rack", "size": 1}] * 4),
        f"{REQUEST}.podsetSliceRequiredTopologyConstraints: has 4 items; at most 3",
    ),
    (
        topology(podsetSliceRequiredTopologyConstraints=[{"topology": "rack", "size": 0}]),
        f"{REQUEST}.podsetSliceRequiredTopologyConstraints[0].size: is 0; it must be 1 or more",
    ),
    (topology(require="rack"), f'{REQUEST}.require: unknown field; did you mean "required"?'),
    (Workload("w", queue_name="A"), 'spec.queueName: is "A"'),
    (Workload("w", priority=2**31), "spec.priority: is 2147483648; it must be a signed 32-bit integer"),
    (Workload("w", priority_class_ref=CLASS), "spec.priority: is required where priorityClassRef is set"),
    (
        Workload("w", priority=1, priority_class_ref=msgspec.structs.replace(CLASS, group="batch")),
        'spec.priorityClassRef.group: "batch" is not supported; it must be one of kueue.x-k8s.io, scheduling.k8s.io',
    ),
    (
        Workload("w", priority=1, priority_class_ref=msgspec.structs.replace(CLASS, kind="PriorityClass")),
        'spec.priorityClassRef.kind: "PriorityClass" is not supported; it must be one of WorkloadPriorityClass',
    ),
    (
        Workload("w", priority=1, priority_class_ref=msgspec.structs.replace(CLASS, name="")),
        'spec.priorityClassRef.name: is ""',
    ),
    (
        Workload("w", maximum_execution_time_seconds=0),
        "spec.maximumExecutionTimeSeconds: is 0; it must be 1 or more",
    ),
    (Workload("w", preemption_gates=[f"g{i}" for i in range(9)]), "spec.preemptionGates: has 9 items; at most 8"),
    (Workload("w", preemption_gates=["g", "g"]), 'spec.preemptionGates[1].name: "g" occurs twice'),
    (Workload("w", preemption_gates=["g" * 64]), "spec.preemptionGates[0].name: has 64 characters; 1 to 63"),
    *(
        (Workload("w", annotations={"kueue.x-k8s.io/admission-gated-by": gates}), f"metadata.annotations[{text}")
        for gates, text in (
            ("a", 'kueue.x-k8s.io/admission-gated-by]: names gate "a"; a gate is a domain'),
            ("a.b/c,", 'kueue.x-k8s.io/admission-gated-by]: names gate ""; a gate is a domain'),
            ("a.b/c,a.b/c", 'kueue.x-k8s.io/admission-gated-by]: names gate "a.b/c" more than once'),
            ("a.b/" + "c" * 60, "kueue.x-k8s.io/admission-gated-by]: names gate"),
        )
    ),
    (status(conditions=[RESERVED]), "status.admission: is required while QuotaReserved is true"),
    (admitted(), f"{ASSIGNMENT}: are 0; there must be one for each of the 1 pod sets"),
    (admitted(PodSetAssignment("other")), f'{ASSIGNMENT}[0].name: "other" is not a pod set; it must be one of main'),
    (
        admitted(PodSetAssignment("main", {}, {"cpu": "10m"}, 3)),
        f"{ASSIGNMENT}[0].resourceUsage.cpu: is 10m; it must be a multiple of the count, 3",
    ),
    (admitted(PodSetAssignment("main", {}, {"cpu": "x"})), f'{ASSIGNMENT}[0].resourceUsage.cpu: is "x"'),
    (admitted(PodSetAssignment("main", {"cpu": "F"})), f'{ASSIGNMENT}[0].flavors.cpu: is "F"'),
    (admitted(PodSetAssignment("main", count=-1)), f"{ASSIGNMENT}[0].count: is -1; it must be 0 or more"),
    (
        status(reclaimable_pods=[ReclaimablePod("main", 6)]),
        "status.reclaimablePods[0].count: is 6; it must be at most 5",
    ),
    (
        status(reclaimable_pods=[ReclaimablePod("other", 1)]),
        'status.reclaimablePods[0].name: "other" is not supported; it must be one of main',
    ),
    (
        status(reclaimable_pods=[ReclaimablePod("main", 1), ReclaimablePod("main", 2)]),
        'status.reclaimablePods[1].name: "main" occurs twice',
    ),
    (status(reclaimable_pods=[ReclaimablePod("main", -1)]), "status.reclaimablePods[0].count: is -1; it must be 0 or"),
    (
        status(conditions=[Condition(f"C{i}", "True", "R") for i in range(17)]),
        "status.conditions: has 17 items; at most 16",
    ),
    (
        status(conditions=[Condition("C", "True"), Condition("C", "False")]),
        'status.conditions[1].type: "C" occurs twice',
    ),
    (status(conditions=[Condition("a b", "True")]), 'status.conditions[0].type: is "a b"'),
    (status(conditions=[Condition("C", "Yes")]), 'status.conditions[0].status: "Yes" is not supported'),
    (status(conditions=[Condition("C", "True", "a b")]), 'status.conditions[0].reason: is "a b"; it must be one word'),
    (status(conditions=[Condition("C", "True", "r" * 1025)]), "status.conditions[0].reason: has 1025 characters"),
    (
        status(conditions=[Condition("C", "True", "R", "m" * 32769)]),
        "status.conditions[0].message: has 32769 characters",
    ),
    (
        status(admission_checks=[AdmissionCheckState(f"c{i}", "Ready") for i in range(9)]),
        "status.admissionChecks: has 9 items; at most 8",
    ),
    (
        status(admission_checks=[AdmissionCheckState("c", "Ready")] * 2),
        'status.admissionChecks[1].name: "c" occurs twice',
    ),
    (status(admission_checks=[AdmissionCheckState("", "Ready")]), "status.admissionChecks[0].name: has 0 characters"),
    (
        status(admission_checks=[AdmissionCheckState("c", "Done")]),
        'status.admissionChecks[0].state: "Done" is not supported; it must be one of Pending, Ready, Retry, Rejected',
    ),
    (
        status(admission_checks=[AdmissionCheckState("c", "Retry", retry_count=-1)]),
        "status.admissionChecks[0].retryCount: is -1; it must be 0 or more",
    ),
    (
        status(admission_checks=[AdmissionCheckState("c", "Ready", pod_set_updates=[{"name": "other"}])]),
        'status.admissionChecks[0].podSetUpdates[0].name: "other" is not supported; it must be one of main',
    ),
    (
        status(
            admission_checks=[
                AdmissionCheckState(
                    "c", "Ready", pod_set_updates=[{"name": "main", "tolerations": [{"key": "k", "value": 5}]}]
                )
            ]
        ),
        "status.admissionChecks[0].podSetUpdates[0].tolerations[0].value: is 5, a number",
    ),
    (status(requeue_state=RequeueState(-1)), "status.requeueState.count: is -1; it must be 0 or more"),
]


@pytest.mark.parametrize(
    ("workload", "expected"), INVALID, ids=lambda value: value[:70] if isinstance(value, str) else ""
)
def test_invalid(workload: Workload, expected: str):
    (found,) = texts(workload)
    assert expected in found


@pytest.mark.parametrize(
    ("boost", "valid"), [("5", True), ("-2147483648", True), ("", False), ("1.5", False), ("2147483648", False)]
)
def test_the_priority_boost_must_be_an_integer_with_its_feature_gate(boost: str, valid: bool):  # noqa: FBT001
    workload = Workload("w", annotations={"kueue.x-k8s.io/priority-boost": boost})
    assert (texts(workload, PriorityBoost=True) == []) is valid


def test_feature_gates_disable_rules():
    assert texts(template(**container(requests={"cpu": "-1"})), WorkloadValidateResourcesAreNonNegative=False) == []
    labelled = pods(template={"metadata": {"labels": {"a b": ""}}})
    assert texts(labelled, WorkloadValidationForPodSetMetadata=False) == []
    gated = Workload("w", annotations={"kueue.x-k8s.io/admission-gated-by": "a"})
    assert texts(gated, AdmissionGatedBy=False) == []
