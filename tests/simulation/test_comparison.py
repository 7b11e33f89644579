import re
from xml.etree import ElementTree as ET

import pytest

import kueuepy as kq
from kueuepy.simulation.changes import DecisionChange, Move
from teams import DEFAULT, queue


def _jobs():
    first = [{"name": f"a{i}", "queue": "a", "cpu": 1, "submit": 0, "duration": 100} for i in range(8)]
    return first + [{"name": f"b{i}", "queue": "b", "cpu": 1, "submit": 10, "duration": 100} for i in range(4)]


def test_the_same_jobs_under_two_configurations(fair):
    classical = fair.replace(configuration=kq.Configuration())
    comparison = kq.compare(classical, fair, _jobs(), names=("classical", "fair sharing"))
    before, after = comparison.queues["b"]
    assert (before.admitted, after.admitted) == (4, 4)
    assert (before.waited, after.waited) == (90.0, 0.0)
    assert [outcome.evictions for outcome in comparison.queues["a"]] == [0, 4]
    assert comparison.queues["a"][1].peak_share == 1000
    assert len(comparison.changes) == 8
    text = str(comparison)
    rows = [[part.strip() for part in line.split("  ") if part] for line in text.splitlines()[-8:]]
    assert ["default/b0", "waits 1 min 30 s", "waits 0 s (-1 min 30 s)"] in rows
    assert all(row[1] != row[2] for row in rows)
    sizes = [abs(change.after.waited - change.before.waited) for change in comparison.changes]
    largest = comparison.changes[sizes.index(max(sizes))]
    assert rows[0][0] == largest.workload
    # A call stays in one line, so that it can be copied.
    assert max(len(line) for line in text.splitlines() if not line.startswith("kueuepy.plan(")) <= 80
    assert "8 of 12 jobs have a different outcome" in text


def test_an_evicted_job_restarts_and_its_first_end_is_ignored(fair):
    run = kq.compare(fair, fair, _jobs()).before
    assert run.seconds == 200
    assert set(run.jobs["evictions"][:8].tolist()) == {0, 1}
    assert (run.jobs["runs"] > 0).all()


def test_usage_is_the_mean_over_the_run():
    cluster = kq.Cluster(DEFAULT, queue("a", 4))
    jobs = [
        {"name": "w", "queue": "a", "cpu": 4, "submit": 0, "duration": 50},
        {"name": "x", "queue": "a", "cpu": 2, "submit": 100, "duration": 50},
    ]
    outcome, _ = kq.compare(cluster, cluster, jobs).queues["a"]
    assert outcome.mean_usage == {"default/cpu": (4000 * 50 + 2000 * 50) / 150}
    assert outcome.usage == {}


def test_equal_policies_change_nothing(fair):
    comparison = kq.compare(fair, fair, _jobs())
    assert comparison.changes == ()
    assert str(comparison).endswith("\nJobs\n0 of 12 jobs have a different outcome")


def test_a_comparison_converts_to_a_frame(fair):
    frame = kq.compare(fair, fair, _jobs(), names=("one", "two")).to_pandas()
    assert list(frame["policy"].unique()) == ["one", "two"]
    assert frame["jobs"].sum() == 24


def _times(moves):
    return [(move.seconds, move.workload.partition("/")[2], move.kind) for move in moves]


