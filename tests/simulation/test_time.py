"""Time in simulations: run models, changes, cycle durations, delays and failures."""

from datetime import datetime, timezone

import numpy as np
import pytest

import kueuepy as kq

from .conftest import GPU, cluster, queue


def victim(**fields):
    """A job of 100 s that an urgent one evicts after 25 s for 10 s."""
    low = {"queue": "q", "submit": 0, "runtime": 100, "gpu": 2, "priority": 0, **fields}
    return [low, {"queue": "q", "submit": 25, "runtime": 10, "gpu": 2, "priority": 9}]


@pytest.mark.parametrize(
    ("model", "end", "lost", "overhead"),
    [
        (kq.sim.RunModel(), 135, 25, 0),
        (kq.sim.RunModel("resume"), 110, 0, 0),
        (kq.sim.RunModel("checkpoint", every=10), 115, 5, 0),
        (kq.sim.RunModel("checkpoint", every=10, cost=1), 25 + 10 + 80 + 7, 3, 2 + 7),
        (kq.sim.RunModel("resume", restore=4), 114, 0, 4),
        (kq.sim.RunModel(grace=5), 140, 25, 0),
    ],
)
def test_the_cost_of_an_eviction(one, model, end, lost, overhead):
    jobs = kq.simulate(one, victim(), model=model).jobs
    assert (jobs["end"][0], jobs["lost"][0], jobs["overhead"][0]) == (end, lost, overhead)
    assert jobs["evictions"].tolist() == [1, 0]


def test_a_column_of_the_jobs_wins_over_the_model(one):
    assert kq.simulate(one, victim(every=10)).jobs["lost"][0] == 5


def test_quota_is_kept_during_the_grace_period(one):
    result = kq.simulate(one, victim(), model=kq.sim.RunModel("resume", grace=5))
    assert result.jobs["held"].tolist() == [105, 10]
    assert result.jobs["first_wait"].tolist() == [0, 5]


@pytest.mark.parametrize(("resumed", "restart"), [(50, 110), (150, 150)])
def test_a_job_restarts_after_its_grace_period_if_its_queue_was_resumed(one, resumed, restart):
    """The end of the grace period is the last event, so the job must be requeued at that time."""
    stops = [(10, "HoldAndDrain"), (resumed, "None")]
    events = [kq.sim.Event(at, kq.sim.Edit("ClusterQueue/q:stopPolicy", policy)) for at, policy in stops]
    result = kq.simulate(one, victim()[:1], events=events, model=kq.sim.RunModel(grace=100))
    assert result.runs["reserved"].tolist() == [0, restart]
    assert result.jobs["end"].tolist() == [restart + 100]


def test_quota_changes_at_its_time():
    jobs = [{"queue": "q", "submit": 0, "runtime": 10, "gpu": 1} for _ in range(3)]
    more = [
        kq.sim.Event("4s", kq.sim.Edit(f"ClusterQueue/q:quota[f/{GPU}].nominalQuota", 3)),
        kq.sim.Event("2s", queue("q", 2)),
    ]
    result = kq.simulate(cluster(queue("q", 1)), jobs, events=more)
    assert result.jobs["first_start"].tolist() == [0, 2, 4]
    assert result.kpis.utilisation[f"f/{GPU}"] == pytest.approx(30 / (2 * 1 + 2 * 2 + 10 * 3))


def test_an_event_repeats_each_day():
    every = kq.sim.Event(every="1d", at="22:00", what=kq.sim.Edit("ClusterQueue/q:stopPolicy", "None"))
    assert every.occurrences("x", 3 * 86400 * 10**9) == [(22 + 24 * n) * 3600 * 10**9 for n in range(3)]


def test_jobs_are_finished_evicted_and_reprioritised_by_events(one):
    jobs = [{"name": name, "queue": "q", "submit": 0, "runtime": 100, "gpu": 2} for name in ("a", "b", "c")]
    events = [kq.sim.Event(1, kq.sim.Priority("c", 5)), kq.sim.Event(10, kq.sim.Finish("c"))]
    result = kq.simulate(one, jobs, events=events)
    assert result.jobs["end"].tolist() == [110, 210, 10]
    assert result.jobs["evictions"].tolist() == [1, 0, 0]
    for name in ("a", "default/a"):
        assert kq.simulate(one, jobs[:1], events=[kq.sim.Event(10, kq.sim.Evict(name))]).jobs["end"].tolist() == [110]
    with pytest.raises(kq.errors.NotFoundError, match="names no job"):
        kq.simulate(one, jobs[:1], events=[kq.sim.Event(10, kq.sim.Evict("other/a"))])


