"""kueuepy's own run over the inputs of a recording, compared with what the cluster did."""

from __future__ import annotations

import copy
import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.objects.times import parse_time
from kueuepy.platform.history import RecordingWriter
from kueuepy.platform.live.agreement import kendall_tau
from kueuepy.platform.live.comparison import UNEXPLAINED
from live.server import events

DATA = Path(__file__).parent / "data"


def written(path, found):
    path.write_text("\n".join(map(json.dumps, found)))
    return path


@pytest.mark.parametrize(("name", "flavors", "median"), [("cohort", 0.9, 0.1), ("racks", 1.0, 0.1)])
def test_an_own_run_predicts_flavors_order_and_times_of_the_recorded_cluster(name, flavors, median):
    found = kq.live.verify_closed(DATA / f"{name}.jsonl.gz")
    assert not found.notes
    assert found.share >= flavors
    assert min(found.order.values()) > 0.95
    assert 0 < found.latency < 0.5
    assert abs(found.timing(50)[50]) < median
    assert sum(found.preemptions.values()) > 8
    both = found.late
    assert len(both) > 150
    assert np.mean(np.abs(both) < 1.2) > 0.6
    assert all(one.cause != UNEXPLAINED for one in found.differences)
    assert sum(bool(one.explanation) for one in found.differences) == 20


def an_answer(found, name, received, **conditions):
    """The next version of a Workload with other conditions."""
    last = copy.deepcopy([event for event in found if event["object"]["metadata"]["name"] == name][-1])
    return last | {"received": received, **conditions}


CONFIGURATION = [
    {"kind": "ResourceFlavor", "metadata": {"name": "f"}},
    {
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}],
                }
            ],
        },
    },
    {"kind": "Namespace", "metadata": {"name": "default"}, "apiVersion": "v1"},
    {"kind": "LocalQueue", "metadata": {"name": "lq", "namespace": "default"}, "spec": {"clusterQueue": "cq"}},
]


def at(second):
    return f"2026-11-20T10:{int(second) // 60:02}:{second % 60:06.3f}Z"


def condition(kind, second, status="True", reason="R"):
    return {"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": at(int(second))}


def workload(name, **status):
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    return {
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "default", "uid": name, "creationTimestamp": at(0)},
        "spec": {"queueName": "lq", "active": True, "priority": 0, "podSets": [pod_set]},
        "status": status,
    }


class History:
    """Watch events that a test writes itself."""

    def __init__(self):
        self._added = []
        for obj in CONFIGURATION:
            self.add(0, {"apiVersion": "kueue.x-k8s.io/v1beta2", **obj}, "ADDED")

    def add(self, second, obj, what="MODIFIED"):
        obj = copy.deepcopy({"apiVersion": "kueue.x-k8s.io/v1beta2", **obj})
        self._added.append((second, what, obj))

    @property
    def events(self):
        """All events in the order of time."""
        found = []
        for second, what, obj in sorted(self._added, key=lambda one: one[0]):
            obj["metadata"]["resourceVersion"] = str(len(found) + 1)
            found.append({"received": at(second), "type": what, "kind": obj["kind"], "object": obj})
        return found

    def last(self, name):
        """The last version of an object that was added."""
        return [obj for _, _, obj in self._added if obj["metadata"]["name"] == name][-1]

    def submit(self, second, name):
        self.add(second, workload(name), "ADDED")

    def admit(self, second, name, *, until=None, cpu="f"):
        conditions = [condition("QuotaReserved", second), condition("Admitted", second)]
        assignment = {"name": "main", "flavors": {"cpu": cpu}, "resourceUsage": {"cpu": "1"}, "count": 1}
        status = {"admission": {"clusterQueue": "cq", "podSetAssignments": [assignment]}}
        self.add(second, workload(name, conditions=conditions, **status))
        if until is not None:
            done = [*conditions, condition("Finished", until, reason="Succeeded")]
            self.add(until, workload(name, conditions=done, **status))


