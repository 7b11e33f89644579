"""Reports stay small for many jobs and ClusterQueues."""

import runpy
import warnings
from pathlib import Path

import pytest

import kueuepy as kq

SHAPES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "shapes.py"))
MOST = 3_000_000
"""The largest size of a report, in bytes."""


@pytest.mark.long
def test_reports_of_100_000_jobs_in_5_000_queues_have_at_most_3_mb(tmp_path):
    clusters, table = SHAPES["large_report"]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = kq.simulate(clusters["any"], table, until="7d")
        without = kq.simulate(clusters["never"], table, until="7d")
    assert result.kpis.evictions > 1000
    assert result.waiting
    pages = {"one.html": result, "two.html": {"never": without, "any": result}}
    for name, results in pages.items():
        kq.report(results, tmp_path / name)
        size = (tmp_path / name).stat().st_size
        assert 100_000 < size < MOST, name