def test_cycles_with_a_duration_admit_one_head_each():
    jobs = [{"queue": "q", "submit": 0, "runtime": 100, "gpu": 1} for _ in range(4)]
    result = kq.simulate(cluster(queue("q", 4)), jobs, clock=kq.sim.Clock(2, per_head="500ms"))
    assert result.jobs["first_start"].tolist() == [0, 2.5, 5, 7.5]


def test_checks_become_ready_after_a_delay_and_can_fail():
    there = kq.Cluster(
        kq.ResourceFlavor("f"),
        kq.AdmissionCheck("nodes", controller_name="example.com/nodes"),
        kq.ClusterQueue.of(
            "q", {"f": {GPU: 1}}, admission_checks_strategy=(kq.objects.AdmissionCheckStrategyRule("nodes"),)
        ),
    )
    jobs = [{"queue": "q", "submit": 0, "runtime": 100, "gpu": 1}]
    result = kq.simulate(there, jobs, delays=[kq.sim.CheckDelay("nodes", "30s")])
    assert (result.jobs["first_start"][0], result.jobs["end"][0], result.jobs["held"][0]) == (30, 130, 130)
    assert kq.simulate(there, jobs).jobs["state"][0] == "Running"
    failing = kq.simulate(there, jobs * 50, delays=[kq.sim.CheckDelay("nodes", "30s", fails=0.5)])
    assert failing.kpis.finished == 50
    assert 20 < failing.kpis.evictions < 100


@pytest.mark.parametrize(
    "times", [{"when": "0d 00:01:30"}, {"when": "90s"}, {"every": "1h", "at": "00:01:30", "times": 1}]
)
def test_a_time_of_day_has_seconds(one, times):
    jobs = [{"queue": "q", "submit": 0, "runtime": 10, "gpu": 1}]
    hold, release = (kq.sim.Edit("ClusterQueue/q:stopPolicy", policy) for policy in ("Hold", "None"))
    held = kq.simulate(one, jobs, events=[kq.sim.Event(0, hold), kq.sim.Event(what=release, **times)])
    assert held.jobs["first_start"][0] == 90


def provisioned(**spec):
    """Return a cluster whose check has a ProvisioningRequestConfig with these fields."""
    named = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "config"}
    check = kq.AdmissionCheck("nodes", controller_name="kueue.x-k8s.io/provisioning-request", parameters=named)
    rules = (kq.objects.AdmissionCheckStrategyRule("nodes"),)
    there = kq.ClusterQueue.of("q", {"f": {GPU: 9, "cpu": 9}}, admission_checks_strategy=rules)
    config = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": named["kind"], "metadata": {"name": "config"}}
    config["spec"] = {"provisioningClassName": "class", **spec}
    return kq.load([kq.dump(kq.Cluster(kq.ResourceFlavor("f"), check, there)), config])


@pytest.mark.parametrize("kind", [lambda cluster: cluster, kq.Scheduler])
def test_failed_provisioning_is_retried_as_the_config_says(kind):
    jobs = [{"queue": "q", "submit": 0, "runtime": 100, "gpu": 1}]
    failing = [kq.sim.CheckDelay("nodes", "10s", fails=1.0)]
    strategy = {"backoffBaseSeconds": 60, "backoffMaxSeconds": 100, "backoffLimitCount": 2}
    result = kq.simulate(kind(provisioned(retryStrategy=strategy)), jobs, delays=failing)
    assert (result.jobs["state"][0], result.jobs["evictions"][0]) == ("Deactivated", 3)
    # Quota until each eviction: 10 s and 60 s; 10 s and 100 s; 10 s until the check is rejected.
    assert (result.jobs["held"][0], result.jobs["end"][0]) == (70 + 110 + 10, 190)
    none = kq.simulate(kind(provisioned(retryStrategy={"backoffLimitCount": 0})), jobs, delays=failing)
    assert (none.jobs["state"][0], none.jobs["end"][0]) == ("Deactivated", 10)


def test_only_jobs_with_a_managed_resource_wait_for_nodes():
    jobs = [{"queue": "q", "submit": 0, "runtime": 100, "cpu": 1, "gpu": gpu} for gpu in (0, 1)]
    for fails, start, ends in ((0.0, [0, 30], [100, 130]), (1.0, [0, np.nan], [100, 30])):
        there = provisioned(managedResources=[GPU], retryStrategy={"backoffLimitCount": 0})
        result = kq.simulate(there, jobs, delays=[kq.sim.CheckDelay("nodes", "30s", fails=fails)])
        np.testing.assert_array_equal(result.jobs["first_start"], start)
        assert result.jobs["end"].tolist() == ends


