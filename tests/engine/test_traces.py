"""Faults found by random calls: operations that leave traces or have a late effect."""

from __future__ import annotations

import pytest

import kueuepy as kq
from fuzz.documents import hold
from kueuepy.engine.cycle import Cycle
from kueuepy.manifest import load
from kueuepy.simulation.items import jobs_of
from saved import from_bytes, to_bytes


def cluster(**more) -> kq.Cluster:
    return kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 4}}, **more))


def test_a_question_about_a_workload_that_was_never_queued_changes_nothing():
    scheduler = kq.Scheduler(cluster(), now=0)
    scheduler.submit(kq.Workload("w", queue_name="none", pod_sets=(kq.PodSet.of(requests={"cpu": 1}),)))
    before = to_bytes(scheduler)
    assert isinstance(scheduler.try_admit("w"), kq.Pending)
    scheduler.explain("w")
    scheduler.try_admit_many(["w", "w"])
    assert to_bytes(scheduler) == before


def test_a_removed_local_queue_leaves_no_trace():
    def story(*, loaded: bool) -> bytes:
        scheduler = kq.Scheduler(cluster(), now=0)
        scheduler.apply(kq.LocalQueue("team", cluster_queue="q", fair_sharing=kq.FairSharing("2")))
        scheduler.remove(kq.LocalQueue("team", cluster_queue="q"))
        if loaded:
            scheduler = from_bytes(to_bytes(scheduler))
        scheduler.submit({"name": "late", "queue": "team", "cpu": 1})
        return to_bytes(scheduler)

    assert story(loaded=True) == story(loaded=False)


def test_a_fingerprint_reflects_the_current_state():
    scheduler = kq.Scheduler(cluster(), now=0)
    scheduler.apply(kq.ClusterQueue.of("late", {"f": {"cpu": 4}}, cohort_name="all"))
    assert scheduler._engine.fingerprint() == from_bytes(to_bytes(scheduler))._engine.fingerprint()


def test_saved_bytes_do_not_depend_on_caches_of_nodes():
    node = kq.Node("n1", labels={"pool": "a", "kubernetes.io/hostname": "n1"}, capacity={"cpu": "4", "pods": "8"})
    topology = kq.Topology("room", levels=["kubernetes.io/hostname"])
    flavor = kq.ResourceFlavor("f", node_labels={"pool": "a"}, topology_name="room")
    scheduler = kq.Scheduler(kq.Cluster(flavor, topology, node, kq.ClusterQueue.of("q", {"f": {"cpu": 4}})), now=0)
    before = to_bytes(scheduler)
    request = {"required": "kubernetes.io/hostname"}
    pods = kq.PodSet.of(requests={"cpu": 1}, topology_request=request)
    assert isinstance(scheduler.try_admit(kq.Workload("w", queue_name="q", pod_sets=(pods,))), kq.Admitted)
    assert to_bytes(scheduler) == before


def test_workloads_pending_for_controllers_are_unordered():
    doors = [kq.LocalQueue(name, cluster_queue="q") for name in "ba"]
    scheduler = kq.Scheduler(kq.Cluster(cluster().cluster_queues, cluster().resource_flavors, doors), now=0)
    scheduler.submit({"name": f"of-{name}", "queue": name, "cpu": 1} for name in "ba")
    scheduler.settle()
    loaded = from_bytes(to_bytes(scheduler))
    for one in (scheduler, loaded):
        one.apply(kq.Namespace("default", labels={"team": "a"}))
    assert to_bytes(loaded) == to_bytes(scheduler)


def test_cohorts_in_a_cycle_have_no_height():
    def story(*first: kq.Cohort) -> bytes:
        scheduler = kq.Scheduler(cluster(cohort_name="below"), now=0)
        scheduler.apply(*first)
        scheduler.settle()
        scheduler.apply(kq.Cohort("above", parent_name="below"), kq.Cohort("below", parent_name="above"))
        scheduler.settle()
        scheduler.apply(kq.Cohort("leaf"))
        scheduler.settle()
        return to_bytes(scheduler)

    # The ring closes over either height.
    flat = story(kq.Cohort("below"), kq.Cohort("above"), kq.Cohort("leaf"))
    assert flat == story(kq.Cohort("below"), kq.Cohort("above"), kq.Cohort("leaf", parent_name="above"))


def test_the_line_of_a_duplicate_key_is_found():
    text = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: vision
spec:
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: h100
      resources:
      - {name: cpu, nominalQuota: 8}
  preemption: {}
spec:
  resourceGroups:
  - coveredResources: [cpu, memory]
"""
    for _ in range(20):  # whether a mapping reuses the address of another is random
        with pytest.raises(kq.errors.InvalidSpecError, match="flavors: is required"):
            load(text, strict=False)


def test_texts_that_the_fast_reader_does_not_accept():
    no_number = '{"a\u2028": 1.2026-01-31}'  # nor a key of YAML, where it has two lines
    for text in (
        "note: |\n  \n",
        "note: |\n  \n line\n",
        '- "a \\\n---\n  c"\n',
        "- 'a\n--- c'\n",
        " items:\n - a: b\nkind: List\n",
        '- "a\n...\n  c"\n',
        no_number,
    ):
        hold(text)
    for text in ("1", "-1", "0", "2e3", "-0.5E+3", "1.25e-2"):
        hold(f'{{"a": {text}}}')


def test_a_table_of_jobs_is_compared_unchanged():
    rows = [{"name": f"j{n}", "queue": "q", "cpu": 2, "submit": 60 * n, "duration": 600} for n in range(4)]
    of_rows, of_table = (kq.compare(cluster(), cluster(), jobs) for jobs in (rows, jobs_of(rows)))
    assert str(of_rows) == str(of_table)
    assert kq.compare(cluster(), cluster(), iter(rows)).before.kpis.jobs == 4


def test_settling_many_kinds_of_workloads_that_do_not_fit_checks_few_states():
    scheduler = kq.Scheduler(cluster(), now=0)
    pods = [(kq.PodSet.of(requests={"cpu": 100 + n}),) for n in range(300)]
    scheduler.submit(kq.Workload(f"w{n}", queue_name="q", pod_sets=pod_sets) for n, pod_sets in enumerate(pods))
    looked = []

    class Engine:
        def __getattr__(self, name):
            return getattr(scheduler._state.engine, name)

        def fingerprint(self):
            looked.append(1)
            return scheduler._state.engine.fingerprint()

    from kueuepy.session.settling import settle  # noqa: PLC0415 - beside its double

    engine = Engine()

    def run():
        engine.settle()
        return Cycle(engine.decide())

    settled = settle(engine, run)
    assert settled.finished
    assert len(settled) == 300
    assert len(looked) < 100


def test_the_cache_of_validated_names_is_small():
    from kueuepy.manifest.validation import review  # noqa: PLC0415 - its caches

    assert all(cached.cache_info().maxsize <= 4096 for cached in vars(review).values() if hasattr(cached, "cache_info"))


def test_a_deleted_cohort_is_not_requeued() -> None:
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 4}}, cohort_name="z"))
    scheduler = kq.Scheduler(cluster, now=0)
    scheduler.apply(kq.ClusterQueue.of("a", {"f": {"cpu": 4}}))  # nothing is below z any more
    saved = from_bytes(to_bytes(scheduler))
    for one in (scheduler, saved):
        one.apply(kq.Cohort("z", parent_name="x"))
    assert scheduler._engine.fingerprint() == saved._engine.fingerprint()
    assert to_bytes(scheduler) == to_bytes(saved)
