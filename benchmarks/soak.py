"""A platform that runs for months: rounds of submit, settle, finish and delete, with a thousand workloads alive.

`python benchmarks/soak.py --rounds 1000000` runs them on one Scheduler, `--journal` on one Journal that is compacted
now and then. It tells resident memory and the time of a round by tenths of the run, and fails where the last tenth
needs more than 1.05 times the memory, or 1.1 times the time, of the second.
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
from kueuepy.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable

ALIVE = 1_000
QUEUES = 10
COMPACTION = 5_000
MEMORY, TIME = 1.05, 1.1
_PAGE = os.sysconf("SC_PAGE_SIZE")


def cluster() -> Cluster:
    """Ten queues in a cohort; what is alive fills them by about a half."""
    flavor = ResourceFlavor("default")
    quotas = {"default": {"cpu": 80, "memory": "600Gi"}}
    queues = [ClusterQueue.of(f"queue-{n}", quotas, cohort_name="all") for n in range(QUEUES)]
    return Cluster(flavor, *queues)


def job(number: int) -> Workload:
    """A workload with a name of its own; there are 3,500 kinds of them."""
    pod_set = PodSet.of(requests={"cpu": f"{1 + number % 7}00m", "memory": f"{1 + number % 5}Gi"})
    return Workload(f"job-{number}", queue_name=f"queue-{number % QUEUES}", priority=number % 100, pod_sets=(pod_set,))


def soak(
    scheduler: Scheduler, rounds: int, *, now_and_then: Callable[[], None] | None = None
) -> dict[str, list[float]]:
    """Megabytes resident, and microseconds of processor time a round, by tenths of the rounds."""
    alive: deque[str] = deque()
    for number in range(ALIVE):
        alive += scheduler.submit(job(number))
    scheduler.settle()
    told: dict[str, list[float]] = {"resident_mb": [], "round_us": []}
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
        told["round_us"].append((time.process_time() - begin) / (rounds // 10) * 1e6)
        gc.collect()
        told["resident_mb"].append(int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / 2**20)
    return told


def too_much(told: dict[str, list[float]]) -> list[str]:
    """What has grown from the second tenth to the last, if anything."""
    limits = {"resident_mb": MEMORY, "round_us": TIME}
    return [
        f"{name}: {values[-1]:.1f} in the last tenth, {values[1]:.1f} in the second; at most {limits[name]} times that"
        for name, values in told.items()
        if values[-1] > limits[name] * values[1]
    ]


def main() -> int:
    """Runs it, tells the figures as JSON, and is 1 if something grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--journal", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak.db"
        with Journal(path, durability="process") if options.journal else nullcontext() as journal:
            if journal is None:
                told = soak(Scheduler(cluster()), options.rounds)
            else:
                told = soak(journal.scheduler(cluster()), options.rounds, now_and_then=journal.compact)
                told["file_mb"] = [path.stat().st_size / 2**20]
    print(json.dumps({name: [round(value, 2) for value in values] for name, values in told.items()}))
    grown = too_much({name: told[name] for name in ("resident_mb", "round_us")})
    for line in grown:
        print(line, file=sys.stderr)
    return 1 if grown else 0


if __name__ == "__main__":
    raise SystemExit(main())
