"""Conversion of admissions to pod set info."""

import msgspec
import pytest

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import pod_set_infos, start_patch, suspend, to_workload
from kueuepy.objects import AdmissionCheckState, Configuration, PodSetAssignment, ResourceFlavor, Toleration

P = "kueue.x-k8s.io/"
FLAVORS = (
    ResourceFlavor("cpus", node_labels={"cpu": "x", "zone": "a"}, tolerations=(Toleration("t", "Exists"),)),
    ResourceFlavor("gpus", node_labels={"gpu": "y", "zone": "b"}, tolerations=(Toleration("t", "Exists"),)),
)


def updates(*fields, name="prov"):
    states = ({"name": "main"} | field for field in fields)
    return AdmissionCheckState(name, "Ready", pod_set_updates=tuple(states))


@pytest.fixture
def workload(job):
    return to_workload(job())


def test_labels_and_tolerations_of_all_flavors_are_merged(workload, admit):
    assignment = PodSetAssignment("main", flavors={"nvidia.com/gpu": "gpus", "memory": "cpus", "cpu": "cpus"})
    (info,) = pod_set_infos(admit(workload, assignments=(assignment,)), FLAVORS)
    assert info.node_selector == {"cpu": "x", "gpu": "y", "zone": "b"}
    assert info.tolerations == ({"key": "t", "operator": "Exists"},)
    assert info.count == 1


def test_checks_add_labels_annotations_selectors_and_tolerations(workload, admit):
    given = {
        "labels": {"l": "1"},
        "annotations": {"a": "2"},
        "nodeSelector": {"n": "3"},
        "tolerations": [{"key": "k", "operator": "Exists"}],
    }
    checks = (updates({"name": "other", "labels": {"l": "0"}}, given), updates({"labels": {"l": "1"}}, name="second"))
    (info,) = pod_set_infos(admit(workload, "cpus", admission_checks=checks), FLAVORS, marks=False)
    assert (info.labels, info.annotations) == ({"l": "1"}, {"a": "2"})
    assert info.node_selector["n"] == "3"
    assert info.tolerations[-1] == {"key": "k", "operator": "Exists"}


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ({"nodeSelector": {"zone": "c"}}, {}, 'check "prov": podSets.main..spec.nodeSelector.zone: is "a"'),
        ({"labels": {"l": "1"}}, {"labels": {"l": "2"}}, 'check "late": podSets.main..metadata.labels.l: is "1"'),
        ({"labels": {f"{P}podset": "other"}}, {}, 'is "main", but the admission sets "other"'),
        ({"labels": {"l": 1}}, {}, "is 1; it must be a string"),
    ],
)
def test_checks_that_conflict_with_flavors_or_each_other_are_rejected(workload, admit, first, second, problem):
    checks = (updates(first), updates(second, name="late"))
    with pytest.raises(InvalidSpecError, match=problem):
        pod_set_infos(admit(workload, "cpus", admission_checks=checks), FLAVORS)


def test_feature_gates_control_the_added_labels(workload, admit, flavors):
    off = Configuration(feature_gates={"AssignQueueLabelsForPods": False, "TopologyAwareScheduling": False})
    (info,) = pod_set_infos(admit(workload), flavors, config=off)
    assert info.labels == {f"{P}podset": "main"}
    assert info.annotations == {}


def test_a_cluster_queue_name_invalid_as_a_label_is_not_added(workload, admit, flavors):
    admitted = admit(workload)
    admission = msgspec.structs.replace(admitted.status.admission, cluster_queue="a.b")
    status = msgspec.structs.replace(admitted.status, admission=admission)
    (info,) = pod_set_infos(msgspec.structs.replace(admitted, status=status), flavors)
    assert info.labels == {f"{P}podset": "main", f"{P}local-queue-name": "training"}


def test_an_implicit_topology_request_is_marked_as_unconstrained(workload, admit, flavors):
    place = (PodSetAssignment("main", topology_assignment={"levels": ["rack"], "slices": []}),)
    (info,) = pod_set_infos(admit(workload, assignments=place), flavors)
    assert info.scheduling_gates == (f"{P}topology",)
    assert info.annotations[f"{P}podset-unconstrained-topology"] == "true"
    asked = msgspec.structs.replace(workload.pod_sets[0], topology_request={"required": "rack"})
    wanted = msgspec.structs.replace(workload, pod_sets=(asked,))
    (info,) = pod_set_infos(admit(wanted, assignments=place), flavors)
    assert f"{P}podset-unconstrained-topology" not in info.annotations


def test_an_elastic_job_may_change_the_names_of_its_workload_and_slice(example, admit, flavors):
    held = suspend(example("job-elastic"))
    workload = admit(to_workload(held))
    stale = {f"{P}workload": "old", f"{P}workload-slice-name": "old"}
    held["spec"]["template"]["metadata"] = {"annotations": stale}
    annotations = start_patch(held, workload, flavors)["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {f"{P}workload": workload.name, f"{P}workload-slice-name": workload.name}


def test_other_jobs_may_not(job, admit, flavors):
    held = suspend(job(pod_annotations={f"{P}workload": "old"}))
    with pytest.raises(InvalidSpecError, match='is "old", but the admission sets "job-train'):
        start_patch(held, admit(to_workload(held)), flavors)


def test_an_admission_has_as_many_pod_sets_as_its_workload(workload, admit, flavors):
    with pytest.raises(InvalidSpecError, match="has 0 pod sets; it must have 1"):
        pod_set_infos(admit(workload, assignments=()), flavors)


def test_an_admission_has_as_many_pod_sets_as_the_job(example, workloads, admit, flavors):
    admitted = admit(workloads("jobset")[0])
    with pytest.raises(InvalidSpecError, match="has 1 pod sets, but 2 are admitted"):
        start_patch(suspend(example("job")), admitted, flavors)
