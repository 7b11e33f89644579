"""A server on the loopback interface, and a kubeconfig that names it."""

from __future__ import annotations

import pytest

from live.server import ApiServer


@pytest.fixture
def api(tmp_path, monkeypatch):
    """A server that only answers GET; the test fails if anything else was sent."""
    found = ApiServer()
    monkeypatch.setenv("KUBECONFIG", str(found.kubeconfig(tmp_path / "kubeconfig")))
    yield found
    found.close()
    assert {method for method, _ in found.seen} <= {"GET"}
    assert not any("secrets" in path for _, path in found.seen)


@pytest.fixture
def cluster(api):
    """A server with the recorded answers of a real cluster."""
    api.replay()
    return api
