"""Typical errors of loops in virtual time: steps that end too early or never, and growing state."""

import signal

import numpy as np
import pytest

import kueuepy as kq

from .conftest import GPU, cluster, queue


def test_an_inadmissible_head_lets_the_next_workload_be_considered():
    """With a quota of 4, a job of 3 runs; jobs of 2 and 1 arrive, and the job of 1 starts at once."""
    rows = [(0, 100, 3), (1, 10, 2), (1, 10, 1)]
    jobs = [{"queue": "q", "submit": at, "runtime": run, "gpu": gpus} for at, run, gpus in rows]
    result = kq.simulate(cluster(queue("q", 4)), jobs)
    assert result.jobs["first_wait"].tolist() == [0.0, 99.0, 0.0]


def crowded(n=1500):
    """100 queues in 10 cohorts whose jobs evict each other, at 95 % load."""
    rng = np.random.Generator(np.random.PCG64(3))
    queues = [
        queue(f"q{i}", 24, cohort=f"c{i // 10}", reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
        for i in range(100)
    ]
    size = rng.integers(1, 9, n)
    runtime = rng.exponential(3600, n)
    gap = float((size * runtime).mean()) / (2400 * 1.4)
    table = {
        "queue": [f"q{i}" for i in rng.integers(0, 100, n)],
        "submit": np.cumsum(rng.exponential(gap, n)),
        "runtime": runtime,
        GPU: size,
        "priority": 100 * rng.integers(0, 2, n),
    }
    return cluster(*queues), kq.Jobs(table)


def endless(**fields):
    """Two queues that preempt each other in a loop with fair sharing."""
    policies = {"reclaim_within_cohort": "Any", "within_cluster_queue": "LowerPriority"}
    queues = [queue(name, 10, cohort="loop", **policies) for name in ("reclaiming", "borrowing")]
    rows = (("reclaiming", 6, 0), ("borrowing", 13, 0), ("reclaiming", 8, 10))
    jobs = [
        {"queue": name, "gpu": gpus, "priority": priority, "submit": i, "runtime": 100}
        for i, (name, gpus, priority) in enumerate(rows)
    ]
    return cluster(*queues, fair_sharing=kq.FairSharingConfig(), **fields), jobs


def test_a_preemption_loop_is_stopped_and_reported():
    there, jobs = endless()
    result = kq.simulate(there, jobs)
    assert result.kpis.evictions < 100
    (loop,) = result.loops
    assert (loop.at, loop.period) == (2.0, 2)
    assert str(loop) == "endless preemption at 2 s: the same decisions every 2 cycles for default/j0000001"
    assert result.warnings[0] == str(loop)
    assert result.kpis.finished == 3
    assert result.kpis.loops == 1


def test_pods_that_are_ready_at_once_do_not_end_a_preemption_loop():
    there, jobs = endless(wait_for_pods_ready=kq.objects.WaitForPodsReady())
    (loop,) = kq.simulate(there, jobs).loops
    assert (loop.at, loop.times) == (2.0, 1)


def test_a_preemption_loop_can_stop_the_run_or_raise():
    there, jobs = endless()
    assert kq.simulate(there, jobs, on_loop="stop").kpis.finished == 0
    with pytest.raises(kq.errors.LoopError, match="every 2 cycles"):
        kq.simulate(there, jobs, on_loop="raise")


def test_many_jobs_that_evict_each_other_terminate():
    there, jobs = crowded()
    result = kq.simulate(there, jobs)
    assert result.kpis.finished == len(jobs)
    assert 0 < result.kpis.evictions < 10 * len(jobs)


def test_finished_workloads_are_removed_from_the_engine():
    jobs = {"queue": ["q"] * 3000, "submit": np.arange(3000), "runtime": [1] * 3000, GPU: [1] * 3000}
    scheduler = kq.simulate(cluster(queue("q", 2)), kq.Jobs(jobs)).scheduler
    assert scheduler.keys() == ()
    assert len(scheduler.workloads) == 0


def test_an_interrupted_run_continues_exactly():
    count = 20_000
    jobs = {
        "queue": ["q"] * count,
        "submit": np.arange(count) // 10_000 * 500,
        "runtime": [60] * count,
        GPU: [1] * count,
    }
    start = kq.Simulation(cluster(queue("q", 100)), kq.Jobs(jobs))
    whole, interrupts, is_over = start.fork(), 0, True
    whole.run()

    def interrupt(*_):
        if not is_over:
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(1, 9):
            run, is_over = start.fork(), False
            while not is_over:
                try:
                    # The first signals arrive while the 10,000 workloads that were created at one time are reconciled.
                    signal.setitimer(signal.ITIMER_REAL, 0.004 * number)
                    run.run()
                    is_over = True
                except KeyboardInterrupt:  # noqa: PERF203 - each run is interrupted several times
                    interrupts += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert run.result().fingerprint == whole.result().fingerprint
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert interrupts


def test_a_warning_of_simulate_names_the_line_of_its_caller():
    with pytest.warns(UserWarning, match="than the queue can ever get|had not finished") as found:
        kq.simulate(cluster(queue("q", 4)), [{"queue": "q", "gpu": 5, "runtime": 1}])
    assert {warning.filename for warning in found} == {__file__}


def test_an_unknown_setting_of_simulate_is_named():
    with pytest.raises(kq.errors.InvalidSpecError, match=r'simulate: "modle" is not .* did you mean "model"'):
        kq.simulate(cluster(queue("q", 4)), [], modle=kq.sim.RunModel())


@pytest.mark.parametrize(("wrong", "meant"), [("gpus", "gpu"), ("runtme", "runtime"), ("prioritty", "priority")])
def test_a_misspelled_column_is_noted(wrong, meant, tmp_path):
    rows = [{"queue": "q", "submit": 0, "runtime": 1, wrong: 3}]
    told = f'column "{wrong}" is not a field of a job; did you mean "{meant}"?'
    assert (told, 1) in kq.Jobs.of(rows).notes
    assert (told, 1) in kq.Jobs({"queue": ["q"], "submit": [0], "runtime": [1]}).assign(**{wrong: 3}).notes
    path = tmp_path / "jobs.csv"
    path.write_text(f"queue,submit,runtime,{wrong}\nq,0,1,3\n", encoding="utf-8")
    assert (told, 1) in kq.Jobs.read(path).notes
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}))
    with pytest.warns(UserWarning, match=f'1 job: column "{wrong}"'):
        kq.simulate(cluster, rows)


