"""A fraction of the random simulations; `python tests/fuzz` runs more."""

from __future__ import annotations

import os

import pytest

from fuzz.runs import Fuzzer

RUNS = 150


@pytest.fixture
def fuzzer(monkeypatch):
    """Create the random simulations, and restore the limits that they change after the test."""
    from kueuepy.simulation import distributions, model  # noqa: PLC0415

    for module in (distributions, model):
        monkeypatch.setattr(module, "TABLE", module.TABLE)
    monkeypatch.setattr(model, "MOST_OCCURRENCES", model.MOST_OCCURRENCES)
    return Fuzzer


@pytest.mark.sanitizer
def test_random_runs_raise_no_foreign_errors_and_keep_the_invariants(fuzzer):
    runs = fuzzer(1)
    for number in range(RUNS):
        runs.run(number)
    answered = {name: done for name, (done, _) in runs.counts.items()}
    assert answered.pop("new") > RUNS / 10
    assert all(done > 0 for done in answered.values()), answered


@pytest.mark.threads
def test_random_runs_are_used_by_several_threads(fuzzer):
    runs = fuzzer(2, forks="libtsan" not in os.environ.get("LD_PRELOAD", ""))
    for number in range(RUNS):
        runs.run(number)
