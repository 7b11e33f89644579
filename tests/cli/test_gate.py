"""`kueuepy simulate --gate`: targets that must be met."""

import json
import re

import yaml

from .conftest import EXAMPLES

WEEK = ("simulate", EXAMPLES / "week" / "teams.yaml", "--jobs", EXAMPLES / "week" / "jobs.csv")


def _promises(folder, text):
    path = folder / "promises.yaml"
    path.write_text(text)
    return path


def test_the_targets_of_the_example_are_met(kueuepy):
    code, out, _ = kueuepy(*WEEK, "--gate", EXAMPLES / "gate" / "promises.yaml")
    assert code == 0
    assert out.count(": kept: ") == 4
    assert "BROKEN" not in out


def test_a_missed_target_exits_with_3_and_names_its_line(kueuepy, tmp_path):
    path = _promises(tmp_path, "- loops == 0\n- promise: wait_p95(vision) <= 1s\n  why: the contract\n")
    code, out, _ = kueuepy(*WEEK, "--gate", path)
    assert code == 3
    assert f"{path}:1: kept: loops == 0: it is 0" in out
    assert re.search(rf"{path}:2: BROKEN: wait_p95\(vision\) <= 1s: it is \d+ min \d+ s \(\d+ s\) \(the", out)
    assert "(the contract)" in out


def test_json_has_the_verdicts(kueuepy, tmp_path):
    path = _promises(tmp_path, "- evictions < 0\n- loops == 0\n")
    code, out, _ = kueuepy(*WEEK, "--gate", path, "--json")
    found = json.loads(out)
    assert code == 3
    assert [(v["line"], v["passed"]) for v in found["gate"]] == [("evictions < 0", False), ("loops == 0", True)]
    assert found["gate"][0]["value"] == found["figures"]["evictions"]
    assert "gate" not in json.loads(kueuepy(*WEEK, "--json")[1])


def test_an_invalid_target_is_reported_before_the_run(kueuepy, tmp_path):
    path = _promises(tmp_path, "- loops == 0\n- wiat_p95 <= 3\n")
    code, out, err = kueuepy(*WEEK, "--gate", path)
    assert (code, out) == (1, "")
    assert f"{path}:2: " in err
    assert "did you mean" in err


def test_the_github_action_is_valid_yaml_and_checks_the_targets():
    action = yaml.safe_load((EXAMPLES / "gate" / "quota-gate.yaml").read_text(encoding="utf-8"))
    steps = action["jobs"]["gate"]["steps"]
    (run,) = [step["run"] for step in steps if "simulate" in step.get("run", "")]
    assert "--gate promises.yaml" in run
    assert "exit $code" in run
