"""P16: the 1,000 queues of P2 with a journal: decisions per second, with one sync per cycle before it returns.

    python benchmarks/time_p16_journal.py [ROUNDS]

The target is at least 50,000 decisions per second with `durability="power"`.
"""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from shapes import PREEMPTION, job
from timing import middle, say_load, sort, taking

from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
from kueuepy.platform.journal import Journal

COHORTS, QUEUES, EACH = 10, 100, 5
MODES = ("none", "process", "power")


def objects():
    names = [f"cohort-{cohort}-queue-{queue}" for cohort in range(COHORTS) for queue in range(QUEUES)]
    quotas = {"default": {"cpu": EACH}}
    return [
        ResourceFlavor("default"),
        *(
            ClusterQueue.of(name, quotas, cohort_name=name.partition("-queue")[0], preemption=PREEMPTION)
            for name in names
        ),
    ], [job(f"{name}-{i}", name, 1, created=i) for i in range(EACH) for name in names]


def cycles(mode, cluster, jobs):
    """Run cycles until no workload waits; return their time and the number of decisions."""
    with ExitStack() as stack:
        scheduler = Scheduler(cluster)
        if mode != "none":
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir="."))
            journal = stack.enter_context(Journal(Path(folder, "journal.db"), durability=mode))
            scheduler = journal.scheduler(cluster)
        scheduler.submit(jobs)
        times, decisions = [], 0
        with taking(times):
            while not (cycle := scheduler.cycle()).idle:
                decisions += len(cycle)
        return times[0], decisions


def main(rounds):
    say_load("P16")
    declared, jobs = objects()
    cluster = Cluster(declared)
    found = {mode: [] for mode in MODES}
    for _ in range(rounds):
        yardstick = sort()
        for mode in MODES:
            took, decisions = cycles(mode, cluster, jobs)
            found[mode].append((decisions / took.wall, decisions / took.cpu, decisions / took.cpu * yardstick.cpu))
    for mode, rows in found.items():
        wall, cpu, sorts = (middle(list(column)) for column in zip(*rows, strict=True))
        print(f"durability {mode}: {wall} decisions per second, {cpu} per second of CPU time, {sorts} per sort")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
