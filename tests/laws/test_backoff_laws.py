"""Timeouts, backoffs and limits are exact to the nanosecond, for random configurations and histories."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import kueuepy as kq
from kueuepy import AdmissionCheck, Cluster, ClusterQueue, Configuration, PodSet, ResourceFlavor, Scheduler, Workload
from kueuepy.objects import AdmissionCheckStrategyRule, RequeuingStrategy, Seconds, WaitForPodsReady
from kueuepy.sim import Provisioning

pytestmark = pytest.mark.sanitizer
SECOND = 10**9
CHECKS = ("one", "two")
JOB = [{"queue": "q", "submit": 0, "runtime": 1, "cpu": 1}]
STARTS = st.integers(0, 2 * 10**18)
SPANS = st.integers(1, 100 * SECOND)
many = settings(max_examples=10 * settings().max_examples)


class Clock:
    """A Scheduler with one workload, checked just before and exactly at the times of due events."""

    def __init__(self, start: int, *, checks=(), waits=None, checked_by=None, config=None, **fields) -> None:
        rules = [AdmissionCheckStrategyRule(check) for check in checks]
        controller = "kueue.x-k8s.io/provisioning-request" if config else "example.com/check"
        named = {"apiGroup": "kueue.x-k8s.io", "kind": config["kind"], "name": "config"} if config else None
        cluster = Cluster(
            ResourceFlavor("default"),
            [AdmissionCheck(check, controller_name=controller, parameters=named) for check in checks],
            ClusterQueue.of("q", {"default": {"cpu": 1}}, admission_checks_strategy=rules),
            configuration=Configuration(wait_for_pods_ready=waits),
        )
        if config:
            cluster = kq.load([kq.dump(cluster), config])
        self.cluster = cluster
        answers = {} if checked_by is None else {controller: checked_by}
        self.scheduler = Scheduler(cluster, now=0, checks=answers)
        self.engine = self.scheduler._engine
        self.engine.set_now(start)
        self.scheduler.submit(Workload("w", queue_name="q", pod_sets=(PodSet.of(requests={"cpu": 1}),), **fields))
        self.scheduler.settle()

    @property
    def status(self):
        return self.scheduler.workload("w").status

    @property
    def life(self):
        return self.engine.status_details(0)

    def reason(self, condition: str) -> str:
        return self.engine.condition(0, condition)[1]

    def is_true(self, condition: str) -> bool:
        found = self.engine.condition(0, condition)
        return found is not None and found[0]

    def reach(self, time: int) -> None:
        """Advance to this time, and check that only the due events have happened."""
        self.engine.set_now(time)
        self.scheduler.settle()

    def controllers_at(self, time: int) -> None:
        """Advance to this time and run the controllers, but no cycle."""
        self.engine.set_now(time)
        self.engine.settle()


@st.composite
def strategies(draw):
    return RequeuingStrategy(
        backoff_base_seconds=draw(st.integers(1, 5000)),
        backoff_max_seconds=draw(st.one_of(st.just(0), st.integers(1, 5000))),
        backoff_limit_count=draw(st.one_of(st.none(), st.integers(0, 8))),
    )


def backoff(strategy: RequeuingStrategy, n: int) -> int:
    """Return the n-th backoff: it doubles, and from the second on has a maximum, unless that is 0."""
    wait = strategy.backoff_base_seconds * 2 ** (n - 1)
    is_capped = n > 1 and strategy.backoff_max_seconds > 0
    return SECOND * (min(wait, strategy.backoff_max_seconds) if is_capped else wait)


ATTEMPTS = st.lists(st.tuples(st.sampled_from(["never", "lost", "lost twice"]), SPANS, SPANS), min_size=1, max_size=9)


@many
@given(STARTS, strategies(), SPANS, SPANS, ATTEMPTS)
def test_pods_not_ready_requeue_with_doubled_backoff_up_to_the_limit(start, strategy, timeout, recovery, attempts):
    waits = WaitForPodsReady(
        timeout=Seconds.of(timeout), recovery_timeout=Seconds.of(recovery), requeuing_strategy=strategy
    )
    clock, ran, limit = Clock(start, waits=waits), 0, strategy.backoff_limit_count
    for n, (kind, *spans) in enumerate(attempts, 1):
        admitted = clock.engine.now
        due = admitted + timeout
        if kind != "never":
            clock.reach(admitted + min(spans[0], timeout - 1))
            due = _lose(clock, spans[1], recovery)
        if kind == "lost twice":
            clock.reach(due - 1)
            due = _lose(clock, spans[0], recovery)
        clock.reach(due - 1)
        assert clock.is_true("Admitted")
        clock.controllers_at(due)
        ran += (due - admitted) // SECOND
        assert (clock.is_true("QuotaReserved"), clock.life.past_execution_seconds) == (False, ran)
        if limit is not None and n > limit:
            assert clock.reason("Evicted") == "DeactivatedDueToRequeuingLimitExceeded"
            assert (clock.life.active, clock.status.requeue_state) == (False, None)
            clock.reach(due + 10**6 * SECOND)
            assert clock.engine.queues() == {}
            return
        again = due + backoff(strategy, n)
        state = clock.status.requeue_state
        assert (clock.reason("Evicted"), state.count, state.requeue_at.value) == ("PodsReadyTimeout", n, again)
        clock.reach(again - 1)
        assert not clock.is_true("QuotaReserved")
        clock.reach(again)
        assert (clock.is_true("Admitted"), clock.reason("Requeued")) == (True, "BackoffFinished")


def _lose(clock: Clock, span: int, recovery: int) -> int:
    """Make the pods ready, then not ready; return the time of the recovery timeout."""
    clock.scheduler.pods_ready("w")
    clock.scheduler.settle()
    clock.reach(clock.engine.now + span)
    assert clock.is_true("PodsReady")
    clock.scheduler.pods_ready("w", ready=False)
    clock.scheduler.settle()
    assert clock.reason("PodsReady") == "WaitForRecovery"
    return clock.engine.now + recovery


@many
@given(STARTS, st.integers(1, 1000), st.lists(SPANS, max_size=12))
def test_whole_seconds_of_all_runs_count_for_the_maximum_execution_time(start, limit, runs):
    clock, ran = Clock(start, maximum_execution_time_seconds=limit), 0
    for run in runs:
        admitted = clock.engine.now
        left = (limit - ran) * SECOND
        clock.reach(admitted + min(run, left - 1))
        assert clock.is_true("Admitted")
        workload = replace(clock.scheduler.workload("w"), status=None)
        clock.scheduler.apply(replace(workload, active=False))
        clock.scheduler.settle()
        ran += min(run, left - 1) // SECOND
        assert clock.life.past_execution_seconds == ran
        clock.scheduler.apply(replace(workload, active=True))
        clock.scheduler.settle()
        assert clock.reason("Requeued") == "Reactivated"
    due = clock.engine.now + (limit - ran) * SECOND
    clock.reach(due - 1)
    assert clock.is_true("Admitted")
    clock.reach(due)
    assert clock.reason("Evicted") == "DeactivatedDueToMaximumExecutionTimeExceeded"
    assert not clock.is_true("QuotaReserved")


ANSWERS = st.lists(
    st.tuples(st.integers(0, 20 * SECOND), st.sampled_from(CHECKS), st.one_of(st.none(), st.integers(0, 30))),
    min_size=1,
    max_size=4,
)


@many
@given(STARTS, st.lists(ANSWERS, min_size=1, max_size=5))
def test_a_delayed_retry_happens_after_the_longest_delay(start, rounds):
    clock, counts = Clock(start, checks=CHECKS), dict.fromkeys(CHECKS, 0)
    for answers in rounds:
        due, asked, since = 0, {}, {}
        for pause, check, wait in answers:
            now = clock.engine.now + pause
            if asked and now >= due:
                break
            clock.reach(now)
            clock.scheduler.set_check("w", check, "Retry", requeue_after=wait)
            since.setdefault(check, now)  # the state dates from then, whatever later messages
            if wait is not None:
                asked[check] = wait
            # A recorded time is not replaced by a later and shorter one.
            due = max([due, now, *(since[name] + seconds * SECOND for name, seconds in asked.items())])
            clock.controllers_at(now)
            if due == now:
                break
        if due > clock.engine.now:
            clock.controllers_at(due - 1)
            assert (clock.is_true("QuotaReserved"), clock.is_true("Evicted")) == (True, False)
            assert clock.life.requeue_at == due
        clock.controllers_at(due)
        for check in since:
            counts[check] += 1
        assert clock.reason("Evicted") == "AdmissionCheck"
        assert [c.state for c in clock.status.admission_checks] == ["Pending", "Pending"]
        assert [c.retry_count or 0 for c in clock.status.admission_checks] == list(counts.values())
        clock.reach(due)
        assert (clock.reason("QuotaReserved"), clock.reason("Requeued")) == ("QuotaReserved", "BackoffFinished")


@many
@given(STARTS, st.integers(0, 100), strategies(), st.integers(0, 8))
def test_a_failed_provisioning_is_retried_with_doubled_backoff_up_to_the_limit(start, delay, strategy, failures):
    limit = strategy.backoff_limit_count or 0
    retries = {
        "backoffBaseSeconds": strategy.backoff_base_seconds,
        "backoffMaxSeconds": strategy.backoff_max_seconds,
        "backoffLimitCount": limit,
    }
    spec = {"provisioningClassName": "class", "retryStrategy": retries}
    kind = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ProvisioningRequestConfig"}
    model = Provisioning(delay, fails=lambda _, n: n <= failures)
    clock = Clock(
        start, checks=CHECKS[:1], checked_by=model, config=kind | {"metadata": {"name": "config"}, "spec": spec}
    )
    for n in range(1, min(failures, limit) + 1):
        failed = clock.engine.now + delay * SECOND
        clock.reach(failed)
        assert clock.status.admission_checks[0].state == "Retry"
        clock.reach(failed + backoff(strategy, n) - 1)
        assert (clock.is_true("QuotaReserved"), clock.life.checks[0].retries or 0) == (True, n - 1)
        clock.reach(failed + backoff(strategy, n))
    clock.reach(clock.engine.now + delay * SECOND)
    assert clock.is_true("Admitted") == (failures <= limit)
    assert clock.life.active == (failures <= limit)
    # A simulation whose attempts all fail ends when the check is rejected.
    with pytest.warns(UserWarning, match="had not finished"):
        lost = kq.simulate(clock.cluster, JOB, delays=[kq.sim.CheckDelay(CHECKS[0], delay, fails=1.0)]).jobs
    assert (lost["state"][0], lost["evictions"][0]) == ("Deactivated", limit + 1)
    waits = sum(backoff(strategy, n) for n in range(1, limit + 1)) / SECOND
    assert lost["end"][0] == pytest.approx(delay * (limit + 1) + waits, abs=1e-6)  # a delay takes at least 1 ns
