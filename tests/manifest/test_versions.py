# ruff: noqa: E501 - cases stay on one line each
"""Conversion of older API versions to v1beta2."""

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from kueuepy.manifest import ManifestError, from_dict, load, to_dict
from kueuepy.objects import (
    AdmissionCheckStrategyRule,
    ClusterQueue,
    Condition,
    FlavorFungibility,
    LocalQueue,
    PodSetAssignment,
    PriorityClassRef,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    Taint,
    Workload,
)


def old_queue(resources: dict[str, dict[str, Any]], version: str = "v1alpha1", **spec: Any) -> dict[str, Any]:
    """A queue as it was before resource groups: quotas by resource and flavor, as minimum, or minimum and maximum."""

    def quota(amount: Any) -> dict[str, Any]:
        return dict(zip(("min", "max"), amount, strict=False)) if isinstance(amount, tuple) else {"min": amount}

    listed = [
        {"name": name, "flavors": [{"name": flavor, "quota": quota(amount)} for flavor, amount in flavors.items()]}
        for name, flavors in resources.items()
    ]
    return {
        "apiVersion": f"kueue.x-k8s.io/{version}",
        "kind": "ClusterQueue",
        "metadata": {"name": "q"},
        "spec": {"namespaceSelector": {}, "resources": listed, **spec},
    }


def groups(doc: dict[str, Any]) -> tuple[ResourceGroup, ...]:
    queue = from_dict(doc)
    assert isinstance(queue, ClusterQueue)
    return queue.resource_groups


def problem(doc: dict[str, Any]) -> str:
    with pytest.raises(ManifestError) as error:
        from_dict(doc)
    ((_, found),) = error.value.problems
    return str(found)


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_minima_are_nominal_quotas(version: str):
    doc = old_queue({"cpu": {"default": 9}, "memory": {"default": "36Gi"}}, version)
    assert groups(doc) == (ResourceGroup.of({"default": {"cpu": 9, "memory": "36Gi"}}),)


@pytest.mark.parametrize(
    ("least", "most", "limit"),
    [(9, 10, "1"), ("36Gi", "40Gi", "4Gi"), (9, 9, "0"), ("500m", 1, "500m"), ("0.1", "0.3", "200m")],
)
def test_a_maximum_is_a_borrowing_limit(least: Any, most: Any, limit: str):
    doc = old_queue({"cpu": {"default": (least, most)}}, cohort="team-ab")
    assert groups(doc) == (ResourceGroup.of({"default": {"cpu": Quota(least, limit)}}),)


def test_maxima_in_a_cohort_and_without():
    quotas = {"cpu": {"default": (9, 10)}, "memory": {"default": "36Gi"}}
    borrowing = ResourceGroup.of({"default": {"cpu": Quota(9, "1"), "memory": "36Gi"}})
    assert groups(old_queue(quotas, cohort="team-ab")) == (borrowing,)
    assert groups(old_queue(quotas)) == (ResourceGroup.of({"default": {"cpu": 9, "memory": "36Gi"}}),)
    assert groups(old_queue({"cpu": {"default": (9, None)}}, cohort="c")) == (
        ResourceGroup.of({"default": {"cpu": 9}}),
    )


def test_a_maximum_below_the_minimum():
    assert problem(old_queue({"cpu": {"default": (9, 8)}})) == (
        "spec.resources[0].flavors[0].quota.max: is 8, less than min 9; it must be min or more"
    )
    assert "spec.resources[0].flavors[0].quota.max: " in problem(old_queue({"cpu": {"default": (9, "ten")}}))


def test_resources_of_the_same_flavors_are_one_group():
    doc = old_queue(
        {
            "cpu": {"spot": 18, "ondemand": 9},
            "memory": {"spot": "72Gi", "ondemand": "36Gi"},
            "gpu": {"vendor1": 10, "vendor2": 10},
        }
    )
    assert groups(doc) == (
        ResourceGroup.of({"spot": {"cpu": 18, "memory": "72Gi"}, "ondemand": {"cpu": 9, "memory": "36Gi"}}),
        ResourceGroup.of({"vendor1": {"gpu": 10}, "vendor2": {"gpu": 10}}),
    )


