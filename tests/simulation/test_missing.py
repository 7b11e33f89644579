"""Values that are missing, do not fit or have units, and columns under other names, in every form of input."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.objects.times import parse_span
from kueuepy.tables.kinds import MISSING

from .conftest import GPU

GIVEN = {"queue": ["a", "b"], "submit": ["0", "60"], "runtime": ["10", "20"], "gpu": ["1", "2"], "user": ["x", "y"]}


def rows_of(columns):
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def csv_of(columns, path):
    path.write_text("\n".join([",".join(columns), *(",".join(row.values()) for row in rows_of(columns))]))
    return path


def forms(columns, folder):
    """The same columns in every form in which jobs are read."""
    yield lambda: kq.Jobs(columns)
    yield lambda: kq.Jobs.from_frame(pd.DataFrame(columns))
    yield lambda: kq.Jobs.from_frame(pl.DataFrame(columns))
    yield lambda: kq.Jobs.of(rows_of(columns))
    yield lambda: kq.Jobs.read(csv_of(columns, folder / "jobs.csv"))
    path = folder / "jobs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows_of(columns))))
    yield lambda: kq.Jobs.read(path)


@pytest.mark.parametrize("text", [*MISSING, "  ", " nan "])
def test_a_text_that_means_a_missing_value_is_missing_and_noted(text, tmp_path):
    columns = {**GIVEN, "gpu": ["1", text], "runtime": [text, "20"], "pods": ["2", text], "user": [text, "y"]}
    for read in forms(columns, tmp_path):
        jobs = read()
        assert jobs[GPU].tolist() == [1, 0]
        assert jobs["runtime"].tolist() == [np.inf, 20]
        assert jobs["user"].tolist() == [None, "y"]
        assert dict(jobs.notes) == {
            "runtime is missing; treated as infinite": 1,
            f"{GPU} is missing; treated as 0": 1,
            "pods is missing; treated as 1": 1,
        }


def test_a_result_warns_of_jobs_without_a_runtime():
    jobs = kq.Jobs({**GIVEN, "queue": ["q"] * 2, "runtime": [None, 20.0]})
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 3}}))
    with pytest.warns(UserWarning, match="had not finished"):
        result = kq.simulate(cluster, jobs)
    assert "1 job: runtime is missing; treated as infinite" in result.warnings


@pytest.mark.parametrize("column", ["runtime", "gpu", "cpu", "memory", "pods", "priority", "submit", "limit", "every"])
@pytest.mark.parametrize("text", ["1e400", "9" * 400, "-1e400"])
def test_a_number_that_does_not_fit_is_an_error(column, text, tmp_path):
    name = GPU if column == "gpu" else column
    for read in forms({**GIVEN, column: ["1", text]}, tmp_path):
        with pytest.raises(InvalidSpecError, match=rf'row 1( \(.*\))?, column "{name}"'):
            read()


@pytest.mark.parametrize("value", [9_999_999_999, "9999999999", 1e300, "1e300", 10**400])
def test_a_runtime_beyond_292_years_is_an_error(value):
    with pytest.raises(InvalidSpecError, match='row 1, column "runtime"'):
        kq.Jobs({**GIVEN, "runtime": [1, value]})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2 hours", 7200),
        ("150 min", 9000),
        ("PT2H30M", 9000),
        ("P1DT2H", 93600),
        ("P1W", 604800),
        ("PT0.5S", 0.5),
        ("1 day 2 hours", 93600),
        ("2 hours, 30 min", 9000),
        ("1.5 hrs", 5400),
        ("90 secs", 90),
        ("1 Hour", 3600),
        ("1h30min", 5400),
        ("2 weeks", 1209600),
        ("5ms", 0.005),
        ("PT", None),
        ("P", None),
        ("2 months", None),
        ("P1M", None),
        ("hours", None),
        ("2 hoursandmore", None),
    ],
)
def test_time_spans_in_words_and_in_iso_8601(text, seconds):
    found = parse_span(text)
    assert (None if found is None else found / 1e9) == seconds


def test_all_missing_columns_are_reported_at_once():
    with pytest.raises(InvalidSpecError, match=r'columns "queue", "runtime" are missing; there are submit, x; map='):
        kq.Jobs({"submit": [0], "x": [1]})


def test_a_key_of_map_is_a_field_of_a_job(tmp_path):
    path = csv_of(GIVEN, tmp_path / "jobs.csv")
    frame = pl.DataFrame(GIVEN)
    for read in (lambda names: kq.Jobs.read(path, map=names), lambda names: kq.Jobs.from_frame(frame, names)):
        with pytest.raises(InvalidSpecError, match=r'map: "memry" is not a field of a job; did you mean "memory"\?'):
            read({"memry": "user"})
        with pytest.raises(InvalidSpecError, match=r'map: "gpus" is not a field of a job; did you mean "gpu"\?'):
            read({"gpus": "user"})


def test_units_in_map(tmp_path):
    columns = {**GIVEN, "mem": ["64", "0.5"], "minutes": ["90", "2"]}
    path = csv_of(columns, tmp_path / "jobs.csv")
    jobs = kq.Jobs.read(path, map={"memory": "mem:GB", "runtime": "minutes:min"})
    assert jobs["memory"].tolist() == [64 * 10**9, 5 * 10**8]
    assert jobs["runtime"].tolist() == [5400, 120]
    assert kq.Jobs.read(path, map={"memory": "mem:GiB"})["memory"].tolist() == [64 * 2**30, 2**29]
    with pytest.raises(NotFoundError, match=r'"mem:gigs": "gigs" is not a unit; known are GB'):
        kq.Jobs.read(path, map={"memory": "mem:gigs"})
    with pytest.raises(InvalidSpecError, match=r'column "user": .*; it must be a number'):
        kq.Jobs.read(path, map={"memory": "user:GB"})


def test_memory_that_is_not_in_bytes_is_noted():
    assert any(note.startswith("memory is below 1 MiB") for note, _ in kq.Jobs({**GIVEN, "memory": [64, 32]}).notes)
    assert kq.Jobs({**GIVEN, "memory": [64, "4Gi"]}).notes == kq.Jobs({**GIVEN, "memory": [0, 0]}).notes == ()


def test_tables_have_the_habits_of_data_frames():
    n = 50
    jobs = kq.Jobs({"queue": [f"q{i % 3}" for i in range(n)], "submit": range(n), "runtime": [60] * n, "cpu": [1] * n})
    result = kq.simulate(kq.sim.cluster_of(jobs), jobs)
    for table in (jobs, result.jobs, result.by("queue"), result.runs):
        assert len(table[:2]) == 2
        assert type(table[:2]) is type(table)
        assert list(table[1:3]) == list(table)[1:3]
        assert table[-1] == list(table)[-1]
        first = table.names[0]
        mask = np.arange(len(table)) < 2
        assert list(table[mask]) == list(table[[0, 1]]) == list(table)[:2]
        assert table[[first]].names == (first,)
        assert table._ipython_key_completions_() == list(table.names)
        assert len(str(table).splitlines()) <= 12
        with pytest.raises(NotFoundError, match="names no rows"):
            table[n]
    assert (jobs[jobs["queue"] == "default/q1"]["queue"] == "default/q1").all()


def test_every_table_is_read_back(result_tables):
    for table in result_tables:
        for frame in (table.to_pandas(), table.to_polars(), table.to_arrow(), table):
            again = kq.Jobs.of(frame)
            assert len(again) == len(table)


@pytest.fixture
def result_tables():
    jobs = kq.Jobs({"name": ["x", "y"], "queue": ["a", "a"], "submit": [0, 1], "runtime": [60, 5], "cpu": [1, 1]})
    return [jobs, kq.simulate(kq.sim.cluster_of(jobs), jobs).jobs]
