"""Every next step is a complete command or call that runs, and names what limits the jobs."""

import re
import shlex
import warnings
from pathlib import Path

import pytest

import kueuepy
from kueuepy.cli import main
from kueuepy.simulation.pages import words

WEEK = Path(__file__).parents[2] / "examples" / "week"
QUOTA = "ClusterQueue/{}:quota[f/cpu].nominalQuota"


def queue(name, cpu=1, **fields):
    return kueuepy.ClusterQueue.of(name, {"f": {"cpu": cpu}}, **fields)


def cluster(*queues):
    return kueuepy.Cluster(kueuepy.ResourceFlavor("f"), queues)


def rows(names, gap=10, **fields):
    made = [{"name": f"j{n}", "queue": name, "submit": gap * n, "cpu": 1} for n, name in enumerate(names)]
    return kueuepy.Jobs.of([{"runtime": 100, **row, **fields} for row in made])


RECLAIM = kueuepy.Preemption(reclaim_within_cohort="Any")
LOSING = (queue("a", 0, cohort_name="c"), queue("b", cohort_name="c", preemption=RECLAIM))
LIMIT = kueuepy.Cluster(
    kueuepy.ResourceFlavor("f"),
    kueuepy.ClusterQueue.of("a", {"f": {"cpu": kueuepy.objects.Quota(1, borrowing_limit=0)}}, cohort_name="c"),
    queue("b", 4, cohort_name="c"),
)
EVEN = "Each queue has about the same share of the waiting time as of the jobs."
CASES = {
    "one queue waits more": (cluster(queue("a"), queue("b", 9)), rows("aaabbb"), "a has 50.0% of the jobs"),
    "all wait alike": (cluster(queue("a"), queue("b")), rows("abababab", 1), EVEN),
    "no job waits": (cluster(queue("a")), rows("aaa", 200), "No job waits."),
    "evictions": (cluster(*LOSING), rows("ababab", 60), "Evictions lose"),
    "free quota": (LIMIT, rows("aaaa"), "of f/cpu were free although"),
    "fleet": (
        kueuepy.Fleet({"w": cluster(queue("a"), queue("b"))}),
        rows("abababab", 1),
        EVEN,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_next_step_of_a_result_is_a_call_that_runs(case):
    cluster, jobs, told = CASES[case]
    found = words.problem(kueuepy.simulate(cluster, jobs))

    assert told in found.text
    assert ("Largest problem" in found.lines()[0]) == (case not in ("all wait alike", "no job waits", "fleet"))
    answer = eval(found.command, {"kueuepy": kueuepy, "cluster": cluster, "jobs": jobs})  # noqa: S307 - what it says
    assert not answer.errors


BORROWING = kueuepy.Preemption(
    reclaim_within_cohort="Any", borrow_within_cohort=kueuepy.objects.BorrowWithinCohort("LowerPriority")
)


WITHIN = kueuepy.Preemption(within_cluster_queue="LowerPriority")
RISING = kueuepy.Jobs.of(
    {"queue": "a", "submit": 60 * n, "runtime": 100, "cpu": 1, "priority": n % 2} for n in range(6)
)


@pytest.mark.parametrize(
    ("cluster", "jobs", "field", "policies"),
    [
        (cluster(*LOSING), rows("ababab", 60), "reclaimWithinCohort", ["Never", "LowerPriority", "Any"]),
        (
            cluster(LOSING[0], queue("b", cohort_name="c", preemption=BORROWING)),
            rows("ababab", 60),
            "reclaimWithinCohort",
            ["LowerPriority", "Any"],
        ),
        (
            cluster(LOSING[0], queue("b", 0, cohort_name="c", preemption=BORROWING), queue("lender", cohort_name="c")),
            kueuepy.Jobs.of([{**row, "queue": "ab"[row["priority"]]} for row in RISING.rows()]),
            "borrowWithinCohort.policy",
            ["LowerPriority", "Never"],
        ),
        (
            cluster(queue("a", preemption=WITHIN)),
            RISING,
            "withinClusterQueue",
            ["Never", "LowerPriority", "LowerOrNewerEqualPriority"],
        ),
    ],
)
def test_the_next_step_varies_the_rule_that_evicts_by_valid_changes(cluster, jobs, field, policies):
    found = words.problem(kueuepy.simulate(cluster, jobs))

    assert found.step == "compare preemption policies:"
    answer = eval(found.command, {"kueuepy": kueuepy, "cluster": cluster, "jobs": jobs})  # noqa: S307 - what it says
    assert not answer.errors
    assert [
        row[f"ClusterQueue/{'b' if '.' in field else '*'}:preemption.{field}"] for row in answer.to_table().rows()
    ] == policies


def test_the_next_step_for_jobs_that_never_fit_writes_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    small, jobs = cluster(queue("a")), rows("aaa", 10, cpu=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = words.problem(kueuepy.simulate(small, jobs))
        eval(found.command, {"kueuepy": kueuepy, "cluster": small, "jobs": jobs})  # noqa: S307 - what it says
    assert "more cpu than the queue can ever get" in Path("report.html").read_text()

    kueuepy.dump(small, "small.yaml")
    Path("jobs.csv").write_text("queue,submit,runtime,cpu\na,0,60,2\n")
    main(["simulate", "small.yaml", "--jobs", "jobs.csv"])
    (step,) = re.findall(r"^kueuepy (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert step == "simulate small.yaml --jobs jobs.csv --report report.html"
    assert main(shlex.split(step)) == 0


def test_of_equal_utilisations_the_scarcer_resource_limits():
    amounts = {"memory": "8Gi", "cpu": 8, "nvidia.com/gpu": 8}
    alike = kueuepy.Cluster(kueuepy.ResourceFlavor("f"), kueuepy.ClusterQueue.of("a", {"f": amounts}))
    jobs = kueuepy.Jobs.of(
        [{"queue": "a", "submit": n, "runtime": 60, "gpu": 3, "cpu": 3, "memory": "3Gi"} for n in range(9)]
    )
    text = str(kueuepy.simulate(alike, jobs))
    assert "of the quota of f/nvidia.com/gpu is in use" in " ".join(text.split())


def test_several_files_of_jobs_are_all_in_the_next_step(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kueuepy.dump(cluster(queue("a")), "a.yaml")
    for part in (1, 2):
        Path(f"{part}.csv").write_text("queue,submit,runtime,cpu\n" + "".join(f"a,{n},60,1\n" for n in range(5)))
    assert main(["compare", "a.yaml", "a.yaml", "--jobs", "1.csv", "--jobs", "2.csv"]) == 0
    (step,) = re.findall(r"^kueuepy (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert step.startswith("plan a.yaml 1.csv 2.csv --target")
    assert main(shlex.split(step)) == 0


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_the_next_step_repeats_how_missing_queues_are_treated(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kueuepy.dump(cluster(queue("a")), "a.yaml")
    Path("jobs.csv").write_text("queue,submit,runtime,cpu\nlost,0,60,1\n" + "".join(f"a,{n},60,1\n" for n in range(5)))
    files = ["a.yaml"] * (2 if command == "compare" else 1)
    assert main([command, *files, "--jobs", "jobs.csv", "--missing", "skip"]) == 0
    (step,) = re.findall(r"^kueuepy (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert main(shlex.split(step)) == 0
    assert "--missing skip --target" in capsys.readouterr().out


def test_an_option_that_the_next_step_cannot_have_is_noted(capsys):
    given = ["simulate", str(WEEK / "teams.yaml"), "--jobs", str(WEEK / "jobs.csv")]
    assert main([*given, "--load", "2"]) == 0
    assert "note: the next step is without --load" in capsys.readouterr().err
    assert main(given) == 0
    assert "the next step is without" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_the_next_step_of_a_command_is_a_command_that_runs(command, capsys, monkeypatch, tmp_path):
    names = ["teams.yaml", "alone.yaml"][: 2 if command == "compare" else 1]
    assert main([command, *(str(WEEK / name) for name in names), "--jobs", str(WEEK / "jobs.csv")]) == 0
    out = capsys.readouterr().out
    (step,) = re.findall(r"^kueuepy (.*)$", out, re.MULTILINE)
    assert ("more rows; --json has all" in out) == (command == "compare")
    assert not re.search(r"\.\w+\(", out)
    monkeypatch.chdir(tmp_path)

    assert main(shlex.split(step)) == 0
    (write,) = re.findall(r"^kueuepy (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert main(shlex.split(write)) == 0
    assert kueuepy.load(tmp_path / "planned.yaml").cluster_queues


def test_a_plan_over_a_field_without_effect_names_what_limits():
    cluster, jobs, _ = CASES["one queue waits more"]
    plan = kueuepy.plan(cluster, jobs, "wait_mean(a) <= 1s", vary=QUOTA.format("b"), low=9, high=12)

    assert "has no effect on it" in " ".join(str(plan).split())
    assert "cpu limits the jobs" in str(plan)
    better = eval(str(plan).split("quota:\n")[1].split("\n")[0])  # noqa: S307 - what it says
    assert better.value == 3
    assert "3 cores meets wait_mean(a) <= 1s" in str(better)


def test_a_plan_accepts_quantities_and_shows_amounts():
    cluster = kueuepy.Cluster(kueuepy.ResourceFlavor("f"), kueuepy.ClusterQueue.of("a", {"f": {"memory": "1Gi"}}))
    jobs = [{"queue": "a", "submit": n, "runtime": 60, "memory": "1Gi"} for n in range(3)]
    vary = "ClusterQueue/a:quota[f/memory].nominalQuota"
    plan = kueuepy.plan(cluster, jobs, "wait_p95 <= 1s", vary=vary, low="1Gi", high="4Gi", step="1Gi")

    assert plan.value == 3 * 2**30
    assert "3 GiB meets wait_p95 <= 1s" in " ".join(str(plan).split())
    with pytest.raises(kueuepy.errors.InvalidSpecError, match="it must be an integer, or a quantity"):
        kueuepy.plan(cluster, jobs, "wait_p95 <= 1s", vary=vary, low="1.5", high=9)


def test_the_next_step_of_a_sweep_and_of_a_scheduler_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cluster, jobs, _ = CASES["all wait alike"]
    sweep = kueuepy.sweep(cluster, jobs, {QUOTA.format("a"): [1, 2]})
    eval(re.search(r"kueuepy\.dump\(.*\)", str(sweep))[0])  # noqa: S307 - what it says
    assert kueuepy.load("policy.yaml").get(kueuepy.ClusterQueue, "a") == queue("a", 2)

    scheduler = kueuepy.Scheduler(cluster)
    scheduler.submit({"name": f"job-{n}", "queue": "a", "cpu": 1} for n in range(2))
    scheduler.settle()
    step = re.search(r"scheduler\.explain\(.*\)", " ".join(str(scheduler).split()))[0]
    assert "default/job-1 is pending" in str(eval(step))  # noqa: S307 - what it says


def test_a_queue_without_a_cohort_has_no_borrowing_limit_to_leave_out():
    alone = cluster(queue("a", 3), queue("b", 3))
    jobs = kueuepy.Jobs.of([{"queue": "a", "submit": n, "runtime": 100, "cpu": 2} for n in range(20)])
    found = words.problem(kueuepy.simulate(alone, jobs))
    assert "were free although jobs waited" in found.text
    assert found.step == "compare queueing strategies:"
    assert "borrowingLimit" not in found.command


def test_the_next_step_over_memory_has_steps_of_gib_and_a_plan_repeats_its_own_step(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("queue,submit,runtime,memory\n" + "a,0,1h,64Gi\nb,60,2h,64Gi\n" * 9)
    assert main(["import", "--jobs", "log.csv", "--output", "made.yaml"]) == 0
    quotas = [one.resource_groups[0].flavors[0].resources[0] for one in kueuepy.load("made.yaml").cluster_queues]
    # No more than all 9 jobs of a queue use at one time, although they run for longer than the log.
    assert [quota.nominal_quota for quota in quotas] == [int(1.05 * 9 * 64 * 2**30) + 1] * 2
    capsys.readouterr()

    assert main(["simulate", "made.yaml", "--jobs", "log.csv"]) == 0
    (step,) = re.findall(r"^kueuepy (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert step.endswith("--from 0 --to 605Gi --step 1Gi")
    assert main(shlex.split(step)) == 0
    assert f"kueuepy {step} --output planned.yaml" in capsys.readouterr().out
    # A range of single bytes needs no list of its values.
    assert main(shlex.split(step.removesuffix(" --step 1Gi"))) == 0


def test_a_command_without_times_proposes_no_call_of_python(capsys, tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "name,queue,pods,cpu,duration\n" + "".join(f"a-{n},team-a,4,1,1h\n" for n in range(5))
    )
    seeds = WEEK.parent / "seeds" / "002"
    files = [str(seeds / "two-teams.yaml"), str(seeds / "two-teams-reclaim.yaml")]
    assert main(["compare", *files, "--jobs", str(tmp_path / "jobs.csv")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Next step: give each job a submission time, which kueuepy plan and kueuepy sweep need." in out
    assert "kueuepy.sweep" not in out


def test_jobs_that_their_limit_ends_are_counted_and_give_no_advice_on_preemption():
    jobs = [{"queue": "a", "submit": i, "runtime": 600 if i < 3 else 60, "cpu": 1, "limit": 100} for i in range(9)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = kueuepy.simulate(cluster(queue("a", 4)), jobs)
    assert any(text.startswith("3 jobs: ended by their limit, the maximum ") for text in result.warnings)
    found = words.problem(result)
    assert found.step == "drop the column limit, so that these jobs run to their end."
    assert not found.command
