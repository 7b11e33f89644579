"""Every kind of job, from a typical manifest: pod sets, totals, start and stop (IN).

There are no recordings of Kueue for jobs. Each test names its sources in Kueue. The source for started pods is
`pkg/controller/jobframework/reconciler.go:getPodSetsInfoFromStatus`, and for restored pods
`pkg/podset/podset.go:RestorePodSpec`.
"""

import pytest

import kueuepy as kq
from job_manifests import CLUSTER, EXAMPLES, NAMES, example

from .kind import changed, show

RUNS = {"spec.suspend": False}
RUN_POLICY = {"spec.runPolicy.suspend": False}


def test_IN_01_IN_02_a_job_is_one_pod_set_and_starts_by_one_change():
    """`pkg/controller/jobs/job/job_controller.go:PodSets,podsCount,RunWithPodSetsInfo,Suspend,RestorePodSetsInfo`."""
    shown = show("job")
    assert shown.pod_sets == {"main": (3, {"cpu": "1", "memory": "200Mi"})}
    assert shown.totals == {"cpu": 3, "memory": 600}
    # The pods tolerate spot nodes already; the flavor's own toleration comes after that.
    assert (shown.places, shown.rest) == ({"spec.template": "main"}, RUNS)


def test_IN_04_a_jobset_has_a_pod_set_for_each_replicated_job():
    """`pkg/controller/jobs/jobset/jobset_controller.go:PodSets,podsCount`: replicas times pods of each Job."""
    shown = show("jobset", topology=False)
    assert shown.pod_sets == {
        "leader": (1, {"cpu": "2", "memory": "4Gi"}),
        "workers": (4 * 2, {"cpu": "8", "memory": "32Gi"}),
    }
    assert shown.totals == {"cpu": 2 + 64, "memory": (4 + 8 * 32) * 1024}
    assert shown.places == {
        "spec.replicatedJobs.0.template.spec.template": "leader",
        "spec.replicatedJobs.1.template.spec.template": "workers",
    }
    assert shown.rest == RUNS


def test_IN_04_the_workers_of_a_jobset_are_placed_by_their_topology():
    """`pkg/controller/jobs/jobset/jobset_controller.go:PodSets`, `pkg/controller/jobframework/tas.go:Build`."""
    _, workers = kq.jobs.to_workload(example("jobset")[0], priority_classes=CLASSES).pod_sets
    assert workers.topology_request == {
        "required": "cloud.example.com/rack",
        "podIndexLabel": "batch.kubernetes.io/job-completion-index",
        "subGroupIndexLabel": "jobset.sigs.k8s.io/job-index",
        "subGroupCount": 4,
    }


def test_IN_05_a_ray_cluster_is_a_head_and_its_groups_of_workers():
    """`pkg/controller/jobs/raycluster/common.go:BuildPodSets`: replicas times hosts of each group."""
    shown = show("raycluster")
    assert shown.pod_sets == {
        "head": (1, {"cpu": "1", "memory": "2Gi"}),
        "gpu": (3 * 4, {"cpu": "4", "memory": "16Gi"}),
    }
    assert shown.totals == {"cpu": 1 + 48, "memory": (2 + 192) * 1024, "nvidia.com/gpu": 12}
    assert shown.places == {"spec.headGroupSpec.template": "head", "spec.workerGroupSpecs.0.template": "gpu"}
    assert shown.rest == RUNS


def test_IN_05_a_ray_cluster_has_at_most_17_groups():
    """`pkg/controller/jobs/raycluster/raycluster_webhook.go:validateCreate`: 18 pod sets, one of which is the head."""
    cluster, _ = example("raycluster")
    (group,) = cluster["spec"]["workerGroupSpecs"]
    cluster["spec"]["workerGroupSpecs"] = [group | {"groupName": f"g{i}"} for i in range(17)]
    assert len(kq.jobs.to_workload(cluster).pod_sets) == 18
    cluster["spec"]["workerGroupSpecs"].append(group)
    with pytest.raises(kq.errors.InvalidSpecError, match="has 18 groups; it must have at most 17"):
        kq.jobs.to_workload(cluster)


