"""Properties of quantities, compared with Python's exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kueuepy._core import Quantity
from kueuepy.errors import InvalidSpecError

pytestmark = pytest.mark.sanitizer

HIGHEST, LOWEST = 2**63 - 1, -(2**63)
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

digits = st.integers(0, 10**20 - 1).map(str)


@st.composite
def texts(draw):
    """A text and the number that it writes, before rounding."""
    sign = draw(st.sampled_from(["", "+", "-"]))
    integer, fraction = draw(digits), draw(st.one_of(st.none(), st.just(""), digits))
    number = integer if fraction is None else f"{integer}.{fraction}"
    exponents = st.integers(-30, 30).map(lambda power: f"e{power}")
    suffix = draw(st.one_of(st.sampled_from([*DECIMAL, *BINARY]), exponents))
    value = Fraction(number if fraction != "" else integer)
    if suffix in BINARY:
        value *= 2 ** BINARY[suffix]
    else:
        value *= Fraction(10) ** (DECIMAL[suffix] if suffix in DECIMAL else int(suffix[1:]))
    return f"{sign}{number}{suffix}", -value if sign == "-" else value


def away_from_zero(value: Fraction) -> int:
    return math.ceil(value) if value >= 0 else math.floor(value)


def nano(text: str, value: Fraction) -> Fraction:
    rounded = Fraction(away_from_zero(value * 10**9), 10**9)
    return max(-HIGHEST, min(HIGHEST, rounded)) if text.endswith("i") else rounded


def clamp(value: int) -> int:
    return max(LOWEST, min(HIGHEST, value))


quantities = texts().map(lambda pair: Quantity(pair[0]))


@given(texts())
def test_a_text_means_its_number(pair):
    text, value = pair
    quantity = Quantity(text)
    assert quantity.as_cpu == clamp(away_from_zero(nano(text, value) * 1000))
    assert quantity.as_units == clamp(away_from_zero(nano(text, value)))


@given(quantities)
def test_canonical_text_reads_back(quantity):
    text = str(quantity)
    assert Quantity(text) == quantity
    assert str(Quantity(text)) == text


@given(texts())
def test_printed_text_reads_back(pair):
    printed = Quantity.printed(pair[0])
    assert Quantity(printed) == Quantity(pair[0])
    assert Quantity.printed(printed) == printed


@given(texts(), texts())
def test_order_is_that_of_the_numbers(left, right):
    a, b = Quantity(left[0]), Quantity(right[0])
    x, y = nano(*left), nano(*right)
    assert (a < b, a <= b, a == b, a >= b, a > b) == (x < y, x <= y, x == y, x >= y, x > y)
    assert a != b or hash(a) == hash(b)


@given(texts(), texts(), texts())
def test_arithmetic_is_that_of_the_numbers(left, right, third):
    a, b, c = Quantity(left[0]), Quantity(right[0]), Quantity(third[0])
    x, y, z = nano(*left), nano(*right), nano(*third)
    assert (a + b).as_units == clamp(away_from_zero(x + y))
    assert (a - b).as_units == clamp(away_from_zero(x - y))
    assert (a * b * c).as_cpu == clamp(away_from_zero(x * y * z * 1000))


@given(quantities, quantities, quantities)
def test_ring_axioms(a, b, c):
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - b == -(b - a)
    assert (a - a) == Quantity(0)


@given(quantities)
def test_quotas_and_requests_are_equal_up_to_the_unlimited_value(quantity):
    for resource, most in (("cpu", Quantity(HIGHEST // 1000)), ("memory", Quantity(HIGHEST))):
        unlimited = quantity >= most
        assert quantity.quota(resource) == (HIGHEST if unlimited else quantity.request(resource))


@given(st.integers(LOWEST, HIGHEST))
def test_the_text_of_an_integer_reads_back(value):
    for resource in ("cpu", "memory", "hugepages-2Mi", "example.com/gpu"):
        if value == LOWEST and resource in ("memory", "hugepages-2Mi"):
            continue  # -8Ei is clamped when it is read
        assert Quantity(Quantity.format(resource, value)).request(resource) == value


@given(st.integers(LOWEST, HIGHEST) | st.integers(-3000, 3_000_000))
def test_the_text_of_an_integer_is_the_text_of_its_quantity(value):
    assert Quantity.format("cpu", value) == str(Quantity(f"{value}m"))
    assert Quantity.format("example.com/gpu", value) == str(Quantity(value))


@given(texts())
def test_conversion_to_double_is_accurate(pair):
    value = nano(*pair)
    assert math.isclose(float(Quantity(pair[0])), float(value), rel_tol=2**-52, abs_tol=0)


def is_read_or_refused(text):
    try:
        quantity = Quantity(text)
    except InvalidSpecError:
        return
    assert Quantity(str(quantity)) == quantity


@given(st.text(max_size=80))
def test_any_text_is_read_or_rejected(text):
    is_read_or_refused(text)


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP", max_size=66))
def test_any_text_of_the_alphabet_is_read_or_rejected(text):
    is_read_or_refused(text)
