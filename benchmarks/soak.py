"""Test that memory and time do not grow over months: rounds of submit, settle, finish and delete with 1,000 workloads.

`python benchmarks/soak.py --rounds 1000000` uses one Scheduler; `--journal` uses one Journal, compacted every 5,000
rounds. The script prints the resident memory and the CPU time per round for each tenth of the run. It fails if the last
tenth needs more than 1.05 times the memory, or 1.1 times the time, of the second tenth.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections import deque
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from kueuepy import Cluster, ClusterQueue, PodSet, ResourceFlavor, Scheduler, Workload
from kueuepy.platform.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable

ALIVE = 1_000
QUEUES = 10
COMPACTION = 5_000
MEMORY, TIME = 1.05, 1.1
_PAGE = os.sysconf("SC_PAGE_SIZE")


def cluster() -> Cluster:
    """Return ten queues in a cohort; the 1,000 workloads use about half of the quota."""
    flavor = ResourceFlavor("default")
    quotas = {"default": {"cpu": 80, "memory": "600Gi"}}
    queues = [ClusterQueue.of(f"queue-{n}", quotas, cohort_name="all") for n in range(QUEUES)]
    return Cluster(flavor, *queues)


def job(number: int) -> Workload:
    """Return a workload with a unique name; there are 3,500 combinations of queue, requests and priority."""
    pod_set = PodSet.of(requests={"cpu": f"{1 + number % 7}00m", "memory": f"{1 + number % 5}Gi"})
    return Workload(f"job-{number}", queue_name=f"queue-{number % QUEUES}", priority=number % 100, pod_sets=(pod_set,))


def soak(
    scheduler: Scheduler, rounds: int, *, now_and_then: Callable[[], None] | None = None
) -> dict[str, list[float]]:
    """Return the resident memory in MiB and the CPU time per round in microseconds, for each tenth of the rounds."""
    alive: deque[str] = deque()
    for number in range(ALIVE):
        alive += scheduler.submit(job(number))
    scheduler.settle()
    measured: dict[str, list[float]] = {"resident_mb": [], "round_us": []}
    number = ALIVE
    for _ in range(10):
        begin = time.process_time()
        for _ in range(rounds // 10):
            alive += scheduler.submit(job(number))
            scheduler.settle()
            gone = alive.popleft()
            scheduler.finish(gone)
            scheduler.settle()
            scheduler.delete(gone)
            number += 1
            if now_and_then is not None and number % COMPACTION == 0:
                now_and_then()
        measured["round_us"].append((time.process_time() - begin) / (rounds // 10) * 1e6)
        gc.collect()
        measured["resident_mb"].append(int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / 2**20)
    return measured


def too_much(measured: dict[str, list[float]]) -> list[str]:
    """Return a message for each measure that grew too much from the second tenth to the last."""
    limits = {"resident_mb": MEMORY, "round_us": TIME}
    return [
        f"{name}: {values[-1]:.1f} in the last tenth, {values[1]:.1f} in the second; at most {limits[name]} times that"
        for name, values in measured.items()
        if values[-1] > limits[name] * values[1]
    ]


def main() -> int:
    """Run the rounds and print the measures as JSON; return 1 if a measure grew too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--journal", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak.db"
        with Journal(path, durability="process") if options.journal else nullcontext() as journal:
            if journal is None:
                measured = soak(Scheduler(cluster()), options.rounds)
            else:
                measured = soak(journal.scheduler(cluster()), options.rounds, now_and_then=journal.compact)
                measured["file_mb"] = [path.stat().st_size / 2**20]
    print(json.dumps({name: [round(value, 2) for value in values] for name, values in measured.items()}))
    grown = too_much({name: measured[name] for name in ("resident_mb", "round_us")})
    for line in grown:
        print(line, file=sys.stderr)
    return 1 if grown else 0


if __name__ == "__main__":
    raise SystemExit(main())
