"""Answers, explanations and decisions agree."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.testing.strategies import clusters, workloads
from schemas import validate_explanation

pytestmark = pytest.mark.sanitizer

_OF_THE_CYCLE = (
    "Workload no longer fits after processing another workload",
    "Workload has overlapping preemption targets with another workload",
)
_REFUSED = "couldn't assign flavors to pod set main: "
_POLICIES = st.builds(
    kq.Preemption,
    st.sampled_from(["Never", "LowerPriority", "Any"]),
    st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
)
_JOB = st.tuples(st.sampled_from("abc"), st.integers(1, 6), st.integers(0, 3), st.integers(0, 2))


@st.composite
def _schedulers(draw):
    """Three queues in a cohort with two flavors, and some workloads submitted one by one."""
    quotas = st.integers(0, 5)
    queues = [
        kq.ClusterQueue.of(
            name,
            {"one": {"cpu": draw(quotas), "gpu": draw(quotas)}, "two": {"cpu": draw(quotas), "gpu": draw(quotas)}},
            cohort_name="k",
            preemption=draw(_POLICIES),
        )
        for name in "abc"
    ]
    sharing = draw(st.sampled_from([None, kq.FairSharingConfig()]))
    cluster = kq.Cluster(
        kq.ResourceFlavor("one"), kq.ResourceFlavor("two"), queues, configuration=kq.Configuration(fair_sharing=sharing)
    )
    scheduler = kq.Scheduler(cluster)
    for queue, cpu, gpu, priority in draw(st.lists(_JOB, min_size=1, max_size=10)):
        _comes(draw, scheduler, queue, priority, kq.PodSet.of(requests={"cpu": cpu, "gpu": gpu}))
    return scheduler


def _comes(draw, scheduler, queue, priority, pod_set):
    """Submit one more workload, a second after the others, and run some cycles."""
    name = f"w{len(scheduler.keys())}"
    scheduler.advance(1)
    scheduler.submit(kq.Workload(name, queue_name=queue, priority=priority, pod_sets=(pod_set,)))
    if draw(st.booleans()):
        scheduler.settle(max_cycles=3)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_schedulers())
def test_answers_and_explanations_agree_with_the_next_cycle(scheduler):
    scheduler._engine.settle()
    waiting = [row["key"] for row in scheduler.queues.rows()]
    answers = dict(zip(waiting, scheduler.try_admit_many(waiting), strict=True))
    explanations = {key: scheduler.explain(key) for key in waiting}
    for decision in scheduler.cycle():
        asked, told = answers[decision.workload], explanations[decision.workload]
        match decision:
            case kq.Admitted():
                assert isinstance(asked, kq.Admitted)
                assert asked.flavors == decision.flavors
                assert told.verdict == "Fits"
            case kq.Preempting(targets=targets) if isinstance(asked, kq.Preempting) and asked.targets == targets:
                taken = [c.facts["workload"] for c in told.find("candidate") if c.facts["verdict"] == "Taken"]
                assert taken == [target.workload for target in targets]
            case kq.Pending(reason=reason, message=message) if isinstance(asked, kq.Pending):
                if not message.startswith(_OF_THE_CYCLE):
                    assert (asked.reason, asked.message) == (reason, message)
                # A cycle continues the flavor search; an explanation considers all flavors.
                if told.verdict == "Pending" and message.startswith(_REFUSED):
                    refusals = message.removeprefix(_REFUSED).split(", insufficient")
                    assert all(refusal in told.message for refusal in refusals)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_schedulers(), _JOB)
def test_questions_change_nothing(scheduler, job):
    queue, cpu, gpu, priority = job
    pods = (kq.PodSet.of(requests={"cpu": cpu, "gpu": gpu}),)
    stranger = kq.Workload("stranger", queue_name=queue, priority=priority, pod_sets=pods)
    before = scheduler._engine.fingerprint(), scheduler._engine.save()
    scheduler.try_admit(stranger)
    scheduler.largest_count(stranger)
    scheduler.explain(stranger)
    keys = scheduler.keys()
    for key in keys:
        scheduler.explain(key)
    kq.lab.workloads_over_quota(scheduler)
    scheduler.whatif(lambda trial: trial.submit(stranger))
    assert (scheduler._engine.fingerprint(), scheduler._engine.save()) == before


@st.composite
def _situations(draw):
    """Clusters of every kind with some history, and a new workload."""
    cluster = draw(clusters())
    scheduler = kq.Scheduler(cluster, now=0)
    for workload in draw(workloads(cluster, min_size=1, max_size=10, prefix="w")):
        scheduler.advance(1)
        scheduler.submit(workload)
        if draw(st.booleans()):
            scheduler.settle(max_cycles=3)
    (stranger,) = draw(workloads(cluster, min_size=1, max_size=1, prefix="stranger"))
    return scheduler, stranger


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_situations())
def test_try_admit_equals_a_cycle_with_only_this_workload(situation):
    scheduler, stranger = situation
    scheduler._engine.settle()
    trial = scheduler.fork()
    trial.delete(*(row["key"] for row in trial.queues.rows()))
    asked = trial.try_admit(stranger)
    assert asked == trial.try_admit(trial.question(stranger)) == trial.try_admit_many([stranger])[0]
    trial.submit(stranger)
    (decided,) = trial.cycle()
    assert asked == decided


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_situations())
def test_remedies_of_waiting_workloads_work(situation):
    scheduler, stranger = situation
    scheduler.submit(stranger)
    for key in scheduler.keys():  # noqa: SIM118 - a Scheduler is not a mapping
        told = scheduler.explain(key)
        assert bool(told.find("remedies")) is (told.verdict == "Pending")
        assert (told.root_cause is not None) or told.verdict not in ("Pending", "Preempting")
        validate_explanation(told.to_dict())
        leaving = [c.facts["workload"] for c in told.find("candidate") if c.facts["verdict"] == "Taken"]
        assert bool(leaving) is (told.verdict == "Preempting")


_VAST = st.sampled_from([0, 1, 5, 2**53, 2**61, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 2, 2**63 - 1])


def _vast_quota(draw):
    nominal, borrowing, lending = draw(_VAST), draw(st.none() | _VAST), draw(st.none() | _VAST)
    return kq.ResourceQuota("memory", nominal, borrowing, None if lending is None else min(lending, nominal))


@st.composite
def _vast_schedulers(draw):
    """Queues in a tree, with quotas, limits and requests up to the largest numbers, where sums are unlimited."""
    queues = [
        kq.ClusterQueue(
            name,
            cohort_name=cohort,
            resource_groups=(kq.ResourceGroup(("memory",), (kq.FlavorQuotas("one", (_vast_quota(draw),)),)),),
            preemption=draw(_POLICIES),
        )
        for name, cohort in (("a", "left"), ("b", "left"), ("c", "top"))
    ]
    sharing = draw(st.sampled_from([None, kq.FairSharingConfig()]))
    configuration = kq.Configuration(fair_sharing=sharing)
    scheduler = kq.Scheduler(
        kq.Cluster(kq.ResourceFlavor("one"), kq.Cohort("left", parent_name="top"), queues, configuration=configuration)
    )
    jobs = st.tuples(st.sampled_from("abc"), _VAST, st.integers(1, 4), st.integers(0, 2), st.booleans())
    for queue, memory, count, priority, fewer in draw(st.lists(jobs, min_size=1, max_size=6)):
        least = 1 if fewer and count > 1 else None
        pod_set = kq.PodSet.of(count=count, requests={"memory": memory}, min_count=least)
        _comes(draw, scheduler, queue, priority, pod_set)
    return scheduler


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_vast_schedulers())
def test_amounts_of_every_size_are_explained(scheduler):
    for key in scheduler.keys():  # noqa: SIM118 - a Scheduler is not a mapping
        told = scheduler.explain(key)
        assert bool(told.find("remedies")) is (told.verdict == "Pending")
        assert (told.root_cause is not None) or told.verdict not in ("Pending", "Preempting")
        validate_explanation(told.to_dict())
        for cell in told.find("resource"):
            if cell.causes:  # it is short
                assert cell.facts["missing"] is None or cell.facts["missing"] > 0
