"""The served page follows its source, and only its user can request it."""

import http.client
import json
import shutil
import threading

import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.look.serving import Request, Server
from kueuepy.platform.history import Recording
from kueuepy.platform.site import FixedFeed, PageSite, RecordingFeed, SchedulerFeed
from pages.conftest import WEEK

MANIFEST = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: %d}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team, namespace: default}
spec: {clusterQueue: team}
"""


def scheduler_of(quota=4, jobs=3):
    found = kq.Scheduler(kq.load(MANIFEST % quota))
    found.submit(*({"name": f"job-{n}", "queue": "team", "cpu": 2} for n in range(jobs)))
    found.settle()
    return found


class Source:
    """A source of Schedulers that counts its readings."""

    def __init__(self):
        self.count, self.quota, self.stamp, self.fault = 0, 4, 0, None

    def read(self):
        self.count += 1
        if self.fault:
            raise kq.errors.ApiError(self.fault)
        return scheduler_of(self.quota), ("a note",)

    def feed(self):
        return SchedulerFeed(self.read, lambda: self.stamp, title="Team", source="cluster:")


@pytest.fixture
def source():
    return Source()


@pytest.fixture
def server(source):
    with Server(PageSite(source.feed(), every=0.0)) as serving:
        yield serving


def asked(server, path="", method="GET", host=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
    _, _, _, token, _ = server.url.split("/")
    target = path if path.startswith("/") else f"/{token}/{path}"
    sent = {"Host": host or f"127.0.0.1:{server.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection.request(method, target, headers=sent)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def test_the_page_may_connect_to_its_server_only(server):
    status, headers, body = asked(server)
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert b'"source":"cluster:"' in body


def test_requests_without_the_token_or_with_another_host_are_refused(server):
    for path in ("/", "/data", "/explain?name=x&t=0", "/" + "x" * 32 + "/data"):
        assert asked(server, path)[0] == 404
    for path in ("", "data", "explain?name=default/job-0&t=0"):
        assert asked(server, path, host="evil.example")[0] == 403
        assert asked(server, path, Origin="http://evil.example")[0] == 403
        assert asked(server, path, method="DELETE")[0] == 501
    assert asked(server, "data", method="POST", Content_Length="0")[0] == 404
    assert asked(server, "page.html")[0] == 404


def test_the_data_follow_the_source(server, source):
    status, headers, body = asked(server, "data")
    assert status == 200
    assert json.loads(body)["notes"] == ["a note"]
    tag = headers["ETag"]
    assert asked(server, "data", If_None_Match=tag)[0] == 304
    source.quota, source.stamp = 8, 1
    status, headers, body = asked(server, "data", If_None_Match=tag)
    assert status == 200
    assert headers["ETag"] != tag
    assert json.loads(body)["nominal"][0]["v"] == [8000]


def test_an_unchanged_source_is_not_read_again(server, source):
    for _ in range(5):
        asked(server, "data")
    assert source.count == 1
    source.stamp = None  # a cluster: only reading it shows a change
    asked(server, "data")
    asked(server, "data")
    assert source.count == 3


def test_a_source_is_read_at_most_once_in_the_interval(source):
    source.stamp = None
    with Server(PageSite(source.feed(), every=3600)) as serving:
        for _ in range(5):
            assert asked(serving, "data")[0] == 200
    assert source.count == 1


def test_an_error_of_the_source_is_shown_and_forgotten_when_it_ends(server, source):
    source.fault, source.stamp = "the API server does not answer", 1
    assert json.loads(asked(server, "data")[2]) == {"error": "the API server does not answer"}
    assert asked(server)[0] == 200  # the last known state
    source.fault = None
    assert "error" not in json.loads(asked(server, "data")[2])


def test_every_workload_is_explained_on_request(server):
    status, _, body = asked(server, "explain?name=default%2Fjob-2&t=0")
    found, wanted = json.loads(body), scheduler_of().explain("job-2")
    assert status == 200
    assert (found["headline"], found["message"]) == (wanted.headline, wanted.message)
    assert [found["texts"][index][0] for index in found["causes"]] == [cause.text for cause in wanted.causes]
    assert "none" in json.loads(asked(server, "explain?name=default%2Fnone&t=0")[2])["error"]


@pytest.mark.parametrize(
    "query", ["", "name=default%2Fjob-2&t=nan", "t=0", "name=x&t=inf", "name=x&t=1_0", "name=x&t=%D9%A3"]
)
def test_invalid_questions_are_refused(server, query):
    assert asked(server, f"explain?{query}")[0] == 400


def test_a_recording_is_explained_at_every_moment(recording):
    found = Recording(recording)
    feed = RecordingFeed(found)
    site = PageSite(feed)
    data = json.loads(site(Request("data", {})).body)
    pending = [
        (data["workloads"]["name"][place], data["events"]["t"][row])
        for place in range(len(data["workloads"]["name"]))
        for row in range(data["events"]["first"][place], data["events"]["first"][place + 1])
        if data["events"]["state"][row] == 1
    ]
    name, time = pending[len(pending) // 2]
    about = json.loads(site(Request("explain", {"name": name, "t": str(time)})).body)
    assert about["headline"].startswith(f"{name} is pending")


def test_a_recording_that_grows_is_read_again(recording, tmp_path):
    path = tmp_path / "history.db"
    shutil.copy(recording, path)
    feed = RecordingFeed(Recording(path))
    before = feed.stamp()
    assert before == feed.stamp() == Recording(path).end


def test_a_saved_result_is_served_without_questions(week):
    data = week.page().data
    site = PageSite(FixedFeed(data))
    assert not data.asks
    assert "connect-src 'none'" in site(Request("", {})).policy


# --- the commands


@pytest.fixture
def files(tmp_path):
    (tmp_path / "cluster.yaml").write_text(MANIFEST % 4)
    (tmp_path / "jobs.csv").write_text("name,queue,cpu\n" + "".join(f"job-{n},team,2\n" for n in range(3)))
    return [str(tmp_path / "cluster.yaml"), str(tmp_path / "jobs.csv")]


def test_the_command_page_writes_a_page_of_files(files, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main(["page", *files, "-o", str(out), "--title", "Team"]) == 0
    assert capsys.readouterr().out == f"{out}: 3 workloads, 0.1 MB\n"
    text = out.read_text()
    assert "insufficient unused quota for cpu" in text
    assert f"kueuepy explain {{name}} {files[0]}" in text


def test_the_command_page_writes_pages_of_results_and_recordings(week, recording, tmp_path):
    out = tmp_path / "page.html"
    week.save(tmp_path / "run")
    assert main(["page", str(tmp_path / "run"), "-o", str(out)]) == 0
    assert '"kind":"result"' in out.read_text()
    assert main(["page", str(recording), "-o", str(out)]) == 0
    assert '"kind":"recording"' in out.read_text()
    assert main(["page", f"{recording}@2027-01-01T00:00Z", "-o", str(out)]) == 0
    assert '"kind":"state"' in out.read_text()


def test_errors_name_the_source(tmp_path, capsys):
    assert main(["page", str(tmp_path / "none.yaml"), "-o", str(tmp_path / "x.html")]) == 1
    assert "none.yaml" in capsys.readouterr().err
    assert main(["serve", "-"]) == 1
    assert "standard input" in capsys.readouterr().err


def test_the_command_serve_prints_an_address_that_follows_the_files(files, monkeypatch, capsys):
    seen = {}

    def serve(server):
        """Two requests with a change between them, then Ctrl-C."""
        for turn in range(2):
            thread = threading.Thread(target=server._server.handle_request)
            thread.start()
            seen[turn] = json.loads(asked(server, "data")[2])["nominal"][0]["v"]
            thread.join()
            path = files[0]
            with open(path, "w") as stream:  # noqa: PTH123 - as an editor does
                stream.write(MANIFEST % 16)
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve", serve)
    monkeypatch.setattr("kueuepy.cli.page.PageSite", lambda feed, _: PageSite(feed, 0.0))
    assert main(["serve", *files, "--no-browser"]) == 0
    assert "http://127.0.0.1:" in capsys.readouterr().out
    assert seen == {0: [4000], 1: [16000]}


def test_pages_of_live_clusters_and_objects_in_python(tmp_path):
    cluster = kq.load(WEEK / "teams.yaml")
    assert [node.name for node in kq.page(cluster).data.nodes] == ["all", "robots", "speech", "vision"]
    assert kq.page(WEEK / "teams.yaml", tmp_path / "page.html").data.kind == "state"
