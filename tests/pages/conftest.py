"""Clusters, results and recordings of which pages are made."""

import random
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.objects.times import parse_time
from kueuepy.platform.history import RecordingWriter
from live.server import events

WEEK = Path(__file__).parents[2] / "examples" / "week"


@pytest.fixture(scope="session")
def week():
    """A simulated week of three teams."""
    return kq.simulate(kq.load(WEEK / "teams.yaml"), kq.Jobs.read(WEEK / "jobs.csv"))


@pytest.fixture(scope="session")
def recording(tmp_path_factory):
    """A recording of a real cluster: 150 workloads of four queues."""
    path = tmp_path_factory.mktemp("recorded") / "history.db"
    writer = RecordingWriter(path)
    for event in events("cohort"):
        kind = event["kind"]
        writer.event(kind, event["type"] == "DELETED", event["object"], parse_time(event["received"]))
    writer.close()
    return path


@pytest.fixture(scope="session")
def large():
    """A cluster of 100 queues with 10,000 workloads, most of which wait."""
    chosen = random.Random(1)  # noqa: S311 - not cryptographic
    quotas = {"h100": {"nvidia.com/gpu": 64, "cpu": 640}}
    queues = [kq.ClusterQueue.of(f"team-{n:03d}", quotas, cohort_name=f"dept-{n % 8}") for n in range(100)]
    cohorts = [kq.Cohort(f"dept-{n}", parent_name="org") for n in range(8)]
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("h100"), *queues, *cohorts, kq.Cohort("org")))
    rows = [
        {
            "name": f"job-{n}",
            "queue": f"team-{chosen.randrange(100):03d}",
            "gpu": chosen.choice([1, 2, 4, 8]),
            "pods": chosen.choice([1, 1, 2, 4]),
            "cpu": 8,
            "priority": chosen.choice([0, 0, 10]),
        }
        for n in range(10_000)
    ]
    scheduler.submit(*rows)
    scheduler.settle()
    return scheduler


def at(data, t):
    """The state of each workload, and the usage of each node and cell, at a moment, as the script computes them."""
    events = data.events
    states = {}
    for place, name in enumerate(data.workloads.name):
        rows = [row for row in range(events.first[place], events.first[place + 1]) if events.t[row] <= t]
        states[name] = events.state[rows[-1]] if rows else 0
    used = {}
    for series in data.used:
        values = [value for time, value in zip(series.t, series.v, strict=True) if time <= t]
        cell = data.cells[series.c]
        used[data.nodes[series.n].name, cell.flavor, cell.resource] = values[-1] if values else 0
    return states, {place: value for place, value in used.items() if value}
