"""Objects created in Python: arguments, defaults and conversions."""

from decimal import Decimal

import msgspec
import numpy as np
import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError
from kueuepy.objects import (
    AdmissionCheckState,
    ClusterQueue,
    FlavorQuotas,
    LabelSelector,
    LabelSelectorRequirement,
    LocalQueue,
    Node,
    PodSet,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    ResourceQuota,
    Taint,
    Toleration,
    Topology,
    Workload,
    WorkloadStatus,
)
from kueuepy.objects.status import Condition


def test_only_the_name_is_positional():
    with pytest.raises(TypeError):
        ClusterQueue("vision", ())  # type: ignore[misc]


def test_records_are_frozen():
    queue = LocalQueue("jobs", cluster_queue="vision")
    with pytest.raises(AttributeError):
        queue.cluster_queue = "nlp"  # type: ignore[misc]


def test_records_of_tuples_and_texts_are_hashable():
    group = ResourceGroup.of({"default": {"cpu": 9}})
    assert hash(group) == hash(ResourceGroup.of({"default": {"cpu": 9}}))


def test_lists_become_tuples():
    topology = Topology("racks", levels=["block", "rack"])  # type: ignore[arg-type]
    assert topology.levels == ("block", "rack")
    state = AdmissionCheckState("check", "Ready", pod_set_updates=[{"name": "main"}])  # type: ignore[arg-type]
    assert state.pod_set_updates == ({"name": "main"},)


def test_defaults_are_not_shared():
    ResourceFlavor("a").node_labels["gpu"] = "h100"
    assert ResourceFlavor("b").node_labels == {}


def test_keys_have_the_format_of_kueue():
    assert LocalQueue("jobs", namespace="team-a").key == "team-a/jobs"
    assert Workload("train").key == "default/train"
    assert ClusterQueue("vision").key == "vision"


def test_a_queue_built_in_python_admits_every_namespace():
    selector = ClusterQueue("vision").namespace_selector
    assert selector is not None
    assert selector.matches({})


def test_a_group_lists_its_resources_in_the_order_of_its_first_flavor():
    group = ResourceGroup.of(
        {"spot": {"cpu": 18, "memory": "72Gi"}, "on-demand": {"memory": "36Gi", "cpu": Quota(9, 3, lending_limit=1)}}
    )
    assert group == ResourceGroup(
        ("cpu", "memory"),
        (
            FlavorQuotas("spot", (ResourceQuota("cpu", 18), ResourceQuota("memory", "72Gi"))),
            FlavorQuotas("on-demand", (ResourceQuota("cpu", 9, 3, 1), ResourceQuota("memory", "36Gi"))),
        ),
    )


def test_all_flavors_of_a_group_need_the_same_resources():
    with pytest.raises(InvalidSpecError, match=r'flavor "on-demand" has quotas for cpu; .* here cpu, memory'):
        ResourceGroup.of({"spot": {"cpu": 1, "memory": 1}, "on-demand": {"cpu": 1}})


def test_a_queue_of_tables_has_one_group_for_each():
    queue = ClusterQueue.of("total", {"spot": {"cpu": 18}}, {"vendor1": {"gpu": 10}}, cohort_name="org")
    assert [group.covered_resources for group in queue.resource_groups] == [("cpu",), ("gpu",)]
    assert queue.cohort_name == "org"


@pytest.mark.parametrize(
    ("text", "taint"),
    [
        ("spot=true:NoSchedule", Taint("spot", "true", "NoSchedule")),
        ("spot:NoExecute", Taint("spot", "", "NoExecute")),
        ("a.b/c=:PreferNoSchedule", Taint("a.b/c", "", "PreferNoSchedule")),
    ],
)
def test_a_taint_as_kubectl_writes_it(text: str, taint: Taint):
    assert Taint.of(text) == taint


@pytest.mark.parametrize("text", ["spot=true", "spot=true:Never", ""])
def test_a_taint_needs_an_effect(text: str):
    with pytest.raises(InvalidSpecError, match="NoSchedule, PreferNoSchedule, NoExecute"):
        Taint.of(text)


@pytest.mark.parametrize(
    ("text", "toleration"),
    [
        ("spot=true:NoSchedule", Toleration("spot", "Equal", "true", "NoSchedule")),
        ("spot:NoSchedule", Toleration("spot", "Exists", "", "NoSchedule")),
        ("spot", Toleration("spot", "Exists")),
    ],
)
def test_a_toleration_as_text(text: str, toleration: Toleration):
    assert Toleration.of(text) == toleration


def test_a_pod_set_from_requests():
    pod_set = PodSet.of(
        "worker",
        8,
        requests={"cpu": 1},
        limits={"cpu": 2},
        node_selector={"gpu": "h100"},
        tolerations=["spot", Toleration(operator="Exists")],
        min_count=2,
        topology_request={"required": "rack"},
        priority_class_name="high",
    )
    assert pod_set == PodSet(
        "worker",
        8,
        2,
        {
            "spec": {
                "containers": [{"name": "main", "resources": {"requests": {"cpu": 1}, "limits": {"cpu": 2}}}],
                "nodeSelector": {"gpu": "h100"},
                "tolerations": [{"key": "spot", "operator": "Exists"}, {"operator": "Exists"}],
                "priorityClassName": "high",
            }
        },
        {"required": "rack"},
    )


