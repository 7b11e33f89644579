"""`kueuepy serve --jobs`: output before the server starts."""

import http.client
import re
import socket
import threading

from kueuepy.lab.play import Server

from .conftest import EXAMPLES

WEEK = EXAMPLES / "week"


def test_the_printed_address_responds(kueuepy, monkeypatch):
    told = {}

    def serve(server):
        """One request, then Ctrl-C."""
        thread = threading.Thread(target=server._server.handle_request)
        thread.start()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
        connection.request("GET", "/" + server.url.split("/")[3] + "/")
        told["status"] = connection.getresponse().status
        connection.close()
        thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve", serve)
    ran = kueuepy("serve", WEEK / "teams.yaml", "--jobs", WEEK / "jobs.csv", "--no-browser", "--window", "1d:3d")
    assert ran.code == 0
    assert re.fullmatch(r"9 sliders, \d+ jobs: http://127\.0\.0\.1:\d+/[\w-]{32}/\n", ran.out)
    assert told["status"] == 200


def test_a_browser_is_opened_unless_disabled(kueuepy, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(Server, "serve", lambda server: None)  # noqa: ARG005 - as the method is called
    ran = kueuepy("serve", WEEK / "teams.yaml", "--jobs", WEEK / "jobs.csv")
    assert ran.out.endswith(f"{opened[0]}\n")


def test_errors_are_reported_before_the_server_starts(kueuepy):
    ran = kueuepy("serve", EXAMPLES / "seeds" / "002" / "two-teams.yaml", "--jobs", WEEK / "jobs.csv", "--no-browser")
    assert (ran.code, ran.out) == (1, "")
    assert "name LocalQueues that are not in the cluster" in ran.err
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = kueuepy("serve", WEEK / "teams.yaml", "--jobs", WEEK / "jobs.csv", "--no-browser", "--port", port)
    assert (ran.code, ran.out) == (1, "")
    assert f"--port {port}: cannot be listened on" in ran.err
