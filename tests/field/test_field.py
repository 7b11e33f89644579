"""Files and questions that people really have; README.md lists the sources."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import kueuepy as kq
from field.queues import QUEUES
from kueuepy.cli import main
from kueuepy.cli.logs import Log
from kueuepy.cli.rows import rows_of
from kueuepy.errors import InvalidSpecError
from kueuepy.manifest import ManifestError, load, to_dict
from kueuepy.objects import Pod


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


@pytest.mark.parametrize("status", [{"active": 1, "startTime": "2026-05-01T08:05:00Z"}, {}])
@pytest.mark.parametrize("flags", [{"controller": True}, {}])
def test_the_owner_of_a_workload_is_its_job_whatever_its_name(files, capsys, status, flags):
    first = kq.Scheduler(kq.load(list(files(job("a", "u-1")))))
    first.settle()
    stored = to_dict(first.workload(first.keys()[0]))
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": "u-1", **flags}
    stored["metadata"] = {"name": "other", "namespace": "ml", "ownerReferences": [owner]}
    paths = files(job("a", "u-1", status=status), more="---\n" + json.dumps(stored))

    assert kq.Scheduler(kq.load(list(paths))).keys() == ("ml/other",)
    assert main(["explain", "a", *paths]) == 0
    assert "ml/other is admitted" in capsys.readouterr().out
    assert main(["import", *paths]) == 0
    assert "running without a Workload" not in "".join(capsys.readouterr())


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


def test_the_first_pod_of_a_group_that_starts_ends_its_wait(files):
    def pod(name, start):
        one = job(name, f"u-{name}", status={"phase": "Running", "startTime": f"2026-05-01T08:{start}:00Z"})
        one["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"] = "g"
        one["metadata"]["annotations"] = {"kueue.x-k8s.io/pod-group-total-count": "2"}
        return one | {"apiVersion": "v1", "kind": "Pod", "spec": one["spec"]["template"]["spec"]}

    jobs = Log().recorded(files(pod("a", "40"), pod("b", "10"))[1])
    assert [row["recorded_wait"] for row in jobs.rows()] == [600]


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
    left_out = (("steps of jobs; left out", 1), ("ended before it started; left out (first: sacct.txt:5)", 1))
    assert jobs.notes == (*left_out, ("not finished; runtime is the time run so far", 2))
    with rows_of(str(path)) as rows:
        # The columns of the user and the state come from the log, so that they are ignored is not noted.
        assert rows.notes == tuple(f"{path}: 1 row: {what}" for what, _ in left_out)


def test_sacct_names_the_missing_field(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text("JobID|State\n1|RUNNING\n", encoding="utf-8")

    with pytest.raises(InvalidSpecError, match="has no field Submit"):
        kq.Jobs.read(path)


PARTS = """JobID|Submit|Start|End|ReqTRES|Partition|Account|State
1|2026-05-01T08:00:00|2026-05-01T09:00:00|2026-05-01T10:30:00|cpu=8,gres/gpu=1,mem=64G|gpu|nlp|COMPLETED
2|2026-05-01T08:01:00|2026-05-01T09:00:00|Unknown|cpu=8|gpu|nlp|RUNNING
3|2026-05-01T08:02:00|2026-05-01T09:00:00|2026-05-01T09:00:10||cpu|nlp|COMPLETED

