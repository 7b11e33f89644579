"""Objects and API versions, in addition to the example clusters (OBJ)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy._core import Quantity
from kueuepy.manifest import validate

SEEDS = Path(__file__).parents[2] / "examples" / "seeds"
FILES = sorted(path for path in SEEDS.rglob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_OBJ_09_every_version_is_written_as_v1beta2_and_read_the_same(path):
    found = kq.manifest.load(path, strict=False)
    text = kq.manifest.dump(found)

    again = kq.manifest.load(text, strict=False)
    assert list(again.objects()) == list(found.objects())
    assert again.versions <= {"v1beta2"}
    assert kq.manifest.dump(again) == text


@pytest.mark.parametrize(
    ("text", "resource", "amount"),
    [
        ("9", "cpu", 9000),
        ("9000m", "cpu", 9000),
        ("36Gi", "memory", 38_654_705_664),
        ("1e3", "memory", 1000),
        ("5.5", "cpu", 5500),
        ("72G", "memory", 72_000_000_000),
    ],
)
def test_OBJ_10_quantities(text, resource, amount):
    assert Quantity(text).request(resource) == amount


def test_OBJ_07_a_workload_of_v1beta1_names_its_priority_class_by_source():
    text = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: w, namespace: default}
spec:
  queueName: q
  priority: 10000
  priorityClassName: sample
  priorityClassSource: kueue.x-k8s.io/workloadpriorityclass
  podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}], restartPolicy: Never}}}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {name: research}
spec: {parentName: org}
"""
    found = kq.manifest.load(text)
    assert found.workloads[0].priority_class_ref == kq.objects.PriorityClassRef(
        "kueue.x-k8s.io", "WorkloadPriorityClass", "sample"
    )
    assert found.cohorts == (kq.Cohort("research", parent_name="org"),)


def test_OBJ_10_ninety_tenths_are_nine_exactly():
    assert Quantity("0.1") * Quantity(90) == Quantity("9")


def test_OBJ_11_a_flavor_has_at_most_8_of_each_and_a_topology_needs_a_label():
    many = {f"key-{number}": "x" for number in range(9)}
    for flavor in (
        kq.ResourceFlavor("f", node_labels=many),
        kq.ResourceFlavor("f", node_taints=[kq.Taint(key, "x", "NoSchedule") for key in many]),
        kq.ResourceFlavor("f", tolerations=[kq.Toleration(key, "Exists") for key in many]),
        kq.ResourceFlavor("f", topology_name="racks"),
    ):
        assert validate(flavor)
    assert not validate(kq.ResourceFlavor("f", node_labels={"gpu": "h100"}, topology_name="racks"))


def test_OBJ_13_a_local_queue_cannot_change_its_cluster_queue_and_may_be_created_before_it(stage):
    story = stage(kq.ResourceFlavor("default"), kq.ClusterQueue.of("a", {"default": {"cpu": 9}}))
    with pytest.raises(kq.errors.InvalidSpecError, match="clusterQueue"):
        story.scheduler.apply(kq.LocalQueue("a", cluster_queue="b"))

    story.scheduler.apply(kq.LocalQueue("lost", cluster_queue="nowhere"))
    story.submit("lost", 1, name="job")
    story.settle()
    assert story.running() == []


def test_OBJ_15_a_cohort_is_implicit_or_an_object_with_quota(stage):
    queue = kq.ClusterQueue.of("a", {"default": {"cpu": 0}}, cohort_name="org")
    pool = kq.Cohort("org", resource_groups=[kq.ResourceGroup.of({"default": {"cpu": 12}})])
    for cohorts, most in (((), 0), ((pool,), 12)):
        story = stage(kq.ResourceFlavor("default"), queue, *cohorts)
        story.submit("a", 13)
        story.settle()
        assert len(story.running()) == most


def test_OBJ_16_a_workload_has_1_to_18_pod_sets_and_its_status_contains_the_admission(stage):
    sets = [kq.PodSet.of(f"set-{number}", requests={"cpu": 1}) for number in range(19)]
    assert validate(kq.Workload("w", pod_sets=sets))
    assert not validate(kq.Workload("w", pod_sets=sets[:18]))

    story = stage(kq.ResourceFlavor("default"), kq.ClusterQueue.of("a", {"default": {"cpu": 9}}))
    story.submit("a", 1, name="job", pods=3)
    story.settle()
    assert story.scheduler.workload("job").status.admission == kq.objects.Admission(
        "a", (kq.objects.PodSetAssignment("main", {"cpu": "default"}, {"cpu": "3"}, 3),)
    )