def test_revoked_capacity_deactivates_a_running_job():
    jobs = [{"queue": "q", "submit": 0, "runtime": runtime, "gpu": 1} for runtime in (50, 100)]
    result = kq.simulate(provisioned(), jobs, delays=[kq.sim.CheckDelay("nodes", "30s", revoked="60s")])
    assert result.jobs["state"].tolist() == ["Finished", "Deactivated"]
    assert result.jobs["end"].tolist() == [80, 90]


@pytest.mark.parametrize(
    ("expires", "revoked", "state", "held", "end"),
    [
        ("10s", None, "Deactivated", (30 + 10 + 60) + (30 + 10), 140),  # not admitted: a retry, and no further one
        ("10s", "25s", "Deactivated", 100, 100),  # revoked while the retry waits, which Kueue sees after the wait
        ("30s", None, "Finished", 150, 150),  # admitted after 50 s
        ("30s", "40s", "Deactivated", 70, 70),
    ],
)
def test_a_booking_that_expires_before_the_other_checks_are_ready_is_retried(expires, revoked, state, held, end):
    rules = [kq.objects.AdmissionCheckStrategyRule(name) for name in ("nodes", "budget")]
    there = provisioned(retryStrategy={"backoffLimitCount": 1}).replace(
        kq.AdmissionCheck("budget", controller_name="example.com/budget"),
        kq.ClusterQueue.of("q", {"f": {GPU: 9, "cpu": 9}}, admission_checks_strategy=rules),
    )
    nodes = kq.sim.CheckDelay("nodes", "30s", expires=expires, revoked=revoked)
    jobs = [{"queue": "q", "submit": 0, "runtime": 100, "gpu": 1}]
    result = kq.simulate(there, jobs, delays=[nodes, kq.sim.CheckDelay("budget", "50s")])
    assert [result.jobs[name][0] for name in ("state", "held", "end")] == [state, held, end]


def test_pods_start_after_a_delay(one):
    jobs = [{"queue": "q", "submit": 0, "runtime": 100, "gpu": 1}]
    result = kq.simulate(one, jobs, delays=[kq.sim.Startup("f", 7)])
    assert (result.jobs["end"][0], result.jobs["overhead"][0]) == (107, 7)


def test_pods_that_are_not_ready_in_time_are_evicted_with_backoff():
    waits = kq.objects.WaitForPodsReady(timeout=60)
    there = cluster(queue("q", 1), wait_for_pods_ready=waits)
    jobs = [{"queue": "q", "submit": 0, "runtime": 10, "gpu": 1}]
    slow = kq.simulate(there, jobs, delays=[kq.sim.Startup("f", 90)], until=100)
    assert slow.jobs["evictions"][0] == 1
    assert slow.decisions["reason"][2] == "PodsReadyTimeout"


def test_node_failures_are_proportional_to_usage():
    there = cluster(queue("q", 100))
    jobs = kq.Jobs({"queue": ["q"] * 50, "submit": [0] * 50, "runtime": ["10d"] * 50, GPU: [1] * 50})
    failures = kq.sim.Failures("f", mtbf="50d", repair="1h", unit={GPU: 1})
    result = kq.simulate(there, jobs, model=kq.sim.RunModel("resume"), delays=[failures])
    # 100 nodes fail 2 times a day, and half of them are used: 10 evictions in 10 days.
    assert 3 <= result.kpis.evictions <= 20
    assert result.kpis.finished == 50
    assert (
        kq.simulate(there, jobs, model=kq.sim.RunModel("resume"), delays=[failures], seed=1).fingerprint
        != result.fingerprint
    )


def test_a_run_with_until_reports_unfinished_jobs():
    jobs = [{"queue": "q", "submit": n, "runtime": 100, "gpu": 1} for n in range(3)]
    result = kq.simulate(cluster(queue("q", 1)), jobs, until="1m")
    assert [result.jobs["state"][row] for row in range(3)] == ["Running", "Waiting", "Waiting"]
    assert result.seconds == 60
    assert result.jobs["waited"].tolist() == [0, 59, 58]
    assert "3 of 3 jobs had not finished at the end" in result.warnings


