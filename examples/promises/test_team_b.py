"""Test whether team-b always gets its nominal quota: run `pytest examples/promises`.

`test_without_reclaim` finds a counterexample: ten jobs of team-a and twelve jobs of team-b, submitted at once. Each
cycle admits the head of both queues, so team-a borrows one CPU before team-b can use it, and nothing reclaims it.
`test_with_reclaim` finds no counterexample: with `reclaimWithinCohort: Any`, team-b reclaims its quota.
"""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.testing import SchedulerMachine

CLUSTER = kq.load(Path(__file__).with_name("cluster.yaml"))
TEAM_B = CLUSTER.get(kq.ClusterQueue, "team-b")
RECLAIMS = CLUSTER.replace(msgspec.structs.replace(TEAM_B, preemption=kq.Preemption(reclaim_within_cohort="Any")))
ONE_CPU = (kq.PodSet.of(requests={"cpu": 1}),)
jobs_of_both = st.tuples(st.integers(0, 25), st.integers(0, 25))


def lacks_quota(scheduler: kq.Scheduler) -> bool:
    """Return whether a one-CPU job of team-b waits although team-b uses less than its nominal quota."""
    waits = any(row["cluster_queue"] == "team-b" and row["status"] == "Pending" for row in scheduler.workloads)
    cpu = next(row for row in scheduler.usage if row["name"] == "team-b" and row["resource"] == "cpu")
    return waits and cpu["usage"] < cpu["nominal_quota"]


def check_nominal_quota(cluster: kq.Cluster, jobs: tuple[int, int]) -> None:
    """Submit these numbers of one-CPU jobs of both teams, settle, and check that team-b lacks no nominal quota."""
    scheduler = kq.Scheduler(cluster)
    for team, count in zip(("team-a", "team-b"), jobs, strict=True):
        scheduler.submit(kq.Workload(f"{team}-{i}", queue_name=team, pod_sets=ONE_CPU) for i in range(count))
    scheduler.settle()
    assert not lacks_quota(scheduler), scheduler.usage.amounts()


@pytest.mark.xfail(reason="fails with 10 jobs of team-a and 12 jobs of team-b", strict=True)
@given(jobs_of_both)
def test_without_reclaim(jobs: tuple[int, int]) -> None:
    """Test the cluster without preemption."""
    check_nominal_quota(CLUSTER, jobs)


@given(jobs_of_both)
def test_with_reclaim(jobs: tuple[int, int]) -> None:
    """Test the cluster with `reclaimWithinCohort: Any` on team-b."""
    check_nominal_quota(RECLAIMS, jobs)


class AnyHistory(SchedulerMachine):
    """Random sequences of actions of both teams, without changes of the policies."""

    clusters = st.just(RECLAIMS)
    edit = None

    def workload_lists(self, cluster: kq.Cluster, prefix: str) -> st.SearchStrategy[list[kq.Workload]]:
        """Return a strategy for lists of one-CPU jobs of both teams."""
        names = st.sampled_from([queue.name for queue in cluster.local_queues])
        teams = st.lists(names, min_size=1, max_size=12)
        return teams.map(
            lambda names: [
                kq.Workload(f"{prefix}-{i}", queue_name=team, pod_sets=ONE_CPU) for i, team in enumerate(names)
            ]
        )

    def settled(self) -> None:
        """Check, after each settling, that team-b lacks no nominal quota."""
        assert not lacks_quota(self.scheduler)


TestAnyHistory = AnyHistory.TestCase
