"""Endless preemption: a loop that is reported is one, its period is the shortest, and none is missed."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from laws.rivals import one_by_one, rivals
from laws.runs import admissions, story, told

pytestmark = pytest.mark.sanitizer
SEEDS = st.integers(0, 2**32)
# About one story in ten is endless; a story takes milliseconds.
many = settings(max_examples=5 * settings().max_examples, phases=[Phase.generate])


def moves(cycle):
    """Who is admitted, and who is preempted, in a cycle as `story` tells it."""
    admitted = {workload for kind, workload, *_ in cycle if kind == "admitted"}
    return admitted | {target for kind, _, *more in cycle if kind == "preempting" for target, _ in more[0]}


@many
@given(SEEDS)
def test_a_loop_goes_on_with_the_period_and_the_workloads_that_are_reported(seed):
    scheduler, settled = one_by_one(*rivals(seed))
    if settled.loop is None:
        return
    period, workloads = settled.loop.period, settled.loop.workloads
    still = {key: held for key, held in admissions(scheduler).items() if key not in workloads}
    word, states = [], []
    for _ in range(3 * period):
        word += story(scheduler, cycles=1)
        states.append(scheduler.engine.fingerprint())
        assert still.items() <= admissions(scheduler).items(), "nobody else moves"
    assert word[:period] == word[period : 2 * period] == word[2 * period :] == list(map(told, settled.loop.cycles))
    assert workloads == tuple(sorted(set().union(*map(moves, word))))
    assert any(kind == "preempting" for cycle in word for kind, *_ in cycle)
    # No shorter period, neither of the states nor of what one sees.
    assert len(set(states)) == period
    for shorter in range(1, period):
        assert period % shorter or word[:period] != word[:shorter] * (period // shorter)


@many
@given(SEEDS)
def test_a_loop_does_not_depend_on_time_standing_still(seed):
    scheduler, settled = one_by_one(*rivals(seed))
    if settled.loop is None:
        return
    preemptions = 0
    for i in range(6 * settled.loop.period):
        scheduler.advance(1)
        (cycle,) = story(scheduler, cycles=1)
        preemptions += i >= 4 * settled.loop.period and any(kind == "preempting" for kind, *_ in cycle)
    assert preemptions


@many
@given(SEEDS)
def test_without_a_report_nothing_moves_any_more(seed):
    scheduler, settled = one_by_one(*rivals(seed))
    assert settled.finished == (settled.loop is None), "it ends, or is reported, in far fewer cycles than the limit"
    if settled.finished:
        assert [moves(cycle) for cycle in story(scheduler, cycles=8)] == [set()] * 8


def test_the_stories_hold_loops_of_many_periods():
    loops = [settled.loop for seed in range(200) if (settled := one_by_one(*rivals(seed))[1]).loop]
    assert len({loop.period for loop in loops}) >= 4
