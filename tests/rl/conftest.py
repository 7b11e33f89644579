"""Warnings of runs are read from their results."""

import warnings

import pytest


@pytest.fixture(autouse=True)
def _warnings_of_runs_are_in_their_results():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
