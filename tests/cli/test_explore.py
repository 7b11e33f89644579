"""`cluster-of`, `delays`, `eta`, `risk`, and shell completion."""

import pytest
import typer.testing

import kueuepy as kq
from kueuepy.cli.app import app


@pytest.fixture
def log(week):
    return week.with_name("jobs.csv")


@pytest.fixture
def teams(seeds):
    return seeds / "002" / "two-teams-reclaim.yaml", seeds / "002" / "jobs.csv"


def test_cluster_of_writes_the_same_as_python(kueuepy, log, tmp_path):
    out = tmp_path / "cluster.yaml"
    ran = kueuepy("cluster-of", log, "--headroom", "1.5", "--flavor", "h100", "--alone", "-o", out)
    assert (ran.code, ran.out) == (0, "")
    assert "not the quotas of the cluster where the log was recorded" in ran.err
    jobs = kq.Jobs.read(log)
    assert kq.load(out) == kq.sim.cluster_of(jobs, 1.5, None, "h100")
    shown = kueuepy("cluster-of", log)
    assert kq.load(shown.out) == kq.sim.cluster_of(jobs)
    assert kueuepy("cluster-of", log, "--headroom", "0").code == 1


def test_delays_shows_the_matrix(kueuepy, week, log):
    ran = kueuepy("delays", week, "--jobs", log)
    assert ran.code == 0
    assert "vision delays the others most" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "Wait of robots" in ran.out
    found = kueuepy("delays", week, "--jobs", log, "--json").json
    assert sorted(found["groups"]) == ["robots", "speech", "vision"]
    assert "names no column" in kueuepy("delays", week, "--jobs", log, "--by", "nothing").err


def test_eta_prints_the_same_as_python(kueuepy, teams):
    ran = kueuepy("eta", "team-a/a-4", *teams, "--runtimes", "1h", "-N", "5")
    assert ran.out.startswith("default/a-4: quota in 1 h")
    assert "the estimate is too early" in ran.err
    assert kueuepy("eta", "a-4", *teams, "--runtimes", "1h", "-N", "5", "--json").json["p50"] == 3600
    assert kueuepy("eta", "a-4", *teams, "--runtimes", "absent.csv").code == 1


def test_eta_accepts_logs(kueuepy, teams, tmp_path):
    jobs = tmp_path / "more.csv"
    jobs.write_text("queue,submit,runtime,cpu\nteam-b,0,600,4\n")
    ran = kueuepy("eta", "a-4", *teams, "--runtimes", jobs, "--future", jobs, "-N", "3")
    assert (ran.code, "too early" in ran.err) == (0, False)
    assert ran.out.startswith("default/a-4: quota in ")


def test_risk_names_the_rule(kueuepy, teams, tmp_path):
    coming = tmp_path / "coming.csv"
    coming.write_text("queue,submit,runtime,cpu\nteam-b,0,600,16\n")
    ran = kueuepy("risk", "a-2", *teams, "--future", coming, "--within", "1h")
    assert ran.code == 0
    assert ran.out.startswith("default/a-2: evicted within 1 h in ")
    assert kueuepy("risk", "a-2", *teams, "--json").json["probability"] == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell):
    runner = typer.testing.CliRunner()
    script = runner.invoke(app, [], prog_name="kueuepy", env={"_KUEUEPY_COMPLETE": f"source_{shell}"})
    assert "_KUEUEPY_COMPLETE" in script.output
    asked = {"_KUEUEPY_COMPLETE": f"complete_{shell}", "COMP_WORDS": "kueuepy wha", "COMP_CWORD": "1"}
    asked |= {"_TYPER_COMPLETE_ARGS": "kueuepy wha", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert "whatif" in runner.invoke(app, [], prog_name="kueuepy", env=asked).output
