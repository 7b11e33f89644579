"""Targets in a file, checked against a simulation."""

import re

import pytest

import kueuepy as kq
from exploration.conftest import RECLAIM, arrivals
from kueuepy.lab.exploration.measure import PolicyCheck, PolicyVerdict, read_promises


@pytest.fixture
def result(teams):
    return kq.simulate(teams.edit(RECLAIM, "Any"), arrivals(1))


def written(folder, text):
    path = folder / "promises.yaml"
    path.write_text(text)
    return path


def test_each_target_has_a_verdict_and_a_line(result, tmp_path):
    path = written(
        tmp_path,
        "# what we promise\n- loops == 0\n- promise: wait_p95(team-a) <= 1s\n  why: the contract\n- evictions > 0\n",
    )
    gate = kq.lab.check_policy(result, path)
    assert [(v.line, v.passed) for v in gate] == [
        ("loops == 0", True),
        ("wait_p95(team-a) <= 1s", False),
        ("evictions > 0", True),
    ]
    assert not gate.passed
    (broken,) = gate.failed
    assert (broken.place, broken.why) == (f"{path}:3", "the contract")
    assert broken.value == next(row for row in result.queues if row["cluster_queue"] == "team-a")["wait_p95"]
    assert str(broken).startswith(f"{path}:3: BROKEN: wait_p95(team-a) <= 1s: it is ")
    assert repr(gate) == "<Gate: not passed, 2 of 3 promises kept>"
    assert gate.to_markdown().splitlines()[2].startswith("| `wait_p95(team-a) <= 1s` |")
    assert "the contract" in gate._repr_html_()


def test_a_target_without_matching_jobs_is_missed(result):
    gate = kq.lab.check_policy(result, ["wait_p95[priority > 99] <= 30m", "jobs == 80"])
    assert [v.passed for v in gate] == [False, True]
    assert "no job counts" in str(gate[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- loops == 0\n- wiat_p95 <= 3\n", r'yaml:2: .*did you mean "wait_p'),
        ("- [loops == 0]\n", "yaml:1: is not a string"),
        ("- {promis: loops == 0}\n", "yaml:1: has promis; it must have promise"),
        ("loops == 0\n", "must be a list"),
        ("- loops == 0\n- 'x\n", "yaml:2:3: found unexpected end of stream"),
        ("- \0\n", "yaml:1:3: control character 0x00 is not allowed"),
        ("", "must be a list"),
        ("[]\n", "must be a list"),
        ("- wait_p95 <= nan\n", 'yaml:1: .*"nan"; it must be a number'),
    ],
)
def test_an_invalid_list_of_targets_is_rejected_with_its_line(result, tmp_path, text, message):
    with pytest.raises(kq.KueueError, match=message):
        kq.lab.check_policy(result, written(tmp_path, text))


def test_an_unknown_queue_is_reported_with_its_line(result, tmp_path):
    with pytest.raises(kq.errors.NotFoundError, match=r'yaml:2: .*"team-x" names no queue'):
        kq.lab.check_policy(result, written(tmp_path, "- loops == 0\n- wait_p95(team-x) <= 3\n"))


def test_an_empty_list_of_targets_is_rejected(result):
    with pytest.raises(kq.errors.InvalidSpecError, match="give one at least"):
        kq.lab.check_policy(result, [])


def test_a_missing_file_is_reported(result, tmp_path):
    with pytest.raises(kq.errors.NotFoundError, match="cannot be read"):
        kq.lab.check_policy(result, tmp_path / "nothing.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- ? [promise, why]\n  : loops == 0\n", "yaml:1:5: .*cannot be a key"),
        ("- ? {a: b}\n  : loops == 0\n- loops == 0\n", "yaml:1:5: .*cannot be a key"),
        ("- promise: loops == 0\n  why: [a, b]\n", "why is not a string"),
        ("- promise: loops == 0\n  promise: loops == 1\n", 'key "promise" is given twice'),
        ("- {}\n", "has no field; it must have promise"),
        ("- [loops == 0]\n", "is not a string"),
        ("- " + "[" * 100_000, "nested too deep"),
    ],
)
def test_invalid_entries_of_a_file_are_rejected_with_their_line(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(kq.errors.InvalidSpecError, match=message) as found:
        read_promises(path)
    assert str(found.value).startswith(str(path))


@pytest.mark.parametrize("sign", ["`", "``", "|", "\\", "\\|", "\n", ""])
def test_markdown_escapes_texts_of_the_file(sign):
    text = f"wait_mean(user={sign}<img src=x onerror=alert(1)>) <= 3"
    table = PolicyCheck(
        [PolicyVerdict(text, 3.0, passed=False, why=f"{sign}<script>alert(1)</script> a|b")]
    ).to_markdown()
    header, _, row = table.splitlines()
    rest = re.sub(r"`[^`]*`", "", row)  # in a code span nothing is HTML
    assert "<img" not in rest
    assert "<script" not in row
    assert len(re.findall(r"(?<!\\)\|", row)) == len(re.findall(r"\|", header)) == 5
