"""A short version of benchmarks/soak.py."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from kueuepy import Scheduler
from saved import to_bytes

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def soak() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "soak.py"))


@pytest.mark.long
def test_rounds_do_not_grow_the_state(soak: dict[str, Any]) -> None:
    scheduler = Scheduler(soak["cluster"]())
    sizes: list[int] = []
    told = soak["soak"](scheduler, 5_000, now_and_then=lambda: sizes.append(len(to_bytes(scheduler))))
    assert len(scheduler.keys()) == soak["ALIVE"]
    assert told["resident_mb"][-1] <= 1.05 * told["resident_mb"][1]
    assert len(sizes) == 1
    assert len(to_bytes(scheduler)) <= 1.02 * sizes[0]
