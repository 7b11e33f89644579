"""Fixtures and options of all tests: the rings, profiles of Hypothesis, and `--regold`."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kueuepy.jobs import registry
from kueuepy.manifest import jobkinds

TESTS = Path(__file__).parent

# Tests share modules, as in `from oracle.quota import Tree`, and use the developers' tools in `tools`.
sys.path[:0] = [str(TESTS.parent / "tools"), str(TESTS)]

RINGS = {
    "quick": {
        *("engine", "errors", "explain", "golden", "lint", "metrics", "objects", "profiles", "quantity"),
        *("recorded_jobs", "scenarios", "scheduler", "topology", "vectors", "workload"),
        *("test_house.py", "test_house_cpp.py"),
    },
    "suite": {"scenarios/test_saved.py", "topology/test_racks.py"},
    "long": {
        *("browser", "crash", "fuzz"),
        *("journal/test_damage.py", "journal/test_errors.py", "session/test_ctrl_c.py"),
    },
}
"""The rings, and their folders and files; the others are in `suite`.

A file takes precedence over its folder, and the marker of a test over both.
"""


def ring_of(path: Path) -> str:
    """Return the ring of a file."""
    place = path.relative_to(TESTS)
    rings = {known: ring for ring, places in RINGS.items() for known in places}
    return rings.get(place.as_posix()) or rings.get(place.parts[0], "suite")


# Runs are deterministic; a failing example is printed with a blob that reproduces it.
settings.register_profile("dev", derandomize=True, deadline=None, max_examples=30, print_blob=True)
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


def pytest_ignore_collect(collection_path, config):
    """With `-m quick`, do not import the files of the other rings, because imports take longer than the tests."""
    if config.option.markexpr == "quick" and collection_path.match("test_*.py"):
        return ring_of(collection_path) != "quick" or None
    return None


@pytest.hookimpl(tryfirst=True)  # before pytest selects by markers
def pytest_collection_modifyitems(items):
    """Give each test without a ring the ring of its folder."""
    for item in items:
        if not any(item.get_closest_marker(ring) for ring in RINGS):
            item.add_marker(ring_of(item.path))


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
