"""The page of the study contains the stored results, and a repeated week gives the same values."""

import hashlib
import importlib.util
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import kueuepy as kq

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "docs" / "study"
if not STUDY.is_dir():
    pytest.skip("the study is not part of what is here", allow_module_level=True)


@pytest.fixture(scope="module")
def scripts():
    loaded = {}
    for name in ("study", "page", "run"):
        spec = importlib.util.spec_from_file_location(name, STUDY / f"{name}.py")
        loaded[name] = sys.modules[name] = importlib.util.module_from_spec(spec)
        if name != "run":
            spec.loader.exec_module(loaded[name])
    importlib.util.spec_from_file_location("run", STUDY / "run.py").loader.exec_module(loaded["run"])
    yield loaded
    for name in loaded:
        del sys.modules[name]


@pytest.fixture(scope="module")
def stored():
    return tuple(
        json.loads((STUDY / name).read_text(encoding="utf-8")) for name in ("results.json", "results-whole.json")
    )


def test_the_page_is_written_from_the_stored_results(scripts, stored):
    assert (STUDY / "index.md").read_text(encoding="utf-8") == scripts["page"].text(*stored)


def test_a_changed_result_changes_the_page(scripts, stored):
    changed = json.loads(json.dumps(stored[0]))
    for policy in ("shared", "lower"):
        changed["results"][policy]["1"]["wait_mean"] = [2.5] * changed["input"]["weeks"]
    assert "(2.5 h to 2.5 h)" in scripts["page"].text(changed, stored[1])


def test_a_statement_that_the_results_do_not_support_stops_the_page(scripts, stored):
    changed = json.loads(json.dumps(stored[0]))
    changed["results"]["reclaim"]["1"]["late_p99"][0] = 3600
    with pytest.raises(SystemExit, match="the 99th percentile is the grace period"):
        scripts["page"].text(changed, stored[1])


def test_the_text_has_no_number_of_its_own_about_the_results():
    text = (STUDY / "text.md.in").read_text(encoding="utf-8")
    bare = re.sub(r"\{[^{}]*\}|`[^`]*`|```.*?```", "", text, flags=re.DOTALL)
    units = re.findall(r"\d[\d.,]* (?:%|GPU-hours|evictions|hours|h\b|min\b)", bare)
    assert units == ["95 %", "95 %"]


def test_one_week_of_every_policy_gives_the_stored_values(scripts, capsys):
    assert scripts["run"].main(["--short"]) == 0
    assert "all values equal" in capsys.readouterr().out


def test_a_different_value_is_reported(scripts, stored):
    found = {"shared": {"1": {"wait_mean": [0.0], "queues": {}}}}
    assert scripts["run"].differences(found, stored[0]["results"])[0].startswith("shared 1 wait_mean : 0.0, stored")


def test_the_input_is_the_shipped_log(stored):
    log = ROOT / "examples" / "logs" / "philly.csv.gz"
    assert stored[0]["input"]["sha256"] == hashlib.sha256(log.read_bytes()).hexdigest()


def test_a_drawn_week_consists_of_days_of_the_log(scripts):
    study = scripts["study"]
    jobs = kq.Jobs.read(ROOT / "examples" / "logs" / "philly.csv.gz")
    days = study.Days(jobs)
    week = days.draw(3)
    assert len(days) == 14
    assert 16 < week.span / study.DAY < 17
    known = np.unique(jobs["submit"].astype("M8[D]"), return_counts=True)[1].tolist()
    drawn = np.bincount((np.asarray(week["submit"], float) // study.DAY).astype(int)).tolist()
    assert len(drawn) == 17
    assert set(drawn) <= set(known)
    assert days.draw(3)["submit"].tolist() == week["submit"].tolist()
    assert days.draw(4)["submit"].tolist() != week["submit"].tolist()


def test_entitled_jobs_do_not_wait_behind_jobs_of_their_team(scripts):
    study = scripts["study"]
    rows = [
        {"queue": "a", "submit": 0, "runtime": 100, "gpu": 2},
        {"queue": "a", "submit": 10, "runtime": 100, "gpu": 1},
        {"queue": "a", "submit": 20, "runtime": 100, "gpu": 1},
        {"queue": "b", "submit": 30, "runtime": 10, "gpu": 1},
        {"queue": "b", "submit": 30, "runtime": 10, "gpu": 1},
        {"queue": "b", "submit": 60, "runtime": 10, "gpu": 1},
    ]
    queues = [kq.ClusterQueue.of(name, {"f": {"nvidia.com/gpu": 2}}) for name in ("a", "b")]
    result = kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queues), rows)
    assert study.entitled(result).tolist() == [True, False, False, False, False, True]


def test_another_log_gets_tables_and_pictures(scripts, tmp_path):
    pytest.importorskip("matplotlib")
    log = tmp_path / "jobs.csv"
    rows = [f"{'ab'[n % 2]},{n * 1800},{1 + n % 5}h,{1 + n % 2}" for n in range(400)]
    log.write_text("queue,submit,runtime,gpu\n" + "\n".join(rows) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["--log", str(log), "--weeks", "2", "--loads", "0.9", "1", "--out", str(out)]
    assert scripts["run"].main(arguments) == 0
    assert {"index.md", "results.json", "late.svg", "waits.svg", "usage.svg"} == {path.name for path in out.iterdir()}
    assert "| shared cohort |" in (out / "index.md").read_text(encoding="utf-8")
