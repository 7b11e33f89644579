# ruff: noqa: E501 - cases stay on one line each
"""The Configuration file: defaults, both versions, rules, feature gates."""

from collections.abc import Callable
from typing import Any

import pytest

from kueuepy.errors import DuplicateError
from kueuepy.manifest import FEATURE_GATES, ManifestError, dump, load, validate
from kueuepy.objects import (
    AdmissionFairSharing,
    Configuration,
    FairSharingConfig,
    LabelSelector,
    LabelSelectorRequirement,
    RequeuingStrategy,
    Resources,
    ResourceTransformation,
    WaitForPodsReady,
    WorkloadRetentionPolicy,
)

BOTH = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


def read(version: str = "v1beta2", **fields: Any) -> Configuration:
    doc = {"apiVersion": f"config.kueue.x-k8s.io/{version}", "kind": "Configuration", **fields}
    configuration = load(doc).configuration
    assert configuration is not None
    return configuration


def problems(version: str = "v1beta2", **fields: Any) -> list[str]:
    with pytest.raises(ManifestError) as error:
        read(version, **fields)
    return [str(problem) for _, problem in error.value.problems]


def test_an_empty_file_has_the_default_configuration():
    ready = WaitForPodsReady(timeout=1800, recovery_timeout=1800)
    assert read() == Configuration(wait_for_pods_ready=ready)
    assert ready.requeuing_strategy == RequeuingStrategy("Eviction", 60, 3600, None)
    assert read("v1beta1") == Configuration()


@pytest.mark.parametrize(
    ("version", "raw", "expected"),
    [
        ("v1beta2", {"timeout": "10s"}, WaitForPodsReady(10, 10)),
        ("v1beta2", {"timeout": "0s", "recoveryTimeout": "0s"}, WaitForPodsReady(1800, None)),
        (
            "v1beta2",
            {
                "timeout": "5m",
                "recoveryTimeout": "3m",
                "blockAdmission": True,
                "requeuingStrategy": {"timestamp": "Creation"},
            },
            WaitForPodsReady(300, 180, True, RequeuingStrategy("Creation")),  # noqa: FBT003
        ),
        (
            "v1beta2",
            {"requeuingStrategy": {"backoffBaseSeconds": 10, "backoffMaxSeconds": 0, "backoffLimitCount": 2}},
            WaitForPodsReady(1800, 1800, False, RequeuingStrategy("Eviction", 10, 0, 2)),  # noqa: FBT003
        ),
        ("v1beta1", {"enable": True}, WaitForPodsReady(300, 300, block_admission=True)),
        ("v1beta1", {"enable": True, "blockAdmission": False}, WaitForPodsReady(300, 300)),
        ("v1beta1", {"enable": False, "timeout": "1m"}, None),
        ("v1beta1", {}, None),
    ],
)
def test_waiting_for_pods(version: str, raw: dict[str, Any], expected: WaitForPodsReady | None):
    assert read(version, waitForPodsReady=raw).wait_for_pods_ready == expected


def test_waiting_for_pods_is_disabled_by_its_feature_gate():
    assert read(featureGates={"DisableWaitForPodsReady": True}).wait_for_pods_ready is None


@pytest.mark.parametrize(
    ("version", "raw", "expected"),
    [
        ("v1beta2", {"preemptionStrategies": [BOTH[0]]}, FairSharingConfig((BOTH[0],))),
        ("v1beta2", {"preemptionStrategies": [BOTH[1]]}, FairSharingConfig((BOTH[1],))),
        ("v1beta2", {"preemptionStrategies": list(BOTH)}, FairSharingConfig(BOTH)),
        ("v1beta2", None, None),
        ("v1beta1", {"enable": True}, FairSharingConfig(BOTH)),
        ("v1beta1", {"enable": True, "preemptionStrategies": [BOTH[1]]}, FairSharingConfig((BOTH[1],))),
        ("v1beta1", {"enable": False, "preemptionStrategies": [BOTH[1]]}, None),
    ],
)
def test_fair_sharing(version: str, raw: dict[str, Any] | None, expected: FairSharingConfig | None):
    assert read(version, fairSharing=raw).fair_sharing == expected


def test_admission_fair_sharing():
    raw = {"usageHalfLifeTime": "168h", "resourceWeights": {"cpu": 2, "memory": 0.5}}
    weights = {"cpu": 2.0, "memory": 0.5}
    assert read(admissionFairSharing=raw).admission_fair_sharing == AdmissionFairSharing(604800, 300, weights)
    assert read(admissionFairSharing={}).admission_fair_sharing == AdmissionFairSharing(0, 300)


