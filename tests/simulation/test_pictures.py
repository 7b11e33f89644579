"""Charts match the results and stay readable for any number of jobs."""

import re
from inspect import signature
from typing import get_args
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import kueuepy as kq
from kueuepy.errors import StateError
from kueuepy.look.chart import Area, Box, Label, Line
from kueuepy.look.colours import MOST_NAMES, colour_of
from kueuepy.simulation.pictures import charts
from kueuepy.simulation.pictures.catalogue import PICTURES, Plots, data_alike
from kueuepy.simulation.pictures.charts import PictureName

from .conftest import GPU, cluster, queue

mpl.use("Agg")
CELL = f"f/{GPU}"


def many(n, queues=3, nominal=20):
    """Jobs of some queues of a cohort that borrow and evict."""
    rng = np.random.Generator(np.random.PCG64(5))
    size = rng.choice([1, 2, 4], n)
    runtime = rng.exponential(3600.0, n)
    gap = float((size * runtime).mean()) / (0.9 * queues * nominal)
    policies = {"reclaim_within_cohort": "Any", "within_cluster_queue": "LowerPriority"}
    there = cluster(*(queue(f"q{i}", nominal, cohort="all", **policies) for i in range(queues)))
    table = {
        "queue": [f"q{i}" for i in np.minimum(rng.geometric(0.5, n) - 1, queues - 1)],
        "submit": np.cumsum(rng.exponential(gap, n)),
        "runtime": runtime,
        GPU: size,
        "priority": rng.choice([0, 100], n),
    }
    return kq.simulate(there, kq.Jobs(table))


@pytest.fixture(scope="module")
def crowded():
    return many(4000)


@pytest.fixture
def two():
    """Two queues of 2: the first borrows one until the second takes it back."""
    queues = [queue(name, 2, cohort="all", reclaim_within_cohort="Any") for name in ("one", "two")]
    rows = [("one", 0, 100, 3), ("two", 10, 40, 2)]
    table = [{"queue": name, "submit": at, "runtime": run, "gpu": gpus} for name, at, run, gpus in rows]
    return kq.simulate(cluster(*queues), table)


def of(run, name):
    """Return the run, or a run of a fleet for the pictures that only fleets have."""
    if name not in ("clusters", "dispatch"):
        return run
    workers = {f"w{n}": cluster(queue("q0", 4)) for n in range(2)}
    return kq.simulate(kq.Fleet(workers), [{"queue": "q0", "gpu": 1, "runtime": 60} for _ in range(9)])


def marks(chart, kind):
    """The marks of one kind."""
    return [mark for mark in chart.marks if isinstance(mark, kind)]


def heights(area):
    """The height of an area in each interval."""
    return (area.high - area.low)[::2].tolist()


def size(areas):
    """The total size of areas."""
    return sum(float(((area.high - area.low)[:-1] * np.diff(area.x)).sum()) for area in areas)


def test_usage_of_a_short_run_is_exact(two):
    chart = charts.usage(two)
    assert chart.x.unit == "s"
    areas = marks(chart, Area)
    assert all(area.x.tolist() == [0.0, 10.0, 10.0, 50.0, 50.0, 150.0] for area in areas)
    assert {(area.title, area.hatched): heights(area) for area in areas} == {
        ("one", False): [2.0, 0.0, 2.0],
        ("one, borrowed", True): [1.0, 0.0, 1.0],
        ("two", False): [0.0, 2.0, 0.0],
    }
    (limit,) = marks(chart, Line)
    assert set(limit.y.tolist()) == {4.0}


@pytest.mark.parametrize("pieces", [7, 100, 400])
def test_areas_of_a_picture_equal_the_metrics_at_any_resolution(crowded, pieces):
    chart = charts.usage(crowded, CELL, pieces)
    areas = marks(chart, Area)
    assert {len(area.x) for area in areas} == {2 * pieces}
    second = {"h": 3600, "d": 86400}[chart.x.unit]
    assert size(areas) * second / 3600 == pytest.approx(crowded.kpis.used_hours[CELL], rel=1e-9)
    borrowed = size(area for area in areas if area.hatched) * second / 3600
    assert borrowed == pytest.approx(crowded.kpis.borrowed_hours[CELL], rel=1e-9)
    mean = size(marks(charts.queue(crowded, pieces), Area)) * second / crowded.seconds
    assert mean == pytest.approx(crowded.kpis.waiting_mean, rel=1e-9)


