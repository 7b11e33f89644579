"""The example service, used by clients: admission, errors, and recovery after a kill."""

from __future__ import annotations

import importlib
import json
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from queue import SimpleQueue

import pytest

import kueuepy as kq
from kueuepy.platform.journal import Journal

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

PLATFORM = Path(__file__).parents[2] / "examples" / "platform"


@contextmanager
def platform(journal, largest_file=None, cluster=PLATFORM / "cluster.yaml", options=(), stderr=None):
    """A running service; how to call it, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, PLATFORM / "app.py", cluster, journal, "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=stderr)  # noqa: S603 - our own example
    if largest_file is not None:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file, largest_file))

    def call(method, path, body=None, **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
        given = {
            "content-type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, given, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - our own server
                text, status = answer.read().decode(), answer.status
        except urllib.error.HTTPError as refused:
            text, status = refused.read().decode(), refused.code
        return status, json.loads(text) if text[:1] == "{" else text

    call.port = port
    for _ in range(6000):
        assert process.poll() is None, "the service has ended by itself"
        try:
            call("GET", "/healthz")
            break
        except OSError:
            time.sleep(0.05)
    try:
        yield call, process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(300)


def job(name, cpu="8", **annotations):
    container = {"name": "main", "image": "train", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "lab",
            "uid": f"uid-{name}",
            "labels": {"kueue.x-k8s.io/queue-name": "training"},
            "annotations": annotations,
        },
        "spec": {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


def row(name, **more):
    return {"name": name, "namespace": "lab", "queue": "training", "cpu": 1, **more}


def conditions(call, key):
    status, workload = call("GET", f"/workloads/{key}")
    assert status == 200, workload
    return {one["type"]: one["status"] for one in workload.get("status", {}).get("conditions", ())}


def submit(call, *given, **more):
    status, answer = call("POST", "/jobs", job(*given, **more))
    assert status == 201, answer
    (key,) = answer["workloads"]
    return key


def gauge(call, name, queue="research"):
    """A number that the service tells Prometheus of a ClusterQueue, all statuses together."""
    text = call("GET", "/metrics")[1]
    found = re.findall(rf'^kueue_{name}{{cluster_queue="{queue}".*}} ([\d.]+)$', text, re.MULTILINE)
    assert found, f"there is no {name} of {queue}"
    return sum(map(float, found))


def test_a_client_submits_watches_and_finishes_jobs(tmp_path):
    with platform(tmp_path / "j.db") as (call, _):
        first = submit(call, "first", cpu="100")
        assert conditions(call, first)["Admitted"] == "True"  # borrows from the other queue
        second = submit(call, "second", cpu="40")
        assert conditions(call, second)["QuotaReserved"] == "False"
        status, waiting = call("GET", "/clusterqueues/research/pendingworkloads?limit=10")
        assert status == 200
        assert waiting["kind"] == "PendingWorkloadsSummary"
        names = [(one["metadata"]["name"], one["positionInClusterQueue"]) for one in waiting["items"]]
        assert names == [(second.partition("/")[2], 0)]
        assert call("GET", "/namespaces/lab/localqueues/training/pendingworkloads")[1]["items"] == waiting["items"]
        assert "cpu" in call("GET", f"/workloads/{second}/explain")[1]
        assert call("POST", f"/workloads/{first}/finish")[0] == 204
        assert conditions(call, second)["Admitted"] == "True"
        assert gauge(call, "admitted_workloads_total") == 2
        assert call("DELETE", f"/workloads/{second}")[0] == 204
        assert gauge(call, "admitted_active_workloads") == 0
        assert call("POST", "/jobs", row("train", cpu=8)) == (201, {"workloads": ["lab/train"], "remarks": []})
        assert conditions(call, "lab/train")["Admitted"] == "True"


def test_invalid_requests_get_an_error(tmp_path):
    with platform(tmp_path / "j.db") as (call, _):
        submit(call, "once")
        nowhere = call("POST", "/jobs", row("nowhere", queue="none"))
        remark = 'Workload "lab/nowhere": waits for LocalQueue lab/none, which does not exist'
        assert nowhere == (201, {"workloads": ["lab/nowhere"], "remarks": [remark]})
        misspelled = job("odd")
        misspelled["spec"]["parallelisms"] = 3
        _, answer = call("POST", "/jobs", misspelled)
        assert answer["remarks"][0].startswith(
            'Job "lab/odd": spec.parallelisms: unknown field; did you mean "parallel'
        )
        page = "/clusterqueues/research/pendingworkloads"
        patch = {"kind": "ClusterQueue", "metadata": {"name": "research-a"}, "spec": {"stopPolicy": "Hold"}}
        for method, path, body, error in (
            (
                "PATCH",
                "/objects",
                patch,
                'ClusterQueue "research-a": does not exist, and a new object needs apiVersion',
            ),
            ("GET", f"{page}?limit=-1", None, "limit: is -1; it must be a whole number, 0 or more"),
            ("GET", f"{page}?limits=1", None, "limits: is not a parameter; known are limit, offset"),
            ("POST", "/jobs", b"[]", "body: is an empty list; it must have at least one job"),
            ("POST", "/jobs", b'{"cpu": 1e400}', "body: is not valid JSON: 1e400 is not a number of JSON"),
            ("POST", "/jobs", b'{"cpu": 1,}', "body: is not valid JSON: "),
            ("POST", "/jobs", b"\xff", "body: is not valid JSON: "),
        ):
            assert call(method, path, body)[1]["error"].startswith(error)
        assert "line 1 column 11" in call("POST", "/jobs", b'{"cpu": 1,}')[1]["error"]
        for method, path, body, status in (
            ("GET", "/workloads/lab/nobody", None, 404),
            ("GET", "/clusterqueues/nowhere/pendingworkloads", None, 404),
            ("POST", "/jobs", {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "x"}}, 422),
            ("POST", "/jobs", job("once", cpu="9"), 409),
            ("GET", "/clusterqueues/research/pendingworkloads?limit=many", None, 400),
        ):
            found, answer = call(method, path, body)
            assert found == status, answer
            assert answer["error"]


def test_a_repeated_request_gets_the_same_answer(tmp_path):
    with platform(tmp_path / "j.db") as (call, _):
        first = call("POST", "/jobs", job("once"))
        assert first[0] == 201
        assert call("POST", "/jobs", job("once")) == (200, first[1])
        assert call("POST", f"/workloads/{first[1]['workloads'][0]}/finish")[0] == 204
        assert call("POST", "/jobs", job("once")) == (200, first[1])
        status, answer = call("POST", "/jobs", job("once", cpu="9"))
        assert status == 409
        assert 'requests.cpu is "8", not "9"' in answer["error"]
        assert answer["existing"]["metadata"]["name"] == first[1]["workloads"][0].partition("/")[2]


def test_probes_and_the_description_of_the_api(tmp_path):
    with platform(tmp_path / "j.db") as (call, _):
        assert call("GET", "/healthz") == call("GET", "/readyz") == (200, "ok")
        status, described = call("GET", "/openapi.json")
        assert (status, described["openapi"]) == (200, "3.1.0")
        assert described["paths"]["/jobs"]["post"]["summary"].startswith("Submit jobs")
        assert described["paths"]["/workloads/{namespace}/{name}"]["get"]["parameters"][0]["name"] == "namespace"
        bodies = [
            described["paths"][path][verb]["requestBody"] for path, verb in (("/jobs", "post"), ("/objects", "patch"))
        ]
        jobs, objects = (body["content"]["application/json"]["schema"]["oneOf"] for body in bodies)
        assert (jobs[1], objects[1]["items"]) == ({"type": "array", "items": jobs[0]}, objects[0])
        assert "metadata" in objects[0]["required"]
        page = described["paths"]["/clusterqueues/{queue}/pendingworkloads"]["get"]["parameters"]
        assert [one["name"] for one in page if one["in"] == "query"] == ["limit", "offset"]
        names = [one["operationId"] for path in described["paths"].values() for one in path.values()]
        assert len(set(names)) == len(names) == 13


def test_a_standby_takes_over(tmp_path):
    with platform(tmp_path / "j.db") as (call, process):
        key = submit(call, "first")
        with ThreadPoolExecutor(1) as waiting:
            standby = platform(tmp_path / "j.db", options=("--wait", "365d"))
            taken = waiting.submit(standby.__enter__)
            time.sleep(0.5)
            assert not taken.done()
            process.kill()
            taker, _ = taken.result(300)
        assert conditions(taker, key)["Admitted"] == "True"
        standby.__exit__(None, None, None)


def test_logs_and_a_client_that_leaves(tmp_path):
    with (
        (tmp_path / "log").open("w") as log,
        platform(tmp_path / "j.db", options=("--log", "debug"), stderr=log) as (call, process),
    ):
        key = submit(call, "first")
        with socket.create_connection(("127.0.0.1", call.port)) as client:
            client.sendall(b"POST /jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n")
            client.sendall(b"content-length: 999\r\n\r\n{")
        time.sleep(0.5)
        assert call("GET", "/healthz")[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 0
    assert not (tmp_path / "j.db-wal").exists()
    lines = (tmp_path / "log").read_text().splitlines()
    assert not any("Traceback" in line for line in lines)
    assert sum("a client has left" in line for line in lines) == 1
    made = [json.loads(line.split(" ", 2)[2]) for line in lines if line.startswith("INFO platform.decisions")]
    assert [(one["who"], one["what"]) for one in made] == [
        (key, what) for what in ("Created", "QuotaReserved", "Admitted")
    ]
    used = [json.loads(line.split(" ", 2)[2]) for line in lines if line.startswith("INFO platform.access")]
    assert {"who": "127.0.0.1", "what": "POST /jobs", "status": 201, "took_ms": used[1]["took_ms"]} in used


def test_events_are_pushed(tmp_path):
    with platform(tmp_path / "j.db") as (call, _):
        stream = urllib.request.urlopen(f"http://127.0.0.1:{call.port}/events", timeout=300)
        with stream:
            key = submit(call, "first")
            events = [json.loads(stream.readline()) for _ in range(3)]
        assert [(one["who"], one["what"]) for one in events] == [
            (key, what) for what in ("Created", "QuotaReserved", "Admitted")
        ]


def test_the_end_of_the_service_ends_the_streams(tmp_path):
    with (tmp_path / "log").open("w") as log, platform(tmp_path / "j.db", stderr=log) as (call, process):
        with urllib.request.urlopen(f"http://127.0.0.1:{call.port}/events", timeout=300) as stream:
            process.send_signal(signal.SIGTERM)
            assert stream.read() == b""
        process.wait(300)
    assert (tmp_path / "log").read_text() == ""


def test_requests_of_foreign_origins_and_hosts_are_rejected(tmp_path):
    deep = b"[" * 100_000 + b"]" * 100_000
    large = json.dumps([row(f"j{i}", note="x" * 9000) for i in range(400)]).encode()
    with platform(tmp_path / "j.db") as (call, _):
        for body, headers, status in (
            (row("a"), {"content_type": "text/plain"}, 415),
            (row("a"), {"origin": "https://example.com"}, 403),
            (row("a"), {"origin": "null"}, 403),
            (row("a"), {"host": "example.com"}, 400),
            (large, {}, 413),
            ([row(f"j{i}") for i in range(501)], {}, 413),
            (deep, {}, 400),
            (b'{"a":' * 900 + b"1" + b"}" * 900, {}, 422),
            (b"{", {}, 400),
            (b"\xff", {}, 400),
            (b'{"name": "a", "namespace": "lab", "queue": "training", "cpu": NaN}', {}, 400),
        ):
            assert call("POST", "/jobs", body, **headers)[0] == status, (headers, str(body)[:80])
        assert call("GET", "/workloads/lab/a")[0] == 404
        assert call("POST", "/jobs", row("a"), origin="http://localhost", host="localhost")[0] == 201
        assert call("DELETE", "/workloads/lab/a", origin="https://example.com")[0] == 403


@pytest.mark.long  # counts answers within the time of others
def test_long_requests_delay_other_requests_only_briefly(tmp_path):
    with platform(tmp_path / "j.db") as (call, _), ThreadPoolExecutor(13) as clients:
        posts = [clients.submit(call, "POST", "/jobs", [row(f"j{post}-{i}") for i in range(500)]) for post in range(12)]
        waited = []
        while not all(post.done() for post in posts):
            started = time.monotonic()
            assert call("GET", "/healthz")[0] == 200
            waited.append(time.monotonic() - started)
        assert {post.result()[0] for post in posts} == {201}
        # Each is answered behind one long post at most, and the one before that: not behind all twelve.
        assert len(waited) >= 5
        assert gauge(call, "admitted_active_workloads") == 128


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(PLATFORM))
    module = importlib.import_module("desk")
    with Journal(tmp_path / "j.db", durability="process") as journal:
        scheduler = journal.scheduler(kq.load(PLATFORM / "cluster.yaml"), clock="system")
        made = module.Desk(journal, scheduler)
        with made.open():
            yield made


def test_a_disconnecting_client_does_not_stop_the_service(desk):
    began, gate, done = threading.Event(), threading.Event(), []
    first = desk.ask(lambda _: (began.set(), gate.wait(300)))
    assert began.wait(300)
    gone = [desk.ask(lambda _, i=i: done.append(i), long=i % 2 == 1) for i in range(4)]
    assert all(one.cancel() for one in gone)
    assert not first.cancel()
    gate.set()
    assert desk.ask(lambda scheduler: len(scheduler.keys())).result(300) == 0
    assert first.result(300)
    assert done == []


def test_jumps_of_the_wall_clock_have_no_effect(desk, monkeypatch):
    now = time.time
    before = desk.ask(lambda scheduler: scheduler.now).result(300)
    monkeypatch.setattr(time, "time", lambda: now() + 10**8)
    ahead = desk.ask(lambda scheduler: scheduler.now).result(300)
    monkeypatch.setattr(time, "time", now)
    time.sleep(0.05)
    desk.ask(lambda _: None).result(300)
    after = desk.ask(lambda scheduler: scheduler.now).result(300)
    assert before <= ahead < after < before + 10**6


@pytest.mark.long
def test_a_killed_service_restores_every_acknowledged_call(tmp_path):
    acknowledged = {}

    def client(call, name, told):
        """Submits until the service is gone, and tells what it saw."""
        with suppress(OSError, HTTPException):
            for i in range(1000):
                key = submit(call, f"{name}-{i}", cpu="2")
                told.put((key, conditions(call, key)))

    for life, enough in enumerate((1, 30, 80)):
        told = SimpleQueue()
        with platform(tmp_path / "j.db") as (call, process), ThreadPoolExecutor(4) as clients:
            running = [clients.submit(client, call, f"j{life}-{number}", told) for number in range(4)]
            for _ in range(enough):
                key, known = told.get(timeout=300)
                acknowledged[key] = known
            process.kill()
            for one in running:
                one.result()
        while not told.empty():
            key, known = told.get()
            acknowledged[key] = known
        with platform(tmp_path / "j.db") as (call, _):
            assert {key: conditions(call, key) for key in acknowledged} == acknowledged
    assert len(acknowledged) > 100
    with platform(tmp_path / "j.db") as (call, _):
        # 128 CPU, 2 for each; some may be there whose client never heard of it.
        assert gauge(call, "admitted_active_workloads") == 64
        assert len(acknowledged) - 64 <= gauge(call, "pending_workloads") <= len(acknowledged) - 64 + 4 * 3


def test_with_a_full_disk_only_questions_are_answered(tmp_path):
    with platform(tmp_path / "j.db", largest_file=300_000) as (call, _):
        known = submit(call, "known")
        before = conditions(call, known)
        for i in range(1000):
            status, answer = call("POST", "/jobs", job(f"large-{i}", note="x" * 5000))
            if status != 201:
                break
        assert status == 503
        assert "cannot be written" in answer["error"]
        assert call("GET", "/readyz")[0] == 503
        assert call("GET", "/healthz")[0] == 200  # a restart would not help
        assert conditions(call, known) == before
        assert gauge(call, "reserving_active_workloads") > 0
        assert call("POST", f"/workloads/{known}/finish")[0] == 503
    with platform(tmp_path / "j.db") as (call, _):
        assert conditions(call, known) == before
        assert call("POST", f"/workloads/{known}/finish")[0] == 204


def test_a_quota_changes_while_it_runs_and_at_a_restart(tmp_path):
    journal, cluster = tmp_path / "journal", tmp_path / "cluster.yaml"
    cluster.write_text((PLATFORM / "cluster.yaml").read_text())
    large = {"name": "large", "namespace": "lab", "queue": "training", "cpu": 200}

    def quota(cpu):
        flavors = [{"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]
        spec = {"resourceGroups": [{"flavors": flavors}]}
        return {"kind": "ClusterQueue", "metadata": {"name": "research"}, "spec": spec}

    def admitted(call):
        _, found = call("GET", "/workloads/lab/large")
        return any(c["type"] == "Admitted" and c["status"] == "True" for c in found["status"]["conditions"])

    with platform(journal, cluster=cluster) as (call, _):
        assert call("POST", "/jobs", large)[0] == 201
        assert not admitted(call)
        assert call("PATCH", "/objects", quota(-1))[0] == 422
        assert call("PATCH", "/objects", large)[0] == 422
        assert call("PATCH", "/objects", quota(400))[0] == 204
        assert admitted(call)
    command = [sys.executable, PLATFORM / "app.py", cluster, journal, "--port", "0"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603
    assert refused.returncode == 1
    assert 'ClusterQueue "research"; --on-change apply makes them' in refused.stderr
    for choice, wanted in (("keep", "400"), ("apply", "64")):
        with platform(journal, cluster=cluster, options=("--on-change", choice)):
            pass
        with Journal(journal) as kept:
            queue = kept.scheduler().cluster.get(kq.ClusterQueue, "research")
            assert str(queue.resource_groups[0].flavors[0].resources[0].nominal_quota) == wanted
