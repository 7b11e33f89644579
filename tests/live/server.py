"""An API server for tests: real HTTP on the loopback interface, from recorded answers or from a store of objects."""

from __future__ import annotations

import gzip
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from kueuepy.platform.apiserver.resources import RESOURCES

DATA = Path(__file__).parent / "data"
KUEUE = "/apis/kueue.x-k8s.io"
PLURALS = {resource.kind: resource.path("v1beta2" if "kueue" in resource.group else "") for resource in RESOURCES}
TOKEN = "a-secret-token"  # noqa: S105


def recorded():
    """The answers of a real API server, by name."""
    lines = gzip.decompress((DATA / "api.jsonl.gz").read_bytes()).splitlines()
    return {one["name"]: one for one in map(json.loads, lines)}


def events(name):
    """The watch events of a recorded history, by revision."""
    lines = gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes()).splitlines()
    return sorted(map(json.loads, lines), key=lambda event: int(event["object"]["metadata"]["resourceVersion"]))


class Answer:
    """An answer that is sent instead of the usual one."""

    def __init__(self, status, body, headers=None, *, torn=False, delay=0.0):
        self.status, self.body, self.headers = status, body if isinstance(body, bytes) else body.encode(), headers or {}
        self.torn, self.delay = torn, delay

    @classmethod
    def of(cls, one):
        """The recorded answer."""
        body = one["body"] if "body" in one else "".join(f"{line}\n" for line in one["lines"])
        return cls(one["status"], body, one["headers"])


class Store:
    """The objects of a cluster with one sequence of revisions, as etcd has."""

    def __init__(self):
        self.changed = threading.Condition()
        self.revision = 0
        self.compacted = 0
        self.objects = {}
        self.pages = {}
        self.log = []

    def write(self, kind, obj, *, deleted=False, revision=None):
        """Write or delete an object; the watches see it."""
        with self.changed:
            self.revision = revision or self.revision + 1
            obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.revision)}}
            place = (kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            what = "DELETED" if deleted else "MODIFIED" if place in self.objects else "ADDED"
            if deleted:
                self.objects.pop(place, None)
            else:
                self.objects[place] = obj
            self.log.append((self.revision, kind, what, obj))
            self.changed.notify_all()

    def replay(self, found):
        """Write recorded events under their own revisions."""
        for event in found:
            if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
                obj = event["object"]
                revision = int(obj["metadata"]["resourceVersion"])
                self.write(event["kind"], obj, deleted=event["type"] == "DELETED", revision=revision)

    def compact(self):
        """Forget the past: watches that begin before now are too old."""
        with self.changed:
            self.compacted = self.revision
            self.changed.notify_all()

    def last(self, kind):
        """The revision of the last event of a kind."""
        return max((revision for revision, own, *_ in self.log if own == kind), default=0)

    def listed(self, kind):
        return [obj for (own, *_), obj in sorted(self.objects.items(), key=lambda one: one[0]) if own == kind]


class ApiServer(ThreadingHTTPServer):
    """A server that answers GET requests only, and remembers every request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen = []
        self.answers = {}
        self.once = []
        self.store = None
        self.watch_seconds = 2.0
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def replay(self, *names):
        """Answer with recordings; later ones replace earlier ones of the same request."""
        known = recorded()
        for name in names or [name for name in known if name.startswith(("discovery-", "list-", "get-"))]:
            self.answers[_request(known[name]["path"])] = Answer.of(known[name])

    def kubeconfig(self, path):
        """Write a kubeconfig with the contexts `test` (the current one) and `other`."""
        cluster = {"name": "loopback", "cluster": {"server": self.url}}
        user = {"name": "reader", "user": {"token": TOKEN}}
        context = {"cluster": "loopback", "user": "reader"}
        found = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [cluster],
            "users": [user],
            "contexts": [
                {"name": "test", "context": context},
                {"name": "other", "context": {**context, "namespace": "ns-a"}},
            ],
            "current-context": "test",
        }
        path.write_text(json.dumps(found))
        return path

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """Say nothing: clients close connections."""


def _request(path):
    """A request without the selectors that recordings lack, as a path and its other parameters."""
    parts = urlsplit(path)
    ignored = {"fieldSelector"}
    return parts.path, tuple(sorted(pair for pair in parse_qsl(parts.query) if pair[0] not in ignored))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append(("GET", self.path))
        assert self.headers["Authorization"] == f"Bearer {TOKEN}"
        for pattern, answer in list(self.server.once):
            if pattern in self.path:
                self.server.once.remove((pattern, answer))
                self.send(answer)
                return
        path, parameters = _request(self.path)
        if answer := self.server.answers.get((path, parameters)):
            self.send(answer)
        elif self.server.store is not None:
            self.stored(path, dict(parameters))
        else:
            self.send(Answer(404, "404 page not found\n"))

    def refuse(self):
        self.server.seen.append((self.command, self.path))
        self.send(Answer(405, ""))

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = refuse  # noqa: N815

    def send(self, answer):
        time.sleep(answer.delay)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body[: len(answer.body) // 2] if answer.torn else answer.body)
        self.close_connection = answer.torn

    def stored(self, path, parameters):
        kind = next((kind for kind, own in PLURALS.items() if own == path), None)
        if kind is None:
            self.send(Answer(404, "404 page not found\n"))
        elif parameters.get("watch"):
            self.watch(kind, parameters)
        else:
            self.list(kind, parameters)

    def list(self, kind, parameters):
        store = self.server.store
        token = parameters.get("continue")
        limit = int(parameters.get("limit") or 10**9)
        if token:  # further pages show the objects as they were at the first page
            first, revision = map(int, token.split("-"))
            objects = store.pages[kind, revision]
        else:
            with store.changed:
                first, objects, revision = 0, store.listed(kind), store.revision
        metadata = {"resourceVersion": str(revision)}
        if first + limit < len(objects):
            metadata["continue"] = f"{first + limit}-{revision}"
            store.pages[kind, revision] = objects
        items = objects[first : first + limit]
        self.send(Answer(200, json.dumps({"kind": f"{kind}List", "metadata": metadata, "items": items})))

    def watch(self, kind, parameters):
        store = self.server.store
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        since = int(parameters["resourceVersion"])
        end = time.monotonic() + min(self.server.watch_seconds, float(parameters["timeoutSeconds"]))
        with suppress(OSError):
            if since < store.compacted:
                gone = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old"}
                self.line({"type": "ERROR", "object": gone})
            else:
                self.follow(kind, since, end)
            self.wfile.write(b"0\r\n\r\n")

    def follow(self, kind, since, end):
        store = self.server.store
        while True:
            with store.changed:
                found = [one for one in store.log if one[0] > since]
                now = store.revision
                if not found and not store.changed.wait(max(0.0, end - time.monotonic())):
                    bookmark = {"kind": kind, "metadata": {"resourceVersion": str(now)}}
                    self.line({"type": "BOOKMARK", "object": bookmark})
                    return
            for revision, own, what, obj in found:
                since = revision
                if own == kind:
                    self.line({"type": what, "object": {"kind": kind, **obj}})
            if time.monotonic() >= end:
                return

    def line(self, event):
        data = json.dumps(event).encode() + b"\n"
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, *args):
        """Write no log."""
