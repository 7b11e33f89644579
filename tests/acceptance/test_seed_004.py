"""A pool of on-demand and spot nodes in v1alpha2, and a job for it."""

from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.platform.visibility import local_queue_status

SEEDS = Path(__file__).parents[2] / "examples" / "seeds" / "004"
TOLERANT = {"tolerations": [kq.Toleration("spot", "Exists", effect="NoSchedule")]}


@pytest.fixture
def pool(seed):
    return seed("004/research-pool")


def _submit(story, count, **options):
    story.submit("training", count, pods=3, namespace="team-ml", name="job", **options)
    story.settle()


def test_OBJ_05_OBJ_25_the_file_loads_in_either_order(manifest):
    found = manifest("004/research-pool")
    documents = (SEEDS / "research-pool.yaml").read_text(encoding="utf-8").split("---\n")

    turned = kq.manifest.load("---\n".join(reversed(documents)))
    assert {obj.key: obj for obj in turned.objects()} == {obj.key: obj for obj in found.objects()}
    assert [flavor.name for flavor in found.resource_flavors] == ["ondemand", "spot"]
    (group,) = found.cluster_queues[0].resource_groups
    assert [flavor.resources[0].nominal_quota for flavor in group.flavors] == [1000, 2000]
    assert found.local_queues == (kq.LocalQueue("training", namespace="team-ml", cluster_queue="research-pool"),)


def test_FL_02_QT_23_first_1000_cores_on_demand_then_2000_spot(pool):
    _submit(pool, 1000, **TOLERANT)

    assert pool.used("research-pool", flavor="ondemand") == 999
    assert pool.used("research-pool", flavor="spot") == 1998
    assert len(pool.running()) == 999
    assert [pool.flavors(f"team-ml/job-{n:04d}")["cpu"] for n in (0, 332, 333, 998)] == [
        "ondemand",
        "ondemand",
        "spot",
        "spot",
    ]
    _, message = pool.condition("team-ml/job-0999")
    assert "2 more needed" in message
    assert "1 more needed" in message


def test_FL_03_without_the_toleration_333_jobs_run_on_demand(pool):
    _submit(pool, 334)

    assert len(pool.running()) == 333
    assert "untolerated taint {spot true NoSchedule <nil>} in flavor spot" in pool.condition("team-ml/job-0333")[1]


def test_FL_05_T_11_affinity_excludes_flavors(pool):
    _submit(pool, 2, node_selector={"instance-type": "spot"}, **TOLERANT)

    assert pool.used("research-pool", flavor="spot") == 6


def test_FL_05_without_the_toleration_no_flavor_matches(pool):
    _submit(pool, 2, node_selector={"instance-type": "spot"})

    assert pool.condition("team-ml/job-0000")[0] == "NoMatchingFlavor"


def test_FL_05_a_label_that_no_flavor_has_is_ignored(pool):
    _submit(pool, 2, node_selector={"zone": "a"})

    assert pool.used("research-pool", flavor="ondemand") == 6


@pytest.fixture
def job():
    return kq.manifest.load([SEEDS / "research-pool.yaml", SEEDS / "sample-job.yaml"]).jobs[0]


def test_Q_18_T_10_the_annotation_is_read_next_to_v1alpha2_objects_with_a_note(job):
    assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "training"}
    (note,) = kq.manifest.load([SEEDS / "research-pool.yaml", SEEDS / "sample-job.yaml"]).notes
    assert "metadata.annotations[kueue.x-k8s.io/queue-name]: counts beside objects of v1alpha2; since v0.3" in str(note)
    alone = kq.manifest.load(SEEDS / "sample-job.yaml")
    assert "labels" not in alone.jobs[0]["metadata"]
    assert "does not count; since v0.3 a label of that key names the queue" in str(alone.notes[0])


def test_Q_18_the_label_has_precedence_over_the_annotation(job):
    labels = {"kueue.x-k8s.io/queue-name": "other"}
    (workload,) = kq.jobs.to_workloads([{**job, "metadata": {**job["metadata"], "name": "x", "labels": labels}}])

    assert workload.queue_name == "other"


