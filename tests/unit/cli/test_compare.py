"""`compare`."""

import pytest


@pytest.fixture
def arguments(seeds):
    folder = seeds / "003"
    common = ("--with", folder / "two-queues.yaml", "--jobs", folder / "jobs.csv")
    return ("compare", folder / "classical.yaml", folder / "fair-sharing.yaml", *common)


def test_two_policies_queue_by_queue(kueuepy, arguments):
    ran = kueuepy(*arguments)

    assert ran.code == 0
    assert "team-a-queue  classical" in ran.out
    assert "fair-sharing" in ran.out
    assert "of 20 jobs fare otherwise" in ran.out


def test_a_difference_exits_with_3_if_it_is_asked_for(kueuepy, arguments, seeds):
    assert kueuepy(*arguments, "--exit-code").code == 3
    same = seeds / "003" / "classical.yaml"
    assert kueuepy("compare", same, same, *arguments[3:], "--exit-code").code == 0


def test_it_prints_json(kueuepy, arguments):
    found = kueuepy(*arguments, "--json").json

    assert found["jobs"] == 20
    assert found["queues"]["team-b-queue"]["fair-sharing"]["admitted"] == 10
    assert found["queues"]["team-a-queue"]["classical"]["evictions"] == 0
    assert found["queues"]["team-a-queue"]["fair-sharing"]["evictions"] == 6
    assert {"workload", "classical", "fair-sharing"} == set(found["changes"][0])


def test_jobs_may_be_manifests(kueuepy, arguments, job):
    path = job("train", queue="team-a-queue", pods=3)
    ran = kueuepy(*arguments[:5], "--jobs", path)

    assert ran.code == 0
    assert "0 of 1 jobs fare otherwise" in ran.out
