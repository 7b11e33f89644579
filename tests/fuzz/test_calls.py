"""The fuzzer: a fraction of its steps and documents, and the detection and reproduction of faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import documents, steps
from fuzz.calls import Call, chosen_at, next_call
from fuzz.documents import hold
from fuzz.objects import cluster
from fuzz.steps import repeat, run
from fuzz.world import World
from kueuepy import Scheduler
from kueuepy.platform.journal import Journal

SEEDS = range(2)


@pytest.mark.sanitizer
@pytest.mark.parametrize("seed", SEEDS)
def test_a_fraction_of_the_steps(seed: int) -> None:
    found = run(3 * steps.LENGTH, seed)
    assert found is None, found.script


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fraction_of_the_documents(seed: int) -> None:
    assert documents.run(500, seed) == ""


def test_moves_depend_only_on_seed_and_step() -> None:
    def story(seed: int) -> list[str]:
        scheduler = Scheduler(cluster(chosen_at(seed, 0)), now=0)
        told = []
        for number in range(200):
            call = next_call(scheduler, chosen_at(seed, number), number)
            told += [str(call), call.on(scheduler)]
        return told

    assert story(1) == story(1)
    assert story(1) != story(2)
    refused = [told for told in story(1) + story(2) if told.startswith(("InvalidSpecError", "NotFoundError"))]
    assert refused, "no call is refused"
    assert any("Admitted(" in told for told in story(1) + story(2)), "nobody is admitted"


def test_every_move_occurs(tmp_path: Path) -> None:
    world = World(1, 0, tmp_path)
    told = [world.step(number) for number in range(1500)]
    for words in ("is killed by a write", "cannot be written", "backup", "compacted", "opened", "forked", "loaded"):
        assert any(words in line for line in told), words


def test_a_finding_is_minimal_and_reproducible(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    unharmed = Scheduler.finish

    def finish(scheduler: Scheduler, *keys: str, **options: str) -> None:
        unharmed(scheduler, *keys, **options)
        if type(scheduler) is Scheduler:  # without a journal
            scheduler.advance(1)

    monkeypatch.setattr(Scheduler, "finish", finish)
    found = run(2 * steps.LENGTH, 3)
    assert found is not None
    assert "AssertionError" in found.what
    assert len(found.steps) < 10
    assert any("scheduler.finish(" in line for line in found.script.splitlines())
    with pytest.raises(AssertionError):
        exec(found.script, {})  # noqa: S102 - what it prints is what it is for
    assert "scheduler.finish(" in capsys.readouterr().out
    monkeypatch.undo()
    repeat(found.seed, found.steps)


def test_a_foreign_exception_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scheduler, "cycle", lambda _: 1 / 0)
    found = run(steps.LENGTH, 1)
    assert found is not None
    assert isinstance(found.error, ZeroDivisionError)
    assert len(found.steps) == 1


def test_a_lost_acknowledged_call_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "write", lambda *_: None)
    world = World(1, 0, tmp_path)
    with pytest.raises(AssertionError, match="lost, or made up"):
        list(map(world.step, range(1000)))


def test_a_document_read_differently_by_two_readers_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    hold("a: [1, b]")
    monkeypatch.setattr(documents, "fast", lambda _: ({"a": 2},))
    with pytest.raises(AssertionError, match="the fast reader disagrees"):
        hold("a: [1, b]")
    assert "hold(" in documents.run(5, 1)


def test_a_call_prints_as_python_code() -> None:
    assert str(Call("settle", options={"max_cycles": 3})) == "scheduler.settle(max_cycles=3)"
    assert str(Call("finish", ("default/a",))) == "scheduler.finish('default/a')"


def test_the_fuzz_command() -> None:
    counts = ["--steps", "20", "--documents", "20", "--runs", "5"]
    command = [sys.executable, str(Path(__file__).parent), *counts, "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "20 steps, 20 documents and 5 runs of seed 5: all holds"
    nothing = subprocess.run(command[:2], capture_output=True, text=True, check=False)  # noqa: S603
    assert nothing.returncode == 2
    assert "--steps" in nothing.stderr
