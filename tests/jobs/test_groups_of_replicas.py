"""JobSet, Kubeflow jobs and TrainJob: status and errors."""

import pytest

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.jobs import adapter_for, apply_patch, start_patch, suspend, to_workload
from kueuepy.jobs.integrations.trainjob import merged
from kueuepy.objects import PriorityClass, PriorityClassRef, ReclaimablePod

OFFSET = "kueue.x-k8s.io/pod-index-offset"
GROUP = "kueue.x-k8s.io/podset-group-name"
RACK = {"kueue.x-k8s.io/podset-required-topology": "rack"}


def test_replicas_of_a_jobset_that_succeeded_are_reclaimable(example):
    status = {"replicatedJobsStatus": [{"name": "workers", "succeeded": 3}, {"name": "leader", "succeeded": 0}]}
    jobset = adapter_for(example("jobset") | {"status": status})
    assert jobset.reclaimable_pods() == (ReclaimablePod("workers", 6),)
    assert adapter_for(example("jobset")).reclaimable_pods() == ()


def test_a_jobset_is_ready_when_its_replicas_are(example):
    ready = [{"name": "leader", "ready": 1}, {"name": "workers", "ready": 3, "succeeded": 1}]
    assert adapter_for(example("jobset") | {"status": {"replicatedJobsStatus": ready}}).pods_ready()
    assert not adapter_for(example("jobset") | {"status": {"replicatedJobsStatus": ready[:1]}}).pods_ready()


@pytest.mark.parametrize(
    ("name", "condition", "success"),
    [
        ("jobset", "Completed", True),
        ("jobset", "Failed", False),
        ("pytorchjob", "Succeeded", True),
        ("mpijob", "Failed", False),
    ],
)
def test_conditions_that_end_a_job(example, name, condition, success):
    status = {"conditions": [{"type": condition, "status": "True", "message": "over"}]}
    assert adapter_for(example(name) | {"status": status}).finished() == ("over", success)
    assert adapter_for(example(name)).finished() is None


def test_a_kubeflow_job_is_ready_when_it_runs(example):
    status = {"conditions": [{"type": "Running", "status": "True"}]}
    assert adapter_for(example("tfjob") | {"status": status}).pods_ready()
    assert not adapter_for(example("tfjob")).pods_ready()


def test_replicas_are_numbered_by_the_label_of_the_operator(workloads):
    (workload,) = workloads("pytorchjob")
    index = {"podIndexLabel": "training.kubeflow.org/replica-index"}
    assert [(p.name, p.topology_request) for p in workload.pod_sets] == [("master", index), ("worker", index)]


def test_the_scheduling_policy_names_the_priority_class_of_a_kubeflow_job(example, workloads):
    (workload,) = workloads("mpijob")
    assert workload.priority == 500
    assert workload.priority_class_ref == PriorityClassRef("scheduling.k8s.io", "PriorityClass", "batch-high")
    manifest = example("pytorchjob")
    manifest["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["priorityClassName"] = "low"
    low = PriorityClass("low", value=-5)
    assert to_workload(manifest, priority_classes=[low]).priority == -5


def test_a_kubeflow_job_that_names_no_class_gets_the_default(example):
    default = PriorityClass("normal", value=7, global_default=True)
    assert to_workload(example("pytorchjob"), priority_classes=[default]).priority == 7


def test_workers_of_an_mpi_job_are_numbered_after_a_launcher_that_works(example):
    manifest = example("mpijob")
    workers = suspend(manifest)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]
    assert workers["metadata"]["annotations"] == {OFFSET: "1"}
    for replica in manifest["spec"]["mpiReplicaSpecs"].values():
        replica["template"]["metadata"] = {"annotations": {GROUP: "all"} | RACK}
    assert OFFSET not in str(suspend(manifest))
    del manifest["spec"]["runLauncherAsWorker"]
    assert OFFSET not in str(suspend(manifest))