@pytest.mark.parametrize("name", ["usage", "queue", "shares"])
def test_svg_and_matplotlib_show_the_same_values(crowded, name):
    """Both draw means over the same intervals, and name the length of an interval."""
    (shown,) = data_alike([crowded], name)
    ax = getattr(crowded.plot, name)()
    assert ax.get_title(loc="left") == shown.title == crowded.picture(name).title
    assert re.search(r", mean of \d+ (s|min|h)", shown.title)
    if name == "shares":
        tops = [max(line.get_ydata(), default=0) for line in ax.get_lines()]
        assert tops[: len(marks(shown, Line))] == [max(line.y) for line in marks(shown, Line)]
    else:
        total = max(area.high.max() for area in marks(shown, Area))
        top = max(part.get_paths()[0].vertices[:, 1].max() for part in ax.collections if part.get_paths())
        assert top == pytest.approx(total)


def test_quota_of_a_cohort_is_in_the_nominal_line():
    quotas = (kq.ResourceGroup.of({"f": {GPU: 5}}),)
    there = cluster(kq.Cohort("all", resource_groups=quotas), queue("q", 2, cohort="all"))
    result = kq.simulate(there, [{"queue": "q", "gpu": 3, "submit": 0, "runtime": 60}])
    (limit,) = marks(charts.usage(result), Line)
    assert set(limit.y.tolist()) == {7.0}


def test_with_many_queues_most_are_grouped_as_others():
    result = many(600, queues=30)
    layers = [key for key in charts.usage(result).keys if key.look == "box"]
    assert len(layers) == MOST_NAMES + 1  # and `others`
    assert layers[-1].name == "others"
    shown = {line.title: line.colour for line in marks(charts.waits(result), Line)}
    assert {key.name: key.colour for key in layers[:-1]}.items() <= shown.items()
    assert len({colour_of(key.colour) for key in layers}) == MOST_NAMES + 1


def test_waits_are_a_distribution(crowded):
    line = marks(charts.waits(crowded), Line)[0]
    assert (line.title, line.y[-1]) == ("all jobs", 1.0)
    right, up = line.x[::2], line.y[::2]
    assert (np.diff(right) > 0).all()
    assert (np.diff(up) > 0).all()
    waited = crowded.jobs["waited"]
    for x, y in zip(right.tolist(), up.tolist(), strict=True):
        assert (waited <= x).mean() == pytest.approx(y, abs=2 / 300)
    assert {line.title for line in marks(charts.waits(crowded, "priority"), Line)} == {"all jobs", "0", "100"}


