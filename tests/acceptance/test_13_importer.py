"""Quota for running pods by mapping rules like those of Kueue's importer (CL_07)."""

from pathlib import Path

import kueuepy as kq
from importer.dumps import dump, local_queue, outcomes, pod
from kueuepy.cli import main
from kueuepy.platform.importer import by_label, import_cluster
from kueuepy.platform.visibility import cluster_queue_status

LIVE = Path(__file__).parents[2] / "examples" / "live"


def test_CL_07_running_pods_get_quota_by_mapping_rules():
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


def test_CL_07_pods_are_ignored_without_mapping_rules():
    found = import_cluster(dump(pod("first", labels={"src": "a"})))
    assert list(found.report) == []
    assert found.scheduler.keys() == ()
    assert [pod.name for pod in found.scheduler.cluster.pods] == ["first"]  # uses capacity of its node, if any


def test_CL_07_the_command_writes_nothing_without_the_option_save(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dump_file, rules = str(LIVE / "dump.yaml"), ["--rules", str(LIVE / "rules.yaml")]
    assert main(["import", dump_file, *rules]) == 3
    told = capsys.readouterr().out
    assert "1 admitted, 1 pending, 1 imported, 1 not placed" in told
    assert "default/stray  no mapping found" in told
    assert list(tmp_path.iterdir()) == []

    assert main(["import", dump_file, *rules, "--save", "state"]) == 3
    scheduler = kq.Scheduler.load(tmp_path / "state")
    usage = cluster_queue_status(scheduler)["research"].flavors_usage[0].resources[0]
    assert (usage.name, usage.total) == ("cpu", "7")
    assert main(["import", dump_file]) == 0
    assert main(["import", dump_file, "--rules", dump_file]) == 1
    assert "must be one list of rules" in capsys.readouterr().err
