"""Mutable and immutable fields of objects."""

from typing import Any

import msgspec
import pytest

from kueuepy.manifest import validate_update
from kueuepy.objects import (
    Admission,
    AdmissionCheck,
    AdmissionCheckState,
    AdmissionCheckStrategyRule,
    ClusterQueue,
    Cohort,
    Condition,
    LocalQueue,
    Object,
    PodSet,
    PodSetAssignment,
    PriorityClassRef,
    ReclaimablePod,
    ResourceFlavor,
    ResourceGroup,
    Taint,
    Topology,
    TopologyAssignment,
    Workload,
    WorkloadStatus,
)

HOST = "kubernetes.io/hostname"
RESERVED = Condition("QuotaReserved", "True", "R", last_transition_time=1)
ADMITTED = Condition("Admitted", "True", "A", last_transition_time=1)
GATES = "kueue.x-k8s.io/admission-gated-by"
ELASTIC = {"kueue.x-k8s.io/elastic-job": "true"}


def changed(old: Object, **fields: Any) -> list[str]:
    return [str(problem) for problem in validate_update(old, msgspec.structs.replace(old, **fields))]


def running(*conditions: Condition, status: dict[str, Any] | None = None, **fields: Any) -> Workload:
    pod_sets = fields.pop("pod_sets", (PodSet("main", 5),))
    assignments = tuple(PodSetAssignment(p.name, {"cpu": "f"}, {"cpu": "10"}, 5) for p in pod_sets)
    described = {"conditions": conditions, "admission": Admission("q", assignments), **(status or {})}
    return Workload("w", queue_name="jobs", pod_sets=pod_sets, status=WorkloadStatus(**described), **fields)


def status_of(workload: Workload, **fields: Any) -> WorkloadStatus:
    assert workload.status is not None
    return msgspec.structs.replace(workload.status, **fields)


TAINTED = ResourceFlavor("f", node_labels={"a": "b"}, node_taints=[Taint("k", "", "NoSchedule")], topology_name="t")


def test_levels_above_the_hostname_may_change_only_in_v1beta2():
    old, new = (Topology("t", levels=[*levels, HOST]) for levels in (("rack",), ("block", "rack")))
    assert validate_update(old, new) == []
    assert [str(problem) for problem in validate_update(old, new, version="v1beta1")] == [
        "spec.levels: cannot be changed"
    ]


