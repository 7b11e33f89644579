"""Properties of preemption: targets are allowed, sufficient and necessary."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kueuepy import Cluster, ClusterQueue, PodSet, Preemption, ResourceFlavor, Scheduler, Workload
from kueuepy.testing import clusters, workloads
from laws import described
from oracle import classical, reading
from vectors.cluster import amount, namespace_of, tables_of

pytestmark = pytest.mark.sanitizer


LINES = st.booleans().flatmap(lambda fair: described.preemptions(fair=fair))


def search(line):
    """The targets, and the oracle's view of the cluster, to judge them by definition."""
    tables, forest = tables_of(line), reading.forest(line)
    admitted = {workload.name: workload for workload in reading.admit(forest, line)}
    preemptor = reading.workload(forest, line["incoming"])
    contested = [(entry["flavor"], entry["resource"]) for entry in line["incoming"]["usage"] if entry.get("preempt")]
    request = [amount(entry) for entry in line["incoming"]["usage"]]
    before = tables.usage()
    targets = tables.search(f"{namespace_of(line['incoming'])}/in", contested, request)
    assert tables.usage() == before, "a search leaves everything as it was"
    return targets, admitted, preemptor, contested


@given(LINES)
def test_every_target_is_allowed(line):
    targets, admitted, preemptor, contested = search(line)
    policies = reading.policies(line, preemptor.queue.name)
    assert len({name for name, _ in targets}) == len(targets)
    for name, reason in targets:
        victim = admitted[name]
        own = victim.queue is preemptor.queue
        assert classical.allows(policies.within if own else policies.reclaim, preemptor, victim)
        assert any(cell in victim.usage for cell in contested)
        assert own == (reason == "InClusterQueue")
        if own:
            continue
        assert victim.queue.active
        assert victim.queue.is_over(contested), "only a queue that borrows loses workloads to others"
        assert victim.queue.path()[-1] is preemptor.queue.path()[-1]
        if reason == "InCohortReclaimWhileBorrowing":
            assert policies.borrow
            assert victim.priority < preemptor.priority
            assert policies.threshold is None or victim.priority <= policies.threshold


@given(LINES)
def test_targets_are_sufficient_and_all_necessary(line):
    targets, admitted, preemptor, _ = search(line)
    if not targets:
        return
    victims = [admitted[name] for name, _ in targets]
    for victim in victims:
        victim.queue.charge(victim.usage, -1)

    def fits(*, borrow):
        return all(
            value <= preemptor.queue.available(cell) and (borrow or not preemptor.queue.borrows_with(cell, value))
            for cell, value in preemptor.usage.items()
        )

    assert fits(borrow=True)
    # The last target is never put back; without borrowing, the preemptor must fit its nominal quota.
    spared = 0
    for victim in victims:
        victim.queue.charge(victim.usage)
        spared += fits(borrow=line["fairSharing"] or not fits_within_nominal(victim, preemptor))
        victim.queue.charge(victim.usage, -1)
    assert spared <= 1


def fits_within_nominal(kept, preemptor):
    """Return whether the preemptor is within its nominal quota without the victims."""
    kept.queue.charge(kept.usage, -1)
    within = not any(preemptor.queue.borrows_with(cell, value) for cell, value in preemptor.usage.items())
    kept.queue.charge(kept.usage)
    return within


def whole(waiting):
    """Return the workloads without partial admission."""
    replace = msgspec.structs.replace
    return [replace(w, pod_sets=tuple(replace(pod_set, min_count=None) for pod_set in w.pod_sets)) for w in waiting]


@given(clusters(), workloads().map(whole))
def test_preemption_terminates_or_is_reported_as_a_loop(cluster, waiting):
    scheduler = Scheduler(cluster, now=0)
    scheduler.submit(waiting)
    settled = scheduler.settle(max_cycles=200)
    assert settled.finished or settled.loop


def test_partial_admission_can_cause_a_preemption_loop():
    """One pod fits nominal quota and reclaims it; then both pods would fit by borrowing, but too late."""
    cluster = Cluster(
        ResourceFlavor("f"),
        ClusterQueue.of("borrower", {"f": {"cpu": 1}}, cohort_name="all"),
        ClusterQueue.of(
            "owner", {"f": {"cpu": 1}}, cohort_name="all", preemption=Preemption(reclaim_within_cohort="Any")
        ),
    )
    scheduler = Scheduler(cluster, now=0)
    scheduler.submit(
        Workload("large", queue_name="borrower", pod_sets=(PodSet.of(requests={"cpu": 2}),)),
        Workload("elastic", queue_name="owner", pod_sets=(PodSet.of(count=2, min_count=1, requests={"cpu": 1}),)),
    )
    loop = scheduler.settle().loop
    assert loop is not None
    assert (loop.period, loop.workloads) == (2, ("default/large",))
    assert scheduler._engine.check() == []


@given(described.preemptions(fair=True), st.integers(1, 3))
def test_only_ratios_of_weights_matter(line, power):
    def targets(factor):
        scaled = {**line}
        for kind in ("cohorts", "clusterQueues"):
            scaled[kind] = [{**row, "weight": str(float(row["weight"]) * factor)} for row in line[kind]]
        return search(scaled)[0]

    assert targets(2**power) == targets(1)
