"""A recording has every event once, survives kills, reports its gaps, and can be read while it is written."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.errors import InvalidSpecError, NotFoundError, StateError
from kueuepy.objects.times import parse_time
from kueuepy.platform.apiserver import ClusterReader, Connection
from kueuepy.platform.history import Anonymiser, RecordedState, Recording, RecordingWriter, reduced
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.live.recorder import Recorder, record
from kueuepy.platform.live.recording import read_events
from live.server import Store, events

START = ("discovery-kueue", "discovery-kueue-v1beta1", "discovery-kueue-v1beta2", "list-deployment-of-kueue")


@pytest.fixture
def busy(api):
    """A server with discovery and a store in which nothing has happened yet."""
    api.replay(*START, "get-configmap-of-kueue")
    api.store = Store()
    return api


def rows(path, query):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def transitions(path):
    found = rows(
        path,
        "SELECT uid, revision, what, reason FROM transitions JOIN workloads ON workloads.id = workload ORDER BY"
        " transitions.id",
    )
    return [row for row in found if row[2] != "Submitted"]


def recorded_directly(path, found, **other):
    """The recording of a recorder that saw each event."""
    writer = RecordingWriter(path, **other)
    for event in found:
        if event["type"] in ("ADDED", "MODIFIED", "DELETED") and event["kind"] != "ConfigMap":
            writer.event(event["kind"], event["type"] == "DELETED", event["object"], time.time_ns())
    writer.close()
    return path


def caught_up(path, store):
    """Record until the file has everything that the server has."""
    writer = RecordingWriter(path)
    recorder = Recorder(ClusterReader(Connection.open()), writer)

    def check(_):
        if writer.revisions.get("Workload", -1) >= store.last("Workload"):
            recorder.stop()

    recorder.run(20, check)
    writer.close()


def test_what_is_recorded_is_what_happened(busy, tmp_path):
    found = events("cohort")
    busy.store.replay(found[:200])
    churn = threading.Thread(target=busy.store.replay, args=(found[200:],))
    path = tmp_path / "h.db"
    writer = RecordingWriter(path)
    recorder = Recorder(ClusterReader(Connection.open()), writer)
    started = []

    def check(_):
        if not started and "Workload" in writer.revisions:
            started.append(churn.start())
        if writer.revisions.get("Workload", 0) >= busy.store.last("Workload") and not churn.is_alive() and started:
            recorder.stop()

    recorder.run(30, check)
    writer.close()
    assert len(transitions(path)) > 500
    assert len(set(transitions(path))) == len(transitions(path))
    listed = int(found[199]["object"]["metadata"]["resourceVersion"])
    direct = transitions(recorded_directly(tmp_path / "all.db", found))
    assert [row for row in direct if row[1] > listed] == [row for row in transitions(path) if row[1] > listed]
    latest = {one["metadata"]["uid"]: one for one in busy.store.listed("Workload")}
    for obj, deleted, _ in Recording(path).workloads():
        if deleted is None:
            now = latest.pop(obj["metadata"]["uid"])["status"].get("conditions") or []
            known = obj["status"].get("conditions") or []
            assert {(c["type"], c["status"]) for c in known} == {(c["type"], c["status"]) for c in now}
    assert not latest
    assert rows(path, "SELECT count(*) FROM gaps") == [(0,)]


def test_the_number_of_stored_events_is_that_of_the_recording(tmp_path):
    path, found = tmp_path / "h.db", events("cohort")
    writer = RecordingWriter(path)
    for event in (*found, *found):
        if event["type"] in ("ADDED", "MODIFIED", "DELETED") and event["kind"] != "ConfigMap":
            writer.event(event["kind"], event["type"] == "DELETED", event["object"], time.time_ns())
    writer.close()
    assert 0 < writer.stored < len(found)
    assert writer.stored == len(list(Recording(path).events()))


def test_the_usage_of_a_local_queue_is_recorded():
    usage = {"admissionFairSharingStatus": {"consumedResources": {"cpu": "1"}, "lastUpdate": "2026-11-23T02:00:00Z"}}
    found = {"metadata": {"name": "lq"}, "spec": {}, "status": {"pendingWorkloads": 3, "fairSharing": usage}}
    assert reduced(found, "LocalQueue")["status"] == {"fairSharing": usage}
    assert "status" not in reduced(found, "ClusterQueue")


def test_an_average_transition_needs_less_than_a_kilobyte(tmp_path):
    path = recorded_directly(tmp_path / "h.db", events("cohort"))
    rows(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    assert path.stat().st_size / len(transitions(path)) < 1024


def test_a_recording_is_a_source_of_objects_at_any_time(tmp_path):
    path = recorded_directly(tmp_path / "h.db", events("racks"))
    found = import_cluster(str(path))
    assert found.report.counts["finished"] > 50
    assert len(kq.load(str(path), strict=False).cluster_queues) == 2
    with pytest.raises(InvalidSpecError, match="is empty"):
        RecordedState(Recording(recorded_directly(tmp_path / "empty.db", [])))


def test_a_moment_of_a_recording_has_the_state_of_that_moment(tmp_path):
    path, found = tmp_path / "h.db", events("cohort")
    writer = RecordingWriter(path)
    base = 1_800_000_000 * 10**9
    alive, wanted = set(), {}
    for number, event in enumerate(one for one in found if one["type"] in ("ADDED", "MODIFIED", "DELETED")):
        if event["kind"] == "ConfigMap":
            continue
        writer.event(event["kind"], event["type"] == "DELETED", event["object"], base + number * 10**9)
        if event["kind"] == "Workload":
            (alive.discard if event["type"] == "DELETED" else alive.add)(event["object"]["metadata"]["uid"])
        wanted[number] = set(alive)
    writer.close()
    for number in (300, 700, max(wanted)):
        state = RecordedState(Recording(path), base + number * 10**9)
        found_uids = {one["metadata"]["uid"] for one in state if one["kind"] == "Workload"}
        assert found_uids == wanted[max(one for one in wanted if one <= number)]
    assert import_cluster(f"{path}@2027-01-15T08:08Z").report.counts
    assert RecordedState.open(f"{path}@2200-01-01T00:00:00Z").notes


@pytest.mark.parametrize("name", ["cohort", "racks"])
def test_a_recording_can_be_verified_and_simulated(tmp_path, capsys, name):
    path = tmp_path / "h.db"
    writer = RecordingWriter(path)
    for event in events(name):
        if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
            writer.event(event["kind"], event["type"] == "DELETED", event["object"], _received(event))
    writer.close()
    found = kq.live.verify(path)
    assert found.share >= 0.99
    assert found.share_of("domains") >= 0.99
    assert len(found.decisions) > 180
    jobs = kq.Jobs.read(path)
    assert len(jobs) > 140
    assert main(["simulate", str(path), "--jobs", str(path), "--censored", "drop"]) == 0
    assert "left out; the command runs the jobs that you give it" in capsys.readouterr().err


def _received(event):
    return parse_time(event["received"])


class Zygote:
    """A process that has imported kueuepy, and forks a recorder on demand."""

    CODE = """
