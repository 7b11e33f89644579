"""S1, S2, S4 to S7 and S9: simulations of whole logs, and reading and handing over their tables.

    python benchmarks/time_simulation.py [LOG ...]

Asked for, in seconds of one quiet core: S1 5 (and 1 GiB), S2 3, S4 1, S5 15 µs an admission, S6 0.3, S7 3 for a
million rows of CSV, S9 0.001 to Arrow and 0.1 to pandas. S4 is Philly's log (`philly.csv.gz`), where it is given; a
mix of its sizes otherwise. Any other log is read, and told.
"""

import csv
import resource
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from timing import say_load, sort, taking

import kueuepy as kq
from kueuepy.simulation import generate

GPU = "nvidia.com/gpu"
NOTHING = kq.Record(decisions=False, runs=False, usage=False)


def timed(name, what):
    """Runs it, tells what it took beside the yardstick, and gives what came of it."""
    times = []
    with taking(times):
        found = what()
    (took,) = times
    sorts = took.cpu / sort().cpu
    print(f"{name}: {took.cpu:.3f} s of the processor, {took.wall:.3f} s by the clock, {sorts:.1f} sorts")
    return found, took.cpu


def queues(names, nominal, cohort=None, **preemption):
    policies = kq.Preemption(**preemption)
    quotas = {"default": {GPU: nominal}}
    return [kq.ClusterQueue.of(n, quotas, cohort_name=cohort and cohort(n), preemption=policies) for n in names]


def million():
    """A million jobs of 100 queues at a load of 0.9, as a frame."""
    rng = np.random.Generator(np.random.PCG64(1))
    n, names = 1_000_000, [f"q{i}" for i in range(100)]
    runtime, size = rng.exponential(600, n), rng.integers(1, 5, n)
    gap = float((runtime * size).mean()) / (0.9 * 100 * 40)
    submit = np.cumsum(rng.exponential(gap, n))
    frame = {"queue": np.array(names)[rng.integers(0, 100, n)], "submit": submit, "runtime": runtime, GPU: size}
    return kq.Cluster(kq.ResourceFlavor("default"), queues(names, 40)), pd.DataFrame(frame)


def s1(cluster, frame):
    result = kq.simulate(cluster, kq.Jobs.from_frame(frame), record=kq.Record(decisions=False, runs=False))
    return result.jobs.to_pandas(), result.usage.to_pandas()


def crowd():
    """20,000 jobs of 100 queues in 10 cohorts that evict each other, at a load of 0.95."""
    rng = np.random.Generator(np.random.PCG64(3))
    n, names = 20_000, [f"q{i}" for i in range(100)]
    runtime, size = rng.exponential(3600, n), rng.integers(1, 9, n)
    gap = float((runtime * size).mean()) / (0.95 * 100 * 24)
    table = {
        "queue": [names[i] for i in rng.integers(0, 100, n)],
        "submit": np.cumsum(rng.exponential(gap, n)),
        "runtime": runtime,
        GPU: size,
        "priority": 100 * rng.integers(0, 2, n),
    }
    policies = {"reclaim_within_cohort": "Any", "within_cluster_queue": "LowerPriority"}
    objects = queues(names, 24, lambda name: f"c{int(name[1:]) // 10}", **policies)
    return kq.Cluster(kq.ResourceFlavor("default"), objects), kq.Jobs(table)


def written(frame, folder):
    path = Path(folder, "jobs.csv")
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(frame.columns)
        rows.writerows(zip(*(frame[name].tolist() for name in frame.columns), strict=True))
    return path


def main(paths):
    warnings.simplefilter("ignore", UserWarning)
    say_load("simulation")
    logs = {}
    for path in paths:
        logs[Path(path).name], _ = timed(f"S7 {Path(path).name}", lambda path=path: kq.Jobs.read(path))
    philly = next((jobs for name, jobs in logs.items() if name.startswith("philly")), None)
    if philly is None:
        names = [f"vc{i}" for i in range(15)]
        philly = generate.gpu_mix(seed=1, days=109, gpus=400, load=0.95, queues=names)
    result, _ = timed(f"S4 {len(philly)} jobs", lambda: kq.simulate(kq.cluster_of(philly), philly))
    print(f"   {result.stats['cycles']} cycles, mean wait {result.kpis.wait_mean / 3600:.1f} h")
    cluster, jobs = crowd()
    result, took = timed("S5 a crowd that evicts", lambda: kq.simulate(cluster, jobs, record=NOTHING))
    print(f"   {took / result.stats['admissions'] * 1e6:.1f} µs for each of {result.stats['admissions']} admissions")
    one = generate.poisson("q", 1.0, kq.Exponential(0.8), {GPU: 1}, n=20_000)
    alone = kq.Cluster(kq.ResourceFlavor("default"), queues(["q"], 1))
    timed("S6 compare of 20,000 jobs", lambda: kq.compare(alone, alone, one).figures())
    cluster, frame = million()
    timed("S1 a million jobs, frame to frames", lambda: s1(cluster, frame))
    print(f"   at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    table = kq.Jobs.from_frame(frame)
    result, _ = timed("S2 only figures", lambda: kq.simulate(cluster, table, record=NOTHING))
    result = kq.simulate(cluster, table.head(340_000), record=kq.Record(runs=False, usage=False))
    print(f"   {len(result.decisions)} decisions")
    timed("S9 to Arrow", result.decisions.__arrow_c_stream__)
    timed("S9 to pandas", result.decisions.to_pandas)
    with tempfile.TemporaryDirectory() as folder:
        path = written(frame, folder)
        timed("S7 a million rows of CSV", lambda: kq.Jobs.read(path))


if __name__ == "__main__":
    main(sys.argv[1:])
