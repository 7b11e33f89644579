"""Mutated files; the number is that of all kinds together."""

from __future__ import annotations

import warnings

import pytest

from fuzz.files import KINDS, hold

NUMBER = 10_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutated_file_is_read_or_rejected_with_an_error_of_this_package(kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accepted = sum(hold(kind, number) for number in range(NUMBER // len(KINDS)))
    assert 0 < accepted < NUMBER // len(KINDS)
