"""Large CSV files are read by Arrow, with the same values and errors as small ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.simulation import read as reader
from kueuepy.simulation.read import csv_columns
from kueuepy.simulation.values import Column
from kueuepy.tables import Categorical
from kueuepy.tables.kinds import SPAN, SPAN_OR_NEVER, TIME, TIME_OR_UNKNOWN, amount, parse_timestamp, timestamps, whole

pyarrow = pytest.importorskip("pyarrow")

LIKE_NUMBERS = """ 5| 7 |+5|\N{FULLWIDTH DIGIT FIVE}|-0|007|1_0|1e5|.5|1.|.|0x1f|0X1F|nan|NaN|nan(a)|inf|-inf|1e400|-1
|Infinity|5.25|3|12|1h|2m|01:30:00|1-02:30:00|4Gi|500m|2024-05-01T12:00:00Z|2024-05-01 12:00:00|2024-05-01T12:00:00
|9223372036854775807|9223372036854775808|1e30|a|b| a|a |é|x""".replace("\n", "").split("|")
NUMBERS = ["1", "2", "30", "0.5", "1e3", "7.125", ""]
COLUMNS = st.one_of(
    st.lists(st.sampled_from([*LIKE_NUMBERS, ""]), min_size=1, max_size=6),
    st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=9),
    st.lists(st.integers(-3, 2**64).map(str), min_size=1, max_size=4),
    st.lists(st.floats(allow_nan=False).map(repr), min_size=1, max_size=4),
)
READERS = {
    "spans": lambda column: column.integers(SPAN),
    "spans without an end": lambda column: column.integers(SPAN_OR_NEVER),
    "times": lambda column: (column.integers(TIME), column.notes),
    "unknown times": lambda column: column.integers(TIME_OR_UNKNOWN),
    "whole": lambda column: column.integers(whole(0, missing=1)),
    "numbers": lambda column: column.plain_numbers(),
    "cpu": lambda column: column.integers(amount("cpu")),
    "memory": lambda column: column.integers(amount("memory")),
    "gpu": lambda column: column.integers(amount("nvidia.com/gpu")),
    "names": lambda column: column.names(),
    "kept": lambda column: column.kept(),
    "typed": lambda column: Column("c", column.typed(), str).kept(),
    "missing": lambda column: column.missing(),
}


def texts_of(values: list[str]) -> np.ndarray:
    found = np.empty(len(values), object)
    found[:] = values
    return found


def outcome(read, values):
    """What a reader returns for a column, or its error."""
    try:
        found = read(Column("c", values, lambda row: f"jobs row {row}"))
    except kq.errors.InvalidSpecError as error:
        return str(error)
    return [plain(one) for one in (found if isinstance(found, tuple) else (found,))]


def plain(value):
    if isinstance(value, Categorical):
        return value.codes.tolist(), list(value.names)
    return (value.dtype, [str(one) for one in value.tolist()]) if isinstance(value, np.ndarray) else value


@settings(max_examples=400, deadline=None)
@given(COLUMNS)
def test_texts_of_arrow_are_read_as_those_of_python(values):
    for name, read in READERS.items():
        assert outcome(read, pyarrow.array([value or None for value in values], pyarrow.string())) == outcome(
            read, texts_of(values)
        ), name


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet='ab1,,\n\n\r "é\0', max_size=40))
def test_a_large_text_has_the_columns_and_errors_of_a_small_one(text):
    def columns(least: int):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader, "_LARGE", least)
            try:
                found = csv_columns(text, "jobs.csv")
            except kq.errors.InvalidSpecError as error:
                return str(error)
        return {name: ["" if value is None else value for value in own.tolist()] for name, own in found.items()}

    assert columns(0) == columns(1 << 20)


HEADER, ROWS = "queue,submit,runtime,cpu,user", 60_000


def large(*changes: tuple[int, str], end: str = "\n") -> str:
    """A file of more than a megabyte; some of its lines are replaced."""
    lines = [HEADER, *(f"q{n % 7},{n}.5,{60 + n % 9},{n % 3 + 1},user-{n % 50:04}" for n in range(ROWS))]
    for number, line in changes:
        lines[number - 1] = line
    return end.join([*lines, ""])


@pytest.fixture
def arrow_reads(monkeypatch):
    """The number of files that Arrow has read."""
    found = []
    read = reader._by_arrow
    monkeypatch.setattr(reader, "_by_arrow", lambda text: found.append(read(text)) or found[-1])
    return found


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_large_file(tmp_path, arrow_reads, monkeypatch, end):
    path = tmp_path / "jobs.csv"
    path.write_bytes(("\ufeff" + large((5, ""), end=end)).encode())
    fast = kq.Jobs.read(path)
    assert arrow_reads[0] is not None
    monkeypatch.setattr(reader, "_by_arrow", lambda _: None)
    slow = kq.Jobs.read(path)
    assert len(fast) == ROWS - 1
    for name in slow.names:
        assert plain(fast.exact()[name]) == plain(slow.exact()[name]), name
    assert fast["user"][1] == "user-0001"


def test_a_large_file_with_quoted_cells_is_read_by_arrow(tmp_path, arrow_reads):
    path = tmp_path / "jobs.csv"
    path.write_text(large((1, '"queue","submit",runtime,cpu,user'), (3, '"q1","0",60,1,"a ""b"", c\nd"')))
    assert kq.Jobs.read(path)["user"][0] == 'a "b", c\nd'
    assert arrow_reads[0] is not None


@pytest.mark.parametrize("zone", ["", "Z", "+01:00"])
@pytest.mark.parametrize("separator", [" ", "T"])
def test_many_dates_are_converted_as_single_ones(zone, separator):
    values = [f"2024-0{1 + n}-0{9 - n}{separator}1{n}:0{n}:5{n}{part}{zone}" for n in range(9) for part in ("", ".250")]
    found = timestamps(values)
    assert found is not None
    assert found.astype("M8[ns]").view("i8").tolist() == [parse_timestamp(value) for value in values]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+5", 5),
        ("007", 7),
        ("\uff15", None),
        (" 5 ", 5),
        ("1e3", 1000),
        ("0x1f", None),
        ("nan(a)", None),
        ("1_0", None),
    ],
)
def test_numbers_as_texts_have_plain_digits(text, number):
    for values in (pyarrow.array([text]), [text]):
        found = Column("x", values, str).numbers
        assert (None if found is None else found.tolist()) == (None if number is None else [number])


def test_a_large_file_without_pyarrow(tmp_path, monkeypatch):
    path = tmp_path / "jobs.csv"
    path.write_text(large())

    def none(name):
        raise ImportError(name)

    monkeypatch.setattr(reader, "import_module", none)
    assert len(kq.Jobs.read(path)) == ROWS


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("q1,5,60,1", "jobs.csv:30000: has 4 cells; the first line names 5"),
        ("q1,5,60,1,u,v", "jobs.csv:30000: has 6 cells; the first line names 5"),
        (
            "q1,soon,60,1,u",
            "jobs row 29998 (jobs.csv:30000), column \"submit\": 'soon'; it must be a number of seconds",
        ),
        ("q1,5,-60,1,u", "jobs row 29998 (jobs.csv:30000), column \"runtime\": '-60'; it must be a number of seconds"),
        ("q1,5,60,1e,u", "jobs row 29998 (jobs.csv:30000), column \"cpu\": '1e'; it must be a quantity of cpu"),
        ('q1,5,60,1,"u', "jobs.csv: field larger than field limit (131072)"),
    ],
)
def test_errors_in_a_large_file_name_row_column_and_value(tmp_path, line, told):
    path = tmp_path / "jobs.csv"
    path.write_text(large((30_000, line)))
    with pytest.raises(kq.errors.InvalidSpecError) as raised:
        kq.Jobs.read(path)
    assert told in str(raised.value)


def test_rows_without_a_value_are_left_out_of_a_large_file(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(large((9, ",1,60,1,u"), (10, "q,1,,1,u"), (11, "q,1,60,,u")))
    jobs = kq.Jobs.read(path)
    assert len(jobs) == ROWS - 1
    assert dict(jobs.notes) == {
        "without queue or submit; left out (first: jobs.csv:9)": 1,
        "runtime is missing; treated as infinite": 1,
        "cpu is missing; treated as 0": 1,
    }
    assert int(np.isinf(jobs["runtime"]).sum()) == 1