def test_resources():
    raw = {
        "excludeResourcePrefixes": ["example.com/"],
        "transformations": [
            {
                "input": "a",
                "strategy": "Replace",
                "multiplyBy": "b",
                "outputs": {"c": 0.5, "d": "-1", "e": "Gi", "f": 2},
            },
            {"input": "g", "multiplyBy": ""},
        ],
        "quotaCheckStrategy": "BlockUndeclared",
        "deviceClassMappings": [],
    }
    assert read(resources=raw).resources == Resources(
        ("example.com/",),
        (
            ResourceTransformation("a", "Replace", "b", {"c": "0.5", "d": "-1", "e": "Gi", "f": 2}),
            ResourceTransformation("g"),
        ),
    )
    assert read(resources={}).resources == Resources()


def test_jobs_that_are_managed():
    assert read(manageJobsWithoutQueueName=True).manage_jobs_without_queue_name
    own = read(namespace="kueue").managed_jobs_namespace_selector
    name = "kubernetes.io/metadata.name"
    assert own == LabelSelector(match_expressions=(LabelSelectorRequirement(name, "NotIn", ("kube-system", "kueue")),))
    assert read(managedJobsNamespaceSelector={"matchLabels": {"a": "b"}}).managed_jobs_namespace_selector == (
        LabelSelector({"a": "b"})
    )


def test_object_retention_policies_are_read_and_written():
    found = read(objectRetentionPolicies={"workloads": {"afterFinished": "1h30m"}})
    assert found.object_retention_policies == WorkloadRetentionPolicy(after_finished=5400)
    assert load(dump(found)).configuration == found
    for empty in ({}, {"workloads": None}):
        assert read(objectRetentionPolicies=empty).object_retention_policies is None


def test_configuration_fields_irrelevant_for_admission_are_accepted():
    fields = {
        "metrics": {},
        "objectRetentionPolicies": {},
        "metadata": {},
    }
    assert read(**fields) == read()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"fairSharing": {}}, "fairSharing.preemptionStrategies: is required"),
        (
            {"fairSharing": {"preemptionStrategies": list(reversed(BOTH))}},
            "is not supported; it must be [LessThanOrEqual",
        ),
        ({"fairSharing": {"preemptionStrategies": ["Fair"]}}, 'preemptionStrategies[0]: "Fair" is not supported'),
        (
            {"fairSharing": {"enable": True, "preemptionStrategies": [BOTH[0]]}},
            "fairSharing.enable: unknown field in v1beta2",
        ),
        ({"waitForPodsReady": {"enable": True}}, "waitForPodsReady.enable: unknown field in v1beta2"),
        ({"waitForPodsReady": {"timeout": "-1s"}}, "waitForPodsReady.timeout: must be more than 0"),
        ({"waitForPodsReady": {"timeout": "soon"}}, 'waitForPodsReady.timeout: is "soon"; it must be a duration'),
        ({"waitForPodsReady": {"timeout": 5}}, "waitForPodsReady.timeout: is 5, a number; it must be a string"),
        ({"waitForPodsReady": {"recoveryTimeout": "-1s"}}, "waitForPodsReady.recoveryTimeout: is negative"),
        *(
            ({"objectRetentionPolicies": {"workloads": {name: "-1s"}}}, f"workloads.{name}: is negative; it must be 0")
            for name in ("afterFinished", "afterDeactivatedByKueue")
        ),
        *(
            (
                {"waitForPodsReady": {"requeuingStrategy": {name: -1}}},
                f"requeuingStrategy.{name}: is -1; it must be 0 or",
            )
            for name in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds")
        ),
        ({"waitForPodsReady": {"requeuingStrategy": {"timestamp": "Start"}}}, 'timestamp: "Start" is not supported'),
        (
            {"waitForPodsReady": {"requeuingStrategy": {"backoffMaxSeconds": 2**63}}},
            f"requeuingStrategy.backoffMaxSeconds: is {2**63}; it must be an integer of 64 bits",
        ),
        ({"admissionFairSharing": {"usageHalfLifeTime": "-1s"}}, "admissionFairSharing.usageHalfLifeTime: is negative"),
        ({"admissionFairSharing": {"usageSamplingInterval": "-1s"}}, "usageSamplingInterval: must be more than 0"),
        (
            {"admissionFairSharing": {"resourceWeights": {"cpu": -1}}},
            "resourceWeights.cpu: is -1.0; it must be 0 or more",
        ),
        (
            {"resources": {"transformations": [{"input": "a"}, {"input": "a"}]}},
            'transformations[1].input: "a" occurs twice',
        ),
        (
            {"resources": {"transformations": [{"strategy": "Retain"}]}},
            "resources.transformations[0].input: is required",
        ),
        ({"resources": {"transformations": [{"input": "a", "strategy": "Keep"}]}}, 'strategy: "Keep" is not supported'),
        ({"resources": {"transformations": [{"input": "a", "outputs": {"b": "x"}}]}}, "transformations[0].outputs.b: "),
        ({"resources": {"quotaCheckStrategy": "Ask"}}, 'resources.quotaCheckStrategy: "Ask" is not supported'),
        (
            {"resources": {"quotaCheckStrategy": "IgnoreUndeclared", "excludeResourcePrefixes": ["a"]}},
            "resources.quotaCheckStrategy: is IgnoreUndeclared; with excludeResourcePrefixes it must be BlockUndeclared",
        ),
        (
            {"managedJobsNamespaceSelector": {}},
            "managedJobsNamespaceSelector: matches namespace kube-system; it must not",
        ),
        ({"managedJobsNamespaceSelector": {"matchLabels": {"a b": ""}}}, 'matchLabels[a b]: is "a b"'),
        ({"featureGates": {"LendingLimit": True}}, "featureGates.LendingLimit: unknown feature gate"),
        ({"featureGates": {"PartialAdmision": True}}, 'unknown feature gate; did you mean "PartialAdmission"?'),
        (
            {"featureGates": {"PartialAdmission": "yes"}},
            'featureGates.PartialAdmission: is "yes", a string; it must be true',
        ),
        ({"featureGates": {"TLSOptions": False}}, "featureGates.TLSOptions: is false; it is locked to true"),
        (
            {"featureGates": {"FlavorFungibility": False}},
            "featureGates.FlavorFungibilityPreserveScanProgress: is on, but needs FlavorFungibility",
        ),
        ({"fairSharin": {}}, 'fairSharin: unknown field; did you mean "fairSharing"?'),
    ],
)
def test_rules(fields: dict[str, Any], expected: str):
    found = problems(**fields)
    assert any(expected in text for text in found), found


