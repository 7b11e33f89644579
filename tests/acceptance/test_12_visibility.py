"""Pending workloads, usage of queues and Cohorts, events, and saved states (VM)."""

import json
import re

import pytest

import kueuepy as kq
from kueuepy.errors import NotFoundError
from kueuepy.platform.metrics import Watch
from kueuepy.platform.visibility import (
    cluster_queue_status,
    cohort_status,
    local_queue_status,
    pending_workloads,
    state_dump,
)
from saved import from_bytes, to_bytes

DEFAULT = kq.ResourceFlavor("default")
PREEMPTING = kq.Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")


def _queue(name, cpu, **fields):
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, **fields)


def _places(found):
    return [(item.name, item.position_in_cluster_queue, item.position_in_local_queue) for item in found.items]


def test_VM_01_three_of_six_jobs_wait_at_positions_0_1_and_2(stage):
    on = stage(DEFAULT, _queue("q", 9))
    on.submit("q", 6, {"cpu": 3})
    on.settle()
    assert len(on.running()) == 3
    found = pending_workloads(on.scheduler, cluster_queue="q")
    assert _places(found) == [("q-0003", 0, 0), ("q-0004", 1, 1), ("q-0005", 2, 2)]
    assert [(item.namespace, item.local_queue_name, item.priority) for item in found.items] == [("default", "q", 0)] * 3
    assert found.manifest()["kind"] == "PendingWorkloadsSummary"
    assert found.manifest()["items"][2] == {
        "metadata": {"name": "q-0005", "namespace": "default", "creationTimestamp": "1970-01-01T00:00:06Z"},
        "priority": 0,
        "localQueueName": "q",
        "positionInClusterQueue": 2,
        "positionInLocalQueue": 2,
    }


def test_VM_01_positions_follow_priority_and_count_in_each_local_queue(stage):
    on = stage(
        DEFAULT, _queue("q", 0), kq.LocalQueue("one", cluster_queue="q"), kq.LocalQueue("two", cluster_queue="q")
    )
    for number, (door, priority) in enumerate([("one", 0), ("two", 5), ("one", 5), ("two", 0)]):
        on.submit(door, name=f"{door}-{number}", priority=priority)
    expected = [("two-1", 0, 0), ("one-2", 1, 0), ("one-0", 2, 1), ("two-3", 3, 1)]
    assert _places(pending_workloads(on.scheduler, cluster_queue="q")) == expected
    assert _places(pending_workloads(on.scheduler, local_queue="one")) == [expected[1], expected[2]]
    on.settle()  # all are inadmissible, with the same positions
    assert _places(pending_workloads(on.scheduler, cluster_queue="q")) == expected
    assert _places(pending_workloads(on.scheduler, cluster_queue="q", offset=1, limit=2)) == expected[1:3]
    with pytest.raises(NotFoundError):
        pending_workloads(on.scheduler, cluster_queue="none")


def test_VM_01_at_most_a_thousand_are_listed_by_default(stage):
    on = stage(DEFAULT, _queue("q", 0))
    on.submit("q", 1005)
    assert len(pending_workloads(on.scheduler, cluster_queue="q").items) == 1000
    assert len(pending_workloads(on.scheduler, cluster_queue="q", limit=1003).items) == 1003
    assert _places(pending_workloads(on.scheduler, cluster_queue="q", offset=1004)) == [("q-1004", 1004, 1004)]


def _borrowing(stage):
    """`a` has reserved 12 CPUs with a quota of 9, 3 of them wait for a check; 4 more wait for quota."""
    checked = (kq.objects.AdmissionCheckStrategyRule("approval"),)
    approval = kq.AdmissionCheck("approval", controller_name="example.com/approval")
    a = _queue("a", 9, cohort_name="k", admission_checks_strategy=checked)
    on = stage(DEFAULT, approval, a, _queue("b", 3, cohort_name="k"))
    on.submit("a", 8, {"cpu": 3})
    on.settle()
    for number in range(3):
        on.scheduler.set_check(f"a-{number:04d}", "approval", "Ready")
    on.settle()
    return on


