"""Jobs that Kueue rejects, ignores or admits as single pods."""

import copy

import pytest

import kueuepy as kq
from job_manifests import example, minimal_job
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import ManifestError
from kueuepy.jobs import Unmanaged, to_workload, to_workloads, unmanaged
from kueuepy.lint import lint
from kueuepy.manifest.text.writing import yaml_text
from kueuepy.objects import Configuration, LocalQueue

QUEUE = "kueue.x-k8s.io/queue-name"
MIN = "kueue.x-k8s.io/job-min-parallelism"
SLICES = {
    "kueue.x-k8s.io/podset-required-topology": "block",
    "kueue.x-k8s.io/podset-slice-required-topology": "rack",
    "kueue.x-k8s.io/podset-slice-size": "2",
}
DEFAULT_QUEUE = LocalQueue("default", namespace="team-a", cluster_queue="c")


def deployment(*, labels=None, pod_labels=None, pod_annotations=None, owner=None):
    metadata = {"name": "web", "namespace": "team-a", "uid": "uid-web", "labels": labels or {}}
    if owner is not None:
        reference = {key: owner[key] for key in ("apiVersion", "kind")}
        reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
        metadata["ownerReferences"] = [reference | {"controller": True}]
    template = {"metadata": {"labels": {"app": "x"} | (pod_labels or {}), "annotations": pod_annotations or {}}}
    template["spec"] = minimal_job()["spec"]["template"]["spec"]
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def pod(name="p", *, labels=None, annotations=None):
    metadata = {"name": name, "namespace": "team-a", "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": minimal_job()["spec"]["template"]["spec"]}


def jobset():
    metadata = {"name": "owner", "namespace": "team-a", "uid": "uid-owner"}
    spec = {"replicatedJobs": [{"name": "r", "template": {"spec": minimal_job()["spec"]}}]}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def test_the_pods_of_a_deployment_are_managed_by_a_queue_name_on_the_template_alone():
    found = to_workloads([deployment(pod_labels={QUEUE: "q"})])
    assert [workload.queue_name for workload in found] == ["q", "q"]
    assert to_workloads([deployment()]) == ()


def test_pods_of_a_deployment_may_form_a_group():
    group = {"kueue.x-k8s.io/pod-group-name": "g"}
    total = {"kueue.x-k8s.io/pod-group-total-count": "2"}
    manifest = deployment(labels={QUEUE: "q"}, pod_labels=group, pod_annotations=total)
    (workload,) = to_workloads([manifest])
    assert (workload.name, [one.count for one in workload.pod_sets]) == ("g", [2])
    assert to_workload(manifest).name == "g"


def test_topology_slices_of_single_pods_may_exceed_one_pod():
    assert len(to_workloads([deployment(labels={QUEUE: "q"}, pod_annotations=SLICES)])) == 2
    assert (
        to_workload(pod(labels={QUEUE: "q"}, annotations=SLICES)).pod_sets[0].topology_request["podSetSliceSize"] == 2
    )
    with pytest.raises(InvalidSpecError, match="it must not be greater than the pod set's count, 1"):
        to_workload(minimal_job(pod_annotations=SLICES, parallelism=1))


def test_pods_of_an_owner_without_a_queue_use_the_default_queue():
    owner = jobset()
    child = deployment(owner=owner)
    # The JobSet itself has another namespace here, so that it gets no queue by default.
    queues = [w.queue_name for w in to_workloads([child], related=[owner], local_queues=[DEFAULT_QUEUE])]
    assert queues == ["default", "default"]


def test_a_statefulset_with_a_queue_name_is_managed_in_every_namespace():
    manifest, _ = example("statefulset")
    manifest["metadata"]["namespace"] = "kube-system"
    assert len(to_workloads([manifest])) == 1
    del manifest["metadata"]["labels"]
    assert to_workloads([manifest], config=Configuration(manage_jobs_without_queue_name=True)) == ()


