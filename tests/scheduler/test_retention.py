"""Deletion of finished workloads, and of workloads that Kueue deactivated (`objectRetentionPolicies`)."""

import msgspec
import pytest

import kueuepy as kq
from kueuepy.objects import WorkloadRetentionPolicy
from teams import workload


@pytest.fixture
def scheduler(team):
    kept = WorkloadRetentionPolicy(after_finished="1h", after_deactivated_by_kueue="2h")
    found = kq.Scheduler(team.replace(configuration=kq.Configuration(object_retention_policies=kept)))
    limited = workload("limited", "team-a", maximum_execution_time_seconds=60)
    found.submit(workload("done", "team-a"), workload("user", "team-a"), limited)
    found.settle()
    found.finish("done")
    found.apply(msgspec.structs.replace(found.workload("user"), active=False))
    found.advance("60s")
    found.settle()
    return found


def test_workloads_are_deleted_after_their_time(scheduler):
    scheduler.advance("3539s")
    scheduler.settle()
    assert scheduler.keys() == ("default/done", "default/user", "default/limited")
    scheduler.advance("1s")
    scheduler.settle()
    assert scheduler.keys() == ("default/user", "default/limited")
    scheduler.submit(workload("done", "team-a"))
    scheduler.advance("3660s")
    scheduler.cycle()
    assert scheduler.keys() == ("default/user", "default/done")


def test_an_activated_workload_is_kept(scheduler):
    scheduler.apply(msgspec.structs.replace(scheduler.workload("limited"), active=True))
    scheduler.advance("3h")
    scheduler.settle()
    assert scheduler.keys() == ("default/user", "default/limited")


def test_forks_and_saved_schedulers_delete_alike(scheduler, tmp_path):
    scheduler.cycle()
    fork = scheduler.fork()
    scheduler.save(tmp_path / "state")
    saved = kq.Scheduler.load(tmp_path / "state")
    for other in (fork, saved):
        other.advance("1h")
        other.settle()
        assert other.keys() == ("default/user", "default/limited")
    assert len(scheduler.keys()) == 3


@pytest.mark.parametrize(("gate", "left"), [(True, 1), (False, 3)])
def test_releases_before_v0_17_have_a_gate(team, gate, left):
    configuration = kq.Configuration(
        version="v0.16",
        feature_gates={"ObjectRetentionPolicies": gate},
        object_retention_policies=WorkloadRetentionPolicy(after_finished=0),
    )
    scheduler = kq.Scheduler(team.replace(configuration=configuration))
    scheduler.submit(*(workload(name, "team-a") for name in "abc"))
    scheduler.settle()
    scheduler.finish("a", "b")
    scheduler.settle()
    assert len(scheduler.keys()) == left
