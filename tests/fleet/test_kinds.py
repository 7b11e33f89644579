"""The kinds of jobs that a fleet dispatches.

Source: `pkg/controller/admissionchecks/multikueue/workload.go:Reconcile`, and the `*_multikueue_adapter.go` of
`pkg/controller/jobs`.
"""

from __future__ import annotations

import pytest

import kueuepy as kq
from job_manifests import CLUSTER, NAMES, example
from kueuepy.jobs import PodSetPath, path_kind, register
from kueuepy.objects import Configuration, MultiKueueSettings

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
ADMITTED = 'The workload was admitted on "w1"'
CONTROLLERS = {
    "appwrapper": "workload.codeflare.dev/appwrapper-controller",
    "job": "kubernetes.io/job-controller",
    "jobset": "jobset.sigs.k8s.io/jobset-controller",
    "mpijob": "kubeflow.org/mpi-operator",
    "pytorchjob": "kubeflow.org/training-operator",
    "raycluster": "ray.io/kuberay-operator",
    "rayjob": "ray.io/kuberay-operator",
    "rayservice": "ray.io/kuberay-operator",
    "trainjob": "trainer.kubeflow.org/trainjob-controller",
}
IN_RUN_POLICY = {"jaxjob", "mpijob", "paddlejob", "pytorchjob", "tfjob", "xgboostjob"}


def fleet(config=None, related=()):
    worker = kq.load(CLUSTER)
    made = kq.Fleet({"w1": worker}).manager
    manager = kq.load([kq.dump(made.replace(*worker.priority_classes)), *related])
    return kq.FleetScheduler(kq.Fleet({"w1": worker}, manager.replace(configuration=config or made.configuration)))


def submitted(name, config=None, **fields):
    """A fleet with one example job, whose `managedBy` may be given, and the key of its workload."""
    manifest, related = example(name)
    if name == "jobset":  # the cluster has no topology
        del manifest["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["metadata"]
    spec = manifest.get("spec", {})
    (spec.setdefault("runPolicy", {}) if name in IN_RUN_POLICY else spec).update(fields)
    step = fleet(config, related)
    key, *_ = step.manager.submit(manifest)
    step.manager.settle()
    return step, key


def conditions(step, key):
    return {c.type for c in step.manager.workload(key).status.conditions if c.status == "True"}


def evict(step, key):
    namespace, name = key.split("/")
    metadata = {"name": name, "namespace": namespace}
    step.manager.patch({"kind": "Workload", "metadata": metadata, "spec": {"active": False}})
    step.manager.settle()
    assert "Evicted" in conditions(step, key)


def dispatched(step):
    step.dispatch()
    step["w1"].settle()
    step.dispatch()


@pytest.mark.parametrize("name", [n for n in NAMES if n != "sparkapplication"])
def test_jobs_of_these_kinds_run_on_a_worker(name):
    step, key = submitted(name)
    dispatched(step)
    status = step.status(key)
    assert (status.check, status.message, status.cluster) == ("Ready", ADMITTED, "w1")
    assert [copy.has_job for copy in status.copies] == [True]
    step.manager.settle()
    step.finish(key, message="Done")
    step.dispatch()
    assert "Finished" in conditions(step, key)


def test_a_kind_without_an_adapter_is_rejected():
    step, key = submitted("sparkapplication", Configuration(feature_gates={"SparkApplicationIntegration": True}))
    assert step.dispatch() == ()
    kind = '"sparkoperator.k8s.io/v1beta2, Kind=SparkApplication"'
    status = step.status(key)
    assert status.check == "Rejected"
    assert status.message == f'No multikueue adapter found for owner kind {kind}, Previously: "Pending"'
    step.manager.settle()
    assert "QuotaReserved" not in conditions(step, key)
    assert step.dispatch() == ()


@pytest.mark.parametrize(("name", "controller"), CONTROLLERS.items())
def test_the_own_controller_of_a_kind_gives_way_to_multikueue(name, controller):
    step, key = submitted(name, managedBy=controller)
    dispatched(step)
    assert step.status(key).check == "Ready"


@pytest.mark.parametrize("name", [*CONTROLLERS, "tfjob"])
def test_a_job_of_another_controller_is_rejected(name):
    step, key = submitted(name, managedBy="example.com/own")
    assert step.dispatch() == ()
    field = "spec.runPolicy.managedBy" if name == "mpijob" else "spec.managedBy"
    expected = f'Expecting {field} to be "{MULTIKUEUE}" not "example.com/own"'
    status = step.status(key)
    assert (status.check, status.message) == (
        "Rejected",
        f'The owner is not managed by Kueue: {expected}, Previously: "Pending"',
    )
    step.manager.settle()
    assert step.status(key).message == "Reset to Pending after eviction. Previously: Rejected"
    step.dispatch()
    assert step.status(key) == status


def test_a_stateful_set_has_no_managed_by():
    step, key = submitted("statefulset", managedBy="example.com/own")
    dispatched(step)
    assert step.status(key).check == "Ready"


def test_only_the_frameworks_of_the_configuration_have_adapters():
    step = fleet(Configuration(frameworks=("batch/job",)))
    reference = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "js", "uid": "1"}
    owned = kq.Workload("js", namespace="team-a", queue_name="training", owner_references=(reference,))
    step.manager.submit(owned)
    step.manager.settle()
    step.dispatch()
    message = 'No multikueue adapter found for owner kind "jobset.x-k8s.io/v1alpha2, Kind=JobSet"'
    assert step.status("team-a/js").message == f'{message}, Previously: "Pending"'


