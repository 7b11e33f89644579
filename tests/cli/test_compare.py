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
    assert "of 20 jobs have a different outcome" in ran.out


def test_a_difference_exits_with_3_on_request(kueuepy, arguments, seeds):
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


def test_differing_decisions_are_listed_on_request(kueuepy, arguments):
    assert "decisions differ" not in kueuepy(*arguments).out
    told = kueuepy(*arguments, "--decisions").out
    decisions = kueuepy(*arguments, "--json").json["decisions"]

    assert "\n30 decisions differ\n" in told
    assert "  at 60 s default/a-0 — → is preempted by default/b-0: InCohortFairSharing\n" in told
    assert len(decisions) == 30
    assert decisions[0]["classical"] == []
    (evicted,) = decisions[0]["fair-sharing"]
    assert (evicted["kind"], evicted["rule"], evicted["preemptor"]) == ("Evicted", "InCohortFairSharing", "default/b-0")
    same = (*arguments[:2], arguments[1], *arguments[3:])
    assert "all decisions are the same" in kueuepy(*same, "--decisions").out


def test_a_picture_is_written_to_a_file(kueuepy, arguments, tmp_path):
    assert kueuepy(*arguments, "--picture", tmp_path / "shares.svg").code == 0
    assert (tmp_path / "shares.svg").read_text(encoding="utf-8").startswith("<svg")


def test_an_infinite_share_is_written_as_kueue_writes_it(kueuepy, arguments, tmp_path):
    text = arguments[4].read_text(encoding="utf-8")
    weightless = tmp_path / "weightless.yaml"
    weightless.write_text(
        text.replace("spec:\n  namespaceSelector", "spec:\n  fairSharing: {weight: 0}\n  namespaceSelector")
    )
    found = kueuepy(*arguments[:4], weightless, *arguments[5:], "--json").json

    assert found["queues"]["team-a-queue"]["classical"]["peak_share"] == "+Inf"


def test_jobs_may_be_manifests(kueuepy, arguments, job):
    path = job("train", queue="team-a-queue", pods=3)
    ran = kueuepy(*arguments[:5], "--jobs", path)

    assert ran.code == 0
    assert "0 of 1 job have a different outcome" in ran.out
