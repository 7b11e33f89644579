"""DataFrames with missing values, unusual types or errors are read, or rejected with row and column."""

import datetime as dt
import os

import numpy as np
import pandas as pd
import pytest

import kueuepy as kq
from kueuepy.errors import DuplicateError, InvalidSpecError
from kueuepy.tables import Categorical

from .conftest import GPU, cluster, queue

SECOND = 10**9
GIVEN = {"queue": ["a", "b", "a"], "submit": [0, 60, 120], "runtime": [10.0, 20.0, 30.0], "gpu": [1, 1, 2]}
DAY = 1704067200 * SECOND  # 2024-01-01
BERLIN = dt.timezone(dt.timedelta(hours=1))


def pandas(**columns):
    return kq.Jobs.from_frame(pd.DataFrame({**GIVEN, **columns}))


@pytest.mark.parametrize(
    ("column", "values", "found"),
    [
        ("gpu", [1, np.nan, 2], [1, 0, 2]),
        ("gpu", pd.array([1, None, 2], dtype="Int64"), [1, 0, 2]),
        ("gpu", pd.array(["1", " 2", None], dtype="string"), [1, 2, 0]),
        ("gpu", pd.Categorical([1, 2, 2]), [1, 2, 2]),
        ("gpu", pd.arrays.SparseArray([1, 0, 2]), [1, 0, 2]),
        ("gpu", np.array([1, 2, "3"], object), [1, 2, 3]),
        ("pods", [np.nan, 1, 3], [1, 1, 3]),
        ("priority", pd.array([1, None, -2], dtype="Int64"), [1, 0, -2]),
        ("elastic", pd.array([True, None, False], dtype="boolean"), [True, False, False]),
        ("cpu", ["500m", "2", 1.5], [500, 2000, 1500]),
        ("cpu", np.array(["1", 2.5, 3], object), [1000, 2500, 3000]),
        ("cpu", np.array([1, 2.5, 3], object), [1000, 2500, 3000]),
        ("memory", ["1Gi", "512Mi", 1000], [2**30, 2**29, 1000]),
        ("runtime", [0, 0.5, -1], [0, SECOND // 2, -1]),
        ("runtime", np.array(["2", 0.5, None], object), [2 * SECOND, SECOND // 2, -1]),
        ("runtime", pd.to_timedelta(["1h", "90s", "0s"]), [3600 * SECOND, 90 * SECOND, 0]),
        ("runtime", ["1h", "1 h 30 m", " 10 "], [3600 * SECOND, 5400 * SECOND, 10 * SECOND]),
        ("runtime", pd.Categorical(["1h", "2h", "2h"]), [3600 * SECOND, 7200 * SECOND, 7200 * SECOND]),
        ("submit", [dt.date(2024, 1, 1)] * 3, [DAY] * 3),
        ("submit", [dt.datetime(2024, 1, 1, 1, tzinfo=BERLIN), dt.datetime(2024, 1, 1), "2024-01-01"], [DAY] * 3),  # noqa: DTZ001 - as they come
        ("submit", pd.to_datetime(["2024-01-01T01:00:00+01:00"] * 3), [DAY] * 3),
        ("submit", pd.to_datetime(["2024-01-01"] * 3).astype("datetime64[ms]"), [DAY] * 3),
        ("gpu", np.array([1, 2, 3], np.float16), [1, 2, 3]),
        ("gpu", np.array([1, 2, 3], ">i4"), [1, 2, 3]),
        ("cpu", [b"1", b"500m", b"2"], [1000, 500, 2000]),
        ("runtime", np.array([1, 2, 3], "m8[h]"), [3600 * SECOND, 7200 * SECOND, 10800 * SECOND]),
    ],
)
def test_columns_of_pandas(column, values, found):
    assert pandas(**{column: values}).exact()[GPU if column == "gpu" else column].tolist() == found


def test_names_and_groups_of_pandas():
    jobs = pandas(
        queue=[" a", "b ", "a"],
        name=["x", None, " y"],
        user=pd.array(["u", None, "u"], dtype="string"),
        flag=pd.array([True, None, False], dtype="boolean"),
    )
    assert [jobs["queue"][row] for row in range(3)] == ["default/a", "default/b", "default/a"]
    assert [jobs.name_of(row) for row in range(3)] == ["x", "j0000001", "y"]
    assert jobs["user"].codes.tolist() == [0, -1, 0]
    assert [jobs["queue"][row] for row in range(3)] == [
        pandas(queue=pd.Categorical(["a", "b", "a"], categories=["z", "b", "a"]))["queue"][row] for row in range(3)
    ]
    assert kq.Jobs.from_frame(pd.DataFrame(GIVEN, index=[1, 1, 1])).exact()["runtime"].tolist() == [
        n * SECOND for n in (10, 20, 30)
    ]


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("submit", [0, np.nan, 2], r'row 1, column "submit": nan; it must be given'),
        (
            "submit",
            pd.to_datetime(["2024-01-01", "2024-01-01", None]),
            r'row 2, column "submit": NaT; it must be given',
        ),
        ("submit", [-1, 0, 0], r'row 0, column "submit": -1; it must be a number of seconds of 0 or more'),
        ("submit", ["2024-01-01", "2024/01/02", "x"], r"row 1, column \"submit\": '2024/01/02'"),
        ("submit", pd.period_range("2024-01-01", periods=3), r'row 0, column "submit": Period'),
        ("queue", ["a", None, "b"], r'row 1, column "queue": None; it must be given'),
        ("queue", pd.Categorical(["a", "b", None]), r'row 2, column "queue": None; it must be given'),
        ("queue", pd.array(["a", "b", None], dtype="string"), r'row 2, column "queue": None; it must be given'),
        ("runtime", [10, -5, 3], r'row 1, column "runtime": -5; it must be a number of seconds of 0 or more'),
        ("runtime", pd.to_timedelta([10, -5, 3], unit="s"), r'row 1, column "runtime": .*timedelta'),
        ("runtime", [10, -np.inf, 3], r'row 1, column "runtime": -inf'),
        ("runtime", [True, False, True], r'row 0, column "runtime": True'),
        ("submit", pd.array([0, True, None], dtype="object"), r'row 1, column "submit": True'),
        ("runtime", pd.array([None, True, False], dtype="boolean"), r'row 1, column "runtime": True'),
        ("runtime", pd.to_datetime(["2024-01-01"] * 3), r'row 0, column "runtime": 2024-'),
        ("submit", [np.ones(2), np.ones(2), np.ones(3)], r'row 0, column "submit": array'),
        (
            "name",
            np.array(["x", "y\ud800", 3], object),
            r"row 1, column \"name\": 'y\\ud800'; it must be text that UTF-8",
        ),
        ("user", np.array(["-9999", "2000", "2010"], "M8[Y]"), r'row 0, column "user": .*a date from 1678 to 2262'),
        ("name", [b"x", b"\xff", b"z"], r'column "name": is not text in UTF-8'),
        ("gpu", [1, -1, 0], r'row 1, column "nvidia.com/gpu": -1; it must be 0 or more'),
        ("gpu", pd.array([1, None, 2.5], dtype="Float64"), r'row 2, column "nvidia.com/gpu": 2.5; it must be a whole'),
        ("gpu", [1j, 1, 1], r'row 0, column "nvidia.com/gpu": 1j'),
        ("pods", [1, 0, 1], r'row 1, column "pods": 0; it must be 1 or more'),
        ("pods", [1, 1.5, 1], r'row 1, column "pods": 1.5; it must be a whole number'),
        ("priority", ["high", 1, 1], r"row 0, column \"priority\": 'high'"),
    ],
)
def test_errors_name_row_and_column(column, values, told):
    with pytest.raises(InvalidSpecError, match=told):
        pandas(**{column: values})


def test_pandas_columns_with_pyarrow_types():
    pytest.importorskip("pyarrow")
    assert pandas(gpu=pd.array([1, 2, None], dtype="int64[pyarrow]"))[GPU].tolist() == [1, 2, 0]


def test_missing_values_are_reported():
    jobs = pandas(runtime=[10, np.nan, None], gpu=[1, np.nan, 1])
    assert jobs.exact()["runtime"].tolist() == [10 * SECOND, -1, -1]
    assert jobs.notes == (
        ("runtime is missing; treated as infinite", 2),
        ("nvidia.com/gpu is missing; treated as 0", 1),
    )


def test_unusual_pandas_frames():
    twice = pd.concat([pd.DataFrame(GIVEN), pd.DataFrame({"gpu": [1, 1, 1]})], axis=1)
    with pytest.raises(InvalidSpecError, match=r'column "gpu" is there twice'):
        kq.Jobs.from_frame(twice)
    with pytest.raises(InvalidSpecError, match=r'"queue", "submit", "runtime" are missing; there are none; map='):
        kq.Jobs.from_frame(pd.DataFrame())


def test_duplicate_names_are_reported_with_their_rows():
    with pytest.raises(DuplicateError, match=r'"default/x": two jobs have this name, rows 0 and 2'):
        kq.simulate(cluster(queue("a", 1), queue("b", 1)), pandas(name=["x", "y", "x"]))


def test_a_simulation_without_jobs_has_a_result():
    result = kq.simulate(cluster(queue("a", 1)), kq.Jobs.from_frame(pd.DataFrame(GIVEN).iloc[:0]))
    assert (len(result.jobs), result.seconds, result.kpis.jobs, result.kpis.wait_mean) == (0, 0, 0, 0)
    assert result.kpis.utilisation == {f"f/{GPU}": 0}
    assert "0 of 0 jobs finished" in repr(result)


def test_jobs_with_runtime_0_finish_immediately():
    jobs = kq.Jobs({"queue": ["a"] * 3, "submit": [5, 5, 5], "runtime": [0, 0, 1], "gpu": [1, 1, 1]})
    result = kq.simulate(cluster(queue("a", 1)), jobs)
    assert result.jobs["end"].tolist() == [0, 0, 1]
    assert result.kpis.finished == 3


def test_rows_instead_of_columns_are_rejected_with_the_function_for_rows():
    with pytest.raises(kq.errors.InvalidSpecError, match=r"Jobs: columns: is \[.*must be a mapping .*Jobs\.of"):
        kq.Jobs([{"queue": "a", "submit": 0, "runtime": 60}])


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({0: 1, 1: 2, 2: 3}, r'column "runtime": is \{0: 1.*\}; it must be a list, an array'),
        ({1, 2, 3}, r'column "runtime": is \{1, 2, 3\}; it must be a list'),
        ("123", r"column \"runtime\": is '123'; it must be a list"),
        (5, r'column "runtime": is 5; it must be a list'),
        (None, r'column "runtime": is None; it must be a list'),
        (np.ones((3, 2)), r'column "runtime": has 2 dimensions'),
        (np.arange(3).view("m8"), r'column "runtime": has times without a unit'),
        (np.array([1, 2, 3], "m8[Y]"), r'row 0, column "runtime": 1; is a duration in months or years; it must'),
        (np.array(["-9999"] * 3, "M8[Y]"), r'row 0, column "runtime": -9999; is a date; it must'),
    ],
)
def test_values_that_are_no_column_are_rejected(values, told):
    with pytest.raises(InvalidSpecError, match=told):
        kq.Jobs({**GIVEN, "runtime": values})


