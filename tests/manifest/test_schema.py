"""Schemas of Kueue's API: defaults and type checks of an API server, before other validation."""

from __future__ import annotations

import json
from typing import Any

import pytest

import crds
from kueuepy.manifest import ManifestError, from_dict, load, validate_update
from kueuepy.objects import PodSet, RequeueState, Workload

TIME = "2026-01-01T00:00:00Z"


def doc(kind: str, version: str = "v1beta2", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def workload(version: str = "v1beta2", *, containers: Any = (), **spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": containers}}
    return doc("Workload", version, podSets=[{"name": "main", "template": template}], **spec)


def fields(raw: dict[str, Any], *, strict: bool = True) -> list[str]:
    """Return the fields of the errors of reading."""
    try:
        load(raw, strict=strict)
    except ManifestError as error:
        return [problem.field for _, problem in error.problems]
    return []


def queue(kind: str, version: str = "v1beta2", /, **quota: Any) -> dict[str, Any]:
    flavor = {"name": "f", "resources": [{"name": "cpu", **quota}]}
    return doc(kind, version, resourceGroups=[{"coveredResources": ["cpu"], "flavors": [flavor]}])


QUOTA = "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize(
    ("quota", "expected"),
    [({"nominalQuota": 0.5}, "0.5"), ({"nominalQuota": " 2 "}, "2"), ({"nominalQuota": None}, "0"), ({}, "0")],
)
def test_the_webhook_rewrites_the_quotas_of_a_new_cluster_queue(version: str, quota: dict[str, Any], expected: str):
    (found,) = load(queue("ClusterQueue", version, **quota)).cluster_queues
    assert found.resource_groups[0].flavors[0].resources[0].nominal_quota == expected
    assert fields(queue("Cohort", version, **quota)) == [QUOTA]
    with pytest.raises(ManifestError, match="nominalQuota"):
        from_dict(queue("ClusterQueue", version, **quota))


def test_the_webhook_does_not_change_a_cluster_queue_with_its_finalizer():
    raw = queue("ClusterQueue", nominalQuota=0.5)
    raw["metadata"]["finalizers"] = ["kueue.x-k8s.io/resource-in-use"]
    assert fields(raw) == [QUOTA]


def test_nulls_in_mappings_are_dropped():
    (flavor,) = load("""
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: f, labels: {a: }}
        spec: {nodeLabels: {zone: , disk: ssd}}
        """).resource_flavors
    assert flavor.node_labels == {"disk": "ssd"}
    assert flavor.labels == {"a": ""}  # metadata is read into Go's types, which have no null
    raw = workload(containers=[{"name": "c", "resources": {"requests": {"cpu": None, "memory": 1}}}])
    (found,) = load(raw).workloads
    assert found.pod_sets[0].template["spec"]["containers"][0]["resources"]["requests"] == {"memory": 1}


@pytest.mark.parametrize(
    "kind", ["AdmissionCheck", "Topology", "MultiKueueConfig", "MultiKueueCluster", "ProvisioningRequestConfig"]
)
@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_objects_without_a_spec_are_legal(kind: str, version: str):
    raw = doc(kind, version)
    assert fields({**raw, "spec": None}) == []
    del raw["spec"]
    assert fields(raw) == []


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (workload(containers=None), "containers"),
        (workload(containers=[{}]), "containers[0].name"),
        (workload(containers=[{"name": "c", "env": [{"value": "x"}]}]), "containers[0].env[0].name"),
        (workload(containers=[{"name": "c", "imag": "x"}]), "containers[0].imag"),
        (
            workload(containers=[{"name": "c", "ports": [{"containerPort": "80"}]}]),
            "containers[0].ports[0].containerPort",
        ),
        (workload(containers=[{"name": "c"}, {"name": "c"}]), "containers[1].name"),
    ],
)
def test_pod_templates_are_reviewed(raw: dict[str, Any], field: str):
    assert fields(raw) == [f"spec.podSets[0].template.spec.{field}"]


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_objects_without_records_are_reviewed(version: str):
    raw = doc("ProvisioningRequestConfig", version, provisioningClassName="A_b", parameters={"a": 5})
    assert fields(raw) == ["spec.provisioningClassName", "spec.parameters.a"]
    assert fields({**raw, "metadata": {"name": "A"}, "spec": {"provisioningClassName": "a"}}) == ["metadata.name"]
    assert fields({**raw, "apiVersion": "kueue.x-k8s.io/v1alpha1"}) == ["apiVersion"]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"finalizers": ["a b"]}, "metadata.finalizers[0]"),
        ({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]}, "metadata.ownerReferences"),
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "p", "uid": "u"}]},
            "metadata.ownerReferences",
        ),
        ({"managedFields": "x"}, "metadata.managedFields"),
        ({"managedFields": [{"operation": "Patch"}]}, "metadata.managedFields[0].operation"),
        ({"generation": "5"}, "metadata.generation"),
    ],
)
def test_metadata_is_reviewed(metadata: dict[str, Any], field: str):
    raw = doc("Cohort")
    raw["metadata"].update(metadata)
    assert fields(raw) == [field]


