"""Typical inputs of new users, and mistakes that must be reported."""

import json

import pandas as pd
import pytest

import kueuepy as kq

CLUSTER = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team-a, namespace: NAMESPACE}
spec: {clusterQueue: team}
"""
CHECK = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: provisioning}
spec: {controllerName: example.com/check}
"""


@pytest.fixture
def cluster(tmp_path):
    """A file with a cluster, and what else is given."""

    def write(*more, namespace="default"):
        path = tmp_path / "cluster.yaml"
        path.write_text("---".join([CLUSTER.replace("NAMESPACE", namespace), *more]), encoding="utf-8")
        return path

    return write


def test_declaring_one_namespace_does_not_make_others_unknown(kueuepy, cluster, job):
    path = cluster("\napiVersion: v1\nkind: Namespace\nmetadata: {name: other, labels: {team: b}}\n")

    assert [namespace.name for namespace in kq.load(path).namespaces] == ["other", "default"]
    assert kueuepy("check", path).code == 0
    assert "1 admission" in kueuepy("run", path, job("train")).out


def test_a_job_without_a_queue_is_reported_as_unmanaged(kueuepy, cluster, job):
    path = job("train")
    text = path.read_text(encoding="utf-8").replace("labels: {kueue.x-k8s.io/queue-name: team-a}", "")
    path.write_text(text, encoding="utf-8")

    ran = kueuepy("run", cluster(), path)
    assert f'note: {path}:2: Job "train": is not managed by Kueue' in ran.err
    assert "it has no label kueue.x-k8s.io/queue-name" in ran.err
    assert kueuepy("run", cluster(), path, "--json").json["notes"] == [
        line.removeprefix("note: ") for line in ran.err.splitlines()
    ]
    assert "L18" in kueuepy("check", cluster(), path).out
    assert "L18" not in kueuepy("check", cluster(), job("train")).out


@pytest.mark.parametrize("command", ["check", "run", "convert"])
def test_nothing_to_read_is_an_error(kueuepy, tmp_path, command):
    (tmp_path / "empty.yaml").write_text("# kubectl has failed\n", encoding="utf-8")

    for name in (tmp_path, tmp_path / "empty.yaml"):
        ran = kueuepy(command, name)
        assert (ran.code, ran.err) == (1, f"error: {name}: nothing to read; there must be at least one object\n")


def test_a_default_namespace_can_be_given(kueuepy, cluster, job, tmp_path):
    path = cluster(namespace="ml")
    assert "0 admissions" in kueuepy("run", path, job("train")).out
    assert "1 admission" in kueuepy("run", path, job("train"), "-n", "ml").out

    rows = tmp_path / "jobs.csv"
    rows.write_text("name,queue,cpu\nx,team-a,1\n", encoding="utf-8")
    assert "1 admission" in kueuepy("run", path, rows, "--namespace", "ml").out
    assert kueuepy("explain", "ml/x", path, rows, "-n", "ml").out.startswith("ml/x is admitted")
    assert kueuepy("whatif", path, "--job", rows, "-n", "ml").code == 0


def test_ignored_durations_of_rows_are_reported(kueuepy, cluster, tmp_path):
    rows = tmp_path / "jobs.csv"
    rows.write_text("name,queue,cpu,duration\nx,team-a,1,1h\n", encoding="utf-8")

    assert "jobs.csv: the runtime is ignored here" in kueuepy("run", cluster(), rows).err


def test_a_reservation_waiting_for_checks_is_not_an_admission(kueuepy, cluster, job):
    path = cluster(CHECK)
    text = path.read_text(encoding="utf-8")
    strategy = "  admissionChecksStrategy: {admissionChecks: [{name: provisioning}]}\n  resourceGroups:"
    path.write_text(text.replace("  resourceGroups:", strategy), encoding="utf-8")
    ran = kueuepy("run", path, job("train"))

    assert ran.out.splitlines()[-1] == (
        "1 cycle: 0 admissions, 1 quota reservation that waits for admission checks, 0 preemptions, 1 workload waiting"
    )
    assert "admission check provisioning: Pending" in ran.out


@pytest.mark.parametrize("command", ["check", "convert"])
def test_rows_are_rejected_where_only_objects_are_valid(kueuepy, seeds, command):
    ran = kueuepy(command, seeds / "002" / "jobs.csv")

    assert (ran.code, "holds rows of jobs" in ran.err) == (1, True)
    assert "CSV" not in kueuepy(command, "--help").out


def test_run_continues_from_a_saved_state(kueuepy, seeds, tmp_path, job):
    state = tmp_path / "state"
    assert kueuepy("import", seeds / "002" / "two-teams.yaml", "--save", state).code == 0

    assert "1 admission" in kueuepy("run", state, job("train")).out
    assert "is admitted" in kueuepy("explain", "train", state, job("train")).out
    assert kueuepy("whatif", state, "--job", job("train")).code == 0
    assert "give one" in kueuepy("run", state, state).err


def test_json_is_of_one_style_and_errors_are_json_too(kueuepy, seeds, job):
    cluster = seeds / "002" / "two-teams.yaml"
    (pod_set,) = kueuepy("run", "--json", cluster, job("train")).json["cycles"][0][0]["pod_sets"]
    assert pod_set["resource_usage"] == {"cpu": "1"}

    invalid = seeds / "001" / "borrowing-limit.yaml"
    for arguments in (("run", "none.yaml"), ("explain", "x", cluster), ("convert", invalid)):
        ran = kueuepy(*arguments, "--json")
        assert (ran.code, ran.err) == (1, "")
        assert set(json.loads(ran.out)["error"]) == {"type", "message", "problems"}
    for arguments in (("run",), ("run", "--nope", cluster), ("run", cluster, "--cycles", "0"), ("nope",)):
        ran = kueuepy(*arguments, "--json")
        assert (ran.code, ran.err) == (2, "")
        assert set(json.loads(ran.out)["error"]) == {"type", "message", "problems"}


