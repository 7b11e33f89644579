"""Recorded scenarios of a manager and its workers: clusters and MultiKueue act like Kueue."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kueuepy.errors import KueueError
from kueuepy.replay import replay
from kueuepy.replay.fleet import FleetReplay
from scenarios.difference import differences

DATA = Path(__file__).parent / "data" / "fleets"
MOVES = ("created", "deleted", "updated", "started", "stopped", "gated", "opened", "deactivating")
SHARE_UNDER_SANITIZERS = 5


def scenarios():
    for path in sorted(DATA.glob("*.jsonl.gz")):
        with gzip.open(path, "rb") as lines:
            for number, line in enumerate(lines):
                scenario = msgspec.json.decode(line)
                marks = [pytest.mark.sanitizer] if number % SHARE_UNDER_SANITIZERS == 0 else []
                yield pytest.param(line, id=scenario["name"], marks=marks)


def fleet_facts(result: dict[str, Any]) -> dict[str, Any]:
    """What a step of a fleet adds to the results of its clusters."""
    checks = {
        entry["workload"]: (
            entry["state"],
            entry.get("message") or "",
            tuple(entry.get("nominated") or ()),
            entry.get("cluster") or "",
        )
        for entry in result.get("checks") or ()
    }
    finished = {
        entry["workload"]: (entry.get("reason") or "", entry.get("message") or "")
        for entry in result.get("finished") or ()
    }
    moves = {move: sorted((e["cluster"], e["workload"]) for e in result.get(move) or ()) for move in MOVES}
    return {"checks": checks, "finished": finished, **moves}


@pytest.mark.parametrize("line", list(scenarios()))
def test_a_fleet_decides_like_the_recorded_kueue(line):
    scenario = msgspec.json.decode(line)
    assert len(scenario["steps"]) == len(scenario["results"])
    run = FleetReplay(scenario)
    for number, (step, recorded) in enumerate(zip(scenario["steps"], scenario["results"], strict=True)):
        result = run.step(step)
        where = f"step {number}: {msgspec.json.encode(step)[:300]!r}"
        assert fleet_facts(result) == fleet_facts(recorded), where
        for cluster in {*(recorded.get("clusters") or {}), *result["clusters"]}:
            expected = (recorded.get("clusters") or {}).get(cluster) or {}
            assert not differences(expected, result["clusters"].get(cluster) or {}), f"{cluster}: {where}"


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ({"at": 0, "on": "w9", "settle": True}, "'w9'; it must be one of"),
        ({"at": 0, "connect": ["w9"]}, "the worker 'w9'"),
        ({"at": 0, "on": "manager", "finish": ["default/absent"]}, "'default/absent', which does not exist"),
        ({"at": 0, "dispatches": True}, "unknown field `dispatches`"),
    ],
)
def test_an_unknown_step_is_an_error(step, problem):
    with gzip.open(DATA / "multikueue-cases.jsonl.gz", "rb") as lines:
        scenario = msgspec.json.decode(next(lines))
    with pytest.raises(KueueError, match=problem):
        replay(scenario | {"steps": [step], "results": None})
