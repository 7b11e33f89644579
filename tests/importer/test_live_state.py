"""An imported cluster continues like the live one: stopping jobs, waiting preemptors, manager Configuration."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from pathlib import Path

import pytest

import kueuepy as kq
from importer.dumps import admitted, cluster_queue, condition, dump, local_queue, workload
from kueuepy.errors import NotFoundError, StateError
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.visibility import local_queue_status, pending_workloads

LIVE = Path(__file__).parent / "live"
"""Dumps of a real cluster at rest, and what Kueue's visibility API answered at that moment."""


def preempting():
    """Return a dump with a preempted job that has not stopped, its waiting preemptor, and a later job."""
    victim = admitted()
    victim["conditions"].append(condition("Evicted", reason="Preempted"))
    waits = {"conditions": [condition("QuotaReserved", "False", "WaitingForPreemptedWorkloads")]}
    waiting = workload("preemptor", waits, cpu="9")
    first = workload("first", cpu="9", creationTimestamp="2026-08-01T09:00:00Z")
    return dump(workload("victim", victim), waiting, first)


def test_an_evicted_workload_keeps_its_quota_until_its_job_stops():
    on = import_cluster(preempting()).scheduler
    assert not on.settle().admitted
    assert on.workload("team/victim").status.admission is not None
    on.advance("29s")
    assert not on.settle().admitted
    on.advance("1s")
    assert [decision.workload for decision in on.settle().admitted] == ["team/preemptor"]


@pytest.mark.parametrize("after", [0, 5])
def test_the_end_of_the_pods_can_be_recorded(after):
    on = import_cluster(preempting()).scheduler
    on.job_stopped("team/victim", after)
    assert bool(on.fork().settle().admitted) is (after == 0)
    on.advance(after)
    assert on.settle().admitted
    with pytest.raises(StateError, match="is not an evicted workload that holds quota"):
        on.job_stopped("team/victim")


def test_a_preemptor_that_waits_stays_at_the_head_of_its_queue():
    on = import_cluster(preempting(), stopping=0).scheduler
    first = pending_workloads(on, cluster_queue="cq").items[0]
    assert first.key == "team/preemptor"
    assert [decision.workload for decision in on.cycle().admitted] == ["team/preemptor"]


def test_the_usage_of_local_queues_continues_from_its_last_sample():
    """The order of pending workloads and the statuses are the cluster's at once, and the usage decays from then."""
    config = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "admissionFairSharing": {"usageHalfLifeTime": "60s", "usageSamplingInterval": "5s"},
    }
    queue = cluster_queue("fair", cpu="1")
    queue["spec"]["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    used, sampled = {"cpu": "6083300934n"}, "2026-08-01T10:05:00Z"
    usage = {"consumedResources": used, "lastUpdate": sampled}
    much = local_queue("much", queue="fair") | {
        "status": {"fairSharing": {"admissionFairSharingStatus": usage, "weightedShare": 0}}
    }
    waiting = [workload(name, queue=name) for name in ("much", "none")]
    on = import_cluster([config, dump(*waiting), queue, much, local_queue("none", queue="fair")]).scheduler
    assert on.now == dt.datetime(2026, 8, 1, 10, 5, tzinfo=dt.timezone.utc).timestamp()
    status = local_queue_status(on)["team/much"].manifest()["fairSharing"]
    assert status == {"admissionFairSharingStatus": usage, "weightedShare": 0}
    assert [one.key for one in pending_workloads(on, cluster_queue="fair").items] == ["team/none", "team/much"]
    on.advance("60s")
    on.cycle()
    consumed = local_queue_status(on)["team/much"].manifest()["fairSharing"]["admissionFairSharingStatus"]
    assert float(kq.Quantity(consumed["consumedResources"]["cpu"])) == pytest.approx(6.083300934 / 2)


def test_without_that_condition_the_older_workload_is_first():
    documents = preempting()
    documents["items"][-2]["status"] = {}
    on = import_cluster(documents, stopping=0).scheduler
    assert [decision.workload for decision in on.cycle().admitted] == ["team/first"]


def test_a_saved_state_and_a_journal_keep_both(tmp_path):
    on = import_cluster(preempting()).scheduler
    on.save(tmp_path / "state")
    again = kq.Scheduler.load(tmp_path / "state")
    for one in (on, again):
        one.advance("30s")
    assert repr(again.settle()) == repr(on.settle())
    assert again.workload("team/preemptor") == on.workload("team/preemptor")


def test_the_configmap_of_the_manager_is_the_configuration():
    text = (
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing:\n  preemptionStrategies: "
        "[LessThanInitialShare]\nwaitForPodsReady:\n  timeout: 7m\n"
    )
    metadata = {"name": "kueue-manager-config", "namespace": "kueue-system"}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    manifest = kq.load(dump({**config_map, "data": {"controller_manager_config.yaml": text}})).manifest
    assert manifest.configuration.fair_sharing.preemption_strategies == ("LessThanInitialShare",)
    assert manifest.configuration.wait_for_pods_ready.timeout == 420
    assert not manifest.notes
    other = text.replace("config.kueue", "config.jobset")
    found = kq.load(dump({**config_map, "data": {"controller_manager_config.yaml": other}})).manifest
    assert found.configuration is None
    assert "does not bear on admission" in str(found.notes[0])


def test_an_error_in_the_configmap_names_the_line_in_it(tmp_path):
    lines = ("apiVersion: config.kueue.x-k8s.io/v1beta2", "kind: Configuration", "waitForPodsReady: {timeout: soon}")
    inner = "\n".join(f"    {line}" for line in lines)
    path = tmp_path / "dump.yaml"
    path.write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue-manager-config}\ndata:\n"
        f"  controller_manager_config.yaml: |\n{inner}\n"
    )
    with pytest.raises(kq.KueueError, match=r"dump\.yaml:5: .*data\[controller_manager_config\.yaml\]:3: .*timeout"):
        kq.load(path)


def test_a_stopped_local_queue_is_not_found_by_the_visibility_api():
    queue = local_queue("held")
    queue["spec"]["stopPolicy"] = "Hold"
    on = import_cluster(dump(queue, workload("w", queue="held"))).scheduler
    with pytest.raises(NotFoundError, match="is stopped"):
        pending_workloads(on, local_queue="team/held")
    assert not pending_workloads(on, cluster_queue="cq").items


@pytest.mark.parametrize("name", ["cohort-middle", "cohort-end", "racks-middle", "racks-end"])
def test_an_idle_real_cluster_stays_unchanged(name):
    on = import_cluster(gzip.decompress((LIVE / f"{name}.yaml.gz").read_bytes())).scheduler
    settled = on.settle()
    assert not settled.admitted
    assert not settled.preempted
    answers = json.loads(gzip.decompress((LIVE / f"{name}-visibility.json.gz").read_bytes()))
    for queue, answer in answers["clusterqueues"].items():
        found = pending_workloads(on, cluster_queue=queue).manifest()["items"]
        positions = ("localQueueName", "positionInClusterQueue", "positionInLocalQueue", "priority")
        assert [
            (one["metadata"]["namespace"], one["metadata"]["name"], *(one[field] for field in positions))
            for one in found
        ] == [
            (one["metadata"]["namespace"], one["metadata"]["name"], *(one[field] for field in positions))
            for one in answer.get("items", ())
        ]


def test_another_queue_is_not_affected():
    quiet = cluster_queue("quiet")
    on = import_cluster(dump(quiet, local_queue("q", queue="quiet"), workload("w", queue="q"))).scheduler
    assert [decision.workload for decision in on.settle().admitted] == ["team/w"]
