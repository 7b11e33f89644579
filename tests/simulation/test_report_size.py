"""Reports stay small for many jobs and ClusterQueues."""

import warnings

import numpy as np
import pytest

import kueuepy as kq

from .conftest import GPU

MOST = 3_000_000
"""The largest size of a report, in bytes."""


@pytest.mark.slow
def test_reports_of_100_000_jobs_in_5_000_queues_have_at_most_3_mb(tmp_path):
    """The load is near the quota, so that there are evictions and pending jobs, and every section has rows."""
    jobs, queues = 100_000, 5_000
    rng = np.random.Generator(np.random.PCG64(7))
    preemption = kq.Preemption(reclaim_within_cohort="Any")
    cluster = kq.Cluster(
        kq.ResourceFlavor("h100"),
        *(
            kq.ClusterQueue.of(f"team-{n:04d}", {"h100": {GPU: 8}}, cohort_name=f"org-{n % 50}", preemption=preemption)
            for n in range(queues)
        ),
    )
    table = kq.Jobs(
        {
            "queue": [f"team-{n:04d}" for n in rng.integers(0, queues, jobs).tolist()],
            "submit": np.sort(rng.uniform(0, 7 * 86400, jobs)),
            "runtime": rng.lognormal(10.4, 1.2, jobs),
            "gpu": rng.choice([1, 2, 4, 8], jobs),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = kq.simulate(cluster, table, until="7d")
        without = kq.simulate(cluster.edit("ClusterQueue/*:preemption.reclaimWithinCohort", "Never"), table, until="7d")
    assert result.kpis.evictions > 1000
    assert result.waiting
    pages = {"one.html": result, "two.html": {"never": without, "any": result}}
    for name, results in pages.items():
        kq.report(results, tmp_path / name)
        size = (tmp_path / name).stat().st_size
        assert 100_000 < size < MOST, name
