"""Simulations run step by step, with jobs and changes added between steps."""

import pytest

import kueuepy as kq
from kueuepy.objects.queue import quotas_of
from kueuepy.simulation.model import delay_options

from .conftest import GPU, cluster, queue


def rows(*jobs):
    return [{"queue": "q", "submit": at, "runtime": run, "gpu": gpus} for at, run, gpus in jobs]


def test_a_step_processes_one_point_in_time():
    run = kq.Simulation(cluster(queue("q", 1)), rows((0, 10, 1), (5, 10, 1)))
    seen = []
    while run.step():
        seen.append((run.now, run.states.tolist()))
    assert seen == [(0.0, [2, 0]), (5.0, [2, 1]), (10.0, [3, 2]), (20.0, [3, 3])]
    assert not run.step()
    whole = kq.simulate(cluster(queue("q", 1)), rows((0, 10, 1), (5, 10, 1)))
    assert run.result().fingerprint == whole.fingerprint
    assert run.close().fingerprint == whole.fingerprint


def test_applied_quota_is_used_immediately():
    run = kq.Simulation(cluster(queue("q", 1)), rows((0, 100, 1), (0, 100, 1)))
    run.run(until=30)
    run.apply(kq.sim.Edit(f"ClusterQueue/q:quota[f/{GPU}].nominalQuota", 2))
    run.run()
    result = run.result()
    assert result.jobs["first_start"].tolist() == [0.0, 30.0]
    assert result.at(29).quota.rows() != result.at(31).quota.rows()
    assert result.kpis.utilisation[f"f/{GPU}"] == pytest.approx(200 / (30 + 2 * 100))


def test_an_event_equals_the_same_change_by_hand():
    edit = kq.sim.Edit(f"ClusterQueue/q:quota[f/{GPU}].nominalQuota", 2)
    planned = kq.simulate(cluster(queue("q", 1)), rows((0, 100, 1), (0, 100, 1)), events=[kq.sim.Event(30, edit)])
    run = kq.Simulation(cluster(queue("q", 1)), rows((0, 100, 1), (0, 100, 1)))
    run.run(until=30)
    run.apply(edit)
    run.run()
    assert run.result().fingerprint == planned.fingerprint


def test_a_change_by_hand_follows_the_events_of_the_same_time():
    added = kq.ClusterQueue.of("later", {"f": {GPU: 1}}, cohort_name="all")
    run = kq.Simulation(cluster(queue("q", 1)), rows((0, 60, 1)), events=[kq.sim.Event("10s", added)])
    run.run(until=10)
    run.apply(kq.sim.Edit("ClusterQueue/later:cohortName", "others"))
    run.run()
    assert {one.name: one.cohort_name for one in run.scheduler.cluster.cluster_queues}["later"] == "others"


def test_deleting_a_local_queue_without_namespace_deletes_that_of_the_default_namespace():
    events = [kq.sim.Event("10s", kq.sim.Delete("LocalQueue/q"))]
    result = kq.simulate(cluster(queue("q", 1)), rows((0, 5, 1), (20, 5, 1)), events=events)
    assert result.jobs["state"].tolist() == ["Finished", "Waiting"]


def test_jobs_can_be_evicted_finished_and_reprioritised_by_hand():
    run = kq.Simulation(cluster(queue("q", 1)), rows((0, 100, 1), (0, 100, 1), (0, 100, 1)))
    run.run(until=10)
    run.apply(kq.sim.Priority(2, 100))
    run.apply(kq.sim.Finish(0))
    run.run()
    assert run.result().jobs["first_start"].tolist() == [0.0, 110.0, 10.0]
    with pytest.raises(kq.errors.NotFoundError, match="names no job"):
        run.apply(kq.sim.Finish("nobody"))


def test_a_submitted_job_arrives_after_the_others_of_the_same_time():
    """Failures of nodes evict jobs by the order of their arrival; all of them evict the last job."""
    given, added = rows((0, 10, 1), (20, 3600, 1)), rows((20, 3600, 1))
    options = {"delays": [kq.sim.Failures("f", "1h", 60, {GPU: 1}, lowers_quota=False)], "until": 20000}
    whole = kq.simulate(cluster(queue("q", 2)), given + added, **options)
    run = kq.Simulation(cluster(queue("q", 2)), given, **options)
    run.run(until=15)
    run.submit(added)
    run.run()
    assert whole.jobs["evictions"].tolist() == [0, 0, 2]
    assert run.result().fingerprint == whole.fingerprint


def test_submitted_jobs_are_ordered_among_the_others():
    given = rows((0, 10, 1), (50, 10, 1), (90, 10, 1))
    run = kq.Simulation(cluster(queue("q", 1)), given[:1] + given[2:])
    run.run(until=20)
    run.submit(given[1])
    run.run()
    result = run.result()
    assert result.jobs["first_start"].tolist() == [0.0, 90.0, 50.0]
    assert result.jobs["job"].tolist() == [0, 1, 2]
    assert result.name_of(2) == "j0000002"
    assert result.at(55).keys() == ("default/j0000002",)


def test_submissions_in_the_past_happen_now():
    run = kq.Simulation(cluster(queue("q", 2)), rows((0, 100, 1)))
    run.run(until=40)
    run.submit([{"queue": "q", "runtime": 10, "gpu": 1}, {"queue": "q", "runtime": 5, "gpu": 1}])
    run.run()
    result = run.result()
    assert result.jobs["submit"].tolist() == [0.0, 40.0, 40.0]
    assert result.jobs["first_start"].tolist() == [0.0, 40.0, 50.0]
    with pytest.raises(kq.errors.NotFoundError, match="LocalQueues that are not in the cluster"):
        run.submit({"queue": "nowhere", "runtime": 10, "gpu": 1})


