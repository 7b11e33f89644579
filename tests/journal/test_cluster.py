"""A cluster passed to an existing journal is compared, applied or rejected."""

import pytest

import kueuepy as kq
from kueuepy.platform.journal import Journal


def cluster(quota=4, *more, **settings):
    return kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": quota}}), *more, **settings)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "journal"
    with Journal(found) as journal:
        journal.scheduler(cluster()).submit({"name": "j", "queue": "q", "cpu": 6})
    return found


def quota_of(scheduler):
    (queue,) = scheduler.cluster.cluster_queues
    return queue.resource_groups[0].flavors[0].resources[0].nominal_quota


def test_an_equal_cluster_or_no_cluster_is_accepted(path):
    for given in (cluster(), None, kq.Scheduler(cluster())):
        with Journal(path) as journal:
            assert journal.scheduler(given).keys() == ("default/j",)
            assert journal.calls == 1


def test_a_changed_cluster_is_rejected_with_object_names_and_changes_nothing(path):
    with Journal(path) as journal:
        with pytest.raises(
            kq.errors.StateError, match=r'other objects than the cluster given: ClusterQueue "q"; on_change="apply"'
        ):
            journal.scheduler(cluster(8))
        assert quota_of(journal.scheduler()) == 4
        assert journal.calls == 1
        with pytest.raises(kq.errors.StateError, match='LocalQueue "default/q", which it does not have;'):
            journal.scheduler(kq.Cluster(kq.ResourceFlavor("f")))
        many = [kq.Cohort(f"c{i}") for i in range(7)]
        with pytest.raises(kq.errors.StateError, match='Cohort "c4" and 2 others;'):
            journal.scheduler(cluster(4, *many))
        with pytest.raises(kq.errors.StateError, match='Cohort "c4"; on_change'):
            journal.scheduler(cluster(4, *many[:5]))


def test_a_changed_cluster_is_applied_on_request(path):
    more = kq.Cohort("all")
    with Journal(path) as journal:
        scheduler = journal.scheduler(cluster(8, more), on_change="apply")
        scheduler.settle()
        assert scheduler.workload("default/j").status.is_true("Admitted")
    with Journal(path) as journal:
        assert quota_of(journal.scheduler()) == 8
        assert [one.name for one in journal.scheduler().cluster.cohorts] == ["all"]
    with Journal(path) as journal:
        assert journal.scheduler(cluster(8), on_change="apply").cluster.cohorts == ()
    with Journal(path) as journal:
        journal.scheduler(cluster(8))


def test_a_changed_cluster_is_ignored_on_request(path):
    with Journal(path) as journal:
        assert quota_of(journal.scheduler(cluster(8), on_change="keep")) == 4


def test_another_configuration_and_an_invalid_choice_are_rejected(path):
    fair = cluster(configuration=kq.Configuration(fair_sharing=kq.FairSharingConfig()))
    with Journal(path) as journal:
        for choice in ("error", "apply"):
            with pytest.raises(kq.errors.StateError, match="another Configuration"):
                journal.scheduler(fair, on_change=choice)
        assert journal.scheduler(fair, on_change="keep").configuration.fair_sharing is None
        with pytest.raises(kq.errors.InvalidSpecError, match="on_change"):
            journal.scheduler(cluster(), on_change="ask")


def test_a_second_call_on_an_open_journal_also_compares_the_cluster(path):
    with Journal(path) as journal:
        journal.scheduler(cluster())
        with pytest.raises(kq.errors.StateError, match="other objects"):
            journal.scheduler(cluster(8))


def test_partial_manifests_change_a_scheduler(path):
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 8}]}]
    partial = {"kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"resourceGroups": [{"flavors": flavors}]}}
    with Journal(path) as journal:
        journal.scheduler().patch(partial)
    with Journal(path) as journal:
        assert quota_of(journal.scheduler()) == 8
        with pytest.raises(kq.errors.InvalidSpecError):
            journal.scheduler().patch({**partial, "spec": {"stopPolicy": "Hol"}})


def test_the_calls_of_a_group_count_before_it_is_stored(path):
    with Journal(path) as journal:
        scheduler = journal.scheduler()
        with journal.group():
            scheduler.settle()
            scheduler.finish("j")
            assert journal.calls == 3
        assert journal.calls == 3