def test_VM_02_the_counts_in_the_status_of_a_cluster_queue(stage):
    status = cluster_queue_status(_borrowing(stage).scheduler)["a"]
    assert (status.pending_workloads, status.reserving_workloads, status.admitted_workloads) == (4, 4, 3)
    assert status.manifest() == {
        "conditions": [
            {"status": "True", "reason": "Ready", "message": "Can admit new workloads", "type": "Active"},
        ],
        "flavorsReservation": [
            {"name": "default", "resources": [{"name": "cpu", "total": "12", "borrowed": "3"}]},
        ],
        "flavorsUsage": [{"name": "default", "resources": [{"name": "cpu", "total": "9", "borrowed": "0"}]}],
        "pendingWorkloads": 4,
        "reservingWorkloads": 4,
        "admittedWorkloads": 3,
    }


def test_VM_02_an_inactive_queue_has_a_reason(stage):
    check = kq.AdmissionCheck("approval", controller_name="example.com/approval")
    checked = _queue("checked", 9, admission_checks_strategy=(kq.objects.AdmissionCheckStrategyRule("approval"),))
    on = stage(DEFAULT, check, checked, _queue("stopped", 9, stop_policy="Hold"), _queue("plain", 9))

    def why(name):
        status = cluster_queue_status(on.scheduler)[name]
        return status.is_active, status.conditions[0].reason, status.conditions[0].message

    assert why("stopped") == (False, "Stopped", "Can't admit new workloads: is stopped.")
    assert why("checked") == (True, "Ready", "Can admit new workloads")
    on.scheduler.remove(check)
    assert why("checked") == (True, "Ready", "Can admit new workloads")  # it is in use


@pytest.mark.parametrize(
    ("kind", "reason", "missing"),
    [
        ("AdmissionCheck", "AdmissionCheckNotFound", "AdmissionCheck(s): approval"),
        ("ResourceFlavor", "FlavorNotFound", "ResourceFlavor(s): default"),
    ],
)
def test_VM_02_a_queue_with_a_missing_object_has_a_reason(stage, kind, reason, missing):
    check = kq.AdmissionCheck("approval", controller_name="example.com/approval")
    rule = kq.objects.AdmissionCheckStrategyRule("approval")
    queue = _queue("q", 9, admission_checks_strategy=(rule,))
    on = stage(DEFAULT, check, queue)
    on.scheduler.remove(queue)
    on.scheduler.remove(check if kind == "AdmissionCheck" else DEFAULT)
    on.scheduler.apply(queue)
    condition = cluster_queue_status(on.scheduler)["q"].conditions[0]
    assert (condition.reason, condition.message) == (
        reason,
        f"Can't admit new workloads: references missing {missing}.",
    )


def _used(status):
    return {flavor.name: flavor.resources[0].total for flavor in status.flavors_usage}


def test_VM_03_the_status_of_a_local_queue_has_its_usage_and_flavors(stage):
    flavors = {"spot": {"cpu": 4}, "ondemand": {"cpu": 4}}
    doors = [kq.LocalQueue(name, cluster_queue="q") for name in ("one", "two")]
    lost = kq.LocalQueue("lost", cluster_queue="none")
    shut = kq.LocalQueue("shut", cluster_queue="q", stop_policy="Hold")
    on = stage(*map(kq.ResourceFlavor, flavors), kq.ClusterQueue.of("q", flavors), *doors, shut)
    on.scheduler.apply(lost)
    on.submit("one", 3, {"cpu": 3})
    on.submit("two", 1, {"cpu": 1})
    on.settle()
    found = local_queue_status(on.scheduler)
    one, two = found["default/one"], found["default/two"]
    assert one.flavors == ("spot", "ondemand")
    assert (one.pending_workloads, one.reserving_workloads, one.admitted_workloads) == (1, 2, 2)
    assert [(flavor.name, flavor.resources[0].total) for flavor in one.flavors_usage] == [
        ("spot", "3"),
        ("ondemand", "3"),
    ]
    assert [(flavor.name, flavor.resources[0].total) for flavor in two.flavors_usage] == [
        ("spot", "1"),
        ("ondemand", "0"),
    ]
    reasons = {key: status.conditions[0].reason for key, status in found.items()}
    assert reasons == {
        "default/one": "Ready",
        "default/two": "Ready",
        "default/shut": "Stopped",
        "default/lost": "ClusterQueueDoesNotExist",
    }