def test_an_unknown_version():
    (found,) = problems("v1beta9")
    assert found == 'apiVersion: "config.kueue.x-k8s.io/v1beta9" is not known; it must be v1beta1 or v1beta2'


def test_a_second_configuration():
    doc = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    with pytest.raises(DuplicateError):
        load([doc, doc])


def test_a_configuration_built_in_python_is_reviewed():
    assert validate(Configuration()) == []
    (found,) = validate(Configuration(feature_gates={"Nope": True}))
    assert found.kind == "Unknown"


def test_feature_gates_of_the_configuration_apply_to_objects():
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w", "annotations": {"kueue.x-k8s.io/priority-boost": "x"}},
    }
    configuration = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    assert load([workload, configuration]).workloads
    with pytest.raises(ManifestError, match="it must be a signed 32-bit integer"):
        load([workload, configuration | {"featureGates": {"PriorityBoost": True}}])


@pytest.mark.parametrize(
    "configuration",
    [
        Configuration(),
        Configuration(
            wait_for_pods_ready=WaitForPodsReady(
                5, 7, block_admission=True, requeuing_strategy=RequeuingStrategy("Creation", 1, 2, 3)
            )
        ),
        Configuration(fair_sharing=FairSharingConfig((BOTH[1],)), manage_jobs_without_queue_name=True),
        Configuration(
            fair_sharing=FairSharingConfig(),
            wait_for_pods_ready=WaitForPodsReady(recovery_timeout=1e-9),
            admission_fair_sharing=AdmissionFairSharing(10**9 + 1, 5, {"cpu": 0.1}),
            resources=Resources(("a",), (ResourceTransformation("b", "Replace", "c", {"d": "1.5"}),)),
            managed_jobs_namespace_selector=LabelSelector({"a": "b"}),
            feature_gates={"PriorityBoost": True, "DisableWaitForPodsReady": False},
        ),
        Configuration(resources=Resources(quota_check_strategy="IgnoreUndeclared")),
        Configuration(wait_for_pods_ready=WaitForPodsReady(recovery_timeout=None)),
    ],
)
def test_a_configuration_survives_writing_and_reading(configuration: Configuration):
    assert load(dump(configuration)).configuration == configuration


def test_there_are_80_gates_and_four_newer_ones(refused: Callable[[str], list[str]]):
    assert len(FEATURE_GATES) == 80 + 4
    assert sum(FEATURE_GATES.values()) == 59
    assert refused("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {A: on}\n")


def test_an_empty_source_of_a_device_class_is_a_source_without_fields():
    mapping = {"name": "gpus", "deviceClassNames": ["gpu.example.com"], "sources": [{"counter": {}}]}
    gates = {"KueueDRAIntegrationPartitionableDevices": True}
    found = problems(featureGates=gates, resources={"deviceClassMappings": [mapping]})
    assert "resources.deviceClassMappings[0].sources[0].counter.name: is required" in found
