"""Workloads whose pods do not become ready: timeouts, backoffs, limits and blocked admission (WL_04, WL_05).

There are no recordings of Kueue for blockAdmission. These tests are based on its source:

- `pkg/scheduler/scheduler.go:waitForPodsReadyIfNeeded`
- `pkg/cache/scheduler/cache.go:WaitForPodsReady,PodsReadyForAllAdmittedWorkloads`
- `pkg/cache/scheduler/clusterqueue.go:addOrUpdateWorkload`
- `pkg/workload/workload.go:GetQueueOrderTimestamp` (the order of requeued workloads)
"""

import msgspec
import pytest

import kueuepy as kq

from .life import CHECK, CHECKED, DEFAULT, preempting, queue, status, waiting_for_pods


def _names(decisions):
    return [decision.workload.partition("/")[2] for decision in decisions]


def test_WL_04_the_backoff_doubles_from_60_to_3600_seconds(stage):
    story = stage(DEFAULT, queue(), configuration=waiting_for_pods())
    story.submit("q", name="w")
    delays = []
    for times in range(1, 9):
        story.settle()
        story.scheduler.advance(300)
        story.scheduler._engine.settle()
        state = status(story, "w").requeue_state
        delays.append(state.requeue_at.timestamp() - story.scheduler.now)
        assert (state.count, story.conditions("w")["Requeued"]) == (times, ("False", "PodsReadyTimeout"))
        story.scheduler.advance(delays[-1])

    assert delays == [60, 120, 240, 480, 960, 1920, 3600, 3600]


@pytest.mark.parametrize(
    ("base", "cap", "delays"), [(10, 25, [10, 20, 25, 25]), (100, 30, [100, 30, 30]), (5, 0, [5, 10, 20])]
)
def test_WL_04_the_backoff_is_configurable_and_its_first_delay_has_no_maximum(stage, base, cap, delays):
    configuration = waiting_for_pods(10, backoff_base_seconds=base, backoff_max_seconds=cap)
    story = stage(DEFAULT, queue(), configuration=configuration)
    story.submit("q", name="w")
    seen = []
    for _ in delays:
        story.settle()
        story.scheduler.advance(10)
        story.scheduler._engine.settle()
        seen.append(status(story, "w").requeue_state.requeue_at.timestamp() - story.scheduler.now)
        story.scheduler.advance(seen[-1])

    assert seen == delays


def test_WL_04_a_limit_of_2_deactivates_at_the_third_eviction(stage):
    story = stage(DEFAULT, queue(), configuration=waiting_for_pods(backoff_limit_count=2))
    story.submit("q", name="w")
    reasons = []
    for _ in range(3):
        story.settle()
        story.scheduler.advance(300)
        story.scheduler._engine.settle()
        reasons.append(story.condition("w", "Evicted")[0])
        story.scheduler.advance(3600)

    assert reasons == ["PodsReadyTimeout", "PodsReadyTimeout", "DeactivatedDueToRequeuingLimitExceeded"]
    assert story.condition("w", "Evicted")[1] == (
        "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
    )
    assert not story.scheduler.workload("w").active
    assert status(story, "w").requeue_state is None


def test_WL_04_a_limit_of_0_deactivates_at_once(stage):
    story = stage(DEFAULT, queue(), configuration=waiting_for_pods(backoff_limit_count=0))
    story.submit("q", name="w")
    story.settle()
    story.scheduler.advance(300)
    story.scheduler.settle()

    assert story.conditions("w")["Evicted"] == ("True", "DeactivatedDueToRequeuingLimitExceeded")


@pytest.mark.parametrize(("recovery", "evicted"), [(None, []), (0, []), (40, ["w"])])
def test_WL_04_failed_pods_have_the_configured_recovery_timeout(stage, recovery, evicted):
    story = stage(DEFAULT, queue(), configuration=waiting_for_pods(300, recovery))
    story.submit("q", name="w")
    story.settle()
    story.scheduler.pods_ready("w")
    story.settle()
    story.scheduler.advance(1000)
    story.scheduler.pods_ready("w", ready=False)
    story.settle()
    assert story.condition("w", "PodsReady")[0] == "WaitForRecovery"
    story.scheduler.advance(39)
    story.scheduler.settle()
    assert story.evicted() == []
    story.scheduler.advance(1)
    story.scheduler.settle()
    assert story.evicted() == evicted


def test_WL_04_recovery_of_pods_is_distinguished_from_startup(stage):
    story = stage(DEFAULT, queue(), configuration=waiting_for_pods())
    story.submit("q", name="w")
    story.settle()
    for ready in (True, False, True):
        story.scheduler.pods_ready("w", ready)
        story.settle()

    assert story.conditions("w")["PodsReady"] == ("True", "Recovered")