def test_a_pod_set_without_requests_requests_nothing():
    assert PodSet.of() == PodSet(template={"spec": {"containers": [{"name": "main", "resources": {}}]}})


def test_the_allocatable_resources_of_a_node_default_to_its_capacity():
    assert Node("n", capacity={"cpu": 4}).allocatable == {"cpu": 4}
    assert Node("n", capacity={"cpu": 4}, allocatable={"cpu": 3}).allocatable == {"cpu": 3}


@pytest.mark.parametrize(
    ("requirement", "matches"),
    [
        (LabelSelectorRequirement("team", "In", ("a", "b")), True),
        (LabelSelectorRequirement("team", "In", ("b",)), False),
        (LabelSelectorRequirement("team", "NotIn", ("b",)), True),
        (LabelSelectorRequirement("team", "NotIn", ("a",)), False),
        (LabelSelectorRequirement("env", "NotIn", ("prod",)), True),
        (LabelSelectorRequirement("env", "In", ("prod",)), False),
        (LabelSelectorRequirement("team", "Exists"), True),
        (LabelSelectorRequirement("env", "Exists"), False),
        (LabelSelectorRequirement("env", "DoesNotExist"), True),
        (LabelSelectorRequirement("team", "DoesNotExist"), False),
    ],
)
def test_selector_requirements(requirement: LabelSelectorRequirement, matches: bool):  # noqa: FBT001
    assert LabelSelector(match_expressions=(requirement,)).matches({"team": "a"}) is matches


def test_a_selector_needs_all_of_its_labels():
    selector = LabelSelector({"team": "a", "env": "prod"})
    assert selector.matches({"team": "a", "env": "prod", "x": "y"})
    assert not selector.matches({"team": "a"})


def test_a_condition_is_true_only_with_status_true():
    status = WorkloadStatus(conditions=(Condition("QuotaReserved", "True"), Condition("Admitted", "False")))
    assert status.is_true("QuotaReserved")
    assert not status.is_true("Admitted")
    assert not status.is_true("Finished")


def test_a_record_can_be_changed_by_copying():
    queue = ClusterQueue("vision", cohort_name="org")
    assert msgspec.structs.replace(queue, cohort_name=None) == ClusterQueue("vision")


def test_policies_are_validated_when_created():
    with pytest.raises(InvalidSpecError, match="Preemption: reclaim_within_cohort: is 'any'; it must be one of Never,"):
        kq.Preemption("any")
    with pytest.raises(InvalidSpecError, match=r"preference: is 'x'; it must be one of .*, None"):
        kq.objects.FlavorFungibility(preference="x")
    assert kq.objects.FlavorFungibility(preference=None).preference is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.int64(4), 4),
        (np.float32(0.5), "0.5"),
        (0.1, "0.1"),
        (2.0, 2),
        (Decimal("1.50"), "1.50"),
        (kq.Quantity("2Gi"), "2Gi"),
    ],
)
def test_quotas_and_requests_accept_numbers_of_every_type(given, kept):
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": given, "memory": kq.Quota(given, lending_limit=given)}})
    cpu, memory = queue.resource_groups[0].flavors[0].resources
    assert (cpu.nominal_quota, memory.nominal_quota, memory.lending_limit) == (kept, kept, kept)
    (container,) = kq.PodSet.of(requests={"cpu": given}).template["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": kept}
    assert type(cpu.nominal_quota) in (int, str)


@pytest.mark.parametrize("given", [True, float("nan"), float("inf"), None, [1], b"1"])
def test_an_invalid_amount_is_rejected_with_its_location(given):
    with pytest.raises(InvalidSpecError, match=r'flavor "f": cpu: is .*; it must be a quantity'):
        kq.ClusterQueue.of("q", {"f": {"cpu": given}})
    with pytest.raises(InvalidSpecError, match=r"PodSet.of: requests: cpu: is .*; it must be a quantity"):
        kq.PodSet.of(requests={"cpu": given})


def test_an_invalid_table_or_field_of_a_queue_is_reported():
    with pytest.raises(InvalidSpecError, match='"cohort" is not a field; did you mean "cohort_name"'):
        kq.ClusterQueue.of("q", {"f": {"cpu": 1}}, cohort="c")
    with pytest.raises(InvalidSpecError, match="must be quotas by flavor and resource"):
        kq.ClusterQueue.of("a", {"default": 4})
    with pytest.raises(InvalidSpecError, match="ClusterQueue: resource_groups: is 5; it must be a list"):
        kq.ClusterQueue("a", resource_groups=5)
