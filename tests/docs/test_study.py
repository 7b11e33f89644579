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
    changed["results"]["hosts-shared"]["1"]["wait_mean"] = [2.5] * changed["input"]["weeks"]
    assert "(2.5 h to 2.5 h)" in scripts["page"].text(changed, stored[1])


def test_a_statement_that_the_results_do_not_support_stops_the_page(scripts, stored):
    changed = json.loads(json.dumps(stored[0]))
    changed["results"]["reclaim"]["1"]["late_p99"][0] = 3600
    with pytest.raises(SystemExit, match="the 99th percentile is the grace period"):
        scripts["page"].text(changed, stored[1])


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ((0, "hosts-reclaim", "idle_while_waiting"), 0, "on hosts, more GPU-hours are free in every week"),
        ((0, "strict-shared", "wait_mean"), 0, "StrictFIFO lengthens the mean wait in the shared cohort"),
        ((0, "reclaim", "lost_hours"), 700, "reclaim loses less than a hundredth of the quota"),
        ((0, "reclaim", "late_max"), 121, "no entitled job waits for more than four grace periods"),
        ((1, "shared", "late"), 0, "whole log: no entitled job is late only if more than a third of the quota is free"),
        ((1, "fair", "wait_mean"), 9, "whole log: the mean wait is shorter with fair sharing"),
    ],
)
def test_statements_about_one_log_need_its_results(scripts, stored, where, value, message):
    log, policy, metric = where
    changed = list(json.loads(json.dumps(stored)))
    for name in (policy, "lower") if policy == "shared" else (policy,):
        changed[log]["results"][name]["1"][metric] = [value] * changed[log]["input"]["weeks"]
    with pytest.raises(SystemExit, match=message):
        scripts["page"].text(*changed)


def test_numbers_compare_policies_by_week_and_by_queue(scripts):
    queues = {"a": {"queues": {"x": [1.0, 3.0], "y": [2.0, 2.0]}}, "b": {"queues": {"x": [1.5, 1.5], "y": [1.0, 4.0]}}}
    results = {name: {"1": {**values, "entitled": [2, 6], "lost_hours": [84, 168]}} for name, values in queues.items()}
    facts = {"nominal": {"x": 8, "y": 2}, "demand": {"x": 4, "y": 1}, "measured": [8, 8], "hosts": 2}
    numbers = scripts["page"].Numbers({"input": facts, "results": results})
    assert numbers.text("slower", "a", "b", "1", "queues") == "1"
    assert numbers.text("excess", "a", "b", "1", "queues/x") == "1.5 h"
    assert numbers.text("both", "a", "1", "entitled_share") == "50.0 % (25.0 % to 75.0 %)"
    assert numbers.weeks("a", "1", "lost_share") == [5, 10]
    assert numbers.text("in", "nominal/x") == "8"
    assert numbers.text("in", "spare") == "6"


def test_the_text_has_no_number_of_its_own_about_the_results():
    text = (STUDY / "text.md.in").read_text(encoding="utf-8")
    bare = re.sub(r"\{[^{}]*\}|`[^`]*`|```.*?```", "", text, flags=re.DOTALL)
    units = re.findall(r"\d[\d.,]* (?:%|GPU-hours|evictions|hours|h\b|min\b)", bare)
    assert units == ["95 %", "99 %", "95 %"]


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


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_wide_jobs_explain_the_largest_wait_with_private_quotas(scripts, stored):
    study = scripts["study"]
    waits = stored[0]["results"]["private"]["1"]["wait_mean"]
    jobs = kq.Jobs.read(ROOT / "examples" / "logs" / "philly.csv.gz").clean()
    week, cluster = study.Days(jobs).draw(waits.index(max(waits))), study.cluster(study.POLICIES[0], jobs)
    for load, in_the_week in ((1.0, True), (1.1, False)):
        found = kq.simulate(cluster, week.scale_load(load), model=study.POLICIES[0].model).jobs
        days = found["submit"] * load / study.DAY
        wide = (found[study.GPU] == 8) & (found["runtime"] > study.DAY) & (days > 5) & (days < 7.1)
        wide &= np.asarray(list(found["cluster_queue"])) == "6214e9"
        assert wide.sum() == 4
        assert ((found["first_start"][wide] * load < 14 * study.DAY) == in_the_week).all()


def test_given_quotas_replace_the_estimated_quotas(scripts, tmp_path):
    study = scripts["study"]
    jobs = kq.Jobs({"queue": ["a", "b"], "submit": [0, 1], "runtime": ["1h", "1h"], "gpu": [1, 1], "cpu": [2, 2]})
    manifests = tmp_path / "queues.yaml"
    gpus = {"f1": {study.GPU: 5}, "f2": {study.GPU: 2}}
    queues = [kq.ClusterQueue.of("a", gpus), kq.ClusterQueue.of("b", gpus), kq.ClusterQueue.of("c", gpus)]
    flavors = [kq.ResourceFlavor(name) for name in gpus]
    manifests.write_text(kq.dump(kq.Cluster(*flavors, *queues, kq.ClusterQueue.of("d", {"f1": {"cpu": 1}}))), "utf-8")
    nominal = study.quotas(kq.load([str(manifests)]))
    assert nominal == {"a": 7, "b": 7, "c": 7}
    for policy in study.POLICIES:
        cluster = study.cluster(policy, jobs, nominal)
        assert study.quotas(cluster) == nominal
        assert {queue.cohort_name for queue in cluster.cluster_queues} == {"all" if policy.cohort else None}
        assert kq.simulate(cluster, jobs).kpis.finished == 2
    with pytest.raises(SystemExit, match="for the queues b of the log"):
        study.cluster(study.POLICIES[0], jobs, {"a": 7})


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
    manifests = tmp_path / "queues.yaml"
    queues = [kq.ClusterQueue.of(name, {"f": {"nvidia.com/gpu": 9}}) for name in "ab"]
    manifests.write_text(kq.dump(kq.Cluster(kq.ResourceFlavor("f"), *queues)), encoding="utf-8")
    assert scripts["run"].main([*arguments, "--quotas", str(manifests)]) == 0
    assert json.loads((out / "results.json").read_text("utf-8"))["input"]["nominal"] == {"a": 9, "b": 9}
    with pytest.raises(SystemExit):
        scripts["run"].main(["--quotas", str(manifests)])
