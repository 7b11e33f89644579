"""Cohorts: creation in one line, edits of implicit cohorts, and added quota."""

import pytest

import kueuepy as kq

GPU = "nvidia.com/gpu"
CELL = f"h100/{GPU}"


@pytest.fixture
def cluster():
    quotas = {"h100": {GPU: 4, "cpu": 8}, "spot": {GPU: 2, "cpu": 8}}
    queues = [kq.ClusterQueue.of(name, quotas, cohort_name="all") for name in "ab"]
    return kq.Cluster([kq.ResourceFlavor("h100"), kq.ResourceFlavor("spot")], queues)


def test_a_cohort_is_created_like_a_queue():
    made = kq.Cohort.of("all", {"h100": {GPU: 8}}, {"any": {"memory": "1Ti"}}, parent_name="org")
    assert made.parent_name == "org"
    assert [group.covered_resources for group in made.resource_groups] == [(GPU,), ("memory",)]
    with pytest.raises(kq.errors.InvalidSpecError, match=r'"cohort_name" is not a field; known are .*parent_name'):
        kq.Cohort.of("all", {"h100": {GPU: 8}}, cohort_name="org")


def test_an_edit_creates_an_implicit_cohort(cluster):
    for path in ("Cohort/all:fairSharing.weight", "Cohort/*:fairSharing.weight"):
        (cohort,) = cluster.edit(path, "2").cohorts
        assert (cohort.name, str(cohort.fair_sharing.weight)) == ("all", "2")
    assert cluster.cohorts == ()
    nested = cluster.edit("Cohort/all:parentName", "org").edit("Cohort/org:fairSharing.weight", "3")
    assert sorted(cohort.name for cohort in nested.cohorts) == ["all", "org"]
    with pytest.raises(kq.errors.NotFoundError, match='did you mean "all"'):
        cluster.edit("Cohort/al:fairSharing.weight", "2")
    with pytest.raises(kq.errors.NotFoundError, match="names no kind"):
        kq.Cluster(kq.ResourceFlavor("f")).edit("Cohort/al:fairSharing.weight", "2")


def test_an_edit_adds_quota_to_a_cohort_for_resources_of_its_queues(cluster):
    wanted = kq.Cohort.of("all", {"h100": {GPU: 6}})
    assert cluster.edit(f"Cohort/all:quota[{CELL}].nominalQuota", 6).cohorts == (wanted,)
    both = {f"Cohort/all:quota[{CELL}].nominalQuota": 6, "Cohort/all:quota[spot/cpu].nominalQuota": 3}
    (cohort,) = cluster.edit_all(both).cohorts
    quotas = {
        (row.name, quota.name): quota.nominal_quota
        for group in cohort.resource_groups
        for row in group.flavors
        for quota in row.resources
    }
    assert {cell: amount for cell, amount in quotas.items() if amount} == {("h100", GPU): 6, ("spot", "cpu"): 3}
    for cell in ("h200/nvidia.com/gpu", "h100/memory"):
        with pytest.raises(kq.errors.NotFoundError, match="names no quota"):
            cluster.edit(f"Cohort/all:quota[{cell}].nominalQuota", 6)
    with pytest.raises(kq.errors.NotFoundError, match="names no quota"):  # the queue covers the same resources
        cluster.edit("ClusterQueue/a:quota[h100/memory].nominalQuota", 6)


def test_a_plan_finds_how_many_gpus_to_add_to_a_cohort(cluster):
    jobs = [{"queue": "a", "submit": 0, "runtime": 3600, "gpu": 1} for _ in range(20)]
    path = f"Cohort/all:quota[{CELL}].nominalQuota"
    assert kq.plan(cluster, jobs, "longest_wait <= 0", vary=path, low=0, high=20).value == 8


def test_whatif_accepts_an_edit_of_an_implicit_cohort(cluster):
    scheduler = kq.Scheduler(cluster)
    scheduler.submit({"name": "j", "queue": "a", "gpu": 10})
    assert scheduler.whatif({f"Cohort/all:quota[{CELL}].nominalQuota": 6}).admitted == ("default/j",)
