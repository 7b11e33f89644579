"""`whatif`."""

import pytest


@pytest.fixture
def teams(seeds):
    return seeds / "002" / "two-teams.yaml"


@pytest.fixture
def rows(seeds):
    return seeds / "002" / "jobs.csv"


@pytest.fixture
def larger(teams, tmp_path):
    """Team A with 16 CPUs instead of 8."""
    path = tmp_path / "larger.yaml"
    text = teams.read_text(encoding="utf-8").replace("nominalQuota: 8\n", "nominalQuota: 16\n")
    path.write_text(text, encoding="utf-8")
    return path


def test_a_job_that_fits_would_be_admitted(kueuepy, teams, job):
    ran = kueuepy("whatif", teams, "--job", job("train", pods=2))

    assert ran.code == 0
    assert "admitted: default-flavor (cpu)" in ran.out


def test_a_job_that_would_wait_exits_with_3(kueuepy, teams, rows, job):
    ran = kueuepy("whatif", teams, rows, "--job", job("train", pods=2))
    assert ran.code == 3
    assert "WaitingForQuota: couldn't assign flavors to pod set main" in ran.out

    (answer,) = kueuepy("whatif", "--json", teams, rows, "--job", job("train", pods=2)).json
    assert answer["decision"] == "Pending"


def test_others_may_have_to_leave(kueuepy, seeds, job):
    cluster = seeds / "002" / "two-teams-reclaim.yaml"
    first = job("first", queue="team-a", pods=16)
    arguments = ("whatif", cluster, first, "--job", job("own", queue="team-b", pods=16))

    ran = kueuepy(*arguments)
    assert ran.code == 3
    assert "preempts: default/job-first-" in ran.out
    assert kueuepy(*arguments, "--preempting").code == 0


def test_the_largest_count(kueuepy, teams, rows, job):
    assert kueuepy("whatif", teams, "--largest", "--job", job())[:2] == (0, "default/job-train-e5b0e: 16 pods\n")
    assert kueuepy("whatif", teams, "--largest", "--json", "--job", job()).json == [
        {"workload": "default/job-train-e5b0e", "largest_count": 16}
    ]
    assert kueuepy("whatif", teams, rows, "--largest", "--job", job())[:2] == (3, "default/job-train-e5b0e: 0 pods\n")


def test_an_edit_shows_what_would_be_decided_otherwise(kueuepy, teams, rows, larger):
    ran = kueuepy("whatif", teams, rows, "--edit", larger)

    assert ran.code == 0
    assert "default/a-4" in ran.out
    assert "Admitted (default-flavor)" in ran.out
    assert kueuepy("whatif", teams, rows, "--edit", larger, "--exit-code").code == 3
    found = kueuepy("whatif", "--json", teams, rows, "--edit", larger).json
    assert "default/a-4" in [change["workload"] for change in found["changes"]]
    assert found["beyond_quota"] == []


def test_a_smaller_quota_names_who_is_beyond_it(kueuepy, teams, rows, tmp_path):
    smaller = tmp_path / "smaller.yaml"
    smaller.write_text(teams.read_text(encoding="utf-8").replace("nominalQuota: 8\n", "nominalQuota: 4\n"))
    ran = kueuepy("whatif", teams, rows, "--edit", smaller)

    assert ran.code == 0
    assert "nothing would change" in ran.out
    assert "beyond quota then, though nobody evicts them: default/a-1\n" in ran.out


def test_jobs_may_be_rows(kueuepy, teams, rows):
    ran = kueuepy("whatif", teams, "--job", rows)

    assert ran.code == 0
    assert len(ran.out.splitlines()) == 8


def test_an_edit_that_changes_nothing_says_so(kueuepy, teams, rows):
    ran = kueuepy("whatif", teams, rows, "--edit", teams, "--exit-code")

    assert ran[:2] == (0, "nothing would change\n")


def test_one_question_at_a_time(kueuepy, teams, job):
    assert kueuepy("whatif", teams).code == 2
    assert kueuepy("whatif", teams, "--job", job(), "--edit", teams).code == 2


def test_a_file_without_a_job_is_refused(kueuepy, teams):
    ran = kueuepy("whatif", teams, "--job", teams)

    assert ran.code == 1
    assert "holds no job and no Workload" in ran.err
