"""Jobs as users write them: batch/v1 Jobs, custom kinds, labels, and table rows (IN).

There are no recordings of Kueue for jobs; each test names its sources in Kueue.
"""

import msgspec
import pytest
import yaml

import kueuepy as kq
from job_manifests import CLUSTER, example, minimal_job
from kueuepy.jobs import BaseJob, PodSetPath, PodSetSource, path_kind, register

QUEUE = "kueue.x-k8s.io/queue-name"


@pytest.fixture
def scheduler():
    """The cluster of the examples: 500 CPUs of spot nodes."""
    return kq.Scheduler(kq.load(CLUSTER))


def _cpus(scheduler):
    return scheduler._engine.usage()["cluster-total"]["spot/cpu"] / 1000


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({"parallelism": 3, "completions": 3}, 3),
        ({"parallelism": 5, "completions": 3}, 3),
        ({"parallelism": 3, "completions": 5}, 3),
        ({"parallelism": 3}, 3),
        ({}, 1),
    ],
)
def test_IN_01_a_job_is_one_pod_set_of_its_parallelism_or_of_fewer_completions(scheduler, spec, count):
    """`pkg/controller/jobs/job/job_controller.go:PodSets,podsCount`."""
    (key,) = scheduler.submit(minimal_job(**spec))
    scheduler.settle()
    assert [(p.name, p.count) for p in scheduler.workload(key).pod_sets] == [("main", count)]
    assert _cpus(scheduler) == count


def test_IN_02_one_change_starts_a_job_and_one_stops_it(scheduler):
    """`pkg/controller/jobs/job/job_controller.go:RunWithPodSetsInfo,Suspend,RestorePodSetsInfo`,
    `pkg/controller/jobframework/reconciler.go:startJob,stopJob`.
    """
    (key,) = scheduler.submit(example("job")[0])
    with pytest.raises(kq.errors.StateError, match="has no admission"):
        scheduler.start_patch(key)
    assert scheduler.stop_patch(key) == {}
    scheduler.settle()
    spot = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
    marks = {
        "labels": {
            "kueue.x-k8s.io/podset": "main",
            "kueue.x-k8s.io/local-queue-name": "training",
            "kueue.x-k8s.io/cluster-queue-name": "cluster-total",
        },
        "annotations": {"kueue.x-k8s.io/workload": key.partition("/")[2]},
    }
    pods = {"nodeSelector": {"instance-type": "spot"}, "tolerations": [spot, {"key": "reserved", "operator": "Exists"}]}
    assert scheduler.start_patch(key) == {"spec": {"suspend": False, "template": {"metadata": marks, "spec": pods}}}
    restored = {"nodeSelector": None, "tolerations": [spot]}
    assert scheduler.stop_patch(key) == {"spec": {"suspend": True, "template": {"metadata": None, "spec": restored}}}


def test_IN_02_an_evicted_job_is_stopped_by_a_patch_of_its_current_manifest(scheduler):
    """`pkg/controller/jobframework/reconciler.go:stopJob`: the template is restored from the Workload."""
    held = kq.jobs.suspend(example("job")[0])
    (key,) = scheduler.submit(held)
    scheduler.settle()
    running = kq.jobs.apply_patch(held, scheduler.start_patch(key))
    queue = scheduler.cluster.get(kq.ClusterQueue, "cluster-total")
    scheduler.apply(msgspec.structs.replace(queue, stop_policy="HoldAndDrain"))
    scheduler.settle()
    assert not scheduler.workload(key).status.is_true("Admitted")
    assert kq.jobs.apply_patch(running, scheduler.stop_patch(key, running=running)) == held


SWEEP = """
apiVersion: example.com/v1
kind: Sweep
metadata: {name: s, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: training}}
spec:
  size: 4
  suspend: false
  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
"""


class _Batch(BaseJob):
    """A kind as a class."""

    kind = "Sweep"
    api_versions = ("example.com/v1",)

    def slots(self, root):
        spec = root.section("spec")
        return [PodSetSource("trial", spec.count("size", 1), spec.section("template"))]


BY_PATHS = path_kind("Sweep", "example.com/v1", [PodSetPath("trial", "spec.template", count="spec.size")])