@pytest.mark.parametrize("kind", ["u1", "u8", "i1"])
def test_columns_of_any_integer_type_are_read(kind):
    jobs = kq.Jobs({**GIVEN, "runtime": np.array([1, 2, 3], kind), "priority": np.array([1, 2, 3], kind)})
    assert jobs["priority"].tolist() == jobs["runtime"].tolist() == [1, 2, 3]


def test_missing_dates_of_strings_are_read():
    jobs = kq.Jobs(
        {**GIVEN, "submit": ["2024-01-01T00:00:00"] * 3, "recorded_start": ["2024-01-01T00:01:00", None, ""]}
    )
    assert np.isnat(jobs["recorded_start"]).tolist() == [False, True, True]


def test_masked_values_are_missing():
    jobs = kq.Jobs(
        {
            **GIVEN,
            "gpu": np.ma.masked_array([1, 5, 2], [False, True, False]),
            "user": np.ma.masked_array(["u", "v", "w"], [False, True, False]),
            "seen": np.ma.masked_array(np.array([1, 2, 3], "M8[s]"), [False, True, False]),
        }
    )
    assert jobs[GPU].tolist() == [1, 0, 2]
    assert [jobs["user"][row] for row in range(3)] == ["u", None, "w"]
    assert np.isnat(jobs["seen"]).tolist() == [False, True, False]
    assert ("nvidia.com/gpu is missing; treated as 0", 1) in jobs.notes


