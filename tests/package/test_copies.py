"""Copies of objects, in this process and by pickle."""

import copy
import pickle

import pytest

import kueuepy as kq
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
