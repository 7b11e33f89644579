"""S3: 100 policies of 50,000 jobs each, figures only, on one thread and on two.

    python benchmarks/time_sweep.py [POLICIES [JOBS]]

Asked for: 20 s on two threads, which are 1.8 times as fast as one or more. The load is 30 queues in 3 cohorts, without
preemption; the policies are nominal quotas and borrowing limits.
"""

import sys

import numpy as np
from timing import say_load, sort, taking

import kueuepy as kq

GPU = "nvidia.com/gpu"


def load(n):
    """Jobs of 1 to 4 GPUs at a load of 0.85, and the cluster that they come to."""
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


def main(policies=100, jobs=50_000):
    say_load("sweep")
    cluster, table = load(jobs)
    path = f"ClusterQueue/*:quota[default/{GPU}]"
    space = {f"{path}.nominalQuota": kq.Uniform(36, 60, step=1), f"{path}.borrowingLimit": kq.Uniform(0, 40, step=1)}
    over = kq.sample(space, policies, seed=1, how="random")
    walls, frames = {}, {}
    for threads in (1, 2, 1, 2):
        times = []
        with taking(times):
            grid = kq.sweep(cluster, table, over, threads=threads, progress=False)
        (took,) = times
        walls[threads] = min(walls.get(threads, took.wall), took.wall)
        frames[threads] = grid.frame["wait_mean"].tobytes()
        sorts = took.wall / sort().wall
        print(f"S3 {threads} threads: {took.wall:.1f} s by the clock, {took.cpu:.1f} s of CPU, {sorts:.0f} sorts")
    assert frames[1] == frames[2]
    print(f"   two threads are {walls[1] / walls[2]:.2f} times as fast as one")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