def test_times_of_unusual_units_are_kept_in_every_table():
    jobs = kq.Jobs({**GIVEN, "day": np.array(["1990", "NaT", "2010"], "M8[Y]"), "week": np.array([1, 2, 3], "m8[W]")})
    frame = jobs.to_pandas()
    assert frame["day"].dt.year.tolist()[::2] == [1990, 2010]
    assert pd.isna(frame["day"][1])
    assert frame["week"].dt.days.tolist() == [7, 14, 21]


@pytest.mark.parametrize("name", [0, None, b"user", ("user", ""), "\ud800"])
def test_names_of_columns_are_strings(name):
    with pytest.raises(InvalidSpecError, match=r"is not the name of a column"):
        kq.Jobs({**GIVEN, name: [1, 2, 3]})


def test_columns_with_equal_texts_are_rejected():
    frame = pd.concat([pd.DataFrame(GIVEN), pd.DataFrame({0: [1, 2, 3], "0": [4, 5, 6]})], axis=1)
    for read in (kq.Jobs.from_frame, kq.Jobs.of):
        with pytest.raises(InvalidSpecError, match=r'column "0" is there twice'):
            read(frame)


def test_texts_and_columns_without_a_value():
    jobs = pandas(
        name=["x", "", None], submit=["2024-01-01"] * 3, size=[None] * 3, mixed=["a", 1, None], gpu=["1", "", "2"]
    )
    assert [jobs.name_of(row) for row in range(3)] == ["x", "j0000001", "j0000002"]
    assert jobs.exact()["submit"].tolist() == [DAY] * 3
    assert np.isnan(jobs["size"]).all()
    assert jobs["mixed"].tolist() == ["a", "1", None]
    assert jobs[GPU].tolist() == [1, 0, 2]


