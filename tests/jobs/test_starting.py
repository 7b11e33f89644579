"""Suspended and started jobs: taints, node selectors, partial admission and errors."""

import msgspec
import pytest

from kueuepy.errors import InvalidSpecError, NotFoundError, StateError, UnsupportedError
from kueuepy.jobs import apply_patch, start_patch, stop_patch, suspend, to_workload, to_workloads
from kueuepy.objects import Configuration, PodSetAssignment, ResourceFlavor, Taint, Toleration

QUEUE = "kueue.x-k8s.io/queue-name"


def test_Q_21_a_job_is_suspended_even_if_its_manifest_says_otherwise(job):
    assert suspend(job(suspend=False))["spec"]["suspend"] is True
    assert suspend(job())["spec"]["suspend"] is True


def test_FL_04_and_FL_08_a_taint_adds_no_toleration_and_a_flavor_adds_its_own(job, admit):
    tainted = ResourceFlavor("spot", node_labels={"a": "b"}, node_taints=(Taint("spot", "true", "NoSchedule"),))
    held = suspend(job())
    workload = admit(to_workload(held))
    assert "tolerations" not in str(start_patch(held, workload, [tainted]))
    tolerating = msgspec.structs.replace(tainted, tolerations=(Toleration("spot", "Equal", "true", "NoSchedule"),))
    spec = start_patch(held, workload, [tolerating])["spec"]["template"]["spec"]
    assert spec["tolerations"] == [{"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}]


def test_FL_07_an_existing_node_selector_is_kept_and_a_conflicting_one_is_rejected(job, admit, flavors):
    held = suspend(job(pod={"nodeSelector": {"instance-type": "spot", "zone": "a"}}))
    started = apply_patch(held, start_patch(held, admit(to_workload(held)), flavors))
    assert started["spec"]["template"]["spec"]["nodeSelector"] == {"instance-type": "spot", "zone": "a"}
    with pytest.raises(
        InvalidSpecError,
        match=r'^Job "team-a/train": spec.template.spec.nodeSelector.instance-type: is "spot", but the admission sets',
    ):
        start_patch(held, admit(to_workload(held), "on-demand"), flavors)


def test_partial_admission_runs_as_many_pods_as_were_admitted(example, admit, flavors):
    held = suspend(example("job-partial"))
    workload = to_workload(held)
    assert workload.pod_sets[0].min_count == 5
    fewer = (PodSetAssignment("main", flavors={"cpu": "spot"}, count=9),)
    started = apply_patch(held, start_patch(held, admit(workload, assignments=fewer), flavors))
    assert started["spec"]["parallelism"] == 9
    assert started["spec"]["completions"] == 20
    assert apply_patch(started, stop_patch(started, workload)) == held


def test_an_elastic_job_is_gated_and_named_after_its_generation(example):
    manifest = example("job-elastic")
    workload = to_workload(manifest)
    gates = [{"name": "kueue.x-k8s.io/elastic-job"}]
    assert workload.pod_sets[0].template["spec"]["schedulingGates"] == gates
    assert workload.annotations == {
        "kueue.x-k8s.io/elastic-job": "true",
        "kueue.x-k8s.io/workload-slice-name": workload.name,
    }
    manifest["metadata"]["generation"] = 2
    assert to_workload(manifest).name != workload.name
    manifest["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1"
    with pytest.raises(InvalidSpecError, match="is given for an elastic Job"):
        to_workload(manifest)


def test_only_an_admitted_workload_starts(job, flavors, admit):
    with pytest.raises(StateError, match=r'^Workload "team-a/job-train-.*": has no admission'):
        start_patch(suspend(job()), to_workload(job()), flavors)
    with pytest.raises(NotFoundError, match='"gone" is assigned, but names no ResourceFlavor'):
        start_patch(suspend(job()), admit(to_workload(job()), "gone"), flavors)


def test_errors_name_kind_object_and_field(job):
    with pytest.raises(InvalidSpecError, match=r'^Job "team-a/train": spec.parallelism: is \'three\'; it must be'):
        to_workload(job(parallelism="three"))
    with pytest.raises(UnsupportedError, match=r'^kind: "Jbo" is not a job kind .*; did you mean "Job"'):
        to_workload(job() | {"kind": "Jbo"})
    with pytest.raises(UnsupportedError, match=r'^Job: apiVersion: is "batch/v1beta1"; it must be batch/v1$'):
        to_workload(job() | {"apiVersion": "batch/v1beta1"})
    with pytest.raises(InvalidSpecError, match=r"Deployment .* makes 2 Workloads; .* use to_workloads"):
        to_workload(deployment(2))


def deployment(replicas):
    template = {"spec": {"containers": []}}
    metadata = {"name": "web", "labels": {QUEUE: "serving"}}
    spec = {"replicas": replicas, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def test_jobs_without_a_queue_name_are_managed_only_by_configuration(job):
    plain = job()
    plain["metadata"]["labels"] = {}
    assert to_workloads([plain]) == ()
    all_jobs = Configuration(manage_jobs_without_queue_name=True)
    assert [w.queue_name for w in to_workloads([plain], config=all_jobs)] == [""]
    plain["metadata"]["namespace"] = "kube-system"
    assert to_workloads([plain], config=all_jobs) == ()
