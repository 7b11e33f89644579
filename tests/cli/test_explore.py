"""`import --jobs`, `guarantee` and `eta`."""

import pytest

import kueuepy as kq


@pytest.fixture
def log(week):
    return week.with_name("jobs.csv")


@pytest.fixture
def teams(seeds):
    return seeds / "002" / "two-teams-reclaim.yaml", seeds / "002" / "jobs.csv"


def test_cluster_of_writes_the_same_as_python(kueuepy, log, tmp_path):
    out = tmp_path / "cluster.yaml"
    ran = kueuepy("import", "--jobs", log, "--headroom", "1.5", "--flavor", "h100", "--alone", "-o", out)
    assert (ran.code, ran.out) == (0, "")
    assert "not the quotas of the cluster where the log was recorded" in ran.err
    jobs = kq.Jobs.read(log)
    assert kq.load(out) == kq.sim.cluster_of(jobs, 1.5, None, "h100")
    shown = kueuepy("import", "--jobs", log)
    assert kq.load(shown.out) == kq.sim.cluster_of(jobs)
    assert kueuepy("import", "--jobs", log, "--headroom", "0").code == 1


def test_guarantee_answers_as_python(kueuepy, week, log):
    ran = kueuepy("guarantee", "delays", week, "--jobs", log)
    assert ran.code == 3
    assert "vision delays the others most" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "delays robots" in ran.out
    found = kueuepy("guarantee", "delays", week, "--jobs", log, "--json").json
    same = kq.lab.guarantee("delays", kq.load(week), jobs=kq.Jobs.read(log))
    assert (found["holds"], found["facts"]) == (False, same.facts.rows())
    assert "names no column" in kueuepy("guarantee", "delays", week, "--jobs", log, "--by", "nothing").err
    cell = "h100/nvidia.com/gpu"
    limits = kueuepy("guarantee", "limits", week, "--amount", "robots=4", "--flavor-resource", cell, "--json")
    assert (limits.code, limits.json["holds"], limits.json["edits"]) == (0, True, {})
    assert kueuepy("guarantee", "safety", week, "--cluster-queue", "robots").code == 3
    missing = kueuepy("guarantee", "safety", week)
    assert (missing.code, "safety needs --cluster-queue" in missing.err) == (1, True)
    starved = kueuepy("guarantee", "starvation", week, "--jobs", log, "--period", "7d")
    assert (starved.code == 0) == starved.out.startswith("starvation: yes")


def test_an_unknown_guarantee_is_not_given(kueuepy, tmp_path):
    kq.dump(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}})), tmp_path / "q.yaml")
    (tmp_path / "jobs.csv").write_text("queue,submit,runtime,cpu\nq,0,120,1\n")
    ran = kueuepy("guarantee", "starvation", tmp_path / "q.yaml", "--jobs", tmp_path / "jobs.csv", "--period", "1m")
    assert (ran.code, ran.out.partition("\n")[0]) == (3, "starvation: unknown")


def test_guarantee_of_a_smaller_quota_starts_with_the_state(kueuepy, tmp_path):
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 2}})))
    scheduler.submit({"name": f"j{n}", "queue": "q", "cpu": 1} for n in range(2))
    scheduler.settle()
    scheduler.save(tmp_path / "state")
    edit = "ClusterQueue/q:quota[f/cpu].nominalQuota=1"
    found = kueuepy("guarantee", "shrink", tmp_path / "state", "--runtimes", "1h", "--set", edit, "-N", "2", "--json")
    assert (found.code, found.json["holds"]) == (0, True)
    assert [row["subject"] for row in found.json["facts"]][:2] == ["default/j0", "f/cpu"]


def test_the_removed_command_delays_names_guarantee(kueuepy, week, log):
    ran = kueuepy("delays", week, "--jobs", log)
    assert ran.code == 2
    assert "use kueuepy guarantee delays" in ran.err


def test_eta_prints_the_same_as_python(kueuepy, teams):
    ran = kueuepy("eta", "team-a/a-4", *teams, "--runtimes", "1h", "-N", "5")
    assert ran.out.startswith("default/a-4: quota in 1 h (median); assumes that no new job arrives; an interval needs")
    never = kueuepy("eta", "team-a/a-4", *teams, "--runtimes", "1h", "-N", "5", "--horizon", "1m")
    assert never.out == "default/a-4: no quota within 1 min in any of 5 futures\n"
    assert "the estimate may be too early" in ran.err
    held = kueuepy("eta", "a-2", *teams, "--runtimes", "1h", "-N", "5")
    assert (held.out.split(",")[0], "too early" in held.err) == ("default/a-2: quota in 0 s (median)", False)
    assert kueuepy("eta", "a-4", *teams, "--runtimes", "1h", "-N", "5", "--json").json["p50"] == 3600
    told = kueuepy("eta", "a-4", *teams, "--runtimes", "1x").err
    assert told == 'error: --runtimes: "1x" is neither a time such as 1h30m nor a file\n'


def test_times_are_counted_from_the_latest_time_of_a_dump(kueuepy, seeds):
    dump = seeds.parent / "live" / "dump.yaml"
    told = "note: times are counted from 2026-"
    name = "default/job-waits-4c5d6"
    assert told in kueuepy("eta", name, dump, "--runtimes", "1h", "-N", "2").err
    assert told in kueuepy("eta", "--risk", "default/job-runs-1a2b3", dump, "-N", "2").err
    edit = "ClusterQueue/research:quota[default/cpu].nominalQuota=1"
    assert told in kueuepy("guarantee", "shrink", dump, "--runtimes", "1h", "--set", edit, "-N", "2").err


