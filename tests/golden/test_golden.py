"""Scenarios compared with golden transcripts; `pytest tests/golden --regold` rewrites them for review."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from golden.transcript import Transcript
from kueuepy import (
    AdmissionCheck,
    Cluster,
    ClusterQueue,
    Configuration,
    FairSharingConfig,
    Preemption,
    Quota,
    ResourceFlavor,
    Taint,
)
from kueuepy.objects import AdmissionCheckStrategyRule, BorrowWithinCohort, LocalQueue

HERE = Path(__file__).parent
MOST_LINES = 120
FLAVOR = ResourceFlavor("default")


def queue(name, cpu, **fields):
    return ClusterQueue.of(name, {"default": {"cpu": cpu}}, **fields)


def reclaim_within_cohort():
    """A queue that may reclaim gets its nominal quota back from the one that borrowed it."""
    reclaim = Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    told = Transcript(
        "reclaim within the cohort: vision borrows, nlp reclaims its quota",
        Cluster(FLAVOR, queue("vision", 4, cohort_name="all"), queue("nlp", 4, cohort_name="all", preemption=reclaim)),
    )
    told.submit("v1", "vision", 4)
    told.submit("v2", "vision", 3)
    told.cycle(2)
    told.wait(60)
    told.submit("n1", "nlp", 3)
    told.submit("n2", "nlp", 2, priority=1)
    told.cycle(4)
    told.wait(60)
    told.submit("n3", "nlp", 4, priority=5)
    told.cycle(3)
    return told


def no_queue_reclaims():
    """Without a preemption policy, lent nominal quota is not guaranteed."""
    limits = {"borrowing_limit": 8, "lending_limit": 4}, {"borrowing_limit": 4, "lending_limit": 8}
    told = Transcript(
        "both at once: no queue may preempt, and team-b misses its nominal quota of 16",
        Cluster(
            FLAVOR,
            queue("team-a", Quota(8, **limits[0]), cohort_name="all"),
            queue("team-b", Quota(16, **limits[1]), cohort_name="all"),
        ),
    )
    for i in range(4):
        told.submit(f"a{i}", "team-a", 4)
    for i in range(5):
        told.submit(f"b{i}", "team-b", 4)
    told.cycle(5)
    return told


def strict_and_best_effort():
    """A head that does not fit blocks a StrictFIFO queue, and is skipped in a BestEffortFIFO queue."""
    told = Transcript(
        "a large head: blocks the queue strict, and is skipped in the queue easy",
        Cluster(FLAVOR, queue("strict", 4, queueing_strategy="StrictFIFO"), queue("easy", 4)),
    )
    for name in ("strict", "easy"):
        told.submit(f"{name[0]}-one", name, 2)
        told.submit(f"{name[0]}-big", name, 3)
        told.submit(f"{name[0]}-small", name, 2)
        told.submit(f"{name[0]}-never", name, 5)
    told.cycle(5)
    told.scheduler.finish("s-one", "e-one")
    told.say("finish s-one, e-one")
    told.cycle(3)
    return told


def fair_sharing():
    """With fair sharing, the queue with the lower share is considered first and preempts the other."""
    any_ = Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    told = Transcript(
        "fair sharing: three queues of 3 share 9",
        Cluster(
            FLAVOR,
            [queue(name, 3, cohort_name="all", preemption=any_) for name in ("a", "b", "c")],
            configuration=Configuration(fair_sharing=FairSharingConfig()),
        ),
    )
    for i in range(9):
        told.submit(f"a{i}", "a", 1)
    told.cycle(9)
    told.wait(10)
    told.submit("b0", "b", 4)
    told.cycle(3)
    told.submit("c0", "c", 2)
    told.cycle(3)
    return told


def flavors_in_order():
    """Flavors are tried in order; a taint excludes pods without a toleration; partial admission reduces pods."""
    table = {"spot": {"cpu": 4}, "on-demand": {"cpu": 6}}
    told = Transcript(
        "flavors in order, with a taint, and partial admission",
        Cluster(
            ResourceFlavor("spot", node_taints=(Taint("spot", "true", "NoSchedule"),)),
            ResourceFlavor("on-demand"),
            ClusterQueue.of("q", table),
        ),
    )
    told.submit("brave", "q", 3, tolerations=("spot=true:NoSchedule",))
    told.submit("careful", "q", 3)
    told.submit("elastic", "q", 1, count=5, min_count=2)
    told.submit("greedy", "q", 7)
    told.cycle(4)
    return told


def borrow_while_preempting():
    """With borrowWithinCohort, lower priorities are preempted even if the preemptor ends up borrowing."""
    policy = Preemption(
        reclaim_within_cohort="LowerPriority",
        within_cluster_queue="LowerOrNewerEqualPriority",
        borrow_within_cohort=BorrowWithinCohort("LowerPriority", 5),
    )
    told = Transcript(
        "borrowWithinCohort: urgent has no quota of its own",
        Cluster(
            FLAVOR,
            queue("urgent", 0, cohort_name="all", preemption=policy),
            queue("idle", 0, cohort_name="all"),
            queue("bank", 10, cohort_name="all"),
        ),
    )
    told.submit("x", "idle", 3, priority=6)
    told.submit("y", "idle", 3, priority=5)
    told.submit("z", "idle", 4, priority=4)
    told.cycle(3)
    told.wait(5)
    told.submit("u", "urgent", 5, priority=7)
    told.cycle(3)
    return told


def checks_and_stops():
    """Admission checks delay a workload; stop policies evict and hold workloads."""
    checked = queue("q", 4, admission_checks_strategy=(AdmissionCheckStrategyRule("budget"),))
    told = Transcript(
        "an admission check, then stops", Cluster(FLAVOR, AdmissionCheck("budget", controller_name="acme"), checked)
    )
    told.submit("w", "q", 2)
    told.submit("x", "q", 2)
    told.cycle(2)
    told.settle_controllers()
    told.say("budget is ready for w, asks x to retry")
    told.scheduler.set_check("w", "budget", "Ready")
    told.scheduler.set_check("x", "budget", "Retry", message="no money")
    told.settle_controllers()
    told.cycle(1)
    told.say("the LocalQueue is stopped (Hold), then the ClusterQueue (HoldAndDrain)")
    told.scheduler.apply(LocalQueue("q", cluster_queue="q", stop_policy="Hold"))
    told.settle_controllers()
    told.scheduler.apply(msgspec.structs.replace(checked, stop_policy="HoldAndDrain"))
    told.settle_controllers()
    told.cycle(1)
    told.say("the LocalQueue goes on: only through it does the ClusterQueue reach its workloads")
    told.scheduler.apply(LocalQueue("q", cluster_queue="q"))
    told.settle_controllers()
    told.cycle(1)
    for key in ("w", "x"):
        workload = told.scheduler.workload(key)
        for condition in workload.status.conditions:
            told.say(f"  {key} {condition.type}={condition.status} {condition.reason}: {condition.message}")
    return told


STORIES = [
    reclaim_within_cohort,
    no_queue_reclaims,
    strict_and_best_effort,
    fair_sharing,
    flavors_in_order,
    borrow_while_preempting,
    checks_and_stops,
]


@pytest.mark.sanitizer
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_the_story_equals_its_golden_file(story, request):
    told, path = story().text(), HERE / f"{story.__name__}.txt"
    assert told.count("\n") <= MOST_LINES
    if request.config.getoption("--regold"):
        path.write_text(told, encoding="utf-8")
    assert told == path.read_text(encoding="utf-8")


def test_every_golden_transcript_has_a_story():
    assert {path.stem for path in HERE.glob("*.txt")} == {story.__name__ for story in STORIES}


@pytest.mark.parametrize(
    "word",
    [
        "WaitingForQuota", "ExceedsMaxQuota", "WaitingForPreemptedWorkloads", "InClusterQueue", "InCohortReclamation",
        "InCohortFairSharing", "InCohortReclaimWhileBorrowing", "AdmissionCheck", "ClusterQueueStopped", "Suspended",
    ],
)  # fmt: skip
def test_some_transcript_contains(word):
    assert any(word in path.read_text(encoding="utf-8") for path in HERE.glob("*.txt"))
