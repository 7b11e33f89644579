"""RayCluster, RayJob and RayService: status, autoscaling and errors."""

import pytest

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import adapter_for, apply_patch, start_patch, stop_patch, suspend, to_workload, to_workloads

ELASTIC = {"kueue.x-k8s.io/elastic-job": "true"}
GATE = {"name": "kueue.x-k8s.io/elastic-job"}


def head(workload):
    return workload.pod_sets[0].template["spec"]["containers"][0]["resources"]


@pytest.mark.parametrize(
    ("requests", "counted"),
    [
        ({"cpu": "1", "memory": "2Gi"}, {"cpu": "1", "memory": "2Gi"}),
        ({"cpu": "100m", "memory": "2Gi"}, {"cpu": "200m", "memory": "2Gi"}),
        ({}, {"cpu": "200m", "memory": "256Mi"}),
    ],
)
def test_a_head_with_fault_tolerance_also_covers_the_cleanup_of_redis(example, requests, counted):
    manifest = example("raycluster")
    manifest["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    manifest["spec"]["gcsFaultToleranceOptions"] = {"redisAddress": "redis:6379"}
    assert head(to_workload(manifest))["requests"] == counted
    del manifest["spec"]["gcsFaultToleranceOptions"]
    assert head(to_workload(manifest))["requests"] == requests
    manifest["metadata"]["annotations"] = {"ray.io/ft-enabled": "True"}
    assert head(to_workload(manifest))["requests"] == counted


def test_the_autoscaler_has_its_configured_resources(example):
    manifest = example("raycluster")
    manifest["metadata"]["annotations"] = ELASTIC
    manifest["spec"] |= {"enableInTreeAutoscaling": True}
    manifest["spec"]["autoscalerOptions"] = {"resources": {"requests": {"cpu": "1"}}}
    containers = to_workload(manifest).pod_sets[0].template["spec"]["containers"]
    assert containers[1] == {"name": "autoscaler", "resources": {"requests": {"cpu": "1"}}}


def test_the_pods_of_an_elastic_cluster_are_gated_but_not_those_of_a_job(example):
    for name, gated in (("raycluster", 2), ("rayservice", 2), ("rayjob", 0)):
        manifest = example(name)
        manifest["metadata"]["annotations"] = ELASTIC
        pod_sets = to_workload(manifest).pod_sets
        assert sum(GATE in p.template["spec"].get("schedulingGates", []) for p in pod_sets) == gated


def test_replicas_and_hosts_of_a_group(example):
    manifest = example("raycluster")
    group = manifest["spec"]["workerGroupSpecs"][0]
    assert to_workload(manifest).pod_sets[1].count == 12
    del group["numOfHosts"]
    assert to_workload(manifest).pod_sets[1].count == 3
    del group["replicas"]
    assert to_workload(manifest).pod_sets[1].count == 0


def test_a_worker_group_may_not_be_named_like_the_head(example):
    manifest = example("raycluster")
    manifest["spec"]["workerGroupSpecs"][0]["groupName"] = "head"
    with pytest.raises(InvalidSpecError, match=r'workerGroupSpecs\[0\].groupName: is "head"'):
        to_workload(manifest)


def test_a_ray_job_must_delete_its_own_cluster(example):
    manifest = example("rayjob")
    manifest["spec"]["shutdownAfterJobFinishes"] = False
    with pytest.raises(InvalidSpecError, match=r"it must delete its cluster|must delete its cluster"):
        to_workload(manifest)


def test_a_ray_job_on_an_existing_cluster_is_not_managed(example):
    manifest = example("rayjob")
    manifest["spec"]["clusterSelector"] = {"ray.io/cluster": "shared"}
    with pytest.raises(InvalidSpecError, match="must not use an existing cluster"):
        to_workload(manifest)
    del manifest["spec"]["rayClusterSpec"]
    assert to_workloads([manifest]) == ()
    with pytest.raises(InvalidSpecError, match=r"makes 0 Workloads; .* it is nothing that Kueue manages"):
        to_workload(manifest)
    del manifest["spec"]["clusterSelector"]
    with pytest.raises(InvalidSpecError, match="rayClusterSpec: is missing"):
        to_workload(manifest)


def test_the_submitter_is_the_users_template_or_kuberays_default(example, admit, flavors):
    manifest = example("rayjob")
    default = to_workload(manifest).pod_sets[-1].template["spec"]
    assert default["containers"][0]["image"] == "registry.example.com/ray:2.41"
    assert default["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "1Gi"}
    own = {"spec": {"containers": [{"name": "submit", "resources": {"requests": {"cpu": "50m"}}}]}}
    manifest["spec"]["submitterPodTemplate"] = own
    assert to_workload(manifest).pod_sets[-1].template == own
    held = suspend(manifest)
    workload = to_workload(held)
    started = apply_patch(held, start_patch(held, admit(workload), flavors))
    assert started["spec"]["submitterPodTemplate"]["spec"]["nodeSelector"] == {"instance-type": "spot"}
    assert apply_patch(started, stop_patch(started, workload)) == held


def test_without_a_mode_a_pod_submits(example):
    manifest = example("rayjob")
    del manifest["spec"]["submissionMode"]
    assert to_workload(manifest).pod_sets[-1].name == "submitter"
    manifest["spec"]["submissionMode"] = "HTTPMode"
    assert to_workload(manifest).pod_sets[-1].name == "large"


def test_the_sizes_of_an_elastic_job_are_those_of_its_live_cluster(example):
    manifest = example("rayjob")
    manifest["metadata"]["annotations"] = ELASTIC | {"kueue.x-k8s.io/raycluster-generation": "2"}
    manifest["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] = True
    manifest["status"] = {"rayClusterName": "tune-x"}
    del manifest["spec"]["rayClusterSpec"]["workerGroupSpecs"][1]["replicas"]
    groups = [{"groupName": "small", "replicas": 7}, {"groupName": "large"}]
    live = {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "tune-x", "namespace": "team-a", "generation": 3},
        "spec": {"workerGroupSpecs": groups},
    }
    counted = {p.name: p.count for p in to_workload(manifest, related=[live]).pod_sets}
    assert (counted["small"], counted["large"]) == (7, 0)
    assert adapter_for(manifest, related=[live]).workload_name_extra() == "1_3"
    groups[1]["groupName"] = "huge"
    with pytest.raises(InvalidSpecError, match="the two must have the same groups"):
        to_workload(manifest, related=[live])
    assert adapter_for(manifest).workload_name_extra() == "1"


def test_the_status_of_ray(example):
    def job(**status):
        return adapter_for(example("rayjob") | {"status": status})

    assert job(jobDeploymentStatus="Complete", jobStatus="SUCCEEDED", message="m").finished() == ("m", True)
    assert job(jobDeploymentStatus="Failed", jobStatus="FAILED").finished() == ("", False)
    assert job(jobDeploymentStatus="Running").finished() is None
    assert job(rayClusterStatus={"state": "ready"}).pods_ready()
    assert job(jobDeploymentStatus="ValidationFailed").on_hold()
    cluster = adapter_for(example("raycluster") | {"status": {"state": "ready"}})
    assert cluster.pods_ready()
    assert cluster.finished() is None
    service = {"conditions": [{"type": "Ready", "status": "True"}]}
    assert adapter_for(example("rayservice") | {"status": service}).pods_ready()
    assert not adapter_for(example("rayservice")).pods_ready()


def test_a_cluster_has_a_ray_container(example):
    manifest = example("rayjob")
    manifest["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"] = []
    with pytest.raises(InvalidSpecError, match="containers: is missing; it must have the Ray container"):
        to_workload(manifest)
    manifest["spec"]["submissionMode"] = "HTTPMode"
    manifest["metadata"]["annotations"] = {"ray.io/ft-enabled": "true"}
    with pytest.raises(InvalidSpecError, match="with fault tolerance it must have the Ray container"):
        to_workload(manifest)


def test_a_missing_live_cluster_changes_nothing(example):
    manifest = example("rayservice")
    manifest["metadata"]["annotations"] = ELASTIC
    manifest["spec"]["rayClusterConfig"]["enableInTreeAutoscaling"] = True
    assert to_workload(manifest).pod_sets[1].count == 2
    manifest["status"] = {"activeServiceStatus": {"rayClusterName": "gone"}}
    assert to_workload(manifest, related=[example("raycluster"), {"kind": "ConfigMap"}]).pod_sets[1].count == 2


@pytest.mark.parametrize("groups", ["x", [3], {}])
def test_invalid_worker_groups_are_reported_before_autoscaling(example, groups):
    manifest = example("raycluster")
    manifest["spec"] |= {"enableInTreeAutoscaling": True, "workerGroupSpecs": groups}
    with pytest.raises(InvalidSpecError, match="workerGroupSpecs"):
        to_workload(manifest)