def test_runtimes_move_with_admissions_and_a_late_one_is_reported_with_its_explanation(tmp_path):
    history = History()
    history.submit(10, "a")
    history.admit(10.2, "a", until=40.2)
    history.submit(11, "b")
    history.admit(70.2, "b", until=80)  # the cluster left the quota free for 30 s
    found = kq.live.verify_closed(written(tmp_path / "e.jsonl", history.events))
    assert found.latency == pytest.approx(0.2)
    assert found.late[0] == pytest.approx(0, abs=1e-6)
    assert found.late[1] == pytest.approx(40.2 + 1 - 70, abs=1.3)
    (only,) = found.differences
    assert only.workload == "default/b"
    assert "earlier here" in only.here
    assert only.cause == UNEXPLAINED
    assert found.order == {"cq": 1.0}


def test_a_workload_that_only_one_side_admits_is_counted_and_explained(tmp_path):
    history = History()
    history.submit(10, "a")
    history.admit(10.2, "a")  # never ends
    history.submit(11, "b")
    history.admit(20, "b")  # the cluster admits more than the quota
    history.submit(30, "c")
    history.add(60, {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "later"}}, "ADDED")
    found = kq.live.verify_closed(written(tmp_path / "e.jsonl", history.events))
    (only,) = found.differences
    assert (only.workload, only.here) == ("default/b", "not admitted here")
    assert "requests 1, 0 available" in only.explanation
    rows = {row["workload"]: row for row in found.admissions.rows()}
    assert set(rows) == {"default/a", "default/b"}
    assert "1 only there" in str(found)


def test_a_deletion_after_the_end_does_not_end_a_job_that_still_runs_here(tmp_path):
    history = History()
    history.submit(10, "a")
    history.admit(10.2, "a", until=40.2)
    history.submit(11, "b")
    history.admit(30, "b", until=40)  # runs beside `a`, which quota does not allow
    history.add(41, workload("a"), "DELETED")
    history.add(42, workload("b"), "DELETED")
    history.add(90, {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "later"}}, "ADDED")
    found = kq.live.verify_closed(written(tmp_path / "e.jsonl", history.events))
    assert not found.notes
    (only,) = found.differences
    assert "later here" in only.here


def test_a_gap_of_the_recording_is_named_as_the_cause(tmp_path):
    history = History()
    history.submit(10, "a")
    history.admit(10.2, "a", until=40)
    history.submit(11, "b")
    history.admit(70, "b", until=80)
    path = tmp_path / "h.db"
    writer = RecordingWriter(path)
    for event in history.events:
        writer.event(event["kind"], event["type"] == "DELETED", event["object"], parse_time(event["received"]))
    writer._db.execute(
        "INSERT INTO gaps VALUES (?, ?, ?, ?)", ("Workload", parse_time(at(41)), parse_time(at(69)), "r")
    )
    writer.close()
    found = kq.live.verify_closed(path)
    assert [one.cause for one in found.differences] == ["a gap in the recording"]


def test_kendalls_tau_is_that_of_all_pairs():
    rng = random.Random(3)  # noqa: S311
    for n in (2, 3, 10, 60):
        first, second = rng.sample(range(1000), n), rng.sample(range(1000), n)
        pairs = list(itertools.combinations(range(n), 2))
        agree = sum((first[a] < first[b]) == (second[a] < second[b]) for a, b in pairs)
        expected = (2 * agree - len(pairs)) / len(pairs)
        assert kendall_tau(np.array(first), np.array(second)) == pytest.approx(expected)


def test_the_command_prints_the_figures_of_an_own_run(capsys):
    path = str(DATA / "racks.jsonl.gz")
    assert main(["verify", path, "--closed", "--explained", "1"]) == 0
    text = capsys.readouterr().out
    assert "Kendall's tau by ClusterQueue: narrow" in text
    assert "median of admissions that waited for nothing" in text
    assert main(["verify", path, "--closed", "--json", "--at-least", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["agreement"] == 1
    assert set(found["late_seconds"]) == {"p5", "p25", "p50", "p75", "p95"}
    assert len(events("racks")) > len(found["admissions"]) > 150
