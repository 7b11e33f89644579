"""Properties of threads: decisions, events, tables and saved states do not depend on the number of threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.engine import threads
from laws.forests import forest
from perf import perf
from saved import to_bytes

SEEDS = st.integers(0, 2**32)
THREADS = (2, 3, 8)
few = settings(phases=[Phase.explicit, Phase.generate])
TASKS = Path("/proc/self/task")
PROFILE = """
cohorts:
- className: tree
  count: 5
  queuesSets:
  - className: cq
    count: 14
    nominalQuota: 20
    borrowingLimit: 100
    reclaimWithinCohort: Any
    withinClusterQueue: LowerPriority
    workloadsSets:
    - count: 12
      creationIntervalMs: 60
      workloads: [{className: small, runtimeMs: 150, priority: 50, request: 1}]
    - count: 4
      creationIntervalMs: 300
      workloads: [{className: medium, runtimeMs: 350, priority: 100, request: 5}]
    - count: 2
      creationIntervalMs: 700
      workloads: [{className: large, runtimeMs: 700, priority: 200, request: 20}]
"""


@pytest.fixture(autouse=True, scope="module")
def threads_in_small_cycles():
    """Cycles with two heads already use several threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "LEAST_HEADS", 2)
        yield


def history(cluster, waiting, number):
    """Return everything that a Scheduler shows about the same steps: decisions, events and saved states."""
    scheduler = kq.Scheduler(cluster, now=0, threads=number)
    scheduler._engine.record_events(on=True)
    found, running = [], {f"default/{job.name}" for job in waiting}
    for step in range(0, len(waiting), 10):
        scheduler.submit(waiting[step : step + 10])
        for _ in range(3):
            scheduler.advance(5)
            found.append(str(list(scheduler.cycle())))
        found.append(to_bytes(scheduler))
        admission, find = scheduler._engine.admission, scheduler._engine.find
        held = [key for key in sorted(running.intersection(scheduler.keys())) if admission(find(key))]
        scheduler.finish(*held[::3])
        running.difference_update(held[::3])
    found.append(str(scheduler._engine.take_events()))
    found.append(str(scheduler.settle(max_cycles=50)))
    return [*found, to_bytes(scheduler)]


@few
@given(SEEDS)
def test_decisions_events_and_saved_states_do_not_depend_on_threads(seed):
    cluster, waiting = forest(seed)
    expected = history(cluster, waiting, 1)
    for number in THREADS:
        assert history(cluster, waiting, number) == expected


def tables(cluster, rows, number):
    """Return all columns of all tables of a simulation as bytes."""
    result = kq.simulate(
        cluster, rows, record=kq.sim.Recording(cycles=True), until="1d", progress=False, threads=number
    )
    found = {}
    for name in ("jobs", "runs", "decisions", "usage", "cycles"):
        table = getattr(result, name)
        for column in table.names:
            values = table[column]
            found[name, column] = values.tobytes() if isinstance(values, np.ndarray) else (list(values), values.names)
    return found, str(result.kpis)


@pytest.mark.filterwarnings("ignore::UserWarning")  # Some jobs never fit, or have not finished.
@few
@example(32270)  # Fair sharing across trees undoes trial changes of usage while other trees are nominated.
@given(SEEDS)
def test_tables_do_not_depend_on_threads(seed):
    cluster, waiting = forest(seed)
    rows = [
        {"queue": job.queue_name, "submit": 7 * n, "runtime": 60 + n, "cpu": 1 + n % 4, "priority": job.priority}
        for n, job in enumerate(waiting)
    ]
    expected = tables(cluster, rows, 1)
    for number in THREADS:
        assert tables(cluster, rows, number) == expected


@pytest.mark.threads
def test_threads_do_not_race():
    for seed in range(6):
        cluster, waiting = forest(seed, jobs=24)
        assert history(cluster, waiting, 3) == history(cluster, waiting, 1)


def measured(path, **options):
    result = perf(str(path), **options)
    return {name: value for name, value in result.items() if name not in ("wall_s", "peak_rss_mb")}


@pytest.mark.threads
@pytest.mark.parametrize("fair_sharing", [False, True])
def test_the_performance_test_does_not_depend_on_threads(tmp_path, fair_sharing):
    path = tmp_path / "profile.yaml"
    path.write_text(PROFILE)
    expected = measured(path, fair_sharing=fair_sharing, threads=1)
    assert expected["workloads"] == expected["finished"] == 5 * 14 * 18
    assert expected["evictions"] > 0
    for number in THREADS:
        assert measured(path, fair_sharing=fair_sharing, threads=number) == expected


@pytest.mark.skipif(not TASKS.is_dir(), reason="counts the threads of this process in /proc")
def test_cycles_start_the_threads_only_if_two_trees_have_heads():
    def started(names, number=3):
        cluster = kq.Cluster(
            kq.ResourceFlavor("f"),
            [kq.ClusterQueue.of(f"q{n}", {"f": {"cpu": 1}}, cohort_name=name) for n, name in enumerate(names)],
        )
        scheduler = kq.Scheduler(cluster, threads=number)
        scheduler.submit([kq.Workload(f"w{n}", queue_name=f"q{n}") for n in range(len(names))])
        before = len(list(TASKS.iterdir()))
        assert len(list(scheduler.cycle())) == len(names)
        return len(list(TASKS.iterdir())) - before, scheduler

    assert started(["x", "x", "x", "x"])[0] == 0
    assert started(["u", "v", "w", "x"], number=1)[0] == 0
    count, scheduler = started(["u", "v", "w", "x"])
    assert count == 2  # The thread of the caller is the third.
    del scheduler


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "two", 5000])
def test_an_invalid_number_of_threads_is_rejected(number):
    with pytest.raises(kq.errors.InvalidSpecError, match="threads: is"):
        kq.Scheduler(kq.Cluster(), threads=number)
