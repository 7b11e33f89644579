"""Copies of objects, in this process and by pickle."""

import copy
import pickle

import pytest

import kueuepy as kq
from kueuepy.platform import Journal, Watch
from teams import queue, workload


def _pickled(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


COPIES = pytest.mark.parametrize("copied", [_pickled, copy.copy, copy.deepcopy])


@COPIES
def test_a_cluster_can_be_copied(copied, team, seeds_file):
    for cluster in (team, kq.Cluster(), kq.load(seeds_file)):
        found = copied(cluster)
        assert found == cluster
        assert found.manifest.namespaces == cluster.manifest.namespaces
        assert found.written == cluster.written
    with pytest.raises(AttributeError, match="a Cluster is immutable"):
        found.jobs = ()


@COPIES
def test_a_copy_of_a_cluster_may_have_dangling_references(copied):
    cluster = kq.Cluster(queue("team-a", 9), names=False)
    assert copied(cluster) == cluster


@COPIES
def test_a_cycle_can_be_copied(copied, team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 18), workload("x", "team-b", 9))
    settled = scheduler.settle()
    for cycle, found in zip(settled, copied(settled), strict=True):
        assert list(found) == list(cycle)
        assert (len(found), found.idle, repr(found)) == (len(cycle), cycle.idle, repr(cycle))
        assert _pickled(found).admitted == cycle.admitted


@COPIES
def test_a_difference_can_be_copied(copied, team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 18), workload("x", "team-b", 9))
    difference = scheduler.whatif(queue("team-b", 5, cohort_name="all"))
    found = copied(difference)
    assert found.changes == difference.changes
    assert str(found) == str(difference)
    for mine, theirs in ((found.before, difference.before), (found.after, difference.after)):
        assert mine._engine.save() == theirs._engine.save()
        assert mine.cluster == theirs.cluster


def _scheduler(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 18), workload("x", "team-b", 9))
    return scheduler


@COPIES
@pytest.mark.parametrize(
    "name", ["question", "answers", "watch", "journal", "usage", "quota", "fleet", "simulation", "env"]
)
def test_what_cannot_be_copied_is_refused_by_name(copied, name, team, tmp_path):
    scheduler = _scheduler(team)
    made = {
        "question": lambda: scheduler.question(workload("q", "team-a", 1)),
        "answers": lambda: scheduler.try_admit_many([workload("q", "team-a", 1)]),
        "watch": lambda: Watch(scheduler),
        "journal": lambda: Journal(tmp_path / "j"),
        "usage": lambda: scheduler.usage,
        "quota": lambda: scheduler.quota,
        "fleet": lambda: kq.FleetScheduler(kq.Fleet({"a": team})),
        "simulation": lambda: kq.Simulation(team, []),
        "env": lambda: pytest.importorskip("kueuepy.lab.rl").QuotaEnv(),
    }[name]()
    if copied is not _pickled and name in ("usage", "quota", "fleet", "simulation"):
        assert type(copied(made)) is type(made)
        return
    with pytest.raises(kq.errors.UnsupportedError, match=f"a {type(made).__name__} cannot be"):
        copied(made)
    if name == "journal":
        made.close()


def test_a_copy_of_a_fleet_shares_nothing(team):
    fleet = kq.FleetScheduler(kq.Fleet({"a": team}))
    for twin in (copy.copy(fleet), copy.deepcopy(fleet)):
        twin.manager.submit(workload("n", "team-a", 1))
        assert fleet.manager.keys() == ()
