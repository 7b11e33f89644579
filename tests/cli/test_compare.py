"""`compare`."""

import re

import pytest

import kueuepy as kq


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


def test_json_has_the_warnings_and_the_differences_with_their_intervals(kueuepy, seeds, tmp_path):
    log = tmp_path / "jobs.csv"
    log.write_text("queue,submit,runtime,cpu\n" + "".join(f"team-a-queue,{9 * n},90,8\n" for n in range(700)))
    given = [seeds / "003" / name for name in ("classical.yaml", "fair-sharing.yaml")]
    given = ("compare", *given, "--with", seeds / "003" / "two-queues.yaml", "--jobs", log)
    found = kueuepy(*given, "--json").json

    wait = next(row for row in found["differences"] if row["metric"] == "wait_mean")
    assert (wait["policy"], wait["jobs"], wait["first"]) == ("fair-sharing", 700, wait["second"])
    assert wait["low"] <= wait["difference"] <= wait["high"]
    # The warning appears once, with the numbers of the first policy.
    (doubt,) = found["warnings"]
    assert doubt.startswith("classical (and 1 other policy): the mean wait, ")
    assert "; from 5% on, it may depend more on" in doubt
    assert " ".join(kueuepy(*given).out.split()).count(doubt) == 1


def test_a_log_of_another_form_is_read_as_by_the_other_commands(kueuepy, seeds, tmp_path):
    log = tmp_path / "log.data"
    log.write_text("team,submit,runtime,cpu\n" + "".join(f"team-a-queue,{n},60,1\n" for n in range(9)))
    same = seeds / "003" / "classical.yaml"
    options = ("--jobs", log, "--format", "csv", "--map", "queue=team", "--window", "0:4")
    files = ("--with", seeds / "003" / "two-queues.yaml")

    assert kueuepy("compare", same, same, *files, *options, "--json").json["jobs"] == 4
    assert kueuepy("simulate", same, files[1], *options, "--json").json["jobs"] == 4
    assert kueuepy("upgrade", same, files[1], *options, "--from", "v0.17", "--to", "v0.18").code == 0
    step = next(line for line in kueuepy("compare", same, same, *files, *options).out.splitlines() if "plan" in line)
    assert "--format csv --window 0:4 --map queue=team" in step


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


SACCT = """JobID|Submit|Start|End|ReqTRES|Account|State
1|2026-05-01T08:00:00|2026-05-01T08:00:00|2026-05-01T09:00:00|gres/gpu=1|team-a|COMPLETED
2|2026-05-01T08:00:01|2026-05-01T08:00:01|Unknown|gres/gpu=1|team-a|RUNNING
3|2026-05-01T08:00:02|Unknown|Unknown|gres/gpu=1|team-a|PENDING
"""


def test_unfinished_jobs_of_a_log_need_a_choice(kueuepy, tmp_path):
    """The job that waited ran for 0 s, and the one that ran counted as finished."""
    objects, log = tmp_path / "q.yaml", tmp_path / "log.txt"
    queue = kq.ClusterQueue.of("team-a", {"f": {"nvidia.com/gpu": 4}})
    kq.dump(kq.Cluster(kq.ResourceFlavor("f"), queue, kq.LocalQueue("team-a", cluster_queue="team-a")), objects)
    log.write_text(SACCT, encoding="utf-8")
    given = ("compare", objects, objects, "--jobs", log)

    refused = kueuepy(*given)
    assert (refused.code, "2 jobs had not finished" in refused.err) == (1, True)
    assert "--censored must be drop or exponential" in refused.err
    assert kueuepy(*given, "--censored", "drop", "--json").json["jobs"] == 1
    drawn = kueuepy(*given, "--censored", "exponential", "--json").json
    assert (drawn["jobs"], drawn["queues"]["team-a"]["q (1)"]["admitted"]) == (3, 3)


def test_a_picture_that_is_not_svg_is_refused_before_the_run(kueuepy, arguments, tmp_path):
    ran = kueuepy(*arguments, "--picture", tmp_path / "shares.png")

    assert (ran.code, "the name must end with .svg" in ran.err, ran.out) == (1, True, "")
    assert not list(tmp_path.iterdir())


def test_jobs_without_a_queue_can_be_skipped_by_a_plan(kueuepy, tmp_path):
    objects, jobs = tmp_path / "q.yaml", tmp_path / "jobs.csv"
    kq.dump(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 4}})), objects)
    jobs.write_text("queue,submit,runtime,cpu\na,0,60,1\nb,0,60,1\n", encoding="utf-8")
    path = "ClusterQueue/a:quota[f/cpu].nominalQuota"
    given = ("plan", objects, "--jobs", jobs, "--target", "wait_mean <= 1s", "--vary", path, "--from", 1, "--to", 2)
    assert "; --missing skip (" in kueuepy(*given).err
    found = kueuepy(*given, "--missing", "skip", "--seeds", 2)
    assert (found.code, "--missing skip" in found.out, "--seeds 2 --output" in found.out) == (0, True, True)


@pytest.mark.parametrize("submit", [0, 60])
def test_jobs_that_do_not_start_because_no_runtime_is_given_are_named(kueuepy, tmp_path, submit):
    names = [tmp_path / f"{name}.yaml" for name in ("two", "three")]
    for number, name in zip((2, 3), names, strict=True):
        kq.dump(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": number}})), name)
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("queue,submit,runtime,cpu\n" + "".join(f"a,{submit * n},,1\n" for n in range(10)))
    found = kueuepy("compare", *names, "--jobs", jobs)
    for ran, count in ((found, 8), (found, 7), (kueuepy("simulate", names[0], "--jobs", jobs), 8)):
        out = " ".join(ran.out.split())
        told = f"{count} of 10 jobs did not start, and {10 - count} running jobs never end, because no runtime is given"
        assert told in out
        assert "Next step: give each job a runtime." in out
        assert not [text for text in ("No job waits", "does not change the mean", "no other policy") if text in out]
    assert "Keep “two” for now: without runtimes" in " ".join(found.out.split())
    assert "does not start in" in found.out
    # Neither the picture nor the report judges waits that the end of the run cuts.
    pair = kq.compare(*map(kq.load, names), kq.Jobs.read(jobs))
    assert ": -42 s<" in pair.picture().svg or not submit
    kq.report(pair, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert not re.search(r"Mean wait.*(better|worse|unclear)", pair.picture().svg.partition("95th")[0])
    assert "(better)" not in text.partition("Policies side by side")[2].partition("Evenness")[0]


def test_the_next_step_names_the_columns_that_the_jobs_lack(kueuepy, arguments, tmp_path):
    jobs = tmp_path / "jobs.csv"
    for columns, row, lacks in (
        ("queue,submit,cpu", "team-a-queue,{n},1", "a runtime"),
        ("queue,runtime,cpu", "team-a-queue,60,1", "a submission time"),
    ):
        jobs.write_text(f"{columns}\n" + "".join(f"{row.format(n=n)}\n" for n in range(3)))
        out = " ".join(kueuepy(*arguments[:-1], jobs).out.split())
        assert f"Next step: give each job {lacks}, which kueuepy plan and kueuepy sweep need." in out
