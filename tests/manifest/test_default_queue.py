"""Objects without a queue name are jobs in a namespace with a LocalQueue named `default` (LocalQueueDefaulting)."""

import pytest

import kueuepy as kq
from kueuepy.manifest import load
from kueuepy.manifest.convert import to_dict

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  resourceGroups:
  - {coveredResources: [cpu], flavors: [{name: any, resources: [{name: cpu, nominalQuota: 9}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: %s, namespace: %s}
spec: {clusterQueue: team}
"""
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "pod"},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": 1}}}]},
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": POD["spec"]},
    },
}


def queues(name="default", namespace="default"):
    return list(load(QUEUES % (name, namespace)).objects())


def read(*docs, name="default", namespace="default"):
    return load([*(to_dict(obj) for obj in queues(name, namespace)), *docs])


def with_metadata(doc, **metadata):
    return {**doc, "metadata": {**doc["metadata"], **metadata}}


def test_a_new_pod_and_a_deployment_get_the_default_queue():
    manifest = read(POD, DEPLOYMENT)
    assert [job["kind"] for job in manifest.jobs] == ["Pod", "Deployment"]
    assert manifest.pods == ()
    scheduler = kq.Scheduler(kq.Cluster.from_manifest(manifest))
    scheduler.settle()
    assert {scheduler.workload(key).queue_name for key in scheduler.keys()} == {"default"}  # noqa: SIM118 - no dict
    assert len(scheduler.keys()) == 3


def test_the_queue_may_follow_the_jobs_and_their_order_is_kept():
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": {"template": {"spec": {}}}}
    manifest = load([POD, job, DEPLOYMENT, *(to_dict(obj) for obj in queues())])
    assert [found["kind"] for found in manifest.jobs] == ["Pod", "Job", "Deployment"]


@pytest.mark.parametrize(
    "manifest",
    [
        lambda: read(POD, DEPLOYMENT, name="other"),
        lambda: read(POD, DEPLOYMENT, namespace="elsewhere"),
        lambda: read(*(with_metadata(doc, uid="u", resourceVersion="7") for doc in (POD, DEPLOYMENT))),
        lambda: read(*(with_metadata(d, namespace="kube-system") for d in (POD, DEPLOYMENT)), namespace="kube-system"),
    ],
    ids=["another queue", "another namespace", "stored objects", "namespace that is not managed"],
)
def test_other_objects_keep_their_meaning(manifest):
    found = manifest()
    assert found.jobs == ()
    assert [pod.name for pod in found.pods] == ["pod"]
    assert any("does not bear on admission" in str(note) for note in found.notes)


def test_a_pod_on_a_node_is_no_job():
    found = read({**POD, "spec": {**POD["spec"], "nodeName": "n1"}})
    assert (len(found.pods), found.jobs) == (1, ())