def test_VM_04_a_cohort_reports_its_share_and_subtree(stage):
    sharing = kq.Configuration(fair_sharing=kq.FairSharingConfig())
    cohorts = kq.Cohort("all"), kq.Cohort("left", parent_name="all", fair_sharing=kq.FairSharing(weight="2"))
    queues = _queue("a", 0, cohort_name="left"), _queue("b", 8, cohort_name="all")
    on = stage(DEFAULT, *cohorts, *queues, configuration=sharing)
    watch = Watch(on.scheduler)
    on.submit("a", 3, {"cpu": 1})
    on.settle()
    # 3 of 8 lendable are borrowed: 375, over a weight of 2, rounded up.
    assert {name: status.fair_sharing.weighted_share for name, status in cohort_status(on.scheduler).items()} == {
        "all": 0,
        "left": 188,
    }
    assert cluster_queue_status(on.scheduler)["a"].fair_sharing.weighted_share == 375
    text = watch.metrics_text()
    cell = '{cohort="all",flavor="default",replica_role="standalone",resource="cpu"}'
    assert 'kueue_cohort_weighted_share{cohort="left",replica_role="standalone"} 187.5' in text
    assert f"kueue_cohort_subtree_quota{cell} 8" in text
    assert f"kueue_cohort_subtree_resource_reservations{cell} 3" in text


def test_VM_07_each_decision_is_an_event_and_all_are_a_frame(stage):
    pytest.importorskip("pandas")
    on = stage(DEFAULT, _queue("q", 3, preemption=PREEMPTING))
    watch = Watch(on.scheduler)
    on.submit("q", name="low", requests={"cpu": 3})
    on.settle()
    on.submit("q", name="high", requests={"cpu": 3}, priority=10)
    on.settle()
    on.scheduler.finish("high")
    on.settle()

    frame = watch.table.to_pandas()

    told = list(zip(frame["workload"].str.removeprefix("default/"), frame["kind"], frame["reason"], strict=True))
    assert told == [
        ("low", "Created", ""),
        ("low", "QuotaReserved", "QuotaReserved"),
        ("low", "Admitted", "Admitted"),
        ("high", "Created", ""),
        ("low", "Evicted", "Preempted"),
        ("high", "Pending", "WaitingForPreemptedWorkloads"),
        ("low", "Pending", "PendingEvaluation"),
        ("low", "QuotaReleased", "Preempted"),
        ("high", "QuotaReserved", "QuotaReserved"),
        ("high", "Admitted", "Admitted"),
        ("low", "Pending", "WaitingForQuota"),
        ("high", "Finished", "Succeeded"),
        ("low", "QuotaReserved", "QuotaReserved"),
        ("low", "Admitted", "Admitted"),
    ]
    evicted = frame[frame["kind"] == "Evicted"].iloc[0]
    assert (evicted["preemptor"], evicted["preemption_reason"]) == ("default/high", "InClusterQueue")
    assert list(frame.columns) == list(watch.table.names)


def test_VM_08_a_notebook_shows_the_cohort_tree_with_bars_of_usage(stage):
    shown = _borrowing(stage).scheduler._repr_html_()
    assert shown.index(">k<") < shown.index(">a<") < shown.index(">b<")
    assert "12 of 9 cores, borrows 3" in shown
    # The bar of 12: nine parts of its own, three borrowed.
    assert re.search(r'width:75.0%;height:100%;background:[^;]+"', shown)
    assert re.search(r'width:25.0%;height:100%;background:[^;]+"', shown)
    assert "<script" not in shown


def test_VM_09_the_state_is_dumped_as_json_and_restored_from_a_snapshot(stage):
    on = _borrowing(stage)
    dumped = state_dump(on.scheduler)
    a, b = dumped["clusterQueues"]
    assert (a["clusterQueue"], a["cohort"], a["active"], a["usage"]) == ("a", "k", True, {"default": {"cpu": 12000}})
    assert a["workloads"] == [f"default/a-{number:04d}" for number in range(4)]
    assert [*a["pending"], *a["inadmissible"]] == [f"default/a-{number:04d}" for number in range(4, 8)]
    assert a["resourceGroups"][0]["flavors"][0]["resources"] == [{"name": "cpu", "nominalQuota": 9}]
    assert (b["usage"], b["workloads"], b["pending"]) == ({"default": {"cpu": 0}}, [], [])
    cell = {"default": {"cpu": 12000}}
    assert dumped["cohorts"] == [{"cohort": "k", "subtreeQuota": cell, "usage": cell}]
    assert json.loads(json.dumps(dumped)) == dumped

    again = from_bytes(to_bytes(on.scheduler))
    assert state_dump(again) == dumped
    for scheduler in (on.scheduler, again):
        scheduler.finish("a-0000")
        scheduler.settle()
    assert state_dump(again) == state_dump(on.scheduler) != dumped
