"""Imports of a live cluster from the output of kubectl (OBJ)."""

import contextlib
import io
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from importer.dumps import WHEN, admission, admitted, condition, dump, local_queue, outcomes, workload
from kueuepy.cli import main
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.visibility import cluster_queue_status


def test_OBJ_28_the_status_in_a_dump_is_the_starting_state():
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
        "asks": "quota reserved",
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


@pytest.mark.parametrize("form", ["yaml", "json", "a file for each kind"])
def test_OBJ_28_yaml_json_and_several_files_give_the_same_state(tmp_path, form):
    whole = dump(*(workload(f"w{i}", admitted() if i < 4 else None) for i in range(8)))
    if form == "yaml":
        (tmp_path / "all.yaml").write_text(yaml.safe_dump(whole))
    elif form == "json":
        (tmp_path / "all.json").write_text(json.dumps(whole, indent=4))
    else:
        for item in whole["items"]:
            with (tmp_path / f"{item['kind']}.yaml").open("a") as file:
                file.write("---\n" + yaml.safe_dump(item))
    found = import_cluster(tmp_path)
    assert found.report.counts == {"admitted": 4, "pending": 4}
    found.scheduler.settle()
    expected = import_cluster(whole).scheduler
    expected.settle()
    assert {key: found.scheduler.workload(key) for key in found.scheduler.keys()} == {  # noqa: SIM118
        key: expected.workload(key)
        for key in expected.keys()  # noqa: SIM118
    }
    assert cluster_queue_status(found.scheduler)["cq"].admitted_workloads == 5


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (workload("w", admitted(queue="gone")), 'it has quota of a ClusterQueue "gone" that does not exist'),
        (workload("w", admitted(flavor_name="gold")), 'ClusterQueue "cq" has no quota of cpu in flavor "gold"'),
        (workload("w", queue="gone"), 'there is no LocalQueue "team/gone" to wait in'),
        (workload("w", queue="lost"), 'there is no ClusterQueue "nowhere" to wait in'),
    ],
)
def test_OBJ_28_workloads_without_a_queue_are_listed(what, reason):
    found = import_cluster(dump(local_queue("lost", queue="nowhere"), what))
    (problem,) = found.report.problems
    assert problem.key == "team/w"
    assert reason in problem.reason
    assert reason in str(found.report)


def _read(terminal):
    """Return everything written to a terminal until it is closed."""
    found = b""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 4096):
            found += part
    os.close(terminal)
    return found.decode()


def test_OBJ_28_a_terminal_shows_a_progress_bar(tmp_path, monkeypatch, capsys):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(dump(*(workload(f"w{i}") for i in range(200)))))
    ours, theirs = os.openpty()
    screen = ThreadPoolExecutor(1)
    with os.fdopen(theirs, "w") as terminal:
        shown_later = screen.submit(_read, ours)
        monkeypatch.setattr("sys.stderr", terminal)
        assert main(["import", str(path)]) == 0
    shown = shown_later.result()
    assert shown.count("░") > 0
    assert "█" * 20 in shown
    assert " bytes read" in shown
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert main(["import", str(path)]) == 0
    assert sys.stderr.getvalue() == ""
    assert "200 pending" in capsys.readouterr().out
