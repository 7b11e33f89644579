"""Fixtures: a cluster of two teams, and jobs."""

import pytest

import kueuepy as kq

GPU = "nvidia.com/gpu"
CELL = f"h100/{GPU}"
NOMINAL = f"ClusterQueue/team-a:quota[{CELL}].nominalQuota"
RECLAIM = "ClusterQueue/*:preemption.reclaimWithinCohort"


def team(name, nominal, cohort="all", **preemption):
    return kq.ClusterQueue.of(
        name, {"h100": {GPU: nominal}}, cohort_name=cohort, preemption=kq.Preemption(**preemption)
    )


@pytest.fixture
def teams():
    return kq.Cluster(kq.ResourceFlavor("h100"), team("team-a", 4), team("team-b", 4))


def arrivals(seed, n=40):
    """Jobs of both teams at a load of about 1.2."""
    return kq.Jobs.concat(
        [
            kq.Jobs.poisson(name, "14/h", kq.sim.Exponential("20m"), {GPU: 1}, n=n, seed=seed, priority=10 * place)
            for place, name in enumerate(("team-a", "team-b"))
        ]
    )
