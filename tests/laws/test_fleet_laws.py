"""Properties of fleets, for random fleets and jobs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.objects import Preemption

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
POLICIES = st.sampled_from([None, Preemption(within_cluster_queue="LowerPriority")])
ROUNDS = kq.sim.Incremental(step=1, round="30s"), kq.sim.Incremental(step=2, round="20s")
DISPATCHERS = st.sampled_from([kq.sim.AllAtOnce(), *ROUNDS])


def cluster(units, preemption=None):
    extra = {} if preemption is None else {"preemption": preemption}
    return kq.Cluster(kq.ResourceFlavor("any"), kq.ClusterQueue.of("main", {"any": {"cpu": units}}, **extra))


@st.composite
def rows(draw, names=("",)):
    number = draw(st.integers(1, 12))
    return [
        {
            "name": f"job-{n:02d}",
            "queue": "main",
            "cpu": draw(st.integers(1, 3)),
            "submit": draw(st.integers(0, 60)),
            "runtime": draw(st.integers(1, 80)),
            "priority": draw(st.sampled_from([0, 0, 10])),
            "cluster": draw(st.sampled_from(names)),
        }
        for n in range(number)
    ]


@st.composite
def fleets(draw):
    number = draw(st.integers(1, 4))
    workers = {f"w{n}": cluster(draw(st.integers(1, 5)), draw(POLICIES)) for n in range(1, number + 1)}
    sync = draw(st.sampled_from([0, 1, 3]))
    fleet = kq.Fleet(workers, dispatcher=draw(DISPATCHERS), sync=sync)
    return fleet.gated() if draw(st.booleans()) else fleet


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_job_runs_on_at_most_one_cluster_at_a_time(data):
    fleet = data.draw(fleets())
    jobs = data.draw(rows(("", *fleet.clusters)))
    result = kq.simulate(fleet, jobs, model=kq.sim.RunModel(grace=data.draw(st.sampled_from([0, 4]))))
    runs = sorted((row["job"], row["start"], row["end"]) for row in result.runs.rows() if row["start"] == row["start"])
    for (job, _, end), (other, start, _) in itertools.pairwise(runs):
        assert job != other or start >= end, (job, end, start)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_copies_are_accounted_for(data):
    fleet = data.draw(fleets())
    result = kq.simulate(fleet, data.draw(rows(("", *fleet.clusters))))
    assert len(result.copies) == int(result.jobs["copies"].sum())
    per_job = np.bincount(result.copies["job"], minlength=len(result.jobs))
    assert per_job.tolist() == result.jobs["copies"].tolist()
    assert ((result.jobs["copies"] > 0) | (result.jobs["starts"] == 0)).all()
    # No copy outlives its workload: once the job finishes on the manager, its copies are deleted.
    closed = result.jobs["closed"][result.copies["job"]]
    removed = result.copies["removed"]
    known = ~np.isnan(closed) & ~np.isnan(removed)
    assert (removed[known] <= closed[known]).all()
    assert not (np.isnan(removed) & ~np.isnan(closed)).any()


@settings(max_examples=60, deadline=None)
@given(rows(), st.integers(1, 5), POLICIES)
def test_a_fleet_of_one_worker_without_latency_decides_as_that_worker(jobs, units, preemption):
    worker = cluster(units, preemption)
    check = kq.AdmissionCheck("mk", controller_name="kueue.x-k8s.io/multikueue")
    rule = kq.objects.AdmissionCheckStrategyRule("mk")
    queue = kq.ClusterQueue.of("main", {"any": {"cpu": 1000}}, admission_checks_strategy=(rule,))
    fleet = kq.Fleet({"w": worker}, kq.Cluster(kq.ResourceFlavor("any"), check, queue), sync=0)
    if preemption is not None:  # an eviction on a worker goes through the manager and a new dispatch
        jobs = [{**job, "priority": 0} for job in jobs]
    there, alone = kq.simulate(fleet, jobs), kq.simulate(worker, jobs)
    for column in ("first_start", "end", "waited"):
        np.testing.assert_array_equal(there.jobs[column], alone.jobs[column])


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_cluster_names_have_no_effect(data):
    fleet = data.draw(fleets())
    jobs = data.draw(rows())
    sync = {f"x{name}": time for name, time in fleet.sync.items()}
    renamed = fleet.replace(workers={f"x{name}": worker for name, worker in fleet.workers.items()}, sync=sync)
    first, second = kq.simulate(fleet, jobs), kq.simulate(renamed, jobs)
    for column in ("first_start", "end", "copies"):
        np.testing.assert_array_equal(first.jobs[column], second.jobs[column])


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_garbage_collection_removes_copies_of_deleted_workloads(data):
    """After deletions, a sync and a garbage collection, no worker has a copy of a deleted workload."""
    step = kq.FleetScheduler(kq.Fleet({f"w{n}": cluster(2) for n in range(3)}))
    keys = step.manager.submit(*({"name": f"j{n}", "queue": "main", "cpu": 1} for n in range(4)))
    for _ in range(data.draw(st.integers(1, 6))):
        match data.draw(st.sampled_from(["cycle", "dispatch", "work", "cut", "join"])):
            case "cycle":
                step.manager.cycle()
            case "dispatch":
                step.dispatch()
            case "work":
                step[data.draw(st.sampled_from(["w0", "w1", "w2"]))].cycle()
            case "cut":
                step.disconnect(data.draw(st.sampled_from(["w0", "w1", "w2"])))
            case "join":
                step.connect("w0", "w1", "w2")
    gone = data.draw(st.sets(st.sampled_from(keys), min_size=1))
    step.manager.delete(*gone)
    step.dispatch()
    step.connect("w0", "w1", "w2")
    step.collect_garbage()
    for scheduler in step.workers.values():
        assert not gone & set(scheduler.keys())
        assert scheduler._engine.check() == []
