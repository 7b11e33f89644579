"""Times and durations are integers in nanoseconds."""

import pytest

from kueuepy.objects.times import SECOND, format_duration, format_time, parse_duration, parse_time


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2000-01-01T00:00:00Z", 946684800 * SECOND),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T01:30:00+01:30", 0),
        ("1970-01-01T23:59:00+23:59", 0),
        ("1969-12-31T23:59:59Z", -SECOND),
    ],
)
def test_times(text: str, nanoseconds: int):
    assert parse_time(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        *["", "2000-01-01", "2000-13-01T00:00:00Z", "2000-01-01T00:00:00", "now", "٢٠٠٠-01-01T00:00:00Z"],
        *["2000-01-01T00:00:00+99:99", "2000-01-01T00:00:00+24:00", "2000-01-01T00:00:00-01:60"],
        *["2000-01-01T24:00:00Z", "2000-01-01T24:00:00+00:00"],
    ],
)
def test_no_times(text: str):
    assert parse_time(text) is None


@pytest.mark.parametrize("nanoseconds", [0, 1, 15 * 10**8, 946684800 * SECOND, -1, -62135596800 * SECOND])
def test_times_survive_writing_and_reading(nanoseconds: int):
    assert parse_time(format_time(nanoseconds)) == nanoseconds


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("5m", 300 * SECOND),
        ("1h30m", 5400 * SECOND),
        ("2.5s", 2_500_000_000),
        ("100ms", 10**8),
        ("1us", 1000),
        ("1µs", 1000),
        ("0", 0),
        ("-1s", -SECOND),
        (".5h", 1800 * SECOND),
    ],
)
def test_durations(text: str, nanoseconds: int):
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "5d", "1h-3m", "5m" * 100])
def test_no_durations(text: str):
    assert parse_duration(text) is None


@pytest.mark.parametrize("nanoseconds", [0, 1, SECOND, 5400 * SECOND, -90 * SECOND, 123_456_789_012])
def test_durations_survive_writing_and_reading(nanoseconds: int):
    assert parse_duration(format_duration(nanoseconds)) == nanoseconds