@pytest.mark.parametrize(("timestamp", "running"), [("Eviction", ["second"]), ("Creation", ["first"])])
def test_WL_04_an_evicted_workload_queues_by_eviction_or_creation_time(stage, timestamp, running):
    configuration = waiting_for_pods(timestamp=timestamp, backoff_base_seconds=1)
    story = stage(DEFAULT, CHECK, queue(1), configuration=configuration)
    story.submit("q", name="first")
    story.settle()
    story.submit("q", name="second")
    story.scheduler.advance(300)
    story.scheduler.apply(queue(1, stop_policy="Hold"))
    story.scheduler._engine.settle()
    story.scheduler.advance(1)
    story.scheduler._engine.settle()
    story.scheduler.apply(queue(1))
    story.scheduler.settle()

    assert story.running() == running


def _blocking(stage, *queues, gates=None):
    configuration = msgspec.structs.replace(waiting_for_pods(block=True), feature_gates=gates or {})
    return stage(DEFAULT, *(queues or (queue(name="a"), queue(name="b"))), configuration=configuration)


def test_WL_04_block_admission_admits_one_workload_at_a_time(stage):
    story = _blocking(stage)
    story.submit("a", 2)
    story.submit("b", 2)
    order = []
    while len(order) < 4:
        story.settle()
        (new,) = set(story.running()) - set(order)
        order.append(new)
        assert story.settle().decisions == ()
        story.scheduler.pods_ready(new)

    assert order == ["a-0000", "b-0000", "a-0001", "b-0001"]


@pytest.mark.parametrize(("block", "together"), [(False, 2), (True, 1)])
def test_WL_04_the_second_job_of_20_pods_waits_until_all_pods_of_the_first_are_ready(stage, block, together):
    """The nodes fit only 26 of the 40 pods; the quota is twice that. Two partially started jobs would not finish."""
    queue = kq.ClusterQueue.of("q", {"default": {"memory": "16858Mi"}})
    story = stage(DEFAULT, queue, configuration=waiting_for_pods(300, block=block))
    story.submit("q", 2, pods=20, requests={"memory": "316Mi"}, name="job")
    story.settle()
    assert story.running() == ["job-0000", "job-0001"][:together]
    wanted = 20 * 316 * together
    assert story.used("q", "memory") == wanted * 2**20
    assert (wanted <= 8429) == block
    for job in ("job-0000", "job-0001") if block else ():
        assert story.running() == [job]
        story.scheduler.pods_ready(job)
        story.scheduler.finish(job)
        story.settle()


def test_WL_04_a_blocked_workload_reports_it_and_precedes_later_workloads(stage):
    story = _blocking(stage)
    story.submit("a", name="first")
    story.submit("b", name="stale")
    story.settle()
    assert story.condition("stale") == (
        "WaitingForPodsReady",
        "waiting for all admitted workloads to be in PodsReady condition",
    )
    story.submit("b", name="urgent", requests={"cpu": 9}, priority=10)
    story.scheduler.pods_ready("first")
    assert _names(story.scheduler.cycle().admitted) == ["stale"]


def test_WL_04_a_preemptor_is_not_blocked_and_is_requeued_when_the_cycle_continues(stage):
    story = _blocking(stage, queue(name="a"), queue(2, "b", preemption=preempting()))
    story.submit("b", name="low", requests={"cpu": 2})
    story.settle()
    story.scheduler.pods_ready("low")
    story.submit("a", name="first")
    story.settle()
    story.submit("a", name="next")
    story.submit("b", name="high", requests={"cpu": 2}, priority=1)
    cycle = story.scheduler.cycle()
    assert (_names(cycle.preempting), _names(cycle.pending)) == (["high"], ["next"])
    assert story.evicted() == ["low"]

    assert story.scheduler.cycle().idle
    story.scheduler.pods_ready("first")
    assert _names(story.scheduler.cycle().decisions) == ["next"]
    assert story.waiting() == {"low": "PendingEvaluation", "high": "WaitingForPreemptedWorkloads"}
    story.scheduler.pods_ready("next")
    assert _names(story.scheduler.cycle().admitted) == ["high"]


def test_WL_04_a_quota_reservation_blocks_like_an_admission(stage):
    checked = queue(name="a", admission_checks_strategy=CHECKED)
    story = _blocking(stage, CHECK, checked, queue(name="b"))
    story.submit("a", name="held")
    story.settle()
    story.submit("b", name="blocked")
    story.settle()
    assert story.waiting() == {"blocked": "WaitingForPodsReady"}

    story.scheduler.delete("held")
    story.settle()
    assert story.running() == ["blocked"]


