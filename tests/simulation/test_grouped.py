"""Results that are computed for all groups at once equal their definitions, which take one group after another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.simulation import confidence
from kueuepy.simulation.confidence import integrals
from kueuepy.simulation.gather import sampled
from kueuepy.simulation.grouped import Groups, Series
from kueuepy.tables.columns import exact
from kueuepy.testing import clusters
from simulation import one_by_one

RUNS = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def runs(draw):
    """A run of up to 60 jobs, some of which are evicted, wait, never end, or are submitted during the warm-up."""
    cluster = draw(clusters())
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    queues = [queue.key for queue in cluster.local_queues]
    count = draw(st.integers(1, 60))
    jobs = kq.Jobs(
        {
            "queue": chance.choice(queues, count).tolist(),
            "submit": np.sort(chance.integers(0, 400, count) * 0.7),
            "runtime": np.where(chance.random(count) < 0.1, np.inf, chance.exponential(60, count)),
            "priority": chance.integers(-2, 3, count),
            "pods": chance.integers(1, 3, count),
            "cpu": chance.integers(0, 6, count),
            "memory": chance.integers(0, 6, count),
            "user": [f"u{n}" for n in chance.integers(0, 9, count)],
            "size": chance.integers(0, 4, count),
        }
    )
    warmup = draw(st.sampled_from([None, 100]))
    return kq.simulate(
        cluster, jobs, until=draw(st.sampled_from([500, 2000])), **({"warmup": warmup} if warmup else {})
    )


def assert_same_rows(found, expected):
    """Compare rows bit by bit; a row without a value has NaN."""
    names = list(dict.fromkeys(name for row in expected for name in row))
    assert [list(row) for row in found] == [names] * len(expected)
    for own, row in zip(found, expected, strict=True):
        for name in names:
            value = math.nan if row.get(name) is None else row[name]
            np.testing.assert_array_equal(own[name], value, name)


def assert_close(found, expected):
    """Compare numbers within 1e-9, in dicts of any depth."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for name, value in expected.items():
            assert_close(found[name], value)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@RUNS
@given(runs())
def test_metrics_by_group(result):
    assert_same_rows(result.queues.rows(), one_by_one.queue_rows(result))
    for column in ("user", "queue", "state"):
        found = {row[column]: row for row in result.by(column).rows()}
        expected = {row[column]: row for row in one_by_one.column_rows(result, column)}
        assert_same_rows([found[name] for name in expected], list(expected.values()))
        assert len(found) == len(expected)
    window = result.by("size", 50, 200).rows()
    expected = sorted(one_by_one.column_rows(result, "size", 50, 200), key=lambda row: row["size"])
    assert_same_rows(window, expected)
    mask = np.asarray(result.jobs["counted"])
    whole = one_by_one.job_figures(result, mask)
    assert {name: getattr(result.kpis, name) for name in whole} == whole


@RUNS
@given(runs(), st.floats(0, 450), st.floats(1, 600))
def test_integrals_over_a_window(result, low, length):
    if len(result.usage):
        assert_close(integrals(result, low, low + length), one_by_one.integrals(result, low, low + length))


@RUNS
@given(runs(), st.floats(0, 450), st.floats(1, 600))
def test_means_between_edges(result, low, length):
    if not len(result.usage):
        return
    edges = np.linspace(low, low + length, 33)
    assert_close(confidence._waiting(result, edges), one_by_one.waiting(result, edges))
    for cell in result.kpis.utilisation:
        found, expected = (one(result, edges, cell) for one in (confidence._utilisation, one_by_one.utilisation))
        assert_close(found, expected)


@RUNS
@given(runs(), st.sampled_from([7.0, 60.0, 333.0]))
def test_usage_at_regular_times(result, step):
    edges = np.arange(0, max(result.seconds, step) + step * 0.999, step)
    found = result.usage.resample(step, result.seconds)
    assert_same_rows(found.rows(), one_by_one.resampled(result.usage, edges, step))
    at = np.arange(0.0, result.seconds + step * 1e-9, step)
    table = exact(result.usage)
    assert kq.tables.Columns(sampled(table, step, result.seconds)).rows() == one_by_one.sampled(table, at)


@RUNS
@given(runs())
def test_tidy_has_the_rows_of_all_and_of_each_queue(result):
    expected = [("all", name, value) for name, value in result.kpis.rows()]
    for row in result.queues.rows():
        expected += [(row["cluster_queue"], name, value) for name, value in row.items() if name != "cluster_queue"]
    found = [
        (row["cluster_queue"], f"{row['metric']} {row['flavor_resource']}".rstrip(), row["value"])
        for row in result.tidy().rows()
    ]
    np.testing.assert_equal(found, [(queue, name, float(value)) for queue, name, value in expected])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 5), st.floats(-1e12, 1e12)), max_size=300), st.sampled_from([6, 9, 70_000]))
def test_sums_maxima_and_percentiles_of_groups(rows, count):
    codes = np.array([code for code, _ in rows], np.int64)
    values = np.array([value for _, value in rows], np.float64)
    groups = Groups.by(codes, count)
    own = values[groups.rows]
    ordered = groups.ordered(own)
    results = groups.sums(own), groups.largest(own), groups.percentiles(ordered, 95), groups.sizes
    for code in (*range(6), count - 1):
        mine = values[codes == code]
        expected = mine.sum(), mine.max(initial=0.0), one_by_one.percentile(mine, 95), len(mine)
        assert tuple(result[code] for result in results) == expected
        begin, end = groups.bounds[code : code + 2]
        assert groups.accumulated(own)[begin:end].tolist() == np.cumsum(mine).tolist()


def test_unlimited_quota_of_one_queue_does_not_change_the_means_of_another():
    queues = [kq.ClusterQueue.of("a", {"f": {"memory": "8Ei"}}), kq.ClusterQueue.of("b", {"f": {"memory": 5}})]
    jobs = [{"queue": "b", "submit": 0, "runtime": 60, "memory": 3}, {"queue": "a", "submit": 0, "runtime": 90}]
    result = kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), *queues), jobs)
    series = Series(exact(result.usage))
    totals = dict(
        zip(series.keys, series.integrals_to(series.column("nominal").astype(float), np.array([30.0])), strict=True)
    )
    assert totals["b", "f/memory"].tolist() == [150.0]


def test_only_cohorts_have_quota_of_a_resource():
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 1}}, cohort_name="c")
    cohort = kq.Cohort.of("c", {"f": {"memory": 4}})
    jobs = [{"queue": "q", "submit": 0, "runtime": 60, "cpu": 1}]
    result = kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queue, cohort), jobs)
    assert result.kpis.interval("utilisation f/memory") == (0.0, 0.0)


@pytest.mark.parametrize("when", [0, 90, "3m"])
def test_a_moment_of_a_run_does_not_change_its_workloads(when):
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 4}})
    jobs = kq.Jobs({"queue": ["q"] * 5, "submit": [0, 30, 60, 90, 120], "runtime": [100.0] * 5, "cpu": [1, 2, 3, 2, 1]})
    result = kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queue), jobs)
    again = kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queue), [dict(row) for row in jobs.rows()])
    expected = again.at(when)
    for scheduler in (result.at(when), result.at(when)):
        keys = scheduler.keys()
        assert keys == expected.keys()
        assert [scheduler.workload(key) for key in keys] == [expected.workload(key) for key in keys]