def test_a_pod_set_group_has_two_pod_sets_in_one_domain(example):
    manifest = example("jobset")
    jobs = manifest["spec"]["replicatedJobs"]
    del manifest["metadata"]["labels"]["kueue.x-k8s.io/priority-class"]
    for job in jobs:
        job["template"]["spec"]["template"]["metadata"] = {"annotations": {GROUP: "all"} | RACK}
    requests = [pod_set.topology_request for pod_set in to_workload(manifest).pod_sets]
    assert {request["podSetGroupName"] for request in requests} == {"all"}
    jobs[0]["replicas"] = 2
    with pytest.raises(InvalidSpecError, match="at least one of them must have 1 pod"):
        to_workload(manifest)
    jobs[0]["replicas"] = 1
    annotations = jobs[0]["template"]["spec"]["template"]["metadata"]["annotations"]
    annotations["kueue.x-k8s.io/podset-required-topology"] = "block"
    with pytest.raises(InvalidSpecError, match="its pod sets must ask for the same"):
        to_workload(manifest)
    del annotations[GROUP]
    with pytest.raises(InvalidSpecError, match='"all" of workers: has 1 pod sets; a group must have exactly 2'):
        to_workload(manifest)


def test_a_jax_job_does_not_support_a_prebuilt_workload(example):
    manifest = example("jaxjob")
    manifest["metadata"]["labels"]["kueue.x-k8s.io/prebuilt-workload-name"] = "made"
    with pytest.raises(InvalidSpecError, match="is not supported for JAXJob"):
        to_workload(manifest)


@pytest.fixture
def train(example):
    def make(policy=None, **trainer):
        manifest, (runtime,) = example("trainjob", related=True)
        manifest["spec"]["trainer"] |= trainer
        if policy is not None:
            runtime["spec"]["mlPolicy"] = policy
        return manifest, (runtime,)

    return make


def counts(manifest, related):
    return {p.name: p.count for p in to_workload(manifest, related=related).pod_sets}


def test_the_nodes_of_a_train_job(train):
    assert counts(*train(numNodes=6)) == {"dataset-initializer": 1, "node": 6}
    manifest, related = train(policy={"numNodes": 3, "torch": {}})
    del manifest["spec"]["trainer"]["numNodes"]
    assert counts(manifest, related)["node"] == 3
    assert counts(*train(policy={"mpi": {"runLauncherAsNode": True}}, numNodes=4))["node"] == 3
    assert counts(*train(policy={"mpi": {}}, numNodes=4))["node"] == 4


def test_a_train_job_fills_in_its_containers(train):
    manifest, related = train(image="mine:1", env=[{"name": "A", "value": "1"}])
    initializer, node = (p.template["spec"]["containers"][0] for p in to_workload(manifest, related=related).pod_sets)
    assert initializer["env"] == [{"name": "STORAGE_URI", "value": "s3://datasets/sentences"}]
    assert (node["image"], node["command"]) == ("mine:1", ["torchrun", "train.py"])
    assert node["env"] == [{"name": "A", "value": "1"}]
    assert node["resources"] == {"requests": {"cpu": "8", "memory": "64Gi"}, "limits": {"nvidia.com/gpu": 2}}


def test_a_train_job_starts_by_a_patch_of_its_runtime(train, admit, flavors):
    manifest, related = train()
    held = suspend(manifest, related=related)
    assert held["spec"]["runtimePatches"] == [
        {"manager": "kueue.x-k8s.io/manager", "trainingRuntimeSpec": {"template": {"spec": {}}}}
    ]
    workload = admit(to_workload(manifest, related=related))
    started = apply_patch(held, start_patch(held, workload, flavors, related=related, marks=False))
    (patch,) = started["spec"]["runtimePatches"]
    jobs = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert [job["name"] for job in jobs] == ["dataset-initializer", "node"]
    inner = jobs[1]["template"]["spec"]["template"]["spec"]
    assert inner["nodeSelector"] == {"instance-type": "spot"}
    assert inner["tolerations"] == [{"key": "reserved", "operator": "Exists"}]
    running = to_workload(started, related=related).pod_sets[1].template["spec"]
    assert running["nodeSelector"] == {"instance-type": "spot"}
    with pytest.raises(InvalidSpecError, match="start from the suspended manifest"):
        start_patch(manifest, workload, flavors, related=related)


def test_runtime_patches_of_users_apply_to_a_train_job(train):
    manifest, related = train()
    pod = {"nodeSelector": {"disk": "ssd"}, "priorityClassName": "not a field of a patch"}
    inner = {"name": "node", "template": {"spec": {"template": {"spec": pod}}}, "replicas": 9}
    patch = {"manager": "me", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [inner]}}}}
    manifest["spec"]["runtimePatches"] = [patch]
    workload = to_workload(manifest, related=related)
    assert workload.pod_sets[1].template["spec"]["nodeSelector"] == {"disk": "ssd"}
    assert "priorityClassName" not in workload.pod_sets[1].template["spec"]
    assert workload.pod_sets[1].count == 4
    del inner["name"]
    with pytest.raises(InvalidSpecError, match=r"replicatedJobs\[0\].name: is missing"):
        to_workload(manifest, related=related)


