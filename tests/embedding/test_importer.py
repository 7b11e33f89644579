"""A dump of a live cluster becomes the starting state; what cannot be placed is listed."""

from __future__ import annotations

import io
import json

import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError
from kueuepy.importer import import_cluster
from kueuepy.importer_pods import by_label
from kueuepy.importer_progress import bar
from kueuepy.visibility_status import cluster_queue_status

V1BETA2 = "kueue.x-k8s.io/v1beta2"
WHEN = "2026-08-01T10:00:00Z"


def flavor(name="default"):
    return {"apiVersion": V1BETA2, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": {}}


def cluster_queue(name="cq", cpu="10", flavors=("default",)):
    quotas = [{"name": one, "resources": [{"name": "cpu", "nominalQuota": cpu}]} for one in flavors]
    spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": quotas}]}
    return {"apiVersion": V1BETA2, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def local_queue(name="lq", namespace="team", queue="cq"):
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": V1BETA2, "kind": "LocalQueue", "metadata": metadata, "spec": {"clusterQueue": queue}}


def condition(kind, status="True", reason=None):
    return {"type": kind, "status": status, "reason": reason or kind, "message": "", "lastTransitionTime": WHEN}


def workload(name, status=None, queue="lq", cpu="2", **metadata):
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}
    spec = {"queueName": queue, "podSets": [{"name": "main", "count": 1, "template": template}]}
    head = {"name": name, "namespace": "team", "creationTimestamp": WHEN, **metadata}
    return {"apiVersion": V1BETA2, "kind": "Workload", "metadata": head, "spec": spec, "status": status or {}}


def admission(queue="cq", cpu="2", flavor_name="default"):
    flavors, usage = {"cpu": flavor_name}, {"cpu": cpu}
    return {
        "clusterQueue": queue,
        "podSetAssignments": [{"name": "main", "flavors": flavors, "resourceUsage": usage, "count": 1}],
    }


def admitted(**of):
    return {"admission": admission(**of), "conditions": [condition("QuotaReserved"), condition("Admitted")]}


def pod(name, phase="Running", cpu="500m", labels=None, **spec):
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "labels": labels or {}}
    spec = {"containers": containers, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


def dump(*items):
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    return {"apiVersion": "v1", "kind": "List", "items": [namespace, flavor(), cluster_queue(), local_queue(), *items]}


def outcomes(found):
    return {(row.kind, row.key.partition("/")[2]): (row.outcome, row.reason) for row in found.report}


def test_status_is_the_starting_state():
    checks = {
        "admission": admission(cpu="3"),
        "conditions": [condition("QuotaReserved")],
        "admissionChecks": [{"name": "dry", "state": "Pending", "message": "wait", "lastTransitionTime": WHEN}],
        "requeueState": {"count": 2},
        "reclaimablePods": [{"name": "main", "count": 0}],
        "accumulatedPastExecutionTimeSeconds": 77,
    }
    done = {"conditions": [condition("Finished", reason="Succeeded")]}
    found = import_cluster(
        dump(workload("runs", admitted()), workload("asks", checks), workload("waits"), workload("over", done))
    )
    assert {name: outcome for (_, name), (outcome, _) in outcomes(found).items()} == {
        "runs": "admitted",
        "asks": "reserved",
        "waits": "pending",
        "over": "finished",
    }
    assert found.report.problems == ()
    status = cluster_queue_status(found.scheduler)["cq"]
    assert (status.admitted_workloads, status.reserving_workloads, status.pending_workloads) == (1, 2, 1)
    assert status.flavors_reservation[0].resources[0].total == "5"
    assert status.flavors_usage[0].resources[0].total == "2"
    asks = found.scheduler.workload("team/asks").status
    assert asks.admission_checks[0].message == "wait"
    assert asks.requeue_state.count == 2
    assert asks.accumulated_past_execution_time_seconds == 77


def test_the_clock_starts_at_the_latest_time_of_the_dump():
    found = import_cluster(dump(workload("runs", admitted())))
    assert found.scheduler.now == 1785578400.0
    assert import_cluster(dump(), now=42).scheduler.now == 42


def test_a_queue_may_start_above_its_quota():
    found = import_cluster(dump(*(workload(f"w{i}", admitted()) for i in range(7)), workload("late")))
    assert cluster_queue_status(found.scheduler)["cq"].flavors_usage[0].resources[0].total == "14"
    (decision,) = found.scheduler.cycle()
    assert isinstance(decision, kq.Pending)


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (workload("w", admitted(queue="gone")), 'it has quota of a ClusterQueue "gone" that is not there'),
        (workload("w", admitted(flavor_name="gold")), 'ClusterQueue "cq" has no quota of cpu in flavor "gold"'),
        (workload("w", queue="gone"), 'there is no LocalQueue "team/gone" to wait in'),
        (workload("w", queue="lost"), 'there is no ClusterQueue "nowhere" to wait in'),
    ],
)
def test_what_cannot_be_placed_is_listed(what, reason):
    found = import_cluster(dump(local_queue("lost", queue="nowhere"), what))
    (problem,) = found.report.problems
    assert problem.key == "team/w"
    assert reason in problem.reason
    assert reason in str(found.report)


def test_what_no_api_server_would_hold_is_refused():
    with pytest.raises(InvalidSpecError, match=r"status\.admission: is required while QuotaReserved is true"):
        import_cluster(dump(workload("w", {"conditions": [condition("QuotaReserved")]})))