def test_IN_01_three_pods_of_one_core(job):
    (workload,) = kq.jobs.to_workloads([{**job, "metadata": {**job["metadata"], "name": "x"}}])

    (pod_set,) = workload.pod_sets
    assert (pod_set.name, pod_set.count) == ("main", 3)


def test_Q_21_a_job_is_suspended_when_it_is_created(job):
    held = kq.jobs.suspend({**job, "spec": {**job["spec"], "suspend": False}})

    assert held["spec"]["suspend"] is True


@pytest.mark.parametrize(("earlier", "flavor"), [(0, "ondemand"), (333, "spot")])
def test_Q_22_FL_07_FL_08_one_change_starts_it_with_the_labels_of_its_flavor(pool, job, earlier, flavor):
    _submit(pool, earlier, **TOLERANT)
    (key,) = pool.scheduler.submit(kq.jobs.suspend({**job, "metadata": {**job["metadata"], "name": "sample"}}))
    pool.settle()

    patch = pool.scheduler.start_patch(key)
    assert patch["spec"]["suspend"] is False
    assert patch["spec"]["template"]["spec"] == {"nodeSelector": {"instance-type": flavor}}
    assert pool.used("research-pool", flavor=flavor) == 3


def test_FL_07_labels_of_the_pods_are_kept_and_the_template_is_restored_when_they_stop(pool, job):
    manifest = kq.jobs.suspend({**job, "metadata": {**job["metadata"], "name": "sample"}})
    manifest["spec"]["template"]["spec"]["nodeSelector"] = {"instance-type": "spot", "disk": "ssd"}
    (key,) = pool.scheduler.submit(manifest)
    pool.settle()

    started = kq.jobs.apply_patch(manifest, pool.scheduler.start_patch(key))
    assert started["spec"]["suspend"] is False
    assert started["spec"]["template"]["spec"]["nodeSelector"] == {"instance-type": "spot", "disk": "ssd"}
    assert started["spec"]["template"]["spec"]["tolerations"] == manifest["spec"]["template"]["spec"]["tolerations"]

    (other,) = pool.scheduler.submit(kq.jobs.suspend({**job, "metadata": {**job["metadata"], "name": "plain"}}))
    pool.settle()
    before = pool.scheduler._state.store.jobs.get(other)
    running = kq.jobs.apply_patch(before, pool.scheduler.start_patch(other))
    assert running["spec"]["template"]["spec"]["nodeSelector"] == {"instance-type": "ondemand"}
    stop = kq.jobs.stop_patch(running, pool.scheduler.workload(other))
    assert kq.jobs.apply_patch(running, stop)["spec"] == before["spec"]


def test_Q_23_a_job_is_considered_when_it_is_the_head(pool):
    pool.submit("training", 2, name="job", namespace="team-ml")
    (decision,) = pool.scheduler.cycle()

    assert decision.workload == "team-ml/job-0000"


def test_OBJ_14_the_local_queues_of_a_namespace_and_their_pending_counts(pool):
    _submit(pool, 1000, **TOLERANT)
    pool.scheduler.apply(kq.LocalQueue("elsewhere", namespace="other", cluster_queue="research-pool"))

    queues = local_queue_status(pool.scheduler)
    of_team = {key: status for key, status in queues.items() if key.startswith("team-ml/")}
    assert list(of_team) == ["team-ml/training"]
    (status,) = of_team.values()
    assert (status.pending_workloads, status.admitted_workloads) == (1, 999)
    assert status.flavors == ("ondemand", "spot")


def test_WL_17_a_suspended_job_can_be_changed_and_starts_with_the_change(pool, job):
    manifest = kq.jobs.suspend({**job, "metadata": {**job["metadata"], "name": "sample"}})
    manifest["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    manifest["spec"]["parallelism"] = manifest["spec"]["completions"] = 2
    (key,) = pool.scheduler.submit(manifest)
    pool.settle()

    started = kq.jobs.apply_patch(manifest, pool.scheduler.start_patch(key))
    assert started["spec"]["parallelism"] == 2
    assert started["spec"]["template"]["spec"]["nodeSelector"] == {"disk": "ssd", "instance-type": "ondemand"}
    assert pool.used("research-pool", flavor="ondemand") == 2
