"""Jobs that Kueue accepts or ignores in unexpected ways."""

import pytest

import kueuepy as kq

QUEUE = {"kueue.x-k8s.io/queue-name": "team"}


@pytest.fixture
def scheduler():
    return kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("team", {"f": {"cpu": 9}})))


def job(name, cpu, kind="Job", version="batch/v1", **spec):
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "labels": QUEUE},
        "spec": {**spec, "template": template},
    }


def pod(name, group):
    labels = {**QUEUE, "kueue.x-k8s.io/pod-group-name": group}
    annotations = {"kueue.x-k8s.io/pod-group-total-count": "2"}
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": 1}}}]}
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def test_built_in_kinds_accept_fractions_as_quantities(scheduler):
    (key,) = scheduler.submit(job("half", 0.5))
    requests = scheduler.workload(key).pod_sets[0].template["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "500m"}


def test_a_fraction_in_a_custom_resource_is_rejected(scheduler):
    spec = {"replicatedJobs": [{"name": "r", "replicas": 1, "template": {"spec": job("x", 0.5)["spec"]}}]}
    jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "s", "labels": QUEUE}}
    with pytest.raises(kq.errors.InvalidSpecError, match="a fraction without quotes"):
        scheduler.submit({**jobset, "spec": spec})


def test_a_statefulset_without_replicas_has_no_workload(scheduler):
    assert scheduler.submit(job("none", 1, "StatefulSet", "apps/v1", replicas=0)) == ()


def test_pods_of_a_group_are_one_workload(scheduler):
    assert len(scheduler.submit([pod("a", "g"), pod("b", "g")])) == 1
    assert len(scheduler.submit(pod("c", "h"), pod("d", "h"))) == 1


def test_a_spark_application_needs_its_feature_gate():
    spark = {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "sp", "labels": QUEUE},
        "spec": {"mode": "cluster", "driver": {"cores": 1}, "executor": {"cores": 1, "instances": 1}},
    }

    def submit(**gates):
        configuration = kq.Configuration(feature_gates=gates)
        queue = kq.ClusterQueue.of("team", {"f": {"cpu": 9}})
        return kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queue, configuration=configuration)).submit(spark)

    with pytest.raises(kq.errors.InvalidSpecError, match="is not a job that Kueue manages"):
        submit()
    assert len(submit(SparkApplicationIntegration=True)) == 1