def test_a_job_is_submitted_unless_it_has_a_workload():
    def job(name, **status):
        labels = {"kueue.x-k8s.io/queue-name": "lq"}
        metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "labels": labels}
        containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
        template = {"spec": {"restartPolicy": "Never", "containers": containers}}
        spec = {"suspend": True, "template": template}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec, "status": status}

    over = job("over", conditions=[{"type": "Complete", "status": "True"}])
    known = workload("job-known-12345", admitted(), labels={"kueue.x-k8s.io/job-uid": "uid-known"})
    found = import_cluster(dump(job("new"), job("known"), over, known))
    rows = outcomes(found)
    assert rows["Job", "known"] == ("skipped", "it has a Workload")
    assert rows["Job", "over"] == ("skipped", "it is over")
    assert rows["Job", "new"][0] == "pending"
    assert len(found.scheduler.keys()) == 2
    again = import_cluster(dump(job("new")))
    name = again.scheduler.keys()[0].partition("/")[2]
    assert outcomes(import_cluster(dump(job("new"), workload(name))))["Job", "new"] == ("skipped", "it has a Workload")


def test_running_pods_hold_quota_by_mapping_rules():
    classes = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    rules = [
        {"match": {"labels": {"skip": "yes"}}, "skip": True},
        {"match": {"priorityClassName": "high", "labels": {"src": "a"}}, "toLocalQueue": "lq"},
        *by_label("src", {"b": "lq", "c": "nowhere", "d": "lost"}),
    ]
    found = import_cluster(
        dump(
            classes,
            local_queue("lost", queue="gone"),
            pod("first", labels={"src": "a"}, priorityClassName="high"),
            pod("second", labels={"src": "b"}),
            pod("unmatched", labels={"src": "a"}),
            pod("left", labels={"src": "b", "skip": "yes"}),
            pod("nowhere", labels={"src": "c"}),
            pod("lost", labels={"src": "d"}),
            pod("gpu", labels={"src": "b"}, containers=[{"name": "c", "resources": {"requests": {"gpu": "1"}}}]),
            pod("classless", labels={"src": "b"}, priorityClassName="low"),
            pod("over", phase="Succeeded", labels={"src": "b"}),
        ),
        rules=rules,
    )
    rows = outcomes(found)
    assert rows["Pod", "first"][0] == rows["Pod", "second"][0] == "imported"
    assert rows["Pod", "unmatched"] == ("not placed", "no mapping found")
    assert rows["Pod", "left"] == ("skipped", "a mapping rule says so")
    assert rows["Pod", "nowhere"] == ("not placed", "localqueue not found: team/nowhere")
    assert rows["Pod", "lost"] == ("not placed", "clusterqueue not found: gone")
    assert rows["Pod", "gpu"] == ("not placed", 'resource "gpu" is not covered by ClusterQueue "cq"')
    assert rows["Pod", "classless"] == ("not placed", "priorityclass not found: low")
    assert rows["Pod", "over"] == ("skipped", "its phase is Succeeded")
    status = cluster_queue_status(found.scheduler)["cq"]
    assert status.admitted_workloads == 2
    assert status.flavors_usage[0].resources[0].total == "1"
    first = next(key for key in found.scheduler.workloads["key"] if "first" in key)
    live = found.scheduler.workload(first)
    assert live.priority == 1000
    assert {(c.type, c.status, c.reason, c.message) for c in live.status.conditions} == {
        ("QuotaReserved", "True", "Imported", "Imported into ClusterQueue cq"),
        ("Admitted", "True", "Imported", "Imported into ClusterQueue cq"),
    }


def test_a_pod_of_an_invalid_queue_is_not_placed():
    rules = by_label("src", {"a": "bad", "b": "lq"})
    items = (cluster_queue("bad", flavors=("gold",)), local_queue("bad", queue="bad"))
    other = {"kueue.x-k8s.io/queue-name": "other", "src": "b"}
    found = import_cluster(dump(*items, pod("a", labels={"src": "a"}), pod("b", labels=other)), rules=rules)
    assert outcomes(found)["Pod", "a"] == ("not placed", "clusterqueue invalid: bad: it lacks gold")


def test_pods_are_left_alone_without_rules():
    found = import_cluster(dump(pod("first", labels={"src": "a"})))
    assert list(found.report) == []
    assert any("does not bear on admission" in note for note in found.notes)


def test_a_second_import_changes_nothing():
    items = [pod(f"p{i}", labels={"src": "a"}) for i in range(3)]
    rules = by_label("src", {"a": "lq"})
    first = import_cluster(dump(*items), rules=rules)
    names = [key.partition("/")[2] for key in first.scheduler.workloads["key"]]
    again = import_cluster(dump(*items, *(workload(name, admitted()) for name in names)), rules=rules)
    assert again.report.counts == {"admitted": 3, "skipped": 3}


def test_the_bar_grows_to_the_end(tmp_path):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(dump(*(workload(f"w{i}") for i in range(200)))))
    told: list[tuple[int, int]] = []
    import_cluster(path, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert len(told) > 20
    assert told[-1] == (path.stat().st_size,) * 2
    out = io.StringIO()
    draw = bar(out)
    draw(1, 4)
    draw(4, 4)
    assert out.getvalue() == f"\r[{'#' * 10}{'.' * 30}]  25 %\r[{'#' * 40}] 100 %\n"


def test_there_is_no_bar_without_a_terminal(capsys):
    import_cluster(dump())
    assert capsys.readouterr() == ("", "")
