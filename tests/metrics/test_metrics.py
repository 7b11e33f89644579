"""Events, and Kueue's metrics of them, with the labels and values of Kueue's source."""

from __future__ import annotations

import re
import sys

import pytest

import kueuepy as kq
from journal.cases import workload
from kueuepy.platform.metrics import Watch

SECOND = 10**9
LINE = re.compile(r"^kueue_(\w+)\{(.*)\} (\S+)$", re.MULTILINE)


class Shown:
    """The metrics of a Watch, parsed from its text."""

    def __init__(self, watch):
        self.text = watch.metrics_text()

    def of(self, name, /, **labels):
        """Return the values of a metric with these labels, by the other labels."""
        found = {}
        for series, text, value in LINE.findall(self.text):
            has = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', text))
            if series == name and labels.items() <= has.items():
                rest = sorted((k, v) for k, v in has.items() if k not in labels and k != "replica_role")
                found[tuple(v for _, v in rest)] = float(value)
        return found

    def one(self, name, /, **labels):
        (value,) = self.of(name, **labels).values()
        return value


def watched(*queues, now=0, **configuration):
    cluster = kq.Cluster(kq.ResourceFlavor("default"), *queues, configuration=kq.Configuration(**configuration))
    scheduler = kq.Scheduler(cluster, now=now)
    return scheduler, Watch(scheduler)


def queue(name="q", cpu=4, **fields):
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, **fields)


PREEMPTING = kq.Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")
CHECKED = (kq.objects.AdmissionCheckStrategyRule("approval"),)
APPROVAL = kq.AdmissionCheck("approval", controller_name="example.com/approval")


def kinds(watch):
    return [event.kind for event in watch.events]


def test_a_watch_reports_each_event_of_a_workload():
    ready = kq.objects.WaitForPodsReady(timeout=60)
    scheduler, watch = watched(queue(), wait_for_pods_ready=ready)
    scheduler.submit(workload("a", "q"))
    scheduler.settle()
    scheduler.advance(5)
    scheduler.pods_ready("a")
    scheduler.settle()
    scheduler.finish("a")
    scheduler.delete("a")
    assert kinds(watch) == ["Created", "QuotaReserved", "Admitted", "PodsReady", "Finished", "Deleted"]
    assert [event.time.timestamp() for event in watch.events] == [0, 0, 0, 5, 5, 5]
    assert {event.cluster_queue for event in watch.events} == {"q"}
    assert [event.reason for event in watch.events][1:5] == ["QuotaReserved", "Admitted", "Started", "Succeeded"]
    assert [event.since and event.since.timestamp() for event in watch.events] == [None, None, None, 0, 0, None]
    assert watch.table["since"].dtype == "M8[ns]"
    assert [event.cycle for event in watch.events] == [0, *[1] * 5]


def test_an_eviction_by_preemption_names_rule_and_preemptor():
    scheduler, watch = watched(queue(preemption=PREEMPTING))
    scheduler.submit(workload("low", "q"))
    scheduler.settle()
    scheduler.advance(7)
    scheduler.submit(workload("high", "q", priority=5))
    scheduler.cycle()
    evicted = next(event for event in watch.events if event.kind == "Evicted")
    assert (evicted.workload, evicted.reason, evicted.preemption_reason) == (
        "default/low",
        "Preempted",
        "InClusterQueue",
    )
    assert (evicted.preemptor, evicted.preemptor_cluster_queue) == ("default/high", "q")
    scheduler.settle()
    released = next(event for event in watch.events if event.kind == "QuotaReleased")
    assert (released.reason, released.since.timestamp(), released.cluster_queue) == ("Preempted", 7, "q")
    shown = Shown(watch)
    assert shown.of("preempted_workloads_total") == {("q", "InClusterQueue"): 1}
    assert shown.of("evicted_workloads_total") == {("q", "", "Preempted", ""): 1}
    assert shown.of("local_queue_evicted_workloads_total", reason="Preempted") == {("q", "default", "", ""): 1}
    assert shown.one("workload_eviction_latency_seconds_count", cluster_queue="q", reason="Preempted") == 1


