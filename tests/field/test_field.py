"""Files and questions that people really have; README.md lists the sources."""

import json

import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.cli.logs import Log
from kueuepy.errors import InvalidSpecError
from kueuepy.manifest import ManifestError, load, to_dict
from kueuepy.objects import Pod

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: ml}
spec: {clusterQueue: q}
"""


def job(name, uid, *, status=None, cpu=1, **spec):
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}],
    }
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    metadata = {
        "name": name,
        "namespace": "ml",
        "uid": uid,
        "creationTimestamp": "2026-05-01T08:00:00Z",
        "labels": labels,
    }
    body = {"parallelism": 1, **spec, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": body, "status": status or {}}


def ended(kind, end):
    return {
        "startTime": "2026-05-01T08:05:00Z",
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": end}],
    }


@pytest.fixture
def files(tmp_path):
    def write(*jobs, more=""):
        (tmp_path / "queues.yaml").write_text(QUEUES + more, encoding="utf-8")
        (tmp_path / "jobs.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(jobs)}))
        return str(tmp_path / "queues.yaml"), str(tmp_path / "jobs.json")

    return write


@pytest.mark.parametrize(("status", "is_new"), [(ended("Complete", "2026-05-01T09:05:00Z"), False), ({}, True)])
def test_only_an_unfinished_job_makes_a_workload(files, status, is_new):
    scheduler = kq.Scheduler(kq.load(list(files(job("a", "u-1", status=status)))))

    assert bool(scheduler.keys()) is is_new


def test_a_job_whose_workload_is_in_the_dump_is_that_workload(files, capsys):
    first = kq.Scheduler(kq.load(list(files(job("a", "u-1")))))
    first.settle()
    (key,) = first.keys()
    paths = files(job("a", "u-1"), more="---\n" + json.dumps(to_dict(first.workload(key))))

    assert main(["explain", "a", *paths]) == 0
    assert f"{key} is admitted" in capsys.readouterr().out


def test_a_pending_workload_of_a_dump_is_explained_as_it_stands(files, capsys):
    first = kq.Scheduler(kq.load(list(files(job("a", "u-1", cpu=3), job("b", "u-2", cpu=3)))))
    first.settle()
    running, waiting = first.keys()
    first.finish(running)
    paths = files(more="---\n" + json.dumps(to_dict(first.workload(waiting))))

    assert main(["explain", waiting, *paths]) == 0
    out = capsys.readouterr().out
    assert f"{waiting} is pending and fits now" in out
    assert "after the next cycles: Admitted (f)" in out


def test_finished_jobs_are_a_log(files):
    paths = files(
        job("a", "u-1", status=ended("Complete", "2026-05-01T09:05:00Z")),
        job("b", "u-2", status=ended("Failed", "2026-05-01T08:35:00Z")),
    )
    jobs = Log().recorded(paths[1])

    assert [row["runtime"] for row in jobs.rows()] == [3600, 1800]
    assert [row["finish_reason"] for row in jobs.rows()] == ["Succeeded", "Failed"]


SACCT = """JobID|User|Account|Submit|Start|End|Elapsed|NNodes|NCPUS|ReqMem|AllocTRES|State
7|ann|a|2026-05-01T08:00:00|2026-05-01T08:00:05|2026-05-01T10:00:05|02:00:00|2|16|64G|cpu=16,gres/gpu:x=4,mem=64G|COMPLETED
7.batch||||2026-05-01T08:00:05|2026-05-01T10:00:05|02:00:00|2|16|||COMPLETED
8_[3-5:2%1]|bob|b|2026-05-01T08:10:00|Unknown|Unknown|00:00:00|1|8|2Gc||PENDING
9|bob|b|2026-05-01T08:20:00|Unknown|2026-05-01T08:30:00|00:00:00|1|1|1G||CANCELLED by 17
"""


def test_sacct_is_a_log(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT, encoding="utf-8")
    jobs = kq.Jobs.read(path)
    first, *waiting = jobs.rows()

    assert (first["runtime"], first["pods"], first["cpu"], first["nvidia.com/gpu"]) == (7200, 2, 8, 2)
    assert first["memory"] == 32 * 2**30
    assert [(row["name"], row["memory"], row["state"]) for row in waiting] == [
        ("8-3", 16 * 2**30, "PENDING"),
        ("8-5", 16 * 2**30, "PENDING"),
    ]
    assert jobs.notes == (("steps of jobs; left out", 1), ("ended before it started", 1))


def test_sacct_names_the_missing_field(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text("JobID|State\n1|RUNNING\n", encoding="utf-8")

    with pytest.raises(InvalidSpecError, match="has no field Submit"):
        kq.Jobs.read(path)


def test_a_partial_admission_shows_its_number_of_pods(files, capsys):
    small = job("a", "u-1", parallelism=6)
    small["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}

    assert main(["run", *files(small)]) == 0
    assert "4 of 6 pods; f (cpu)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("{{- if .Values.on }}\nkind: ClusterQueue\n{{- end }}\n", "helm template"),
        ("kind: ResourceFlavor\nspec:\n  %{ if x }\n", "terraform"),
        ("managerConfig: {controllerManagerConfigYaml: ''}\n", "helm template"),
    ],
)
def test_an_unrendered_template_says_how_to_render_it(text, how):
    with pytest.raises(ManifestError, match=how):
        load(text)


@pytest.mark.parametrize(("labels", "is_noted"), [({"kueue.x-k8s.io/queue-name": "lq"}, True), ({}, False)])
def test_a_queue_label_on_a_kind_without_an_integration_is_noted(labels, is_noted):
    metadata = {"name": "wf", "labels": labels}
    (note,) = load([{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata}]).notes

    assert ("Kueue has no integration" in str(note)) is is_noted


def test_the_status_of_a_pod_in_an_edit_has_its_effect():
    scheduler = kq.Scheduler(kq.Cluster(Pod.of("p", "n", requests={"cpu": 1})))
    scheduler.patch({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Succeeded"}})

    assert [pod.phase for pod in scheduler.cluster.pods] == ["Succeeded"]