def test_columns_of_arrow_and_categories_are_text_if_a_value_is_text():
    pyarrow = pytest.importorskip("pyarrow")
    jobs = pandas(
        size=pd.Categorical([7, 8, 8], categories=[9, 8, 7]), unknown=pd.Categorical([None] * 3, categories=["u"])
    )
    assert jobs["size"].tolist() == [7, 8, 8]
    assert np.isnan(jobs["unknown"]).all()
    assert np.isnan(kq.Jobs({**GIVEN, "user": pyarrow.array([None, "", None], "string")})["user"]).all()


def test_a_queue_in_two_namespaces_has_one_name():
    jobs = kq.Jobs({**GIVEN, "queue": ["n/q", "q", "q"], "namespace": ["n", "n", None]})
    assert jobs["queue"].tolist() == ["n/q", "n/q", "default/q"]
    assert (jobs["queue"] == "n/q").tolist() == [True, True, False]
    assert kq.Jobs({**GIVEN, "namespace": [None, " ", None]})["queue"].tolist() == kq.Jobs(GIVEN)["queue"].tolist()
    with pytest.raises(InvalidSpecError, match='row 1, column "namespace": "n", but the queue is y/q'):
        kq.Jobs({**GIVEN, "queue": ["n/q", "y/q", "q"], "namespace": ["n", "n", None]})


