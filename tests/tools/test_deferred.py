"""The performance test: a workload that is submitted late because its job waits in a line changes no result."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kueuepy._core import LockstepRun
from kueuepy.engine.records import SimulationStats
from kueuepy.profiles import RELEASES
from load_profile import Profile, read_profile
from perf import PerformanceTest

SMALL = Path(__file__).parents[2] / "benchmarks" / "profiles" / "small.yaml"
TEMPLATES = st.fixed_dictionaries(
    {
        "className": st.sampled_from(["small", "large"]),
        "runtimeMs": st.integers(0, 400),
        "priority": st.integers(0, 2),
        "request": st.sampled_from([1, 2, 5, 12, 100]),
        "podCount": st.integers(1, 2),
    }
)
SETS = st.fixed_dictionaries(
    {
        "count": st.integers(0, 8),
        "creationIntervalMs": st.sampled_from([0, 20, 100]),
        "workloads": st.lists(TEMPLATES, min_size=1, max_size=2),
    }
)
QUEUES = st.fixed_dictionaries(
    {
        "className": st.just("cq"),
        "count": st.integers(1, 3),
        "nominalQuota": st.integers(0, 12),
        "borrowingLimit": st.sampled_from([None, 0, 10, 100]),
        "reclaimWithinCohort": st.sampled_from(["Never", "Any", "LowerPriority"]),
        "withinClusterQueue": st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
        "workloadsSets": st.lists(SETS, min_size=1, max_size=4),
    }
)
PROFILES = st.lists(
    st.fixed_dictionaries(
        {"className": st.just("tree"), "count": st.integers(1, 2), "queuesSets": st.lists(QUEUES, max_size=2)}
    ),
    min_size=1,
    max_size=1,
).map(lambda cohorts: msgspec.convert({"cohorts": cohorts}, Profile))


def simulated(run):
    while run.advance():
        pass
    stats = run.stats
    return tuple(getattr(stats, name) for name in SimulationStats._fields)


def in_lockstep(test, threads, *, defers_arrivals):
    runs = [test._simulation(*group, defers_arrivals=defers_arrivals) for group in test._groups(threads)]
    return LockstepRun(runs, threads)


@given(PROFILES, st.booleans(), st.sampled_from(RELEASES), st.integers(1, 3))
def test_late_submissions_change_no_result(profile, fair_sharing, release, threads):
    test = PerformanceTest(profile, fair_sharing=fair_sharing, version=release.name)
    late, whole = test.divided(threads), in_lockstep(test, threads, defers_arrivals=False)

    assert simulated(late) == simulated(whole)
    assert late.first_waits() == whole.first_waits()


def test_mean_waits_are_those_of_the_table_of_jobs():
    test = PerformanceTest(read_profile(str(SMALL)))
    load, run, late = test.load, test.start(), test.divided(2)
    assert simulated(late) == simulated(run)
    first, columns = np.array(run.jobs()["first_start"]), load.columns()
    waits = first - (columns["submit"] - columns["submit"].min())
    names = np.array(load.classes)[columns["shape"]]
    assert test.first_waits(late) == {
        name: int(waits[names == name].sum()) // 1_000_000 // int((names == name).sum()) for name in load.classes
    }


def test_workloads_that_become_inadmissible_without_their_class_do_not_stop_their_line():
    """Kueue before v0.18 has no classes by default: a workload that does not fit becomes inadmissible alone."""
    queue = {"className": "cq", "count": 1, "nominalQuota": 2, "borrowingLimit": 0}
    sets = [
        {"count": 3, "creationIntervalMs": 0, "workloads": [{"className": name, "runtimeMs": 100, "request": request}]}
        for name, request in (("large", 2), ("small", 1))
    ]
    cohorts = [{"className": "tree", "count": 1, "queuesSets": [{**queue, "workloadsSets": sets}]}]
    profile = msgspec.convert({"cohorts": cohorts}, Profile)
    for release in RELEASES:
        test = PerformanceTest(profile, version=release.name)
        assert simulated(test.divided(1)) == simulated(test.start())
