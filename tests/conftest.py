"""Fixtures and options of all tests: profiles of Hypothesis, and `--regold`."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kueuepy.jobs import registry
from kueuepy.manifest import jobkinds

# Tests share modules, as in `from oracle.quota import Tree`, and use the developers' tools in `tools`.
sys.path[:0] = [str(Path(__file__).parents[1] / "tools"), str(Path(__file__).parent)]

# Runs are deterministic; a failing example is printed with a blob that reproduces it.
settings.register_profile("dev", derandomize=True, deadline=None, max_examples=60, print_blob=True)
settings.register_profile("ci", settings.get_profile("dev"), max_examples=200)
settings.register_profile("long", deadline=None, max_examples=5000, suppress_health_check=list(HealthCheck))
settings.register_profile("slow-build", settings.get_profile("dev"), max_examples=15, deadline=timedelta(seconds=60))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_addoption(parser):
    parser.addoption(
        "--regold",
        action="store_true",
        help="write the transcripts of tests/golden, and what commands print on the pages of docs, anew",
    )


@pytest.fixture(autouse=True)
def close_figures():
    """Close all figures, because Matplotlib warns of more than 20 open ones."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


@pytest.fixture
def own_kinds(monkeypatch):
    """Remove the kinds of jobs that a test registers."""
    monkeypatch.setattr(registry, "_types", dict(registry._types))
    monkeypatch.setattr(jobkinds, "_jobs", dict(jobkinds._jobs))


@pytest.fixture
def seeds_file():
    """A file with two teams."""
    return Path(__file__).parents[1] / "examples/seeds/002/two-teams.yaml"


@pytest.fixture
def team():
    """Two teams in one cohort: 9 and 12 cpu."""
    from teams import two_teams  # noqa: PLC0415 - found through the path above

    return two_teams()


@pytest.fixture
def fair():
    """Two queues without quota, and a third with 8 cpu, under fair sharing."""
    from teams import fair_teams  # noqa: PLC0415 - found through the path above

    return fair_teams()