def test_a_warm_up_is_excluded():
    jobs = [{"queue": "q", "submit": n * 10, "runtime": 10, "gpu": 1} for n in range(10)]
    kpis = kq.simulate(cluster(queue("q", 2)), jobs, warmup=50).kpis
    assert (kpis.jobs, kpis.seconds, kpis.utilisation[f"f/{GPU}"]) == (5, 50, 0.5)


def test_elastic_jobs_run_longer_with_fewer_pods():
    jobs = [{"queue": "q", "submit": 0, "runtime": 100, "gpu": 1, "pods": 4, "min_pods": 1, "elastic": True}]
    there = cluster(queue("q", 2))
    assert kq.simulate(there, jobs).jobs["end"][0] == 200


def test_a_simulation_continues_from_a_scheduler():
    scheduler = kq.Scheduler(cluster(queue("q", 1)))
    scheduler.submit([{"name": "held", "queue": "q", "gpu": 1}])
    scheduler.settle()
    row = {"name": "held", "queue": "q", "gpu": 1, "runtime": 30}
    result = kq.simulate(scheduler, [row, {"name": "next", "queue": "q", "gpu": 1, "runtime": 5}])
    assert result.jobs["end"].tolist() == [30, 35]
    stays = kq.simulate(scheduler, [{"name": "next", "queue": "q", "gpu": 1, "runtime": 5}])
    assert np.isnan(stays.jobs["end"]).all()


def test_the_scheduler_at_a_point_in_time_answers_questions(one):
    jobs = [{"name": name, "queue": "q", "submit": n, "runtime": 100, "gpu": 2} for n, name in enumerate("abc")]
    result = kq.simulate(one, jobs)
    scheduler = result.at(150)
    assert scheduler.now == 150
    assert str(scheduler.explain("c")).startswith("default/c is pending")
    assert scheduler.workload("b").status is not None
    assert set(scheduler.keys()) == {"default/b", "default/c"}


def test_a_fork_ends_with_the_same_bytes(one):
    jobs = [{"queue": "q", "submit": n * 7, "runtime": 20, "gpu": 1 + n % 2, "priority": n % 3} for n in range(40)]
    run = kq.Simulation(one, jobs)
    run.run(90)
    fork = run.fork()
    run.run()
    fork.run()
    whole = kq.simulate(one, jobs)
    assert run.result().fingerprint == fork.result().fingerprint == whole.fingerprint


def test_invalid_arguments_are_reported(one):
    row = {"queue": "q", "submit": 0, "runtime": 1, "gpu": 1}
    with pytest.raises(kq.errors.InvalidSpecError, match=r"checkpoint.* needs every > 0"):
        kq.simulate(one, [row], model=kq.sim.RunModel("checkpoint"))
    with pytest.raises(kq.errors.NotFoundError, match=r"2 of 3 name LocalQueues .* default/z \(2 jobs\)"):
        kq.simulate(one, [row, {**row, "queue": "z"}, {**row, "queue": "z"}])
    assert kq.simulate(one, [row, {**row, "queue": "z"}], missing="skip").kpis.jobs == 1
    with pytest.raises(kq.errors.DuplicateError, match='"default/a": two jobs have this name'):
        kq.simulate(one, [{**row, "name": "a"}] * 2)
    hopeless = kq.simulate(one, [{**row, "gpu": 3}])
    assert hopeless.warnings[0].startswith("1 job of default/q requests more")
    assert hopeless.warnings[-1] == "1 of 1 job had not finished at the end"
    assert "<Result: 0 of 1 job finished in 0 s; " in repr(hopeless)


def rows(*jobs):
    return [dict(zip(("queue", "submit", "runtime", "gpu", "priority"), job, strict=False)) for job in jobs]


def test_an_urgent_job_evicts_a_job_that_waits_for_nodes():
    there = kq.Cluster(
        kq.ResourceFlavor("f"),
        kq.AdmissionCheck("nodes", controller_name="example.com/nodes"),
        kq.ClusterQueue.of(
            "q",
            {"f": {GPU: 1}},
            preemption=kq.Preemption(within_cluster_queue="LowerPriority"),
            admission_checks_strategy=(kq.objects.AdmissionCheckStrategyRule("nodes"),),
        ),
    )
    result = kq.simulate(
        there, rows(("q", 0, 100, 1, 0), ("q", 10, 50, 1, 9)), delays=[kq.sim.CheckDelay("nodes", "30s")]
    )
    # Each job has quota for 30 s before it starts; quota time before admission is not progress.
    assert result.jobs["first_start"].tolist() == [90 + 30, 10 + 30]
    assert result.jobs["held"].tolist() == [10 + 130, 80]
    assert result.jobs["waited"].tolist() == [80, 0]
    assert result.jobs["lost"].tolist() == [0, 0]
    assert [row["start"] for row in result.runs.rows()][1:] == [40, 120]


