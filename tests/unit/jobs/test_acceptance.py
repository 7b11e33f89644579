"""The acceptance tests of job integrations: section 11, and what else a job's patch must be."""

import msgspec
import pytest

from kueuepy.errors import InvalidSpecError, NotFoundError, StateError, UnsupportedError
from kueuepy.jobs import (
    BaseJob,
    PodSetPath,
    Slot,
    adapter_for,
    apply_patch,
    from_row,
    path_kind,
    register,
    start_patch,
    stop_patch,
    suspend,
    to_workload,
    to_workloads,
)
from kueuepy.objects import (
    Configuration,
    PodSetAssignment,
    PriorityClassRef,
    ResourceFlavor,
    Taint,
    Toleration,
    WorkloadPriorityClass,
)

QUEUE = "kueue.x-k8s.io/queue-name"


def counts(workload):
    return {pod_set.name: pod_set.count for pod_set in workload.pod_sets}


def test_IN_01_a_job_is_one_pod_set_of_its_parallelism_or_of_fewer_completions(example, job):
    blog = to_workload(example("job"))
    assert counts(blog) == {"main": 3}
    assert blog.pod_sets[0].template["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "1"
    assert counts(to_workload(job(parallelism=5, completions=3))) == {"main": 3}
    assert counts(to_workload(job(parallelism=3))) == {"main": 3}
    assert counts(to_workload(job())) == {"main": 1}


def test_IN_02_a_job_starts_with_one_patch_of_suspension_and_node_selector(example, admit, flavors):
    held = suspend(example("job"))
    change = start_patch(held, admit(to_workload(held), "on-demand"), flavors, marks=False)
    assert change == {"spec": {"suspend": False, "template": {"spec": {"nodeSelector": {"instance-type": "ondemand"}}}}}
    started = apply_patch(held, change)
    assert apply_patch(started, stop_patch(started, to_workload(held))) == held


def test_IN_02_pods_are_marked_with_their_pod_set_workload_and_queues(example, admit, flavors):
    held = suspend(example("job"))
    workload = to_workload(held)
    metadata = start_patch(held, admit(workload), flavors)["spec"]["template"]["metadata"]
    assert metadata == {
        "labels": {
            "kueue.x-k8s.io/podset": "main",
            "kueue.x-k8s.io/local-queue-name": "training",
            "kueue.x-k8s.io/cluster-queue-name": "cluster-total",
        },
        "annotations": {"kueue.x-k8s.io/workload": workload.name},
    }


def test_IN_03_a_kind_of_ones_own_is_described_by_its_paths(admit, flavors):
    sweep = path_kind("Sweep", "example.com/v1", [PodSetPath("trial", "spec.template", count="spec.size")])
    register(sweep, "Sweep", "example.com/v1")
    manifest = {
        "apiVersion": "example.com/v1",
        "kind": "Sweep",
        "metadata": {"name": "s", "labels": {QUEUE: "training"}},
        "spec": {"size": 4, "suspend": False, "template": {"spec": {"containers": []}}},
    }
    workload = to_workload(manifest)
    assert counts(workload) == {"trial": 4}
    held = suspend(manifest)
    assert held["spec"]["suspend"] is True
    change = start_patch(held, admit(workload), flavors, marks=False)
    assert change["spec"]["suspend"] is False
    assert change["spec"]["template"]["spec"]["nodeSelector"] == {"instance-type": "spot"}


def test_IN_03_a_kind_of_ones_own_is_a_class():
    class Batch(BaseJob):
        kind = "Batch"
        api_versions = ("example.com/v1",)

        def slots(self, root):
            return [Slot("main", root.section("spec").count("size"), root.walk("spec.template"))]

    register(Batch, "Batch", "example.com/v1")
    manifest = {
        "apiVersion": "example.com/v1",
        "kind": "Batch",
        "metadata": {"name": "b"},
        "spec": {"size": 7, "template": {"spec": {}}},
    }
    assert counts(to_workload(manifest)) == {"main": 7}


def test_IN_04_a_jobset_has_a_pod_set_for_each_replicated_job(workloads):
    (workload,) = workloads("jobset")
    assert counts(workload) == {"leader": 1, "workers": 8}
    assert workload.pod_sets[1].topology_request == {
        "required": "cloud.example.com/rack",
        "podIndexLabel": "batch.kubernetes.io/job-completion-index",
        "subGroupIndexLabel": "jobset.sigs.k8s.io/job-index",
        "subGroupCount": 4,
    }


def test_IN_05_a_ray_cluster_is_a_head_and_its_groups_of_workers(workloads, example):
    assert counts(workloads("raycluster")[0]) == {"head": 1, "gpu": 12}
    cluster = example("raycluster")
    groups = cluster["spec"]["workerGroupSpecs"]
    cluster["spec"]["workerGroupSpecs"] = [groups[0] | {"groupName": f"g{i}"} for i in range(17)]
    assert len(to_workload(cluster).pod_sets) == 18
    cluster["spec"]["workerGroupSpecs"].append(groups[0])
    with pytest.raises(InvalidSpecError, match="has 18 groups; it must have at most 17"):
        to_workload(cluster)


def test_IN_05_the_autoscaler_counts_in_the_head(example):
    cluster = example("raycluster")
    cluster["spec"]["enableInTreeAutoscaling"] = True
    with pytest.raises(InvalidSpecError, match="enableInTreeAutoscaling"):
        to_workload(cluster)
    cluster["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    containers = to_workload(cluster).pod_sets[0].template["spec"]["containers"]
    assert [c["name"] for c in containers] == ["ray-head", "autoscaler"]
    assert containers[1]["resources"]["requests"] == {"cpu": "500m", "memory": "512Mi"}


def test_IN_06_a_ray_job_also_has_its_submitter(workloads, example):
    assert counts(workloads("rayjob")[0]) == {"head": 1, "small": 2, "large": 1, "submitter": 1}
    beside = example("rayjob")
    beside["spec"]["submissionMode"] = "SidecarMode"
    pod_sets = to_workload(beside).pod_sets
    assert [p.name for p in pod_sets] == ["head", "small", "large"]
    assert pod_sets[0].template["spec"]["containers"][1]["resources"]["requests"] == {"cpu": "500m", "memory": "200Mi"}
    assert counts(workloads("rayservice")[0]) == {"head": 1, "replicas": 2}


def test_IN_07_pytorch_xgboost_and_paddle_have_masters_and_workers(workloads):
    assert counts(workloads("pytorchjob")[0]) == {"master": 1, "worker": 4}
    assert counts(workloads("xgboostjob")[0]) == {"master": 1, "worker": 2}
    assert counts(workloads("paddlejob")[0]) == {"worker": 2}


def test_IN_08_tf_jax_and_mpi_have_the_types_of_their_kind(workloads):
    assert list(counts(workloads("tfjob")[0]).items()) == [("ps", 2), ("worker", 4)]
    assert counts(workloads("jaxjob")[0]) == {"worker": 3}
    assert list(counts(workloads("mpijob")[0]).items()) == [("launcher", 1), ("worker", 4)]


def test_IN_09_a_train_job_becomes_the_jobset_of_its_runtime(example):
    manifest, related = example("trainjob", related=True)
    assert counts(to_workload(manifest, related=related)) == {"dataset-initializer": 1, "node": 4}
    with pytest.raises(NotFoundError, match='"torch-distributed" names no ClusterTrainingRuntime'):
        to_workload(manifest)


def test_IN_10_an_app_wrapper_has_the_pod_sets_of_its_components(workloads):
    assert counts(workloads("appwrapper")[0]) == {"pipeline-0": 2, "pipeline-1": 3}


def test_IN_10_a_spark_application_is_a_driver_and_executors(workloads):
    (workload,) = workloads("sparkapplication")
    assert counts(workload) == {"driver": 1, "executor": 3}
    resources = workload.pod_sets[1].template["spec"]["containers"][0]["resources"]
    assert resources == {"requests": {"cpu": "2", "memory": "4Gi"}, "limits": {"nvidia.com/gpu": "1"}}


def test_IN_11_a_pod_is_a_workload_and_a_group_of_pods_is_one(workloads):
    assert counts(workloads("pod")[0]) == {"main": 1}
    (group,) = workloads("podgroup")
    assert group.name == "train"
    assert group.annotations == {"kueue.x-k8s.io/is-group-workload": "true"}
    assert counts(group) == {"4ebdd4a6": 2, "dc85db45": 1}


def test_IN_12_serving_objects(workloads):
    assert [counts(w) for w in workloads("deployment")] == [{"main": 1}] * 3
    assert [counts(w) for w in workloads("statefulset")] == [{"main": 3}]
    assert [counts(w) for w in workloads("leaderworkerset")] == [{"leader": 1, "worker": 4}] * 2


def test_IN_13_a_cron_job_makes_jobs(example, workloads):
    (workload,) = workloads("cronjob")
    assert counts(workload) == {"main": 2}
    assert workload.queue_name == "reports"
    made = adapter_for(example("cronjob")).job(1_714_530_600 * 10**9)
    assert made["metadata"]["name"] == "nightly-28575510"
    assert made["metadata"]["labels"] == {QUEUE: "reports"}


def test_IN_14_the_labels_of_users(job):
    label = {
        "kueue.x-k8s.io/priority-class": "high",
        "kueue.x-k8s.io/max-exec-time-seconds": "3600",
        "kueue.x-k8s.io/prebuilt-workload-name": "made-before",
    }
    workload = to_workload(job(labels=label), priority_classes=[WorkloadPriorityClass("high", value=1000)])
    assert workload.queue_name == "training"
    assert workload.priority == 1000
    assert workload.priority_class_ref == PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "high")
    assert workload.maximum_execution_time_seconds == 3600
    assert workload.name == "made-before"


def test_IN_14_the_annotation_of_the_first_versions_counts_only_on_request(job):
    old = job(labels={QUEUE: ""}, annotations={QUEUE: "old"})
    assert to_workload(old | {"metadata": old["metadata"] | {"labels": {}}}).queue_name == ""
    old["metadata"]["labels"] = {}
    assert to_workload(old, queue_name_annotation=True).queue_name == "old"
    assert to_workload(job(annotations={QUEUE: "old"}), queue_name_annotation=True).queue_name == "training"


def test_IN_15_a_row_of_a_table_is_a_workload():
    row = {"name": "train", "queue": "vision", "cpu": 8, "mem": "64Gi", "gpu": 2, "pods": 4}
    submission = from_row(row | {"submit": 1.5, "duration": 3600, "priority": 10})
    workload = submission.workload
    assert (workload.name, workload.queue_name, workload.priority) == ("train", "vision", 10)
    assert counts(workload) == {"main": 4}
    requests = workload.pod_sets[0].template["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 2}
    assert workload.creation_timestamp == 1_500_000_000
    assert submission.duration == 3600 * 10**9


def test_Q_21_a_job_is_suspended_whatever_its_user_wrote(job):
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


def test_FL_07_a_node_selector_that_is_there_stays_and_one_that_differs_is_refused(job, admit, flavors):
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
    with pytest.raises(UnsupportedError, match=r'^kind: "Jbo" is no job that Kueue knows; did you mean "Job"'):
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


def test_jobs_without_a_queue_name_count_only_if_all_are_managed(job):
    plain = job()
    plain["metadata"]["labels"] = {}
    assert to_workloads([plain]) == ()
    all_jobs = Configuration(manage_jobs_without_queue_name=True)
    assert [w.queue_name for w in to_workloads([plain], config=all_jobs)] == [""]
    plain["metadata"]["namespace"] = "kube-system"
    assert to_workloads([plain], config=all_jobs) == ()