def test_waits_are_counted_from_creation_or_the_last_requeuing():
    scheduler, watch = watched(queue(preemption=PREEMPTING))
    scheduler.submit(workload("a", "q", creation_timestamp=0))
    scheduler.advance(3)
    scheduler.settle()
    assert Shown(watch).one("admission_wait_time_seconds_sum", cluster_queue="q") == 3
    scheduler.advance(7)
    scheduler.submit(workload("b", "q", priority=1))
    scheduler.settle()  # b is admitted, and a is queued again from now on
    scheduler.advance(100)
    scheduler.finish("b")
    scheduler.settle()
    shown = Shown(watch)
    assert shown.one("admission_wait_time_seconds_sum", cluster_queue="q") == 3 + 0 + 100
    assert shown.one("quota_reserved_wait_time_seconds_sum", cluster_queue="q") == 103
    assert shown.one("local_queue_admission_wait_time_seconds_sum", name="q", namespace="default") == 103
    assert shown.one("quota_reserved_workloads_total", cluster_queue="q") == 3


def test_the_wait_for_checks_is_counted_only_where_there_are_checks():
    scheduler, watch = watched(APPROVAL, queue("checked", admission_checks_strategy=CHECKED), queue("free"))
    scheduler.submit(workload("a", "checked"), workload("b", "free"))
    scheduler.settle()
    scheduler.advance(30)
    scheduler.set_check("a", "approval", "Ready")
    scheduler.settle()
    shown = Shown(watch)
    assert shown.of("admission_checks_wait_time_seconds_sum") == {("checked", ""): 30}
    assert shown.of("admitted_workloads_total", priority_class="") == {("checked",): 1, ("free",): 1}


def test_execution_time_is_the_sum_of_all_admitted_times():
    scheduler, watch = watched(queue(preemption=PREEMPTING))
    scheduler.submit(workload("a", "q"))
    scheduler.settle()
    scheduler.advance(10)
    scheduler.submit(workload("b", "q", priority=1))
    scheduler.settle()
    scheduler.advance(100)
    scheduler.finish("b")
    scheduler.settle()
    scheduler.advance(5)
    scheduler.finish("a")
    shown = Shown(watch)
    assert shown.one("execution_time_seconds_sum", cluster_queue="q") == 100 + (10 + 5)
    assert shown.one("execution_time_seconds_count", cluster_queue="q") == 2
    assert shown.one("finished_workloads", cluster_queue="q") == 2
    assert shown.one("local_queue_finished_workloads", name="q") == 2
    scheduler.delete("a")
    assert Shown(watch).one("finished_workloads", cluster_queue="q") == 1
    assert Shown(watch).one("finished_workloads_total", cluster_queue="q") == 2


def test_a_workload_finished_without_quota_has_no_execution_time_and_no_cluster_queue():
    scheduler, watch = watched(queue(cpu=1))
    scheduler.submit(workload("a", "q"))
    scheduler.settle()
    scheduler.finish("a")
    shown = Shown(watch)
    assert shown.of("finished_workloads_total") == {("", ""): 1}
    assert shown.of("execution_time_seconds_count") == {}


@pytest.mark.parametrize(("ready_first", "cause", "ran"), [(False, "WaitForStart", {}), (True, "WaitForRecovery", {})])
def test_an_eviction_by_pods_ready_timeout_has_its_cause(ready_first, cause, ran):
    ready = kq.objects.WaitForPodsReady(timeout=60, recovery_timeout=20)
    scheduler, watch = watched(queue(), wait_for_pods_ready=ready)
    scheduler.submit(workload("a", "q"))
    scheduler.settle()
    if ready_first:
        scheduler.advance(9)
        scheduler.pods_ready("a")
        scheduler.settle()
        scheduler.pods_ready("a", ready=False)
        scheduler.settle()
    scheduler.advance(60)
    scheduler.cycle()
    shown = Shown(watch)
    assert shown.of("evicted_workloads_total", reason="PodsReadyTimeout") == {("q", "", cause): 1}
    assert shown.of("pods_ready_to_evicted_time_seconds_sum") == ran
    assert shown.of("ready_wait_time_seconds_sum") == ({("q", ""): 9} if ready_first else {})
    assert shown.of("admitted_until_ready_wait_time_seconds_sum") == ({("q", ""): 9} if ready_first else {})


