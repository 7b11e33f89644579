"""Kueue's metrics, and the metrics for comparing policies (VM)."""

import re
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.platform.metrics import Watch

DEFAULT = kq.ResourceFlavor("default")

NAMES = Path(__file__).with_name("series.txt").read_text(encoding="utf-8").split()
"""Kueue's series (`pkg/metrics/metrics.go`) but those of real time, of pods' gates, of slices, of MultiKueue and of the
build."""


def _queue(name, cpu, **fields):
    preemption = kq.Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, preemption=preemption, **fields)


def _busy(stage):
    """One queue borrows 2 of 4 CPUs, loses them after 10 s, and waits; the Watch has all events."""
    on = stage(DEFAULT, _queue("a", 2, cohort_name="k"), _queue("b", 2, cohort_name="k"))
    watch = Watch(on.scheduler)
    on.submit("a", 4, created=0)
    on.settle()
    on.scheduler.advance(9)
    on.submit("b", 2, created=10)
    on.settle()
    return on, watch


def test_VM_05_metrics_have_the_names_of_kueue(stage):
    gates = (
        "LocalQueueMetrics",
        "UnadmittedWorkloadsObservability",
        "MetricsForCohorts",
        "SchedulingEquivalenceHashing",
    )
    configuration = kq.Configuration(feature_gates=dict.fromkeys(gates, True))
    watch = Watch(stage(DEFAULT, _queue("q", 9), configuration=configuration).scheduler)
    assert {series.name for series in watch.series()} == {f"kueue_{name}" for name in NAMES}
    assert len(NAMES) >= 50


def _without_role(text):
    return text.replace(',replica_role="standalone"', "")


def test_VM_05_metrics_of_waits_evictions_shares_and_usage(stage):
    _, watch = _busy(stage)
    text = watch.metrics_text()
    found = dict(
        re.findall(r"^kueue_(\w+\{[^}]*\}) (\S+)$", text.replace(',replica_role="standalone"', ""), re.MULTILINE)
    )
    queue = '{cluster_queue="a",cohort="k",flavor="default",resource="cpu"}'
    assert {name: found[f"cluster_queue_{name}{queue}"] for name in ("nominal_quota", "resource_usage")} == {
        "nominal_quota": "2.0",
        "resource_usage": "2.0",
    }
    assert found[f"cluster_queue_borrowing_limit{queue}"] == found[f"cluster_queue_lending_limit{queue}"] == "+Inf"
    assert found['preempted_workloads_total{preempting_cluster_queue="b",reason="InCohortReclamation"}'] == "2.0"
    evicted = 'cluster_queue="a",priority_class="",reason="Preempted",underlying_cause=""'
    assert found[f"evicted_workloads_total{{{evicted}}}"] == "2.0"
    assert found['pending_workloads{cluster_queue="a",status="inadmissible"}'] == "2.0"
    # Four jobs arrived at 0 s and two at 10 s; cycles ran at 1 s and 11 s.
    assert found['admission_wait_time_seconds_sum{cluster_queue="a",priority_class=""}'] == "4.0"
    assert found['admission_wait_time_seconds_sum{cluster_queue="b",priority_class=""}'] == "2.0"
    assert found['admission_wait_time_seconds_bucket{cluster_queue="a",le="1",priority_class=""}'] == "4.0"
    assert "# TYPE kueue_admission_wait_time_seconds histogram" in text


def _compared():
    """Two queues of 2 CPUs share; `a` borrows at once, `b` submits after an hour and reclaims, or waits."""
    jobs = [{"name": f"a-{n}", "queue": "a", "cpu": 1, "duration": "2h"} for n in range(4)]
    jobs += [{"name": f"b-{n}", "queue": "b", "cpu": 1, "submit": 3600, "duration": "2h"} for n in range(2)]
    clusters = []
    for policy in ("Never", "Any"):
        preemption = kq.Preemption(reclaim_within_cohort=policy)
        queues = [
            kq.ClusterQueue.of(name, {"default": {"cpu": 2}}, cohort_name="k", preemption=preemption) for name in "ab"
        ]
        clusters.append(kq.Cluster(DEFAULT, queues))
    return kq.compare(*clusters, jobs, names=("wait", "reclaim"))


def test_VM_06_metrics_of_a_run_with_one_waiting_job():
    figures = _compared().kpis["wait"]
    # Four jobs of a run from 0 to 2 h, two of b from 2 h to 4 h.
    assert (figures.jobs, figures.finished, figures.seconds) == (6, 6, 4 * 3600)
    assert figures.utilisation == {"default/cpu": pytest.approx(12 / 16)}
    assert figures.slowdown == pytest.approx((4 * 1 + 2 * 1.5) / 6)
    assert figures.slowdown_p95 == pytest.approx(1.5)
    assert figures.goodput == pytest.approx((4 + 2 / 1.5) / 6)
    assert (figures.wait_p50, figures.wait_p95, figures.longest_wait) == (0, 3600, 3600)
    assert figures.borrowed_hours == {"default/cpu": pytest.approx(2 * 2)}
    assert figures.lost_hours == {}
    assert figures.jain == pytest.approx((8 + 4) ** 2 / (2 * (8**2 + 4**2)))


def test_VM_06_metrics_of_a_run_with_two_preemptions():
    figures = _compared().kpis["reclaim"]
    # Two jobs of a lose an hour each, and run from 2 h to 4 h; those of b from 1 h to 3 h.
    assert (figures.finished, figures.seconds) == (6, 4 * 3600)
    assert figures.lost_hours == {"default/cpu": pytest.approx(2)}
    assert figures.borrowed_hours == {"default/cpu": pytest.approx(2 * 1)}
    assert figures.utilisation == {"default/cpu": pytest.approx((12 + 2) / 16)}
    assert figures.slowdown == pytest.approx((4 * 1 + 2 * 2) / 6)
    assert figures.useful == pytest.approx((4 + 2 / 2) / 6)
    assert figures.goodput == pytest.approx((4 + 2 * 3 / 4) / 6)
    assert (figures.wait_p50, figures.longest_wait) == (0, 3600)
    assert figures.jain == pytest.approx((10 + 4) ** 2 / (2 * (10**2 + 4**2)))


def test_VM_06_a_job_waiting_at_the_end_counts_for_the_longest_wait_and_not_for_slowdown():
    jobs = [{"name": "now", "queue": "q", "cpu": 1, "duration": "1h"}, {"name": "never", "queue": "q", "cpu": 9}]
    figures = kq.compare(*[kq.Cluster(DEFAULT, kq.ClusterQueue.of("q", {"default": {"cpu": 1}}))] * 2, jobs).before.kpis
    assert (figures.finished, figures.slowdown, figures.longest_wait) == (1, 1.0, 3600)
    assert "longest_wait" in str(figures)
    assert "<table" in figures._repr_html_()


def test_VM_06_a_run_without_jobs_has_no_metrics():
    figures = kq.compare(*[kq.Cluster(DEFAULT, kq.ClusterQueue.of("q", {"default": {"cpu": 1}}))] * 2).before.kpis
    assert (figures.jobs, figures.goodput, figures.slowdown, figures.jain) == (0, None, None, None)
    assert (figures.wait_p95, figures.longest_wait, figures.utilisation) == (0, 0, {"default/cpu": 0})
