"""The playground: its answers equal those of `simulate`, and only its user can request them."""

import hashlib
import http.client
import json
import re
import socket
import struct
import sys
import threading
from base64 import b64encode
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.cluster.patch import Existing, patched
from kueuepy.lab import play
from kueuepy.lab.play import Playground, Server, answers
from kueuepy.look import serving as http_serving
from kueuepy.look.colours import colour_of
from kueuepy.manifest.text.reading import read
from kueuepy.simulation.pictures.catalogue import colours

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # warnings of runs are read from their results
LOGS = Path(__file__).parents[2] / "examples" / "logs"
WEEK = Path(__file__).parents[2] / "examples" / "week"
GPU = "nvidia.com/gpu"
CELL = f"h100/{GPU}"


def path_of(queue, field, cell=CELL):
    return f"ClusterQueue/{queue}:quota[{cell}].{field}"


@pytest.fixture(scope="module")
def week():
    return kq.load(WEEK / "teams.yaml"), kq.Jobs.read(WEEK / "jobs.csv")


@pytest.fixture(scope="module")
def playground(week):
    return Playground(*week)


CHANGES = [
    {},
    {path_of("vision", "nominalQuota"): 2},
    {path_of("vision", "borrowingLimit"): 0, path_of("speech", "lendingLimit"): 3},
    {path_of("robots", "nominalQuota"): 0, path_of("robots", "borrowingLimit"): 5},
]


@pytest.mark.parametrize("values", CHANGES)
def test_answers_equal_the_results_of_simulate(week, playground, values):
    cluster, jobs = week
    for path, value in values.items():
        cluster = cluster.edit(path, value)
    result = kq.simulate(cluster, jobs)
    found = playground.answer(values)
    told = {figure["name"]: figure["value"] for figure in found["figures"]}
    assert told["wait_p95"] == result.kpis.wait_p95
    assert told["evictions"] == result.kpis.evictions
    assert told[f"utilisation {CELL}"] == result.kpis.utilisation[CELL]
    assert [row["wait_mean"] for row in found["queues"]] == result.queues["wait_mean"].tolist()
    assert playground.cluster(values) == cluster
    # The chart shows the recorded usage.
    hours = sum(sum(row["used"]) for row in found["series"]["rows"]) * found["series"]["step"] / 3600
    assert hours == pytest.approx(result.kpis.used_hours[CELL], rel=0.02)
    json.dumps(found, allow_nan=False)


@pytest.fixture(scope="module")
def philly():
    """Two weeks of a cluster of 12 queues, too long for one partial answer."""
    jobs = kq.Jobs.read(LOGS / "philly.csv.gz", format="philly")
    return kq.sim.cluster_of(jobs, cohort="all", flavor="h100"), jobs