def test_amounts_of_json_are_as_kubernetes_writes_them(kueuepy, seeds):
    policies, jobs = (seeds / "002" / name for name in ("two-teams.yaml", "jobs.csv"))
    outcomes = kueuepy("compare", policies, policies, "--jobs", jobs, "--json").json["queues"]["team-a"].values()
    assert [outcome["usage"] for outcome in outcomes] == [{"default-flavor/cpu": "12"}] * 2
    assert [outcome["mean_usage"] for outcome in outcomes] == [{"default-flavor/cpu": "12"}] * 2
    other = seeds / "001" / "team-ab.yaml"
    found = kueuepy("compare", policies, other, "--jobs", jobs, "--json").json["queues"]
    assert None in found["team-a"].values() or None in found["team-a-cq"].values()
    assert kueuepy("run", policies, jobs, "--json").json["usage"]["team-a"] == {"default-flavor/cpu": "12"}


DUMP = """apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: default, creationTimestamp: "2026-05-01T08:00:00Z", labels: {{{label}: team-a}}}}
spec:
  suspend: {suspend}
  template:
    spec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]}}
{status}"""
STATUS = """status:
  startTime: "2026-05-01T08:00:00Z"
  completionTime: "2026-05-01T09:00:00Z"
  succeeded: 1
  conditions: [{type: Complete, status: "True", lastTransitionTime: "2026-05-01T09:00:00Z"}]
"""


def test_a_dump_of_jobs_has_those_that_wait_beside_those_that_have_finished(kueuepy, cluster, tmp_path):
    label = "kueue.x-k8s.io/queue-name"
    documents = (("done", "false", STATUS), ("waits", "true", ""))
    texts = [DUMP.format(name=name, label=label, suspend=suspend, status=text) for name, suspend, text in documents]
    dump = tmp_path / "dump.yaml"
    dump.write_text("---\n".join(texts), encoding="utf-8")
    ran = kueuepy("simulate", cluster(), "--jobs", dump, "--censored", "exponential", "--json")

    assert ran.json["jobs"] == 2
    assert "1 job had not finished" in kueuepy("simulate", cluster(), dump).err

    ended = "it finished 2026-05-01T09:00:00Z; kueuepy jobs describes finished jobs"
    status = "{conditions: [{type: Finished, status: 'True', reason: Succeeded, message: M, lastTransitionTime: %s}]}"
    head = "apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: past}, spec: {queueName: team-a}"
    known = tmp_path / "known.yaml"
    known.write_text(f"{{{head}, status: {status % '2026-05-01T07:00:00Z'}}}", encoding="utf-8")
    error = kueuepy("explain", "done", cluster(), dump, known).err
    assert f'"done" names no workload; Job default/done: {ended}' in error
    assert ended in kueuepy("eta", "done", cluster(), dump, known, "--runtimes", "1h").err
    assert "finished 2026-05-01T07:00:00Z: M (Succeeded)" in kueuepy("explain", "past", cluster(), dump, known).out


SACCT = """JobID|Account|Submit|Start|End|State|ElapsedRaw|AllocCPUS
1|physics|2026-01-01T00:00:00|2026-01-01T00:10:00|2026-01-01T01:10:00|COMPLETED|3600|4
2|chem|2026-01-01T00:00:00|2026-01-01T00:20:00|Unknown|RUNNING|600|4
3|chem|2026-01-01T00:40:00|Unknown|Unknown|PENDING|0|0
"""


def test_a_log_of_slurm_says_what_had_not_finished(kueuepy, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text(SACCT.replace("\n", "\r\n"), encoding="utf-8")
    described = kueuepy("jobs", log, "--json").json
    assert {row["queue"]: row["mean cpu"] for row in described["queues"]} == {"default/physics": 4, "default/chem": 1}
    unfinished = "2 rows: not finished; runtime is the time run so far"
    assert f"note: {unfinished}" in kueuepy("jobs", log).err
    ran = kueuepy("import", "--jobs", log, "--censored", "drop")
    assert "note: 2 rows: not finished; dropped, which leaves no job in default/chem" in ran.err
    assert "name: chem" not in ran.out


@pytest.mark.parametrize("suffix", ["yaml", "csv"])
def test_a_file_in_another_form_is_named_with_the_remedy(kueuepy, suffix, tmp_path):
    given = tmp_path / f"given.{suffix}"
    given.write_bytes(b"\xfd7zXZ\x00")
    error = kueuepy("jobs", given).err
    assert "it is compressed by xz; only gzip is read, so decompress it first" in error
    given.write_text("queue;submit;runtime\na;0;1h\n", encoding="utf-8")
    remedy = (
        "must be a comma"
        if suffix == "csv"
        else "add -o yaml if it is the output of kubectl get; Jobs.read and --format"
    )
    assert remedy in kueuepy("jobs", given).err


def test_a_frame_without_a_queue_is_told_the_argument():
    with pytest.raises(kq.errors.InvalidSpecError, match=r'map=\{"queue": COLUMN\} of Jobs.from_frame'):
        kq.Jobs.from_frame(pd.DataFrame({"submit": [0], "runtime": [1], "team": ["a"]}))