def test_IN_05_the_autoscaler_is_part_of_the_head():
    """`pkg/controller/jobs/raycluster/raycluster_webhook.go:validateCreate`, and `common.go` for the sidecar."""
    cluster, _ = example("raycluster")
    cluster["spec"]["enableInTreeAutoscaling"] = True
    with pytest.raises(kq.errors.InvalidSpecError, match="enableInTreeAutoscaling"):
        kq.jobs.to_workload(cluster)
    cluster["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    containers = kq.jobs.to_workload(cluster).pod_sets[0].template["spec"]["containers"]
    assert [c["name"] for c in containers] == ["ray-head", "autoscaler"]
    assert containers[1]["resources"]["requests"] == {"cpu": "500m", "memory": "512Mi"}


def test_IN_06_a_ray_job_also_has_a_submitter():
    """`pkg/controller/jobs/rayjob/rayjob_controller.go:PodSets,RunWithPodSetsInfo`."""
    shown = show("rayjob", keeps=["spec.submitterPodTemplate.spec."])
    assert shown.pod_sets == {
        "head": (1, {"cpu": "2", "memory": "4Gi"}),
        "small": (2, {"cpu": "4"}),
        "large": (1, {"cpu": "16"}),
        "submitter": (1, {"cpu": "500m", "memory": "200Mi"}),
    }
    assert shown.totals == {"cpu": 2 + 8 + 16 + 0.5, "memory": 4096 + 200}
    cluster = "spec.rayClusterSpec"
    assert shown.places == {
        f"{cluster}.headGroupSpec.template": "head",
        f"{cluster}.workerGroupSpecs.0.template": "small",
        f"{cluster}.workerGroupSpecs.1.template": "large",
        "spec.submitterPodTemplate": "submitter",
    }
    # The template that KubeRay would use by default is written, so that node selectors can be added.
    container = "spec.submitterPodTemplate.spec.containers.0"
    assert shown.rest == RUNS | {
        f"{container}.name": "ray-job-submitter",
        f"{container}.image": "registry.example.com/ray:2.41",
        f"{container}.resources.requests.cpu": "500m",
        f"{container}.resources.requests.memory": "200Mi",
        f"{container}.resources.limits.cpu": "1",
        f"{container}.resources.limits.memory": "1Gi",
        "spec.submitterPodTemplate.spec.restartPolicy": "Never",
    }


def test_IN_06_a_submitter_in_sidecar_mode_is_part_of_the_head():
    """`pkg/controller/jobs/rayjob/rayjob_controller.go:PodSets`: SidecarMode."""
    beside, _ = example("rayjob")
    beside["spec"]["submissionMode"] = "SidecarMode"
    pod_sets = kq.jobs.to_workload(beside).pod_sets
    assert [p.name for p in pod_sets] == ["head", "small", "large"]
    assert pod_sets[0].template["spec"]["containers"][1]["resources"]["requests"] == {"cpu": "500m", "memory": "200Mi"}


def test_IN_06_a_ray_service_has_the_pod_sets_of_its_cluster():
    """`pkg/controller/jobs/rayservice/rayservice_controller.go:PodSets,RunWithPodSetsInfo,Suspend`."""
    shown = show("rayservice")
    assert shown.pod_sets == {
        "head": (1, {"cpu": "2", "memory": "4Gi"}),
        "replicas": (2, {"cpu": "8", "memory": "16Gi"}),
    }
    assert shown.totals == {"cpu": 2 + 16, "memory": 36 * 1024}
    cluster = "spec.rayClusterConfig"
    assert shown.places == {
        f"{cluster}.headGroupSpec.template": "head",
        f"{cluster}.workerGroupSpecs.0.template": "replicas",
    }
    assert shown.rest == {f"{cluster}.suspend": False}


REPLICAS = {
    "pytorchjob": (
        {"master": (1, {"cpu": "4", "memory": "16Gi"}), "worker": (4, {"cpu": "8", "memory": "64Gi"})},
        {"cpu": 4 + 32, "memory": (16 + 256) * 1024, "nvidia.com/gpu": 8},
        "pytorchReplicaSpecs",
    ),
    "xgboostjob": (
        {"master": (1, {"cpu": "1", "memory": "2Gi"}), "worker": (2, {"cpu": "4", "memory": "8Gi"})},
        {"cpu": 1 + 8, "memory": (2 + 16) * 1024},
        "xgbReplicaSpecs",
    ),
    "paddlejob": (
        {"worker": (2, {"cpu": "4", "memory": "16Gi"})},
        {"cpu": 8, "memory": 32 * 1024, "nvidia.com/gpu": 2},
        "paddleReplicaSpecs",
    ),
    "tfjob": (
        {"ps": (2, {"cpu": "2", "memory": "8Gi"}), "worker": (4, {"cpu": "4", "memory": "16Gi"})},
        {"cpu": 4 + 16, "memory": (16 + 64) * 1024},
        "tfReplicaSpecs",
    ),
    "jaxjob": (
        {"worker": (3, {"cpu": "16", "memory": "64Gi"})},
        {"cpu": 48, "memory": 192 * 1024, "nvidia.com/gpu": 24},
        "jaxReplicaSpecs",
    ),
    "mpijob": (
        {"launcher": (1, {"cpu": "2"}), "worker": (4, {"cpu": "16", "memory": "64Gi"})},
        {"cpu": 2 + 64, "memory": 256 * 1024},
        "mpiReplicaSpecs",
    ),
}
TYPES = {"ps": "PS"}


def _shows_its_replicas(name):
    pod_sets, totals, field = REPLICAS[name]
    shown = show(name)
    assert list(shown.pod_sets.items()) == list(pod_sets.items())
    assert shown.totals == totals
    assert shown.places == {f"spec.{field}.{TYPES.get(one, one.title())}.template": one for one in pod_sets}
    assert shown.rest == RUN_POLICY


@pytest.mark.parametrize("name", ["pytorchjob", "xgboostjob", "paddlejob"])
def test_IN_07_pytorch_xgboost_and_paddle_have_masters_and_workers(name):
    """`pkg/controller/jobs/kubeflow/kubeflowjob/kubeflowjob_controller.go:PodSets`, types in that order by
    `pkg/controller/jobs/kubeflow/jobs/{pytorchjob/pytorchjob,xgboostjob/xgboostjob,paddlejob/paddlejob}_controller.go:
    OrderedReplicaTypes`.
    """
    _shows_its_replicas(name)


@pytest.mark.parametrize("name", ["tfjob", "jaxjob", "mpijob"])
def test_IN_08_tf_jax_and_mpi_have_the_types_of_their_kind(name):
    """`pkg/controller/jobs/kubeflow/jobs/{tfjob/tfjob,jaxjob/jaxjob}_controller.go:OrderedReplicaTypes`,
    `pkg/controller/jobs/mpijob/mpijob_controller.go:PodSets,orderedReplicaTypes`.
    """
    _shows_its_replicas(name)


def test_IN_08_the_replica_types_of_a_tf_job_have_a_fixed_order():
    """`pkg/controller/jobs/kubeflow/jobs/tfjob/tfjob_controller.go:OrderedReplicaTypes`."""
    job, _ = example("tfjob")
    (replicas, *_) = job["spec"]["tfReplicaSpecs"].values()
    job["spec"]["tfReplicaSpecs"] = dict.fromkeys(("Worker", "Evaluator", "PS", "Master", "Chief"), replicas)
    names = [pod_set.name for pod_set in kq.jobs.to_workload(job).pod_sets]
    assert names == ["chief", "master", "ps", "worker", "evaluator"]


def test_IN_09_a_train_job_becomes_the_jobset_of_its_runtime():
    """`pkg/controller/jobs/trainjob/trainjob_controller.go:PodSets,RunWithPodSetsInfo,RestorePodSetsInfo`."""
    shown = show("trainjob")
    assert shown.pod_sets == {
        "dataset-initializer": (1, {"cpu": "500m"}),
        "node": (4, {"cpu": "8", "memory": "64Gi"}),
    }
    assert shown.totals == {"cpu": 0.5 + 32, "memory": 256 * 1024, "nvidia.com/gpu": 8}
    # The job starts by a patch of its own, previously empty runtime patches.
    jobs = "spec.runtimePatches.0.trainingRuntimeSpec.template.spec"
    assert shown.places == {
        f"{jobs}.replicatedJobs.0.template.spec.template": "dataset-initializer",
        f"{jobs}.replicatedJobs.1.template.spec.template": "node",
    }
    names = {f"{jobs}.replicatedJobs.0.name": "dataset-initializer", f"{jobs}.replicatedJobs.1.name": "node"}
    assert shown.rest == RUNS | {jobs: None} | names


def test_IN_09_the_runtime_of_a_train_job_must_exist():
    """`pkg/controller/jobs/trainjob/trainjob_controller.go:getChildJobSet`."""
    manifest, _ = example("trainjob")
    with pytest.raises(kq.errors.NotFoundError, match='"torch-distributed" names no ClusterTrainingRuntime'):
        kq.jobs.to_workload(manifest)


def test_IN_10_an_app_wrapper_has_the_pod_sets_of_its_components():
    """`pkg/controller/jobs/appwrapper/appwrapper_controller.go:PodSets,RunWithPodSetsInfo`."""
    shown = show("appwrapper")
    assert shown.pod_sets == {
        "pipeline-0": (2, {"cpu": "1", "memory": "2Gi"}),
        "pipeline-1": (3, {"cpu": "500m"}),
    }
    assert shown.totals == {"cpu": 2 + 1.5, "memory": 4096}
    assert shown.places == {
        "spec.components.1.podSetInfos.0": "pipeline-0",
        "spec.components.2.podSetInfos.0": "pipeline-1",
    }
    assert shown.rest == RUNS


def test_IN_10_a_spark_application_is_a_driver_and_executors():
    """`pkg/controller/jobs/sparkapplication/sparkapplication_controller.go:PodSets,RunWithPodSetsInfo`,
    `pkg/controller/jobs/sparkapplication/sparkapplication_podset.go`.
    """
    shown = show("sparkapplication", keeps=["spec.driver.template.", "spec.executor.template."])
    assert shown.pod_sets == {
        "driver": (1, {"cpu": "500m", "memory": "1Gi"}),
        "executor": (3, {"cpu": "2", "memory": "4Gi"}),
    }
    assert shown.totals == {"cpu": 0.5 + 6, "memory": (1 + 12) * 1024, "nvidia.com/gpu": 3}
    assert shown.places == {"spec.driver": "driver", "spec.executor": "executor"}
    assert shown.rest == RUNS | {
        "spec.driver.template.spec.containers.0.name": "spark-kubernetes-driver",
        "spec.executor.template.spec.containers.0.name": "spark-kubernetes-executor",
    }


def test_IN_11_a_pod_is_ungated_to_start_and_deleted_to_stop():
    """`pkg/controller/jobs/pod/pod_controller.go:PodSets,Run,Stop`, `pod_webhook.go:Default` beside it."""
    shown = show("pod", stops=False)
    assert shown.pod_sets == {"main": (1, {"cpu": "2", "memory": "8Gi"})}
    assert shown.totals == {"cpu": 2, "memory": 8192}
    assert shown.places == {"": "main"}
    assert shown.rest == {"spec.schedulingGates.0.name": None, "spec.schedulingGates.1.name": None}


def test_IN_11_a_group_of_pods_is_one_workload_with_a_pod_set_for_each_role():
    """`pkg/controller/jobs/pod/pod_controller.go:constructGroupPodSets,ConstructComposableWorkload`,
    `pkg/util/pod/pod.go:GenerateRoleHash`.
    """
    shown = show("podgroup", stops=False)
    assert shown.pod_sets == {"4ebdd4a6": (2, {"cpu": "1", "memory": "1Gi"}), "dc85db45": (1, {"cpu": "1"})}
    assert shown.totals == {"cpu": 3, "memory": 2048}
    assert shown.places == {"items.0": "dc85db45", "items.1": "4ebdd4a6", "items.2": "4ebdd4a6"}
    gates = [f"items.{i}.spec.schedulingGates.{j}.name" for i in range(3) for j in range(2)]
    assert shown.rest == dict.fromkeys(gates)
    (group,) = shown.workloads
    assert (group.name, group.annotations) == ("train", {"kueue.x-k8s.io/is-group-workload": "true"})


def test_IN_12_each_pod_of_a_deployment_is_a_workload():
    """`pkg/controller/jobs/deployment/deployment_webhook.go:Default`: the queue goes to the pods."""
    shown = show("deployment")
    assert shown.pod_sets == {"main": (1, {"cpu": "250m", "memory": "128Mi"})}
    assert (len(shown.workloads), shown.totals) == (3, {"cpu": 0.75, "memory": 384})


def test_IN_12_a_stateful_set_is_one_workload_of_its_replicas():
    """`pkg/controller/jobs/statefulset/statefulset_reconciler.go:constructWorkload`; its pods are started."""
    shown = show("statefulset")
    assert shown.pod_sets == {"main": (3, {"cpu": "1", "memory": "4Gi"})}
    assert (len(shown.workloads), shown.totals) == (1, {"cpu": 3, "memory": 12 * 1024})
    assert (shown.places, shown.rest) == ({}, {})


def test_IN_12_each_replica_of_a_leader_worker_set_is_a_workload():
    """`pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go:podSets`: a leader, and size - 1 workers."""
    shown = show("leaderworkerset")
    assert shown.pod_sets == {
        "leader": (1, {"cpu": "4", "memory": "16Gi"}),
        "worker": (5 - 1, {"cpu": "8", "memory": "64Gi"}),
    }
    assert len(shown.workloads) == 2
    assert shown.totals == {"cpu": 2 * (4 + 32), "memory": 2 * (16 + 256) * 1024, "nvidia.com/gpu": 64}


def test_IN_13_each_job_of_a_cron_job_is_queued_separately():
    """`pkg/controller/jobs/job/job_controller.go`: Kueue manages the Jobs that it makes."""
    cron_job = kq.jobs.adapter_for(example("cronjob")[0])
    assert cron_job.jobs()[0].manifest["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "reports"}
    scheduler = kq.Scheduler(kq.load([CLUSTER, EXAMPLES / "cronjob.yaml"]))
    (key,) = scheduler.keys()
    scheduler.settle()
    (pod_set,) = scheduler.workload(key).pod_sets
    assert (pod_set.name, pod_set.count) == ("main", 2)
    used = scheduler._engine.usage()["cluster-total"]
    assert (used["spot/cpu"], used["spot/memory"]) == (2 * 500, 2 * 2**30)
    # The Jobs of a CronJob are started and stopped, not the CronJob.
    held = kq.jobs.suspend(cron_job.jobs()[0].manifest)
    started = kq.jobs.apply_patch(held, scheduler.start_patch(key))
    assert changed(held, started)["spec.suspend"] is False
    assert kq.jobs.apply_patch(started, scheduler.stop_patch(key)) == held


CLASSES = [kq.WorkloadPriorityClass("high", value=1000), kq.objects.PriorityClass("batch-high", value=500)]


def test_IN_every_kind_has_an_example():
    assert {kind for _, kind in kq.jobs.kinds()} <= {example(name)[0]["kind"] for name in NAMES}


def test_IN_the_examples_directory_loads_as_one_cluster():
    every_kind = kq.Configuration(feature_gates={"SparkApplicationIntegration": True})
    scheduler = kq.Scheduler(kq.load(EXAMPLES).replace(configuration=every_kind))
    assert (
        len(scheduler.keys()) == len(NAMES) + 2 + 1
    )  # three pods of a Deployment, two of a LeaderWorkerSet's replicas
    scheduler.settle()
    waiting = [key for key in scheduler.keys() if not scheduler.workload(key).status.is_true("Admitted")]  # noqa: SIM118
    assert [key.partition("/")[2].partition("-")[0] for key in waiting] == ["jobset"]  # there is no topology


def test_IN_11_each_pod_group_of_a_cluster_is_admitted_as_one_workload():
    """`pkg/controller/jobs/pod/pod_controller.go:Run`: all pods of the group."""
    scheduler = kq.Scheduler(kq.load([CLUSTER, EXAMPLES / "podgroup.yaml", EXAMPLES / "pod.yaml"]))
    scheduler.settle()
    assert len(scheduler.start_patch("team-a/train")["items"]) == 3
    (alone,) = set(scheduler.keys()) - {"team-a/train"}
    assert scheduler.start_patch(alone)["spec"]["nodeSelector"] == {"instance-type": "spot"}


@pytest.mark.parametrize("name", NAMES)
def test_IN_a_suspended_job_is_not_changed_again(name):
    manifest, related = example(name)
    held = kq.jobs.suspend(manifest, related=related)
    assert kq.jobs.suspend(held, related=related) == held
