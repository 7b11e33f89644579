"""DataFrames and LazyFrames of polars."""

import datetime as dt

import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError

from .conftest import GPU
from .test_frames import DAY, GIVEN, SECOND

pl = pytest.importorskip("polars")


def polars(**columns):
    return kq.Jobs.from_frame(pl.DataFrame({**GIVEN, **columns}, strict=False))


@pytest.mark.parametrize(
    ("column", "values", "found"),
    [
        ("gpu", [1, None, 2], [1, 0, 2]),
        ("gpu", pl.Series(["1", "2", "3"]).cast(pl.Decimal(10, 2)), [1, 2, 3]),
        ("runtime", [dt.timedelta(hours=1)] * 3, [3600 * SECOND] * 3),
        ("submit", pl.Series([dt.datetime(2024, 1, 1, 1)] * 3).dt.replace_time_zone("Europe/Berlin"), [DAY] * 3),  # noqa: DTZ001 - its zone follows
        ("submit", [dt.date(2024, 1, 1)] * 3, [DAY] * 3),
        ("elastic", [True, False, None], [True, False, False]),
        ("gpu", pl.Series([1, None, 2], dtype=pl.Int128), [1, 0, 2]),
    ],
)
def test_columns_of_polars(column, values, found):
    assert polars(**{column: values}).exact()[GPU if column == "gpu" else column].tolist() == found


def test_frames_of_polars_lazy_ones_and_arrow():
    coded = pl.DataFrame({**GIVEN, "queue": pl.Series(["a", "b", "a"], dtype=pl.Categorical)})
    expected = ["default/a", "default/b", "default/a"]
    for jobs in (kq.Jobs.from_frame(coded), kq.Jobs.from_frame(coded.lazy()), kq.Jobs.from_arrow(coded)):
        assert [jobs["queue"][row] for row in range(3)] == expected
    with pytest.raises(InvalidSpecError, match=r'row 1, column "queue": None; it must be given'):
        polars(queue=["a", None, "b"])


def test_jobs_of_a_lazy_frame_are_those_of_its_rows():
    frame = pl.DataFrame(GIVEN)
    assert kq.Jobs.of(frame.lazy()).rows() == kq.Jobs.of(frame).rows()
