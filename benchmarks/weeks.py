"""Jobs and clusters for the simulation benchmarks, of any size."""

import numpy as np
import pandas as pd

import kueuepy as kq

GPU = "nvidia.com/gpu"
NOTHING = kq.sim.Recording(decisions=False, runs=False, usage=False)
TABLES = kq.sim.Recording(decisions=False, runs=False)


def queues(names, nominal, cohort=None, **preemption):
    """Return a ClusterQueue with `nominal` GPUs for each name."""
    policies = kq.Preemption(**preemption)
    quotas = {"default": {GPU: nominal}}
    return [kq.ClusterQueue.of(n, quotas, cohort_name=cohort and cohort(n), preemption=policies) for n in names]


def steady(n):
    """Return a cluster of 100 queues without preemption, and a DataFrame of `n` jobs at a load of 0.9."""
    rng = np.random.Generator(np.random.PCG64(1))
    names = [f"q{i}" for i in range(100)]
    runtime, size = rng.exponential(600, n), rng.integers(1, 5, n)
    gap = float((runtime * size).mean()) / (0.9 * 100 * 40)
    submit = np.cumsum(rng.exponential(gap, n))
    frame = {"queue": np.array(names)[rng.integers(0, 100, n)], "submit": submit, "runtime": runtime, GPU: size}
    return kq.Cluster(kq.ResourceFlavor("default"), queues(names, 40)), pd.DataFrame(frame)


def frame_to_frames(cluster, frame):
    """Run S1: simulate the jobs of a DataFrame; return the result, with jobs and usage as DataFrames."""
    result = kq.simulate(cluster, kq.Jobs.from_frame(frame), record=TABLES)
    return result, result.jobs.to_pandas(), result.usage.to_pandas()


def crowd(n):
    """Return a cluster of 100 queues in 10 cohorts with preemption, and `n` jobs at a load of 0.95."""
    rng = np.random.Generator(np.random.PCG64(3))
    names = [f"q{i}" for i in range(100)]
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


def lone(n):
    """Return a cluster of one queue with one GPU, and `n` jobs of one GPU at a load of 0.8."""
    jobs = kq.Jobs.poisson("q", 1.0, kq.sim.Exponential(0.8), {GPU: 1}, n=n)
    return kq.Cluster(kq.ResourceFlavor("default"), queues(["q"], 1)), jobs