def test_OBJ_17_the_priority_class_of_a_job_wins_over_that_of_its_pods():
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "j",
            "labels": {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/priority-class": "sample"},
        },
        "spec": {"template": {"spec": {"priorityClassName": "pods", "containers": [{"name": "c"}]}}},
    }
    classes = [kq.WorkloadPriorityClass("sample", value=10000), kq.objects.PriorityClass("pods", value=5)]

    assert kq.jobs.to_workload(job, priority_classes=classes).priority == 10000
    del job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"]
    assert kq.jobs.to_workload(job, priority_classes=classes).priority == 5


def test_OBJ_21_a_configuration_file_sets_the_policies(manifest):
    assert manifest("003/classical").configuration.fair_sharing is None
    assert manifest("003/fair-sharing").configuration.fair_sharing == kq.FairSharingConfig()


def test_OBJ_22_an_unknown_feature_gate_is_rejected_and_LendingLimit_is_unknown_now():
    kq.Cluster(configuration=kq.Configuration(feature_gates={"PrioritySortingWithinCohort": False}))
    for gate in ("LendingLimit", "NoSuchGate"):
        with pytest.raises(kq.errors.InvalidSpecError, match=gate):
            kq.Cluster(configuration=kq.Configuration(feature_gates={gate: True}))


_MANY = """
apiVersion: v1
kind: List
items:
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {}}
--- # nothing but a comment
---
apiVersion: v1
kind: Service
metadata: {name: web}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {generateName: train-, namespace: default}
spec:
  podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}], restartPolicy: Never}}}]
"""


def test_OBJ_25_lists_and_comments_are_accepted_and_irrelevant_kinds_are_ignored():
    found = kq.manifest.load(_MANY)
    assert found.resource_flavors == (kq.ResourceFlavor("default"),)
    assert found.workloads[0].name.startswith("train-")
    notes = [str(note) for note in found.notes]
    assert any('Deployment "web": does not bear on admission; skipped' in note for note in notes)
    assert any('Service "web": does not bear on admission; skipped' in note for note in notes)


def test_OBJ_26_an_undeclared_namespace_has_the_label_of_its_name(stage):
    for name, running in (("default", ["job"]), ("other", [])):
        selector = kq.objects.LabelSelector(match_labels={"kubernetes.io/metadata.name": name})
        queue = kq.ClusterQueue.of("a", {"default": {"cpu": 9}}, namespace_selector=selector)
        story = stage(kq.ResourceFlavor("default"), queue)
        story.submit("a", 1, name="job")
        story.settle()
        assert story.running() == running


def _queue(*groups, cohort="c", **fields):
    return kq.ClusterQueue("q", resource_groups=groups, cohort_name=cohort, **fields)


def _flavors(count, resource="cpu", start=0):
    return kq.ResourceGroup.of({f"f{number}": {resource: 1} for number in range(start, start + count)})


_ONE = kq.ResourceGroup.of({"f": {"cpu": 1}})


def _quota(nominal=1, **limits):
    return kq.ResourceGroup.of({"f": {"cpu": kq.Quota(nominal, **limits)}})


def _resources(*names):
    flavor = kq.FlavorQuotas("f", tuple(kq.ResourceQuota(name, 1) for name in names))
    return kq.ResourceGroup(("cpu", "memory"), (flavor,))


_BORROWS = kq.Preemption(borrow_within_cohort=kq.objects.BorrowWithinCohort("LowerPriority"))
_GROUP = "spec.resourceGroups[0]"
_CELL = f"{_GROUP}.flavors[0].resources[0]"