def test_values_of_rows_that_are_left_out_are_not_read(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("queue,submit,runtime,cpu,size\na,0,1,1,5\na,,1,many,small\n")
    jobs = kq.Jobs.read(path)
    assert jobs.notes == (("without queue or submit; left out (first: jobs.csv:3)", 1),)
    assert (jobs["cpu"].tolist(), jobs["size"].tolist()) == ([1], [5])


def test_arrow_tables_need_neither_submission_nor_runtime():
    pyarrow = pytest.importorskip("pyarrow")
    jobs = kq.Jobs.of(pyarrow.table({"queue": ["a", "b"], "gpu": [1, 2]}))
    assert jobs["submit"].tolist() == [0, 0]
    assert jobs["runtime"].tolist() == [np.inf, np.inf]


def test_arrays_of_arrow_are_columns():
    pyarrow = pytest.importorskip("pyarrow")
    days = [dt.timedelta(1), None, dt.timedelta(2)]
    gpus = pyarrow.chunked_array([[1], [2, None]])
    given = {
        "queue": pyarrow.chunked_array([pyarrow.array(["a"]).dictionary_encode(), ["b", "a"]]),
        "submit": pyarrow.array([0, 60, 120], pyarrow.timestamp("s")),
        "runtime": pyarrow.array(days),
        "gpu": gpus,
        "user": pyarrow.array([b"u", None, b"w"]),
        "cpu": pyarrow.array([1, None, 2], pyarrow.int8()),
    }
    for jobs in (
        kq.Jobs(given),
        kq.Jobs.from_arrow(pyarrow.table(given)),
        kq.Jobs.from_frame(pyarrow.table(given)),
        kq.Jobs.from_frame(
            pd.DataFrame(
                {
                    name: pd.arrays.ArrowExtensionArray(
                        values if hasattr(values, "chunks") else pyarrow.chunked_array([values])
                    )
                    for name, values in given.items()
                }
            )
        ),
    ):
        exact = jobs.exact()
        assert [jobs["queue"][row] for row in range(3)] == ["default/a", "default/b", "default/a"]
        assert exact["runtime"].tolist() == [86400 * SECOND, -1, 2 * 86400 * SECOND]
        assert exact["submit"].tolist() == [0, 60 * SECOND, 120 * SECOND]
        assert exact["cpu"].tolist() == [1000, 0, 2000]
        assert jobs[GPU].tolist() == [1, 2, 0]
        assert [jobs["user"][row] for row in range(3)] == ["u", None, "w"]


def test_arrow_strings_are_valid(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    offsets = pyarrow.py_buffer(np.array([0, 1, 2, 3], np.int32).tobytes())
    damaged = pyarrow.Array.from_buffers(pyarrow.string(), 3, [None, offsets, pyarrow.py_buffer(b"a\xffb")])
    for column in (damaged, pyarrow.DictionaryArray.from_arrays([0, 1, 2], damaged)):
        with pytest.raises(InvalidSpecError, match=r'column "queue": Invalid UTF8'):
            kq.Jobs.from_arrow(pyarrow.table({**GIVEN, "queue": column}))
    written = tmp_path / "jobs.parquet"
    parquet.write_table(pyarrow.table({**GIVEN, "queue": [b"a", b"b", b"a"]}), written)
    written.rename(path := tmp_path / os.fsdecode(b"\xff.parquet"))
    jobs = kq.Jobs.read(path)
    assert [jobs["queue"][row] for row in range(3)] == ["default/a", "default/b", "default/a"]


@pytest.mark.parametrize("column", ["pods", "min_pods", "priority", "elastic"])
@pytest.mark.parametrize("unit", ["ns", "s"])
def test_durations_are_not_numbers(column, unit):
    spans = np.array([1, 2], f"m8[{unit}]")
    with pytest.raises(InvalidSpecError, match=f'row 0.*column "{column}"'):
        kq.Jobs({"queue": ["a", "b"], "submit": [0, 1], "runtime": [1, 1], "cpu": [1, 1], column: spans})


def test_numbers_that_a_float_merges_remain_text(tmp_path):
    path = tmp_path / "jobs.csv"
    ids = ["12345678901234567", "12345678901234568", ""]
    path.write_text("queue,submit,runtime,cpu,job_id\n" + "".join(f"a,0,1,1,{name}\n" for name in ids))
    jobs = kq.Jobs.read(path)
    assert len({str(value) for value in jobs["job_id"]}) == 3


def test_an_error_of_a_column_names_the_parquet_file(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "jobs.parquet"
    times = pyarrow.array([[2**62], [], []], pyarrow.list_(pyarrow.timestamp("ms")))
    parquet.write_table(pyarrow.table({**GIVEN, "seen": times}), path)
    with pytest.raises(InvalidSpecError, match=r'jobs\.parquet: .*column "seen": '):
        kq.Jobs.read(path)
    with pytest.raises(InvalidSpecError, match=r'^column "seen": '):
        kq.Jobs.from_arrow(pyarrow.table({**GIVEN, "seen": times}))


def test_a_masked_array_has_one_dimension():
    with pytest.raises(InvalidSpecError, match='column "team": has 2 dimensions; it must have one'):
        kq.Jobs({**GIVEN, "team": np.ma.array([[1, 2], [3, 4], [5, 6]])})


def test_the_codes_of_a_given_column_stay_writable():
    given = Categorical(np.array([0, 1, 0], np.int32), ["a", "b"])
    kq.Jobs({**GIVEN, "user": given})
    given.codes[0] = 1
    assert given.tolist() == ["b", "b", "a"]


def test_empty_names_of_coded_columns_are_missing():
    pyarrow = pytest.importorskip("pyarrow")
    twice = pyarrow.DictionaryArray.from_arrays([0, 1, 2], ["", "a", ""])
    for user in (twice, pd.Categorical(["", "a", ""])):
        found = kq.Jobs.from_frame(pd.DataFrame({**GIVEN, "user": user})) if user is not twice else None
        jobs = found or kq.Jobs.from_arrow(pyarrow.table({**GIVEN, "user": user}))
        assert [jobs["user"][row] for row in range(3)] == [None, "a", None]


def test_parts_of_a_byte_count_as_a_byte():
    assert kq.Jobs({**GIVEN, "memory": [1e-7, 1.0000001, 2.0]})["memory"].tolist() == [1, 2, 2]


def test_a_zone_behind_a_space_is_a_zone():
    jobs = pandas(submit=["2024-01-01 00:00:00 +00:00", "2024-01-01 00:01:00 Z", "2024-01-01T00:02:00Z"])
    assert jobs["submit"].tolist() == [DAY, DAY + 60 * SECOND, DAY + 120 * SECOND]
    assert not any("time zone" in note for note, _ in jobs.notes)


def test_dates_in_errors_are_dates():
    """A date was shown as the number of its nanoseconds, and a missing one as None."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"queue": "q", "submit": pandas.to_datetime(["2024-05-06", None]), "runtime": 1})
    with pytest.raises(InvalidSpecError, match=r'row 1, column "submit": NaT; it must be given'):
        kq.Jobs.from_frame(frame)
    with pytest.raises(
        InvalidSpecError, match=r'column "runtime": 2024-05-06T00:00:00.*; is a date; it must be a number'
    ):
        kq.Jobs.from_frame(frame.head(1), map={"runtime": "submit", "submit": "runtime"})
