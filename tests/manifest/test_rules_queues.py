# ruff: noqa: E501 - cases stay on one line each
"""Validation of ClusterQueues, Cohorts and LocalQueues, with a valid and an invalid example of each rule."""

from typing import Any

import pytest

from kueuepy.manifest import validate
from kueuepy.objects import (
    AdmissionCheckStrategyRule,
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    FairSharing,
    FlavorFungibility,
    FlavorQuotas,
    LabelSelector,
    LabelSelectorRequirement,
    LocalQueue,
    Object,
    Preemption,
    Quota,
    ResourceGroup,
    ResourceQuota,
)

FIRST = "spec.resourceGroups[0].flavors[0].resources[0]"


def texts(obj: Object, **gates: bool) -> list[str]:
    return [str(problem) for problem in validate(obj, feature_gates=gates)]


def one_group(covered: list[str], *flavors: tuple[str, list[str]]) -> ResourceGroup:
    return ResourceGroup(
        tuple(covered),
        tuple(FlavorQuotas(name, tuple(ResourceQuota(resource, 1) for resource in names)) for name, names in flavors),
    )


def queue(*groups: ResourceGroup, **fields: Any) -> ClusterQueue:
    return ClusterQueue("q", resource_groups=groups, **fields)


def flavors(count: int, start: int = 0, resource: str = "cpu") -> ResourceGroup:
    return one_group([resource], *((f"f{start + i}", [resource]) for i in range(count)))


VALID: list[Object] = [
    ClusterQueue("empty"),
    queue(one_group(["cpu", "memory"], ("spot", ["cpu", "memory"])), one_group(["gpu"], ("v1", ["gpu"]))),
    queue(*(flavors(1, i, f"r{i}") for i in range(16))),
    queue(one_group([f"r{i}" for i in range(64)], ("f", [f"r{i}" for i in range(64)]))),
    queue(*(flavors(64, 64 * i, f"r{i}") for i in range(4))),
    queue(one_group([f"r{i}" for i in range(8)], *((f"f{j}", [f"r{i}" for i in range(8)]) for j in range(64)))),
    ClusterQueue.of("limits", {"f": {"cpu": Quota(5, 1, 5)}}, cohort_name="org"),
    ClusterQueue.of("zero", {"f": {"cpu": 0, "nvidia.com/gpu": "0"}}),
    ClusterQueue.of("odd", {"f": {"cpu": "1.5", "memory": "36Gi", "pods": "1e3"}}),
    ClusterQueue("any", preemption=Preemption("Any", "LowerPriority", BorrowWithinCohort("LowerPriority", 2**31 - 1))),
    ClusterQueue("never", preemption=Preemption("Never", "Never", BorrowWithinCohort("Never"))),
    ClusterQueue(
        "fungible", flavor_fungibility=FlavorFungibility("TryNextFlavor", "TryNextFlavor", "PreemptionOverBorrowing")
    ),
    *(ClusterQueue("weight", fair_sharing=FairSharing(weight)) for weight in ("2n", "0", "0.5", 3)),
    queue(flavors(1), admission_checks_strategy=[AdmissionCheckStrategyRule("A check", ("f0",))]),
    ClusterQueue("checks", admission_checks_strategy=[AdmissionCheckStrategyRule(f"c{i}") for i in range(64)]),
    ClusterQueue("nobody", namespace_selector=None),
    ClusterQueue(
        "some",
        namespace_selector=LabelSelector(
            {"a.b/c": "d"}, [LabelSelectorRequirement("team", "In", ("a", "")), LabelSelectorRequirement("x", "Exists")]
        ),
    ),
    ClusterQueue("scoped", admission_scope="UsageBasedAdmissionFairSharing"),
    Cohort("root"),
    Cohort("lends", parent_name="root", resource_groups=[ResourceGroup.of({"f": {"cpu": Quota(5, 7, 6)}})]),
    Cohort("much", resource_groups=[flavors(64, 64 * i, f"r{i}") for i in range(5)]),
    LocalQueue("jobs", namespace="team-a", cluster_queue="q", stop_policy="HoldAndDrain"),
    LocalQueue("negative", fair_sharing=FairSharing("-1")),
]


