"""Parameters of admission checks are validated like by their CRD, and used by the autoscaler model."""

import pytest

import kueuepy as kq

PROVISIONING = "kueue.x-k8s.io/provisioning-request"


def document(kind, **spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "c"}, "spec": spec}


def config(**spec):
    return document("ProvisioningRequestConfig", provisioningClassName="best-effort", **spec)


@pytest.mark.parametrize(
    ("doc", "told"),
    [
        (document("ProvisioningRequestConfig"), "spec.provisioningClassName: is required"),
        (config(retries=3), "spec.retries: unknown field"),
        (config(retryStrategy={"backoffLimitCount": "3"}), 'backoffLimitCount: is "3", a string'),
        (config(retryStrategy={"backoffBaseSeconds": 2**31}), "backoffBaseSeconds: is 2147483648"),
        (config(managedResources=["cpu", "cpu"]), '"cpu" occurs twice'),
        (config(podSetMergePolicy="All"), 'podSetMergePolicy: "All" is not supported'),
        (config(podSetUpdates={"nodeSelector": [{"key": "a"}]}), "valueFromProvisioningClassDetail: is required"),
        (config(parameters={"a": "x" * 256}), "spec.parameters.a: has 256 characters"),
        (document("MultiKueueConfig", clusters=[]), "spec.clusters: is empty"),
        (document("MultiKueueConfig", clusters=["a", "a"]), "names a cluster twice"),
        (document("MultiKueueConfig", clusters=["a"], quota="no"), "spec.quota: unknown field"),
        (document("MultiKueueConfig", clusters=["a"], quotaManagement="Some"), 'quotaManagement: "Some" is not'),
        (document("MultiKueueCluster", clusterSource={}), "has 0 of kubeConfig and clusterProfileRef"),
        (document("MultiKueueCluster", clusterSource={"kubeConfig": {"location": ""}}), "location: has 0 characters"),
    ],
)  # fmt: skip
def test_parameters_rejected_by_an_api_server_are_rejected(doc, told):
    with pytest.raises(kq.errors.InvalidSpecError) as caught:
        kq.load(doc)
    assert told in str(caught.value)


def test_parameters_accepted_by_an_api_server_are_accepted():
    docs = [
        config(managedResources=["nvidia.com/gpu"], retryStrategy=None, podSetMergePolicy="IdenticalPodTemplates"),
        document("MultiKueueConfig", clusters=["a", "b"]),
        document("MultiKueueCluster", clusterSource={"kubeConfig": {"location": "secret"}}),
    ]
    assert len(kq.load(docs).manifest.others) == 3


def scheduler(spec, **options):
    check = kq.AdmissionCheck(
        "nodes",
        controller_name=PROVISIONING,
        parameters={"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "c"},
    )
    rule = kq.objects.AdmissionCheckStrategyRule("nodes")
    queue = kq.ClusterQueue.of("team", {"default": {"cpu": 9, "gpu": 9}}, admission_checks_strategy=[rule])
    objects = kq.Cluster(kq.ResourceFlavor("default"), check, queue)
    cluster = kq.load([kq.dump(objects), config(**spec)])
    return kq.Scheduler(cluster, checks={PROVISIONING: kq.sim.Provisioning("5m", **options)})


def test_only_workloads_with_managed_resources_wait_for_nodes():
    """Mirrors pkg/controller/admissionchecks/provisioning/controller.go:reqIsNeeded."""
    found = scheduler({"managedResources": ["gpu"]})
    pods = {name: kq.PodSet.of(requests={name: 1}) for name in ("cpu", "gpu")}
    found.submit(kq.Workload(name, queue_name="team", pod_sets=[pods[name]]) for name in pods)
    found.settle()
    admitted = {name: found.workload(name).status.is_true("Admitted") for name in pods}
    assert admitted == {"cpu": True, "gpu": False}
    assert found.workload("cpu").status.admission_checks[0].message == "the provisioning request is not needed"


def attempts(spec):
    """Return the number of provisioning attempts until rejection, and the time in seconds."""
    found = scheduler(spec, fails=lambda _, attempt: bool(made.append(attempt)) or True)
    made = []
    found.submit({"name": "job", "queue": "team", "cpu": 1})
    for _ in range(200):
        found.settle()
        if not found.workload("job").active:
            return len(made), found.now
        found.advance(60)
    return len(made), None


def test_failures_are_retried_by_the_retry_strategy():
    assert attempts({})[0] == 4
    assert attempts({"retryStrategy": {"backoffBaseSeconds": 0, "backoffLimitCount": 2}}) == (3, 900.0)
    assert attempts({"retryStrategy": {"backoffLimitCount": 0}}) == (1, 300.0)
