"""The work of a fleet grows linearly, and a copy that only waits has the same effects as any other copy."""

from __future__ import annotations

import random

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.fleet import On
from seeds import seeds

ALL = kq.sim.AllAtOnce()
MOST = 1.3
"""Largest accepted growth of the cycles of a job or copy if there are four times as many jobs or workers."""


def fleet(workers, dispatcher=ALL, units=4, **fields):
    """Workers of which every third has fewer units."""
    flavor = kq.ResourceFlavor("any")
    made = {
        f"w{n}": kq.Cluster(flavor, kq.ClusterQueue.of("main", {"any": {"cpu": units - (n % 3 == 0)}}, **fields))
        for n in range(workers)
    }
    return kq.Fleet(made, dispatcher=dispatcher)


def jobs(number, workers, load=0.9, seed=1):
    chance = np.random.default_rng(seed)
    gap = 600 * 1.5 / (workers * 4 * load)
    return kq.Jobs(
        {
            "queue": ["main"] * number,
            "submit": np.cumsum(chance.exponential(gap, number)),
            "runtime": chance.exponential(600, number),
            "cpu": chance.integers(1, 3, number),
            "priority": chance.integers(0, 2, number),
        }
    )


def work(workers, number, dispatcher):
    """The numbers of cycles and of copies."""
    result = kq.simulate(fleet(workers, dispatcher), jobs(number, workers), record=kq.sim.Recording(cycles=True))
    return len(result.cycles), len(result.copies)


@pytest.mark.parametrize("dispatcher", [ALL, kq.sim.Incremental()])
def test_the_cycles_grow_linearly_with_the_jobs(dispatcher):
    (few, copied), (many, copied_more) = (work(6, number, dispatcher) for number in (150, 600))
    assert many <= 4 * MOST * few
    assert copied_more <= 4 * MOST * copied


@pytest.mark.parametrize("dispatcher", [ALL, kq.sim.Incremental()])
def test_the_cycles_of_a_copy_do_not_grow_with_the_workers(dispatcher):
    (few, copied), (many, copied_more) = (work(workers, 200, dispatcher) for workers in (5, 20))
    assert many / copied_more <= MOST * few / copied


def same(first, second):
    for name in ("jobs", "runs", "decisions", "usage", "cycles", "idle", "blocked", "copies"):
        one, other = getattr(first, name), getattr(second, name)
        assert one.names == other.names
        for column in one.names:
            np.testing.assert_array_equal(
                np.asarray(one[column]), np.asarray(other[column]), err_msg=f"{name}.{column}"
            )
    assert first.kpis == second.kpis


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("fields", [{}, {"queueing_strategy": "StrictFIFO"}])
def test_a_function_that_chooses_all_clusters_gives_the_same_result(seed, fields):
    """The workers of an external dispatcher always have all copies, because the function may inspect them."""
    made = fleet(2 + seed, units=3, **fields)
    chosen = made.replace(dispatcher=kq.sim.External(lambda _workload, clusters, _now: list(clusters)))
    options = {"record": kq.sim.Recording(cycles=True), "until": 8000}
    log = jobs(120, 2 + seed, load=(0.6, 1.0, 1.6)[seed % 3], seed=seed)
    first, second = (kq.simulate(one, log, **options) for one in (made, chosen))
    same(first, second)
    for name in made.clusters:
        assert first.scheduler[name].fingerprint() == second.scheduler[name].fingerprint()


def random_queue(chance, name, cohort):
    preemption = kq.Preemption(
        within_cluster_queue=chance.choice(["Never", "Never", "LowerPriority"]),
        reclaim_within_cohort=chance.choice(["Never", "Never", "Any"]),
    )
    strategy = chance.choice(["BestEffortFIFO"] * 3 + ["StrictFIFO"])
    quotas = {flavor: {"cpu": chance.randint(1, 4)} for flavor in chance.choice([["a"], ["a"], ["a", "b"]])}
    options = {"cohort_name": "team"} if cohort else {}
    return kq.ClusterQueue.of(name, quotas, preemption=preemption, queueing_strategy=strategy, **options)


def random_fleet(chance, queues):
    workers = {}
    for number in range(chance.randint(2, 5)):
        cohort = chance.random() < 0.5
        flavors = [kq.ResourceFlavor("a"), kq.ResourceFlavor("b")]
        workers[f"w{number}"] = kq.Cluster(*flavors, *(random_queue(chance, name, cohort) for name in queues))
    incremental = kq.sim.Incremental(step=chance.randint(1, 2), round=chance.choice([5, 60]))
    sync = {name: chance.choice([0, 1, 1, 1, 20]) for name in workers}
    return kq.Fleet(workers, dispatcher=chance.choice([ALL, ALL, incremental]), sync=sync)


def random_jobs(chance, queues, workers):
    gap = 20 / workers / chance.choice([0.6, 1.5, 4])
    return [
        {
            "name": f"j{number}",
            "queue": chance.choice(queues),
            "submit": round(gap * number + chance.uniform(0, 30), chance.choice([0, 2])),
            "runtime": chance.choice([1, 20, chance.randint(1, 90)]),
            "cpu": chance.randint(1, 3),
            "priority": chance.choice([0, 0, 1, 5]),
        }
        for number in range(chance.randint(40, 120))
    ]