@pytest.mark.parametrize(
    "resources",
    [
        {"cpu": {"spot": 1, "ondemand": 1}, "memory": {"ondemand": 1, "spot": 1}},
        {"cpu": {"a": 1}, "memory": {"a": 1, "b": 1}},
        {"cpu": {"spot": 1}, "memory": {"spot": 1}, "gpu": {"spot": 1, "vendor1": 1}},
    ],
)
def test_resources_must_share_all_flavors_in_the_same_order_or_none(resources: dict[str, dict[str, Any]]):
    assert "two resources must list the same flavors in the same order, or none in common" in problem(
        old_queue(resources)
    )


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "spec.resources: is a mapping; it must be a list"),
        ([{"flavors": []}], "spec.resources[0].name: is required"),
        ([{"name": "cpu"}], "spec.resources[0].flavors: is required"),
        ([{"name": "cpu", "flavors": []}], "spec.resources[0].flavors: is empty; it must have at least one item"),
        (
            [{"name": "cpu", "flavors": [{"name": f"f{i}"} for i in range(17)]}],
            "flavors: has 17 items; at most 16 are allowed",
        ),
        ([{"name": f"r{i}", "flavors": [{}]} for i in range(17)], "resources: has 17 items; at most 16 are allowed"),
        (
            [{"name": "cpu", "flavors": [{"quota": 5}]}],
            "spec.resources[0].flavors[0].quota: is 5, a number; it must be a mapping",
        ),
        ([{"name": "cpu", "flavors": [{"quota": {"mni": 5}}]}], 'quota.mni: unknown field; did you mean "min"?'),
        (
            [{"name": "cpu", "flavor": [], "flavors": [{}]}],
            'spec.resources[0].flavor: unknown field; did you mean "flavors"?',
        ),
    ],
)
def test_tables_of_a_wrong_shape(resources: Any, expected: str):
    doc = old_queue({})
    doc["spec"]["resources"] = resources
    with pytest.raises(ManifestError) as error:
        load(doc)
    assert expected in str(error.value)


def test_the_old_defaults():
    doc = old_queue({})
    doc["spec"]["resources"] = [{"name": "cpu", "flavors": [{}]}]
    assert groups(doc) == (ResourceGroup.of({"default": {"cpu": 0}}),)


FLAVOR = ResourceFlavor(
    "spot", node_labels={"instance-type": "spot"}, node_taints=[Taint("spot", "true", "NoSchedule")]
)
TAINTS = "taints: [{effect: NoSchedule, key: spot, value: 'true'}]"


@pytest.mark.parametrize(
    "text",
    [
        f"apiVersion: kueue.x-k8s.io/v1alpha1\nmetadata: {{name: spot}}\nlabels: {{instance-type: spot}}\n{TAINTS}",
        f"apiVersion: kueue.x-k8s.io/v1alpha1\nmetadata: {{name: spot, labels: {{instance-type: spot}}}}\n{TAINTS}",
        f"apiVersion: kueue.x-k8s.io/v1alpha2\nmetadata: {{name: spot, labels: {{instance-type: spot}}}}\n{TAINTS}",
        f"apiVersion: kueue.x-k8s.io/v1alpha2\nmetadata: {{name: spot}}\nnodeSelector: {{instance-type: spot}}\n{TAINTS}",
        (
            "apiVersion: kueue.x-k8s.io/v1beta1\nmetadata: {name: spot}\n"
            f"spec: {{nodeLabels: {{instance-type: spot}}, nodeTaints: {TAINTS[8:]}}}"
        ),
    ],
)
def test_one_flavor_in_five_spellings(text: str):
    assert load(f"{text}\nkind: ResourceFlavor\n").resource_flavors == (FLAVOR,)


def test_an_old_flavor_has_no_other_fields(refused: Callable[[str], list[str]]):
    text = "apiVersion: kueue.x-k8s.io/v1alpha2\nkind: ResourceFlavor\nmetadata: {name: x}\ntaint: []\n"
    assert refused(text) == ['taint: unknown field; did you mean "taints"?']


def test_a_v1alpha1_queue_is_a_local_queue():
    text = "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: Queue\nmetadata: {name: main, namespace: a}\nspec: {clusterQueue: q}\n"
    assert load(text).local_queues == (LocalQueue("main", namespace="a", cluster_queue="q"),)


def test_an_old_cohort_named_its_parent():
    text = "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: Cohort\nmetadata: {name: a}\nspec: {parent: b}\n"
    assert load(text).cohorts[0].parent_name == "b"


def test_an_old_workload():
    text = dedent("""\
        apiVersion: kueue.x-k8s.io/v1alpha2
        kind: Workload
        metadata: {name: w}
        spec:
          queueName: jobs
          priority: 5
          priorityClassName: high
          podSets:
          - {name: main, count: 3, spec: {containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}
          admission: {clusterQueue: q, podSetFlavors: [{name: main, flavors: {cpu: spot}}]}
        status:
          conditions: [{type: Admitted, status: "True", reason: Admitted, lastTransitionTime: "1970-01-01T00:00:01Z"}]
        """)
    (workload,) = load(text).workloads
    assert workload.pod_sets[0].template["spec"]["containers"][0]["name"] == "c"
    assert (workload.priority, workload.priority_class_ref) == (5, None)
    assert workload.status is not None
    assert workload.status.conditions == (
        Condition("QuotaReserved", "True", "Admitted", last_transition_time=1),
        Condition("Admitted", "True", "Admitted", last_transition_time=1),
    )
    assert workload.status.admission is not None
    (assignment,) = workload.status.admission.pod_set_assignments
    assert assignment == PodSetAssignment("main", {"cpu": "spot"}, {"cpu": "3"}, 3)


