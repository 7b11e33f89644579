"""Properties of preemption loops: reports are correct, periods are minimal, and no loop is missed."""

from __future__ import annotations

import functools
import math

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kueuepy import Cluster, Cohort, Configuration, FairSharingConfig, ResourceFlavor, Scheduler
from laws.rivals import one_by_one, rivals
from laws.runs import admissions, story, told

pytestmark = pytest.mark.sanitizer
SEEDS = st.integers(0, 2**32)
# About one history in ten has a loop; a history takes milliseconds.
many = settings(max_examples=5 * settings().max_examples, phases=[Phase.generate])


def moves(cycle):
    """Return the admitted and the preempted workloads of a cycle in the format of `story`."""
    admitted = {workload for kind, workload, *_ in cycle if kind == "admitted"}
    return admitted | {target for kind, _, *more in cycle if kind == "preempting" for target, _ in more[0]}


def check_period(scheduler, loop):
    """A loop repeats with the reported period and workloads."""
    period, workloads = loop.period, loop.workloads
    still = {key: held for key, held in admissions(scheduler).items() if key not in workloads}
    word, states = [], []
    for _ in range(3 * period):
        word += story(scheduler, cycles=1)
        states.append(scheduler._engine.fingerprint())
        assert still.items() <= admissions(scheduler).items(), "nobody else moves"
    assert word[:period] == word[period : 2 * period] == word[2 * period :] == list(map(told, loop.cycles))
    assert workloads == tuple(sorted(set().union(*map(moves, word))))
    assert any(kind == "preempting" for cycle in word for kind, *_ in cycle)
    # There is no shorter period of states or of visible decisions.
    assert len(set(states)) == period
    for shorter in range(1, period):
        assert period % shorter or word[:period] != word[:shorter] * (period // shorter)


def check_time(scheduler, loop):
    """A loop also occurs while time advances."""
    preemptions = 0
    for i in range(6 * loop.period):
        scheduler.advance(1)
        (cycle,) = story(scheduler, cycles=1)
        preemptions += i >= 4 * loop.period and any(kind == "preempting" for kind, *_ in cycle)
    assert preemptions


@many
@given(SEEDS)
def test_a_story_ends_in_a_stable_state_or_in_the_reported_loop(seed):
    scheduler, settled = one_by_one(*rivals(seed))
    assert settled.finished == (settled.loop is None), "it ends, or is reported, in far fewer cycles than the limit"
    if settled.finished:
        assert [moves(cycle) for cycle in story(scheduler, cycles=8)] == [set()] * 8
        return
    check_period(scheduler.fork(), settled.loop)
    check_time(scheduler, settled.loop)


@functools.cache
def loop_of(seed):
    """The loop at which the story of a seed ends, if it does; two tests look for loops of many periods."""
    return one_by_one(*rivals(seed))[1].loop


def test_the_stories_cover_loops_of_many_periods():
    loops = [loop for seed in range(200) if (loop := loop_of(seed))]
    assert len({loop.period for loop in loops}) >= 4


def side_by_side(seeds):
    """Combine the clusters and jobs of several histories in one cluster with separate trees."""
    objects, jobs = [], []
    for number, seed in enumerate(seeds):
        cluster, waiting = rivals(seed)
        for obj in (*cluster.cohorts, *cluster.cluster_queues):
            above = "parent_name" if isinstance(obj, Cohort) else "cohort_name"
            changes = {"name": f"{obj.name}-{number}"}
            if getattr(obj, above) is not None:
                changes[above] = f"{getattr(obj, above)}-{number}"
            objects.append(replace(obj, **changes))
        jobs.append(
            [replace(job, name=f"{job.name}-{number}", queue_name=f"{job.queue_name}-{number}") for job in waiting]
        )
    configuration = Configuration(fair_sharing=FairSharingConfig())
    return Cluster(ResourceFlavor("default"), objects, configuration=configuration), [
        job for together in zip(*jobs, strict=True) for job in together
    ]


@settings(max_examples=max(1, settings().max_examples // 4), phases=[Phase.generate])
@given(st.lists(SEEDS, min_size=6, max_size=6))
def test_each_cohort_tree_loops_with_its_own_period(seeds):
    cluster, jobs = side_by_side(seeds)
    scheduler = Scheduler(cluster, now=0)
    for job in jobs:
        scheduler.advance(1)
        scheduler.submit(job)
        settled = scheduler.settle(max_cycles=5000)
        assert settled.finished or settled.loops
        assert len(settled) < 500
    together = 2 * max([loop.period for loop in settled.loops], default=2)
    word = story(scheduler, cycles=together)
    for loop in settled.loops:
        mine = [[one for one in cycle if concerns(one, loop.workloads)] for cycle in word]
        assert mine[: loop.period] == mine[loop.period : 2 * loop.period]
        assert mine[: loop.period] != mine[1 : loop.period + 1]
        assert {workload.rpartition("-")[2] for workload in loop.workloads} == {loop.workloads[0].rpartition("-")[2]}
    assert set().union(*map(moves, word)) <= {workload for loop in settled.loops for workload in loop.workloads}


def concerns(decision, workloads):
    kind, workload, *more = decision
    return workload in workloads or (kind == "preempting" and any(target in workloads for target, _ in more[0]))


def test_periods_of_many_trees_are_not_multiplied():
    """Nine trees whose periods have a huge least common multiple."""
    found = [(seed, loop) for seed in range(600) if (loop := loop_of(seed))]
    by_period = {loop.period: seed for seed, loop in found if rivals(seed)[0].configuration.fair_sharing is not None}
    seeds = list(by_period.values())
    cluster, jobs = side_by_side(seeds)
    scheduler = Scheduler(cluster, now=0)
    multiple = 1
    for job in jobs:
        scheduler.advance(1)
        scheduler.submit(job)
        settled = scheduler.settle()
        assert len(settled) < 500
        multiple = max(multiple, math.lcm(*(loop.period for loop in settled.loops)))
    assert multiple > 500
    assert len(settled.loops) > 2
