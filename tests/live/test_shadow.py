"""The agreement with a running cluster, as decisions happen."""

from __future__ import annotations

import random
import threading
import time
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from urllib.request import urlopen

import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.errors import InvalidSpecError
from kueuepy.objects.times import parse_time
from kueuepy.platform.apiserver import RESOURCES
from kueuepy.platform.live.recorder import Message
from kueuepy.platform.live.shadow import Shadow
from kueuepy.platform.metrics.series import MetricsServer
from live.server import Store, events
from live.test_closed import CONFIGURATION, workload
from live.test_recorder import START

DATA = Path(__file__).parent / "data"


def messages(name, jitter):
    """The events of a recorded history as watches report them, after empty lists of all kinds."""
    found = [event for event in events(name) if event["type"] in ("ADDED", "MODIFIED", "DELETED")]
    first = min(parse_time(event["received"]) for event in found)
    yield from (Message("list", resource.kind, [], 1, first) for resource in RESOURCES)
    rng = random.Random(1)  # noqa: S311
    delays = {}
    times = []
    for event in found:  # each kind has a delay of its own, which keeps its order
        delay = delays.setdefault(event["kind"], rng.uniform(0, jitter))
        times.append((parse_time(event["received"]) + int(delay * 1e9), event))
    for time_, event in sorted(times, key=lambda one: one[0]):
        if event["kind"] != "ConfigMap":
            what = "deleted" if event["type"] == "DELETED" else "event"
            yield Message(what, event["kind"], event["object"], 0, time_)


@pytest.mark.parametrize(("name", "jitter"), [("cohort", 0.0), ("racks", 0.0), ("cohort", 0.8)])
def test_a_shadow_judges_a_stream_as_verify_judges_the_recording(name, jitter):
    manager = next(one["object"] for one in events(name) if one["kind"] == "ConfigMap")
    shadow = Shadow(SimpleNamespace(configuration=manager))
    shadow._stream._missing = {resource.kind for resource in RESOURCES}
    last = 0
    for message in messages(name, jitter):
        shadow.take(message)
        if message.time - last > 2e8:
            shadow.judge(message.time)
            last = message.time
    shadow.judge(last + int(60e9))
    known = kq.live.verify(DATA / f"{name}.jsonl.gz")
    assert shadow.total == len(known.decisions)
    assert shadow.share >= (0.99 if not jitter else 0.95)
    for kind in ("admission", "preemption", "replacement"):
        counts = {outcome: count for (own, outcome), count in shadow.counts.items() if own == kind}
        assert sum(counts.values()) == sum(known.counts(kind).values())
        if not jitter:
            assert counts == dict(known.counts(kind))
    assert "kueuepy_shadow_agreement_ratio 1.0\n" in shadow.metrics_text() or jitter


def test_a_verifier_stores_only_what_it_needs():
    shadow = Shadow(SimpleNamespace(configuration=None))
    shadow._stream._missing = {resource.kind for resource in RESOURCES}
    for message in messages("cohort", 0):
        shadow.take(message)
    shadow.judge(2**62)
    verifier = shadow._verifier
    assert len(verifier._changes) < 300
    assert len(verifier._at) < 100
    assert len(verifier._made) < 100


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class PlayedKueue(threading.Thread):
    """Submits jobs to a store, and admits as many as quota allows, first come first served; a wrong one on request."""

    def __init__(self, store, jobs, wrong=()):
        super().__init__(daemon=True)
        self.store, self.jobs, self.wrong = store, jobs, wrong

    def run(self):
        for number in range(self.jobs):
            self.write(f"job-{number}")
            time.sleep(0.05)
            self.write(f"job-{number}", "QuotaReserved", "Admitted")
            time.sleep(0.1)
            if number in self.wrong:  # beyond the quota
                self.write(f"wrong-{number}")
                time.sleep(0.05)
                self.write(f"wrong-{number}", "QuotaReserved", "Admitted")
                self.write(f"wrong-{number}", "QuotaReserved", "Admitted", "Finished")
            self.write(f"job-{number}", "QuotaReserved", "Admitted", "Finished")

    def write(self, name, *conditions):
        conditions = [
            {"type": one, "status": "True", "reason": "Succeeded", "message": "", "lastTransitionTime": now()}
            for one in conditions
        ]
        assignment = {"name": "main", "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "1"}, "count": 1}
        admission = {"admission": {"clusterQueue": "cq", "podSetAssignments": [assignment]}} if conditions else {}
        obj = workload(name, conditions=conditions, **admission)
        obj["metadata"]["creationTimestamp"] = now()
        self.store.write("Workload", {"apiVersion": "kueue.x-k8s.io/v1beta2", **obj})


@pytest.fixture
def busy(api):
    api.replay(*START, "get-configmap-of-kueue")
    api.store = Store()
    for obj in CONFIGURATION:
        api.store.write(obj["kind"], {"apiVersion": "kueue.x-k8s.io/v1beta2", **obj})
    return api


def start_after_lists(played, shadow):
    """Start the scheduler as soon as the shadow knows the objects that exist before."""
    if not played.ident and shadow._stream._listed >= {"Workload", "LocalQueue"}:
        played.start()


def test_decisions_of_a_running_cluster_are_compared_as_they_happen(busy):
    shadow = Shadow.open()
    played = PlayedKueue(busy.store, 15, wrong=[5])
    found, text = [], []

    def check(differences):
        found.extend(differences)
        start_after_lists(played, shadow)
        if shadow.total == 16:
            with MetricsServer("127.0.0.1:0", shadow.metrics_text) as server, urlopen(server.url) as answer:  # noqa: S310
                text.append(answer.read().decode())
            shadow.stop()

    shadow.run(600, check)
    assert shadow.counts["admission", "same"] + shadow.counts["admission", "moment"] == 15
    assert [one.workload for one in found if one.kind == "admission" and one.cause != "only here"] == [
        "default/wrong-5"
    ]
    assert "WaitingForQuota" in found[0].here
    assert 'kueuepy_shadow_decisions_total{kind="admission",outcome="different"} 1.0\n' in text[0]
    assert "kueuepy_shadow_agreement_ratio 0.9375\n" in text[0]


def test_the_command_follows_a_cluster_and_prints_the_agreement(busy, capsys, monkeypatch):
    played = PlayedKueue(busy.store, 4)
    run = Shadow.run

    def run_until_all_are_compared(shadow, seconds, tell):
        def check(differences):
            tell(differences)
            start_after_lists(played, shadow)
            if shadow.total == 4:
                shadow.stop()

        run(shadow, seconds, check)

    monkeypatch.setattr(Shadow, "run", run_until_all_are_compared)
    command = ["verify", "cluster:", "--stop-after", "10m", "--metrics", "0", "--at-least", "0.99"]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert "4 decisions, 100.0% agree, 0 differ" in out
    assert "metrics: http://127.0.0.1:" in err
    assert main(["shadow", "file.yaml"]) == 2
    assert main(["verify", "cluster:", "--metrics", "nowhere"]) == 1


def test_only_metrics_are_served():
    with MetricsServer("0", lambda: "kueuepy_a 1\n") as server:
        with pytest.raises(OSError, match="404"):
            urlopen(server.url.replace("/metrics", "/other"))  # noqa: S310
        with pytest.raises(InvalidSpecError, match="cannot be used"):
            MetricsServer(server.url.split("/")[2], str)
