"""S3: a sweep of 100 policies with 50,000 jobs each, without tables, on one thread and on two.

    python benchmarks/time_sweep.py [POLICIES [JOBS [PAIRS]]]

The target is 20 s on two threads, and at least 1.8 times the speed of one thread. The script alternates between one
thread and two, PAIRS times. The load is 30 queues in 3 cohorts, without preemption; the policies vary nominal quotas
and borrowing limits.
"""

import sys

import numpy as np
from timing import Took, middle, say_load, sort, taking

import kueuepy as kq

GPU = "nvidia.com/gpu"


def load(n):
    """Return a cluster, and `n` jobs of 1 to 4 GPUs at a load of 0.85."""
    rng = np.random.Generator(np.random.PCG64(4))
    names = [f"q{i}" for i in range(30)]
    runtime, size = rng.exponential(1800, n), rng.integers(1, 5, n)
    gap = float((runtime * size).mean()) / (0.85 * 30 * 40)
    table = {
        "queue": [names[i] for i in rng.integers(0, 30, n)],
        "submit": np.cumsum(rng.exponential(gap, n)),
        "runtime": runtime,
        GPU: size,
    }
    queues = [kq.ClusterQueue.of(q, {"default": {GPU: 40}}, cohort_name=f"c{int(q[1:]) // 10}") for q in names]
    return kq.Cluster(kq.ResourceFlavor("default"), queues), kq.Jobs(table)


def main(policies=100, jobs=50_000, pairs=2):
    say_load("sweep")
    cluster, table = load(jobs)
    path = f"ClusterQueue/*:quota[default/{GPU}]"
    space = {
        f"{path}.nominalQuota": kq.lab.Uniform(36, 60, step=1),
        f"{path}.borrowingLimit": kq.lab.Uniform(0, 40, step=1),
    }
    over = kq.lab.sample(space, policies, seed=1, how="random")
    known: dict[int, list[Took]] = {1: [], 2: []}
    frames = set()
    for _ in range(pairs):
        for threads, times in known.items():
            with taking(times):
                grid = kq.sweep(cluster, table, over, threads=threads, progress=False)
            frames.add(grid.frame["wait_mean"].tobytes())
    assert len(frames) == 1
    for threads, times in known.items():
        walls, cpus = ([getattr(took, clock) for took in times] for clock in ("wall", "cpu"))
        sorts = min(walls) / sort().wall
        print(
            f"S3 {threads} threads: {middle(walls)} s wall time, {middle(cpus)} s CPU time; at best {sorts:.0f} sorts"
        )
        # On a busy machine, two threads get less than two processors.
        print(f"   processors used: {middle([took.cpu / took.wall for took in times])}")
    ratios = [one.wall / two.wall for one, two in zip(*known.values(), strict=True)]
    more = [two.cpu / one.cpu for one, two in zip(*known.values(), strict=True)]
    print(f"   two threads are {middle(ratios)} times as fast as one, with {middle(more)} times the CPU time")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