def test_a_pod_suspended_by_its_owner_needs_the_managed_label():
    marked = pod(labels={QUEUE: "q"}, annotations={"kueue.x-k8s.io/pod-suspending-parent": "deployment"})
    ((_, why),) = unmanaged([marked])
    assert why is Unmanaged.MARK
    marked["metadata"]["labels"]["kueue.x-k8s.io/managed"] = "true"
    assert len(to_workloads([marked])) == 1


@pytest.mark.parametrize(
    "name", ["job", "jobset", "tfjob", "rayjob", "statefulset", "leaderworkerset", "pod", "appwrapper"]
)
def test_an_empty_queue_name_is_rejected(name):
    manifest, related = example(name)
    manifest["metadata"]["labels"] = {QUEUE: ""}
    with pytest.raises(InvalidSpecError, match="it must be a DNS subdomain"):
        to_workloads([manifest], related=related)


def test_kueues_webhooks_also_validate_unmanaged_jobs():
    job = minimal_job(labels={"kueue.x-k8s.io/max-exec-time-seconds": "1h"})
    del job["metadata"]["labels"][QUEUE]
    with pytest.raises(InvalidSpecError, match="it must be a whole number of seconds"):
        to_workloads([job])
    job["metadata"]["resourceVersion"] = "1"  # an object of a cluster was accepted when it was created
    assert to_workloads([job]) == ()


def test_a_job_that_is_being_deleted_gets_no_workload():
    job = minimal_job()
    job["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    ((_, why),) = unmanaged([job])
    assert why is Unmanaged.DELETED


@pytest.mark.parametrize(("least", "expected"), [("4294967298", 2), ("2", 2)])
def test_the_minimum_parallelism_is_a_32_bit_integer(least, expected):
    assert to_workload(minimal_job(annotations={MIN: least}, parallelism=4)).pod_sets[0].min_count == expected


def live_job():
    """A Job that runs with 1 of its 4 pods, as a cluster has it."""
    job = minimal_job(annotations={MIN: "1"}, parallelism=1, completions=4, suspend=False)
    job["metadata"] |= {"uid": "u", "resourceVersion": "7"}
    return job | {"status": {"active": 1, "startTime": "2026-01-01T00:00:00Z"}}


def test_a_partially_admitted_job_is_valid():
    assert to_workload(live_job()).pod_sets[0].count == 1
    new = live_job()
    del new["metadata"]["resourceVersion"], new["status"]
    with pytest.raises(InvalidSpecError, match="is 1; it must be greater than 0 and less than the number of pods, 1"):
        to_workload(new)
    assert isinstance(list(lint(kq.load(yaml_text([live_job()])))), list)


def test_an_unknown_field_of_a_job_is_rejected_like_in_kubectl():
    job = minimal_job()
    job["spec"] |= {"paralellism": 4, "podFailurePolicy": {"rules": [{"action": "Ignore", "onExit": {}}]}}
    with pytest.raises(ManifestError) as refused:
        kq.load(yaml_text([job]))
    problems = [str(problem) for _, problem in refused.value.problems]
    assert problems == [
        'spec.paralellism: unknown field; did you mean "parallelism"?',
        'spec.podFailurePolicy.rules[0].onExit: unknown field; did you mean "onExitCodes"?',
    ]
    read = kq.load(yaml_text([job]), strict=False)
    assert len(read.jobs) == 1
    assert ["unknown field" in str(note) for note in read.notes] == [True, True]
    stored = copy.deepcopy(job)
    stored["metadata"]["resourceVersion"] = "7"
    assert len(kq.load(yaml_text([stored])).jobs) == 1


def test_a_deployment_whose_template_names_a_queue_is_read():
    assert len(kq.load(yaml_text([deployment(pod_labels={QUEUE: "q"})])).jobs) == 1
    assert kq.load(yaml_text([deployment()])).jobs == ()
