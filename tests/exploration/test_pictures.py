"""Charts of sweeps and plans show the values of the tables."""

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import NOMINAL, RECLAIM, arrivals
from kueuepy.simulation.catalogue import figure_text

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(scope="module")
def grid():
    teams = [kq.ClusterQueue.of(f"team-{n}", {"h100": {"nvidia.com/gpu": 4}}, cohort_name="all") for n in "ab"]
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), teams)
    return kq.sweep(cluster, arrivals, {NOMINAL: [2, 4, 6], RECLAIM: ["Never", "Any"]}, seeds=2)


def test_the_pareto_front_connects_policies_that_no_other_beats(grid):
    axes = grid.plot.pareto("wait_p95", "evictions", colour=NOMINAL)
    front = grid.pareto(minimise=("wait_p95", "evictions"))
    line, *points = (line for line in axes.lines if len(line.get_xdata()))
    assert line.get_xdata()[::2].tolist() == front["wait_p95"].tolist()
    assert line.get_ydata()[::2].tolist() == front["evictions"].tolist()
    assert [point.get_xdata()[0] for point in points] == grid.means["wait_p95"].tolist()
    assert len({point.get_color() for point in points}) == 3  # the values of the quota
    assert axes.get_legend_handles_labels()[1][1:] == [f"nominalQuota: {value}" for value in (2, 4, 6)]
    assert [text.get_text() for text in axes.texts] == [str(place) for place in front["policy"]]


def test_a_curve_connects_the_means_of_each_value(grid):
    axes = grid.plot.curve(NOMINAL, "wait_mean")
    means = grid.means
    line = [line for line in axes.lines if len(line.get_xdata()) == 3][-1]
    assert line.get_xdata().tolist() == [2, 4, 6]
    for value, mean in zip(line.get_xdata(), line.get_ydata(), strict=True):
        assert mean == pytest.approx(means["wait_mean"][means[NOMINAL] == value].mean())
    words = grid.plot.curve(RECLAIM, "wait_mean")
    assert [label.get_text() for label in words.get_xticklabels()] == ["Any", "Never"]


def test_a_heat_map_has_a_cell_for_each_pair(grid):
    axes = grid.plot.heat(NOMINAL, RECLAIM, "wait_mean")
    means = grid.means["wait_mean"]
    assert len(axes.patches) == 2 * 3
    texts = {text.xy: text.get_text() for text in axes.texts}
    assert texts[2.5, 0.5] == figure_text("wait_mean", means[5])  # 6, Any
    shades = {patch.get_x() // 1: patch.get_alpha() for patch in axes.patches if patch.get_y() < 1}
    order = sorted(range(3), key=lambda place: means[2 * place + 1])
    assert sorted(range(3), key=shades.__getitem__) == order
    with pytest.raises(kq.errors.InvalidSpecError, match="twice"):
        grid.plot.heat(NOMINAL, NOMINAL, "wait_mean")


def test_parallel_coordinates_range_from_smallest_to_largest(grid):
    axes = grid.plot.parallel("wait_mean", "evictions")
    lines = [line.get_xdata() for line in axes.lines if len(line.get_xdata())]
    assert len(lines) == 6
    ends = np.array(lines)
    assert (ends.min(axis=0) == 0).all()
    assert (ends.max(axis=0) == 1).all()
    with pytest.raises(kq.errors.InvalidSpecError, match="no figure"):
        grid.plot.parallel()


def test_an_unknown_name_is_reported(grid):
    for draw in (
        lambda: grid.plot.curve("ClusterQueue/x:y", "wait_mean"),
        lambda: grid.plot.pareto("wait_mean", "nothing"),
        lambda: grid.plot.pareto("wait_mean", "evictions", colour="nothing"),
    ):
        with pytest.raises(kq.errors.NotFoundError):
            draw()


def test_a_plan_is_drawn_with_its_target():
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), kq.ClusterQueue.of("team-a", {"h100": {"nvidia.com/gpu": 4}}))
    jobs = arrivals(3).where(lambda table: table["queue"].codes == 0)
    found = kq.plan(cluster, jobs, "wait_p95 <= 10m", vary=NOMINAL, low=2, high=8)
    axes = found.plot()
    kept, broken = (next(line for line in axes.lines if line.get_marker() == marker) for marker in "oX")
    curve = found.curve
    assert kept.get_xdata().tolist() == curve["value"][curve["passed"]].tolist()
    assert broken.get_xdata().tolist() == curve["value"][~curve["passed"]].tolist()
    assert 600 in {line.get_ydata()[0] for line in axes.lines if len(line.get_ydata())}
    assert axes.get_title("left") == "No value tried meets wait_p95 <= 10m"
    assert axes.get_xlabel().endswith("(GPUs)")
    middle = float(curve["mean"][len(curve) // 2])
    met = kq.plan(cluster, jobs, f"wait_p95 <= {middle}s", vary=NOMINAL, low=2, high=8)
    axes = met.plot()
    assert [met.value] * 2 in [list(line.get_xdata()) for line in axes.lines]
    assert axes.get_title("left").startswith(f"{met.value} GPUs is the smallest value that meets")
