"""Recorded scenarios with topologies or devices, with an engine that is saved and restored at every step."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest

from kueuepy._core import Engine
from kueuepy.selectors import is_available
from scenario.difference import differences
from scenario.runner import Replay

DATA = Path(__file__).parent / "data"
EVERY = 7
"""Each so many of a family: what matters is that nodes, places and second passes are in the midst of things."""


def scenarios():
    families = ("tas", "tas-nodes", "tas-pods", "tas-preempt", *(("dra", "dra-rules") if is_available() else ()))
    for family in families:
        with gzip.open(DATA / f"{family}.jsonl.gz", "rb") as lines:
            for number, line in enumerate(lines):
                if number % EVERY == 0:
                    yield pytest.param(line, id=f"{family}/{number}")


@pytest.mark.parametrize("line", list(scenarios()))
def test_a_restored_engine_continues_from_the_saved_state(line):
    scenario = msgspec.json.decode(line)
    run = Replay(scenario)
    for number, (step, recorded) in enumerate(zip(scenario["steps"], scenario["results"], strict=True)):
        run.engine = Engine.load(run.engine.save())
        run.engine.record_events(on=True)
        assert not differences(recorded, run.step(step)), f"step {number}: {msgspec.json.encode(step)[:300]!r}"
        assert run.engine.check() == []
