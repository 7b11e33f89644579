"""Plain scalars have the meaning of YAML 1.1 in Go."""

import math

import pytest

from kueuepy.manifest.text.scalars import Scalar, key_text, resolve


@pytest.mark.parametrize("text", ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
def test_spellings_of_true(text: str):
    assert resolve(text) is True


@pytest.mark.parametrize("text", ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
def test_spellings_of_false(text: str):
    assert resolve(text) is False


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_spellings_of_null(text: str):
    assert resolve(text) is None


@pytest.mark.parametrize("text", ["yEs", "tRUE", "oN", "nULL", "yes.", "nope", "Infinity", "inf", "nan"])
def test_other_spellings_are_texts(text: str):
    assert resolve(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("+5", 5),
        ("017", 15),
        ("0o17", 15),
        ("-017", -15),
        ("08", 8),
        ("0x1F", 31),
        ("0b101", 5),
        ("-0b11", -3),
        ("1_000", 1000),
        ("9223372036854775808", 2**63),
        ("18446744073709551615", 2**64 - 1),
        ("+18446744073709551615", 18446744073709552000),
        ("-9223372036854775808", -(2**63)),
        ("-9223372036854775809", -9223372036854776000),
        ("123456789012345678901234567890", 123456789012345680000000000000),
        ("1e31", 10**31),
        ("1e3", 1000),
        ("5.", 5),
        ("3.0", 3),
    ],
)
def test_integers(text: str, value: int):
    assert resolve(text) == value
    assert isinstance(resolve(text), int)


@pytest.mark.parametrize(
    ("text", "value"), [("1.5", 1.5), (".5", 0.5), ("-2.5e-1", -0.25), ("1_0.5", 10.5), (".1_0e1_0", 10**9)]
)
def test_fractions(text: str, value: float):
    assert resolve(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "64Gi",
        "500m",
        "190:20:30",
        "2026-01-31",
        "2026-01-31T10:00:00Z",
        "1.2.3",
        "0x",
        "1e",
        "--1",
        "1e400",
        "inf",
        ".i",
        ".1_",
        "._1",
        ".1_e1",
        "-",
    ],
)
def test_texts_similar_to_numbers_are_texts(text: str):
    assert resolve(text) == text


@pytest.mark.parametrize("text", [".inf", "+.Inf", "-.INF", ".nan", ".NaN", ".NAN"])
def test_infinity_and_nan_are_numbers_and_not_keys(text: str):
    value = resolve(text)
    assert isinstance(value, float)
    assert not math.isfinite(value)
    assert key_text(text) is None


def test_many_digits_are_text():
    digits = "9" * 100_000
    assert resolve(digits) is digits


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("1", "1"),
        ("0x10", "16"),
        ("yes", "true"),
        ("off", "false"),
        ("cpu", "cpu"),
        ("~", None),
        ("1.5", None),
        ("1e3", None),
    ],
)
def test_keys_are_texts(text: str, key: Scalar):
    assert key_text(text) == key