4|2026-05-01T08:03:00|2026-05-01T09:00:00|2026-05-01T09:00:10|gibberish|gpu|nlp|COMPLETED
5|2026-05-01T08:04:00|2026-05-01T09:00:00|2026-05-01T09:00:10|cpu=1|gpu||COMPLETED
6|2026-05-01T08:05:00|2026-05-01T09:00:10|2026-05-01T09:00:00|cpu=1|gpu|nlp|COMPLETED
"""


def test_sacct_needs_no_elapsed_time_and_notes_what_is_missing(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(PARTS, encoding="utf-8")
    jobs = kq.Jobs.read(path)

    assert [(row["name"], row["runtime"], row["censored"]) for row in jobs.rows()] == [
        ("1", 5400, 0),
        ("2", 0, 1),
        ("3", 10, 0),
        ("4", 10, 0),
    ]
    assert jobs["partition"].tolist() == ["gpu", "gpu", "cpu", "gpu"]
    assert jobs.notes == (
        ("without Account or Submit; left out (first: sacct.txt:7)", 1),
        ("ended before it started; left out (first: sacct.txt:8)", 1),
        ("not finished; runtime is the time run so far", 1),
        ("no CPU, memory or GPU in AllocTRES or ReqTRES; treated as 0 (first: sacct.txt:4)", 2),
    )
    assert kq.Jobs.read(path, map={"queue": "Partition"})["account"].tolist()[0] == "nlp"


def test_errors_of_sacct_name_the_line_or_the_job(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(PARTS.replace("gibberish", "mem=512Q"), encoding="utf-8")
    with pytest.raises(InvalidSpecError, match=r'\(sacct.txt:6\), field ReqTRES, mem: is "512Q"; it must be'):
        kq.Jobs.read(path)
    path.write_text(PARTS.splitlines()[0] + "\n", encoding="utf-8")
    with pytest.raises(InvalidSpecError, match="contains no job"):
        kq.Jobs.read(path)
    unknown = [SACCT_JSON["jobs"][0], {**SACCT_JSON["jobs"][0], "job_id": 9, "account": ""}]
    path.write_text(json.dumps({"jobs": unknown}), encoding="utf-8")
    (note,) = kq.Jobs.read(path, format="sacct").notes
    assert note == ("without Account or Submit; left out (first: sacct.txt: JobID 9)", 1)


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


SACCT_JSON = {
    "jobs": [
        {
            "job_id": 7,
            "account": "a",
            "user": "ann",
            "state": {"current": ["COMPLETED"]},
            "time": {
                "submission": 1777622400,
                "start": 1777622405,
                "elapsed": 7200,
                "limit": {"set": True, "number": 180},
            },
            "allocation_nodes": 2,
            "tres": {
                "allocated": [
                    {"type": "cpu", "name": "", "count": 16},
                    {"type": "mem", "name": "", "count": 65536},
                    {"type": "gres", "name": "gpu", "count": 4},
                ]
            },
            "steps": [{"step": {"id": "7.batch"}}],
        },
        {
            "job_id": 8,
            "account": "b",
            "state": {"current": ["PENDING"]},
            "array": {"job_id": 8, "task": "3-5:2%1"},
            "time": {"submission": 1777623000, "start": 0, "elapsed": 0, "limit": {"set": False, "number": 0}},
            "tres": {"requested": [{"type": "cpu", "name": "", "count": 1}]},
        },
    ],
    "meta": {"plugins": {}},
}


def test_sacct_json_is_the_same_log(tmp_path):
    path = tmp_path / "sacct.json"
    path.write_text(json.dumps(SACCT_JSON), encoding="utf-8")
    first, *waiting = kq.Jobs.read(path).rows()

    assert (first["runtime"], first["pods"], first["cpu"], first["nvidia.com/gpu"]) == (7200, 2, 8, 2)
    assert (first["memory"], first["limit"], first["user"]) == (32 * 2**30, 10800, "ann")
    assert [(row["name"], row["queue"], row["state"]) for row in waiting] == [
        ("8-3", "default/b", "PENDING"),
        ("8-5", "default/b", "PENDING"),
    ]


@pytest.fixture
def formats(tmp_path):
    """The same two jobs in a file of each format, by suffix."""
    rows = {
        "name": ["a", "b"],
        "namespace": ["ml"] * 2,
        "queue": ["lq"] * 2,
        "submit": [1.0, 2.0],
        "runtime": [60.0, 60.0],
        "cpu": [3.0, 3.0],
    }
    table = kq.Jobs(rows)
    table.to_parquet(tmp_path / "jobs.parquet")
    lines = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    (tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    csv = [",".join(rows), *(",".join(str(value) for value in line.values()) for line in lines)]
    (tmp_path / "jobs.csv").write_text("\n".join(csv), encoding="utf-8")
    (tmp_path / "queues.yaml").write_text(QUEUES, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_jobs_are_recognized_in_every_format(formats, suffix, capsys):
    files = [str(formats / name) for name in ("queues.yaml", f"jobs.{suffix}")]

    assert main(["run", *files]) == 0
    assert "ml/b" in capsys.readouterr().out
    assert main(["explain", "ml/b", *files]) == 0
    assert "ml/b is pending: WaitingForQuota" in capsys.readouterr().out
    assert main(["whatif", *files, "--set", "ClusterQueue/q:quota[f/cpu].nominalQuota=6"]) == 0
    assert "1 decision would change" in capsys.readouterr().out
    assert main(["simulate", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"]["finished"] == 2
    assert main(["upgrade", *files, "--from", "v0.18", "--to", "v0.19", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["to"] == "v0.19"


def test_jobs_of_a_dump_are_simulated_without_an_option(files, capsys):
    paths = files(job("a", "u-1", status=ended("Complete", "2026-05-01T09:05:00Z")), job("b", "u-2"))

    assert main(["simulate", *paths, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"]["jobs"] == 2
    assert main(["simulate", paths[0]]) == 2
    assert "--jobs: is required, because" in capsys.readouterr().err


def test_the_workloads_ahead_are_named_with_the_rule():
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}})), now=0)
    for name, priority in (("running", 0), ("late", 0), ("urgent", 9), ("last", 0)):
        scheduler.submit({"name": name, "queue": "q", "cpu": 1, "priority": priority})
        scheduler.settle()
        scheduler.advance(1)
    (position,) = scheduler.explain("last").find("position")

    assert position.text == "2 workloads are tried before it in ClusterQueue q"
    assert [cause.text for cause in position.causes] == [
        "higher priority: default/urgent",
        "equal priority, and earlier in the queue: default/late",
    ]


LEVELS = ("rack", "kubernetes.io/hostname")


def racks(**fields):
    """A queue on two nodes of 8 GPUs, of which a Pod that Kueue does not manage holds one."""
    nodes = [
        kq.Node(
            name,
            labels={"pool": "p", "rack": "r", "kubernetes.io/hostname": name},
            allocatable={"nvidia.com/gpu": 8, "pods": 9},
            **(fields if name == "n2" else {}),
        )
        for name in ("n1", "n2")
    ]
    return kq.Cluster(
        kq.ResourceFlavor("f", node_labels={"pool": "p"}, topology_name="t"),
        kq.Topology("t", levels=LEVELS),
        kq.ClusterQueue.of("q", {"f": {"nvidia.com/gpu": 99}}),
        nodes,
        Pod.of("serving", "n1", requests={"nvidia.com/gpu": 8}),
    )


@pytest.mark.parametrize("level", LEVELS)
def test_what_stands_in_the_way_of_a_placement_is_named(level):
    pods = kq.PodSet.of(requests={"nvidia.com/gpu": 8}, topology_request=kq.objects.required(level))
    scheduler = kq.Scheduler(racks(unschedulable=True))
    scheduler.submit(kq.Workload("w", queue_name="q", pod_sets=(pods,)))
    scheduler.settle()
    text = str(scheduler.explain("w"))

    assert "held by pods that Kueue does not manage: default/serving" in text
    assert "left out: n2 (unschedulable)" in text
    assert "default/serving ended, or n2 was schedulable again (not tried)" in text


def test_whatif_waits_until_kueue_has_handled_the_pods():
    pods = kq.PodSet.of(requests={"nvidia.com/gpu": 8}, topology_request=kq.objects.required(LEVELS[1]))
    scheduler = kq.Scheduler(racks(unschedulable=True))
    scheduler.submit(kq.Workload("w", queue_name="q", pod_sets=(pods,)))
    ended = scheduler.whatif(
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "serving"}, "status": {"phase": "Failed"}}
    )

    assert ended.admitted == ("default/w",)
    assert ended.after.now == scheduler.now + 10
    same = scheduler.whatif({"ClusterQueue/q:quota[f/nvidia.com/gpu].nominalQuota": 100})
    assert same.unchanged()[0].startswith("default/w stays pending: TopologyPlacementFailed: ")


@pytest.mark.parametrize(
    ("reason", "state", "finished"),
    [
        ("Succeeded", "Ready", True),
        ("Failed", "Ready", True),
        ("FailedToStart", "Ready", True),
        ("OwnerNotFound", "Ready", True),
        ("OutOfSync", "Retry", False),
    ],
)
def test_every_end_of_a_copy_has_its_outcome(reason, state, finished):
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}))
    fleet = kq.FleetScheduler(kq.Fleet({"a": cluster}))
    fleet.manager.submit({"name": "w", "queue": "q", "cpu": 1})
    fleet.manager.cycle()
    fleet.dispatch()
    fleet["a"].cycle()
    fleet.dispatch()
    fleet["a"].finish("w", reason=reason)
    fleet.dispatch()
    status = fleet.manager.workload("w").status

    assert status.admission_checks[0].state == state
    assert [c.reason for c in status.conditions if c.type == "Finished" and c.status == "True"] == [reason] * finished


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("chart/Chart.yaml", "name: q\n", "give the output of: helm template {chart}"),
        ("chart/kustomization.yaml", "resources: [a.yaml]\n", "give the output of: kubectl kustomize {chart}"),
        ("chart/main.tf", 'resource "a" "b" {}\n', "is Terraform; apply it"),
        (
            "chart/a.yaml",
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: $(NAME)}\n",
            "$(NAME) is a placeholder that is not replaced yet: render the file with envsubst or terraform first",
        ),
    ],
)
def test_what_is_not_rendered_is_named_with_the_command(tmp_path, name, text, told, capsys):
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")

    assert main(["check", str(path)]) == 1
    assert told.format(chart=path.parent) in capsys.readouterr().err
    if path.stem in ("Chart", "kustomization"):
        assert main(["check", str(path.parent)]) == 1
        assert told.format(chart=path.parent) in capsys.readouterr().err


def test_an_unknown_patch_release_is_refused_and_a_known_one_is_noted(files, capsys):
    path = files(job("a", "u-1"))[0]
    assert main(["check", path, "--kueue-version", "v0.18.99"]) == 1
    assert "a patch up to one of v0.15.8" in capsys.readouterr().err
    assert main(["check", path, "--kueue-version", "v0.18.4", "--fail-on", "never"]) == 0
    assert "L20: Configuration: version: v0.18.4 is decided as v0.18.6, without the rules" in capsys.readouterr().out


@pytest.mark.parametrize("field", ["preemption", "flavor_fungibility", "namespace_selector", "fair_sharing"])
def test_an_empty_mapping_does_not_stand_for_an_object(field):
    with pytest.raises(ManifestError, match=r"is a mapping; it must be a"):
        kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue("q", **{field: {}}))


@pytest.mark.parametrize(
    ("cls", "field", "value"),
    [
        (kq.ClusterQueue, "preemption", {"withinClusterQueue": "LowerPriority"}),
        (kq.ClusterQueue, "fair_sharing", {"weight": 2}),
        (kq.ResourceFlavor, "node_taints", [{"key": "k", "effect": "NoSchedule"}]),
        (kq.Node, "taints", ({"key": "k", "effect": "NoSchedule"},)),
        (kq.Workload, "pod_sets", [{"name": "main", "count": 1}]),
    ],
)
def test_a_mapping_with_fields_does_not_stand_for_an_object(cls, field, value):
    with pytest.raises(ManifestError, match=r"is a mapping; it must be a|is required"):
        kq.Cluster(cls("o", **{field: value}))


def test_a_cluster_has_no_objects_of_other_classes():
    with pytest.raises(InvalidSpecError, match="it must be a class such as ClusterQueue"):
        kq.Cluster().get(int, "x")


def test_many_jobs_of_one_moment_have_no_load():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 4}}))
    rows = {"queue": ["q"] * 300, "submit": [0] * 300, "runtime": [0] * 300, "cpu": [1] * 300}
    assert kq.simulate(cluster, kq.Jobs(rows)).kpis.finished == 300


@pytest.mark.parametrize("value", [5, True, [None], {"a": []}])
def test_a_dump_with_conditions_of_another_type_is_read(value):
    workload = to_dict(kq.Workload("w", namespace="ml", queue_name="lq", pod_sets=(kq.PodSet.of(requests={"cpu": 1}),)))
    workload["status"] = {"conditions": value}
    assert len(kq.Jobs.from_workloads([workload])) == 1


def test_commands_say_what_they_use_and_leave_out(files, capsys):
    first = kq.Scheduler(kq.load(list(files(job("a", "u-1", cpu=3), job("b", "u-2", cpu=3)))))
    first.settle()
    running, waiting = (to_dict(first.workload(key)) for key in first.workloads["key"])
    more = "".join("---\n" + json.dumps(one) + "\n" for one in (running, waiting))
    more += '---\n{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}\n'
    paths = files(job("a", "u-1", cpu=3), more=more)
    used = "2 Workloads (1 admitted, 1 pending)"

    assert main(["explain", "b", *paths]) == 0
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert used in told
    assert told.endswith("leaves out 1 Job, 1 ConfigMap; -v lists them\n")
    assert main(["whatif", *paths, "--set", "ClusterQueue/q:quota[f/cpu].nominalQuota=6", "-v"]) == 0
    told = capsys.readouterr().err
    assert used in told
    assert "note: left out: Job ml/a: it has a Workload\n" in told
    assert 'ConfigMap "c"' in told


def test_a_deactivated_workload_is_not_pending(files):
    first = kq.Scheduler(kq.load(list(files())))
    first.submit(kq.Workload("w", namespace="ml", queue_name="lq", active=False))
    found = kq.platform.import_cluster([*files(more="---\n" + json.dumps(to_dict(first.workload("ml/w"))))][:1])

    assert found.report.counts == {"deactivated": 1}


LIVE = Path(__file__).parents[2] / "examples" / "live"


@pytest.mark.parametrize("name", ["dump.yaml", "history.db"])
def test_every_command_reads_a_dump_and_a_recording_and_agrees_on_the_states(name, tmp_path, capsys):
    path = str(LIVE / name)
    imported = kq.platform.import_cluster(path).report.counts
    states = Counter(kq.platform.import_cluster(path).scheduler.workloads["status"])
    commands = (
        ["run", path, "--json"],
        ["check", path, "--json"],
        ["whatif", path, "--set", "ClusterQueue/*:stopPolicy=None", "--json"],
        ["page", path, "-o", str(tmp_path / "page.html")],
        ["simulate", path, "--json"],
        ["upgrade", path, "--from", "v0.18", "--to", "v0.19", "--json"],
    )
    told = {}
    for words in commands:
        assert main(words) in (0, 3, 4), words
        told[words[0]] = capsys.readouterr()

    assert json.loads(told["check"].out)["valid"]
    assert imported.get("finished", 0) == states["Finished"]
    assert imported.get("deactivated", 0) == states["Deactivated"]
    if name.endswith(".yaml"):  # the page of a recording has all workloads that it has seen
        shown = re.search(r"(\d+) workloads?", told["page"].out)[1]
        assert int(shown) == sum(states.values()) - states["Finished"] - states["Deactivated"]
    for key in [
        row["key"] for row in kq.platform.import_cluster(path).scheduler.workloads if row["status"] == "Pending"
    ]:
        assert main(["explain", key, path]) == 0
        assert re.match(rf"{key} is (pending|waiting)", capsys.readouterr().out)