def test_recovered_pods_do_not_count_as_ready_again():
    ready = kq.objects.WaitForPodsReady(timeout=60, recovery_timeout=20)
    scheduler, watch = watched(queue(preemption=PREEMPTING), wait_for_pods_ready=ready)
    scheduler.submit(workload("a", "q"))
    scheduler.settle()
    for up in (True, False, True):
        scheduler.pods_ready("a", up)
        scheduler.settle()
        scheduler.advance(10)
    shown = Shown(watch)
    assert [event.reason for event in watch.events if event.kind == "PodsReady"] == ["Started", "Recovered"]
    assert shown.one("ready_wait_time_seconds_count", cluster_queue="q") == 1
    scheduler.submit(workload("b", "q", priority=1))
    scheduler.cycle()
    assert Shown(watch).of("pods_ready_to_evicted_time_seconds_sum") == {("q", "Preempted", ""): 10}


def test_a_deactivation_is_counted_by_cause_and_once_per_workload():
    scheduler, watch = watched(queue())
    scheduler.submit(workload("a", "q", maximum_execution_time_seconds=10))
    scheduler.settle()
    scheduler.advance(10)
    scheduler.settle()
    shown = Shown(watch)
    why = {"reason": "Deactivated", "underlying_cause": "MaximumExecutionTimeExceeded"}
    assert shown.one("evicted_workloads_total", **why) == 1
    assert shown.one("evicted_workloads_once_total", **why) == 1
    assert set(shown.of("workload_eviction_latency_seconds_count")) == {
        ("q", "DeactivatedDueToMaximumExecutionTimeExceeded")
    }


def test_evictions_of_one_workload_count_once_until_it_is_deleted():
    scheduler, watch = watched(queue(preemption=PREEMPTING))
    for life in range(2):
        scheduler.submit(workload("low", "q"))
        scheduler.settle()
        for i in range(2):
            scheduler.submit(workload(f"high-{i}", "q", priority=5))
            scheduler.settle()
            scheduler.delete(f"high-{i}")
            scheduler.settle()
        scheduler.delete("low")
        shown = Shown(watch)
        assert shown.one("evicted_workloads_total", cluster_queue="q") == 2 * (life + 1)
        assert shown.one("evicted_workloads_once_total", cluster_queue="q") == life + 1


def contended():
    """Two queues that both reclaim quota that a third has borrowed."""
    owners = [queue(name, 4, cohort_name="all", preemption=PREEMPTING) for name in ("a", "b")]
    return watched(*owners, queue("borrower", 0, cohort_name="all"))


def test_skipped_preemptors_are_counted_per_cycle():
    scheduler, watch = contended()
    scheduler.submit(workload("large", "borrower", 8))
    scheduler.settle()
    scheduler.submit(workload("x", "a", 4), workload("y", "b", 4))
    scheduler.cycle()
    shown = Shown(watch)
    recomputed = [event for event in watch.events if event.kind == "TargetsRecomputed"]
    assert [(event.workload, event.underlying_cause) for event in recomputed] == [("default/y", "DeferredFit")]
    assert shown.of("preemption_target_recomputations_total") == {("b", "deferred_fit"): 1}
    assert shown.of("admission_cycle_preemption_skips") == {}


