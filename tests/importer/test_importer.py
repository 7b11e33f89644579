"""Imports of the dump of a live cluster as the starting state; problems are listed."""

from __future__ import annotations

import json

import pytest

import kueuepy as kq
from importer.dumps import admitted, cluster_queue, condition, dump, local_queue, outcomes, pod, workload
from kueuepy.errors import InvalidSpecError
from kueuepy.platform.importer import by_label, import_cluster
from kueuepy.platform.visibility import cluster_queue_status


def test_the_clock_starts_at_the_latest_time_of_the_dump():
    found = import_cluster(dump(workload("runs", admitted())))
    assert found.scheduler.now == 1785578400.0
    assert import_cluster(dump(), now=42).scheduler.now == 42


def test_a_queue_may_start_above_its_quota():
    found = import_cluster(dump(*(workload(f"w{i}", admitted()) for i in range(7)), workload("late")))
    assert cluster_queue_status(found.scheduler)["cq"].flavors_usage[0].resources[0].total == "14"
    (decision,) = found.scheduler.cycle()
    assert isinstance(decision, kq.Pending)


def test_objects_that_no_api_server_would_store_are_rejected():
    with pytest.raises(InvalidSpecError, match=r"status\.admission: is required while QuotaReserved is true"):
        import_cluster(dump(workload("w", {"conditions": [condition("QuotaReserved")]})))


@pytest.mark.parametrize("kind", [[], {}, ["Pod"], 5, None])
def test_an_object_without_a_kind_is_rejected(kind):
    with pytest.raises(InvalidSpecError, match="kind"):
        import_cluster(dump({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}}))


def test_a_job_is_submitted_unless_it_has_a_workload():
    def job(name, *, suspend=True, **status):
        labels = {"kueue.x-k8s.io/queue-name": "lq"}
        metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "labels": labels}
        containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
        template = {"spec": {"restartPolicy": "Never", "containers": containers}}
        spec = {"suspend": suspend, "template": template}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec, "status": status}

    over = job("over", conditions=[{"type": "Complete", "status": "True"}])
    known = workload("job-known-12345", admitted(), labels={"kueue.x-k8s.io/job-uid": "uid-known"})
    found = import_cluster(dump(job("new"), job("known"), over, known))
    rows = outcomes(found)
    assert rows["Job", "known"] == ("skipped", "it has a Workload")
    assert rows["Job", "over"] == ("finished", "it finished")
    assert rows["Job", "new"][0] == "pending"
    assert len(found.scheduler.keys()) == 2
    assert not found.notes
    lost = import_cluster(dump(job("new"), job("lost", suspend=False, active=1)))
    assert "Job team/lost: running without a Workload, counted as pending; dump workloads as well" in lost.notes
    again = import_cluster(dump(job("new")))
    name = again.scheduler.keys()[0].partition("/")[2]
    assert outcomes(import_cluster(dump(job("new"), workload(name))))["Job", "new"] == ("skipped", "it has a Workload")


def test_a_pod_of_an_invalid_queue_is_not_placed():
    rules = by_label("src", {"a": "bad", "b": "lq"})
    items = (cluster_queue("bad", flavors=("gold",)), local_queue("bad", queue="bad"))
    other = {"kueue.x-k8s.io/queue-name": "other", "src": "b"}
    found = import_cluster(dump(*items, pod("a", labels={"src": "a"}), pod("b", labels=other)), rules=rules)
    assert outcomes(found)["Pod", "a"] == ("not placed", "clusterqueue invalid: bad: it lacks gold")


def test_a_second_import_changes_nothing():
    items = [pod(f"p{i}", labels={"src": "a"}) for i in range(3)]
    rules = by_label("src", {"a": "lq"})
    first = import_cluster(dump(*items), rules=rules)
    names = [key.partition("/")[2] for key in first.scheduler.workloads["key"]]
    again = import_cluster(dump(*items, *(workload(name, admitted()) for name in names)), rules=rules)
    assert again.report.counts == {"admitted": 3, "skipped": 3}


def test_the_reported_progress_reaches_the_end(tmp_path):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(dump(*(workload(f"w{i}") for i in range(200)))))
    told: list[tuple[int, int]] = []
    import_cluster(path, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert len(told) > 20
    assert told[-1] == (path.stat().st_size,) * 2
