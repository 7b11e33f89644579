"""Properties of order: irrelevant order has no effect, and relevant order is followed."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kueuepy import Cluster, ClusterQueue, Cohort, Configuration, ResourceFlavor, Scheduler
from kueuepy.objects import LocalQueue, PodSet, Workload
from kueuepy.testing import clusters, drive, traces, workloads
from laws.runs import admissions, scaled, settled, story

pytestmark = pytest.mark.sanitizer
replace = msgspec.structs.replace


def run(cluster, waiting):
    scheduler = Scheduler(cluster, now=0)
    scheduler.submit(waiting)
    return scheduler


@given(clusters(), workloads(), st.data())
def test_the_order_of_documents_does_not_matter(cluster, waiting, data):
    shuffled = Cluster(data.draw(st.permutations(list(cluster.objects()))), configuration=cluster.configuration)
    identified = [replace(w, uid=w.name) for w in waiting]
    assert story(run(shuffled, data.draw(st.permutations(identified)))) == story(run(cluster, identified))


@given(clusters(), workloads())
def test_only_the_order_of_names_matters(cluster, waiting):
    def renamed(obj):
        """Prefix each name with x, which keeps the order of names."""
        changes = {}
        for field in ("name", "cohort_name", "parent_name", "cluster_queue", "queue_name"):
            if isinstance(value := getattr(obj, field, None), str) and not isinstance(obj, ResourceFlavor):
                changes[field] = f"x{value}"
        return replace(obj, **changes)

    kinds = (ResourceFlavor, ClusterQueue, Cohort, LocalQueue)
    objects = [renamed(obj) for obj in cluster.objects() if isinstance(obj, kinds)]
    other = Cluster(objects, configuration=cluster.configuration)
    expected = story(run(cluster, waiting))
    found = story(run(other, [renamed(w) for w in waiting]))
    assert eval(repr(found).replace("default/x", "default/")) == eval(repr(expected))  # noqa: S307 - our own texts


@given(clusters(), workloads(), st.sampled_from([2, 7, 1000]))
def test_scaling_every_amount_scales_every_decision(cluster, waiting, factor):
    other, more = scaled(cluster, waiting, factor)
    assert story(run(other, more)) == story(run(cluster, waiting))


@given(clusters(), workloads(), workloads(["stranger"], prefix="stranger"))
def test_an_unrelated_tree_has_no_effect(cluster, waiting, strangers):
    stranger = ClusterQueue.of("stranger", {"flavor-0": {"cpu": 5, "memory": 5}}, cohort_name="far-away")
    declared = [obj for obj in cluster.objects() if not isinstance(obj, LocalQueue)]
    other = Cluster(declared, stranger, configuration=cluster.configuration)

    def ours(cycles):
        return [[decision for decision in cycle if "stranger" not in decision[1]] for cycle in cycles]

    assert ours(story(run(other, [*waiting, *strangers]))) == story(run(cluster, waiting))


@given(clusters(), workloads(), workloads(prefix="later"), st.integers(0, 4))
def test_a_fork_equals_a_replay(cluster, waiting, later, cycles):
    first, second = run(cluster, waiting), run(cluster, waiting)
    story(first, cycles)
    story(second, cycles)
    fork = first.fork()
    assert fork._engine.fingerprint() == first._engine.fingerprint() == second._engine.fingerprint()
    before = first._engine.fingerprint()
    fork.submit(later)
    told = story(fork)
    assert first._engine.fingerprint() == before, "the original does not notice"
    second.submit(later)
    assert story(second) == told
    assert fork._engine.fingerprint() == second._engine.fingerprint()
    assert first._engine.check() == fork._engine.check() == []


@given(clusters(), workloads())
def test_one_head_per_queue_and_each_victim_once(cluster, waiting):
    scheduler = run(cluster, waiting)
    for _ in range(8):
        cycle = scheduler.cycle()
        queues = [decision.cluster_queue for decision in cycle]
        assert len(set(queues)) == len(queues)
        victims = [target.workload for decision in cycle.preempting for target in decision.targets]
        assert len(set(victims)) == len(victims)
        assert not set(victims) & {decision.workload for decision in cycle}


@given(clusters(preemption=False), workloads())
def test_strict_fifo_admits_a_prefix(cluster, waiting):
    strict = [replace(queue, queueing_strategy="StrictFIFO") for queue in cluster.cluster_queues]
    scheduler = settled(cluster.replace(*strict), waiting)
    admitted = admissions(scheduler)
    for queue in cluster.cluster_queues:
        mine = [w for w in waiting if w.queue_name == queue.name]
        order = sorted(mine, key=lambda w: (-(w.priority or 0), waiting.index(w)))
        flags = [w.key in admitted for w in order]
        assert flags == sorted(flags, reverse=True), "nobody is admitted behind somebody who waits"


@given(clusters(preemption=False), workloads())
def test_equivalence_hashing_saves_work_and_changes_nothing(cluster, waiting):
    def held(gate):
        configuration = replace(cluster.configuration, feature_gates={"SchedulingEquivalenceHashing": gate})
        return admissions(settled(cluster.replace(configuration=configuration), waiting))

    assert held(gate=True) == held(gate=False)


@given(traces())
def test_virtual_time_is_reproducible(trace):
    def once():
        cluster = Cluster(
            ResourceFlavor("f"),
            [ClusterQueue.of(f"queue-{i}", {"f": {"cpu": 6, "memory": 9}}, cohort_name="all") for i in range(4)],
            configuration=Configuration(),
        )
        scheduler = Scheduler(cluster, now=0)
        return drive(scheduler, trace), scheduler._engine.fingerprint(), scheduler._engine.check()

    finished, print_, problems = once()
    assert problems == []
    assert (finished, print_, problems) == once()
    for arrival in trace:
        if (end := finished.get(arrival.workload.key)) is not None:
            assert end >= arrival.at + arrival.runtime


def test_equal_workloads_are_served_in_the_order_of_their_uids():
    cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("q", {"f": {"cpu": 1}}))
    pods = (PodSet.of(requests={"cpu": 1}),)
    waiting = [Workload(name, uid=uid, queue_name="q", pod_sets=pods) for name, uid in (("a", "2"), ("b", "1"))]
    assert list(admissions(settled(cluster, waiting))) == ["default/b"]
