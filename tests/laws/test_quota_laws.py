"""Properties of quota that hold after any history: limits, inverse operations and stable states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
from kueuepy.engine.decisions import Admitted
from kueuepy.testing import clusters, workloads
from laws.runs import CELLS, admissions, nodes, settled

pytestmark = pytest.mark.sanitizer
UNLIMITED = 2**63 - 1


def limits(cluster):
    """The borrowing and lending limit of each cell, by queue or cohort."""
    for obj, is_cohort in [(o, False) for o in cluster.cluster_queues] + [(o, True) for o in cluster.cohorts]:
        for group in obj.resource_groups:
            for flavor in group.flavors:
                for quota in flavor.resources:
                    scale = 1000 if quota.name == "cpu" else 1
                    pair = [None if x is None else int(x) * scale for x in (quota.borrowing_limit, quota.lending_limit)]
                    yield (obj.name, is_cohort), (flavor.name, quota.name), *pair


@given(clusters(), workloads())
def test_no_limit_is_exceeded_once_everything_is_settled(cluster, waiting):
    tables, everyone = nodes(settled(cluster, waiting))
    bounds = {(node, cell): pair for node, cell, *pair in limits(cluster)}
    for node in everyone:
        for cell in CELLS:
            subtree, local, usage, available, _, _ = tables.node(*node, cell)
            borrowing, lending = bounds.get((node, cell), (None, None))
            assert usage >= 0, (node, cell)
            assert available >= max(0, local - usage), "what a node doesn't lend is always there for itself"
            if borrowing is not None:
                assert usage <= subtree + borrowing, (node, cell)
            if lending is not None:
                assert subtree - local <= lending, (node, cell)


@given(clusters(), workloads())
def test_removing_usage_restores_the_quota(cluster, waiting):
    scheduler = Scheduler(cluster, now=0)
    scheduler.submit(waiting)
    while held := admissions(scheduler):
        scheduler.delete(*held)
    scheduler.settle(max_cycles=60)
    while held := admissions(scheduler):
        scheduler.delete(*held)
    tables, everyone = nodes(scheduler)
    assert tables.usage() == {}
    assert scheduler._engine.check() == []
    fresh, _ = nodes(Scheduler(cluster, now=0))
    assert all(tables.node(*node, cell) == fresh.node(*node, cell) for node in everyone for cell in CELLS)


@given(clusters(), st.data())
def test_adding_and_removing_usage_in_any_order_restores_the_state(cluster, data):
    tables, _ = nodes(Scheduler(cluster, now=0))
    queues = st.sampled_from([queue.name for queue in cluster.cluster_queues])
    charges = data.draw(st.lists(st.tuples(queues, st.sampled_from(CELLS), st.integers(0, 9000)), max_size=10))
    lasting, passing = charges[::2], charges[1::2]
    for charge in lasting:
        tables.add(*charge)
    before = tables.usage()
    for charge in passing:
        tables.add(*charge)
    for charge in data.draw(st.permutations(passing)):
        tables.remove(*charge)
    assert tables.usage() == before


@given(clusters(), st.data())
def test_more_usage_never_increases_available_quota(cluster, data):
    tables, everyone = nodes(Scheduler(cluster, now=0))
    queues = [queue.name for queue in cluster.cluster_queues]
    for _ in range(3):
        before = [tables.node(*node, cell)[3] for node in everyone for cell in CELLS]
        tables.add(
            data.draw(st.sampled_from(queues)), data.draw(st.sampled_from(CELLS)), data.draw(st.integers(0, 9000))
        )
        after = [tables.node(*node, cell)[3] for node in everyone for cell in CELLS]
        assert all(new <= old for new, old in zip(after, before, strict=True))


@given(clusters(), workloads())
def test_admission_is_all_or_nothing(cluster, waiting):
    scheduler = settled(cluster, waiting)
    queues = {queue.name: queue for queue in cluster.cluster_queues}
    for key, (queue, pod_sets) in admissions(scheduler).items():
        workload = scheduler.workload(key)
        assert [name for name, *_ in pod_sets] == [pod_set.name for pod_set in workload.pod_sets]
        for pod_set, (_, count, resources, *_) in zip(workload.pod_sets, pod_sets, strict=True):
            fewest = pod_set.count if pod_set.min_count is None else pod_set.min_count
            assert fewest <= count <= pod_set.count
            asked = pod_set.template["spec"]["containers"][0]["resources"].get("requests", {})
            assert resources.keys() == asked.keys()
            for group in queues[queue].resource_groups:
                chosen = {resources[name][0] for name in group.covered_resources if name in resources}
                assert len(chosen) <= 1, "one flavor for all resources of a group"
                assert chosen <= {flavor.name for flavor in group.flavors}
            for name, (_, amount) in resources.items():
                assert amount == int(asked[name]) * count * (1000 if name == "cpu" else 1)


@given(clusters(), workloads())
def test_a_settled_state_stays_unchanged(cluster, waiting):
    scheduler = Scheduler(cluster, now=0)
    scheduler.submit(waiting)
    first = scheduler.settle(max_cycles=200)
    assert first.finished or first.loop, "every run ends, or is reported as a loop"
    if not first.finished:
        return
    before = scheduler._engine.fingerprint()
    again = scheduler.settle(max_cycles=200)
    assert again.finished
    assert not again.admitted
    assert not again.preempted
    assert scheduler._engine.fingerprint() == before


@given(clusters(preemption=False, fair_sharing=False), workloads())
def test_no_workload_waits_that_would_fit(cluster, waiting):
    scheduler = settled(cluster, waiting)
    for queue in cluster.cluster_queues:
        if queue.queueing_strategy == "StrictFIFO":
            continue
        for key in scheduler._engine.queues().get(queue.name, ([], []))[0]:
            assert not isinstance(scheduler.try_admit(key), Admitted), key


@given(st.integers(0, 12), st.integers(0, 12), st.data())
def test_more_quota_never_admits_less(quota, more, data):
    def used(nominal):
        cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("queue-0", {"f": {"cpu": nominal}}))
        return settled(cluster, waiting)._engine.usage()["queue-0"].get("f/cpu", 0)

    requests = st.fixed_dictionaries({"cpu": st.integers(0, 6)})
    waiting = data.draw(workloads(["queue-0"], requests=requests))
    waiting = [w for w in waiting if all(pod_set.min_count is None for pod_set in w.pod_sets)]
    assert used(quota) <= used(quota + more)