def test_a_patch_of_an_unknown_replicated_job_adds_one_without_pods(train):
    manifest, related = train()
    names = [{"name": "node"}, {"name": "nodes"}]
    patch = {"manager": "me", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": names}}}}
    manifest["spec"]["runtimePatches"] = [patch]
    assert counts(manifest, related) == {"nodes": 0, "dataset-initializer": 1, "node": 4}


def test_a_user_patch_with_kueues_name_is_kept_next_to_kueues_patch(train, admit, flavors):
    manifest, related = train()
    job = {"name": "node", "template": {"spec": {"template": {"spec": {"nodeSelector": {"disk": "ssd"}}}}}}
    own = {"template": {"spec": {"replicatedJobs": [job]}}}
    manifest["spec"]["runtimePatches"] = [{"manager": "kueue.x-k8s.io/manager", "trainingRuntimeSpec": own}]
    held = suspend(manifest, related=related)
    assert [patch["trainingRuntimeSpec"] for patch in held["spec"]["runtimePatches"]] == [
        own,
        {"template": {"spec": {}}},
    ]
    assert suspend(held, related=related) == held
    stored = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": "7"}}
    assert suspend(stored, related=related)["spec"]["runtimePatches"] == manifest["spec"]["runtimePatches"]
    workload = admit(to_workload(manifest, related=related))
    started = apply_patch(held, start_patch(held, workload, flavors, related=related))
    first, second = (patch["trainingRuntimeSpec"]["template"]["spec"] for patch in started["spec"]["runtimePatches"])
    assert [job["name"] for job in first["replicatedJobs"]] == ["dataset-initializer", "node"]
    assert second == {}


def test_pods_of_a_runtime_with_coscheduling_name_their_group(train):
    manifest, (runtime,) = train()
    runtime["spec"]["podGroupPolicy"] = {"coscheduling": {}}
    labels = [p.template["metadata"]["labels"] for p in to_workload(manifest, related=[runtime]).pod_sets]
    assert [each["scheduling.x-k8s.io/pod-group"] for each in labels] == ["finetune", "finetune"]


def test_a_training_runtime_is_found_in_the_namespace_of_the_job(train):
    manifest, (runtime,) = train()
    manifest["spec"]["runtimeRef"]["kind"] = "TrainingRuntime"
    runtime["kind"] = "TrainingRuntime"
    with pytest.raises(NotFoundError):
        to_workload(manifest, related=[runtime])
    runtime["metadata"]["namespace"] = "team-a"
    assert counts(manifest, [runtime])["node"] == 4
    manifest["spec"]["runtimeRef"]["kind"] = "Runtime"
    with pytest.raises(InvalidSpecError, match="it must be ClusterTrainingRuntime or TrainingRuntime"):
        to_workload(manifest, related=[runtime])


def test_the_status_of_a_train_job(train):
    manifest, related = train()
    jobs = [{"name": "dataset-initializer", "succeeded": 1}, {"name": "node", "ready": 1}]
    done = adapter_for(manifest | {"status": {"jobsStatus": jobs}}, related=related)
    assert done.reclaimable_pods() == (ReclaimablePod("dataset-initializer", 1),)
    assert done.pods_ready()
    assert done.finished() is None
    end = {"conditions": [{"type": "Complete", "status": "True", "message": "ok"}]}
    assert adapter_for(manifest | {"status": end}, related=related).finished() == ("ok", True)


def test_a_strategic_merge_uses_list_keys():
    old = {"containers": [{"name": "a", "args": ["1"]}, {"name": "b"}], "tolerations": [{"key": "x"}]}
    new = {"containers": [{"name": "b", "image": "i"}, {"name": "c"}], "tolerations": [{"key": "y"}]}
    assert merged(old, new) == {
        "containers": [{"name": "a", "args": ["1"]}, {"name": "b", "image": "i"}, {"name": "c"}],
        "tolerations": [{"key": "y"}],
    }
    letters = {"env": [{"name": letter} for letter in "abcd"]}
    assert [item["name"] for item in merged(letters, {"env": [{"name": "x"}, {"name": "c"}]})["env"]] == list("xabcd")
