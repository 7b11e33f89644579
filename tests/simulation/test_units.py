"""Columns of jobs are in units that people use: seconds, datetimes, cores; tables on the screen are short."""

import re
from html import unescape

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.look.notebook import repr_text
from kueuepy.tables import Columns

GIVEN = {
    "queue": ["a", "b", "a"],
    "submit": [0, 0.5, 60],
    "runtime": ["1h", -1, 0.25],
    "limit": [None, "2h", None],
    "grace": ["30s", None, None],
    "cpu": ["500m", 2, "1500m"],
    "memory": ["1Gi", 0, 5],
}
DATED = {**GIVEN, "submit": ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789Z", "2026-01-02T00:00:00Z"]}


def test_columns_of_jobs_are_seconds_and_cores():
    jobs = kq.Jobs(GIVEN)
    assert jobs["submit"].tolist() == [0, 0.5, 60]
    assert jobs["runtime"].tolist() == [3600, np.inf, 0.25]
    assert jobs["limit"].tolist() == [np.inf, 7200, np.inf]
    np.testing.assert_array_equal(jobs["grace"], [30, np.nan, np.nan])
    assert (jobs["cpu"].tolist(), jobs["memory"].tolist()) == ([0.5, 2, 1.5], [2**30, 0, 5])
    assert jobs.rows()[0]["runtime"] == 3600
    assert jobs.exact()["runtime"].tolist() == [3600 * 10**9, -1, 10**9 // 4]


def test_dates_are_datetimes_without_a_copy():
    jobs = kq.Jobs(DATED)
    assert jobs["submit"].dtype == "M8[ns]"
    assert np.shares_memory(jobs["submit"], jobs.exact()["submit"])
    assert str(jobs["submit"][1]) == "2026-01-01T00:00:00.123456789"
    assert jobs.window(0)["submit"].tolist() == [0, 0.123456789, 86400]


FORMS = ["to_pandas", "to_polars", "to_arrow", "columns", "assign"]


@pytest.mark.parametrize(  # texts of dates in rows have microseconds only
    ("given", "form"), [(GIVEN, "rows"), *((given, form) for given in (GIVEN, DATED) for form in FORMS)]
)
def test_what_is_read_from_jobs_makes_the_same_jobs_again(given, form):
    jobs = kq.Jobs(given)
    if form == "assign":
        again = jobs.assign(**{name: jobs[name] for name in jobs.names})
    elif form == "columns":
        again = kq.Jobs({name: jobs[name] for name in jobs.names})
    elif form == "rows":
        again = kq.Jobs.of(jobs.rows())
    else:
        pytest.importorskip({"to_pandas": "pandas", "to_polars": "polars", "to_arrow": "pyarrow"}[form])
        again = kq.Jobs.of(getattr(jobs, form)())
    for name in ("submit", "runtime", "limit", "grace", "cpu", "memory"):
        assert again.exact()[name].tolist() == jobs.exact()[name].tolist(), name
    assert again["queue"].tolist() == jobs["queue"].tolist()


def test_functions_of_jobs_count_in_the_same_units_as_what_they_give():
    jobs = kq.Jobs(GIVEN)
    longer = jobs.assign(runtime=lambda table: table["runtime"] * 2, cpu=lambda table: table["cpu"] + 1)
    assert longer["runtime"].tolist() == [7200, np.inf, 0.5]
    assert longer["cpu"].tolist() == [1.5, 3, 2.5]
    assert jobs.moved_to(jobs["submit"] + 1)["submit"].tolist() == [1, 1.5, 61]
    assert len(jobs.where(lambda table: table["runtime"] > 1)) == 2


def test_tables_joined_and_simulated_keep_their_units():
    jobs = kq.Jobs(GIVEN)
    both = kq.Jobs.concat([jobs, jobs])
    assert both["runtime"].tolist() == jobs["runtime"].tolist() * 2
    cluster = kq.Cluster(
        kq.ResourceFlavor("default"),
        *(kq.ClusterQueue.of(name, {"default": {"cpu": 9, "memory": "9Gi"}}) for name in "ab"),
    )
    result = kq.simulate(cluster, jobs, until="1d")
    assert result.jobs["cpu"].tolist() == [0.5, 2, 1.5]
    np.testing.assert_array_equal(result.jobs["limit"], [np.inf, 7200, np.inf])
    assert kq.Simulation(cluster, jobs).jobs["submit"].tolist() == [0, 0.5, 60]


def test_a_table_of_many_jobs_makes_only_the_rows_that_it_shows(monkeypatch):
    size = 10**5
    jobs = kq.Jobs(
        {
            "queue": ["a"] * size,
            "submit": np.arange(size) + 1.7e9,
            "runtime": np.full(size, 7500.0),
            "cpu": [0.5] * size,
        }
    )
    made = []
    dicts = Columns._dicts
    monkeypatch.setattr(Columns, "_dicts", lambda self, numbers: made.extend(numbers) or dicts(self, numbers))
    html = jobs._repr_html_()
    assert len(made) <= 20
    assert html.count("<tr>") == 22
    assert "... 99,980 more rows; .to_pandas() has all" in html
    assert "2 h 5 min" in html
    assert "7500000000000" not in html


def _cells(html: str) -> list[str]:
    return [unescape(cell) for cell in re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", html)]


@pytest.fixture(scope="module")
def found():
    cluster = kq.Cluster(
        kq.ResourceFlavor("default"), *(kq.ClusterQueue.of(name, {"default": {"cpu": 4}}) for name in "ab")
    )
    jobs = [{"queue": "ab"[n % 2], "submit": n, "runtime": "2h", "cpu": 2} for n in range(60)]
    return kq.compare({"small": cluster, "large": cluster.edit("ClusterQueue/a:quota[default/cpu]", 8)}, jobs)


def test_a_comparison_prints_what_a_notebook_shows(found):
    text = str(found)
    assert text == repr(found)
    cells = [cell for cell in _cells(found._repr_html_()) if cell]
    assert [word for cell in cells for word in cell.split() if word not in text] == []
    (hidden,) = {cell for cell in cells if cell.startswith("... ")}
    assert re.fullmatch(r"\.\.\. \d+ more rows; \.changes has all", hidden)
    assert "(-5 h 59 min)" in text
    assert not re.search(r"\d{5,} s", text)


def test_a_sweep_prints_what_a_notebook_shows():
    cluster = kq.Cluster(kq.ResourceFlavor("default"), kq.ClusterQueue.of("a", {"default": {"cpu": 4}}))
    grid = kq.sweep(
        cluster,
        [{"queue": "a", "submit": 0, "runtime": 60, "cpu": 2}],
        over={"ClusterQueue/a:quota[default/cpu]": list(range(2, 30))},
    )
    *_, sheet = grid.sheets()
    assert repr_text([sheet], grid) in str(grid)
    assert "... 8 more rows" in str(grid)
    assert "... 8 more rows" in grid._repr_html_()
    assert grid._repr_html_().rsplit("<table", 1)[1].count("<tr>") == 22


def test_pictures_of_policies_side_by_side_have_equal_axes(found, tmp_path):
    def axes(svg):
        """The texts along both axes, which are the last of the frame."""
        return re.findall(r'<text [^>]*text-anchor="(?:middle|end)"[^>]*>([^<]*)</text>', svg)

    alone = [axes(result.picture("usage").svg) for result in found.results.values()]
    assert alone[0] != alone[1]
    kq.report(found, tmp_path / "report.html")
    figures = re.findall(r"<figure>(.*?)</figure>", (tmp_path / "report.html").read_text(), re.DOTALL)
    assert len(figures) == 3
    for figure in figures:
        for layout in ("half", "narrow"):
            found_axes = [axes(one) for one in re.findall(rf'<div class="kq-{layout}">(.*?)</svg>', figure, re.DOTALL)]
            assert found_axes[0]
            assert found_axes == [found_axes[0]] * 2


def test_amounts_of_results_are_cores_and_shown_as_kubernetes_writes_them(found):
    usage = found["small"].usage
    assert set(usage["nominal"].tolist()) == {4.0}
    assert set(usage["used"].tolist()) <= {0.0, 2.0, 4.0}
    cluster = kq.Cluster(
        kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": "1500m", "memory": "512Mi", "example.com/x": 10}})
    )
    job = {"queue": "a", "submit": 0, "runtime": 5, "cpu": "500m", "memory": "1Mi", "example.com/x": 1}
    result, scheduler = kq.simulate(cluster, [job]), kq.Scheduler(cluster)
    for table in (result.usage, scheduler.quota, scheduler.usage):
        cells = _cells(table._repr_html_())
        assert {"1500m", "512Mi", "10"} <= set(cells)
        assert "1500" not in cells
    assert dict(zip(scheduler.quota["resource"], scheduler.quota["nominal_quota"].tolist(), strict=True)) == {
        "cpu": 1.5,
        "memory": 512 * 2**20,
        "example.com/x": 10,
    }
    assert set(scheduler.quota["borrowing_limit"].tolist()) == {np.inf}


def test_wide_tables_scroll_instead_of_losing_their_last_column():
    table = Columns({f"column-{n}": np.arange(3) for n in range(60)})
    html = table._repr_html_()
    assert html.startswith('<div style="overflow-x:auto">')
    assert 'data-label="column-59"' in html