def placed(values: Any, count: Any = 1) -> dict[str, Any]:
    part = {"domainCount": count, "valuesPerLevel": [values], "podCounts": {"universal": 1}}
    assignment = {"name": "main", "topologyAssignment": {"levels": ["rack"], "slices": [part]}}
    return {**workload(), "status": {"admission": {"clusterQueue": "q", "podSetAssignments": [assignment]}}}


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (workload("v1beta1", priorityClassSource=[]), "spec.priorityClassSource"),
        (placed({"individual": {}}), "valuesPerLevel[0].individual.roots"),
        (placed({"universal": "a"}, 2**63), "slices[0].domainCount"),
    ],
)
def test_wrong_types_are_rejected_with_field_names(raw: dict[str, Any], field: str):
    (found,) = fields(raw)
    assert found.endswith(field)


@pytest.mark.parametrize("missing", ["reason", "message", "lastTransitionTime"])
def test_conditions_are_complete(missing: str):
    condition = {"type": "Admitted", "status": "True", "reason": "Admitted", "message": "", "lastTransitionTime": TIME}
    del condition[missing]
    assert fields({**workload(), "status": {"conditions": [condition]}}) == [f"status.conditions[0].{missing}"]


def test_problems_of_v1beta1_name_its_fields():
    assert fields(doc("ClusterQueue", "v1beta1", admissionChecks=[5])) == ["spec.admissionChecks[0]"]
    assert fields(doc("ClusterQueue", "v1beta1", admissionChecks=["a", "a"])) == []
    assert fields(doc("ClusterQueue", "v1beta1", cohort=5)) == ["spec.cohort"]


def test_lenient_reading_converts_types():
    raw = workload(containers=[{"name": 5, "imag": "x", "tty": "true"}], priority="7")
    (found,) = load(raw, strict=False).workloads
    assert found.priority == 7
    assert found.pod_sets[0].template["spec"]["containers"] == [{"name": "5", "tty": True}]


def test_equivalent_pod_sets_are_equal():
    reserved = {"type": "QuotaReserved", "status": "True", "reason": "r", "message": "", "lastTransitionTime": TIME}

    def running(cpu: Any, **template: Any) -> Workload:
        raw = workload(containers=[{"name": "c", "resources": {"requests": {"cpu": cpu}}}])
        raw["spec"]["podSets"][0]["template"].update(template)
        admission = {"clusterQueue": "q", "podSetAssignments": [{"name": "main", "resourceUsage": {"cpu": cpu}}]}
        return from_dict({**raw, "status": {"conditions": [reserved], "admission": admission}})

    assert validate_update(running("500m"), running("0.5", metadata={})) == []
    (problem, _) = validate_update(running("500m"), running("0.6"))
    assert problem.field == "spec.podSets[0]"


def test_records_may_omit_fields_irrelevant_for_decisions():
    made = Workload("w", pod_sets=[PodSet(template={"spec": {"containers": [{}, {}]}})])
    assert validate_update(made, made) == []


def test_the_table_keeps_each_schema_once(tmp_path: Any):
    text = {"type": "string", "description": "a string", "maxLength": 5}
    spec = {"type": "object", "properties": {"a": text, "b": dict(text)}, "required": ["a"]}
    version = {"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}
    (tmp_path / "crd.yaml").write_text(json.dumps({"spec": {"names": {"kind": "Thing"}, "versions": [version]}}))
    assert crds.table(tmp_path) == {
        "kinds": {"Thing": {"v1": 2}},
        "schemas": [
            {"type": "string", "maxLength": 5},
            {"type": "object", "required": ["a"], "properties": {"a": 0, "b": 0}},
            {"type": "object", "properties": {"spec": 1}},
        ],
    }


def test_the_zero_time_counts_as_absent():
    raw = {**workload(), "status": {"requeueState": {"count": 1, "requeueAt": "0001-01-01T00:00:00Z"}}}
    raw["metadata"]["creationTimestamp"] = "0001-01-01T00:00:00Z"
    (found,) = load(raw).workloads
    assert found.creation_timestamp is None
    assert found.status is not None
    assert found.status.requeue_state is not None
    assert found.status.requeue_state.requeue_at is None
    zero = {"type": "A", "status": "True", "reason": "r", "message": "", "lastTransitionTime": "0001-01-01T00:00:00Z"}
    assert fields({**workload(), "status": {"conditions": [zero]}}) == ["status.conditions[0].lastTransitionTime"]


def test_an_empty_requeue_state_is_kept_and_an_empty_status_is_not():
    raw = {**workload(), "status": {"requeueState": {}}}
    (found,) = load(raw).workloads
    assert found.status is not None
    assert found.status.requeue_state == RequeueState()
    (found,) = load({**workload(), "status": {"schedulingStats": {"evictions": []}}}).workloads
    assert found.status is None
