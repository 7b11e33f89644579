"""The work of each call on a result grows linearly with the number of queues, jobs and users."""

from __future__ import annotations

import contextlib
from functools import partial

import numpy as np
import pytest

import kueuepy as kq
from simulation.visits import Visited, watched, work

QUEUES, JOBS, USERS = 60, 600, 60
MOST = 4.5
SIZES = {"queues": (4, 1, 1), "jobs": (1, 4, 1), "users": (1, 1, 4), "all": (4, 4, 4)}


def made(queues: int, jobs: int, users: int) -> kq.Result:
    """A run of a log with as many users, in which queues of two share their quota and urgent jobs evict others."""
    chance = np.random.default_rng(1)
    cluster = kq.Cluster(
        kq.ResourceFlavor("f"),
        [
            kq.ClusterQueue.of(
                f"q{n}",
                {"f": {"cpu": 2}},
                cohort_name=f"c{n // 2}",
                preemption=kq.Preemption(within_cluster_queue="LowerPriority"),
            )
            for n in range(queues)
        ],
    )
    log = kq.Jobs(
        {
            "queue": [f"q{n}" for n in np.arange(jobs) % queues],
            "user": [f"u{n}" for n in np.arange(jobs) % users],
            "submit": np.arange(jobs) * 40.0 * QUEUES / queues,
            "runtime": chance.exponential(2400, jobs),
            "cpu": chance.integers(1, 3, jobs),
            "priority": chance.integers(0, 2, jobs),
        }
    )
    return watched(kq.simulate(cluster, log))


def intervals(result: kq.Result) -> None:
    kpis = result.kpis
    for name, _ in kpis.rows():
        with contextlib.suppress(kq.KueueError):
            kpis._interval(name)


CALLS = {
    "kpis": lambda result: result.kpis,
    "figures of a window": lambda result: result.figures(3600, 7200),
    "figures of some jobs": lambda result: result.figures(where=result.jobs["cpu"] > 1),
    "intervals": intervals,
    "queues": lambda result: result.queues,
    "by cluster_queue": lambda result: result.by("cluster_queue"),
    "by user": lambda result: result.by("user"),
    "by user in a window": lambda result: result.by("user", 3600, 7200),
    "jain": lambda result: result.jain("user"),
    "tidy": lambda result: result.tidy(),
    "preemptions": lambda result: result.preemptions,
    "warnings": lambda result: result.warnings,
    "resample": lambda result: result.usage.resample(result.seconds / 10),
    "at": lambda result: result.at(3600),
    "waiting": lambda result: result.waiting,
    "report": lambda result: kq.report(result, "/dev/null"),
    "notebook": lambda result: result._repr_html_(),
}


@pytest.fixture(scope="module")
def runs():
    """The results of runs of each size. They are not computed twice, and no test may use a cached figure."""
    known: dict[tuple[int, ...], kq.Result] = {}

    def run(*factors: int) -> kq.Result:
        if factors not in known:
            known[factors] = made(*(size * factor for size, factor in zip((QUEUES, JOBS, USERS), factors, strict=True)))
        return known[factors]

    return run


def fresh(result: kq.Result) -> kq.Result:
    """A copy of a result without the figures that are computed once."""
    twin = result.__copy__()
    for name in ("kpis", "queues", "waiting", "warnings", "fingerprint"):
        twin.__dict__.pop(name, None)
    return twin


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", CALLS)
def test_four_times_the_size_is_four_times_the_work(runs, call, size):
    small, large = runs(1, 1, 1), runs(*SIZES[size])
    CALLS[call](fresh(small))  # what is imported or cached once
    few, many = (work(partial(CALLS[call], fresh(result))) for result in (small, large))
    assert many <= MOST * few


def test_work_counts_rows_and_calls(runs):
    result = runs(1, 1, 1)
    assert result.kpis.evictions
    assert len(result.preemptions)
    assert work(lambda: result.jobs["waited"] + 1) > JOBS
    assert work(lambda: [len("") for _ in range(100)]) > 100
    assert isinstance(result.jobs["waited"] * 2, Visited)
    small, large = (work(partial(one_after_another, result)) for result in (result, runs(4, 4, 4)))
    assert large > 2 * MOST * small


def one_after_another(result: kq.Result) -> list[float]:
    """Visit all jobs for each queue, which is not linear in jobs and queues together."""
    column, waited = result.jobs["cluster_queue"], result.jobs["waited"]
    return [float(waited[column.codes == code].sum()) for code in range(len(column.names))]