def test_a_planned_change_belongs_to_its_job():
    given = rows((0, 10, 1), (50, 100, 1))
    run = kq.Simulation(cluster(queue("q", 1)), given, events=[kq.sim.Event(60, kq.sim.Finish(1))])
    run.run(until=20)
    run.submit(rows((30, 5, 1))[0])
    run.run()
    assert run.result().jobs["end"].tolist() == [10.0, 60.0, 35.0]


def test_the_scheduler_of_a_simulation_numbers_its_workloads_after_the_jobs():
    run = kq.Simulation(cluster(queue("q", 1)), rows((0, 9, 1), (1, 9, 1)))
    run.run(until=5)
    there = run.scheduler
    (key,) = there.submit({"name": "x", "queue": "q", GPU: 1})
    assert there.workload(key).uid.endswith("-000000000003")


def test_a_fork_is_independent():
    run = kq.Simulation(cluster(queue("q", 1)), rows((0, 10, 1), (5, 10, 1)))
    run.step()
    twin = run.fork()
    twin.submit({"queue": "q", "runtime": 10, "gpu": 1})
    twin.run()
    run.run()
    assert len(run.result().jobs) == 2
    assert len(twin.result().jobs) == 3
    whole = kq.simulate(cluster(queue("q", 1)), rows((0, 10, 1), (5, 10, 1)))
    assert run.result().fingerprint == whole.fingerprint


def test_capacity_is_added_with_the_first_ready_check():
    check = kq.AdmissionCheck("prov", controller_name="example.com/prov")
    there = cluster(
        check,
        kq.ClusterQueue.of(
            "q", {"f": {GPU: 1}}, admission_checks_strategy=[kq.objects.AdmissionCheckStrategyRule("prov")]
        ),
    )
    edit = kq.sim.Edit(f"ClusterQueue/q:quota[f/{GPU}].nominalQuota", 2)
    jobs = rows((0, 100, 1), (0, 100, 1))
    plain = kq.simulate(there, jobs, delays=[kq.sim.CheckDelay("prov", 60)])
    assert plain.jobs["first_start"].tolist() == [60.0, 220.0]
    grown = kq.simulate(there, jobs, delays=[kq.sim.CheckDelay("prov", 60, capacity=edit)])
    assert grown.jobs["first_start"].tolist() == [60.0, 120.0]


def test_the_capacity_of_a_delay_keeps_that_of_the_delays_before_it():
    quotas = {"f": {GPU: 1, "cpu": 1}}
    edits = [kq.sim.Edit(f"ClusterQueue/q:quota[f/{name}].nominalQuota", 5) for name in (GPU, "cpu")]
    delays = [kq.sim.CheckDelay(name, 60, capacity=edit) for name, edit in zip("ab", edits, strict=True)]
    found = delay_options(delays, 0, cluster(kq.ClusterQueue.of("q", quotas)))
    (last,) = found["checks"][1]["capacity"]
    assert {quota.name: quota.nominal_quota for _, quota in quotas_of(last)} == {GPU: 5, "cpu": 5}


def test_policies_are_compared_on_an_unchanged_table():
    jobs = kq.Jobs({"queue": ["q", "q"], "submit": ["0s", "10s"], "runtime": ["1m", "1m"], GPU: [1, 1]})
    found = kq.compare({"one": cluster(queue("q", 1)), "two": cluster(queue("q", 2))}, jobs)
    assert [kpis.wait_mean for kpis in found.kpis.values()] == [25.0, 0.0]


def test_due_usage_samples_of_a_held_queue_do_not_stop_time():
    # The next sample of `a` is due at 600 s. It is not taken, since `a` is on hold, and must not be due again.
    held = kq.LocalQueue("a", cluster_queue="cq", stop_policy="Hold")
    shared = kq.Cluster(
        kq.ResourceFlavor("f"),
        kq.ClusterQueue.of("cq", {"f": {GPU: 1}}, admission_scope="UsageBasedAdmissionFairSharing"),
        kq.LocalQueue("a", cluster_queue="cq"),
        kq.LocalQueue("b", cluster_queue="cq"),
        configuration=kq.Configuration(admission_fair_sharing=kq.objects.AdmissionFairSharing()),
    )
    jobs = [{"queue": name, "runtime": runtime, "gpu": 1} for name, runtime in (("a", 400), ("b", 1000))]
    run = kq.Simulation(shared, jobs, events=[kq.sim.Event("7m", held)])
    moments = [run.now for _ in range(20) if run.step()]
    assert moments == [0, 300, 400, 420, 600, 700, 1000, 1300, 1400]


def test_each_job_that_was_submitted_later_can_be_changed():
    run = kq.Simulation(cluster(queue("q", 9)), [{"queue": "q", "submit": 0, "runtime": 90, "gpu": 1}])
    run.submit([{"queue": "q", "submit": 0, "runtime": 90, "gpu": 1, "name": name} for name in ("a", "b")])
    run.run(5)
    for job in (1, "b", 0):
        run.apply(kq.sim.Finish(job))
        run.run(run.now + 1)
    run.run()
    assert run.result().jobs["end"].tolist() == [7, 5, 6]
    with pytest.raises(kq.errors.NotFoundError, match="names no job"):
        run.apply(kq.sim.Finish("default/j0000003"))