@pytest.mark.parametrize(("gpus", "started"), [(1, 0.2), (9, 0.0)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_waits_of_jobs_that_did_not_start_are_at_no_time_over(gpus, started):
    result = kq.simulate(cluster(queue("q", 2)), [{"queue": "q", "submit": 60 * n, "gpu": gpus} for n in range(10)])
    for line in marks(charts.waits(result), Line):
        assert (line.x[-1], line.y[-1]) == (result.kpis.longest_wait, started)
    assert "longest wait" in result.picture("waits").title


def test_runs_in_one_lane_do_not_overlap(crowded):
    bars = marks(charts.gantt(crowded, jobs=150), Box)
    lanes = {}
    for bar in bars:
        end = bar.x + bar.width
        assert bar.x >= lanes.get(bar.y, 0.0) - 1e-9
        lanes[bar.y] = end
        assert all(bar.x - 1e-9 <= part.x <= part.x + part.width <= end + 1e-9 for part in bar.parts)
    assert len({bar.title for bar in bars}) == 150
    assert any(bar.parts for bar in bars)


def test_an_eviction_is_a_cut_bar_whose_lost_part_is_marked(two):
    chart = charts.gantt(two)
    first, second, third = marks(chart, Box)
    (lost,) = first.parts
    assert (first.x, first.width, lost.x, lost.width, lost.hatched) == (0.0, 10.0, 0.0, 10.0, True)
    assert (second.title, second.y, third.y) == ("j0000001", first.y, first.y)
    assert not third.parts
    (end,) = marks(chart, Line)
    assert end.x.tolist() == [10.0, 10.0]


def test_the_matrix_counts_every_eviction(crowded):
    chart = charts.preemptions(crowded)
    assert sum(int(label.text or 0) for label in marks(chart, Label)) == crowded.kpis.evictions
    lost = [float(re.search(r"([\d.]+) h lost", tile.title)[1]) for tile in marks(chart, Box)]
    assert sum(lost) == pytest.approx(crowded.kpis.lost_hours[CELL], rel=1e-2)


def test_every_picture_is_valid_svg_with_the_colours_of_the_page(crowded):
    for name in PICTURES:
        picture = of(crowded, name).picture(name)
        root = ET.fromstring(picture.svg)  # noqa: S314 - our own
        assert root.get("role") == "img"
        assert root.get("fill") == "currentColor"
        assert len(picture.svg) < 200_000
    hatched = [area for area in marks(charts.usage(crowded), Area) if area.hatched]
    assert crowded.picture("usage").svg.count('<path fill="url(#') == len(hatched) == 3
    with pytest.raises(kq.errors.InvalidSpecError, match="known are clusters, consumed"):
        crowded.picture("pie")


def test_names_are_escaped():
    there = cluster(queue("q", 2))
    rows = [{"queue": "q", "gpu": 1, "submit": 0, "runtime": 5, "user": "<b>&"}]
    svg = kq.simulate(there, rows).picture("waits", by="user").svg
    assert "<b>" not in svg
    assert "&lt;b&gt;&amp;" in svg


def test_matplotlib_draws_on_the_given_axes(crowded):
    figure, axes = plt.subplots(1, len(PICTURES))
    before = plt.get_fignums()
    for ax, name in zip(axes.flat, PICTURES, strict=True):
        assert getattr(of(crowded, name).plot, name)(ax=ax) is ax
    assert plt.get_fignums() == before
    usage = axes.flat[list(PICTURES).index("usage")]
    assert {patch.get_hatch() for patch in usage.collections} == {None, "////"}
    _, labels = usage.get_legend_handles_labels()
    assert labels == ["q0", "q1", "q2", "borrowed quota", "nominal quota", "jobs wait (top)"]
    figure.canvas.draw()
    plt.close(figure)


def test_text_has_the_colour_of_the_style(crowded):
    with mpl.style.context("dark_background"):
        ax = crowded.plot.usage()
        assert ax.lines[0].get_color() == "white"
    plt.close("all")


def test_there_is_one_list_of_pictures():
    methods = [name for name in vars(Plots) if not name.startswith("_")]
    assert get_args(PictureName) == tuple(PICTURES) == tuple(methods)


def decaying():
    """One queue with admission fair sharing, whose usage halves every 100 s, and a job of 4 for 100 s."""
    halving = kq.Configuration(admission_fair_sharing=kq.objects.AdmissionFairSharing(100, 10, {}))
    team = kq.ClusterQueue.of("q", {"f": {GPU: 4}}, admission_scope="UsageBasedAdmissionFairSharing")
    there = cluster(team).replace(configuration=halving)
    rows = [{"queue": "q", "gpu": 4, "submit": at, "runtime": 100} for at in (0, 300)]
    return kq.simulate(there, rows)


def test_decayed_usage_is_the_mean_of_the_table_in_each_interval():
    result = decaying()
    chart = charts.consumed(result)
    (line,) = marks(chart, Line)
    assert (line.title, chart.title) == ("default/q", f"Decayed usage by LocalQueue ({GPU})")
    at, values = result.consumed["seconds"], result.consumed["consumed"]
    for minutes, value in zip(line.x[::2].tolist(), line.y[::2].tolist(), strict=True):
        begin = minutes * 60 + 1e-9
        assert value == pytest.approx(float(values[np.flatnonzero(at <= begin)[-1]]))
    assert line.x[-1] * 60 == result.seconds
    assert result.picture("consumed", resource=GPU).svg.count("<polyline") == 1
    with pytest.raises(kq.errors.InvalidSpecError, match=f'resource: "cpu"; it must be one of {GPU}'):
        result.picture("consumed", resource="cpu")


def test_pictures_beside_each_other_show_the_same_flavor_on_the_same_axes():
    """The second policy uses another flavor most; both panels show the flavor that the first one uses most."""
    flavors = {"f": {GPU: 4}, "g": {GPU: 4}}
    rows = [{"queue": "q", "gpu": 3, "submit": 0, "runtime": 60}]
    objects = [kq.ResourceFlavor("f"), kq.ResourceFlavor("g"), kq.LocalQueue("q", cluster_queue="q")]
    there = [
        kq.Cluster(*objects, kq.ClusterQueue.of("q", {name: flavors[name] for name in order})) for order in ("fg", "gf")
    ]
    found = kq.compare({"one": there[0], "two": there[1]}, rows).picture("usage")
    assert found.title == f"Usage of {CELL}"
    first, second = ET.fromstring(found.svg).findall("{*}g")  # noqa: S314 - our own
    assert [len(panel.findall("{*}polygon")) for panel in (first, second)] == [1, 0]
    labels = [[text.text for text in panel.findall("{*}text") if text.get("text-anchor")] for panel in (first, second)]
    assert labels[0] == labels[1]


def test_a_picture_of_an_unrecorded_table_raises_an_error():
    rows = [{"queue": "q", "gpu": 1, "submit": 0, "runtime": 5}]
    result = kq.simulate(cluster(queue("q", 2)), rows, record=kq.sim.Recording(usage=False, runs=False))
    with pytest.raises(kq.errors.StateError, match="usage=True"):
        result.plot.usage()
    with pytest.raises(kq.errors.StateError, match="runs=True"):
        result.picture("gantt")
    with pytest.raises(kq.errors.InvalidSpecError, match=f'flavor_resource: "h100"; it must be one of {CELL}'):
        kq.simulate(cluster(queue("q", 2)), rows).picture("usage", flavor_resource="h100")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        *(
            (name, {"pieces": pieces}, "pieces: is")
            for name in ("usage", "queue", "shares")
            for pieces in (0, -1, 10**9)
        ),
        ("gantt", {"jobs": 0}, "jobs: is 0; it must be a number from 1 to"),
        ("gantt", {"start": float("nan")}, "start: is nan; it must be a number of seconds"),
        ("waits", {"pieces": 5}, "waits: pieces: is not an option; it must be one of by"),
        ("preemptions", {"by": "user"}, "the picture has no options"),
        ("slowdown_by_size", {"resource": "user"}, f'resource: "user"; it must be one of {GPU}'),
    ],
)
def test_an_option_that_a_picture_does_not_have_or_cannot_use_is_an_error(two, name, options, message):
    with pytest.raises(kq.errors.InvalidSpecError, match=re.escape(message)):
        two.picture(name, **options)
    with pytest.raises(kq.errors.InvalidSpecError, match=re.escape(message)):
        getattr(two.plot, name)(**options)


def test_a_plot_has_the_options_of_its_picture(two):
    names = [list(signature(getattr(Plots, name)).parameters)[1:-1] for name in PICTURES]
    assert names == [list(signature(kind.data).parameters)[1:] for kind in PICTURES.values()]
    assert two.plot.gantt(None, 1).get_title(loc="left") == "Runs of the first 1 job with quota"
    plt.close("all")


def test_a_notebook_shows_usage_waits_and_metrics(two):
    html = two._repr_html_()
    assert html.count("<svg") == 2 * 2  # wide, and narrow for phones
    assert "95th percentile of the wait" in html
    assert "wait_p95" in html


def test_a_result_without_jobs_is_shown_without_the_pictures_of_jobs(tmp_path):
    queue = kq.ClusterQueue.of("team-a", {"default": {"cpu": 8}})
    result = kq.simulate(kq.Cluster(kq.ResourceFlavor("default"), queue), [])
    with pytest.raises(StateError, match="at least one job"):
        result.picture("waits")
    kq.report(result, tmp_path / "empty.html")
    assert "Distribution of waiting times" not in (tmp_path / "empty.html").read_text()
    assert "Distribution of waiting times" not in result._repr_html_()
