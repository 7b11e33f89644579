"""Fragmentation over time: the largest job that fits, at several points of a run."""

import numpy as np
import pytest

import kueuepy as kq

GPU = "nvidia.com/gpu"
SIZES = [{GPU: 1}, {GPU: 4}]
RACKS = kq.Topology("racks", levels=["rack", kq.objects.HOSTNAME_LABEL])
HOSTS = kq.objects.nodes(RACKS, (2, 2), labels={"gpu": "h100"}, capacity={GPU: 4})
CLUSTER = kq.Cluster(
    RACKS,
    kq.ResourceFlavor("h100", node_labels={"gpu": "h100"}, topology_name="racks"),
    kq.ClusterQueue.of("vision", {"h100": {GPU: 16}}),
    HOSTS,
)
JOBS = [
    {"name": "a", "queue": "vision", "submit": 0, "runtime": 20, "pods": 4, "gpu": 1},
    {"name": "b", "queue": "vision", "submit": 10, "runtime": 20, "pods": 2, "gpu": 1},
]


@pytest.fixture(scope="module")
def result():
    return kq.simulate(CLUSTER, JOBS)


def test_the_largest_job_of_each_size_and_level_over_time(result):
    series = result.fragmentation("racks", SIZES, step=10)

    assert (series.topology, series.flavor) == ("racks", "h100")
    assert series.levels == ("rack", kq.objects.HOSTNAME_LABEL, "")
    assert series.seconds.tolist() == [0, 10, 20, 30]
    assert series.largest().tolist() == [[12, 10, 14, 16], [3, 2, 3, 4]]
    assert series.largest("rack").tolist() == [[8, 8, 8, 8], [2, 2, 2, 2]]
    assert series.largest(empty=True).tolist() == [[16] * 4, [4] * 4]


def test_the_table_has_a_row_for_each_time_size_and_level(result):
    table = result.fragmentation("racks", SIZES, step="10s").table

    assert table.names == ("seconds", "pod", "level", "largest", "if_empty")
    assert len(table) == 4 * 2 * 3
    assert table.rows()[5] == {"seconds": 0.0, "pod": f"{GPU} 4", "level": "", "largest": 3, "if_empty": 4}


def test_the_table_matches_the_scheduler_at_that_time(result):
    series = result.fragmentation("racks", SIZES, step=7)
    for number, seconds in enumerate(series.seconds):
        racks = result.at(float(seconds)).topology("racks")
        for place, size in enumerate(SIZES):
            assert racks.largest(size)[""] == series.largest()[place][number]


def test_by_default_there_are_a_hundred_steps(result):
    assert len(result.fragmentation("racks", SIZES).seconds) == 101


def test_changes_during_a_run_are_included():
    run = kq.Simulation(CLUSTER, JOBS)
    run.run(until=15)
    run.apply(kq.sim.Finish("a"))
    run.run()

    series = run.result().fragmentation("racks", SIZES[:1], step=5)
    found = dict(zip(series.seconds.tolist(), series.largest()[0].tolist(), strict=True))
    assert (found[10], found[20]) == (10, 14)


def test_the_picture_has_a_line_for_each_size(result):
    series = result.fragmentation("racks", SIZES, step=10)
    picture = series.picture("rack")

    assert picture.title == "Largest job that fits in one rack of racks, by pod requests"
    assert all(f"{GPU} {amount}" in picture.svg for amount in (1, 4))
    assert "<svg" in series._repr_html_()


def test_matplotlib_draws_the_table(result):
    pytest.importorskip("matplotlib").use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = result.fragmentation("racks", SIZES, step=10).plot()
    _, labels = axes.get_legend_handles_labels()
    plt.close(axes.figure)

    assert axes.get_ylabel() == "Pods"
    assert labels == [f"{GPU} 1", f"{GPU} 4"]


def test_invalid_arguments_are_rejected(result, tmp_path):
    with pytest.raises(kq.errors.NotFoundError, match="halls"):
        result.fragmentation("halls", SIZES)
    with pytest.raises(kq.errors.InvalidSpecError, match="sizes: is empty"):
        result.fragmentation("racks", [])
    with pytest.raises(kq.errors.InvalidSpecError, match="step"):
        result.fragmentation("racks", SIZES, step=0)
    with pytest.raises(kq.errors.InvalidSpecError, match="it must be one of 'rack'"):
        result.fragmentation("racks", SIZES, step=10).largest("hall")
    pytest.importorskip("pyarrow")
    result.save(tmp_path / "saved")
    with pytest.raises(kq.errors.StateError, match="loaded from files"):
        kq.load_result(tmp_path / "saved").fragmentation("racks", SIZES)


def test_levels_that_change_during_the_run_are_reported():
    wider = kq.Topology("racks", levels=[kq.objects.HOSTNAME_LABEL])
    result = kq.simulate(CLUSTER, JOBS, events=[kq.sim.Event(15, wider)])

    with pytest.raises(kq.errors.StateError, match='levels of Topology "racks" change'):
        result.fragmentation("racks", SIZES, step=10)


def test_the_table_is_reproducible():
    assert np.array_equal(*(kq.simulate(CLUSTER, JOBS).fragmentation("racks", SIZES).largest() for _ in range(2)))
