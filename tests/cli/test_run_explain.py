"""`run` and `explain`."""

import gzip

import pytest

import kueuepy as kq
from kueuepy.cli.rows import rows_of


def _two_teams(seeds, name="two-teams"):
    return seeds / "002" / f"{name}.yaml", seeds / "002" / "jobs.csv"


def test_run_prints_decisions_pending_workloads_and_usage(kueuepy, seeds):
    ran = kueuepy("run", *_two_teams(seeds))

    assert ran.code == 0
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "1 default/a-1 team-a admitted default-flavor (cpu)" in lines
    assert "team-a default-flavor cpu 12" in lines
    assert "team-b default-flavor cpu 12" in lines
    assert any(line.startswith("default/a-4 WaitingForQuota ") for line in lines)
    assert lines[-1].endswith("6 admissions, 0 preemptions, 2 workloads waiting")


def test_run_counts_workloads_of_unknown_queues_apart(kueuepy, seeds, tmp_path):
    (tmp_path / "jobs.csv").write_text("name,queue,cpu\na,team-a,1\nb,team-a,99\nc,nowhere,1\n")
    ran = kueuepy("run", seeds / "002" / "two-teams.yaml", tmp_path / "jobs.csv")
    assert ran.out.endswith("0 preemptions, 1 workload waiting, 1 workload whose queue does not exist\n")


def test_run_prints_preemptions(kueuepy, seeds):
    ran = kueuepy("run", *_two_teams(seeds, "two-teams-reclaim"))

    assert "preempts" in ran.out
    assert "(InCohortReclamation)" in ran.out


def test_run_limits_rows_and_prints_the_number_of_others(kueuepy, seeds):
    ran = kueuepy("run", "--rows", "2", *_two_teams(seeds))

    assert "… and 4 more; use --rows 6 to show all" in ran.out


def test_a_huge_row_limit_shows_all_rows(kueuepy, seeds):
    assert kueuepy("run", "--rows", 10**18, *_two_teams(seeds)) == kueuepy("run", *_two_teams(seeds))


def test_run_stops_after_the_given_number_of_cycles(kueuepy, seeds):
    ran = kueuepy("run", "--cycles", "1", *_two_teams(seeds))

    assert "1 cycle: 2 admissions" in ran.out
    assert "further cycles would change the state" in ran.out


def test_run_prints_json(kueuepy, seeds):
    found = kueuepy("run", "--json", *_two_teams(seeds)).json

    assert [decision["decision"] for decision in found["cycles"][0]] == ["Admitted", "Admitted"]
    assert [line["workload"] for line in found["waiting"]] == ["default/a-4", "default/b-4"]
    assert found["usage"]["team-a"] == {"default-flavor/cpu": "12"}
    assert found["finished"] is True


def test_run_reads_jobs_of_any_version_and_kind(kueuepy, seeds):
    ran = kueuepy("run", seeds / "004")

    assert ran.code == 0
    assert "ondemand (cpu)" in ran.out
    assert ran.out.endswith("1 cycle: 1 admission, 0 preemptions, 0 workloads waiting\n")


def test_run_of_an_unknown_flavor_names_it(kueuepy, lint_examples):
    ran = kueuepy("run", lint_examples / "L16" / "surprising.yaml")

    assert ran.code == 1
    assert 'did you mean "default"?' in ran.err


def test_run_of_rows_with_an_unknown_column_names_it(kueuepy, seeds, tmp_path):
    rows = tmp_path / "jobs.csv"
    rows.write_text("name,queue,cpus\nx,team-a,1\n", encoding="utf-8")
    ran = kueuepy("run", seeds / "002" / "two-teams.yaml", rows)

    assert ran.code == 1
    assert "cpus" in ran.err
    assert kueuepy("run", seeds / "002" / "two-teams.yaml", tmp_path / "none.csv").code == 1


def test_explain_prints_why_a_workload_waits(kueuepy, seeds):
    ran = kueuepy("explain", "a-4", *_two_teams(seeds))

    assert ran.code == 0
    assert ran.out.startswith("default/a-4 is pending: WaitingForQuota\n")
    assert "└─ " in ran.out

    found = kueuepy("explain", "--json", "default/a-4", *_two_teams(seeds)).json
    assert found["reason"] == "WaitingForQuota"


def test_explain_finds_a_workload_by_the_name_of_its_job(kueuepy, seeds, job):
    ran = kueuepy("explain", "train", seeds / "002" / "two-teams.yaml", job("train"))

    assert ran.out.startswith("default/job-train-")
    assert " is admitted" in ran.out


def test_explain_as_is_runs_no_cycle(kueuepy, seeds, job):
    ran = kueuepy("explain", "--as-is", "train", seeds / "002" / "two-teams.yaml", job("train"))

    assert "is pending and fits now" in ran.out


def test_explain_of_an_unknown_workload_suggests_one(kueuepy, seeds):
    ran = kueuepy("explain", "default/a-44", *_two_teams(seeds))

    assert ran.code == 1
    assert 'error: "default/a-44" names no workload; did you mean "default/a-4"?' in ran.err


