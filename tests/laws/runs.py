"""What the laws run, and how they look at what came of it."""

from __future__ import annotations

from kueuepy import Cluster, Scheduler
from kueuepy._core import _testing
from kueuepy.decision import Admitted, Preempting
from kueuepy.testing.strategies import FLAVORS, RESOURCES

CELLS = [(flavor, resource) for flavor in FLAVORS for resource in RESOURCES]
MOST_CYCLES = 200


def settled(cluster: Cluster, waiting) -> Scheduler:
    """The Scheduler after everything was submitted at once and nothing changes any more."""
    scheduler = Scheduler(cluster, now=0)
    scheduler.submit(waiting)
    scheduler.settle(max_cycles=MOST_CYCLES)
    assert scheduler.engine.check() == []
    return scheduler


def story(scheduler: Scheduler, cycles: int = 12) -> list:
    """What each of some cycles decides, without what is only a matter of words."""
    return [[_plain(decision) for decision in scheduler.cycle()] for _ in range(cycles)]


def _plain(decision):
    match decision:
        case Admitted():
            counts = [assignment.count for assignment in decision.admission.pod_set_assignments]
            return ("admitted", decision.workload, decision.flavors, counts)
        case Preempting():
            return ("preempting", decision.workload, [(target.workload, target.reason) for target in decision.targets])
    return ("pending", decision.workload, decision.reason)


def nodes(scheduler: Scheduler):
    """The engine's tables, and the name of each queue and cohort in them with whether it is a cohort."""
    cluster = scheduler.cluster
    names = [(queue.name, False) for queue in cluster.cluster_queues]
    named = {cohort.name for cohort in cluster.cohorts}
    named |= {queue.cohort_name for queue in cluster.cluster_queues if queue.cohort_name}
    return _testing.Tables(scheduler.engine), names + [(name, True) for name in sorted(named)]


def admissions(scheduler: Scheduler) -> dict:
    """What each workload holds."""
    engine = scheduler.engine
    keys = scheduler.keys()
    found = {key: engine.admission(engine.find(key)) for key in keys}
    return {key: admission for key, admission in found.items() if admission is not None}
