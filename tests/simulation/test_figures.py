"""Metrics of time windows and of selected jobs, their intervals, and warm-ups."""

import random

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.simulation.catalogue import FIGURES, SHOWN
from kueuepy.simulation.figures import Kpis

from .conftest import GPU, cluster, queue

CELL = f"f/{GPU}"


def test_overhead_of_finished_runs_counts_as_overhead():
    """An hour with a checkpoint of a minute after each 20 minutes, and none at the end: two minutes of two GPUs."""
    rows = [{"queue": "q", "submit": 0, "runtime": "1h", "gpu": 2}]
    result = kq.simulate(cluster(queue("q", 2)), rows, model=kq.sim.RunModel("checkpoint", every="20m", cost="1m"))
    assert result.kpis.overhead_hours == {CELL: pytest.approx(4 / 60)}
    assert result.kpis.effective_utilisation[CELL] == pytest.approx(60 / 62)
    assert result.kpis.wasted == pytest.approx(2 / 62)


@pytest.fixture
def evicting():
    """A job of 1000 s is evicted by urgent ones at 100 s and at 400 s, each of 50 s."""
    rows = [("low", 0, 1000, 0), ("high-1", 100, 50, 10), ("high-2", 400, 50, 10)]
    jobs = [
        {"name": name, "queue": "q", "submit": at, "runtime": run, "gpu": 2, "priority": priority, "user": name[:3]}
        for name, at, run, priority in rows
    ]
    return cluster(queue("q", 2, within_cluster_queue="LowerPriority")), jobs


def test_lost_work_counts_in_the_window_of_the_eviction(evicting):
    result = kq.simulate(*evicting)
    assert result.kpis.lost_hours[CELL] == pytest.approx(2 * (100 + 250) / 3600)
    assert result.figures(0, 200).lost_hours[CELL] == pytest.approx(2 * 100 / 3600)
    assert result.figures(200).lost_hours[CELL] == pytest.approx(2 * 250 / 3600)
    assert result.figures(0, 200).preemptions == {"InClusterQueue": 1}
    assert result.figures(500).lost_hours == {}
    assert result.figures(0, 100).utilisation[CELL] == 1.0


def test_metrics_of_selected_jobs_include_only_their_usage_and_loss(evicting):
    result = kq.simulate(*evicting)
    high = result.figures(where=lambda jobs: jobs["priority"] == 10)
    assert high.jobs == 2
    assert high.used_hours[CELL] == pytest.approx(2 * 100 / 3600)
    assert high.lost_hours == {}
    low = result.figures(where=lambda jobs: jobs["priority"] == 0)
    assert low.used_hours[CELL] == pytest.approx(2 * (100 + 250 + 1000) / 3600)
    assert low.lost_hours == result.kpis.lost_hours
    rows = {row["user"]: row for row in result.by("user").rows()}
    assert rows["low"][f"lost_hours {GPU}"] == pytest.approx(2 * 350 / 3600)
    assert [row["user"] for row in result.by("user", 50, 200).rows()] == ["hig"]
    (row,) = result.by("cluster_queue", 300).rows()
    assert row["jobs"] == 1


def test_a_warm_up_excludes_the_loss_of_its_jobs(evicting):
    result = kq.simulate(*evicting, warmup=50)
    assert result.kpis.jobs == 2
    assert result.kpis.lost_hours == {}
    assert result.kpis.evictions == 0
    assert result.kpis.preemptions == {}


def test_metrics_of_a_window_for_borrowing_waiting_and_lending():
    queues = [queue(name, 2, cohort="all") for name in ("one", "two")]
    rows = [("one", 0, 100, 3), ("one", 20, 50, 2), ("two", 150, 10, 1)]
    jobs = [{"queue": name, "submit": at, "runtime": run, "gpu": gpus} for name, at, run, gpus in rows]
    result = kq.simulate(cluster(*queues), jobs)
    whole, window = result.kpis, result.figures(0, result.seconds)
    for name in ("utilisation", "used_hours", "borrowed_hours", "lent_hours", "waiting_max", "jain"):
        assert getattr(window, name) == pytest.approx(getattr(whole, name)), name
    assert window.borrowing_time == pytest.approx(whole.borrowing_time)
    assert window.waiting_mean == pytest.approx(whole.waiting_mean)
    first = result.figures(0, 50)
    assert (first.borrowing_time, first.waiting_max) == (1.0, 1)
    assert first.borrowed_hours[CELL] == pytest.approx(50 / 3600)
    assert first.lent_hours[CELL] == pytest.approx(50 / 3600)
    assert first.waiting_mean == pytest.approx(30 / 50)
    late = result.figures(100)
    assert (late.borrowing_time, late.waiting_max, late.borrowed_hours) == (0.0, 0, {})


