"""Printed and notebook output of plans, delays and sweeps, and errors for likely names."""

import re

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import NOMINAL, RECLAIM, arrivals
from kueuepy.look.numbers import duration


@pytest.fixture
def plan(teams):
    return kq.plan(teams, arrivals(1), "wait_p95(team-a) <= 30m", vary=NOMINAL, low=2, high=6)


@pytest.fixture
def delays(teams):
    return kq.lab.guarantee("delays", teams, jobs=arrivals(1))


@pytest.fixture
def sweep(teams):
    return kq.sweep(teams, arrivals(1), {RECLAIM: ["Never", "Any"]}, figures=["wait_p90(team-a)"])


def cells(found):
    """Return the cells of the displayed tables."""
    return [str(cell) for sheet in found.sheets() for row in (sheet.header, *sheet.rows) for cell in row if cell != ""]


@pytest.mark.parametrize("name", ["plan", "delays", "sweep"])
def test_print_and_notebook_show_the_same_values_with_units(request, name):
    found = request.getfixturevalue(name)
    text = str(found)
    assert all(word in text for cell in cells(found) for word in cell.split())
    tables = text.splitlines()[1:]
    assert max(map(len, tables)) <= 80 or max(map(len, cells(found))) > 40
    assert not re.search(r"\d\.\d{6}", text)  # no column of 14 digits
    assert re.search(r"\d+ (s|min|h)\b", text)


def test_a_plan_shows_the_values_tried(plan):
    for row in plan.curve.rows():
        assert duration(row["mean"]) in str(plan)


def test_a_sweep_leaves_out_metrics_that_are_equal_for_all_policies(teams):
    grid = kq.sweep(teams, arrivals(1), {NOMINAL: [2, 6]})
    *_, sheet = grid.sheets()
    names = {getattr(head, "name", head) for head in sheet.header}
    means = grid.means
    assert len(set(means["finished"].tolist())) == 1
    assert "finished" not in names
    assert "wait_mean" in names
    assert sheet.caption.endswith("including those that are equal for all policies")


def test_a_sweep_shows_few_columns_with_waits_first(sweep):
    *_, sheet = sweep.sheets()
    assert len(sheet.header) <= 20
    assert list(sheet.header[:3]) == ["Policy", RECLAIM, ("Mean wait", "wait_mean")]
    assert ("90th percentile of the wait, team-a", "wait_p90(team-a)") in sheet.header
    waits = ["wait" in head.name for head in sheet.header[2:]]
    assert waits == sorted(waits, reverse=True)
    assert len(sweep.frame.names) > 40


def test_a_front_is_drawn_as_steps_with_units(sweep):
    pytest.importorskip("matplotlib")
    ax = sweep.plot.pareto("wait_mean", "lost_hours")
    assert ax.get_xlabel() == "Mean wait"
    ax.figure.canvas.draw()
    assert any(label.get_text().endswith((" s", " min", " h")) for label in ax.get_xticklabels())
    assert ax.get_ylabel().endswith("(h)")
    assert "no policy is better in both" in ax.get_legend_handles_labels()[1]
    x, y = ax.get_lines()[0].get_data()
    assert (np.diff(x) >= 0).all()
    assert ((np.diff(x) == 0) | (np.diff(y) == 0)).all()  # steps


@pytest.mark.parametrize(
    ("name", "guess", "wanted"),
    [
        ("plan", "table", ".curve"),
        ("sweep", "tried", ".frame"),
    ],
)
def test_an_error_for_a_likely_name_lists_the_valid_names(request, name, guess, wanted):
    found = request.getfixturevalue(name)
    with pytest.raises(AttributeError, match=re.escape(f"has no attribute '{guess}'; use {wanted}")):
        getattr(found, guess)
    assert not hasattr(found, "something_else")


def test_a_column_of_names_can_be_cut_and_shown():
    queue = arrivals(1)["queue"]
    assert [queue[row] for row in range(3)] == [queue[:3][row] for row in range(3)]
    assert len(queue[queue.codes == 0]) + len(queue[queue.codes == 1]) == len(queue)
    assert len(queue[[0, 5]]) == 2
    assert repr(queue).startswith("<Categorical: ")
    assert "0x" not in repr(queue)


def test_a_prepared_question_can_be_combined_with_others(teams):
    scheduler = kq.Scheduler(teams)
    row = {"name": "a", "queue": "team-a", "gpu": 1}
    prepared = scheduler.question(row)
    found = scheduler.try_admit_many([prepared, row, prepared])
    assert found.verdicts == ("Admitted",) * 3
    assert found[0] == scheduler.try_admit(prepared)
    with pytest.raises(kq.errors.InvalidSpecError, match="is one Question; give a list"):
        scheduler.try_admit_many(prepared)


def test_parallel_coordinates_have_a_legend_and_ranges(sweep):
    pytest.importorskip("matplotlib")
    ax = sweep.plot.parallel("wait_mean", "lost_hours")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert ax.get_title(loc="left").endswith("coloured by: Work lost by evictions, h100/nvidia.com/gpu")
    low, high = texts
    assert low == "lowest value: 0 GPU h"
    assert re.fullmatch(r"highest value: [\d.]+ GPU h", high)
    path, wait, _ = [tick.get_text() for tick in ax.get_yticklabels()]
    assert path.replace(":\n", ":") == f"{RECLAIM}\nAny to Never"
    assert re.fullmatch(r"Mean wait\n\d+.* to \d+.*", wait)


def test_slowdowns_shares_and_runs_show_what_they_count(teams):
    pytest.importorskip("matplotlib")
    result = kq.simulate(teams, arrivals(1))
    ax = result.plot.slowdown_by_size()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1\n80 jobs"]
    assert "‰" in result.plot.shares().get_ylabel()
    assert result.plot.gantt().get_ylabel() == "Runs of jobs, in free rows"
    assert list(result.plot.gantt().get_yticks()) == []  # the number of a lane means nothing
