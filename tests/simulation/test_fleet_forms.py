"""Simulations of fleets with results that follow from the rules by hand (c1 to c12)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.fleet import Fleet
from kueuepy.objects import Preemption

LOWER = Preemption(within_cluster_queue="LowerPriority")
CHECK = "multikueue"


def worker(units=1, *, preemption=None, check=None):
    """A cluster with one flavor and one queue."""
    objects = [kq.ResourceFlavor("any")]
    if check is not None:
        objects.append(kq.AdmissionCheck(check, controller_name="example.com/slow"))
    extra = {} if check is None else {"admission_checks_strategy": (kq.objects.AdmissionCheckStrategyRule(check),)}
    if preemption is not None:
        extra["preemption"] = preemption
    return kq.Cluster(*objects, kq.ClusterQueue.of("main", {"any": {"cpu": units}}, **extra))


def manager(units, *, preemption=None):
    """The same with a MultiKueue check."""
    extra = {} if preemption is None else {"preemption": preemption}
    queue = kq.ClusterQueue.of(
        "main",
        {"any": {"cpu": units}},
        admission_checks_strategy=(kq.objects.AdmissionCheckStrategyRule(CHECK),),
        **extra,
    )
    check = kq.AdmissionCheck(CHECK, controller_name="kueue.x-k8s.io/multikueue")
    return kq.Cluster(kq.ResourceFlavor("any"), check, queue)


def fleet(units, workers=1, **options):
    preemption = options.pop("preemption", None)
    made = workers if isinstance(workers, dict) else {f"w{n}": worker() for n in range(1, workers + 1)}
    return Fleet(made, manager(units, preemption=preemption), **options)


def job(name, runtime, *, at=0, priority=0, cluster=""):
    row = {"name": name, "queue": "main", "cpu": 1, "submit": at, "runtime": runtime, "priority": priority}
    return row | {"cluster": cluster}


def run(of, jobs, **options):
    return kq.simulate(of, jobs, **options)


def column(result, name, jobs=None):
    """The values of a column by the names of jobs."""
    table = result.jobs
    return {str(n): table[name][row] for row, n in enumerate(table["name"].tolist()) if jobs is None or n in jobs}


def runs_of(result, job=0):
    """The runs of a job on workers, in the order of their ends."""
    return [row for row in result.runs.rows() if row["job"] == job and not math.isnan(row["start"])]


def wasted(result):
    """Unit-seconds that copies held which never ran."""
    never = np.array([result.copies["outcome"][row] != "Won" for row in range(len(result.copies))])
    return float(result.copies["held"][never].sum()) if len(result.copies) else 0.0


def test_c1_one_job_starts_one_sync_after_its_admission():
    result = run(fleet(1, 1), [job("a", 10)])
    assert column(result, "first_start") == {"a": 1}
    assert column(result, "end") == {"a": 11}
    assert column(result, "closed") == {"a": 12}
    assert len(result.copies) == 1
    assert result.copies["held"].tolist() == [11]
    assert wasted(result) == 0
    assert result.kpis.dispatch_wait == 1


@pytest.mark.parametrize(("n", "runtime"), [(3, 10), (5, 7)])
def test_c2_jobs_follow_each_other_on_one_worker(n, runtime):
    result = run(fleet(n, 1), [job(f"j{k}", runtime) for k in range(n)])
    assert result.jobs["first_start"].tolist() == [1 + k * (runtime + 1) for k in range(n)]
    assert result.jobs["end"].max() == n * (runtime + 1)
    assert result.jobs["closed"].max() == n * (runtime + 1) + 1


@pytest.mark.parametrize(("n", "runtime"), [(3, 10), (5, 7)])
def test_c3_quota_of_the_manager_is_released_one_sync_later(n, runtime):
    result = run(fleet(1, 1), [job(f"j{k}", runtime) for k in range(n)])
    assert result.jobs["first_start"].tolist() == [1 + k * (runtime + 2) for k in range(n)]
    assert result.jobs["end"].max() == (n - 1) * (runtime + 2) + 1 + runtime


def test_c4_all_empty_workers_admit_the_same_head():
    jobs = [job(name, 1000) for name in "abc"]
    result = run(fleet(3, 3), jobs)
    assert column(result, "first_start") == {"a": 1, "b": 2, "c": 3}
    assert column(result, "cluster") == {"a": "w1", "b": "w2", "c": "w3"}
    assert len(result.copies) == 9
    assert wasted(result) == 3
    at_once = run(fleet(3, 3, sync=0), jobs)
    assert at_once.jobs["first_start"].tolist() == [0, 0, 0]
    assert wasted(at_once) == 0


def test_c5_rounds_of_the_incremental_dispatcher():
    jobs = [job(name, 1000) for name in "abc"]
    one = run(fleet(3, 3, dispatcher=kq.sim.Incremental(step=1)), jobs)
    assert column(one, "first_start") == {"a": 1, "b": 301, "c": 601}
    assert column(one, "cluster") == {"a": "w1", "b": "w2", "c": "w3"}
    assert column(one, "copies") == {"a": 1, "b": 2, "c": 3}
    assert wasted(one) == 0
    two = run(fleet(3, 3, dispatcher=kq.sim.Incremental(step=2)), jobs)
    assert column(two, "first_start") == {"a": 1, "b": 2, "c": 301}
    assert column(two, "copies") == {"a": 2, "b": 2, "c": 3}
    assert wasted(two) == 1


def herd(n, **options):
    workers = {f"w{k}": worker(preemption=LOWER) for k in range(1, n + 1)}
    jobs = [job(f"local{k}", 100, cluster=f"w{k}") for k in range(1, n + 1)]
    of = fleet(1, workers, **options)
    return of, [*jobs, job("h", 10, at=50, priority=100)]


@pytest.mark.parametrize("n", [4, 7])
def test_c6_every_worker_preempts_for_the_same_workload(n):
    of, jobs = herd(n)
    result = run(of, jobs)
    assert column(result, "first_start", {"h"}) == {"h": 51}
    assert column(result, "end", {"h"}) == {"h": 61}
    assert column(result, "cluster", {"h"}) == {"h": "w1"}
    assert result.kpis.preemptions == {"InClusterQueue": n}
    assert result.kpis.unneeded_preemptions == n - 1
    ends = column(result, "end")
    assert ends["local1"] == 161
    assert {ends[f"local{k}"] for k in range(2, n + 1)} == {151}
    assert sum(column(result, "lost").values()) == 50 * n
    assert result.kpis.unneeded_lost_hours == pytest.approx(50 * (n - 1) / 3600)
    assert wasted(result) == n - 1


def test_c6_rounds_limit_the_preemptions():
    for step, evictions in ((3, 3), (1, 1)):
        of, jobs = herd(4, dispatcher=kq.sim.Incremental(step=step))
        result = run(of, jobs)
        assert sum(result.kpis.preemptions.values()) == evictions
        assert result.kpis.unneeded_preemptions == evictions - 1
        assert column(result, "first_start", {"h"}) == {"h": 51}
        assert column(result, "end", {"local4"}) == {"local4": 100}


def test_c7_with_gates_one_worker_preempts():
    of, jobs = herd(4)
    result = run(of.gated(), jobs)
    assert column(result, "first_start", {"h"}) == {"h": 52}
    assert column(result, "end", {"h"}) == {"h": 62}
    assert sum(result.kpis.preemptions.values()) == 1
    assert result.kpis.unneeded_preemptions == 0
    assert column(result, "end", {"local1"}) == {"local1": 162}
    assert column(result, "lost", {"local1"}) == {"local1": 51}


def test_c8_evicted_on_its_worker():
    workers = {name: worker(preemption=LOWER) for name in ("w1", "w2")}
    jobs = [
        job("local-a", 70, cluster="w2"),
        job("x", 100),
        job("local-b", 30, at=40, priority=100, cluster="w1"),
    ]
    result = run(fleet(2, workers), jobs)
    assert column(result, "first_start", {"x"}) == {"x": 1}
    assert column(result, "end", {"x"}) == {"x": 171}
    assert column(result, "closed", {"x"}) == {"x": 172}
    assert column(result, "cluster", {"x"}) == {"x": "w1"}
    assert column(result, "copies", {"x"}) == {"x": 4}
    assert column(result, "lost", {"x"}) == {"x": 39}
    assert column(result, "retries", {"x"}) == {"x": 1}
    assert wasted(result) == 1


@pytest.mark.parametrize("grace", [0, 5])
def test_c9_preempted_on_the_manager(grace):
    jobs = [job("low", 100), job("high", 10, at=20, priority=100)]
    result = run(fleet(1, 2, preemption=LOWER), jobs, model=kq.sim.RunModel(grace=grace))
    starts, ends = column(result, "first_start"), column(result, "end")
    assert starts == {"low": 1, "high": 22 + grace}
    assert ends == {"high": 32 + grace, "low": 134 + grace}
    assert column(result, "closed") == {"high": 33 + grace, "low": 135 + grace}
    assert column(result, "lost") == {"low": 19, "high": 0}
    assert len(result.copies) == 6
    assert wasted(result) == 3


def test_c10_a_reservation_on_a_worker_does_not_win():
    workers = {"w1": worker(check="slow"), "w2": worker()}
    jobs = [job("local", 30, cluster="w2"), job("a", 100)]
    result = run(fleet(1, workers), jobs, delays=[kq.sim.CheckDelay("slow", "60s")])
    assert column(result, "first_start", {"a"}) == {"a": 31}
    assert column(result, "end", {"a"}) == {"a": 131}
    assert column(result, "closed", {"a"}) == {"a": 132}
    assert column(result, "cluster", {"a"}) == {"a": "w2"}
    assert wasted(result) == 31


def lost(back, *, full=False):
    jobs = [job("x", 2000)] + ([job("local", 10_000, cluster="w2")] if full else [])
    events = [kq.sim.Event("100s", kq.sim.Disconnect("w1")), kq.sim.Event(f"{back}s", kq.sim.Connect("w1"))]
    return run(fleet(1, 2), jobs, events=events)


def test_c11a_a_worker_that_reconnects_in_time_keeps_the_job():
    result = lost(500)
    assert column(result, "end") == {"x": 2001}
    assert column(result, "closed") == {"x": 2002}
    assert result.kpis.retries == 0


def test_c11b_the_older_admission_wins_when_the_worker_reconnects():
    result = lost(1500)
    assert column(result, "first_start") == {"x": 1}
    assert column(result, "end") == {"x": 2001}
    assert column(result, "closed") == {"x": 2002}
    runs = runs_of(result)
    assert [(row["cluster"], row["start"], row["end"]) for row in runs] == [("w2", 1004, 1501), ("w1", 1, 2001)]
    assert column(result, "retries") == {"x": 1}


def test_c11c_without_another_worker_the_old_run_is_stopped():
    result = lost(1500, full=True)
    runs = runs_of(result)
    assert [(row["cluster"], row["start"], row["end"]) for row in runs] == [("w1", 1, 1501), ("w1", 1503, 3503)]
    assert column(result, "closed", {"x"}) == {"x": 3504}
    assert column(result, "lost", {"x"}) == {"x": 1500}


@pytest.mark.parametrize(("at", "copies", "start", "waste"), [(400, 6, 402, 6), (200, 3, 202, 3)])
def test_c12_two_batches_after_a_long_round(at, copies, start, waste):
    workers = {f"w{k}": worker(preemption=LOWER) for k in range(1, 7)}
    of = fleet(1, workers, dispatcher=kq.sim.Incremental(step=3))
    result = run(of, [job("x", 1000), job("local", 10_000, at=at, priority=100, cluster="w1")])
    runs = runs_of(result)
    assert [row["start"] for row in runs] == [1, start]
    assert runs[-1]["cluster"] == "w2"
    assert column(result, "end", {"x"}) == {"x": start + 1000}
    assert column(result, "copies", {"x"}) == {"x": 3 + copies}
    assert wasted(result) == waste
