"""Dumps load as the same objects, in a readable format."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from kueuepy.errors import UnsupportedError
from kueuepy.manifest import Manifest, dump, from_dict, load, to_dict
from kueuepy.manifest.text.writing import yaml_text
from kueuepy.objects import (
    AdmissionCheck,
    AdmissionCheckState,
    ClusterQueue,
    Cohort,
    Configuration,
    FairSharing,
    LabelSelector,
    LocalQueue,
    Node,
    Object,
    PodSet,
    Quota,
    RequeueState,
    RuntimeClass,
    Taint,
    Topology,
    Workload,
    WorkloadStatus,
)


def test_the_text():
    queue = ClusterQueue.of(
        "vision", {"h100": {"nvidia.com/gpu": Quota(32, borrowing_limit=8), "cpu": "1500m"}}, cohort_name="research"
    )
    assert dump(
        [queue, LocalQueue("jobs", namespace="team-a", cluster_queue="vision", labels={"tier": "1"})]
    ) == dedent("""\
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata:
          name: vision
        spec:
          resourceGroups:
          - coveredResources:
            - nvidia.com/gpu
            - cpu
            flavors:
            - name: h100
              resources:
              - name: nvidia.com/gpu
                nominalQuota: 32
                borrowingLimit: 8
              - name: cpu
                nominalQuota: 1500m
          cohortName: research
          namespaceSelector: {}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata:
          name: jobs
          namespace: team-a
          labels:
            tier: "1"
        spec:
          clusterQueue: vision
        """)


def test_to_a_file(tmp_path: Path):
    path = tmp_path / "copy.yaml"
    text = dump(Cohort("a"), path)
    assert path.read_text() == text
    assert load(path).cohorts == (Cohort("a"),)


def test_a_whole_manifest():
    manifest = load(
        [to_dict(Cohort("a")), {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {}}]
    )
    again = load(dump(manifest))
    assert again == manifest
    assert again.jobs == ({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {}},)
    built = Manifest.of(Cohort("a"), Cohort("b"), configuration=Configuration())
    assert load(dump(built)) == built
    assert manifest != built
    assert manifest != "text"


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        "",
        "yes",
        "Null",
        "017",
        "1e3",
        "2026-01-31",
        "a: b",
        "a #b",
        "- a",
        "'a'",
        "tab\there",
        "two\nlines\n",
        " blanks ",
        "é😀",
        "\x85\u2028\ufeff\x7f\x00",
        "a:",
        "::",
        "{a}",
        "*a",
        "&a",
        "!a",
        "<<",
        "=",
        "%a",
        "@a",
        "`a",
        "a, b",
        "~",
        None,
        True,
        1.5,
        -3,
        10**30,
        [[1, []], {}, [{"a": [1]}]],
        {"a b": {"c": [{"d": {"e": []}}]}, "yes": "no", "1": 1, "": "x"},
    ],
    ids=repr,
)
def test_any_value_survives_writing_and_reading(value: Any):
    job = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "j"}, "spec": {"value": value}}
    assert load(yaml_text([job])).jobs == (job,)


OBJECTS: list[Object] = [
    ClusterQueue("nobody", namespace_selector=None),
    ClusterQueue("scoped", admission_scope="NoAdmissionFairSharing", fair_sharing=FairSharing()),
    ClusterQueue(
        "full",
        namespace_selector=LabelSelector({"a": "b"}),
        concurrent_admission_policy={"migration": {"mode": "RetainFirstAdmission"}},
    ),
    AdmissionCheck("off", controller_name="c", active=False),
    Node(
        "n",
        capacity={"cpu": 4},
        allocatable={"cpu": 3},
        taints=[Taint("k", "", "NoExecute")],
        unschedulable=True,
        ready=False,
    ),
    RuntimeClass("r", overhead={"cpu": 1}, handler="h"),
    Topology("t", levels=["rack"]),
    Workload("w", namespace="x", uid="u", creation_timestamp=1, deletion_timestamp=2, pod_sets=[PodSet(count=0)]),
    Workload(
        "checked",
        pod_sets=[PodSet()],
        preemption_gates=["g"],
        active=False,
        status=WorkloadStatus(
            admission_checks=[AdmissionCheckState("c", "Ready", "m", 5, 1, 2, ({"name": "main"},))],
            unhealthy_nodes=["n1"],
        ),
    ),
    Workload("evicted", pod_sets=[PodSet()], status=WorkloadStatus(requeue_state=RequeueState())),
]


@pytest.mark.parametrize("obj", OBJECTS, ids=lambda obj: obj.name)
def test_objects_survive_writing_and_reading(obj: Object):
    assert from_dict(to_dict(obj)) == obj
    assert list(load(dump(obj)).objects()) == [obj]


def test_dump_does_not_change_its_input():
    doc = to_dict(OBJECTS[-2])
    before = repr(doc)
    from_dict(doc)
    assert repr(doc) == before


def test_kinds_without_a_record():
    with pytest.raises(UnsupportedError, match="Secret of core: kueuepy has no class for this kind"):
        from_dict({"apiVersion": "v1", "kind": "Secret"})
