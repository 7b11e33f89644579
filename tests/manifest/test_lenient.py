# ruff: noqa: E501 - cases stay on one line each
"""Lenient reading corrects input that strict reading rejects, and reports the corrections."""

from textwrap import dedent

import pytest

from kueuepy.manifest import Manifest, ManifestError, load
from kueuepy.objects import ResourceQuota


def lenient(text: str) -> tuple[Manifest, list[str]]:
    with pytest.raises(ManifestError):
        load(text)
    manifest = load(text, strict=False)
    return manifest, [str(note) for note in manifest.notes]


def test_a_covered_resource_without_quota_has_a_quota_of_0():
    manifest, notes = lenient(
        dedent("""\
        apiVersion: kueue.x-k8s.io/v1beta1
        kind: ClusterQueue
        metadata: {name: team-a-cq}
        spec:
          cohort: team-ab
          resourceGroups:
          - coveredResources: ["cpu", "memory"]
            flavors:
            - name: default-flavor
              resources:
              - {name: cpu, nominalQuota: 9, borrowingLimit: 1}
        """)
    )
    (flavor,) = manifest.cluster_queues[0].resource_groups[0].flavors
    assert flavor.resources == (ResourceQuota("cpu", 9, 1), ResourceQuota("memory", 0))
    assert notes == [
        (
            'text:10: ClusterQueue "team-a-cq": spec.resourceGroups[0].flavors[0].resources: flavor "default-flavor" has no '
            "quota for covered resource memory; taken as 0"
        )
    ]


def test_quotas_are_in_the_order_of_the_group():
    manifest, notes = lenient(
        dedent("""\
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: org}
        spec:
          resourceGroups:
          - coveredResources: [cpu, memory]
            flavors:
            - {name: f, resources: [{name: memory, nominalQuota: 2}, {name: cpu, nominalQuota: 1}]}
        """)
    )
    assert manifest.cohorts[0].resource_groups[0].flavors[0].resources == (
        ResourceQuota("cpu", 1),
        ResourceQuota("memory", 2),
    )
    assert notes == []


def test_invalid_object_names():
    text = dedent("""\
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: ClusterQueue
        metadata: {name: total}
        spec:
          resources:
          - name: cpu
            flavors: [{name: on_demand, quota: {min: 9}}]
        """)
    manifest, notes = lenient(text)
    assert manifest.cluster_queues[0].resource_groups[0].flavors[0].name == "on_demand"
    assert 'is "on_demand"; it must be a DNS subdomain' in notes[0]


def test_unknown_fields_and_wrong_scalars():
    text = dedent("""\
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: w, labels: {a: 5}}
        spec:
          priorty: 1
          priority: "7"
          active: "true"
          podSets:
          - name: main
            count: 2
            template:
              spec:
                nodeSelector: {gpu: true}
                containers: [{name: c, resources: {request: {}, requests: {cpu: 1.5}}}]
        """)
    manifest, notes = lenient(text)
    (workload,) = manifest.workloads
    assert (workload.labels, workload.priority, workload.active) == ({"a": "5"}, 7, True)
    assert workload.pod_sets[0].template == {
        "spec": {
            "nodeSelector": {"gpu": "true"},
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1.5"}}}],
        }
    }
    assert len(notes) == 7
    assert 'text:5: Workload "w": spec.priorty: unknown field; did you mean "priority"?; left out' in notes


def test_the_last_of_equal_keys():
    text = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: a}\nspec: {parentName: x, parentName: z}\n"
    )
    manifest, _ = lenient(text)
    assert manifest.cohorts[0].parent_name == "z"
    as_json = '{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "a", "name": "b"}}'
    manifest, _ = lenient(as_json)
    assert manifest.cohorts[0].name == "b"


def test_an_unknown_kind_of_kueue_is_skipped():
    _, notes = lenient("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Kohort\nmetadata: {name: a}\n")
    assert notes == [
        'text:2: Kohort "a": kind: "Kohort" is not a kind of kueue.x-k8s.io; did you mean "Cohort"?; skipped'
    ]


def test_contradictory_objects_are_also_rejected_when_lenient():
    text = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec: {fairSharing: {weight: -1}}\n"
    with pytest.raises(ManifestError, match="it must be 0 or more"):
        load(text, strict=False)
    with pytest.raises(ManifestError, match="it must be an integer"):
        load(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: a}\nvalue: high\n",
            strict=False,
        )


def test_several_signs_are_not_an_integer():
    with pytest.raises(ManifestError, match="it must be an integer"):
        load("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: a}\nspec: {priority: --5}\n")