def test_a_long_run_is_answered_in_parts(philly, monkeypatch):
    """What holds of the 50 ms without a clock: the first part stops at its time, and nothing is done twice."""
    playground = Playground(*philly)
    whole = playground.answer({})
    monkeypatch.setattr(answers, "_SOON", 0.0)  # each part ends at the next clock check
    found = [playground.part({}, part) for part in range(4)]
    assert [one["more"] for one in found] == [True, True, True, False]
    seconds = [one["seconds"] for one in found]
    assert 0 < seconds[0] < seconds[1] < seconds[2] < seconds[3] == whole["seconds"]
    assert seconds[0] < whole["seconds"] / 20
    assert {**found[3], "ms": 0} == {**whole, "ms": 0}
    # The chart of a part equals this part of the final chart.
    rows = {(row["queue"], row["pair"]): row for row in whole["series"]["rows"]}
    for one in found[:3]:
        series = one["series"]
        assert (series["step"], series["all"]) == (whole["series"]["step"], whole["series"]["all"])
        over = int(one["seconds"] // series["step"])
        assert series["points"] <= over + 1
        for row in series["rows"]:
            assert row["used"][:over] == rows[row["queue"], row["pair"]]["used"][:over]
    assert len(json.dumps(whole)) < 64 * 1024


def test_a_partial_answer_continues_only_with_the_same_values(philly, monkeypatch):
    playground = Playground(*philly)
    first, second = [knob for knob in playground.knobs if knob.what == "nominalQuota"][:2]
    monkeypatch.setattr(answers, "_SOON", 0.0)
    asked = {first.path: 1}
    playground.part(asked, 0)
    other = {second.path: 2}
    begun = playground.part(other, 1)  # a run of its own, from its start on
    assert begun["seconds"] == Playground(*philly).part(other, 0)["seconds"]
    assert playground.part(asked, 9)["more"] is False
    told = {figure["name"]: figure["value"] for figure in playground.part(asked, 3)["figures"]}
    assert told["wait_p95"] == kq.simulate(philly[0].edit(first.path, 1), philly[1]).kpis.wait_p95


@pytest.mark.parametrize("part", [-1, 1.5, True, "0", None])
def test_an_unknown_part_is_reported(playground, part):
    assert "part" in playground.reply({"values": {}, "part": part})["error"]
    assert "part" not in playground.reply({"values": {}})


def test_sliders_show_the_values_of_the_manifests(playground):
    knobs = {(knob.owner, knob.what): knob for knob in playground.knobs}
    assert knobs["vision", "nominalQuota"].value == 8
    assert knobs["vision", "borrowingLimit"].value is None
    assert knobs["robots", "nominalQuota"].most == 40
    assert len(knobs) == 9


def test_amounts_keep_their_units_and_fair_sharing_adds_weights():
    quotas = {"f": {"cpu": kq.Quota("1500m", 1), "memory": kq.Quota("64Gi", None, "32Gi")}}
    queues = [kq.ClusterQueue.of(name, quotas, cohort_name="all") for name in "ab"]
    cluster = kq.Cluster(
        kq.ResourceFlavor("f"), queues, configuration=kq.Configuration(fair_sharing=kq.FairSharingConfig())
    )
    jobs = [{"queue": "a", "submit": 0, "runtime": 60, "cpu": 1, "memory": "1Gi"}]
    played = Playground(cluster, jobs)
    knobs = {(knob.owner, knob.what, knob.pair): knob for knob in played.knobs}
    cpu, memory = knobs["a", "nominalQuota", "f/cpu"], knobs["a", "lendingLimit", "f/memory"]
    assert (cpu.value, cpu.suffix) == (1500, "m")
    assert (memory.value, memory.suffix) == (32, "Gi")
    weight = knobs["b", "weight", ""]
    changed = played.cluster({cpu.path: 2500, memory.path: None, weight.path: 2.5})
    (a, b) = changed.cluster_queues
    assert str(a.resource_groups[0].flavors[0].resources[0].nominal_quota) == "2500m"
    assert a.resource_groups[0].flavors[0].resources[1].lending_limit is None
    assert str(b.fair_sharing.weight) in ("2500m", "2.5")
    assert [node["depth"] for node in played.answer({})["tree"]] == [0, 1, 1]


@pytest.mark.parametrize(
    "values",
    [
        {"ClusterQueue/vision:stopPolicy": "Hold"},
        {path_of("vision", "nominalQuota"): None},
        {path_of("vision", "nominalQuota"): -1},
        {path_of("vision", "nominalQuota"): "8"},
        {path_of("vision", "nominalQuota"): True},
        {path_of("vision", "nominalQuota"): 10**9},
        {path_of("vision", "nominalQuota"): float("nan")},
    ],
)
def test_only_sliders_change_anything(playground, values):
    with pytest.raises(kq.errors.InvalidSpecError, match="play"):
        playground.answer(values)


def test_slider_values_are_used_exactly():
    quotas = {"f": {"cpu": 4, "memory": "64Gi", GPU: 8}}
    played = Playground(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", quotas)), [])
    cpu, memory, gpu = (path_of("q", "nominalQuota", f"f/{name}") for name in ("cpu", "memory", GPU))

    def quota(path, value):
        resources = played.cluster({path: value}).cluster_queues[0].resource_groups[0].flavors[0].resources
        return {f"f/{one.name}": str(one.nominal_quota) for one in resources}[path.partition("[")[2].partition("]")[0]]

    assert [kq.Quantity(quota(cpu, value)) for value in (2.7, 0.5, 0.001, 3.0)] == [
        kq.Quantity(text) for text in ("2700m", "500m", "1m", "3")
    ]
    assert kq.Quantity(quota(memory, 1.5)) == kq.Quantity("1536Mi")
    for path, value in ((cpu, 0.0005), (gpu, 2.5)):
        with pytest.raises(kq.errors.InvalidSpecError, match="Kueue counts"):
            played.cluster({path: value})


def test_colours_are_those_of_the_report_and_stay_when_a_slider_moves(week, playground):
    wanted = {name: colour_of(place) for name, place in colours(kq.simulate(*week)).items()}
    for values in CHANGES:
        tree = playground.answer(values)["tree"]
        assert {node["name"]: node["colour"] for node in tree if node["kind"] == "ClusterQueue"} == wanted


def test_patches_keep_units_and_name_removed_limits():
    quotas = {"f": {"cpu": kq.Quota("1500m", 1), "memory": kq.Quota("64Gi", None, "32Gi")}}
    queues = [kq.ClusterQueue.of(name, quotas, cohort_name="all") for name in "ab"]
    cluster = kq.Cluster(
        kq.ResourceFlavor("f"), queues, configuration=kq.Configuration(fair_sharing=kq.FairSharingConfig())
    )
    played = Playground(cluster, [{"queue": "a", "submit": 0, "runtime": 60, "cpu": 1, "memory": "1Gi"}])
    knobs = {(knob.owner, knob.what, knob.pair): knob.path for knob in played.knobs}
    values = {
        knobs["a", "nominalQuota", "f/cpu"]: 2500,
        knobs["a", "lendingLimit", "f/memory"]: None,
        knobs["b", "weight", ""]: 2.5,
    }
    wanted = played.cluster(values)
    text = played.patch(values)
    docs = [item.value for item in read("patch", text.encode(), kq.manifest.Limits(), strict=True)]
    assert [doc["metadata"]["name"] for doc in docs] == ["a", "b"]
    assert [patched(Existing.of(cluster.objects()), doc).object for doc in docs] == list(wanted.cluster_queues)
    assert "lendingLimit: null" in text
    assert played.patch({}) == ""


# --- the server


@pytest.fixture(scope="module")
def server(playground):
    with Server(playground) as serving:
        yield serving


def asked(server, method="GET", path="", body=None, host=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
    _, _, _, token, _ = server.url.split("/")
    target = path if path.startswith("/") else f"/{token}/{path}"
    sent = {"Host": host or f"127.0.0.1:{server.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection.request(method, target, body, sent)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def hash_of(text):
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_page_is_complete_and_loads_no_external_resources(server):
    status, headers, body = asked(server)
    page = body.decode()
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "connect-src 'self'" in policy
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert f"script-src {hash_of(script)};" in policy
    assert f"style-src {hash_of(style)};" in policy
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
    assert headers["Referrer-Policy"] == "no-referrer"
    assert asked(server)[2] == body


def test_the_server_answers_like_the_playground(server, playground):
    values = {path_of("vision", "nominalQuota"): 3}
    status, headers, body = asked(server, "POST", "answer", json.dumps({"values": values, "part": 3}))
    assert (status, headers["Content-Type"]) == (200, "application/json")
    found, wanted = json.loads(body), playground.answer(values)
    assert {**found, "ms": 0} == {**json.loads(json.dumps(wanted)), "ms": 0}
    error = json.loads(asked(server, "POST", "answer", json.dumps({"values": {"x": 1}}))[2])
    assert "is not the path of a slider" in error["error"]


def test_requests_without_the_token_are_rejected(server):
    for path in ("/", "/answer", "/index.html", "/" + "x" * 32 + "/", "/../../etc/passwd", "/%c3%a9"):
        assert asked(server, path=path)[0] == 404
    assert asked(server, "POST", "/answer", "{}")[0] == 404
    assert asked(server, path="page.html")[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", "[::1]:80"])
def test_another_host_name_is_rejected(server, host):
    """Like DNS rebinding by a foreign page."""
    assert asked(server, host=host)[0] == 403
    assert asked(server, "POST", "answer", '{"values": {}}', host=host)[0] == 403


def test_another_origin_is_rejected(server):
    assert asked(server, "POST", "answer", '{"values": {}}', Origin="http://evil.example")[0] == 403
    assert asked(server, "POST", "answer", '{"values": {}}', Origin=f"http://localhost:{server.port}")[0] == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_other_http_methods_are_rejected(server, method):
    assert asked(server, method)[0] in (405, 501)


@pytest.mark.parametrize("body", ["", "{", "[]", '{"values": []}', "null", "[" * 100_000, '{"values": NaN}'])
def test_invalid_requests_are_rejected(server, body):
    assert asked(server, "POST", "answer", body)[0] == 400


def test_too_long_requests_are_rejected(server):
    assert asked(server, "POST", "answer", "x", Content_Length=str(10**9))[0] == 413
    assert asked(server, "POST", "answer", "x", Content_Length="-1")[0] == 413


@pytest.mark.parametrize("length", ["9" * 5000, "0" * 5000 + "1", "1e3", "0x1", "", " ", "+1"])
def test_an_invalid_content_length_is_rejected_without_a_traceback(server, capfd, length):
    assert asked(server, "POST", "answer", "x", Content_Length=length)[0] in (400, 413)
    assert capfd.readouterr() == ("", "")


def threads():
    return sum(thread.name.startswith("Thread") and thread.is_alive() for thread in threading.enumerate())


def test_connections_without_the_token_are_limited_and_do_not_block_the_user(playground):
    before = threads()
    strangers = []
    with Server(playground) as serving:
        for _ in range(5 * http_serving._MOST):
            strangers.append(socket.create_connection(("127.0.0.1", serving.port)))
            strangers[-1].sendall(b"GET / HT")
        assert asked(serving)[0] == 200
        assert threads() - before <= http_serving._MOST
    for stranger in strangers:
        stranger.close()


def test_a_connection_with_the_token_is_not_replaced(playground, monkeypatch):
    monkeypatch.setattr(http_serving, "_MOST", 2)
    monkeypatch.setattr(http_serving, "_ROOM", 0.05)
    with Server(playground) as serving:
        _, _, _, token, _ = serving.url.split("/")
        users = [http.client.HTTPConnection("127.0.0.1", serving.port, timeout=300) for _ in range(2)]
        for user in users:
            user.request("GET", f"/{token}/")
            assert user.getresponse().read()
        with pytest.raises((OSError, http.client.HTTPException)):
            asked(serving)
        for user in users:
            user.request("GET", f"/{token}/")
            assert user.getresponse().read()
            user.close()


def test_an_early_disconnect_causes_no_traceback(server, capfd):
    for sent in (b"", b"GET", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port)) as stranger:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends by a reset
            stranger.sendall(sent)
    assert asked(server)[0] == 200
    assert capfd.readouterr().err == ""


def test_the_server_listens_only_on_loopback_and_stops(playground):
    serving = Server(playground)
    assert serving._server.server_address[0] == "127.0.0.1"
    serving.start()
    assert asked(serving)[0] == 200
    serving.close()
    with pytest.raises(OSError, match="refused"):
        asked(serving)


def test_a_name_cannot_close_the_script_element():
    """Names of objects come from manifests; the server's page has them within a script."""
    queue = kq.ClusterQueue.of("q", {"f": {"example.com/x": 1}})
    played = Playground(kq.Cluster(kq.ResourceFlavor("f"), queue), [{"queue": "q", "submit": 0, "runtime": 1}])
    played.knobs = (played.knobs[0]._replace(owner="</script><script>alert(1)</script>"),)
    with Server(played) as serving:
        page = asked(serving)[2].decode()
    assert "<script>alert" not in page
    assert "\\u003c/script>" in page


# --- the widget


@pytest.fixture
def widget(week):
    pytest.importorskip("anywidget")
    made = play.widget(*week)
    yield made
    made.close()


def sent_by(widget):
    """Return the messages to the browser from now on."""
    sent = []
    widget.comm.send = lambda data=None, **_: sent.append(data["state"])
    return sent


def ask(widget, values, part=0, name="view 1"):
    """Send a message of a view; return the reply."""
    sent = sent_by(widget)
    state = {"question": {"values": values, "part": part, "id": name}}
    widget._handle_msg({"content": {"data": {"method": "update", "state": state}}, "buffers": []})
    (answer,) = [state["answer"] for state in sent if "answer" in state]
    return answer


def test_the_widget_answers_as_the_page_does(widget, playground):
    for values in CHANGES:
        found = ask(widget, values)
        assert found.pop("id") == "view 1"
        while found["more"]:
            found = ask(widget, values, 3)
            found.pop("id")
        assert {**found, "ms": 0} == {**playground.answer(values), "ms": 0}
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert widget.values == values
        assert widget.cluster == playground.cluster(values)
    assert [knob["path"] for knob in widget.knobs] == [knob.path for knob in playground.knobs]


def test_values_of_the_widget_can_be_read_and_set(widget, week):
    path = path_of("vision", "nominalQuota")
    sent = sent_by(widget)
    widget.values = {path: 3}
    assert sent == [{"given": {"values": {path: 3}, "count": 1}}]
    widget.values = {path: 3}
    assert widget.given["count"] == 2  # the sliders go there again
    assert widget.result().kpis == kq.simulate(week[0].edit(path, 3), week[1]).kpis
    with pytest.raises(kq.errors.InvalidSpecError, match="is not the path of a slider"):
        widget.values = {"x": 1}
    assert widget.values == {path: 3}


@pytest.mark.parametrize(
    "question", [{}, {"values": []}, {"values": {"x": 1}}, {"values": {}, "part": "x"}, {"values": None}]
)
def test_the_widget_ignores_invalid_messages(widget, question):
    widget.question = {**question, "id": "me"}
    assert widget.answer["id"] == "me"
    assert ("error" in widget.answer) == (question != {})  # without values, they are those of the cluster
    assert widget.values == {}


def test_the_widget_equals_the_page_and_loads_no_external_resources(widget, server):
    page = asked(server)[2].decode()
    script = (Path(play.__file__).parent / "view.js").read_text()
    assert script in page
    assert widget._esm.startswith(script)
    assert "http" not in (widget._esm + widget._css).replace("http://www.w3.org/2000/svg", "")


def test_without_anywidget_the_error_says_how_to_install_it(week, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "kueuepy.lab.play.traits", raising=False)
    with pytest.raises(kq.errors.UnsupportedError, match="install it with: pip install anywidget"):
        play.widget(*week)