def sweep(**fields):
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
    metadata = {"name": "sweep", "namespace": "team-a", "labels": {"kueue.x-k8s.io/queue-name": "training"}}
    spec = {"trial": template} | fields
    return {"apiVersion": "fleets.example/v1", "kind": "Sweep", "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module", autouse=True)
def sweeps():
    kind = path_kind("Sweep", "fleets.example/v1", [PodSetPath("trial", "spec.trial")])
    register(kind, "Sweep", "fleets.example/v1")


UNMANAGED = f'The owner is not managed by Kueue: Expecting .spec.managedBy to be "{MULTIKUEUE}" not ""'
UNKNOWN = 'No multikueue adapter found for owner kind "fleets.example/v1, Kind=Sweep"'


@pytest.mark.parametrize(
    ("gate", "managed_by", "message"),
    [
        (True, {"managedBy": MULTIKUEUE}, ADMITTED),
        (True, {}, f'{UNMANAGED}, Previously: "Pending"'),
        (False, {"managedBy": MULTIKUEUE}, f'{UNKNOWN}, Previously: "Pending"'),
    ],
)
def test_a_custom_kind_runs_on_a_worker_if_the_configuration_names_it(gate, managed_by, message):
    settings = MultiKueueSettings(external_frameworks=("Sweep.v1.fleets.example",))
    gates = {"MultiKueueAdaptersForCustomJobs": gate}
    step = fleet(Configuration(multi_kueue=settings, feature_gates=gates))
    (key,) = step.manager.submit(sweep(**managed_by))
    step.manager.settle()
    dispatched(step)
    assert step.status(key).message == message


@pytest.mark.parametrize(
    ("name", "waits"),
    [
        ("job", False),
        ("jobset", True),
        ("pod", True),
        ("podgroup", True),
        ("statefulset", False),
        ("leaderworkerset", False),
    ],
)
def test_the_status_that_is_copied_before_the_start_keeps_the_quota_of_an_evicted_job(name, waits):
    """Kueue releases the quota of an evicted workload when its job on the manager has no active pods.

    The manager's job starts after this copy. The copy then already contains the pods of a JobSet, but not of a Job.
    """
    step, key = submitted(name)
    dispatched(step)
    step["w1"].settle()
    step.dispatch()
    step.manager.settle()
    evict(step, key)
    assert ("QuotaReserved" in conditions(step, key)) is waits


@pytest.mark.parametrize(
    ("name", "waits"),
    [("job", True), ("jobset", True), ("pod", True), ("statefulset", False), ("leaderworkerset", False)],
)
def test_the_pods_on_the_worker_keep_the_quota_of_an_evicted_job(name, waits):
    step, key = submitted(name)
    dispatched(step)
    step.manager.settle()
    step["w1"].settle()
    step.dispatch()
    evict(step, key)
    assert ("QuotaReserved" in conditions(step, key)) is waits


# --- jobs that workloads share: `workload.go:reconcileGroup,nominateAndSynchronizeWorkers,syncToSingleCluster` --------