def test_metrics_of_a_window_for_idle_quota_and_blocked_queues():
    own = queue("c", 3).resource_groups
    there = cluster(kq.Cohort("c", resource_groups=own), queue("a", 4, cohort="c", limit=1), queue("b", 4, cohort="c"))
    jobs = kq.Jobs(
        {
            "queue": ["a", "a", "b"],
            "submit": [0, 10, 40],
            "runtime": [50, 10, 20],
            GPU: [5, 3, 2],
        }
    )
    result = kq.simulate(there, jobs)
    # From 10 s on, 3 GPUs are asked for in a, whose limit is met: 3 + 4 are free beside 4, but for 2 from 40 s on.
    assert result.jobs["first_start"].tolist() == [0, 50, 40]
    assert result.kpis.idle_while_waiting[CELL] == pytest.approx(40 * 3 / 3600)
    assert result.figures(0, 20).idle_while_waiting[CELL] == pytest.approx(10 * 3 / 3600)
    assert result.figures(20, 60).idle_while_waiting[CELL] == pytest.approx(30 * 3 / 3600)
    assert result.figures(50).idle_while_waiting.get(CELL, 0) == 0
    # Its share is 4 and half of the Cohort's quota of 3.
    assert result.kpis.blocked_share == pytest.approx(5 / 5.5)
    assert result.figures(0, 20).blocked_share == pytest.approx(5 / 5.5)
    assert result.figures(0, 10).blocked_share is None


def test_free_quota_of_a_tree_after_a_job_ends_and_beside_another_tree():
    jobs = kq.Jobs({"queue": ["a"] * 3, "submit": [0, 1, 2], "runtime": [10, 20, 5], GPU: [3, 2, 3]})
    result = kq.simulate(cluster(queue("a", 4), queue("b", 6)), jobs)
    # Of 4 GPUs, 3 are in use at first, and 2 from 10 s on; a job that asks for 3 waits from 2 s until 30 s.
    idle = [(row["seconds"], row["tree"], row["idle"]) for row in result.idle.rows()]
    assert idle == [(1, "a", 1), (10, "a", 2), (30, "a", 0)]
    assert result.kpis.idle_while_waiting[CELL] == pytest.approx((9 * 1 + 20 * 2) / 3600)


def test_quota_that_is_not_lent_is_free_in_its_tree():
    keeps = kq.ClusterQueue.of("a", {"f": {GPU: kq.Quota(10, lending_limit=2)}}, cohort_name="c")
    there = cluster(keeps, queue("b", 4, cohort="c"))
    jobs = [{"queue": "b", "submit": 0, "runtime": 10, "gpu": gpus} for gpus in (4, 3)]
    result = kq.simulate(there, jobs)
    assert result.jobs["first_start"].tolist() == [0, 10]
    assert result.kpis.idle_while_waiting[CELL] == pytest.approx(10 * 3 / 3600)


def test_metrics_of_a_window_include_cohort_quota():
    quotas = (kq.ResourceGroup.of({"f": {GPU: 6}}),)
    there = cluster(kq.Cohort("all", resource_groups=quotas), queue("q", 2, cohort="all"))
    result = kq.simulate(there, [{"queue": "q", "gpu": 4, "submit": 0, "runtime": 60}])
    assert result.kpis.utilisation[CELL] == result.figures(0, 60).utilisation[CELL] == 0.5


def test_jains_index_over_users():
    rows = [{"queue": "q", "submit": 0, "runtime": run, "gpu": 1, "user": user} for user, run in (("a", 30), ("b", 10))]
    result = kq.simulate(cluster(queue("q", 2)), rows)
    assert result.jain("user") == pytest.approx(40**2 / (2 * (30**2 + 10**2)))
    assert result.jain() == result.kpis.jain == 1.0


