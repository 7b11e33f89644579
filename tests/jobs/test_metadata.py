"""Names, labels and annotations: generated values and errors."""

import pytest

from kueuepy.errors import DuplicateError, InvalidSpecError
from kueuepy.jobs import BaseJob, Job, PodSetPath, adapter_for, path_kind, register, to_workload, workload_name
from kueuepy.objects import Configuration

P = "kueue.x-k8s.io/"


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (("Job", "batch", "sample", "uid-1"), "job-sample-4502e"),
        (("Job", "batch", "sample", "uid-1", "2"), "job-sample-65104"),
        (("JobSet", "jobset.x-k8s.io", "js", "u2"), "jobset-js-92a08"),
        (("LeaderWorkerSet", "leaderworkerset.x-k8s.io", "lws-0", "u3"), "leaderworkerset-lws-0-91516"),
        (("StatefulSet", "apps", "web", "u5"), "statefulset-web-13e8f"),
        (("Pod", "", "p", "u4"), "pod-p-4141c"),
    ],
)
def test_workload_names_equal_those_of_kueue(job, expected):
    assert workload_name(*job) == expected


def test_long_names_are_truncated():
    assert len(workload_name("Job", "batch", "n" * 300)) == 253
    assert len(workload_name("Job", "batch", "n" * 300, short=True)) == 63


def test_the_workload_of_a_job_has_its_name_and_uid(job):
    manifest = job()
    manifest["metadata"] |= {"name": "sample", "uid": "uid-1", "creationTimestamp": "1970-01-01T00:00:02Z"}
    workload = to_workload(manifest)
    assert workload.name == "job-sample-4502e"
    assert workload.labels == {f"{P}job-uid": "uid-1"}
    assert workload.creation_timestamp.timestamp() == 2
    short = Configuration(feature_gates={"ShortWorkloadNames": True})
    manifest["metadata"]["name"] = "n" * 100
    assert len(to_workload(manifest, config=short).name) == 63


def test_a_job_may_use_generate_name(example):
    assert to_workload(example("job")).name.startswith("job-sample-job-")
    manifest = example("job")
    manifest["metadata"] = {}
    with pytest.raises(InvalidSpecError, match=r"^Job: metadata.name: is missing; it must be given"):
        to_workload(manifest)


def test_annotations_copied_to_the_workload(job):
    given = {"provreq.kueue.x-k8s.io/a": "1", f"{P}admission-gated-by": "example.com/c", "other": "x"}
    workload = to_workload(job(annotations=given))
    assert workload.annotations == {"provreq.kueue.x-k8s.io/a": "1", f"{P}admission-gated-by": "example.com/c"}
    off = Configuration(feature_gates={"AdmissionGatedBy": False})
    assert to_workload(job(annotations=given), config=off).annotations == {"provreq.kueue.x-k8s.io/a": "1"}


@pytest.mark.parametrize(
    ("labels", "annotations", "problem"),
    [
        ({f"{P}queue-name": "My Queue"}, {}, 'queue-name"]: is "My Queue"; it must be a DNS subdomain'),
        ({f"{P}max-exec-time-seconds": "0"}, {}, 'is "0"; it must be a whole number of seconds'),
        ({f"{P}max-exec-time-seconds": "1h"}, {}, 'is "1h"; it must be a whole number of seconds'),
        ({}, {f"{P}prebuilt-workload-name": "A"}, 'is "A"; it must be a DNS subdomain'),
        ({}, {f"{P}admission-gated-by": "controller"}, 'has "controller"; a gate must be a name such as'),
        ({}, {f"{P}admission-gated-by": "a.b/c, a.b/c"}, "names a gate twice"),
        ({"x": 5}, {}, "metadata.labels.x: is 5, a number; it must be a string"),
    ],
)
def test_invalid_labels_and_annotations_are_rejected(job, labels, annotations, problem):
    with pytest.raises(InvalidSpecError, match=problem.replace("[", r"\[").replace("]", r"\]")):
        to_workload(job(labels=labels, annotations=annotations))


def test_only_some_kinds_may_be_elastic(example):
    manifest = example("pytorchjob")
    manifest["metadata"]["annotations"] = {f"{P}elastic-job": "true"}
    with pytest.raises(InvalidSpecError, match="is not supported for PyTorchJob"):
        to_workload(manifest)


def test_a_maximum_execution_time_beyond_kueues_range_is_ignored(job):
    assert to_workload(job(labels={f"{P}max-exec-time-seconds": str(2**31)})).maximum_execution_time_seconds is None


