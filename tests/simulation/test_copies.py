"""Copies of simulations are independent, and results are values."""

from __future__ import annotations

import copy
import pickle

import pytest

import kueuepy as kq
from kueuepy.errors import DuplicateError, StateError, UnsupportedError

CLUSTER = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 4}}))
JOBS = [{"queue": "a", "submit": 60 * n, "runtime": 300, "cpu": 1 + n % 3, "name": f"w{n}"} for n in range(20)]


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - its own


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_simulation_continues_independently(copied):
    run = kq.Simulation(CLUSTER, JOBS)
    run.run("5m")
    before = run.now
    twin = copied(run)
    twin.submit({"queue": "a", "submit": 0, "runtime": 60, "cpu": 1, "name": "late"})
    twin.run()

    assert (run.now, len(run.jobs)) == (before, 20)
    run.submit({"queue": "a", "submit": 0, "runtime": 60, "cpu": 2, "name": "late"})
    run.run()
    assert [run.result().jobs["cpu"][20], twin.result().jobs["cpu"][20]] == [2, 1]


def test_the_scheduler_of_a_simulation_finds_its_workloads_by_name():
    run = kq.Simulation(CLUSTER, JOBS)
    run.run("5m")
    scheduler = run.scheduler
    keys = [row["key"] for row in scheduler.workloads]
    assert keys
    for key in keys:
        with pytest.raises(DuplicateError, match=key):
            scheduler.submit({"name": key.partition("/")[2], "queue": "a", "cpu": 7})
    run.run()
    assert min(run.result().jobs["end"]) > 0


def test_pickling_a_simulation_raises_an_error_with_an_alternative():
    with pytest.raises(UnsupportedError, match=r"pickle its result\(\)"):
        pickle.dumps(kq.Simulation(CLUSTER, JOBS))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_of_a_result_is_equal(copied):
    result = kq.simulate(CLUSTER, JOBS)
    twin = copied(result)

    assert twin.kpis == result.kpis
    assert twin.warnings == result.warnings
    assert twin.jobs["first_start"].tolist() == result.jobs["first_start"].tolist()
    assert twin.decisions["kind"].names == result.decisions["kind"].names
    twin.wall["own"] = 1.0
    assert "own" not in result.wall


def test_an_unpickled_result_reports_that_it_has_no_scheduler():
    result = kq.simulate(CLUSTER, JOBS)
    assert copy.copy(result).scheduler is not None
    with pytest.raises(StateError, match="unpickled"):
        _ = pickled(result).scheduler


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_of_a_comparison_is_equal(copied):
    comparison = kq.compare({"now": CLUSTER, "more": CLUSTER.edit("ClusterQueue/a:quota[f/cpu].nominalQuota", 8)}, JOBS)
    twin = copied(comparison)
    assert twin.kpis == comparison.kpis
    assert twin.changes == comparison.changes


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copying_or_pickling_an_environment_raises_an_error(copied):
    rl = pytest.importorskip("kueuepy.lab.rl")
    path = "ClusterQueue/a:quota[f/cpu].nominalQuota"
    for env in (rl.QuotaEnv(CLUSTER, kq.Jobs.of(JOBS), [path]), rl.vector(2, CLUSTER, kq.Jobs.of(JOBS), [path])):
        with pytest.raises(UnsupportedError, match="create another one with the same arguments"):
            copied(env)
