"""AI agents ask about a running cluster and about a recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kueuepy.cli.mcp import Agents
from kueuepy.cli.tools import Source
from kueuepy.errors import KueueError

RECORDING = str(Path(__file__).parents[2] / "examples" / "live" / "history.db")


def ask(agents, tool, **given):
    return json.loads(agents.call(tool, given))


def test_a_running_cluster_is_read_again_when_it_is_old(cluster):
    agents = Agents(Source(["cluster:"], max_age=3600))
    assert ask(agents, "queues")["read_seconds_ago"] < 3600
    requests = len(cluster.seen)
    assert requests > 0
    assert ask(agents, "who_uses")["workloads"] >= 0
    assert len(cluster.seen) == requests
    agents = Agents(Source(["cluster:"], max_age=0))
    ask(agents, "queues")
    ask(agents, "queues", cluster_queue="wide")
    assert len(cluster.seen) >= 3 * requests


@pytest.mark.usefixtures("cluster")
def test_a_cluster_that_cannot_be_reached_is_an_error_and_is_tried_again():
    agents = Agents(Source(["cluster:nowhere"]))
    for _ in range(2):
        answer, is_error = agents.answer("queues", {})
        assert is_error
        assert "nowhere" in answer


def test_a_recording_has_root_causes_and_a_history():
    agents = Agents(Source([RECORDING]))
    found = ask(agents, "explain", workload="ns-a/job-job-055-1f3ef")
    assert found["root_cause"]["code"] == "QuotaExceeded"
    assert found["root_cause"]["facts"]["missing"] == 6000
    with pytest.raises(KueueError, match=r"30 jobs had not finished.*; censored must be drop or exponential"):
        ask(agents, "simulate")
    metrics = {one["metric"]: one for one in ask(agents, "simulate", censored="drop")["items"]}
    assert metrics["jobs"]["value"] == 30