def beta1(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}


def test_checks_by_name_replace_the_strategy():
    queue = from_dict(
        beta1(
            "ClusterQueue",
            cohort="c1",
            admissionChecks=["ac1", "ac2"],
            admissionChecksStrategy={"admissionChecks": [{"name": "z", "onFlavors": ["f"]}]},
            flavorFungibility={"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"},
        )
    )
    assert queue == ClusterQueue(
        "x",
        cohort_name="c1",
        namespace_selector=None,
        admission_checks_strategy=(AdmissionCheckStrategyRule("ac1"), AdmissionCheckStrategyRule("ac2")),
        flavor_fungibility=FlavorFungibility("MayStopSearch", "MayStopSearch"),
    )


def test_new_field_names_are_read_in_v1beta1_and_old_names_are_rejected_in_v1beta2():
    new = {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "MayStopSearch"}
    queue = from_dict(beta1("ClusterQueue", flavorFungibility=new))
    assert isinstance(queue, ClusterQueue)
    assert queue.flavor_fungibility == FlavorFungibility("TryNextFlavor", "MayStopSearch")
    doc = beta1("ClusterQueue", flavorFungibility={"whenCanBorrow": "Borrow"}) | {
        "apiVersion": "kueue.x-k8s.io/v1beta2"
    }
    assert problem(doc) == (
        'spec.flavorFungibility.whenCanBorrow: "Borrow" is not supported; it must be one of MayStopSearch, TryNextFlavor'
    )


def test_fields_of_v1beta2_are_unknown_in_v1beta1():
    assert problem(beta1("ClusterQueue", cohortName="a")) == 'spec.cohortName: unknown field; did you mean "cohort"?'
    gated = problem(beta1("Workload", podSets=[{"template": {}}], preemptionGates=[]))
    assert gated.startswith("spec.preemptionGates: unknown field; known are active, ")


@pytest.mark.parametrize(
    ("source", "ref"),
    [
        ("kueue.x-k8s.io/workloadpriorityclass", PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "pc")),
        ("scheduling.k8s.io/priorityclass", PriorityClassRef("scheduling.k8s.io", "PriorityClass", "pc")),
        ("", None),
    ],
)
def test_priority_classes_by_source(source: str, ref: PriorityClassRef | None):
    spec = {"podSets": [{"template": {}}], "priority": 7, "priorityClassName": "pc", "priorityClassSource": source}
    workload = from_dict(beta1("Workload", **spec))
    assert isinstance(workload, Workload)
    assert (workload.priority, workload.priority_class_ref) == (7, ref)
    del spec["priority"]
    assert problem(beta1("Workload", **spec)) == "spec.priority: is required where priorityClassName is set"


def test_sources_and_pod_sets_of_v1beta1():
    assert "spec.priorityClassSource" in problem(beta1("Workload", podSets=[{"template": {}}], priorityClassSource="x"))
    assert problem(beta1("Workload")) == "spec.podSets: is required"


def test_the_misspelt_field_of_v1beta1():
    doc = beta1("Workload", podSets=[{"template": {}}]) | {"status": {"accumulatedPastExexcutionTimeSeconds": 3}}
    workload = from_dict(doc)
    assert isinstance(workload, Workload)
    assert workload.status is not None
    assert workload.status.accumulated_past_execution_time_seconds == 3


def test_domains_are_read_and_written_as_a_slice():
    domains = [{"values": ["b1", "r1"], "count": 2}, {"values": ["b1", "r2"], "count": 1}]
    assignment = {"name": "main", "topologyAssignment": {"levels": ["block", "rack"], "domains": domains}}
    doc = beta1("Workload", podSets=[{"template": {}}])
    doc["status"] = {"admission": {"clusterQueue": "q", "podSetAssignments": [assignment]}}
    workload = from_dict(doc)
    assert isinstance(workload, Workload)
    assert workload.status is not None
    assert workload.status.admission is not None
    found = workload.status.admission.pod_set_assignments[0].topology_assignment
    assert found is not None
    assert str(found) == "b1/r1: 2, b1/r2: 1"
    assert to_dict(workload)["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] == {
        "levels": ["block", "rack"],
        "slices": [
            {
                "domainCount": 2,
                "valuesPerLevel": [{"universal": "b1"}, {"individual": {"prefix": "r", "roots": ["1", "2"]}}],
                "podCounts": {"individual": [2, 1]},
            }
        ],
    }


def test_a_dropped_field_of_checks():
    check = from_dict(beta1("AdmissionCheck", controllerName="c", retryDelayMinutes=15))
    assert check.name == "x"
