"""Simulations whose sums, percentiles and hashes equal those of an independent reference."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.simulation.model import RunModel
from kueuepy.simulation.simulate import simulate
from kueuepy.simulation.table import Jobs

GPU = "nvidia.com/gpu"
VECTORS = json.loads(gzip.decompress((Path(__file__).parents[1] / "vectors" / "simulation.json.gz").read_bytes()))


def gangs(seed):
    """20,000 jobs: gaps, sizes, runs, priorities, queues, in the order of the draws."""
    rng = np.random.Generator(np.random.PCG64(seed))
    n = 20_000
    gap, power, run = rng.integers(0, 30, n), rng.integers(0, 4, n), rng.integers(1, 600, n)
    return np.cumsum(gap), 2**power, run, 100 * rng.integers(0, 3, n), rng.integers(0, 3, n)


def cluster(strategy, nominals, *, cohort=None, limit=None, within="Never"):
    queues = [
        kq.ClusterQueue.of(
            name,
            {"f": {GPU: kq.Quota(nominal, borrowing_limit=limit) if limit is not None else nominal}},
            cohort_name=cohort,
            queueing_strategy=strategy,
            preemption=kq.Preemption(within_cluster_queue=within),
        )
        for name, nominal in nominals.items()
    ]
    return kq.Cluster(kq.ResourceFlavor("f"), queues)


def told(result, size, runtime, first_submit):
    jobs = result.jobs
    ints = {name: np.round(jobs[name]).astype(np.int64) for name in ("first_wait", "waited", "end", "held", "submit")}
    first = np.sort(ints["first_wait"])
    value = 0
    for row in zip(
        ints["first_wait"].tolist(), ints["waited"].tolist(), (ints["end"] + first_submit).tolist(), strict=True
    ):
        for part in row:
            value = (value * 1_000_003 + part) % (2**61 - 1)
    return {
        "jobs": len(jobs),
        "sum_first_wait": int(first.sum()),
        "sum_waited": int(ints["waited"].sum()),
        "max_first_wait": int(first[-1]),
        "jobs_that_waited": int((first > 0).sum()),
        **{f"p{p}_first_wait": int(first[-(-len(first) * p // 100) - 1]) for p in (50, 95, 99)},
        "last_end": int(ints["end"].max() + first_submit),
        "evictions": int(jobs["evictions"].sum()),
        "lost_gpu_seconds": int(np.round((jobs["lost"] * size).sum())),
        "used_gpu_seconds": int((size * runtime).sum()),
        "hash": value,
    }


CASES = {
    "gang_StrictFIFO": ("StrictFIFO", 80, False, RunModel()),
    "gang_preempt_restart_StrictFIFO": ("StrictFIFO", 84, True, RunModel()),
    "gang_preempt_resume_StrictFIFO": ("StrictFIFO", 84, True, RunModel("resume")),
    "gang_BestEffortFIFO": ("BestEffortFIFO", 80, False, RunModel()),
    "gang_preempt_checkpoint_60s_BestEffortFIFO": ("BestEffortFIFO", 84, True, RunModel("checkpoint", every=60)),
}


@pytest.mark.parametrize("case", CASES)
def test_gangs_of_one_queue(case):
    strategy, nominal, preempts, model = CASES[case]
    submit, size, run, priority, _ = gangs(201)
    jobs = {"queue": ["q"] * len(submit), "submit": submit, "runtime": run, GPU: size}
    if preempts:
        jobs["priority"] = priority
    there = cluster(strategy, {"q": nominal}, within="LowerPriority" if preempts else "Never")
    result = simulate(there, Jobs(jobs), model=model)
    assert told(result, size, run, int(submit[0])) == VECTORS["exact"][case]["values"]


def test_three_queues_of_a_cohort_that_borrow():
    submit, size, run, priority, queue = gangs(202)
    there = cluster("StrictFIFO", {f"q{n}": 28 for n in range(3)}, cohort="all", limit=8)
    names = [f"q{n}" for n in queue]
    result = simulate(there, Jobs({"queue": names, "submit": submit, "runtime": run, GPU: size, "priority": priority}))
    assert told(result, size, run, int(submit[0])) == VECTORS["exact"]["cohort_strict_borrowing_8"]["values"]
