"""Section 13: running pods hold quota, by mapping rules as those of Kueue's importer."""

from embedding.dumps import dump, local_queue, outcomes, pod
from kueuepy.importer import import_cluster
from kueuepy.importer_pods import by_label
from kueuepy.visibility_status import cluster_queue_status


def test_CL_07_running_pods_hold_quota_by_mapping_rules():
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


def test_CL_07_pods_are_left_alone_without_rules():
    found = import_cluster(dump(pod("first", labels={"src": "a"})))
    assert list(found.report) == []
    assert any("does not bear on admission" in note for note in found.notes)