def test_WL_04_a_workload_deleted_during_a_blocked_cycle_is_not_admitted_and_the_cycle_continues(stage):
    story = _blocking(stage, *(queue(name=name) for name in "abcd"))
    for name in "abcd":
        story.submit(name, name=f"w-{name}")
    story.settle()
    fork = story.scheduler.fork()
    story.scheduler.delete("w-b")
    story.scheduler.pods_ready("w-a")
    # Kueue notices that a head was deleted when it writes the admission, and the next head already waits.
    cycles = [story.scheduler.cycle() for _ in range(2)]
    assert [(_names(cycle.admitted), _names(cycle.pending)) for cycle in cycles] == [([], ["w-c"]), (["w-c"], ["w-d"])]

    fork.finish("w-b")
    fork.apply(msgspec.structs.replace(fork.workload("w-c"), active=False, status=None))
    fork.pods_ready("w-a")
    fork.settle()
    assert fork._engine.check() == []
    assert [key for key in tuple(fork.keys()) if fork.workload(key).status.is_true("Admitted")] == [
        "default/w-a",
        "default/w-d",
    ]


def test_WL_04_a_blocked_cycle_makes_no_decision_about_a_deleted_workload(stage):
    story = _blocking(stage, *(queue(name=name) for name in "abcd"))
    for name in "abcd":
        story.submit(name, name=f"w-{name}")
    story.settle()
    story.scheduler.delete("w-c")
    story.scheduler.pods_ready("w-a")
    story.scheduler._engine.record_events(on=True)
    assert [_names(decisions) for decisions in (story.scheduler.cycle().decisions, story.scheduler.cycle())] == [
        ["w-b"],
        [],
    ]
    assert "default/w-c" not in {event[3] for event in story.scheduler._engine.drain_events()}
    story.scheduler.pods_ready("w-b")
    assert _names(story.scheduler.cycle().decisions) == ["w-d"]


def test_WL_04_with_fair_sharing_the_next_share_includes_admitted_workloads(stage):
    configuration = msgspec.structs.replace(waiting_for_pods(block=True), fair_sharing=kq.FairSharingConfig())
    queues = [queue(1, name, cohort_name="c") for name in ("a", "b", "c")]
    story = stage(DEFAULT, *queues, configuration=configuration)
    for name in "abc":
        story.submit(name, 2, name=name)
    order = []
    for _ in range(3):
        story.settle()
        order += sorted(set(story.running()) - set(order))
        story.scheduler.pods_ready(order[-1])

    assert order == ["a-0000", "b-0000", "c-0000"]


@pytest.mark.parametrize("gates", [{}, {"UnadmittedWorkloadsObservability": False}])
def test_WL_04_a_blocked_cycle_is_part_of_the_saved_state(stage, tmp_path, gates):
    story = _blocking(stage, gates=gates)
    story.submit("a", name="first")
    story.submit("b", name="stale")
    story.settle()
    assert story.condition("stale")[0] == ("Waiting" if gates else "WaitingForPodsReady")
    story.scheduler.save(tmp_path / "saved")
    again = kq.Scheduler.load(tmp_path / "saved")
    for scheduler in (story.scheduler, again):
        scheduler.pods_ready("first")
        assert _names(scheduler.cycle().admitted) == ["stale"]
    assert again._engine.save() == story.scheduler._engine.save()


def test_WL_05_the_retry_count_is_kept_until_deactivation(stage):
    story = stage(DEFAULT, queue(), configuration=waiting_for_pods())
    story.submit("q", name="w")
    story.settle()
    story.scheduler.advance(300)
    story.scheduler.settle()
    story.scheduler.advance(60)
    story.scheduler.settle()
    story.scheduler.pods_ready("w")
    story.scheduler.settle()
    assert status(story, "w").requeue_state == kq.objects.RequeueState(1, None)

    known = msgspec.structs.replace(story.scheduler.workload("w"), status=None)
    story.scheduler.apply(msgspec.structs.replace(known, active=False))
    story.settle()
    assert status(story, "w").requeue_state is None
    story.scheduler.apply(known)
    story.settle()
    assert story.is_true("w", "Admitted")
    assert story.condition("w", "Requeued") == ("Reactivated", "The workload was reactivated")


def test_WL_19_the_reason_of_a_workload_that_waits_for_pods_of_others(stage):
    story = _blocking(stage)
    story.submit("a", name="first")
    story.submit("b", name="w")
    story.settle()

    assert story.waiting() == {"w": "WaitingForPodsReady"}
    assert story.scheduler.explain("w").headline == "default/w is pending: WaitingForPodsReady"
