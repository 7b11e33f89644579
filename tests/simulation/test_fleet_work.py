"""The work of a fleet grows linearly, and a copy that only waits has the same effects as any other copy."""

from __future__ import annotations

import numpy as np
import pytest

import kueuepy as kq

ALL = kq.sim.AllAtOnce()
MOST = 1.3
"""Largest accepted growth of the cycles of a job or copy if there are four times as many jobs or workers."""


def fleet(workers, dispatcher=ALL, units=4, **fields):
    """Workers of which every third has fewer units."""
    flavor = kq.ResourceFlavor("any")
    made = {
        f"w{n}": kq.Cluster(flavor, kq.ClusterQueue.of("main", {"any": {"cpu": units - (n % 3 == 0)}}, **fields))
        for n in range(workers)
    }
    return kq.Fleet(made, dispatcher=dispatcher)


def jobs(number, workers, load=0.9, seed=1):
    chance = np.random.default_rng(seed)
    gap = 600 * 1.5 / (workers * 4 * load)
    return kq.Jobs(
        {
            "queue": ["main"] * number,
            "submit": np.cumsum(chance.exponential(gap, number)),
            "runtime": chance.exponential(600, number),
            "cpu": chance.integers(1, 3, number),
            "priority": chance.integers(0, 2, number),
        }
    )


def work(workers, number, dispatcher):
    """The numbers of cycles and of copies."""
    result = kq.simulate(fleet(workers, dispatcher), jobs(number, workers), record=kq.sim.Recording(cycles=True))
    return len(result.cycles), len(result.copies)


@pytest.mark.parametrize("dispatcher", [ALL, kq.sim.Incremental()])
def test_the_cycles_grow_linearly_with_the_jobs(dispatcher):
    (few, copied), (many, copied_more) = (work(6, number, dispatcher) for number in (150, 600))
    assert many <= 4 * MOST * few
    assert copied_more <= 4 * MOST * copied


@pytest.mark.parametrize("dispatcher", [ALL, kq.sim.Incremental()])
def test_the_cycles_of_a_copy_do_not_grow_with_the_workers(dispatcher):
    (few, copied), (many, copied_more) = (work(workers, 200, dispatcher) for workers in (5, 20))
    assert many / copied_more <= MOST * few / copied


def same(first, second):
    for name in ("jobs", "runs", "decisions", "usage", "cycles", "idle", "blocked", "copies"):
        one, other = getattr(first, name), getattr(second, name)
        assert one.names == other.names
        for column in one.names:
            np.testing.assert_array_equal(
                np.asarray(one[column]), np.asarray(other[column]), err_msg=f"{name}.{column}"
            )
    assert first.kpis == second.kpis


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fields", [{}, {"queueing_strategy": "StrictFIFO"}])
def test_a_function_that_chooses_all_clusters_gives_the_same_result(seed, fields):
    """The workers of an external dispatcher always have all copies, because the function may inspect them."""
    made = fleet(2 + seed, units=3, **fields)
    chosen = made.replace(dispatcher=kq.sim.External(lambda _workload, clusters, _now: list(clusters)))
    options = {"record": kq.sim.Recording(cycles=True), "until": 8000}
    log = jobs(120, 2 + seed, load=(0.6, 1.0, 1.6)[seed % 3], seed=seed)
    first, second = (kq.simulate(one, log, **options) for one in (made, chosen))
    same(first, second)
    for name in made.clusters:
        assert first.scheduler[name].fingerprint() == second.scheduler[name].fingerprint()
