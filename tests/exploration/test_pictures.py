"""Charts of sweeps and plans show the values of the tables."""

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import NOMINAL, RECLAIM, arrivals

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(scope="module")
def grid():
    teams = [kq.ClusterQueue.of(f"team-{n}", {"h100": {"nvidia.com/gpu": 4}}, cohort_name="all") for n in "ab"]
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), teams)
    return kq.sweep(cluster, arrivals, {NOMINAL: [2, 4, 6], RECLAIM: ["Never", "Any"]}, seeds=2)


def test_the_pareto_front_connects_policies_that_no_other_beats(grid):
    axes = grid.plot.pareto("wait_p95", "evictions", colour=NOMINAL)
    front = grid.pareto(minimise=("wait_p95", "evictions"))
    (line,) = axes.lines
    assert line.get_xdata().tolist() == front["wait_p95"].tolist()
    assert line.get_ydata().tolist() == front["evictions"].tolist()
    (points,) = axes.collections
    assert points.get_offsets()[:, 0].tolist() == grid.means["wait_p95"].tolist()
    assert [text.get_text() for text in axes.texts] == [str(place) for place in front["policy"]]


def test_a_curve_connects_the_means_of_each_value(grid):
    axes = grid.plot.curve(NOMINAL, "wait_mean")
    means = grid.means
    line = axes.lines[-1]
    assert line.get_xdata().tolist() == [2, 4, 6]
    for value, mean in zip(line.get_xdata(), line.get_ydata(), strict=True):
        assert mean == pytest.approx(means["wait_mean"][means[NOMINAL] == value].mean())
    words = grid.plot.curve(RECLAIM, "wait_mean")
    assert [label.get_text() for label in words.get_xticklabels()] == ["Any", "Never"]


def test_a_heat_map_has_a_cell_for_each_pair(grid):
    axes = grid.plot.heat(NOMINAL, RECLAIM, "wait_mean")
    (image,) = axes.images
    means = grid.means
    assert image.get_array().shape == (2, 3)
    assert image.get_array()[0, 2] == pytest.approx(means["wait_mean"][5])  # 6, Any
    with pytest.raises(kq.errors.InvalidSpecError, match="twice"):
        grid.plot.heat(NOMINAL, NOMINAL, "wait_mean")


def test_parallel_coordinates_range_from_smallest_to_largest(grid):
    axes = grid.plot.parallel("wait_mean", "evictions")
    assert len(axes.lines) == 6
    ends = np.array([line.get_ydata() for line in axes.lines])
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
    kept, broken = axes.collections[-2:]
    curve = found.curve
    assert kept.get_offsets()[:, 0].tolist() == curve["value"][curve["passed"]].tolist()
    assert broken.get_offsets()[:, 0].tolist() == curve["value"][~curve["passed"]].tolist()
    assert 600 in {line.get_ydata()[0] for line in axes.lines}
