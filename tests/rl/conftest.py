"""Fixtures: warnings of simulations are ignored, because results contain them."""

import warnings
from pathlib import Path

import pytest

import kueuepy as kq


@pytest.fixture(autouse=True)
def _warnings_of_runs_are_in_their_results():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.fixture
def week():
    """The week of the examples: three teams, and their jobs."""
    folder = Path(__file__).parents[2] / "examples" / "week"
    return kq.load(folder / "teams.yaml"), kq.Jobs.read(folder / "jobs.csv")
