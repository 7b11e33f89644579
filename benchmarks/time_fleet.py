"""A fleet of workers compared with one cluster that has as many ClusterQueues.

    python benchmarks/time_fleet.py [JOBS [WORKERS]]

The target is 3 times the CPU time of the cluster, for each dispatcher. The load is 0.95; each worker runs 16 jobs at a
time.
"""

import sys
import warnings

import numpy as np
from timing import Took, say_load, taking

import kueuepy as kq

SLOTS = 16


def load(n, workers):
    """Return the columns of `n` jobs with exponential runtimes and gaps."""
    rng = np.random.Generator(np.random.PCG64(1))
    runtime = rng.exponential(600, n) + 10
    gap = float(runtime.mean()) / (0.95 * workers * SLOTS)
    return {"submit": np.cumsum(rng.exponential(gap, n)), "runtime": runtime, "cpu": np.ones(n, int)}


def cluster(*names):
    queues = [kq.ClusterQueue.of(name, {"any": {"cpu": SLOTS}}) for name in names]
    return kq.Cluster(kq.ResourceFlavor("any"), *queues)


def main(jobs=50_000, workers=20):
    say_load("fleet")
    columns, names = load(jobs, workers), [f"w{n}" for n in range(workers)]
    members = {name: cluster("team") for name in names}
    loads = {
        "one cluster": (cluster(*names), [names[n % workers] for n in range(jobs)]),
        "AllAtOnce": (kq.Fleet(members, dispatcher="AllAtOnce"), ["team"] * jobs),
        "Incremental": (kq.Fleet(members, dispatcher="Incremental"), ["team"] * jobs),
    }
    warnings.simplefilter("ignore")
    kq.simulate(
        loads["one cluster"][0], kq.Jobs({"queue": names[:1], "submit": [0.0], "runtime": [1.0], "cpu": [1]})
    )  # load modules
    base = 0.0
    for name, (subject, queues) in loads.items():
        table, times = kq.Jobs({**columns, "queue": queues}), list[Took]()
        with taking(times):
            result = kq.simulate(subject, table)
        base = base or times[0].cpu
        copies = f", {result.kpis.copies:,} copies" if name != "one cluster" else ""
        print(f"{name}: {times[0].cpu:.2f} s CPU time, {times[0].cpu / base:.1f} times one cluster{copies}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