def shared(name, **quota):
    """A fleet of two workers with one example job, its manifest, and the keys of its workloads."""
    manifest, _ = example(name)
    worker = kq.load(CLUSTER)
    step = kq.FleetScheduler(kq.Fleet({"w1": worker, "w2": worker.edit_all(quota)}))
    keys = step.manager.submit(manifest)
    step.manager.settle()
    return step, manifest, keys


def moves(step, *keys):
    """What a dispatch does, with the place of each workload in `keys`."""
    return [f"{move.what} {move.cluster} {keys.index(move.workload)}" for move in step.dispatch()]


def test_the_groups_of_a_leader_worker_set_follow_the_first_to_its_cluster_and_share_its_job():
    step, _, keys = shared("leaderworkerset")
    assert moves(step, *keys) == ["created w1 0", "created w2 0"]
    step["w2"].settle()
    assert moves(step, *keys) == ["deleted w1 0", "started w2 0", "created w2 1"]
    assert [step.status(key).cluster for key in keys] == ["w2", None]
    assert step.status(keys[1]).nominated == ("w2",)
    assert [copy.has_job for copy in step.status(keys[1]).copies] == [True]
    step["w2"].settle()
    assert moves(step, *keys) == []
    assert step.status(keys[1]).message == 'The workload was admitted on "w2"'


def test_the_groups_of_a_leader_worker_set_wait_until_all_have_a_workload():
    step, _, (first, second) = shared("leaderworkerset")
    step.manager.delete(second)
    assert moves(step, first) == []


def test_the_job_of_a_leader_worker_set_is_deleted_for_each_group_without_quota():
    """Kueue makes it again for the other groups, as the recorded scenarios with LeaderWorkerSets show."""
    step, _, keys = shared("leaderworkerset")
    step.dispatch()
    step["w1"].settle()
    step.dispatch()
    step["w1"].settle()
    step.dispatch()
    step.manager.settle()
    evict(step, keys[1])
    step.manager.settle()
    assert moves(step, *keys) == ["stopped w1 1", "deleted w1 1", "started w1 0", "stopped w1 1"]
    step.manager.delete(keys[1])
    assert moves(step, *keys) == ["started w1 0", "stopped w1 1"]
    assert [moves(step, *keys), moves(step, *keys)] == [["started w1 0"], []]
    step.finish(keys[0])
    assert moves(step, *keys) == ["stopped w1 0", "deleted w1 0"]


def test_a_slice_takes_over_the_job_on_the_cluster_of_the_slice_that_it_replaces():
    step, manifest, keys = shared("job-elastic")
    step.dispatch()
    step["w2"].settle()
    assert moves(step, *keys) == ["deleted w1 0", "started w2 0"]
    step.manager.settle()
    manifest["spec"]["parallelism"] = 4
    keys += step.manager.submit(manifest)
    step.manager.settle()
    assert step.status(keys[1]).cluster == "w2"
    assert moves(step, *keys) == ["created w2 1"]
    step["w2"].settle()
    assert moves(step, *keys) == []
    assert [(copy.state, copy.has_job) for copy in step.status(keys[1]).copies] == [("Admitted", True)]
    assert [copy.state for copy in step.status(keys[0]).copies] == ["Finished"]
    manifest["spec"]["parallelism"] = 2
    step.manager.submit(manifest)
    assert moves(step, *keys) == ["updated w2 1"]
    assert step["w2"].workload(keys[1]).pod_sets[0].count == 2
    step["w2"].finish(keys[1], reason="OutOfSync", message="Stale")
    step.dispatch()
    assert "Finished" in conditions(step, keys[1])


def test_the_queues_of_a_planned_manager_have_different_names():
    keys = ("a-b/c", "a/b-c", "x/c")
    pairs = [key.split("/") for key in keys]
    queues = [kq.LocalQueue(name, namespace=space, cluster_queue="q") for space, name in pairs]
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 1}})
    spaces = [kq.objects.Namespace(space) for space, _ in pairs]
    fleet = kq.Fleet({"w": kq.Cluster(kq.ResourceFlavor("f"), queue, *queues, *spaces)})
    assert {one.cluster_queue for one in fleet.manager.local_queues} == {"a-b.c", "a.b-c", "x.c"}
