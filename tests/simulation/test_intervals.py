"""95 % confidence intervals of metrics: coverage, and cases without an interval."""

import importlib.util
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.simulation.intervals import BATCHES, LEAST, around, of_mean, of_percentile, of_pieces, student

from .conftest import GPU, cluster, queue

CELL = f"f/{GPU}"
_SPEC = importlib.util.spec_from_file_location("coverage", Path(__file__).parents[2] / "benchmarks" / "coverage.py")
BENCHMARK = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(BENCHMARK)


def busy(n, seed=1, servers=1, load=0.8, **options):
    rng = np.random.Generator(np.random.PCG64(seed))
    submit = np.cumsum(rng.exponential(10.0 / load / servers, n))
    jobs = {"queue": ["q"] * n, "submit": submit, "runtime": rng.exponential(10.0, n), GPU: [1] * n}
    return kq.simulate(cluster(queue("q", servers)), kq.Jobs(jobs), **options)


@pytest.mark.long
@pytest.mark.parametrize("servers", [1, 4])
def test_intervals_contain_the_values_of_queueing_theory(servers):
    """A small version of `benchmarks/coverage.py`, whose 500 runs of 20,000 jobs must be from 92 to 98 %."""
    for name, (held, below, above) in BENCHMARK.coverage(servers, jobs=4_000, runs=100).items():
        assert 0.86 <= held < 1, name
        assert max(below, above) <= 0.12, name


@pytest.mark.long
def test_intervals_that_assume_independence_would_be_too_narrow():
    """The naive interval, which takes waits for independent, holds the truth in a small fraction of these runs."""
    held, truth = 0, BENCHMARK.truth(1)["wait_mean"]
    for seed in range(40):
        waits = BENCHMARK.run(1, 3_000, seed).__dict__["scope"].run.jobs["waited"]
        held += abs(waits.mean() - truth) < 1.96 * waits.std() / math.sqrt(len(waits))
    assert held < 20


def test_an_interval_of_a_mean_is_that_of_its_batches():
    values = np.random.Generator(np.random.PCG64(3)).normal(100.0, 5.0, 32_000)
    low, high, doubt = of_mean(values)
    means = values.reshape(BATCHES, -1).mean(axis=1)
    half = student(BATCHES - 1) * means.std(ddof=1) / math.sqrt(BATCHES)
    # Independent values have batches without skewness and autocorrelation, but for chance.
    assert high - low == pytest.approx(2 * half, rel=0.25)
    assert low < 100 < high
    assert doubt == ""


def test_autocorrelated_batches_widen_an_interval_and_skewed_ones_shift_it():
    rng = np.random.Generator(np.random.PCG64(4))
    alone = rng.normal(0.0, 1.0, BATCHES)
    smooth = np.convolve(rng.normal(0.0, 1.0, BATCHES + 7), np.ones(8) / 8, "valid")
    smooth *= alone.std(ddof=1) / smooth.std(ddof=1)
    widths = [np.ptp(around(float(means.mean()), means)) for means in (alone, smooth)]
    assert widths[1] > 1.5 * widths[0]
    skewed = rng.exponential(1.0, BATCHES) ** 2
    low, high = around(float(skewed.mean()), skewed)
    assert high - skewed.mean() > 1.2 * (skewed.mean() - low)


@given(
    values=st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.5, 700.0]), min_size=LEAST, max_size=LEAST),
    repeats=st.integers(1, 16),
    percent=st.sampled_from([50, 95]),
)
@settings(max_examples=60, deadline=None)
def test_the_value_of_a_run_lies_in_its_interval(values, repeats, percent):
    array = np.repeat(values, repeats)
    low, high, _ = of_mean(array)
    assert low <= array.mean() <= high
    if len(array) >= 2_000 or percent == 50:
        low, high, _ = of_percentile(array, percent)
        value = np.sort(array)[math.ceil(len(array) * percent / 100) - 1]
        assert array.min() <= low <= value <= high <= array.max()
    low, high, _ = of_pieces(3.0, values[:BATCHES])
    assert low <= 3.0 <= high