@pytest.mark.parametrize(
    ("old", "fields"),
    [
        (TAINTED, {"node_labels": {"c": "d"}, "node_taints": ()}),
        (ResourceFlavor("f", node_labels={"a": "b"}), {"topology_name": "t"}),
        (LocalQueue("l", cluster_queue="a"), {"stop_policy": "Hold"}),
        (AdmissionCheck("c", controller_name="a"), {"active": False}),
        (Topology("t", levels=["rack", HOST]), {"levels": ("block", "rack", HOST)}),
        (Cohort("c"), {"parent_name": "d"}),
        (ClusterQueue("q"), {"cohort_name": "c"}),
        (Workload("w", pod_sets=[PodSet()]), {"pod_sets": (PodSet("other", 2),), "queue_name": "x"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_valid_changes(old: Object, fields: dict[str, Any]):
    assert changed(old, **fields) == []


@pytest.mark.parametrize(
    ("old", "fields", "expected"),
    [
        (TAINTED, {"topology_name": "u"}, "spec.topologyName: cannot be changed"),
        (TAINTED, {"topology_name": None}, "spec.topologyName: cannot be changed"),
        (LocalQueue("l", cluster_queue="a"), {"cluster_queue": "b"}, "spec.clusterQueue: cannot be changed"),
        (AdmissionCheck("c", controller_name="a"), {"controller_name": "b"}, "spec.controllerName: cannot be changed"),
        (Topology("t", levels=["rack"]), {"levels": ("block",)}, "spec.levels: cannot be changed"),
        (Topology("t", levels=["rack", HOST]), {"levels": ("rack",)}, "spec.levels: cannot be changed"),
        (
            ClusterQueue("q"),
            {"concurrent_admission_policy": {"migration": {"mode": "RetainFirstAdmission"}}},
            "spec.concurrentAdmissionPolicy: cannot be changed",
        ),
        (Cohort("c"), {"name": "d"}, "metadata.name: changes from c to d; it must stay the same object"),
        (Cohort("c"), {"parent_name": "D"}, 'spec.parentName: is "D"; it must be a DNS subdomain'),
        (ClusterQueue("q"), {"cohort_name": "D"}, 'spec.cohortName: is "D"; it must be a DNS subdomain'),
        (Cohort("c"), {"parent_name": 5}, "spec.parentName: is 5, a number"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_immutable_fields(old: Object, fields: dict[str, Any], expected: str):
    (found,) = changed(old, **fields)
    assert found.startswith(expected)


def test_an_object_cannot_change_its_kind():
    (found,) = validate_update(Cohort("a"), ClusterQueue("a"))
    assert found.kind == "Invalid"


def test_flavors_of_checks_that_were_wrong_before():
    old = ClusterQueue.of("q", {"f": {"cpu": 1}}, admission_checks_strategy=[AdmissionCheckStrategyRule("c", ("old",))])
    assert changed(old, stop_policy="Hold") == []
    more = ResourceGroup.of({"f": {"cpu": 1}, "g": {"cpu": 1}})
    (found,) = changed(old, resource_groups=(more,))
    assert 'onFlavors[0]: "old" is not supported' in found
    (found,) = changed(old, admission_checks_strategy=(AdmissionCheckStrategyRule("c", ("older",)),))
    assert 'onFlavors[0]: "older" is not supported' in found
    new = msgspec.structs.replace(old, stop_policy="Hold")
    gates = {"RejectUpdatesToCQWithInvalidOnFlavors": True}
    assert len(validate_update(old, new, feature_gates=gates)) == 1


OLD = running(RESERVED, ADMITTED)
CLASS = PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "high")
POD_CLASS = PriorityClassRef("scheduling.k8s.io", "PriorityClass", "high")


@pytest.mark.parametrize(
    ("old", "fields"),
    [
        (OLD, {"active": False}),
        (OLD, {"pod_sets": (PodSet("main", 3),)}),
        (OLD, {"status": None, "queue_name": "other"}),
        (running(RESERVED), {"maximum_execution_time_seconds": 5}),
        (
            running(RESERVED, priority=1, priority_class_ref=CLASS),
            {"priority_class_ref": msgspec.structs.replace(CLASS, name="low")},
        ),
        (running(RESERVED), {"status": status_of(running(RESERVED), reclaimable_pods=(ReclaimablePod("main", 2),))}),
        (Workload("w", annotations={GATES: "a.b/c,a.b/d"}), {"annotations": {GATES: "a.b/d"}}),
    ],
)
def test_valid_changes_of_a_workload(old: Workload, fields: dict[str, Any]):
    assert changed(old, **fields) == []


@pytest.mark.parametrize(
    ("old", "fields", "expected"),
    [
        (OLD, {"pod_sets": (PodSet("main", 6),)}, "spec.podSets[0]: cannot be changed while quota is reserved"),
        (OLD, {"pod_sets": (PodSet("main", 5, 1),)}, "spec.podSets[0]: cannot be changed while quota is reserved"),
        (OLD, {"queue_name": "other"}, "spec.queueName: cannot be changed"),
        (OLD, {"maximum_execution_time_seconds": 5}, "spec.maximumExecutionTimeSeconds: cannot be changed"),
        (
            running(RESERVED, priority=1),
            {"priority_class_ref": CLASS},
            "spec.priorityClassRef: cannot be added or removed while quota is reserved",
        ),
        (
            running(RESERVED, priority=1, priority_class_ref=POD_CLASS),
            {"priority_class_ref": msgspec.structs.replace(POD_CLASS, name="low")},
            "spec.priorityClassRef.name: cannot be changed",
        ),
        (OLD, {"status": status_of(OLD, admission=None)}, "status.admission: is required while QuotaReserved is true"),
        (
            OLD,
            {"status": status_of(OLD, admission=Admission("other", OLD.status.admission.pod_set_assignments))},  # type: ignore[union-attr]
            "status.admission: cannot be changed",
        ),
        (Workload("w"), {"annotations": {GATES: "a.b/c"}}, f"metadata.annotations[{GATES}]: may only lose gates"),
        (
            Workload("w", annotations={GATES: "a.b/c"}),
            {"annotations": {GATES: "a.b/d"}},
            f"metadata.annotations[{GATES}]: may only lose gates",
        ),
    ],
)
def test_immutable_fields_of_a_workload(old: Workload, fields: dict[str, Any], expected: str):
    (found,) = changed(old, **fields)
    assert found.startswith(expected)


def test_the_number_of_pod_sets_is_immutable():
    found = changed(OLD, pod_sets=(PodSet("main", 5), PodSet("more")))
    assert "spec.podSets: cannot be changed while quota is reserved" in found


def test_a_class_of_another_group():
    old = running(RESERVED, priority=1, priority_class_ref=CLASS)
    found = changed(old, priority_class_ref=POD_CLASS)
    assert found == ["spec.priorityClassRef.group: cannot be changed", "spec.priorityClassRef.kind: cannot be changed"]


def test_the_topology_of_an_admission_may_be_added_later():
    assignment = PodSetAssignment("main", {"cpu": "f"}, {"cpu": "10"}, 5, TopologyAssignment(("rack",)), "Ready")
    assert changed(OLD, status=status_of(OLD, admission=Admission("q", (assignment,)))) == []


def test_a_reservation_that_lacks_its_admission_can_be_changed():
    old = running(RESERVED, status={"admission": None})
    assert changed(old, active=False) == []


def reclaiming(count: int, size: int = 5, **fields: Any) -> Workload:
    workload = running(
        RESERVED, pod_sets=(PodSet("main", 5),), status={"reclaimable_pods": (ReclaimablePod("main", count),)}
    )
    return msgspec.structs.replace(workload, pod_sets=(PodSet("main", size),), **fields)


def texts(old: Object, new: Object) -> list[str]:
    return [str(problem) for problem in validate_update(old, new)]


def test_reclaimable_pods_can_only_increase():
    assert texts(reclaiming(2), reclaiming(3)) == []
    assert texts(reclaiming(2), reclaiming(1)) == ["status.reclaimablePods.main.count: is 1; it cannot be less than 2"]
    gone = msgspec.structs.replace(reclaiming(2), status=status_of(reclaiming(2), reclaimable_pods=()))
    assert texts(reclaiming(2), gone) == ["status.reclaimablePods.main: cannot be removed while quota is reserved"]


def test_a_scaled_down_job_may_reclaim_less():
    old, new = reclaiming(4, annotations=ELASTIC), reclaiming(1, 2, annotations=ELASTIC)
    assert texts(old, new) == []
    stale = reclaiming(4, 2, annotations=ELASTIC)
    assert texts(old, stale) == []
    (found,) = texts(old, reclaiming(3, 2, annotations=ELASTIC))
    assert found == "status.reclaimablePods[0].count: is 3; it must be at most 2"


def test_updates_of_a_ready_check_are_immutable():
    def checked(state: Any, key: str) -> Workload:
        check = AdmissionCheckState("c", state, pod_set_updates=({"name": "main", "labels": {key: "v"}},))
        return running(RESERVED, status={"admission_checks": (check,)})

    assert texts(checked("Pending", "a"), checked("Ready", "b")) == []
    (found,) = texts(checked("Ready", "a"), checked("Ready", "b"))
    assert found == "status.admissionChecks[0].podSetUpdates: cannot be changed"