def test_explain_lists_the_candidates_of_an_ambiguous_name(kueuepy, seeds, tmp_path):
    rows = tmp_path / "jobs.csv"
    rows.write_text("name,namespace,queue,cpu\nx,default,team-a,1\nx,other,team-a,1\n", encoding="utf-8")
    ran = kueuepy("explain", "x", seeds / "002" / "two-teams.yaml", rows)

    assert ran.code == 1
    assert '"x" may be default/x, other/x; give one of these' in ran.err


def test_run_reports_a_preemption_loop(kueuepy, tmp_path):
    policies = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    queues = [
        kq.ClusterQueue.of(name, {"default": {"cpu": 10}}, cohort_name="loop", preemption=policies)
        for name in ("reclaiming", "borrowing")
    ]
    configuration = kq.Configuration(fair_sharing=kq.FairSharingConfig())
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), queues, configuration=configuration))
    for name, queue, cpu, priority in (("base", *queues[:1], 6, 0), ("borrower", *queues[1:], 13, 0)):
        scheduler.submit({"name": name, "queue": queue.name, "cpu": cpu, "priority": priority})
        scheduler.settle()
    scheduler.submit({"name": "incoming", "queue": "reclaiming", "cpu": 8, "priority": 10})
    running = [scheduler.workload(key) for key in scheduler.keys()]  # noqa: SIM118 - no dict
    path = tmp_path / "cluster.yaml"
    path.write_text(kq.dump(scheduler.cluster.replace(*running)), encoding="utf-8")

    told = "endless preemption: the same decisions every 2 cycles for default/borrower"
    assert kueuepy("run", path).out.splitlines()[-1] == told
    assert kueuepy("run", path, "--json").json["loops"] == [{"period": 2, "workloads": ["default/borrower"]}]


ONE_TABLE = """\
name,queue,submit,runtime,gpu,user,priority,limit
bert,vision,2017-10-09 07:01:55,3600,1,al,5.0,7200
,default/speech,2017-10-09 07:01:56,7200,2.0,bo,,
gpt,robots,2017-10-09,90,1,,nan,
"""


@pytest.fixture(params=["jobs.csv", "jobs.csv.gz"])
def table(request, tmp_path):
    path = tmp_path / request.param
    path.write_bytes(gzip.compress(ONE_TABLE.encode()) if request.param.endswith(".gz") else ONE_TABLE.encode())
    return path


def test_one_table_works_for_run_whatif_and_simulate(kueuepy, week, table):
    ran = kueuepy("run", week, table)
    assert ran.code == 0
    assert "user: is ignored here" in ran.err
    asked = kueuepy("whatif", week, "--job", table)
    simulated = kueuepy("simulate", week, "--jobs", table, "--json").json
    assert simulated["figures"]["finished"] == 3
    for name in ("bert", "j0000001", "gpt"):  # a job without a name is called as a simulation calls it
        assert f"default/{name}  " in ran.out
        assert f"default/{name}: admitted" in asked.out


def test_a_table_and_its_rows_in_python_create_the_same_workloads(table):
    with rows_of(str(table)) as rows:
        found = {row.workload.name: row.workload for row in rows}
    jobs = kq.Jobs.read(table)
    assert sorted(row.workload.creation_timestamp.value for row in rows) == jobs.exact()["submit"].tolist()
    assert sorted(row.duration.value for row in rows) == sorted(jobs.exact()["runtime"].tolist())
    assert (found["bert"].priority, found["gpt"].priority) == (5, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,runtime,duration\na,1,2\n", 'columns "duration" and "runtime" are one'),
        ("name,gpuu\na,1\n", 'did you mean "gpu"'),
        ("name,submit\na,1\n", 'jobs.csv:1: column "queue" is missing; there are name, submit'),
        ("name,queue,submit\na,q,soon\n", "jobs.csv:2, column \"submit\": 'soon'; it must be"),
        ("name,queue,namespace\na,x/q,y\n", 'jobs.csv:2, column "namespace": "y", but the queue is x/q'),
    ],
)
def test_an_invalid_table_is_rejected(kueuepy, week, tmp_path, text, message):
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    ran = kueuepy("run", week, path)
    assert ran.code == 1
    assert message in ran.err


@pytest.mark.parametrize("name", ["train", "default/train", "team-a/train", "default/team-a/train", "team-a-lq/train"])
def test_a_workload_may_be_named_with_its_namespace_or_queue(kueuepy, tmp_path, job, name):
    """The LocalQueue is called team-a-lq, and leads to the ClusterQueue team-a."""
    cluster = tmp_path / "cluster.yaml"
    queue = kq.ClusterQueue.of("team-a", {"f": {"cpu": 4}})
    local = kq.LocalQueue("team-a-lq", cluster_queue="team-a")
    kq.dump(kq.Cluster(kq.ResourceFlavor("f"), queue, local), cluster)
    ran = kueuepy("explain", name, cluster, job("train", queue="team-a-lq"))
    if name == "default/team-a/train":
        assert (ran.code, "names no workload" in ran.err) == (1, True)
    else:
        assert ran.out.startswith("default/job-train-")


def test_a_name_in_another_queue_does_not_match(kueuepy, week, table):
    assert kueuepy("explain", "vision/bert", week, table).out.startswith("default/bert is admitted")
    assert kueuepy("explain", "default/vision/bert", week, table).out.startswith("default/bert is admitted")
    assert '"speech/bert" names no workload' in kueuepy("explain", "speech/bert", week, table).err
