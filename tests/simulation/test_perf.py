"""The performance test: a workload that is submitted late because its job waits in a line changes no result."""

from __future__ import annotations

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kueuepy.engine.records import SimulationStats
from kueuepy.profiles import RELEASES
from kueuepy.simulation.perf import Load, Profile

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


def waits_by_class(load, run):
    """Return the mean times to the first admission, computed from the table of all jobs."""
    start = min(load.columns()["submit"], default=0)
    first, columns = np.array(run.jobs()["first_start"]), load.columns()
    found = {}
    for wait, shape, started in zip(first - (columns["submit"] - start), columns["shape"], first >= 0, strict=True):
        if started:
            found.setdefault(load.classes[shape], []).append(int(wait))
    return {name: sum(waits) // 1_000_000 // len(waits) for name, waits in found.items()}


@given(PROFILES, st.booleans(), st.sampled_from(RELEASES), st.integers(1, 3))
def test_late_submissions_change_no_result(profile, fair_sharing, release, threads):
    whole = Load(profile, fair_sharing=fair_sharing, version=release.name)
    run, late = whole.start(), whole.divided(threads)

    assert simulated(late) == simulated(run)
    assert whole.first_waits(late) == waits_by_class(whole, run)


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
        load = Load(profile, version=release.name)
        assert simulated(load.divided(1)) == simulated(load.start())