@pytest.mark.usefixtures("own_kinds")
@pytest.mark.parametrize("kind", [BY_PATHS, _Batch], ids=["paths", "class"])
def test_IN_03_a_registered_custom_kind_is_read_from_manifests_and_works_like_other_kinds(kind):
    """`pkg/controller/jobframework/interface.go:GenericJob`: everything that Kueue needs for a kind."""
    (note,) = kq.load([CLUSTER, SWEEP]).notes
    assert "Kueue has no integration for its kind, and does not manage it; skipped" in str(note)

    register(kind, "Sweep", "example.com/v1")
    cluster = kq.load([CLUSTER, SWEEP])
    assert (cluster.notes, cluster.jobs) == ((), (yaml.safe_load(SWEEP),))
    scheduler = kq.Scheduler(cluster)
    (key,) = scheduler.keys()
    scheduler.settle()
    assert [(p.name, p.count) for p in scheduler.workload(key).pod_sets] == [("trial", 4)]
    assert _cpus(scheduler) == 8
    held = kq.jobs.suspend(cluster.jobs[0])
    assert held["spec"]["suspend"] is True
    started = kq.jobs.apply_patch(held, scheduler.start_patch(key))
    assert started["spec"]["suspend"] is False
    assert started["spec"]["template"]["spec"]["nodeSelector"] == {"instance-type": "spot"}
    assert kq.jobs.apply_patch(started, scheduler.stop_patch(key)) == held


def test_IN_14_the_labels_of_users(scheduler):
    """`pkg/controller/jobframework/utils.go:MaximumExecutionTimeSeconds,QueueName,PrebuiltWorkloadNameFor`,
    `pkg/controller/jobframework/reconciler.go:ExtractPriority`.
    """
    labels = {
        "kueue.x-k8s.io/priority-class": "high",
        "kueue.x-k8s.io/max-exec-time-seconds": "3600",
        "kueue.x-k8s.io/prebuilt-workload-name": "made-before",
    }
    assert scheduler.submit(minimal_job(labels=labels)) == ("team-a/made-before",)
    workload = scheduler.workload("team-a/made-before")
    assert (workload.queue_name, workload.priority) == ("training", 1000)
    assert workload.priority_class_ref == kq.objects.PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "high")
    assert workload.maximum_execution_time_seconds == 3600
    scheduler.settle()
    scheduler.advance(3600)
    scheduler.settle()
    assert not scheduler.workload("team-a/made-before").active


def test_IN_14_the_annotations_of_topologies():
    """`pkg/controller/jobframework/tas.go:Build`."""
    annotations = {"kueue.x-k8s.io/podset-preferred-topology": "cloud.example.com/block"}
    (pod_set,) = kq.jobs.to_workload(minimal_job(pod_annotations=annotations)).pod_sets
    assert pod_set.topology_request == {
        "preferred": "cloud.example.com/block",
        "podIndexLabel": "batch.kubernetes.io/job-completion-index",
    }


def test_IN_14_the_annotation_of_the_first_versions_is_read_only_on_request():
    """`pkg/controller/jobframework/utils.go:QueueNameForObject`: a label since v0.3."""
    old = minimal_job(annotations={QUEUE: "old"})
    assert kq.jobs.to_workload(old, queue_name_annotation=True).queue_name == "training"
    del old["metadata"]["labels"][QUEUE]
    assert kq.jobs.to_workload(old).queue_name == ""
    assert kq.jobs.to_workload(old, queue_name_annotation=True).queue_name == "old"


ROW = {"name": "train", "queue": "vision", "cpu": 8, "mem": "64Gi", "gpu": 2, "pods": 4, "priority": 10}


def test_IN_15_a_row_of_a_table_is_a_workload():
    submission = kq.jobs.from_row(ROW | {"submit": 1.5, "duration": 3600})
    assert submission.workload.creation_timestamp.timestamp() == 1.5
    assert submission.duration == 3600


def test_IN_15_a_frame_of_rows_is_submitted_at_once(stage):
    pandas = pytest.importorskip("pandas")
    quota = {"default": {"cpu": 64, "memory": "512Gi", "nvidia.com/gpu": 16}}
    story = stage(kq.ResourceFlavor("default"), kq.ClusterQueue.of("vision", quota))
    keys = story.scheduler.submit(pandas.DataFrame([ROW, ROW | {"name": "tune", "priority": 20}]))
    story.settle()
    assert keys == ("default/train", "default/tune")
    assert [story.scheduler.workload(key).priority for key in keys] == [10, 20]
    assert [story.used("vision", resource) for resource in ("cpu", "memory", "nvidia.com/gpu")] == [64, 512 * 2**30, 16]
