import kueuepy as kq
from teams import DEFAULT, queue, workload


def test_settle_ends_if_heads_stay_blocked():
    strict = queue("a", 4, queueing_strategy="StrictFIFO")
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, strict))
    scheduler.submit(workload("first", "a", 3), workload("second", "a", 3), workload("third", "a", 1))
    settled = scheduler.settle()
    assert (settled.finished, settled.loop) == (True, None)
    assert [d.workload for d in settled.admitted] == ["default/first"]
    assert scheduler.settle().admitted == ()


def test_settle_stops_after_the_given_number_of_cycles(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(*(workload(f"w{i}", "team-a") for i in range(5)))
    settled = scheduler.settle(max_cycles=2)
    assert (len(settled), settled.finished) == (2, False)
    assert scheduler.settle().finished


def test_a_cycle_is_a_sequence_that_does_not_change_later(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("a", "team-a", 30), workload("b", "team-b", 1))
    cycle = scheduler.cycle()
    scheduler.delete("a")
    scheduler.finish("b")
    scheduler.settle()
    assert (len(cycle), cycle.admitted_count, cycle.evicted_count, cycle.idle) == (2, 1, 0, False)
    assert cycle[0].workload == "default/a"
    assert [type(d) for d in cycle[:2]] == [kq.Pending, kq.Admitted]
    assert cycle.decisions is cycle.decisions
    assert scheduler.cycle().idle


def _fair(*cpus, **more):
    policies = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    queues = [queue(f"q{i}", cpu, cohort_name="k", preemption=policies, **more) for i, cpu in enumerate(cpus)]
    return kq.Cluster(DEFAULT, queues, configuration=kq.Configuration(fair_sharing=kq.FairSharingConfig()))


def _settle_one_by_one(scheduler, *jobs):
    for name, queue_name, cpu, priority in jobs:
        scheduler.advance(1)
        scheduler.submit(workload(name, queue_name, cpu, priority=priority))
        settled = scheduler.settle()
    return settled


def test_a_preemption_loop_is_reported_with_its_shortest_period():
    # The victim of w2 makes room for w0, which borrows less than w2 would, and loses it to w1's claim on its own quota.
    scheduler = kq.Scheduler(_fair(3, 4))
    settled = _settle_one_by_one(scheduler, ("w0", "q1", 6, 2), ("w1", "q0", 3, 0), ("w2", "q0", 5, 2))
    assert not settled.finished
    assert (settled.loop.period, settled.loop.workloads) == (5, ("default/w0", "default/w1"))
    assert len(settled.loop.cycles) == 5
    assert sum(cycle.evicted_count for cycle in settled.loop.cycles) == 2
    assert "the same decisions every 5 cycles for default/w0, default/w1" in str(settled.loop)


def test_no_shorter_period_repeats_and_the_reported_one_does():
    scheduler = kq.Scheduler(_fair(3, 4))
    loop = _settle_one_by_one(scheduler, ("w0", "q1", 6, 2), ("w1", "q0", 3, 0), ("w2", "q0", 5, 2)).loop
    states = []
    for _ in range(2 * loop.period):
        scheduler.cycle()
        states.append(scheduler._engine.fingerprint())
    assert states[: loop.period] == states[loop.period :]
    assert len(set(states)) == loop.period


def test_workloads_of_two_queues_preempt_each_other_in_a_loop():
    # The shape of kubernetes-sigs/kueue#14543: a victim in the preemptor's own queue lowers its share, which makes
    # others legal victims; then the own one is put back, and the preemptor's share is the larger one again.
    jobs = (("w0", "q0", 6, 0), ("w1", "q1", 2, 2), ("w2", "q1", 4, 1), ("w3", "q0", 5, 0), ("w4", "q1", 2, 0))
    settled = _settle_one_by_one(kq.Scheduler(_fair(4, 4)), *jobs)
    assert (settled.loop.period, settled.loop.workloads) == (6, ("default/w2", "default/w3", "default/w4"))
    pairs = {
        (decision.workload, target.workload)
        for cycle in settled.loop.cycles
        for decision in cycle.preempting
        for target in decision.targets
    }
    assert any((victim, preemptor) in pairs for preemptor, victim in pairs)


def test_a_configuration_without_the_cause_ends_the_loop():
    classical = _fair(3, 4).replace(configuration=kq.Configuration())
    jobs = (("w0", "q1", 6, 2), ("w1", "q0", 3, 0), ("w2", "q0", 5, 2))
    assert _settle_one_by_one(kq.Scheduler(classical), *jobs).loop is None


def test_classical_preemption_can_loop():
    # w9 reclaims its queue's nominal quota from w1; w5 then takes it from w9, but borrows, and w1 comes first again.
    classical = _fair(4, 3).replace(configuration=kq.Configuration())
    jobs = (("w1", "q1", 4, 2), ("w3", "q0", 1, 1), ("w5", "q0", 4, 1), ("w9", "q0", 3, 0))
    settled = _settle_one_by_one(kq.Scheduler(classical), *jobs)
    assert (settled.loop.period, settled.loop.workloads) == (5, ("default/w1", "default/w9"))
    reasons = [
        (d.workload, target.reason) for cycle in settled.loop.cycles for d in cycle.preempting for target in d.targets
    ]
    assert sorted(reasons) == [("default/w5", "InClusterQueue"), ("default/w9", "InCohortReclamation")]


def test_a_loop_is_detected_although_admissions_add_to_recorded_usage():
    usage = kq.Configuration(admission_fair_sharing=kq.objects.AdmissionFairSharing(usage_half_life_time=60))
    by_usage = _fair(4, 3, admission_scope="UsageBasedAdmissionFairSharing").replace(configuration=usage)
    scheduler = kq.Scheduler(by_usage)
    jobs = (("w1", "q1", 4, 2), ("w3", "q0", 1, 1), ("w5", "q0", 4, 1), ("w9", "q0", 3, 0))
    settled = _settle_one_by_one(scheduler, *jobs)
    assert (settled.finished, settled.loop.period, settled.loop.workloads) == (False, 5, ("default/w1", "default/w9"))
    assert len(settled) < 1000


JOBS = (("base", 0, 6, 0), ("borrower", 1, 13, 0), ("incoming", 0, 8, 10))


def test_each_looping_cohort_tree_has_its_own_loop():
    # Two cycles in the one and five in the other would be ten together.
    policies = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    queues = [
        queue(f"{tree}{i}", cpu, cohort_name=tree, preemption=policies)
        for tree, cpus in (("m", (10, 10)), ("n", (3, 4)))
        for i, cpu in enumerate(cpus)
    ]
    scheduler = kq.Scheduler(
        kq.Cluster(DEFAULT, queues, configuration=kq.Configuration(fair_sharing=kq.FairSharingConfig()))
    )
    jobs = [(name, f"m{i}", cpu, priority) for name, i, cpu, priority in JOBS]
    jobs += [("w0", "n1", 6, 2), ("w1", "n0", 3, 0), ("w2", "n0", 5, 2)]
    settled = _settle_one_by_one(scheduler, *jobs)
    told = [(loop.period, len(loop.cycles), loop.workloads) for loop in settled.loops]
    assert told == [(2, 2, ("default/borrower",)), (5, 5, ("default/w0", "default/w1"))]
    assert settled.loop is settled.loops[0]
    assert repr(settled).count("endless preemption: the same decisions every") == 2


def test_while_two_trees_loop_a_third_settles():
    policies = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    queues = [queue(f"{tree}{i}", 10, cohort_name=tree, preemption=policies) for tree in "mn" for i in range(2)]
    alone = [queue("alone", 60, queueing_strategy="BestEffortFIFO")]
    fair = kq.Configuration(fair_sharing=kq.FairSharingConfig())
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queues, alone, configuration=fair))
    for tree in "mn":
        _settle_one_by_one(scheduler, *((f"{name}-{tree}", f"{tree}{i}", cpu, p) for name, i, cpu, p in JOBS))
    scheduler.submit(*(workload(f"alone-{n}", "alone", 1 + n % 7) for n in range(40)))
    settled = scheduler.settle()
    assert len(settled.loops) == 2
    cycle = scheduler.cycle()
    assert not any(decision.cluster_queue == "alone" for decision in cycle)
    assert scheduler._engine.usage()["alone"]["default/cpu"] == 60000