def test_pending_workloads_are_counted_by_requests_and_kind():
    scheduler, watch = watched(queue(cpu=1), queue("held", stop_policy="Hold"))
    scheduler.submit(*(workload(f"a{i}", "q", cpu=3 + i // 2) for i in range(4)), workload("b", "held"))
    scheduler.cycle()
    shown = Shown(watch)
    assert shown.of("pending_workloads", cluster_queue="q") == {("active",): 2, ("inadmissible",): 2}
    assert shown.of("pending_scheduling_hashes", cluster_queue="q") == {("active",): 1, ("inadmissible",): 1}
    assert shown.of("cluster_queue_resource_pending") == {("q", "cpu"): 14, ("held", "cpu"): 3}
    assert shown.of("pending_workloads", cluster_queue="held") == {("active",): 0, ("inadmissible",): 1}
    assert shown.of("pending_scheduling_hashes", cluster_queue="held") == {("active",): 0, ("inadmissible",): 1}
    assert shown.of("unadmitted_workloads", cluster_queue="q") == {
        ("NoReservation", "ExceedsMaxQuota"): 1,
        ("NoReservation", "PendingEvaluation"): 3,
    }
    assert shown.one("local_queue_unadmitted_workloads", name="held") == 1


def test_cohort_metrics_include_all_descendants():
    lender = kq.ClusterQueue.of("lender", {"default": {"cpu": kq.Quota(6, lending_limit=2)}}, cohort_name="leaf")
    cohorts = (kq.Cohort("leaf", parent_name="root"), kq.Cohort("root"))
    scheduler, watch = watched(*cohorts, lender, queue("other", 4, cohort_name="leaf"))
    scheduler.submit(workload("a", "lender", 5), workload("b", "other", 2, priority_class_ref=None))
    scheduler.settle()
    shown = Shown(watch)
    # The usage of all queues, although 4 of the lender's quota are never lent.
    assert shown.of("cohort_subtree_resource_reservations", cohort="leaf") == {("default", "cpu"): 7}
    assert shown.of("cohort_subtree_resource_reservations", cohort="root") == {("default", "cpu"): 7}
    assert shown.of("cohort_subtree_quota", cohort="root") == {("default", "cpu"): 6}
    assert shown.of("cohort_subtree_admitted_workloads_total") == {("leaf", ""): 2, ("root", ""): 2}
    assert shown.of("cohort_subtree_admitted_active_workloads") == {("leaf",): 2, ("root",): 2}
    assert shown.of("cohort_info") == {("leaf", "root", "root"): 1, ("root", "", "root"): 1}
    assert shown.of("cluster_queue_info", cluster_queue="lender") == {("leaf", "root"): 1}


def test_with_weight_0_the_share_metric_is_nan_for_queues_and_infinite_for_cohorts():
    free = kq.FairSharing(weight="0")
    cohort = kq.Cohort("poor", parent_name="all", fair_sharing=free)
    queues = queue("a", 0, cohort_name="poor", fair_sharing=free), queue("b", 4, cohort_name="all")
    scheduler, watch = watched(cohort, *queues, fair_sharing=kq.FairSharingConfig())
    scheduler.submit(workload("w", "a"))
    scheduler.settle()
    text = watch.metrics_text()
    role = 'replica_role="standalone"'
    assert f'kueue_cluster_queue_weighted_share{{cluster_queue="a",cohort="poor",{role}}} NaN' in text
    assert f'kueue_cohort_weighted_share{{cohort="poor",{role}}} +Inf' in text
    assert 'cohort_weighted_share{cohort="all"' not in text  # this Cohort is implicit


@pytest.mark.parametrize(
    ("gate", "pattern"),
    [
        ("LocalQueueMetrics", "kueue_local_queue_"),
        ("SchedulingEquivalenceHashing", "kueue_pending_scheduling_hashes"),
        ("UnadmittedWorkloadsObservability", "unadmitted_workloads"),
        ("MetricsForCohorts", "_info"),
    ],
)
def test_a_feature_gate_disables_its_metrics(gate, pattern):
    for on in (True, False):
        scheduler, watch = watched(queue(cohort_name="all"), feature_gates={gate: on})
        scheduler.submit(workload("a", "q"), workload("b", "q"))
        scheduler.settle()
        scheduler.finish("a")
        assert (pattern in watch.metrics_text()) is on


def test_a_watch_with_few_records_counts_every_event():
    scheduler, _ = watched(queue(cpu=100))
    watch = Watch(scheduler, history=3)
    scheduler.submit(*(workload(f"w{i}", "q") for i in range(5)))
    scheduler.settle()
    assert len(watch.events) == len(watch.table) == 3
    assert Shown(watch).one("admitted_workloads_total", cluster_queue="q") == 5


def test_the_text_is_valid_for_prometheus():
    scheduler, watch = watched(kq.ClusterQueue.of("q", {"default": {"cpu": 4, "memory": "64Gi"}}))
    scheduler.submit(workload("a", "q"))
    scheduler.settle()
    lines = watch.metrics_text().splitlines()
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert families == sorted(set(families))
    labels = [re.findall(r'(\w+)="', line) for line in lines if not line.startswith("#")]
    assert all([name for name in names if name != "le"] == sorted(set(names) - {"le"}) for names in labels)
    bounds = re.findall(r'kueue_admission_wait_time_seconds_bucket.*[{,]le="([^"]+)"', "\n".join(lines))
    assert bounds[:4] == ["1", "2.5", "5", "10"]
    assert (len(bounds), bounds[-2:]) == (17, ["40960", "+Inf"])
    assert len(re.findall("kueue_local_queue_admission_wait_time_seconds_bucket", "\n".join(lines))) == 15
    assert 64 * 2**30 in [float(line.split()[-1]) for line in lines if 'resource="memory"' in line]


def test_without_prometheus_client_an_error_names_the_extra(monkeypatch):
    _, watch = watched(queue())
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(kq.errors.UnsupportedError, match="pip install prometheus-client"):
        watch.metrics_text()
