"""`kueuepy sweep` and `kueuepy plan`."""

import csv
import re

import pytest

import kueuepy as kq

from .conftest import EXAMPLES

WEEK = EXAMPLES / "week"
NOMINAL = "ClusterQueue/robots:quota[h100/nvidia.com/gpu].nominalQuota"
RECLAIM = "ClusterQueue/*:preemption.reclaimWithinCohort"


@pytest.fixture
def sweep(kueuepy):
    def run(*arguments, command="sweep"):
        return kueuepy(command, WEEK / "teams.yaml", "--jobs", WEEK / "jobs.csv", *arguments)

    return run


@pytest.fixture
def plan(sweep):
    def run(*arguments):
        return sweep("--vary", NOMINAL, *arguments, command="plan")

    return run


def test_rows_equal_those_of_sweep(sweep):
    found = sweep("--over", f"{RECLAIM}=Never,Any", "--over", f"{NOMINAL}=4,6", "--window", "0:2d", "--json").json
    cluster, jobs = kq.load(WEEK / "teams.yaml"), kq.Jobs.read(WEEK / "jobs.csv").window("0", "2d")
    grid = kq.sweep(cluster, jobs, {RECLAIM: ["Never", "Any"], NOMINAL: [4, 6]})
    assert found["policies"] == 4
    assert [row["wait_mean"] for row in found["rows"]] == grid.frame["wait_mean"].tolist()
    assert found["best"]["policy"] == grid.best("wait_p95").policy


def test_the_table_shows_the_pareto_front_and_the_best_policy(sweep, tmp_path):
    picture, rows = tmp_path / "front.svg", tmp_path / "rows.csv"
    pytest.importorskip("matplotlib").use("Agg")
    ran = sweep(
        *("--over", f"{RECLAIM}=Never,Any", "--over", f"{NOMINAL}=4,6", "--pareto", "wait_p95,lost_hours"),
        *("--picture", picture, "--out", rows, "--figure", "wait_p95(robots)"),
    )
    assert ran.code == 0
    heads = ran.out.partition("\n     ")[0].split()
    assert heads[0] == "Policy"
    assert {NOMINAL, "Mean", "wait"} <= set(heads)
    assert {"wait_mean", "wait_p95", "wait_p95(robots)"} <= set(ran.out.split())
    assert re.search(rf"^best: policy \d: .*{re.escape(NOMINAL)}=6: wait_p95 ", ran.out, re.MULTILINE)
    assert "<svg" in picture.read_text(encoding="utf-8")
    with rows.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 4


def test_a_sample_accepts_ranges_and_seeds_shuffle_days(sweep):
    pytest.importorskip("scipy")
    found = sweep("--over", f"{NOMINAL}=4..12:2", "--sample", "4", "--seeds", "2", "--json").json
    values = {row[NOMINAL] for row in found["rows"]}
    assert values <= {4, 6, 8, 10, 12}
    assert len(found["rows"]) == 8
    assert found["rows"][0]["wait_mean"] != found["rows"][1]["wait_mean"]


def test_without_a_policy_that_meets_the_condition_the_exit_code_is_3(sweep):
    ran = sweep("--over", f"{NOMINAL}=4", "--where", "wait_mean < 0", "--window", "0:1d")
    assert ran.code == 3
    assert "no policy meets wait_mean < 0" in ran.out


def test_a_stopped_sweep_continues(sweep, tmp_path):
    kept = tmp_path / "kept.db"
    first = sweep("--over", f"{NOMINAL}=4,6", "--window", "0:1d", "--storage", kept, "--json").json
    again = sweep("--over", f"{NOMINAL}=4,6", "--window", "0:1d", "--storage", kept, "--json").json
    assert again == first  # wall_s included: nothing was run again


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("--over", f"{NOMINAL}=4..8"), 1, "is a range"),
        (("--over", f"{NOMINAL}=4..x:2", "--sample", "2"), 1, "no policy is valid"),
        (("--over", f"{NOMINAL}=4..8..9:2", "--sample", "2"), 1, "must be LOW..HIGH"),
        (("--over", "nonsense"), 2, "NAME=VALUE"),
        (("--over", "ClusterQueue/robots:qouta=1"), 1, "qouta"),
        (("--over", f"{NOMINAL}=[4"), 1, "separated by commas"),
        (("--over", f"{NOMINAL}=4", "--picture", "x.svg"), 2, "needs --pareto with two metrics"),
        (("--over", f"{NOMINAL}=4", "--pareto", "wait_p96,jain"), 1, "wait_p96"),
    ],
)
def test_invalid_options_are_rejected(sweep, arguments, code, error):
    ran = sweep(*arguments, "--window", "0:6h")
    assert ran.code == code
    assert error in ran.err


def test_the_smallest_quota_equals_that_of_plan(plan, tmp_path):
    out, picture = tmp_path / "objects.yaml", tmp_path / "plan.svg"
    pytest.importorskip("matplotlib").use("Agg")
    ran = plan("--target", "wait_p95(robots) <= 30m", "--from", "3", "--to", "8", "-o", out, "--picture", picture)
    cluster, jobs = kq.load(WEEK / "teams.yaml"), kq.Jobs.read(WEEK / "jobs.csv")
    wanted = kq.plan(cluster, jobs, "wait_p95(robots) <= 30m", vary=NOMINAL, low=3, high=8)
    assert ran.code == 0
    assert f"{wanted.value} GPUs meets wait_p95(robots) <= 30m" in " ".join(ran.out.split())
    assert kq.dump(kq.load(out)) == kq.dump(wanted.cluster)
    assert "<svg" in picture.read_text(encoding="utf-8")
    told = plan("--target", "wait_p95(robots) <= 30m", "--from", "3", "--to", "8", "--json").json
    assert (told["value"], len(told["curve"])) == (wanted.value, 6)


def test_without_a_sufficient_value_the_exit_code_is_3(plan, tmp_path):
    out = tmp_path / "objects.yaml"
    ran = plan("--target", "wait_mean < 0", "--from", "3", "--to", "4", "-o", out)
    assert ran.code == 3
    assert "no value meets wait_mean < 0" in " ".join(ran.out.split())
    assert not out.exists()
    assert plan("--target", "wait", "--from", "3", "--to", "4").code == 1