def test_differing_decisions_are_listed_by_time_and_job(fair):
    jobs = [{"name": "a", "queue": "a", "cpu": 8, "submit": 0, "duration": 100}]
    jobs += [{"name": "b", "queue": "b", "cpu": 4, "submit": 10, "duration": 100}]
    initial = kq.Configuration(fair_sharing=kq.FairSharingConfig(("LessThanInitialShare",)))
    found = kq.compare(fair.replace(configuration=kq.Configuration()), fair.replace(configuration=initial), jobs)
    assert [(d.seconds, d.workload, _times(d.before), _times(d.after)) for d in found.decisions] == [
        (10, "default/a", [], [(10, "a", "Evicted")]),
        (10, "default/b", [], [(10, "b", "QuotaReserved")]),
        (100, "default/b", [(100, "b", "QuotaReserved")], []),
        (110, "default/a", [], [(110, "a", "QuotaReserved")]),
    ]
    evicted = found.decisions[0].after[0]
    assert (evicted.reason, evicted.rule, evicted.preemptor) == ("Preempted", "InCohortFairSharing", "default/b")
    assert str(found.decisions[0]) == "at 10 s default/a — → is preempted by default/b: InCohortFairSharing"
    assert str(found.decisions[1]) == "at 10 s default/b — → gets quota on default"
    assert [decision.seconds for decision in kq.compare(fair, fair, jobs).decisions] == []


def test_shares_usage_and_queues_are_recorded_over_time(fair):
    found = kq.compare(fair, fair, _jobs())
    at_end = {(row["cluster_queue"], row["seconds"]): row for row in found.before.usage.rows()}
    a, b = ([(at, row) for (name, at), row in at_end.items() if name == queue] for queue in "ab")
    assert [(at, row["share"], row["used"]) for at, row in a if at in (0, 10, 200)] == [
        (0, 1000, 8), (10, 500, 4), (200, 0, 0),
    ]  # fmt: skip
    assert [(at, row["waiting"]) for at, row in a if at in (0, 10, 100)] == [(0, 0), (10, 4), (100, 0)]
    assert [(at, row["share"]) for at, row in b if at in (10, 110)] == [(10, 500), (110, 0)]
    means = {name: outcome.mean_share for name, (outcome, _) in found.queues.items()}
    assert means == {"a": (10 * 1000 + 190 * 500) / 200, "b": 250, "shared": 0}


def _policy(objects, **fields):
    return kq.Cluster(DEFAULT, objects, configuration=kq.Configuration(**fields))


def test_pods_of_admitted_jobs_are_ready_at_once():
    waits = kq.objects.WaitForPodsReady(timeout=60, block_admission=True)
    cluster = _policy([queue("a", 2)], wait_for_pods_ready=waits)
    jobs = [{"name": f"w{i}", "queue": "a", "cpu": 1, "submit": i // 3 * 30, "duration": 1000} for i in range(4)]
    run = kq.compare(cluster, cluster, jobs).before
    assert run.jobs["first_start"].tolist() == [0, 0, 1000, 1000]
    assert run.jobs["evictions"].tolist() == [0] * 4


def test_a_job_that_exceeds_its_execution_time_ends():
    pods = (kq.PodSet.of(requests={"cpu": 1}),)
    limited = kq.Workload("limited", queue_name="a", pod_sets=pods, maximum_execution_time_seconds=50)
    jobs = [limited, {"name": "next", "queue": "a", "cpu": 1, "submit": 10, "duration": 100}]
    cluster = _policy([queue("a", 1)])
    run = kq.compare(cluster, cluster, jobs).before
    rows = {run.name_of(place): row for place, row in enumerate(run.jobs.rows())}
    assert rows["limited"]["reason"].startswith("Deactivated")
    assert rows["limited"]["waited"] == 0
    assert (rows["next"]["first_start"], run.seconds) == (50, 150)


def test_workloads_of_the_cluster_itself_are_among_the_jobs():
    held = kq.Workload("held", queue_name="a", pod_sets=(kq.PodSet.of(requests={"cpu": 2}),))
    small, large = (_policy([queue("a", cpu)]) for cpu in (1, 3))
    found = kq.compare(small.replace(held), large.replace(held), [{"name": "w", "queue": "a", "cpu": 1}])
    (change,) = found.changes
    assert (change.workload, change.before.started, change.after.started) == ("default/held", None, 0)


def test_usage_decays_between_the_events():
    usage = kq.objects.AdmissionFairSharing(100, 10, {})
    team = queue("a", 1, admission_scope="UsageBasedAdmissionFairSharing")
    cluster = kq.Cluster(DEFAULT, team, configuration=kq.Configuration(admission_fair_sharing=usage))
    jobs = [{"name": f"w{i}", "queue": "a", "cpu": 1, "submit": i * 500, "duration": 100} for i in range(2)]
    consumed = kq.compare(cluster, cluster, jobs).before.consumed
    by_time = dict(zip(consumed["seconds"].tolist(), consumed["consumed"].tolist(), strict=True))
    assert list(by_time)[:4] == [0, 10, 20, 30]
    assert by_time[100] > by_time[50] > by_time[0] > 0
    assert by_time[200] == pytest.approx(by_time[100] / 2)


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("shares", "polyline", [["a", "b", "shared"], ["a", "b", "shared"]]),
        ("usage", "polygon", [["a, borrowed", "b, borrowed"]] * 2),
        ("queue", "polygon", [["b"], ["a"]]),
        ("consumed", "polyline", [[], []]),
        ("waits", "polyline", [["all jobs", "a", "b"], ["all jobs", "a", "b"]]),
        ("preemptions", "polyline", [[], []]),
    ],
)
def test_a_picture_has_a_panel_for_each_policy_and_a_line_for_each_queue(fair, name, shape, expected, tmp_path):
    classical = fair.replace(configuration=kq.Configuration())
    picture = kq.compare(classical, fair, _jobs(), names=("one & only", "two")).picture(name)
    picture.save(tmp_path / "picture.svg")
    svg = ET.parse(tmp_path / "picture.svg").getroot()  # noqa: S314 - our own file
    space = {"svg": "http://www.w3.org/2000/svg"}
    panels = svg.findall("svg:g", space)
    titles = [[text.text for text in panel.findall("svg:text", space)] for panel in panels]
    assert all(texts[0].startswith(picture.title) for texts in titles)
    assert ["Policy: one & only" in titles[0], "Policy: two" in titles[1]] == [True, True]
    lines = [
        [line.find("svg:title", space).text for line in panel.findall(f"svg:{shape}", space) if len(line)]
        for panel in panels
    ]
    assert lines == expected
    assert picture._repr_html_().startswith("<figure ")
    assert picture._repr_html_().count("<svg") == 2  # wide, and narrow for phones


