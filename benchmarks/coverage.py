"""Measure the coverage of the 95 % confidence intervals of a run: how often they contain the value of queueing theory.

    python benchmarks/coverage.py [--runs 500] [--jobs 20000] [--servers 1 4]

Each run is a simulation of an M/M/c queue at a load of 0.8: Poisson arrivals, exponential runtimes, jobs of one GPU on
c GPUs, first come, first served. Waits in such a queue are correlated over hundreds of jobs. The first 2,000 jobs are a
warm-up and are excluded. For the mean, the median and the 95th percentile of the wait, the script prints the fraction
of runs whose interval contains the true value, and how often the interval lies below or above it. It fails if a
fraction is outside 92 to 98 %, unless the runs are shorter than 20,000 jobs.
"""

import argparse
import math
import sys
import warnings

import numpy as np

import kueuepy as kq

LOAD = 0.8
WARMUP = 2_000
LONG = 20_000
LEAST, MOST = 0.92, 0.98
GPU = "nvidia.com/gpu"
FIGURES = {"wait_mean": None, "wait_p50": 0.5, "wait_p95": 0.95}


def truth(servers):
    """Return the mean, median and 95th percentile of the wait by the Erlang C formula; the mean run time is 1 s."""
    offered = servers * LOAD
    last = offered**servers / math.factorial(servers) / (1 - LOAD)
    waits = last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)
    rate = servers * (1 - LOAD)
    percentiles = {name: max(0.0, math.log(waits / (1 - p)) / rate) for name, p in FIGURES.items() if p is not None}
    return {"wait_mean": waits / rate, **percentiles}


def run(servers, jobs, seed):
    """Simulate the queue once; return the metrics."""
    rng = np.random.Generator(np.random.PCG64([servers, seed]))
    submit = np.cumsum(rng.exponential(1 / (servers * LOAD), jobs + WARMUP))
    runtime = rng.exponential(1.0, jobs + WARMUP)
    table = kq.Jobs({"queue": ["q"] * len(submit), "submit": submit, "runtime": runtime, GPU: [1] * len(submit)})
    queue = kq.ClusterQueue.of("q", {"f": {GPU: servers}}, queueing_strategy="StrictFIFO")
    record = kq.sim.Recording(decisions=False, runs=False, usage=False)
    warmup = float(submit[WARMUP] - submit[0]) - 1e-6
    return kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queue), table, record=record, warmup=warmup).kpis


def coverage(servers, jobs, runs):
    """Return, by metric, the fractions of runs whose interval contains the true value, lies below, and lies above."""
    known = truth(servers)
    counts = {name: [0, 0, 0] for name in known}
    for seed in range(runs):
        kpis = run(servers, jobs, seed)
        for name, value in known.items():
            low, high = kpis.interval(name)
            assert 0 <= low <= getattr(kpis, name) <= high
            counts[name][1 if high < value else 2 if low > value else 0] += 1
    return {name: tuple(count / runs for count in found) for name, found in counts.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=LONG)
    parser.add_argument("--servers", type=int, nargs="*", default=[1, 4])
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    failed = False
    for servers in options.servers:
        for name, (held, below, above) in coverage(servers, options.jobs, options.runs).items():
            wrong = options.jobs >= LONG and not LEAST <= held <= MOST
            failed |= wrong
            shown = f"M/M/{servers} {name:9} {options.jobs} jobs, {options.runs} runs: {held:.1%} hold the truth"
            print(f"{shown}, {below:.1%} lie below, {above:.1%} above{'  <-- out of bounds' * wrong}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
