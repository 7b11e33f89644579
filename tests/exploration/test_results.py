"""Results of many simulations: assumptions, missing intervals and tables."""

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import CELL, NOMINAL, arrivals


@pytest.fixture
def busy(teams):
    scheduler = kq.Scheduler(teams)
    for n in range(12):
        scheduler.submit({"name": f"w{n}", "queue": "team-a", "gpu": 1})
    scheduler.settle()
    return scheduler


def test_an_estimate_without_arrivals_shows_its_assumption_and_no_range(busy):
    found = kq.lab.eta(busy, "default/w11", kq.sim.Exponential("1h"), n=40)
    assert found.closed
    assert found.p5 < found.p95
    for text in (str(found), found._repr_html_()):
        assert "assumes that no new job arrives" in text
    assert "80% interval" not in str(found)
    coming = kq.lab.eta(busy, "default/w11", kq.sim.Exponential("1h"), n=40, future=arrivals)
    assert not coming.closed
    assert "80% interval" in str(coming)
    assert "assumes" not in str(coming)


def test_a_workload_with_quota_needs_no_assumption(busy):
    assert "assumes" not in str(kq.lab.eta(busy, "default/w0", kq.sim.Exponential("1h"), n=5))


def test_a_risk_without_arrivals_shows_its_assumption(busy):
    assert str(kq.lab.risk(busy, "default/w0")).endswith("; assumes that no new job arrives")
    assert "assumes" not in str(kq.lab.risk(busy, "default/w0", future=arrivals, n=3))


def test_seeds_without_effect_are_reported_and_give_no_interval(teams):
    found = kq.plan(teams, arrivals(0), "wait_p95 <= 1h", vary=NOMINAL, low=3, high=8, seeds=3)
    assert any("all seeds give the same" in text for text in found.warnings)
    assert repr(found).startswith("warning: all seeds give the same")
    assert "all seeds give the same" in found._repr_html_()
    assert np.isnan(found.curve["low"]).all()
    assert not np.isnan(found.curve["mean"]).any()
    drawn = kq.plan(teams, arrivals, "wait_p95 <= 1h", vary=NOMINAL, low=3, high=8, seeds=3)
    assert drawn.warnings == ()
    assert not np.isnan(drawn.curve["low"]).any()
    grid = kq.sweep(teams, arrivals(0), {NOMINAL: [4]}, seeds=3)
    assert np.isnan(grid.interval(0, "wait_mean").low)
    thinned = kq.sweep(teams, arrivals(0), {"jobs:thin": [0.9]}, seeds=3)
    assert thinned.warnings == ()
    assert thinned.interval(0, "wait_mean").low < thinned.interval(0, "wait_mean").mean


def test_intervals_over_seeds_are_never_below_0(teams):
    grid = kq.sweep(teams, lambda seed: arrivals(seed, n=10), {NOMINAL: [4, 6, 8, 10]}, seeds=4)
    seen = 0
    for policy in range(4):
        for figure in grid.figures:
            found = grid.interval(policy, figure)
            if found.n > 1 and found.mean >= 0:
                assert 0 <= found.low <= found.mean <= found.high, figure
                seen += found.low == 0 < found.mean
    assert seen > 0
    assert grid.difference(0, 3, "wait_mean").low < 0


def test_the_best_of_many_policies_on_one_seed_has_a_warning(teams):
    many = kq.sweep(teams, arrivals, {NOMINAL: list(range(3, 15))})
    assert any("the best of 12 policies on one seed is partly lucky" in text for text in many.warnings)
    assert "partly lucky" in repr(many)
    assert not kq.sweep(teams, arrivals, {NOMINAL: [4, 5]}).warnings
    assert not kq.sweep(teams, arrivals, {NOMINAL: list(range(3, 15))}, seeds=2).warnings


def test_a_sweep_shows_its_waits_in_readable_units(teams):
    html = kq.sweep(teams, arrivals, {NOMINAL: [4, 5]})._repr_html_()
    assert html.index("wait_mean") < html.index("utilisation")
    assert " min" in html
    assert "first_wait_p99" not in html
    assert "%" in html


def test_every_result_converts_to_a_table(teams, busy):
    pandas = pytest.importorskip("pandas")
    jobs = arrivals(0, n=20)
    grid = kq.sweep(teams, jobs, {NOMINAL: [4, 5]})
    plan = kq.plan(teams, jobs, "wait_p95 <= 1h", vary=NOMINAL, low=4, high=6)
    delays = kq.lab.guarantee("delays", teams, jobs=jobs)
    results = {
        "sweep": (grid, "wait_mean"),
        "plan": (plan, "passed"),
        "delays": (delays, "measure"),
        "eta": (kq.lab.eta(busy, "default/w11", 3600, n=3), "seconds"),
        "risk": (kq.lab.risk(busy, "default/w0"), "probability"),
        "gate": (kq.lab.check_policy(grid.result(0), ["wait_p95 <= 1h"]), "passed"),
        "safety": (kq.lab.guarantee("safety", teams, cluster_queue="team-a", n=2), "detail"),
        "starvation": (kq.lab.guarantee("starvation", teams, jobs=jobs, period="1d"), "value"),
        "limits": (kq.lab.guarantee("limits", teams, amounts={"team-a": 2}, flavor_resource=CELL), "subject"),
        "comparison": (kq.compare({"a": teams, "b": teams}, jobs), "policy"),
        "result": (grid.result(0), "metric"),
        "kpis": (grid.result(0).kpis, "value"),
    }
    for name, (result, column) in results.items():
        frame = result.to_pandas()
        assert isinstance(frame, pandas.DataFrame), name
        assert column in frame.columns, name
    assert str(plan.tried.rows()) == str(plan.curve.rows())
    assert delays.to_table().rows()[0]["measure"] == "adds in total"
    html = delays._repr_html_() + plan._repr_html_()
    assert " min" in html
    assert "0000000" not in html


def test_metrics_of_a_plan_are_shown_with_units(teams):
    found = kq.plan(teams, arrivals, "wait_p95 <= 1h", vary=NOMINAL, low=4, high=6, seeds=2)
    html = found._repr_html_()
    assert "Means over seeds" in html
    assert ">95th percentile of the wait<" in html
    assert ">wait_p95<" in html
    assert f"{CELL}" in html