def test_three_policies_are_drawn_in_rows_of_two_and_below_each_other_on_phones(fair):
    result = kq.simulate(fair, _jobs())
    picture = kq.Comparison({"a": result, "b": result, "c": result}).picture("usage")
    places = [re.findall(r'<g transform="translate\((\d+),(\d+)\)', svg) for svg in (picture.svg, picture.narrow)]
    wide, narrow = ([(int(x), int(y)) for x, y in found] for found in places)
    assert wide[0] == (0, 0)
    assert wide[1] == (wide[1][0], 0) != wide[0]
    assert wide[2] == (0, wide[2][1]) != wide[0]
    assert [x for x, _ in narrow] == [0, 0, 0]
    assert narrow[0][1] < narrow[1][1] < narrow[2][1]


def test_a_preemption_loop_is_reported_and_the_run_ends():
    policies = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    queues = [queue(name, 10, cohort_name="loop", preemption=policies) for name in ("reclaiming", "borrowing")]
    fair = _policy(queues, fair_sharing=kq.FairSharingConfig())
    rows = (("base", "reclaiming", 6, 0), ("borrower", "borrowing", 13, 0), ("incoming", "reclaiming", 8, 10))
    jobs = [
        {"name": name, "queue": where, "cpu": cpu, "priority": priority, "submit": i, "duration": 100}
        for i, (name, where, cpu, priority) in enumerate(rows)
    ]
    found = kq.compare(_policy(queues), fair, jobs)
    assert (found.before.loops, [loop.period for loop in found.after.loops]) == ((), [2])
    told = "after: endless preemption at 2 s: the same decisions every 2 cycles for default/borrower"
    assert told in " ".join(str(found).split())  # the text is wrapped
    assert told in found._repr_html_().partition("</table>")[0]
    assert (found.after.jobs["runs"] > 0).all()