@pytest.mark.parametrize(
    ("queue", "problem"),
    [
        (_queue(*(_flavors(1, f"r{n}", n) for n in range(17))), "spec.resourceGroups: has 17 items; at most 16"),
        (_queue(_flavors(65)), f"{_GROUP}.flavors: has 65 items; at most 64"),
        (_queue(*(_flavors(64, f"r{n}", n * 64) for n in range(5))), "spec.resourceGroups: have 320 flavors in all"),
        (
            _queue(kq.ResourceGroup.of({"f": {f"r{n}": 1 for n in range(65)}})),
            f"{_GROUP}.coveredResources: has 65 items; at most 64",
        ),
        (
            _queue(*(kq.ResourceGroup.of({f"f{g}": {f"r{g}-{n}": 1 for n in range(64)}}) for g in range(5))),
            "spec.resourceGroups: have 320 covered resources in all; at most 256",
        ),
        (
            _queue(kq.ResourceGroup.of({f"f{n}": {f"r{m}": 1 for m in range(33)} for n in range(16)})),
            f"{_GROUP}: has 528 pairs of flavor and resource; at most 512",
        ),
        (_queue(_resources("cpu")), f"{_GROUP}.flavors[0].resources: are 1; there must be one for each of the 2"),
        (_queue(_resources("memory", "cpu")), f'{_CELL}.name: is "memory"; it must be "cpu"'),
        (
            _queue(_ONE, kq.ResourceGroup.of({"g": {"cpu": 1}})),
            'spec.resourceGroups[1].coveredResources[0]: resource "cpu" occurs twice',
        ),
        (
            _queue(_ONE, kq.ResourceGroup.of({"f": {"memory": 1}})),
            'spec.resourceGroups[1].flavors[0].name: flavor "f" occurs twice',
        ),
        (_queue(_quota(-1)), f"{_CELL}.nominalQuota: is -1; it must be 0 or more"),
        (_queue(_quota(borrowing_limit=-1)), f"{_CELL}.borrowingLimit: is -1; it must be 0 or more"),
        (_queue(_quota(borrowing_limit=1), cohort=None), f"{_CELL}.borrowingLimit: is 1; there must be none without a"),
        (_queue(_quota(lending_limit=2)), f"{_CELL}.lendingLimit: is 2; it must be at most the nominalQuota, 1"),
        (_queue(_quota(lending_limit=-1)), f"{_CELL}.lendingLimit: is -1; it must be 0 or more"),
        (_queue(_quota(lending_limit=1), cohort=None), f"{_CELL}.lendingLimit: is 1; there must be none without a"),
        (_queue(_ONE, preemption=_BORROWS), "spec.preemption: has borrowWithinCohort.policy LowerPriority with"),
        (
            _queue(_ONE, flavor_fungibility=kq.objects.FlavorFungibility(preference="PreemptionOverBorrowing")),
            "spec.flavorFungibility.preference: is PreemptionOverBorrowing; it needs",
        ),
    ],
)
def test_OBJ_23_invalid_cluster_queues_are_rejected(queue, problem):
    found = list(map(str, validate(queue)))

    assert any(text.startswith(problem) for text in found), found


@pytest.mark.parametrize(
    "queue",
    [
        _queue(*(_flavors(16, f"r{n}", n * 16) for n in range(16))),
        _queue(_flavors(64)),
        _queue(kq.ResourceGroup.of({f"f{n}": {f"r{m}": 1 for m in range(32)} for n in range(16)})),
        _queue(_resources("cpu", "memory")),
        _queue(_quota(borrowing_limit=0, lending_limit=1)),
        _queue(
            _ONE, preemption=kq.Preemption("Any", borrow_within_cohort=kq.objects.BorrowWithinCohort("LowerPriority"))
        ),
        _queue(
            _ONE,
            flavor_fungibility=kq.objects.FlavorFungibility(
                "TryNextFlavor", "TryNextFlavor", "PreemptionOverBorrowing"
            ),
        ),
    ],
)
def test_OBJ_23_extreme_valid_cluster_queues_are_accepted(queue):
    assert not validate(queue)


def test_OBJ_23_T_07_field_paths_are_those_of_the_api():
    queue = _queue(kq.ResourceGroup.of({"f": {"cpu": kq.Quota(1, lending_limit=2)}}))

    assert [problem.field for problem in validate(queue)] == [
        "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit"
    ]


def test_OBJ_23_a_cohort_may_lend_more_than_its_quota():
    group = kq.ResourceGroup.of({"f": {"cpu": kq.Quota(1, lending_limit=2)}})

    assert not validate(kq.Cohort("c", parent_name="org", resource_groups=[group]))


@given(st.integers(0, 10**6), st.none() | st.integers(0, 10**6))
def test_OBJ_29_objects_built_in_python_have_the_same_fields(nominal, borrowing):
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": kq.Quota(nominal, borrowing)}}, cohort_name="c")

    assert kq.manifest.from_dict(kq.manifest.to_dict(queue)) == queue