def random_events(chance, jobs, queues, workers, end):
    events = []
    for _ in range(chance.randint(0, 6)):
        at, worker, queue = round(chance.uniform(0, end)), chance.choice(workers), chance.choice(queues)
        job = chance.choice(jobs)["name"]
        kind = chance.randrange(6)
        if kind == 0:
            pair = kq.sim.Disconnect(worker), kq.sim.Connect(worker)
        elif kind == 1:
            policy = chance.choice(["Hold", "HoldAndDrain"])
            pair = tuple(
                On(worker, kq.sim.Edit(f"ClusterQueue/{queue}:stopPolicy", value)) for value in (policy, "None")
            )
        elif kind == 2:
            pair = tuple(
                On(worker, kq.sim.Edit(f"ClusterQueue/{queue}:quota[a/cpu].nominalQuota", chance.randint(0, 5)))
                for _ in range(2)
            )
        else:
            pair = ((kq.sim.Priority(job, 9), kq.sim.Evict(job), kq.sim.Finish(job))[kind - 3],)
        events += [kq.sim.Event(at + 15 * n, change) for n, change in enumerate(pair)]
    return events


@pytest.mark.parametrize("seed", seeds(24))
def test_a_simulation_in_steps_gives_the_same_result(seed):
    """After each step, all workers have all copies, because the state of a Simulation may be inspected."""
    chance = random.Random(seed)  # noqa: S311 - repeatable fleets, no secret
    queues = ["main", "other"][: chance.randint(1, 2)]
    made = random_fleet(chance, queues)
    workers = list(made.clusters)
    log = random_jobs(chance, queues, len(workers))
    events = random_events(chance, log, queues, workers, max(job["submit"] for job in log))
    options = {"events": events, "record": kq.sim.Recording(cycles=True), "until": 20000, "missing": "wait"}
    first = kq.simulate(made, log, **options)
    stepped = kq.Simulation(made, log, **options)
    while stepped.step():
        pass
    second = stepped.close()
    assert len(first.copies) > 0
    same(first, second)
    assert first.scheduler.manager.fingerprint() == second.scheduler.manager.fingerprint()
    for name in workers:
        assert first.scheduler[name].fingerprint() == second.scheduler[name].fingerprint()


@pytest.mark.parametrize("seed", seeds(12))
def test_a_simulation_of_busy_workers_in_steps_gives_the_same_result(seed):
    """Most copies wait behind others in a queue that cannot preempt, while jobs on the same worker end."""
    chance = random.Random(seed)  # noqa: S311 - repeatable fleets, no secret
    dispatcher = [ALL, kq.sim.Incremental(step=1, round=20), kq.sim.Incremental(step=2, round=60)][seed % 3]
    made = fleet(2 + seed % 4, dispatcher, units=3).replace(sync=chance.choice([1, 5]))
    workers = list(made.clusters)
    log = random_jobs(chance, ["main"], len(workers))
    if seed % 2:
        log = [{**job, "cpu": 1, "priority": 0} for job in log]  # one equivalence class
    events = random_events(chance, log, ["main"], workers, max(job["submit"] for job in log))
    events = [event for event in events if seed > 5 and "quota" not in repr(event)]
    options = {"events": events, "record": kq.sim.Recording(cycles=True), "until": 20000}
    first = kq.simulate(made, log, **options)
    stepped = kq.Simulation(made, log, **options)
    while stepped.step():
        pass
    same(first, stepped.close())
    for name in workers:
        assert first.scheduler[name].fingerprint() == stepped.close().scheduler[name].fingerprint()


def test_a_waiting_copy_is_refused_again_when_the_copy_before_it_is_deleted():
    """The condition that the cycle writes makes the manager see the last job's reservation on w1 half a second earlier.

    Without steps, the copies of the last two jobs are deferred on w0, where a long job runs.
    """
    flavor = kq.ResourceFlavor("any")
    workers = {
        name: kq.Cluster(flavor, kq.ClusterQueue.of("main", {"any": {"cpu": units}}))
        for name, units in (("w0", 1), ("w1", 2))
    }
    made = kq.Fleet(workers, dispatcher=kq.sim.Incremental(step=1, round=20), sync=1)
    times = [(0, 1), (1, 60), (10, 1), (11.5, 1)]
    log = [{"queue": "main", "submit": at, "runtime": run, "cpu": 1} for at, run in times]
    options = {"record": kq.sim.Recording(cycles=True), "until": 20000}
    first = kq.simulate(made, log, **options)
    stepped = kq.Simulation(made, log, **options)
    while stepped.step():
        pass
    same(first, stepped.close())
    assert first.jobs["first_start"][-2:].tolist() == [31, 32]


@pytest.mark.parametrize("change", [kq.sim.Finish("late"), kq.sim.Priority("late", 5), kq.sim.Evict("late")])
def test_a_change_of_a_job_before_its_submission_to_a_worker_has_no_effect(change):
    late = {"name": "late", "queue": "main", "cluster": "w1", "cpu": 1, "submit": 50, "runtime": 10}
    first = {"name": "first", "queue": "main", "cluster": "", "cpu": 1, "submit": 0, "runtime": 10}
    result, plain = (kq.simulate(fleet(2), [first, late], events=events) for events in ([kq.sim.Event(20, change)], []))
    same(result, plain)