def test_a_comparison_is_short_for_any_number_of_jobs(fair):
    def shown(count):
        found = kq.compare(fair, fair, [{"queue": "a", "cpu": 1, "submit": n, "duration": 0.5} for n in range(count)])
        return repr(found), found._repr_html_()

    (few, few_html), (many, many_html) = shown(50), shown(2_000)
    assert len(many) < len(few) + 200
    assert len(many_html) < len(few_html) + 500
    assert many_html.index("wait_mean") < many_html.index("different outcome")  # figures first


@pytest.mark.filterwarnings("ignore:.*can never be admitted")
def test_jobs_of_an_unknown_queue_are_counted_and_reported(fair):
    rows = [{"name": f"j{n}", "queue": "a" if n else "nowhere", "cpu": 1, "submit": n, "duration": 9} for n in range(3)]
    found = kq.compare(fair, fair, rows, missing="wait")
    assert {(figures.jobs, figures.finished) for figures in found.kpis.values()} == {(3, 2)}
    assert "can never be admitted: j0 (Misconfigured)" in str(found)
    with pytest.raises(kq.errors.NotFoundError, match="default/nowhere"):
        kq.compare(fair, fair, rows)
    fewer = fair.without(kq.ClusterQueue("a"))
    assert [figures.finished for figures in kq.compare(fair, fewer, rows[1:]).kpis.values()] == [2, 0]


def test_a_job_beyond_the_largest_time_is_rejected(fair):
    last = "it must be 2262-04-11T23:47:16Z at most"
    row = {"name": "a", "queue": "a", "cpu": 1, "submit": 9_223_372_000, "duration": 60}
    with pytest.raises(kq.errors.InvalidSpecError, match=f'column "runtime": ends 9223372060 s after 1970; {last}'):
        kq.compare(fair, fair, [row])


@pytest.mark.parametrize("seed", ["000/team-ab", "001/team-ab", "002/two-teams", "003/two-queues"])
def test_metrics_of_queues_with_an_unused_resource(seed):
    """A queue of a cohort that never uses one of its resources still has a utilisation of it, of 0."""
    cluster = kq.load(f"examples/seeds/{seed}.yaml")
    job = {"name": "a", "queue": cluster.cluster_queues[0].name, "cpu": 1, "duration": 60}
    figures = kq.compare({"now": cluster, "then": cluster}, [job]).kpis
    assert {one.finished for one in figures.values()} == {1}
    assert all(0 in (one.utilisation.values() if len(one.utilisation) > 1 else [0]) for one in figures.values())


def test_the_progress_counts_the_jobs_of_all_policies(fair):
    told = []
    found = kq.compare({"a": fair, "b": fair, "c": fair}, _jobs(), progress=told.append)
    number = len(found.before.jobs["waited"])
    assert (told[-1].done, told[-1].total) == (3 * number, 3 * number)
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert {one.total for one in told} == {3 * number}


def test_a_share_that_is_infinite_for_no_time_does_not_count_in_the_mean(fair):
    idle = queue("idle", 0, cohort_name="x", fair_sharing=kq.FairSharing(0))
    cluster = kq.Cluster(DEFAULT, queue("a", 4, cohort_name="x"), idle, configuration=fair.configuration)
    jobs = [{"queue": name, "submit": at, "runtime": 5 * at, "cpu": 1} for at, name in enumerate(("idle", "a"))]
    (_, found) = kq.compare(cluster, cluster, jobs).queues["idle"]
    assert (found.peak_share, found.mean_share) == (float("inf"), 0)


@pytest.mark.parametrize(("number", "more"), [(4, ""), (5, ", and 1 more moves")])
def test_a_change_of_a_decision_shows_four_moves(number, more):
    moves = tuple(Move(0, "default/w", "q", "Evicted", {}, reason="Preempted") for _ in range(number))
    assert str(DecisionChange(0, "default/w", (), moves)).partition("→ ")[2] == (
        ", ".join(["is evicted: Preempted"] * 4) + more
    )
