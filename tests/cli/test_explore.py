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
    assert starved.code in (0, 3)
    assert starved.out.startswith("starvation: ")


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
    assert "the estimate is too early" in ran.err
    assert kueuepy("eta", "a-4", *teams, "--runtimes", "1h", "-N", "5", "--json").json["p50"] == 3600
    told = kueuepy("eta", "a-4", *teams, "--runtimes", "1x").err
    assert told == 'error: --runtimes: "1x" is neither a time such as 1h30m nor a file\n'


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
