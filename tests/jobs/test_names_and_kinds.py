"""Names and kinds of submitted jobs, and the patches that start their Workloads."""

import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.manifest.convert import write_configuration

POD = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": 1}}}]}


def cluster(configuration=None):
    queue = kq.ClusterQueue.of("team", {"default": {"cpu": 9}})
    return kq.Cluster(kq.ResourceFlavor("default"), queue, configuration=configuration)


def job(api_version="batch/v1", kind="Job", *, spec=None, **metadata):
    labels = {"kueue.x-k8s.io/queue-name": "team"}
    template = {"template": {"spec": {**POD, "restartPolicy": "Never"}}}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"namespace": "default", "labels": labels, **(metadata or {"name": "a"})},
        "spec": template if spec is None else spec,
    }


def served(kind, replicas):
    template = {"metadata": {"labels": {"app": "a"}}, "spec": POD}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    return job("apps/v1", kind, spec=spec)


GENERATED = job(generateName="sample-job-")


def test_each_generated_job_name_is_unique():
    scheduler = kq.Scheduler(cluster())
    keys = [*scheduler.submit(GENERATED, GENERATED), *scheduler.submit(GENERATED)]
    names = [key.removeprefix("default/job-sample-job-")[:5] for key in keys]
    assert names == ["00001", "00002", "00003"]
    assert scheduler.fork().submit(GENERATED) == scheduler.submit(GENERATED)


def test_a_workload_is_found_by_job_name_or_generate_name():
    scheduler = kq.Scheduler(cluster())
    (key,) = scheduler.submit(GENERATED)
    assert (
        scheduler.workload("sample-job-00001") == scheduler.workload("default/sample-job-") == scheduler.workload(key)
    )
    assert scheduler.explain("sample-job-").workload == key
    scheduler.submit(GENERATED)
    with pytest.raises(
        kq.errors.NotFoundError, match=r"its job has default/job-sample-job-00001-\w+, default/job-sample"
    ):
        scheduler.workload("sample-job-")


def test_jobs_with_one_generated_name_have_separate_workloads(tmp_path, capsys):
    manifest = tmp_path / "job.json"
    both = {"apiVersion": "v1", "kind": "List", "items": [GENERATED, GENERATED]}
    manifest.write_text(str(both).replace("'", '"'))
    base = tmp_path / "cluster.yaml"
    kq.dump(cluster(), base)
    assert main(["run", str(base), str(manifest)]) == 0
    assert "2 admissions" in capsys.readouterr().out
    single = tmp_path / "single.json"
    single.write_text(str(GENERATED).replace("'", '"'))
    assert main(["explain", "sample-job-", str(base), str(single)]) == 0
    assert "is admitted" in capsys.readouterr().out


CONFIGURATION = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations: {{frameworks: [{}]}}
"""


def only(frameworks):
    return kq.load(CONFIGURATION.format(frameworks)).configuration


@pytest.mark.parametrize(
    ("frameworks", "manifest", "managed"),
    [
        ("batch/job", job(), True),
        ("batch/job", served("Deployment", 1), False),
        ("deployment", served("Deployment", 1), True),
        ("statefulset", job("v1", "Pod", spec=POD), False),
        ("statefulset, pod", job("v1", "Pod", spec=POD), True),
        ("batch/job", job("v1", "Pod", spec=POD), False),
    ],
)
def test_only_the_kinds_that_a_configuration_lists_are_managed(frameworks, manifest, managed):
    scheduler = kq.Scheduler(cluster(only(frameworks)))
    if managed:
        assert len(scheduler.submit(manifest)) == 1
    else:
        with pytest.raises(kq.errors.InvalidSpecError, match="is not a job that Kueue manages"):
            scheduler.submit(manifest)


def test_an_unknown_kind_is_rejected_with_a_suggestion():
    with pytest.raises(kq.errors.InvalidSpecError, match=r'integrations.frameworks\[0\]: "batch/jobb" .* "batch/job"'):
        only("batch/jobb")
    with pytest.raises(kq.errors.InvalidSpecError, match="occurs twice"):
        only("pod, pod")


def test_kinds_are_written_as_they_were_read():
    assert write_configuration(only("batch/job, pod"))["integrations"] == {"frameworks": ["batch/job", "pod"]}
    assert "integrations" not in write_configuration(kq.Configuration())


def test_check_explains_why_a_job_of_an_unlisted_kind_is_ignored(tmp_path, capsys):
    path = tmp_path / "all.yaml"
    kq.dump(cluster(only("pod")), path)
    (tmp_path / "job.json").write_text(str(job()).replace("'", '"'))
    main(["check", str(tmp_path)])
    assert "its kind is not among integrations.frameworks" in capsys.readouterr().out


def test_each_pod_of_a_deployment_is_started_by_its_own_patch():
    scheduler = kq.Scheduler(cluster())
    keys = scheduler.submit(served("Deployment", 3))
    scheduler.settle()
    patches = [scheduler.start_patch(key) for key in keys]
    assert len(patches) == 3
    assert all(patch["spec"]["schedulingGates"] is None for patch in patches)
    assert [scheduler.stop_patch(key) for key in keys] == [None, None, None]


def test_replicas_of_a_leader_worker_set_are_started_separately():
    scheduler = kq.Scheduler(cluster())
    spec = {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": POD}}}
    keys = scheduler.submit(job("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec=spec))
    scheduler.settle()
    assert [scheduler.start_patch(key) for key in keys] == [{}, {}]


def elastic(parallelism, name="grows"):
    spec = {"template": {"spec": {**POD, "restartPolicy": "Never"}}, "parallelism": parallelism, "completions": 20}
    annotations = {"kueue.x-k8s.io/elastic-job": "true"}
    return job(spec=spec, name=name, annotations=annotations)


def used(scheduler):
    return scheduler.usage.value("team", "default", "cpu")


def test_a_growing_elastic_job_is_counted_once():
    """Mirrors pkg/workloadslicing/workloadslicing.go:EnsureWorkloadSlices."""
    scheduler = kq.Scheduler(cluster())
    (first,) = scheduler.submit(elastic(3))
    scheduler.settle()
    assert scheduler.submit(elastic(3)) == (first,)
    (second,) = scheduler.submit(elastic(7))
    assert second != first
    assert used(scheduler) == 3000
    scheduler.settle()
    assert used(scheduler) == 7000
    assert scheduler.workload(first).status.is_true("Finished")
    assert scheduler.workload(second).annotations["kueue.x-k8s.io/workload-slice-replacement-for"] == first


def test_a_shrinking_or_waiting_elastic_job_keeps_its_workload():
    scheduler = kq.Scheduler(cluster())
    (key,) = scheduler.submit(elastic(20))
    scheduler.settle()
    assert scheduler.submit(elastic(8)) == (key,)
    scheduler.settle()
    assert used(scheduler) == 8000
    assert scheduler.submit(elastic(2)) == (key,)
    scheduler.settle()
    assert used(scheduler) == 2000
    assert len(scheduler.keys()) == 1


def test_a_growing_elastic_job_replaces_no_workload_of_another_job():
    scheduler = kq.Scheduler(cluster())
    scheduler.submit({"name": "row", "queue": "team", "cpu": 1})
    (first,) = scheduler.submit(elastic(3))
    (other,) = scheduler.submit(elastic(2, "other"))
    scheduler.settle()
    (second,) = scheduler.submit(elastic(4))
    assert scheduler.workload(second).annotations["kueue.x-k8s.io/workload-slice-replacement-for"] == first
    assert scheduler.submit(elastic(2, "other")) == (other,)