def test_pods_start_and_restore_before_they_work():
    there = cluster(queue("q", 1, within_cluster_queue="LowerPriority"))
    model = kq.sim.RunModel("checkpoint", every=4, cost=1, restore=3)
    jobs = rows(("q", 0, 100, 1, 0), ("q", 40, 50, 1, 9))
    told = kq.simulate(there, jobs, delays=[kq.sim.Startup("f", "30s")], model=model).jobs
    # In 40 s: 30 of start, two checkpoints after 4 each. The urgent one: 30, 50 and twelve checkpoints.
    assert told["end"].tolist() == [40 + 92 + 30 + 3 + 92 + 22, 40 + 30 + 50 + 12]
    assert told["overhead"].tolist() == [30 + 2 + 30 + 3 + 22, 30 + 12]
    assert told["lost"].tolist() == [0, 0]
    early = kq.simulate(there, rows(("q", 0, 100, 1, 0), ("q", 10, 50, 1, 9)), delays=[kq.sim.Startup("f", "30s")]).jobs
    assert (early["overhead"].tolist(), early["lost"].tolist()) == ([10 + 30, 30], [0, 0])


def test_two_jobs_may_select_the_same_victims_during_the_grace_period():
    there = cluster(queue("q", 1, within_cluster_queue="LowerPriority"))
    jobs = rows(("q", 0, 100, 1, 0), ("q", 10, 50, 1, 9), ("q", 12, 5, 1, 10))
    told = kq.simulate(there, jobs, model=kq.sim.RunModel("resume", grace=7)).jobs
    # A preemptor stays at the head until its victim has stopped, and is then preempted.
    assert told["first_start"].tolist() == [0, 17, 24]
    assert told["held"].tolist() == [10 + 7 + 90, 0 + 7 + 50, 5]
    assert told["end"].tolist() == [79 + 90, 29 + 50, 29]


def test_quota_is_reduced_and_increased_while_jobs_run():
    nominal = f"ClusterQueue/q:quota[f/{GPU}].nominalQuota"
    events = [kq.sim.Event(3, kq.sim.Edit(nominal, 1)), kq.sim.Event(30, kq.sim.Edit(nominal, 2))]
    result = kq.simulate(cluster(queue("q", 2)), rows(*(("q", n, 10, 1) for n in range(3))), events=events)
    assert result.jobs["first_start"].tolist() == [0, 1, 11]
    assert result.kpis.utilisation[f"f/{GPU}"] == pytest.approx(30 / (2 * 3 + 1 * 27))
    assert result.kpis.borrowed_hours[f"f/{GPU}"] == pytest.approx(7 / 3600)


@pytest.mark.parametrize(
    ("policy", "starts", "ends"), [("Hold", [0, 20], [10, 30]), ("HoldAndDrain", [0, 30], [30, 40])]
)
def test_a_queue_stops_and_resumes(policy, starts, ends):
    stop = "ClusterQueue/q:stopPolicy"
    events = [kq.sim.Event(3, kq.sim.Edit(stop, policy)), kq.sim.Event(20, kq.sim.Edit(stop, "None"))]
    told = kq.simulate(cluster(queue("q", 1)), rows(("q", 0, 10, 1), ("q", 1, 10, 1)), events=events).jobs
    assert (told["first_start"].tolist(), told["end"].tolist()) == (starts, ends)


def test_a_running_cycle_ignores_new_events_and_an_idle_scheduler_starts_a_cycle_at_once():
    jobs = rows(("q", 0, 5, 1), ("q", 3, 5, 1), ("q", 100, 5, 1))
    told = kq.simulate(cluster(queue("q", 1)), jobs, clock=kq.sim.Clock(10)).jobs
    assert told["first_start"].tolist() == [0, 10, 100]
    two = [("a", 0, 9, 1), ("a", 0, 9, 1), ("b", 0, 9, 1)]
    there = cluster(queue("a", 3), queue("b", 3))
    told = kq.simulate(there, rows(*two), clock=kq.sim.Clock(2, per_head="500ms")).jobs
    assert told["first_start"].tolist() == [0, 2 + 2 * 0.5, 0]


