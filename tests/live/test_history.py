"""Jobs are read from Workloads as they ran: runtimes, waits, evictions and jobs that had not finished."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.errors import InvalidSpecError
from kueuepy.platform.history import RecordingWriter
from live.server import events

T0 = "2026-11-20T10:{:02}:{:02}Z"
CLUSTER = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: default}
spec: {clusterQueue: cq}
"""


def condition(kind, minute, status="True", reason="R", second=0):
    time = T0.format(minute, second)
    return {"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": time}


def workload(name, *conditions, created=0, **status):
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    found = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "creationTimestamp": T0.format(created, 0),
            "labels": {"who": f"user-{name[0]}"},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{name}", "uid": "u"}],
        },
        "spec": {"queueName": "lq", "podSets": [pod_set]},
        "status": {"conditions": list(conditions), **status},
    }
    if any(one["type"] == "QuotaReserved" and one["status"] == "True" for one in conditions):
        assignment = {"name": "main", "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "1"}, "count": 1}
        found["status"]["admission"] = {"clusterQueue": "cq", "podSetAssignments": [assignment]}
    return found


def ran(name, start, end, reason="Succeeded", **other):
    conditions = [condition("QuotaReserved", start), condition("Admitted", start)]
    return workload(name, *conditions, condition("Finished", end, reason=reason), **other)


def running(name, start, **other):
    return workload(name, condition("QuotaReserved", start), condition("Admitted", start), **other)


EVICTED = [
    {"reason": "Preempted", "underlyingCause": "", "count": 2},
    {"reason": "PodsReadyTimeout", "underlyingCause": "", "count": 1},
]
HISTORY = [
    ran("a", 5, 45),
    ran("b", 30, 40, "Failed", accumulatedPastExecutionTimeSeconds=600, schedulingStats={"evictions": EVICTED}),
    running("c", 40, created=20),
    workload("d", created=30),
    workload("e", condition("Finished", 50, reason="OutOfSync"), created=40),
]


def test_a_finished_workload_has_the_runtime_of_its_last_run():
    jobs = kq.Jobs.from_workloads(HISTORY, user="who")
    assert jobs["name"].tolist() == ["a", "b", "c", "d"]
    assert jobs["runtime"].tolist() == [2400, 600, 600, 0]
    assert jobs["recorded_wait"][:3].tolist() == [300, 1200, 1200]
    assert jobs["past_runtime"].tolist() == [0, 600, 0, 0]
    assert jobs["evictions"].tolist() == [0, 3, 0, 0]
    assert jobs["evictions Preempted"].tolist() == [0, 2, 0, 0]
    assert [jobs["finish_reason"][row] for row in range(4)] == ["Succeeded", "Failed", "", ""]
    assert jobs["user"][1] == "user-b"
    assert jobs["job"][1] == "Job/job-b"
    assert np.isnat(jobs["recorded_start"]).tolist() == [False, False, False, True]
    assert dict(jobs.notes) == {
        "finished without an admission; left out": 1,
        "not finished; runtime is the time run so far": 2,
    }


def test_a_job_that_was_deactivated_before_it_ran_says_so():
    stopped, waiting = workload("d", created=30), workload("e", created=30)
    stopped["spec"]["active"] = False
    assert kq.Jobs.from_workloads([stopped, waiting])["finish_reason"].tolist() == ["Deactivated", ""]


def test_a_workload_that_has_not_finished_is_censored_and_never_silently_endless():
    cluster, jobs = kq.load(CLUSTER), kq.Jobs.from_workloads(HISTORY)
    assert jobs["censored"].tolist() == [False, False, True, True]
    with pytest.raises(InvalidSpecError, match="2 jobs had not finished"):
        kq.simulate(cluster, jobs)
    assert kq.simulate(cluster, jobs, censored="drop").kpis.finished == 2
    found = kq.simulate(cluster, jobs, censored="exponential", seed=3)
    assert found.kpis.finished == 4
    assert kq.compare({"a": cluster}, jobs.complete("drop")).kpis["a"].finished == 2


def test_runtimes_of_unfinished_jobs_exceed_what_they_have_run():
    rows = [ran(f"a{number}", 1, 10) for number in range(30)] + [running(f"b{number}", 5) for number in range(20)]
    jobs = kq.Jobs.from_workloads([*rows, ran("z", 55, 59)])
    for how in ("exponential", kq.sim.Exponential("30m"), kq.sim.Constant("1s")):
        done = jobs.complete(how, seed=1)
        assert not done["censored"].any()
        assert (done["runtime"][jobs["censored"]] > jobs["runtime"][jobs["censored"]]).all()
        assert (done["runtime"][~jobs["censored"]] == jobs["runtime"][~jobs["censored"]]).all()
        assert (done["runtime"] == jobs.complete(how, seed=1)["runtime"]).all()


def test_the_exponential_estimate_counts_the_time_of_unfinished_jobs():
    rows = [ran(f"a{number:03}", 0, 10) for number in range(50)] + [
        running(f"b{number:03}", 0) for number in range(400)
    ]
    jobs = kq.Jobs.from_workloads([*rows, ran("z", 59, 59)])
    added = (jobs.complete("exponential")["runtime"] - jobs["runtime"])[jobs["censored"]]
    expected = (50 * 600 + 400 * 3540) / 51
    assert abs(added.mean() / expected - 1) < 0.15


@pytest.mark.parametrize("how", ["forever", 3, None])
def test_another_way_to_complete_runtimes_is_refused(how):
    with pytest.raises(InvalidSpecError, match="must be"):
        kq.Jobs.from_workloads(HISTORY).complete(how)


def test_without_a_finished_job_there_is_no_estimate():
    with pytest.raises(InvalidSpecError, match="needs at least one finished job"):
        kq.Jobs.from_workloads([running("a", 1)]).complete("exponential")


def test_a_dump_is_a_file_of_jobs(tmp_path, capsys):
    dump, config = tmp_path / "dump.json", tmp_path / "cluster.yaml"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": HISTORY}))
    config.write_text(CLUSTER)
    assert kq.Jobs.read(dump)["runtime"].tolist() == [2400, 600, 600, 0]
    assert main(["simulate", str(config), "--jobs", str(dump)]) == 1
    assert "--censored must be drop or exponential" in capsys.readouterr().err
    assert main(["simulate", str(config), "--jobs", str(dump), "--censored", "drop"]) == 0
    assert main(["jobs", "describe", str(dump)]) == 0
    edit = tmp_path / "quota.yaml"
    quota = {"name": "f", "resources": [{"name": "cpu", "nominalQuota": 0}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [quota]}]
    changed = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "cq"}}
    edit.write_text(json.dumps({**changed, "spec": {"resourceGroups": groups}}))
    capsys.readouterr()
    arguments = ["simulate", str(config), "--jobs", str(dump), "--censored", "drop", "--edit", str(edit), "--json"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["figures"]["finished"] == 0
    edit.write_text(json.dumps({**changed, "spec": {"stopPolicy": "Maybe"}}))
    assert main(arguments) == 1
    assert "quota.yaml:1" in capsys.readouterr().out


def test_a_source_without_workloads_is_refused():
    with pytest.raises(InvalidSpecError, match="contains no Workload"):
        kq.Jobs.from_workloads(CLUSTER)
    with pytest.raises(InvalidSpecError, match="takes no option 'map'"):
        kq.Jobs.read("dump.yaml", map={"queue": "team"})


@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_history_of_a_running_cluster_is_read():
    jobs = kq.Jobs.read("cluster:")
    assert len(jobs) == 142 - dict(jobs.notes).get("finished without an admission; left out", 0)
    assert jobs["censored"].sum() == 7
    done = ~jobs["censored"]
    assert (jobs["runtime"][done] >= 0).all()
    assert jobs["recorded_wait"][done].min() >= 0
    assert jobs["evictions"].sum() > 0
    found = kq.simulate(kq.load("cluster:", strict=False), jobs.complete("drop").head(40))
    assert found.kpis.finished > 0


def _statuses(rng):
    kinds = ["QuotaReserved", "Admitted", "Evicted", "Requeued", "PodsReady", "Finished", "Odd"]
    for number in range(10_000):
        made = [
            condition(kind, rng.randrange(60), rng.choice(["True", "False", "Unknown"]), rng.choice(["", "R"]), 5)
            for kind in rng.sample(kinds, rng.randrange(len(kinds)))
        ]
        for one in made:
            if rng.random() < 0.1:
                del one[rng.choice(["reason", "message", "lastTransitionTime", "status"])]
        found = workload(f"w{number}", created=rng.randrange(60))
        found["status"]["conditions"] = made
        if rng.random() < 0.2:
            found["status"]["accumulatedPastExecutionTimeSeconds"] = rng.choice([0, 7, 10**6])
        if rng.random() < 0.1:
            found["status"]["schedulingStats"] = rng.choice([{}, {"evictions": [{"count": 1}]}, {"evictions": EVICTED}])
        if rng.random() < 0.05:
            found["spec"]["active"] = False
        for one in made:  # the clocks of the API server and of Kueue differ by up to 5 s
            if "lastTransitionTime" in one:
                one["lastTransitionTime"] = T0.format(rng.randrange(60), rng.randrange(11))
        if rng.random() < 0.05:
            made += [dict(one, status="False") for one in made[:1]]  # contradicts the first condition
        if rng.random() < 0.02:
            found["status"] = rng.choice([None, {"conditions": None}, {"conditions": []}])
        if rng.random() < 0.02:
            found.pop("status")
        yield found


def test_every_workload_of_a_fuzzed_history_is_read_or_noted():
    made = list(_statuses(random.Random(7)))  # noqa: S311
    jobs = kq.Jobs.from_workloads(made)
    left_out = dict(jobs.notes).get("finished without an admission; left out", 0)
    assert len(jobs) + left_out == len(made)
    assert (jobs["runtime"] >= 0).all()
    assert not (jobs["recorded_wait"] < 0).any()
    assert np.isfinite(jobs["runtime"]).all()
    assert not jobs.complete("drop")["censored"].any()


def test_a_fuzzed_history_is_recorded_and_verified_without_a_crash(tmp_path):
    """Each Workload appears in two random states, one after the other."""
    versions = list(itertools.islice(_statuses(random.Random(8)), 300))  # noqa: S311
    writer = RecordingWriter(tmp_path / "h.db")
    begin = 1_800_000_000 * 10**9
    for number, (first, second) in enumerate(itertools.pairwise(versions)):
        for part, one in enumerate((first, second)):
            revision = 2 * number + part + 1
            metadata = {**first["metadata"], "resourceVersion": str(revision)}
            writer.event("Workload", False, {**one, "metadata": metadata}, begin + revision * 10**7)  # noqa: FBT003
    writer.close()
    found = kq.live.verify(tmp_path / "h.db")
    assert found.share <= 1
    own = kq.live.verify_closed(tmp_path / "h.db", explained=2)
    assert str(own)
    jobs = kq.Jobs.read(tmp_path / "h.db")
    assert len(jobs) + dict(jobs.notes).get("finished without an admission; left out", 0) == len(versions) - 1


def test_the_recorded_history_gives_the_runtimes_that_the_driver_played():
    latest = {}
    for event in events("cohort"):
        if event["kind"] == "Workload" and event["type"] != "DELETED":
            latest[event["object"]["metadata"]["uid"]] = event["object"]
    jobs = kq.Jobs.from_workloads(list({one["metadata"]["name"]: one for one in latest.values()}.values()))
    done = ~jobs["censored"]
    assert done.sum() > 100
    assert 0 < np.median(jobs["runtime"][done]) < 120
