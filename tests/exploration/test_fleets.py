"""Sweeps, plans, reports and pictures of fleets."""

from __future__ import annotations

import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError, NotFoundError, StateError, UnsupportedError
from kueuepy.look.chart import Area, Box
from kueuepy.simulation.pictures import charts
from kueuepy.simulation.pictures.catalogue import drawn_if_recorded, pictures_in

QUOTA = "ClusterQueue/team:quota[any/cpu].nominalQuota"


def worker(units):
    return kq.Cluster(kq.ResourceFlavor("any"), kq.ClusterQueue.of("team", {"any": {"cpu": units}}))


@pytest.fixture(scope="module")
def fleet():
    return kq.Fleet({"east": worker(2), "west": worker(1)})


JOBS = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "cpu": 1} for n in range(6)]


@pytest.fixture(scope="module")
def result(fleet):
    return kq.simulate(fleet, JOBS)


def quotas(of):
    return {
        name: cluster.cluster_queues[0].resource_groups[0].flavors[0].resources[0].nominal_quota
        for name, cluster in zip(("manager", *of.clusters), of.members, strict=True)
    }


def test_an_edit_names_the_cluster_and_the_manager_follows(fleet):
    assert quotas(fleet.edit_all({f"west:{QUOTA}": 4})) == {"manager": "6", "east": 2, "west": 4}
    assert quotas(fleet.edit_all({f"*:{QUOTA}": 3})) == {"manager": "6", "east": 3, "west": 3}
    assert quotas(fleet.edit_all({f"manager:{QUOTA}": 1})) == {"manager": 1, "east": 2, "west": 1}
    assert fleet.edit_all({}) == fleet


def test_an_edit_changes_the_dispatcher_and_the_gate(fleet):
    assert fleet.edit_all({"fleet:step": 2, "fleet:round": "1m"}).dispatcher == kq.sim.Incremental(2, "1m")
    assert fleet.edit_all({"fleet:dispatcher": "Incremental", "fleet:step": 1}).dispatcher == kq.sim.Incremental(1)
    assert fleet.edit_all({"fleet:sync": "5s"}).sync["east"] == 5
    gated = fleet.edit_all({"fleet:gated": True}).manager.configuration
    assert gated.feature_gates == {"MultiKueueOrchestratedPreemption": True}


@pytest.mark.parametrize(
    ("path", "error", "problem"),
    [
        (QUOTA, InvalidSpecError, f'must begin with a cluster, such as "west:{QUOTA}"'),
        (f"north:{QUOTA}", NotFoundError, '"north" is not a cluster'),
        (f"north*:{QUOTA}", NotFoundError, '"north\\*" is not a cluster'),
        ("east:ClusterQueue/teem:stopPolicy", NotFoundError, "east: edit: .*did you mean .team."),
        ("fleet:stp", NotFoundError, '"stp" is not a setting of a fleet; did you mean "step"'),
    ],
)
def test_a_path_that_matches_nothing_is_an_error(fleet, path, error, problem):
    problem = problem.replace("[", "\\[").replace("]", "\\]") if path == QUOTA else problem
    with pytest.raises(error, match=problem):
        kq.sweep(fleet, JOBS, {path: [1]})


def test_a_sweep_gives_the_metrics_of_single_simulations(fleet, tmp_path):
    over = {f"west:{QUOTA}": [1, 3], "fleet:step": [1, 2]}
    grid = kq.sweep(fleet, JOBS, over, storage=tmp_path / "rows.db", threads=2)
    assert grid.errors == {}
    for row in grid.frame.rows():
        edited = fleet.edit_all({f"west:{QUOTA}": row[f"west:{QUOTA}"], "fleet:step": row["fleet:step"]})
        assert grid.cluster(row["policy"]) == edited
        alone = kq.simulate(edited, JOBS).kpis
        assert (row["wait_mean"], row["copies"], row["won west"]) == (alone.wait_mean, alone.copies, alone.won["west"])
    again = kq.sweep(fleet, JOBS, over, storage=tmp_path / "rows.db")
    assert again.frame["wait_mean"].tolist() == grid.frame["wait_mean"].tolist()
    other = kq.sweep(fleet.replace(sync="30s"), JOBS, over, storage=tmp_path / "other.db")
    assert other.frame["wait_mean"].tolist() != grid.frame["wait_mean"].tolist()


def test_an_invalid_value_is_an_error_of_its_row(fleet):
    grid = kq.sweep(fleet, JOBS, {"fleet:step": [0, 1]})
    assert list(grid.errors) == [0]
    assert "step: is 0" in grid.errors[0]


def test_a_plan_finds_the_smallest_quota_of_a_worker(fleet):
    found = kq.plan(fleet, JOBS, "wait_p95 <= 10s", vary=f"west:{QUOTA}", low=1, high=8)
    assert (found.value, quotas(found.cluster)["west"]) == (4, 4)


def test_a_target_may_name_a_metric_of_dispatching(result):
    found = kq.lab.check_policy(result, ["copies <= 100", "unneeded_preemptions == 0"])
    assert [verdict.value for verdict in found] == [len(result.copies), 0]
    with pytest.raises(NotFoundError, match='"copies"'):
        kq.lab.check_policy(kq.simulate(worker(2), JOBS), ["copies <= 100"])


def test_a_running_fleet_refuses_jobs_and_changes_by_name(fleet):
    run = kq.Simulation(fleet, JOBS)
    with pytest.raises(UnsupportedError, match="jobs cannot be added while it runs"):
        run.submit(JOBS[0])
    with pytest.raises(UnsupportedError, match=r"apply ClusterQueue: .* give the change as an event"):
        run.apply(kq.ClusterQueue.of("team", {"any": {"cpu": 9}}))


def test_usage_is_drawn_by_cluster(result):
    chart, whole = charts.clusters(result), charts.usage(result)
    assert [key.name for key in chart.keys] == ["east", "west", "nominal quota", "jobs wait (top)"]
    assert set(chart.marks[-2].y.tolist()) == {3.0}
    tops = [[mark for mark in one.marks if isinstance(mark, Area)][-1].high.tolist() for one in (chart, whole)]
    assert tops[0] == tops[1]


def test_each_run_is_drawn_on_its_cluster(result):
    chart = charts.dispatch(result)
    bars = [mark for mark in chart.marks if isinstance(mark, Box)]
    names = {key.colour: key.name for key in chart.keys if key.look == "box"}
    lanes = {name: sorted({int(bar.y) for bar in bars if bar.colour == colour}) for colour, name in names.items()}
    assert lanes == {"east": [0, 1], "west": [2]}
    assert len(bars) == int(result.jobs["starts"].sum())


def test_pictures_by_cluster_need_a_fleet():
    alone = kq.simulate(worker(2), JOBS)
    for name in ("clusters", "dispatch"):
        with pytest.raises(StateError, match="needs a simulation of a Fleet"):
            alone.picture(name)
    assert "clusters" not in drawn_if_recorded(alone, pictures_in("report"))


def test_a_report_of_a_fleet_has_intervals_and_pictures_by_cluster(result, tmp_path):
    kq.report(result, tmp_path / "fleet.html")
    text = (tmp_path / "fleet.html").read_text()
    assert "Usage of any/cpu by cluster" in text
    assert "Runs on each worker of the first 6 jobs" in text
    with pytest.raises(InvalidSpecError, match="6 jobs count"):
        result.kpis.interval("wait_mean")