@pytest.mark.parametrize("own", ["user", "id", "host", "recorded_wait", "past_runtime", "account", "start_time"])
def test_a_column_of_another_meaning_is_not_noted(own):
    assert kq.Jobs.of([{"queue": "q", own: 3, "runtime": 1}]).notes == ()


def test_suggestions_are_similar():
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}})))
    scheduler.submit({"name": "b4", "queue": "q", "cpu": 1})
    with pytest.raises(kq.errors.NotFoundError, match="known are default/b4"):
        scheduler.explain("zz")
    with pytest.raises(kq.errors.NotFoundError, match='did you mean "default/b4"'):
        scheduler.explain("b44")
    result = kq.simulate(scheduler.cluster, [{"queue": "q", "cpu": 1, "runtime": 1}])
    with pytest.raises(kq.errors.NotFoundError) as raised:
        result.by("Account")
    assert "did you mean" not in str(raised.value)


@pytest.mark.parametrize(("row", "what"), [({"gpu": 1, "cpu": 2}, "cpu"), ({"gpu": 8}, GPU)])
def test_all_jobs_that_can_never_be_admitted_are_counted(row, what):
    rows = [{"queue": "q", "submit": i, "runtime": 60, **row} for i in range(50)]
    there = cluster(queue("q", 4))
    told = (
        f"50 jobs of default/q request more {what} than the queue can ever get, 4 GPUs"
        if what == GPU
        else "50 jobs of default/q request cpu, which the queue does not cover: drop its column, or list it in "
        "resources.excludeResourcePrefixes of the Configuration"
    )
    with pytest.warns(UserWarning, match=told):
        result = kq.simulate(there, rows)
    assert result.warnings[0] == told == kq.Jobs.of(rows).check(there)[0]
    text = " ".join(str(result).split())
    assert f"Largest problem: {told}." in text
    assert "limits the jobs" not in text
    assert f"Largest problem under “a”: {told}." in " ".join(str(kq.compare({"a": there, "b": there}, rows)).split())


def test_a_quota_that_changes_is_no_limit_to_what_a_job_can_ever_get(tmp_path):
    event = kq.sim.Event("1h", kq.sim.Edit(f"ClusterQueue/q:quota[f/{GPU}].nominalQuota", 8))
    rows = [{"queue": "q", "submit": 0, "runtime": 60, "gpu": 8}] * 2
    assert kq.simulate(cluster(queue("q", 4)), rows, events=[event]).kpis.finished == 2
    with pytest.warns(UserWarning, match=r"2 jobs can never be admitted: j0000000, j0000001 \(ExceedsMaxQuota\)"):
        result = kq.simulate(cluster(queue("q", 4)), rows, events=[event], until="1m")
    result.save(tmp_path)
    # The warning stays one when the result is read again.
    assert kq.load_result(tmp_path).warnings == result.warnings