def test_metrics_of_a_small_run_computed_by_hand():
    result = kq.simulate(cluster(queue("q", 1)), rows(("q", 0, 2, 1), ("q", 0, 4, 1), ("q", 0, 20, 1)))
    kpis = result.kpis
    assert (kpis.slowdown, kpis.slowdown_p95) == (pytest.approx((1 + 1.5 + 1.3) / 3), 1.5)
    assert (kpis.bounded_slowdown, kpis.bounded_slowdown_p95) == (pytest.approx((1 + 1 + 1.3) / 3), 1.3)
    assert result.figures(bound=1).bounded_slowdown == kpis.slowdown
    assert kpis.goodput == kpis.useful == pytest.approx((1 + 4 / 6 + 20 / 26) / 3)
    assert (kpis.wait_mean, kpis.wait_p50, kpis.wait_p95, kpis.longest_wait) == (pytest.approx(8 / 3), 2, 6, 6)
    assert kpis.waiting_mean == pytest.approx(8 / 26)
    assert kpis.waiting_max == 2  # the first waits for no time
    assert (kpis.makespan, kpis.throughput) == (26, pytest.approx(3 / 26 * 3600))


def test_metrics_with_a_warm_up_computed_by_hand():
    kpis = kq.simulate(cluster(queue("q", 1)), rows(*(("q", n, 10, 1) for n in range(3))), warmup=2).kpis
    assert (kpis.jobs, kpis.wait_mean, kpis.seconds, kpis.makespan) == (1, 18, 28, 30)
    # The second waits until 10 s, the third from 2 to 20 s.
    assert kpis.waiting_mean == pytest.approx((8 + 18) / 28)
    assert kpis.throughput == pytest.approx(3600 / 28)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (kq.sim.Delete(kq.Node("n1")), r"events: Delete: what: is Node\(name='n1'.*; it must be text such as Node/n1"),
        (kq.sim.Delete("Node/n2"), 'events: "Node/n2" names no object; known are .*Node/n1'),
        (kq.sim.Delete("Nodes/n1"), 'events: "Nodes/n1" names no object'),
        (kq.sim.Edit(kq.Node("n1"), 5), "events: Edit: path: is Node.*; it must be text"),
    ],
)
def test_an_event_that_names_nothing_is_an_error(one, what, told):
    there = one.replace(kq.Node("n1", capacity={"cpu": 1}))
    with pytest.raises(kq.errors.KueueError, match=told):
        kq.simulate(there, [{"queue": "q", "submit": 0, "runtime": 1}], events=[kq.sim.Event("1s", what)])


def test_what_an_event_adds_can_be_deleted_again_and_again(one):
    events = [kq.sim.Event("1s", kq.Node("n9")), kq.sim.Event(every="2s", times=3, what=kq.sim.Delete("Node/n9"))]
    result = kq.simulate(one, [{"queue": "q", "submit": 0, "runtime": 60}], events=events)
    assert result.kpis.finished == 1


@pytest.mark.parametrize("kind", [kq.sim.CheckDelay, kq.sim.Startup])
def test_a_delay_of_an_object_needs_its_name(one, kind):
    with pytest.raises(kq.errors.InvalidSpecError, match=r"delays\[0\]: .*: is ResourceFlavor.*; it must be text"):
        kq.simulate(one, [{"queue": "q", "runtime": 1}], delays=[kind(kq.ResourceFlavor("f"), "1s")])


@pytest.mark.parametrize(("start", "end"), [("2d", "1d"), ("1d", 86400)])
def test_a_window_that_ends_before_it_starts_is_an_error(one, start, end):
    result = kq.simulate(one, [{"queue": "q", "submit": 0, "runtime": 1}])
    for ask in (result.figures, lambda *window: result.by("queue", *window)):
        with pytest.raises(kq.errors.InvalidSpecError, match=r"end: is .*; it must be later than start"):
            ask(start, end)


def test_a_date_is_refused_as_a_time_of_an_event_with_the_reason(one):
    for when in ("2026-01-02T00:00:00Z", datetime(2026, 1, 2, tzinfo=timezone.utc)):
        with pytest.raises(kq.errors.InvalidSpecError, match="not a date: times count from the first submission"):
            kq.simulate(
                one, [{"queue": "q", "runtime": 1, "gpu": 1}], events=[kq.sim.Event(when, kq.sim.Evict("j0000000"))]
            )
