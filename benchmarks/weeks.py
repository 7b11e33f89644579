"""The jobs and clusters of the benchmarks of simulation, at any size."""

import numpy as np
import pandas as pd

import kueuepy as kq
from kueuepy.simulation import generate

GPU = "nvidia.com/gpu"
NOTHING = kq.sim.Recording(decisions=False, runs=False, usage=False)
TABLES = kq.sim.Recording(decisions=False, runs=False)


def queues(names, nominal, cohort=None, **preemption):
    """A ClusterQueue of each name with so many GPUs."""
    policies = kq.Preemption(**preemption)
    quotas = {"default": {GPU: nominal}}
    return [kq.ClusterQueue.of(n, quotas, cohort_name=cohort and cohort(n), preemption=policies) for n in names]


def steady(n):
    """Jobs of 100 queues without preemption at a load of 0.9, as a frame, and their cluster."""
    rng = np.random.Generator(np.random.PCG64(1))
    names = [f"q{i}" for i in range(100)]
    runtime, size = rng.exponential(600, n), rng.integers(1, 5, n)
    gap = float((runtime * size).mean()) / (0.9 * 100 * 40)
    submit = np.cumsum(rng.exponential(gap, n))
    frame = {"queue": np.array(names)[rng.integers(0, 100, n)], "submit": submit, "runtime": runtime, GPU: size}
    return kq.Cluster(kq.ResourceFlavor("default"), queues(names, 40)), pd.DataFrame(frame)


def frame_to_frames(cluster, frame):
    """S1: from a frame of pandas to those of jobs and usage."""
    result = kq.simulate(cluster, kq.Jobs.from_frame(frame), record=TABLES)
    return result, result.jobs.to_pandas(), result.usage.to_pandas()


def crowd(n):
    """Jobs of 100 queues in 10 cohorts that evict each other, at a load of 0.95, and their cluster."""
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
    """Jobs of one GPU of one queue that has one, at a load of 0.8, and its cluster."""
    jobs = generate.poisson("q", 1.0, kq.sim.Exponential(0.8), {GPU: 1}, n=n)
    return kq.Cluster(kq.ResourceFlavor("default"), queues(["q"], 1)), jobs