import os, signal, sys
import kubernetes.client, kubernetes.config, urllib3
from kueuepy.platform.live.recorder import record
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for path in sys.stdin:
    if (child := os.fork()) == 0:
        record(None, path.strip())
    print(child, flush=True)
"""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", self.CODE], stdin=-1, stdout=-1, stderr=-3, text=True)  # noqa: S603

    def recorder(self, path):
        """Start a recorder, and return its process id."""
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.communicate()


class Churn(threading.Thread):
    """Writes to a server without an end: the Workloads of a recorded history, again and again under new names."""

    def __init__(self, store, found):
        super().__init__(daemon=True)
        self.store, self.found, self.ends = store, found, threading.Event()
        self.writes, self.times = [], {}

    def run(self):
        for number in itertools.count():
            for event in self.found:
                if self.ends.wait(0.003):
                    return
                if event["type"] == "BOOKMARK" or event["kind"] != "Workload":
                    continue
                obj = copy.deepcopy(event["object"])
                obj["metadata"]["name"] += f"-{number}"
                obj["metadata"]["uid"] += f"-{number}"
                self.write(obj, event["type"] == "DELETED")

    def write(self, obj, deleted):
        began = time.time_ns()
        self.store.write("Workload", obj, deleted=deleted)
        revision = self.store.revision
        self.times[revision] = (began, time.time_ns())
        obj["metadata"]["resourceVersion"] = str(revision)
        self.writes.append({"type": "DELETED" if deleted else "MODIFIED", "kind": "Workload", "object": obj})

    def stop(self):
        self.ends.set()
        self.join()


def _committed(path):
    try:
        return set(transitions(path))
    except sqlite3.OperationalError:  # before the tables exist
        return set()


def _kill(process):
    """Kill a process, and wait for its end: only then are its locks released."""
    os.kill(process, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        for _ in range(10_000):
            os.kill(process, 0)
            time.sleep(0.001)


def _kill_at_random(churn, path, kills, *, compact_every=0):
    """Kill recorders at random moments, and return the transitions that were seen in the file."""
    rng = random.Random(kills)  # noqa: S311
    zygote, kept = Zygote(), set()
    try:
        for number in range(kills):
            child = zygote.recorder(path)
            time.sleep(rng.uniform(0.0, 0.15 if number % 2 else 0.9))
            if number % 10 == 0:
                kept |= _committed(path)
            _kill(child)
            after = _committed(path)
            assert kept <= after
            kept = after
            if compact_every and number % compact_every == compact_every - 1:
                time.sleep(0.1)
                churn.store.compact()
    finally:
        zygote.close()
    return kept


@pytest.mark.long
@pytest.mark.parametrize("kills", [10, 200])
def test_kills_at_random_lose_nothing_and_repeat_nothing(busy, tmp_path, kills):
    path, found = tmp_path / "h.db", events("cohort")
    busy.store.replay([event for event in found if event["kind"] not in ("Workload", "Event")])
    caught_up(path, busy.store)
    churn = Churn(busy.store, found)
    churn.start()
    _kill_at_random(churn, path, kills)
    churn.stop()
    caught_up(path, busy.store)
    whole = transitions(path)
    direct = transitions(recorded_directly(tmp_path / "direct.db", churn.writes))
    assert len(whole) > 10 * kills
    assert len(set(whole)) == len(whole)
    assert sorted(whole) == sorted(direct)
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert rows(path, "SELECT count(*) FROM gaps") == [(0,)]


@pytest.mark.long
@pytest.mark.parametrize("kills", [10, 200])
def test_what_is_lost_because_versions_expired_is_within_a_reported_gap(busy, tmp_path, kills):
    path, found = tmp_path / "h.db", events("cohort")
    busy.store.replay([event for event in found if event["kind"] not in ("Workload", "Event")])
    caught_up(path, busy.store)
    churn = Churn(busy.store, found)
    churn.start()
    _kill_at_random(churn, path, kills, compact_every=4)
    churn.stop()
    caught_up(path, busy.store)
    whole = transitions(path)
    assert len(set(whole)) == len(whole)
    direct = set(transitions(recorded_directly(tmp_path / "direct.db", churn.writes)))
    gaps = [(gap["since"], gap["until"]) for gap in Recording(path).gaps() if gap["kind"] == "Workload"]
    assert gaps
    lost = direct - set(whole)
    assert lost
    outside = []
    for _, revision, _, _ in lost:
        began, ended = churn.times[revision]
        if not any(since <= ended and began <= until for since, until in gaps):
            outside.append((revision, began, ended))
    assert outside == []
    alive = {one["metadata"]["uid"] for one in busy.store.listed("Workload")}
    assert {obj["metadata"]["uid"] for obj, deleted, _ in Recording(path).workloads() if deleted is None} == alive


def test_a_gap_is_reported_and_nothing_is_recorded_twice(busy, tmp_path):
    path, found = tmp_path / "h.db", events("cohort")
    busy.store.replay(found[:300])
    caught_up(path, busy.store)
    before = transitions(path)
    busy.store.replay(found[300:])
    busy.store.compact()
    caught_up(path, busy.store)
    after = transitions(path)
    assert after[: len(before)] == before
    assert len(set(after)) == len(after)
    gaps = Recording(path).gaps()
    assert "Workload" in {gap["kind"] for gap in gaps}
    assert all(gap["since"] < gap["until"] for gap in gaps)
    alive = {one["metadata"]["uid"] for one in busy.store.listed("Workload")}
    assert {obj["metadata"]["uid"] for obj, deleted, _ in Recording(path).workloads() if deleted is None} == alive
    late = rows(path, "SELECT time FROM transitions WHERE what = 'Finished' ORDER BY id DESC LIMIT 1")[0][0]
    assert late < time.time_ns() - 60 * 10**9, "a missed transition has the time of its condition"


def test_a_second_recorder_is_refused(busy, tmp_path):
    busy.store.replay(events("racks")[:100])
    path = tmp_path / "h.db"
    refused = []

    def second(recorder):
        with pytest.raises(StateError, match="another recorder") as error:
            record(None, path)
        refused.append(error)
        recorder.stop()

    record(None, path, on_start=second)
    assert refused
    record(None, path, seconds=0.1)


def test_old_records_are_deleted_and_what_exists_is_kept(tmp_path):
    path = tmp_path / "h.db"
    writer = RecordingWriter(path)
    now = time.time_ns()
    for event in events("cohort"):
        if event["type"] in ("ADDED", "MODIFIED", "DELETED") and event["kind"] != "ConfigMap":
            writer.event(event["kind"], event["type"] == "DELETED", event["object"], now - 100)
    writer.commit()
    alive = {obj["metadata"]["uid"] for obj, deleted, _ in Recording(path).workloads() if deleted is None}
    size = len(transitions(path))
    writer.prune(now)
    writer.close()
    left = list(Recording(path).workloads())
    assert {obj["metadata"]["uid"] for obj, deleted, _ in left if deleted is None} == alive
    assert all(deleted is None for _, deleted, _ in left)
    assert len(transitions(path)) < size
    assert len(kq.load(str(path), strict=False, names=False).cluster_queues) == len(
        {e["object"]["metadata"]["name"] for e in events("cohort") if e["kind"] == "ClusterQueue"}
    )
    with closing(RecordingWriter(path)) as writer:
        assert writer.revisions


def test_no_name_and_no_secret_is_in_an_anonymised_recording(tmp_path):
    found = json.loads(json.dumps(events("racks")))
    names = set()
    for event in found:
        obj = event["object"]
        if event["kind"] in ("Workload", "ClusterQueue", "Cohort", "LocalQueue", "Namespace", "Node"):
            names.add(obj["metadata"]["name"])
        if event["kind"] == "Workload" and "spec" in obj:
            obj["metadata"].setdefault("labels", {})["who"] = "alice"
            for pod_set in obj["spec"]["podSets"]:
                pod_set["template"]["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "s3cr3t"}]
    key = tmp_path / "key"
    anonymiser = Anonymiser.of_file(key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    path = recorded_directly(tmp_path / "h.db", found, anonymiser=anonymiser, users="who", source="cluster:prod")
    text = json.dumps([list(Recording(path).events()), rows(path, "SELECT * FROM workloads")], default=str)
    assert "s3cr3t" not in text
    assert "alice" not in text
    assert "cluster:prod" not in json.dumps(Recording(path).meta)
    common = {"default", "kube-system", "kube-public", "wide", "narrow", "all", "main"}
    assert [name for name in names - common if f'"{name}"' in text or f"/{name}" in text] == []
    again = recorded_directly(tmp_path / "again.db", found, anonymiser=Anonymiser.of_file(key), users="who")
    users = "SELECT DISTINCT namespace, queue, user FROM workloads ORDER BY 1, 2"
    assert rows(path, users) == rows(again, users)
    assert all(user.startswith("user-") for *_, user in rows(path, users))
    assert import_cluster(str(path)).report.problems == ()
    other = Anonymiser.of_file(tmp_path / "other")
    with pytest.raises(InvalidSpecError, match="with another key"):
        RecordingWriter(path, anonymiser=other)
    with pytest.raises(InvalidSpecError, match="with a key"):
        RecordingWriter(path)


def test_an_anonymised_recording_has_the_same_decisions(tmp_path):
    shares = []
    for name, key in (("plain", None), ("hashed", Anonymiser(b"k" * 32))):
        writer = RecordingWriter(tmp_path / f"{name}.db", anonymiser=key)
        for event in events("racks"):
            if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
                writer.event(event["kind"], event["type"] == "DELETED", event["object"], _received(event))
        writer.close()
        shares.append(kq.live.verify(tmp_path / f"{name}.db"))
    assert len(shares[0].decisions) == len(shares[1].decisions)
    assert shares[1].share >= shares[0].share - 0.03


def test_a_closed_recording_is_a_single_file(tmp_path):
    path = tmp_path / "history.db"
    RecordingWriter(path, source="cluster:prod").close()
    with closing(Recording(path)) as reader:
        assert reader.meta["source"] == "cluster:prod"
    assert [file.name for file in tmp_path.iterdir()] == ["history.db"]


def test_a_recording_that_is_closed_while_it_is_read_stays_readable(tmp_path):
    path = tmp_path / "history.db"
    writer = RecordingWriter(path, source="cluster:prod")
    with closing(Recording(path)) as reader:
        assert reader.meta["source"] == "cluster:prod"
        writer.close()
        again = RecordingWriter(path)
        again.set_meta("source", "cluster:next")
        again.commit()
        assert reader.meta["source"] == "cluster:next"
    again.close()
    assert [file.name for file in tmp_path.iterdir()] == ["history.db"]
    with closing(Recording(path)) as reader:
        assert reader.meta["source"] == "cluster:next"


@pytest.mark.parametrize("text", ["not a database at all, but long enough to be one", ""])
def test_a_file_that_is_no_recording_is_refused(tmp_path, text):
    path = tmp_path / "x.db"
    path.write_text(text)
    with pytest.raises(InvalidSpecError, match=r"recording"):
        Recording(path)
    with pytest.raises(NotFoundError, match="cannot be read"):
        Recording(tmp_path / "none.db")
    with pytest.raises(InvalidSpecError, match="time"):
        kq.load(f"{path}@soon")


def test_the_command_records_and_stops(busy, tmp_path, capsys):
    busy.store.replay(events("racks")[:200])
    path = tmp_path / "h.db"
    for _ in range(100):  # a slow machine needs several runs; each continues the recording
        assert main(["record", "cluster:", "--out", str(path), "--stop-after", "1s"]) == 0
        assert "events written" in capsys.readouterr().out
        if len(read_events(path)) > 50:
            break
    assert Recording(path).meta["release"] == "v0.20-devel"
    assert len(read_events(path)) > 50
    assert not list(tmp_path.glob("*-lock"))
    assert main(["record", "file.yaml", "--out", str(path)]) == 2
    assert main(["record", "cluster:", "--out", "h.sqlite"]) == 1