def test_a_prebuilt_workload_is_named_by_label_or_annotation(job):
    label, annotation = {f"{P}prebuilt-workload-name": "l"}, {f"{P}prebuilt-workload-name": "a"}
    assert to_workload(job(labels=label, annotations=annotation)).name == "a"
    off = Configuration(feature_gates={"WorkloadIdentifierAnnotations": False})
    assert to_workload(job(labels=label, annotations=annotation), config=off).name == "l"
    assert to_workload(job(annotations=annotation), config=off).name.startswith("job-train-")


def test_all_integrations_implement_the_protocol(example):
    for name in ("job", "cronjob", "podgroup", "statefulset"):
        assert isinstance(adapter_for(example(name)), Job)


def test_a_kind_is_registered_once():
    with pytest.raises(DuplicateError, match='kind "Job" of batch/v1: is registered already'):
        register(BaseJob, "Job", "batch/v1")
    with pytest.raises(InvalidSpecError, match="has no API version"):
        register(BaseJob, "Thing")


def test_a_kind_is_defined_by_field_paths():
    paths = [PodSetPath("boss", "spec.boss"), PodSetPath("hand", "spec.hands.template", count="spec.hands.number")]
    ends = {"succeeded": "Done", "failed": "Broken"}
    crew = path_kind("Crew", "example.com/v1", paths, suspend="spec.run.suspend", ready="Up", **ends)
    manifest = {"metadata": {"name": "c"}, "spec": {"hands": {"template": {"spec": {}}}}}
    assert [(p.name, p.count) for p in crew(manifest).pod_sets()] == [("hand", 1)]
    assert not crew(manifest).is_suspended()
    assert crew(manifest).suspended()["spec"]["run"] == {"suspend": True}
    done = {"conditions": [{"type": "Done", "status": "True", "message": "m"}]}
    assert crew(manifest | {"status": done}).finished() == ("m", True)
    broken = {"conditions": [{"type": "Done", "status": "False"}, {"type": "Broken", "status": "True"}]}
    assert crew(manifest | {"status": broken}).finished() == ("", False)
    assert crew(manifest | {"status": {"conditions": [{"type": "Up", "status": "True"}]}}).pods_ready()
    assert not crew(manifest).pods_ready()
    with pytest.raises(InvalidSpecError, match=r'it must be a path such as "spec.suspend"'):
        path_kind("Crew", "example.com/v1", paths, suspend="spec.paused")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({}, "spec.template: is missing; it must be given"),
        ({"template": []}, r"spec.template: is \[\]; it must be a mapping"),
        ({"template": {}, "parallelism": True}, "spec.parallelism: is True; it must be a whole number"),
        ({"template": {}, "completions": 2**31}, "it must be a whole number of 32 bits"),
        ({"template": {}, "completionMode": 1}, "spec.completionMode: is 1; it must be a string"),
    ],
)
def test_fields_have_their_types(job, spec, problem):
    equal = {f"{P}job-completions-equal-parallelism": "true"}
    with pytest.raises(InvalidSpecError, match=problem):
        to_workload(job(annotations=equal) | {"spec": spec})


def test_missing_status_paths_of_a_kind_mean_not_yet(job, example):
    deployment = adapter_for(example("deployment"))
    assert not deployment.is_suspended()
    assert deployment.start_patch(()) == deployment.stop_patch(()) == {}
    assert deployment.finished() is None
    assert not deployment.pods_ready()
    assert not adapter_for(job()).on_hold()
    assert adapter_for(example("pytorchjob")).reclaimable_pods() == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"spec": {"replicatedJobs": {}}}, r"spec.replicatedJobs: is \{\}; it must be a list"),
        ({"spec": {"replicatedJobs": [1]}}, r"spec.replicatedJobs\[0\]: is 1; it must be a mapping"),
        ({"spec": {"replicatedJobs": []}}, "has 0 pod sets; it must have 1 to 18"),
        ({"metadata": {"name": "j", "creationTimestamp": "then"}}, 'creationTimestamp: is "then"; it must be a time'),
        ({"metadata": None}, "JobSet: metadata: is missing"),
    ],
)
def test_invalid_manifests_are_rejected(example, change, problem):
    manifest = example("jobset")
    del manifest["metadata"]["labels"][f"{P}priority-class"]
    with pytest.raises(InvalidSpecError, match=problem):
        to_workload(manifest | change)


def test_a_manifest_with_nulls_equals_one_without(job):
    manifest = job()
    manifest["spec"] |= {"parallelism": None, "suspend": None}
    manifest["spec"]["template"] |= {"metadata": None}
    manifest["metadata"] |= {"creationTimestamp": None}
    assert to_workload(manifest) == to_workload(job())