def test_no_interval_is_below_0_and_each_contains_its_metric():
    for load, servers in ((0.3, 4), (0.8, 1), (0.95, 2)):
        kpis = busy(12_000, servers=servers, load=load).kpis
        seen = 0
        for name, value in kpis.rows():
            try:
                low, high = kpis.interval(name)
            except kq.errors.InvalidSpecError:
                continue
            seen += 1
            assert 0 <= low <= value <= high, name
        assert seen == 18
        assert kpis.interval("goodput")[1] <= 1
    assert busy(12_000, servers=4, load=0.1).kpis.interval("wait_p50") == (0.0, 0.0)


def test_maxima_and_counts_have_no_interval():
    kpis = busy(1_000).kpis
    with pytest.raises(kq.errors.InvalidSpecError, match='"longest_wait" is a maximum'):
        kpis.interval("longest_wait")
    for name in ("makespan", "evictions", "jobs", "nope"):
        with pytest.raises(kq.errors.InvalidSpecError, match="not a figure with an interval"):
            kpis.interval(name)


def test_an_interval_needs_jobs():
    kpis = busy(500).kpis
    with pytest.raises(
        kq.errors.InvalidSpecError, match='"wait_mean": 500 jobs count; the interval of a mean needs 640 or more'
    ):
        kpis.interval("wait_mean")
    kpis = busy(1_999).kpis
    with pytest.raises(kq.errors.InvalidSpecError, match=r"p95 needs 2,000 or more"):
        kpis.interval("wait_p95")
    with pytest.raises(kq.errors.InvalidSpecError, match=r"p99 needs 10,000 or more"):
        kpis.interval("wait_p99")


def test_a_short_run_of_a_busy_queue_warns_that_its_interval_may_be_too_narrow():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        low, high = busy(700, seed=5, load=0.95).kpis.interval("wait_mean")
    assert low < high
    assert any(
        '"wait_mean" may be too narrow: 700 jobs that depend on each other' in str(one.message) for one in caught
    )


def test_utilisation_needs_a_resource_name_if_there_are_several():
    kpis = busy(2_000).kpis
    for field in ("utilisation", "submission_utilisation"):
        low, high = kpis.interval(field)
        assert (low, high) == kpis.interval(f"{field} {CELL}")
        assert 0 < low < getattr(kpis, field)[CELL] < high
        with pytest.raises(
            kq.errors.InvalidSpecError, match=f'"nope/gpu" names no flavor and resource; there are {CELL}'
        ):
            kpis.interval(f"{field} nope/gpu")
    with pytest.raises(kq.errors.InvalidSpecError, match="wait_mean is not by flavor and resource"):
        kpis.interval(f"wait_mean {CELL}")
    two = kq.ClusterQueue.of("q", {"f": {GPU: 1, "cpu": 4}})
    result = kq.simulate(cluster(two), [{"queue": "q", "submit": 0, "runtime": 10, "cpu": 1, "gpu": 1}])
    with pytest.raises(kq.errors.InvalidSpecError, match=f"of which flavor and resource: .*{GPU}"):
        result.kpis.interval("utilisation")


def test_an_interval_of_a_window_is_of_that_window():
    result = busy(6_000)
    for window in (
        result.figures(0, result.seconds / 2),
        result.figures(result.seconds / 2),
        result.figures("1h", "5h"),
    ):
        for name in ("wait_mean", "throughput", "waiting_mean", "utilisation"):
            value = getattr(window, name)
            low, high = window.interval(name)
            assert low <= (value[CELL] if isinstance(value, dict) else value) <= high
            assert high - low < 3 * (value[CELL] if isinstance(value, dict) else value)
    some = result.figures(where=lambda jobs: jobs["runtime"] > 10)
    low, high = some.interval("wait_mean")
    assert low <= some.wait_mean <= high
    with pytest.raises(kq.errors.InvalidSpecError, match="has no interval for some jobs alone"):
        some.interval("utilisation")


def test_an_interval_over_time_needs_the_usage():
    with pytest.raises(kq.errors.StateError, match="Record"):
        busy(2_000, record=kq.sim.Recording(usage=False)).kpis.interval("utilisation")


def test_a_report_shows_intervals_that_contain_their_values(tmp_path):
    kq.report(busy(3_000), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "32 batches" in text
    cells = text.split("<small>wait_p50</small>")[1].split("</tr>")[0].split("</td>")
    assert " to " in cells[1]
    assert "-" not in cells[1].partition(">")[2]