def test_eta_accepts_logs(kueuepy, teams, tmp_path):
    jobs = tmp_path / "more.csv"
    jobs.write_text("queue,submit,runtime,cpu\nteam-b,0,600,4\n")
    ran = kueuepy("eta", "a-4", *teams, "--runtimes", jobs, "--future", jobs, "-N", "3")
    assert (ran.code, "too early" in ran.err) == (0, False)
    assert ran.out.startswith("default/a-4: quota in ")


def test_risk_names_the_rule(kueuepy, teams, tmp_path):
    coming = tmp_path / "coming.csv"
    coming.write_text("queue,submit,runtime,cpu\nteam-b,0,600,16\n")
    ran = kueuepy("eta", "--risk", "a-2", *teams, "--future", coming, "--within", "1h")
    assert ran.code == 0
    assert ran.out.startswith("default/a-2: evicted within 1 h in ")
    assert kueuepy("eta", "--risk", "a-2", *teams, "--json").json["probability"] == 0


def test_future_jobs_and_jobs_of_other_files_have_the_priority_classes_of_the_cluster(kueuepy, tmp_path):
    cluster, jobs, now = (tmp_path / name for name in ("cluster.yaml", "jobs.yaml", "now.csv"))
    high = kq.objects.WorkloadPriorityClass("high", value=1000)
    # One CPU, so that the job of the file overtakes the pending one.
    kq.dump(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 1}}), high), cluster)
    labels = "labels: {kueue.x-k8s.io/queue-name: a, kueue.x-k8s.io/priority-class: high}"
    container = "{name: c, image: i, resources: {requests: {cpu: 1}}}"
    jobs.write_text(
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: urgent, namespace: default, {labels}}}\n"
        f"spec: {{suspend: true, template: {{spec: {{restartPolicy: Never, containers: [{container}]}}}}}}\n"
    )
    now.write_text("name,queue,cpu\nx,a,1\ny,a,1\n")
    eta = kueuepy("eta", "y", cluster, now, "--runtimes", "1h", "-N", "1", "--future", jobs)
    assert (eta.code, "no quota within 30 d" in eta.out) == (0, True)  # the job with priority 1000 never ends
    assert kueuepy("eta", "--risk", "x", cluster, now, "-N", "1", "--future", jobs).code == 0
    assert kueuepy("simulate", cluster, "--jobs", jobs, "--json").json["jobs"] == 1
    assert "starvation" in kueuepy("guarantee", "starvation", cluster, "--jobs", jobs, "--period", "1h").out
    both = tmp_path / "both.yaml"
    both.write_text(f"{cluster.read_text()}---\n{jobs.read_text()}")
    assert kueuepy("simulate", both, "--json").json["jobs"] == 1
    assert kq.Jobs.from_manifests(kq.load(both))["priority"].tolist() == [1000]


def test_jobs_without_a_local_queue_are_skipped_on_request(kueuepy, tmp_path):
    cluster, now, jobs = (tmp_path / name for name in ("cluster.yaml", "now.csv", "jobs.csv"))
    kq.dump(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 1}})), cluster)
    now.write_text("name,queue,cpu\nlost,none,1\nx,a,1\ny,a,1\n")
    jobs.write_text("queue,submit,runtime,cpu\nnone,0,600,1\na,0,600,1\n")
    given = ("y", cluster, now, "--runtimes", "1h", "-N", "1")
    assert kueuepy("eta", *given, "--json").json["p50"] == 3600  # a workload without its LocalQueue only waits
    commands = [
        ("eta", *given, "--future", jobs),
        ("eta", "--risk", "x", cluster, now, "-N", "1", "--future", jobs),
        ("guarantee", "delays", cluster, "--jobs", jobs),
        ("guarantee", "starvation", cluster, "--jobs", jobs, "--period", "1h"),
        ("upgrade", cluster, "--jobs", jobs, "--from", "v0.17", "--to", "v0.18"),
        ("upgrade", cluster, now, "--from", "v0.17", "--to", "v0.18"),
    ]
    for command in commands:
        told = kueuepy(*command)
        assert (told.code, "default/none (1" in told.err, "; --missing skip (" in told.err) == (1, True, True)
        for how in ("skip", "wait"):
            assert kueuepy(*command, "--missing", how, "--json").code == 0 or (how, command[0]) == ("wait", "guarantee")
    waits = kueuepy(*commands[2], "--missing", "skip", "--json").json["facts"]
    assert {row["subject"] for row in waits} == {"a"}
    assert "safety does not accept it" in kueuepy("guarantee", "safety", cluster, "--missing", "skip").err


def test_delays_ignore_the_jobs_of_the_files():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 1}}))
    held = cluster.replace(kq.Workload("x", queue_name="a", pod_sets=[kq.PodSet.of(requests={"cpu": 1})]))
    jobs = [{"queue": "a", "submit": 0, "runtime": 60, "cpu": 1}]
    found = [kq.lab.guarantee("delays", one, jobs=jobs) for one in (cluster, held)]
    assert found[0].facts.rows() == found[1].facts.rows()