@pytest.mark.parametrize("obj", VALID, ids=lambda obj: obj.name)
def test_valid(obj: Object):
    assert texts(obj) == []


INVALID: list[tuple[Object, str]] = [
    (ClusterQueue("Upper"), 'metadata.name: is "Upper"; it must be a DNS subdomain'),
    (ClusterQueue("x" * 254), "metadata.name: is"),
    (ClusterQueue("q", labels={"a b": "c"}), 'metadata.labels[a b]: is "a b"; it must be a label key'),
    (ClusterQueue("q", labels={"a": "b c"}), 'metadata.labels.a: is "b c"; it must be a label value'),
    (queue(*(flavors(1, i, f"r{i}") for i in range(17))), "spec.resourceGroups: has 17 items; at most 16"),
    (queue(one_group([], ("f", []))), "spec.resourceGroups[0].coveredResources: is empty"),
    (queue(one_group(["cpu"])), "spec.resourceGroups[0].flavors: is empty"),
    (
        queue(one_group([f"r{i}" for i in range(65)], ("f", [f"r{i}" for i in range(65)]))),
        "spec.resourceGroups[0].coveredResources: has 65 items; at most 64",
    ),
    (queue(flavors(65)), "spec.resourceGroups[0].flavors: has 65 items; at most 64"),
    (
        queue(*(flavors(64, 64 * i, f"r{i}") for i in range(4)), flavors(1, 256, "r4")),
        "spec.resourceGroups: have 257 flavors in all; at most 256",
    ),
    (
        queue(*(one_group(n, (f"f{i}", n)) for i in range(5) for n in [[f"r{i}x{j}" for j in range(52)]])),
        "spec.resourceGroups: have 260 covered resources in all; at most 256",
    ),
    (
        queue(one_group([f"r{i}" for i in range(9)], *((f"f{j}", [f"r{i}" for i in range(9)]) for j in range(57)))),
        "spec.resourceGroups[0]: has 513 pairs of flavor and resource; at most 512",
    ),
    (queue(one_group(["c p"], ("f", ["c p"]))), 'spec.resourceGroups[0].coveredResources[0]: is "c p"'),
    (
        queue(flavors(1), flavors(1, 1)),
        'spec.resourceGroups[1].coveredResources[0]: resource "cpu" occurs twice',
    ),
    (
        queue(flavors(1), flavors(1, 0, "gpu")),
        'spec.resourceGroups[1].flavors[0].name: flavor "f0" occurs twice',
    ),
    (queue(one_group(["cpu"], ("f", ["cpu"]), ("f", ["cpu"]))), 'flavors[1].name: "f" occurs twice'),
    (queue(one_group(["cpu"], ("on_demand", ["cpu"]))), 'flavors[0].name: is "on_demand"; it must be a DNS subdomain'),
    (
        queue(one_group(["cpu", "memory"], ("f", ["cpu"]))),
        "flavors[0].resources: are 1; there must be one for each of the 2 covered resources, here lacking memory",
    ),
    (queue(one_group(["cpu"], ("f", ["cpu", "gpu"]))), "flavors[0].resources: are 2; there must be one for each of the 1"),
    (ClusterQueue.of("q", {"f": {"cpu": -1}}), f"{FIRST}.nominalQuota: is -1; it must be 0 or more"),
    (ClusterQueue.of("q", {"f": {"cpu": "1K"}}), f'{FIRST}.nominalQuota: is "1K"; it must be a quantity'),
    (ClusterQueue.of("q", {"f": {"cpu": "Gi"}}), f'{FIRST}.nominalQuota: is "Gi"; it must be a quantity'),
    (ClusterQueue.of("q", {"f": {"cpu": "1e1001"}}), f"{FIRST}.nominalQuota: "),
    (ClusterQueue.of("q", {"f": {"cpu": Quota(1, 1)}}), f"{FIRST}.borrowingLimit: is 1; there must be none without a"),
    (ClusterQueue.of("q", {"f": {"cpu": Quota(1, None, 1)}}), f"{FIRST}.lendingLimit: is 1; there must be none"),
    (
        ClusterQueue.of("q", {"f": {"cpu": Quota(1, "-1")}}, cohort_name="org"),
        f"{FIRST}.borrowingLimit: is -1; it must be 0 or more",
    ),
    (
        ClusterQueue.of("q", {"f": {"cpu": Quota(5, None, 6)}}, cohort_name="org"),
        f"{FIRST}.lendingLimit: is 6; it must be at most the nominalQuota, 5",
    ),
    (ClusterQueue("q", cohort_name="a_b"), 'spec.cohortName: is "a_b"'),
    (ClusterQueue("q", cohort_name=""), 'spec.cohortName: is ""'),
    (
        ClusterQueue("q", preemption=Preemption(borrow_within_cohort=BorrowWithinCohort("LowerPriority"))),
        "spec.preemption: has borrowWithinCohort.policy LowerPriority with reclaimWithinCohort Never",
    ),
    (
        ClusterQueue("q", preemption=Preemption("Any", borrow_within_cohort=BorrowWithinCohort("LowerPriority", 2**31))),
        "spec.preemption.borrowWithinCohort.maxPriorityThreshold: is 2147483648; it must be a signed 32-bit integer",
    ),
    *(
        (
            ClusterQueue("q", flavor_fungibility=FlavorFungibility(borrow, preempt, "PreemptionOverBorrowing")),
            "spec.flavorFungibility.preference: is PreemptionOverBorrowing; it needs",
        )
        for borrow, preempt in (("MayStopSearch", "TryNextFlavor"), ("TryNextFlavor", "MayStopSearch"))
    ),
    *(
        (ClusterQueue("q", fair_sharing=FairSharing(weight)), f"spec.fairSharing.weight: is {weight}; it must be 0, or")
        for weight in ("1n", "0.5n")
    ),
    (ClusterQueue("q", fair_sharing=FairSharing("-1")), "spec.fairSharing.weight: is -1; it must be 0 or more"),
    (Cohort("c", fair_sharing=FairSharing("1n")), "spec.fairSharing.weight: is 1n"),
    (
        queue(flavors(1), admission_checks_strategy=[AdmissionCheckStrategyRule("c", ("spot",))]),
        'spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]: "spot" is not supported; it must be one of f0',
    ),
    (
        queue(flavors(1), admission_checks_strategy=[AdmissionCheckStrategyRule("c", ("f0", "f0"))]),
        'admissionChecks[0].onFlavors[1]: "f0" occurs twice',
    ),
    (
        queue(flavors(64), flavors(1, 64, "gpu"), admission_checks_strategy=[
            AdmissionCheckStrategyRule("c", tuple(f"f{i}" for i in range(65)))
        ]),
        "admissionChecks[0].onFlavors: has 65 items; at most 64",
    ),
    (
        ClusterQueue("q", admission_checks_strategy=[AdmissionCheckStrategyRule("c"), AdmissionCheckStrategyRule("c")]),
        'admissionChecks[1].name: "c" occurs twice',
    ),
    (
        ClusterQueue("q", admission_checks_strategy=[AdmissionCheckStrategyRule(f"c{i}") for i in range(65)]),
        "admissionChecks: has 65 items; at most 64",
    ),
    *(
        (
            ClusterQueue("q", admission_checks_strategy=[AdmissionCheckStrategyRule(name)]),
            f"admissionChecks[0].name: has {len(name)} characters; 1 to 316 are allowed",
        )
        for name in ("", "c" * 317)
    ),
    *(
        (
            ClusterQueue("q", namespace_selector=LabelSelector(match_expressions=[requirement])),
            f"spec.namespaceSelector.matchExpressions[0].{text}",
        )
        for requirement, text in (
            (LabelSelectorRequirement("team", "In"), "values: must not be empty with operator In"),
            (LabelSelectorRequirement("team", "NotIn"), "values: must not be empty with operator NotIn"),
            (LabelSelectorRequirement("team", "Exists", ("a",)), "values: must be empty with operator Exists"),
            (LabelSelectorRequirement("team", "DoesNotExist", ("a",)), "values: must be empty with operator DoesNot"),
            (LabelSelectorRequirement("a b", "Exists"), 'key: is "a b"'),
            (LabelSelectorRequirement("team", "In", ("a b",)), 'values[0]: is "a b"'),
        )
    ),
    (ClusterQueue("q", namespace_selector=LabelSelector({"a b": ""})), 'spec.namespaceSelector.matchLabels[a b]: is "a b"'),
    (Cohort("c", parent_name="A"), 'spec.parentName: is "A"'),
    (
        Cohort("c", resource_groups=[ResourceGroup.of({"f": {"cpu": Quota(5, None, 1)}})]),
        f"{FIRST}.lendingLimit: is 1; there must be none without a parent",
    ),
    (
        Cohort("c", resource_groups=[ResourceGroup.of({"f": {"cpu": Quota(5, 1)}})]),
        f"{FIRST}.borrowingLimit: is 1; there must be none without a parent",
    ),
    (LocalQueue("l", cluster_queue="A"), 'spec.clusterQueue: is "A"'),
    (LocalQueue("l", namespace="a.b"), 'metadata.namespace: is "a.b"; it must be a DNS label'),
    (LocalQueue("l", fair_sharing=FairSharing("much")), 'spec.fairSharing.weight: is "much"; it must be a quantity'),
    (
        ClusterQueue("q", queueing_strategy="FIFO"),
        'spec.queueingStrategy: "FIFO" is not supported; it must be one of StrictFIFO, BestEffortFIFO',
    ),
    (ClusterQueue("q", stop_policy="Stop"), 'spec.stopPolicy: "Stop" is not supported'),
    (ClusterQueue("q", admission_scope="Always"), 'spec.admissionScope.admissionMode: "Always" is not supported'),
    (ClusterQueue("q", cohort_name=5), "spec.cohortName: is 5, a number; it must be a string"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("obj", "expected"), INVALID, ids=lambda value: value if isinstance(value, str) else value.name
)
def test_invalid(obj: Object, expected: str):
    found = texts(obj)
    assert any(expected in text for text in found), found


def test_resources_in_another_order_are_two_errors():
    found = texts(queue(one_group(["cpu", "memory"], ("f", ["memory", "cpu"]))))
    assert found == [
        f'{FIRST}.name: is "memory"; it must be "cpu", as at this place of coveredResources',
        (
            'spec.resourceGroups[0].flavors[0].resources[1].name: is "cpu"; it must be "memory", as at this place of '
            "coveredResources"
        ),
    ]


def concurrent(mode: str = "TryPreferredFlavors", last: str | None = None) -> dict[str, Any]:
    constraints = {"constraints": {"lastAcceptableFlavorName": last}} if last else {}
    return {"migration": {"mode": mode, **constraints}}


@pytest.mark.parametrize(
    "obj",
    [
        queue(flavors(16), concurrent_admission_policy=concurrent(last="f3")),
        queue(flavors(1), concurrent_admission_policy=concurrent("RetainFirstAdmission")),
    ],
)
def test_concurrent_admission_is_valid(obj: ClusterQueue):
    assert texts(obj, ConcurrentAdmission=True) == []


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (queue(concurrent_admission_policy=concurrent()), "spec.resourceGroups: are 0; with a"),
        (queue(flavors(17), concurrent_admission_policy=concurrent()), "flavors: has 17 items; at most 16"),
        (
            queue(flavors(1), concurrent_admission_policy=concurrent(), queueing_strategy="StrictFIFO"),
            "spec.queueingStrategy: is StrictFIFO",
        ),
        (
            queue(flavors(1), concurrent_admission_policy=concurrent("RetainFirstAdmission", "f0")),
            "migration.constraints: may not be set with mode RetainFirstAdmission",
        ),
        (
            queue(flavors(1), concurrent_admission_policy=concurrent(last="f9")),
            'lastAcceptableFlavorName: "f9" is not supported; it must be one of f0',
        ),
    ],
)
def test_concurrent_admission_is_validated_only_with_its_feature_gate(obj: ClusterQueue, expected: str):
    assert texts(obj) == []
    (found,) = texts(obj, ConcurrentAdmission=True)
    assert expected in found


def test_concurrent_admission_has_two_modes():
    (found,) = texts(queue(flavors(1), concurrent_admission_policy=concurrent("Sometimes")))
    assert 'migration.mode: "Sometimes" is not supported' in found
