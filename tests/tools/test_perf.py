"""`python tools/perf.py`: machine-readable output."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import perf
from kueuepy._core import Engine, VirtualRun
from kueuepy.objects import Workload
from load_profile import read_profile

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "benchmarks" / "profiles" / "small.yaml"


def run(*options):
    command = [sys.executable, str(ROOT / "tools" / "perf.py"), str(PROFILE), "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603 - our own interpreter


def test_memory_of_the_parent_process_is_not_counted():
    held = b"x" * (400 << 20)

    assert run()["peak_rss_mb"] < len(held) >> 20


def test_every_workload_is_admitted_once_more_than_it_is_evicted_and_finishes():
    found = run()

    assert found["workloads"] == found["finished"] == 12 * (150 + 40 + 10)
    assert found["evictions"] > 0
    assert found["admissions"] == found["workloads"] + found["evictions"]
    # The total work divided by the total quota is a lower bound of the end.
    work = 12 * (150 * 300 * 2 + 40 * 800 * 4 + 10 * 1500 * 16)
    assert found["virtual_ms"] >= work / (12 * 16)
    # The most urgent workloads never wait for others.
    waits = found["mean_first_wait_ms"]
    assert waits["small"] > waits["medium"] > waits["large"] == 0


def test_repeated_runs_print_the_same_except_time_and_memory():
    first, again, fair = run(), run(), run("--fair-sharing")

    counts = ["workloads", "cycles", "admissions", "evictions", "finished", "virtual_ms"]
    assert list(first) == [*counts, "wall_s", "mean_first_wait_ms", "peak_rss_mb"]
    differ = {key for key in first if first[key] != again[key]}
    assert differ <= {"wall_s", "peak_rss_mb"}
    assert fair["finished"] == first["finished"]
    assert fair["cycles"] != first["cycles"]


def test_metrics_change_no_decision(monkeypatch):
    """`perf` prints no metrics, so it does not collect them."""

    def outcome(*, metrics):
        monkeypatch.setitem(perf.AS_KUEUES_TEST, "metrics", metrics)
        test = perf.PerformanceTest(read_profile(str(PROFILE)))
        run = test.start()
        while run.advance():
            pass
        return run.stats, test.first_waits(run), run.figures()["waits"] > 0

    *collected, has_metrics = outcome(metrics=True)
    *others, has_none = outcome(metrics=False)
    assert others == collected
    assert (has_metrics, has_none) == (True, False)


@pytest.mark.parametrize("digits", [0, 1, 2, 5, 9])
def test_generated_names_and_uids_contain_the_number_of_the_row(digits):
    rows = [0, 7, 10, 99, 100, 101, 4096, 99_999, 100_000, 2**31 - 1]
    times = np.zeros(len(rows), np.int64)
    columns = {"submit": times, "runtime": times + 1, "shape": times.astype(np.int32), "row": np.array(rows, np.int32)}
    columns |= {"prefix": "w", "digits": digits, "uid_digits": digits}
    run = VirtualRun(Engine(), [Workload("prototype", queue_name="q")], columns, perf.AS_KUEUES_TEST)
    while run.advance():
        pass
    engine = run.fork()
    assert [engine.key(found) for found in engine.ids()] == [f"default/w{row:0{digits}}" for row in rows]