def test_simulated_waits_next_to_recorded_waits():
    rows = {
        "queue": ["q", "q"],
        "submit": ["2024-01-01T00:00:00Z", "2024-01-01T00:00:10Z"],
        "runtime": [60, 60],
        GPU: [1, 1],
        "recorded_start": np.array(["2024-01-01T00:00:05", "2024-01-01T00:02:00"], "M8[ns]"),
    }
    result = kq.simulate(cluster(queue("q", 1)), kq.Jobs(rows))
    found = result.compare_recorded()
    assert found["recorded_wait"].tolist() == [5.0, 110.0]
    assert found["first_wait"].tolist() == [0.0, 50.0]
    assert found["difference"].tolist() == [-5.0, -60.0]
    shifted = kq.simulate(cluster(queue("q", 1)), kq.Jobs(rows).window(10)).compare_recorded()
    assert shifted["recorded_wait"].tolist() == [110.0]
    del rows["recorded_start"]
    with pytest.raises(kq.errors.StateError, match="recorded_start"):
        kq.simulate(cluster(queue("q", 1)), kq.Jobs(rows)).compare_recorded()


def test_usage_can_be_recorded_per_step(evicting):
    result = kq.simulate(*evicting, record=kq.sim.Recording(usage="100s"))
    assert result.usage["seconds"].tolist() == [100.0 * n for n in range(15)]
    assert result.usage["waiting"].tolist()[:6] == [0, 1, 0, 0, 1, 0]
    with pytest.raises(kq.errors.InvalidSpecError, match="record: usage"):
        kq.simulate(*evicting, record=kq.sim.Recording(usage="often"))


def test_every_cycle_can_be_recorded(evicting):
    result = kq.simulate(*evicting, record=kq.sim.Recording(cycles=True))
    assert len(result.cycles) == result.stats["cycles"]
    assert result.cycles["admitted"].sum() == result.stats["admissions"]
    assert result.cycles["evicted"].sum() == result.stats["evictions"]
    assert len(kq.simulate(*evicting).cycles) == 0


def test_jobs_waiting_at_the_end_with_their_reasons(evicting, tmp_path):
    pytest.importorskip("pyarrow")
    result = kq.simulate(*evicting, until=420)
    (waiter,) = result.waiting
    assert (waiter.job, waiter.cluster_queue, waiter.waited) == ("low", "q", 70.0)
    assert waiter.explanation.startswith("default/low is pending: WaitingForQuota")
    result.save(tmp_path)
    assert kq.load_result(tmp_path).waiting == result.waiting


def test_every_metric_is_in_the_catalogue():
    assert set(FIGURES) == set(Kpis.__struct_fields__)
    assert {name for names in SHOWN.values() for name in names} <= set(FIGURES)


def changing(seed, *, everything):
    """Simulate jobs under quotas that change, in three trees and a queue that has no cohort.

    With `everything`, an unused flavor is added with each change, so that the core recomputes all trees.
    """
    rng = random.Random(seed)  # noqa: S311
    quotas = {name: {"f": {"cpu": 4}, "g": {"cpu": 2}} for name in ("a", "b", "c", "d", "e")}
    cohorts = {"a": "one", "b": "one", "c": "below", "d": "two", "e": None}
    reclaim = kq.objects.Preemption(reclaim_within_cohort="Any")
    queues = [
        kq.ClusterQueue.of(name, quotas[name], cohort_name=cohort, preemption=reclaim)
        for name, cohort in cohorts.items()
    ]
    tree = [kq.Cohort("below", parent_name="one"), kq.Cohort("two")]
    locals_ = [kq.LocalQueue(name, cluster_queue=name) for name in cohorts]
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ResourceFlavor("g"), *tree, *queues, *locals_)
    events = []
    for number in range(30):
        name, cpu = rng.choice(list(cohorts)), rng.randint(0, 8)
        field = rng.choice(("nominalQuota", "borrowingLimit")) if cohorts[name] else "nominalQuota"
        edit = kq.sim.Edit(f"ClusterQueue/{name}:quota[{rng.choice('fg')}/cpu].{field}", cpu)
        events.append(kq.sim.Event(7 * number, edit))
        if everything:
            events.append(kq.sim.Event(7 * number, kq.ResourceFlavor(f"unused{number}")))
    jobs = [
        {"queue": rng.choice(list(cohorts)), "submit": rng.randint(0, 200), "runtime": rng.randint(1, 60), "cpu": cpu}
        for cpu in rng.choices((1, 2, 3, 5), k=80)
    ]
    return kq.simulate(cluster, jobs, events=events, progress=False)


@pytest.mark.parametrize("seed", range(8))
def test_a_change_of_quotas_in_one_tree_gives_the_figures_of_a_change_of_all_trees(seed):
    one, all_trees = changing(seed, everything=False), changing(seed, everything=True)
    assert repr(one.kpis) == repr(all_trees.kpis)
    for table in ("jobs", "decisions", "usage", "queues"):
        assert repr(getattr(one, table).rows()) == repr(getattr(all_trees, table).rows()), table
