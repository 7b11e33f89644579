"""Readers of jobs and parsers of times accept any text or raise a KueueError."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.lab.exploration.measure import measure, number, promises
from kueuepy.objects.times import parse_span
from kueuepy.simulation.generate import rate_of
from kueuepy.simulation.model import clock_time, time_after
from kueuepy.tables.kinds import parse_timestamp, span

SWF = "; UnixStartTime: 0\n1 0 3 100 4 -1 -1 4 100 -1 1 7 1 1 0 -1 -1 -1\n2 9 3 50 1 -1 -1 4 60 -1 1 7 1 1 0 -1 -1 -1\n"
CSV = "queue,submit,runtime,gpu,priority,recorded_start,user\na,0,1h,1,5,0,x\nb,2017-10-09 07:01:55,90,2,,1,y\n"
PHILLY = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
PHILLY_JSON = json.dumps(
    [
        {
            "status": "Pass",
            "vc": "a",
            "jobid": "application_1",
            "user": "u",
            "submitted_time": "2017-10-09 07:02:35",
            "attempts": [
                {
                    "start_time": "2017-10-09 07:02:40",
                    "end_time": "2017-10-09 08:02:40",
                    "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}],
                }
            ],
        }
    ]
)
JSONL = (
    '{"queue": "a", "submit": 0, "runtime": "1h", "gpu": 1}\n'
    '{"queue": "b", "submit": "2017-10-09T07:01:55Z", "runtime": 5}\n'
)
LOGS = {
    "csv": CSV,
    "jsonl": JSONL,
    "swf": SWF,
    "philly": PHILLY,
    "philly-json": PHILLY_JSON,
}
HOSTILE = [
    *("1e308d", "infd", "nanw", "9" * 5000, "-1", "1e400", "nan", "inf", "-inf", "2017-10", "2600-01-01", "0000-00-00"),
    *(
        "9223372036854775808",
        "-9223372036854775808",
        "1_000",
        "²",
        "٣",
        "\0",
        "true",
        "null",
        "{}",
        "[]",
        '"',
        "1-99:99:99",
    ),
    *(
        "1:00",
        "24:00:00",
        "2017-10-09T07:01:55+99:99",
        "1e308",
        "0x10",
        "1h1h1h",
        "w",
        "d",
        " ",
        "",
        "\u0661:\u0660\u0660:\u0660\u0660",
        "[" * 3000,
    ),
    *("2262-04-11T23:47:17Z", "9999-12-31", "1e18", "4611686018427387904", "\ud7ff", "NaT", "None", "NA"),
]
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=12))


@st.composite
def damaged(draw, text):
    """A file with some changed cells or bytes."""
    data = text.encode()
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 12)))
        piece = draw(st.one_of(TEXTS.map(lambda found: found.encode("utf-8", "replace")), st.binary(max_size=6)))
        data = data[:start] + piece + data[end:]
    return data


def answered(call):
    """Return the result of a call or its KueueError; other exceptions are faults."""
    try:
        return call()
    except kq.KueueError as error:
        return error


@pytest.mark.parametrize("log", LOGS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_damaged_file_is_read_or_rejected(log, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log"
    path.write_bytes(data.draw(damaged(LOGS[log])))
    found = answered(lambda: kq.Jobs.read(path, log))
    if isinstance(found, kq.Jobs):
        assert (found.exact()["submit"] >= 0).all()
        assert (found.exact()["runtime"] >= -1).all()


@pytest.mark.parametrize("log", LOGS)
def test_every_valid_file_is_read(log, tmp_path):
    path = tmp_path / "log"
    path.write_text(LOGS[log])
    assert len(kq.Jobs.read(path, log)) in (1, 2)


@pytest.mark.parametrize("log", ["jsonl", "philly-json", "csv", "swf"])
def test_a_file_that_is_not_utf_8_is_rejected_by_name(log, tmp_path):
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(LOGS[log].replace("a", "\xff").encode("latin-1") + b"\xff"))
    with pytest.raises(kq.errors.InvalidSpecError, match="UTF-8"):
        kq.Jobs.read(path, log)


def test_an_incomplete_date_is_rejected_with_its_row(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(PHILLY_JSON.replace("2017-10-09 07:02:40", "2017-10-0"))
    with pytest.raises(
        kq.errors.InvalidSpecError, match=r"jobs row 0 \(log.json\): '2017-10-0'; it must be a date and time"
    ):
        kq.Jobs.read(path, "philly-json")


DAY = 86400 * 10**9
CELLS = st.one_of(
    TEXTS,
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.none(),
    st.booleans(),
    st.binary(max_size=3),
    st.datetimes(),
    st.timedeltas(),
    st.decimals(),
    st.dates(),
    st.lists(st.integers(), max_size=2),
    st.sampled_from(
        [np.datetime64("NaT", "s"), np.timedelta64(5, "Y"), np.datetime64("2600"), np.float32("inf"), np.str_("1h")]
    ),
    st.sampled_from([10**5000, -(10**5000), object(), {}, 1j]),
)
NAMES = (
    "submit",
    "runtime",
    "queue",
    "name",
    "cpu",
    "memory",
    "a/b",
    "pods",
    "min_pods",
    "priority",
    "elastic",
    "flavor",
)


@given(
    columns=st.dictionaries(
        st.sampled_from([*NAMES, "flavor", "limit", "every", "namespace", "recorded_start", "template", "user"]),
        st.lists(CELLS, min_size=2, max_size=2),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=400, deadline=None)
def test_every_table_cell_is_read_or_rejected(columns):
    found = answered(lambda: kq.Jobs({"queue": ["a", "b"], "submit": [0, 1], "runtime": [1, 2], **columns}))
    if isinstance(found, kq.Jobs):
        assert (found.exact()["submit"] >= 0).all()
        assert (found.exact()["runtime"] >= -1).all()
        assert answered(found.clean) is not None
        assert repr(found)


@given(text=st.one_of(CELLS, st.tuples(TEXTS, TEXTS).map("".join)))
@settings(max_examples=500, deadline=None)
def test_every_time_is_parsed_or_rejected(text):
    for parse in (parse_span, parse_timestamp):
        assert parse(text) is None or isinstance(parse(text), int)
    for named in (span, time_after, number):
        if named is not number or isinstance(text, str):
            answered(lambda named=named: named(*((text, "where") if named is number else ("where", text))))
    if isinstance(text, str):
        answered(lambda: clock_time("where", text))
        answered(lambda: rate_of(text))
        answered(lambda: measure(text))
        answered(lambda: promises(text))
        answered(lambda: kq.sim.Exponential(text).seconds(np.zeros(1)))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("01:00:00", 3600),
        ("1-00:00:00", 86400),
        ("1-02", 93600),
        ("1-02:30", 95400),
        ("00:00:01.5", 1.5),
        ("1 days 02:00:00", 93600),
        ("120:00:00", 432000),
    ],
)
def test_durations_of_slurm_and_pandas(text, seconds):
    assert kq.Jobs({"queue": ["a"], "submit": [0], "runtime": [text]}).exact()["runtime"].tolist() == [seconds * 10**9]
    assert span("until", text) == seconds * 10**9
    assert parse_span("01:60:00") is None


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        *[("1970-01-02", DAY), ("1970-01-02 00", DAY), ("1970-01-01T24:00", None), ("1970-W01-5", None)],
        *[("1970-01-01 01:00:00+01", 0), ("1970-01-01T01:00+0100", 0), ("1970-01-01_01:00", None)],
        *[("1970-01-01 00:00:00.5", 5 * 10**8), ("1970-01-01T00:00:00,000000001", 1), ("1970-01-01+01:00", None)],
    ],
)
def test_each_version_of_python_reads_the_same_dates(text, nanoseconds):
    assert parse_timestamp(text) == nanoseconds


BEYOND = [
    ("cpu", [1, 2**61], "less than 9223372036854775"),
    ("cpu", np.array([1, 2**63], np.uint64), "less than 9223372036854775"),
    ("memory", np.array([1, 2**63], np.uint64), "less than 9223372036854775807"),
    ("cpu", [1.0, 1e300], "less than 9223372036854775"),
    ("runtime", [1, -(2**63)], "0 or more"),
    ("submit", np.array([1, -(2**63)]), "0 or more"),
    ("submit", np.array([1, 2**63], np.uint64), "2262-04-11T23:47:16Z"),
    ("submit", ["2024-01-01", "2600-01-01"], "2262-04-11T23:47:16Z"),
    ("submit", ["2024-01-01 00:00:00", "2600-01-01 00:00:00"], "2262-04-11T23:47:16Z"),
    ("submit", np.array(["2024-01-01", "2600-01-01"], "M8[s]"), "2262-04-11T23:47:16Z"),
    ("submit", np.array(["2024", "2600"], "M8[Y]"), "2262-04-11T23:47:16Z"),
    ("runtime", np.array([1, 10**6], "m8[D]"), "9223372037 s"),
    ("runtime", ["1h", "9000000h"], "9223372037 s"),
    ("limit", ["1h", "110000d"], "9223372037 s"),
    ("recorded_start", ["2024-01-01", "early"], "such as 2024-05-01"),
]


@pytest.mark.parametrize(("name", "values", "allowed"), BEYOND)
def test_values_beyond_64_bits_are_rejected_with_row_column_and_bound(name, values, allowed):
    with pytest.raises(kq.errors.InvalidSpecError) as error:
        kq.Jobs({"queue": ["a", "a"], "submit": [0, 0], "runtime": [1, 1], name: values})
    assert str(error.value).startswith(f'jobs row 1, column "{name}": ')
    assert allowed in str(error.value)


def test_values_beyond_64_bits_in_frames_and_parquet_are_rejected(tmp_path):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = pandas.DataFrame(
        {"queue": ["a"], "submit": pandas.to_datetime(["2600-01-01"]).as_unit("s"), "runtime": [1]}
    )
    with pytest.raises(kq.errors.InvalidSpecError, match="2262-04-11"):
        kq.Jobs.from_frame(frame)
    with pytest.raises(kq.errors.InvalidSpecError, match="2262-04-11"):
        kq.Jobs({"queue": ["a"], "submit": [pandas.Timestamp("2600-01-01")], "runtime": [1]})
    for name, values in {
        "submit": pyarrow.array([230_000], pyarrow.date32()),
        "cpu": pyarrow.array([2**63], pyarrow.uint64()),
        "runtime": pyarrow.array([10**15], pyarrow.duration("s")),
    }.items():
        table = {"queue": pyarrow.array(["a"]), "submit": pyarrow.array([0]), "runtime": pyarrow.array([1])}
        parquet.write_table(pyarrow.table({**table, name: values}), tmp_path / "jobs.parquet")
        with pytest.raises(kq.errors.InvalidSpecError, match=f'column "{name}"'):
            kq.Jobs.read(tmp_path / "jobs.parquet")
    (tmp_path / "jobs.parquet").write_bytes(b"PAR1" + b"\xff" * 40 + b"PAR1")
    with pytest.raises(kq.errors.InvalidSpecError, match="not a Parquet file"):
        kq.Jobs.read(tmp_path / "jobs.parquet")


def test_scaling_beyond_64_bits_is_rejected():
    jobs = kq.Jobs({"queue": ["a", "a"], "submit": [0, 100_000], "runtime": [100, 200]})
    with pytest.raises(
        kq.errors.InvalidSpecError, match=r'scale_runtime: 1000000000\.0: jobs row 0, column "runtime": 100 s'
    ):
        jobs.scale_runtime(1e9)
    with pytest.raises(kq.errors.InvalidSpecError, match='scale_load: 1e-05: jobs row 1, column "submit": 100000 s'):
        jobs.scale_load(1e-5)
    with pytest.raises(kq.errors.InvalidSpecError, match=r"Jobs\.moved_to: row 1.*; it must be at most 9223372037 s"):
        jobs.moved_to(np.array([0, 2**63 - 1]))
    with pytest.raises(kq.errors.InvalidSpecError, match=r"row 1 .* the job must end by 2262"):
        jobs.moved_to(np.array([0, 9_223_372_036]))
    with pytest.raises(kq.errors.InvalidSpecError, match=r"2147483647 pods ask for .*; it must be .* or less"):
        kq.Jobs({"queue": ["a"], "submit": [0], "runtime": [1], "pods": [2**31 - 1], "memory": [2**40]})
