"""Tables of a result: Arrow without a copy, files, metrics by window and group."""

import gc

import numpy as np
import pytest

import kueuepy as kq

from .conftest import GPU, cluster, queue


@pytest.fixture
def result():
    n = np.arange(200)
    table = {"queue": np.where(n % 3, "a", "b").tolist(), "submit": n * 5.0, "runtime": 30 + n % 7, GPU: 1 + n % 2}
    jobs = kq.Jobs({**table, "priority": n % 4, "user": [f"u{i % 5}" for i in n]})
    return kq.simulate(
        cluster(*(queue(name, 4, cohort="all", within_cluster_queue="LowerPriority") for name in "ab")), jobs
    )


def test_a_table_is_an_arrow_stream_that_outlives_its_result(result):
    pyarrow = pytest.importorskip("pyarrow")
    expected = result.decisions["seconds"].tolist()
    first, second = pyarrow.table(result.decisions), pyarrow.table(result.decisions)
    unread = result.jobs.__arrow_c_stream__()
    del result
    gc.collect()
    assert first.column("seconds").to_pylist() == second.column("seconds").to_pylist() == expected
    assert first.column("reason").null_count > 0
    assert str(first.schema.field("kind").type).startswith("dictionary<values=string, indices=int32")
    del unread
    gc.collect()


def test_columns_of_a_run_are_views_that_cannot_be_written(result):
    seconds = result.usage["seconds"]
    with pytest.raises(ValueError, match="read-only"):
        seconds[0] = 1
    assert not seconds.flags.owndata


def test_a_saved_result_is_the_same(result, tmp_path):
    pytest.importorskip("pyarrow")
    result.save(tmp_path / "run")
    again = kq.load_result(tmp_path / "run")
    assert again.fingerprint == result.fingerprint
    assert again.kpis == result.kpis
    with pytest.raises(kq.errors.StateError, match="loaded from files"):
        again.at(10)


def test_a_window_over_the_whole_run_equals_the_run(result):
    whole, window = result.kpis, result.figures(0, result.seconds + 1e-9)
    for name in ("jobs", "wait_mean", "wait_p95", "evictions", "goodput"):
        assert getattr(whole, name) == getattr(window, name)
    for name in ("utilisation", "used_hours", "borrowed_hours"):
        assert getattr(window, name) == pytest.approx(getattr(whole, name), rel=1e-6)
    assert window.waiting_mean == pytest.approx(whole.waiting_mean, rel=1e-6)


def test_usage_is_the_sum_over_jobs_with_quota(result):
    jobs = result.jobs
    held = float((jobs["held"] * jobs[GPU]).sum()) / 3600
    assert result.kpis.used_hours == {f"f/{GPU}": pytest.approx(held)}
    assert result.kpis.waiting_mean * result.seconds == pytest.approx(float(jobs["waited"].sum()))
    lost = float((jobs["lost"] * jobs[GPU]).sum()) / 3600
    assert result.kpis.lost_hours == {f"f/{GPU}": pytest.approx(lost)}


def test_groups_add_up(result):
    assert result.kpis.evictions > 10
    for table in (result.queues, result.by("user"), result.by("priority")):
        assert int(table["jobs"].sum()) == 200
        assert int(table["evictions"].sum()) == result.kpis.evictions
    assert int(result.preemptions["count"].sum()) == result.kpis.evictions
    assert sum(result.kpis.preemptions.values()) == result.kpis.evictions


def test_usage_is_resampled_to_means(result):
    hourly = result.usage.resample("1m", result.seconds)
    total = float((hourly["used"]).sum()) * 60 / 3600
    assert total == pytest.approx(result.kpis.used_hours[f"f/{GPU}"])
