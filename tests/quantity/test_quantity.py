"""Quantities: parsing, formatting, and the integers used for scheduling."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kueuepy._core import Quantity
from kueuepy.errors import InvalidSpecError

VECTORS = Path(__file__).parents[1] / "vectors" / "quantities.jsonl.gz"
UNLIMITED = 2**63 - 1
LOWEST = -(2**63)


def vectors():
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("1.5", "1500m"),
        ("10000m", "10"),
        ("1230000", "1230k"),
        ("1000000", "1M"),
        ("1.5e3", "1500"),
        ("1e10", "10e9"),
        ("12E6", "12e6"),
        ("1E", "1E"),
        ("1.1Ki", "1126400m"),
        ("1024Ki", "1Mi"),
        ("1000Ki", "1000Ki"),
        ("1536Mi", "1536Mi"),
        ("0.0005Ki", "512m"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("1.0000000001", "1000000001n"),
        ("+5", "5"),
        ("007", "7"),
        ("1.", "1"),
        (".5", "500m"),
        (12, "12"),
        (-1024, "-1024"),
    ],
)
def test_canonical_text(text, canonical):
    assert str(Quantity(text)) == canonical


@pytest.mark.parametrize("text", [".", "+", "-", "Gi", "m", "e5", "-.k", "+0.00Ei"])
def test_texts_without_digits_are_zero(text):
    assert str(Quantity(text)) == "0"
    assert not Quantity(text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        ("1.5.2", "not a number with a suffix"),
        ("five", "not a number with a suffix"),
        ("1b", "not a number with a suffix"),
        (" 1", "not a number with a suffix"),
        ("1 ", "not a number with a suffix"),
        ("1e1.5", "not a number with a suffix"),
        ("5i", '"i" is not a suffix'),
        ("1K", '"K" is not a suffix'),
        ("1ki", '"ki" is not a suffix'),
        ("1M1", '"M1" is not a suffix'),
        ("1e", '"e" is not a suffix'),
        ("1e+", r'"e\+" is not a suffix'),
        ("1eK", '"eK" is not a suffix'),
        ("1Ei1", '"Ei1" is not a suffix'),
        ("--1", '"-1" is not a suffix'),
        ("Pi", "has no digits"),
        ("+.Ei", "has no digits"),
        ("e-10", "has no digits"),
    ],
)
def test_rejected_texts(text, what):
    with pytest.raises(InvalidSpecError, match=what):
        Quantity(text)


@pytest.mark.parametrize(
    ("within", "beyond", "what"),
    [
        ("9" * 40, "9" * 41, "40 digits"),
        ("0" * 20 + "." + "1" * 40, "0" * 20 + "." + "1" * 41, "40 digits"),
        ("1e1000", "1e1001", "between -1000 and 1000"),
        ("1E-1000", "1E-1001", "between -1000 and 1000"),
        ("1e1000", "1e30000", "between -1000 and 1000"),
        ("1e1000", "1e" + "9" * 60, "between -1000 and 1000"),
        ("0" * 63 + "1", "0" * 64 + "1", "64 bytes"),
        ("0" * 64, "0" * 64_000, "64 bytes"),
        (10**39, 10**40, "40 digits"),
    ],
)
def test_limits_on_texts(within, beyond, what):
    Quantity(within)
    with pytest.raises(InvalidSpecError, match=what) as refusal:
        Quantity(beyond)
    assert len(str(refusal.value)) < 200


def test_only_texts_and_integers_are_quantities():
    for value, kind in ((1.5, "float"), (None, "NoneType"), (b"1", "bytes")):
        with pytest.raises(InvalidSpecError, match=f"is of type {kind}"):
            Quantity(value)
    with pytest.raises(InvalidSpecError, match="True"):
        Quantity(True)  # noqa: FBT003


@pytest.mark.parametrize(
    ("text", "cpu", "units"),
    [
        ("100m", 100, 1),
        ("0.1m", 1, 1),
        ("2500u", 3, 1),
        ("1.5", 1500, 2),
        ("1.1Ki", 1126400, 1127),
        ("1Ki", 1024000, 1024),
        ("36Gi", 38654705664000, 38654705664),
        ("0", 0, 0),
        ("9223372036854775807", UNLIMITED, UNLIMITED),
        ("9223372036854775.807", UNLIMITED, 9223372036854776),
        ("9223372036854775.8061", UNLIMITED, 9223372036854776),
        ("9223372036854775.806", UNLIMITED - 1, 9223372036854776),
        ("1e30", UNLIMITED, UNLIMITED),
        ("-1e30", LOWEST, LOWEST),
        ("-1.5", -1500, -2),
    ],
)
def test_requests_round_up_and_clamp(text, cpu, units):
    quantity = Quantity(text)
    assert (quantity.as_cpu, quantity.as_units) == (cpu, units)
    assert (quantity.request("cpu"), quantity.request("memory")) == (cpu, units)


@pytest.mark.parametrize(
    ("text", "resource", "amount"),
    [
        ("9223372036854774", "cpu", 9223372036854774000),
        ("9223372036854774.9999", "cpu", 9223372036854775000),
        ("9223372036854775", "cpu", UNLIMITED),
        ("1P", "cpu", 10**18),
        ("10P", "cpu", UNLIMITED),
        ("1E", "cpu", UNLIMITED),
        ("1E", "memory", 10**18),
        ("9223372036854775806", "memory", UNLIMITED - 1),
        ("8Ei", "memory", UNLIMITED),
        ("10E", "memory", UNLIMITED),
        ("1E", "cpu-like", 10**18),
    ],
)
def test_large_quotas_are_unlimited(text, resource, amount):
    assert Quantity(text).quota(resource) == amount


@pytest.mark.parametrize(
    ("resource", "value", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 12000, "12"),
        ("cpu", 1000000, "1k"),
        ("cpu", 1500000, "1500"),
        ("cpu", LOWEST, "-9223372036854775808m"),
        ("memory", 1024, "1Ki"),
        ("memory", 1025, "1025"),
        ("memory", 1536, "1536"),
        ("memory", 1000, "1k"),
        ("memory", 1000000, "1M"),
        ("memory", 1024000, "1000Ki"),
        ("memory", 1610612736, "1536Mi"),
        ("memory", -1024, "-1Ki"),
        ("memory", 0, "0"),
        ("memory", LOWEST, "-9223372036854775807"),
        ("ephemeral-storage", 2048, "2Ki"),
        ("hugepages-2Mi", 2097152, "2Mi"),
        ("nvidia.com/gpu", 4, "4"),
        ("nvidia.com/gpu", 1024, "1024"),
        ("pods", 2000, "2k"),
        ("pods", 1500, "1500"),
        ("pods", 2500000, "2500k"),
    ],
)
def test_text_of_integers(resource, value, text):
    assert Quantity.format(resource, value) == text


def test_arithmetic_is_exact():
    assert Quantity("0.1") + Quantity("0.2") == Quantity("300m")
    assert Quantity("1") - Quantity("1n") == Quantity("999999999n")
    assert str(Quantity("1n") * Quantity("1n")) == "1e-18"
    assert (Quantity("1n") * Quantity("1n")).as_units == 1
    assert str(-Quantity("1Gi")) == "-1Gi"
    assert Quantity("1") - Quantity("1") == Quantity("0")


def test_a_zero_adopts_the_format():
    assert str(Quantity("0") + Quantity("1Gi")) == "1Gi"
    assert str(Quantity("1024") + Quantity("1Ki")) == "2048"
    assert str(Quantity("0Ki") - Quantity("2000")) == "-2k"


def test_comparisons_ignore_the_format():
    same = [Quantity(text) for text in ("1Ki", "1024", "1.024k", "1024e0", "1024000m")]
    assert len(set(same)) == 1
    assert Quantity("1k") < Quantity("1Ki") <= Quantity(1024)
    assert Quantity("-1k") > Quantity("-1Ki")


def test_products_are_bounded():
    huge = Quantity("9" * 40)
    for _ in range(7):
        huge = huge * huge
    with pytest.raises(InvalidSpecError, match="more than 9216 digits"):
        huge * huge


def test_doubles_of_weights():
    assert float(Quantity("0.1")) == 0.1
    assert float(Quantity("500m")) == 0.5
    assert float(Quantity("1e30")) == 1e30
    assert float(Quantity("-2.5")) == -2.5
    assert float(Quantity("0")) == 0.0


@pytest.mark.parametrize(
    ("text", "double", "nearest"),
    [
        ("671317536.202475369", "0x1.401bf1019eab6p+29", "0x1.401bf1019eab7p+29"),
        ("31007321949.4260540", "0x1.ce0b8bd75b448p+34", "0x1.ce0b8bd75b447p+34"),
        ("10960748526.4275980", "0x1.46a7dff736bb8p+33", "0x1.46a7dff736bb9p+33"),
    ],
)
def test_a_double_is_rounded_to_64_bits_first(text, double, nearest):
    assert float(Quantity(text)).hex() == double
    assert float(text).hex() == nearest


class TestVectors:
    """Compare every recorded result; known differences are listed."""

    @pytest.mark.parametrize(("field", "resource"), [("fc", "cpu"), ("fm", "memory"), ("fg", "nvidia.com/gpu")])
    def test_texts_of_integers(self, field, resource):
        differing = [v for v in vectors() if Quantity.format(resource, v["v"]) != v[field]]
        assert not differing

    def test_errors(self):
        for vector in vectors():
            if "err" in vector:
                with pytest.raises(InvalidSpecError):
                    Quantity(vector["in"])
            else:
                Quantity(vector["in"])

    def test_texts_formats_and_doubles(self):
        # The reference loses the power of a decimal text that is a multiple of 10^21.
        lost_power = {"0956000E": "956000E", "8000E": "8000E"}
        for vector in vectors():
            if "err" in vector:
                continue
            quantity = Quantity(vector["in"])
            expected = lost_power.get(vector["in"])
            assert str(quantity) == (expected or vector["canon"])
            assert Quantity.printed(vector["in"]) == (expected or vector["str"])
            assert quantity.format_name == vector["fmt"]
            assert float(quantity) == float(vector["f"])

    def test_integers(self):
        """Negative fractions and sums beyond int64 have no meaning in the reference; they are floored to 0 later."""
        compared = 0
        for vector in vectors():
            if "err" in vector or Quantity(vector["in"]) < Quantity(0):
                continue
            quantity = Quantity(vector["in"])
            amounts = [
                UNLIMITED if vector[field] == "<unlimited>" else int(vector[field]) for field in ("cpuA", "memA")
            ]
            assert [quantity.quota("cpu"), quantity.quota("memory")] == amounts
            assert [quantity.as_cpu, quantity.as_units] == [vector["cpuR"], vector["memR"]]
            compared += 1
        assert compared > 3000
