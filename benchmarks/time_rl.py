"""S8: steps of the learning environment a second, on 10 queues at 10 arrivals a step.

    python benchmarks/time_rl.py [STEPS]

Asked for: 10,000 steps a second on one core. The agent moves quota at random; what it costs to choose is not counted.
"""

import sys
import time

import numpy as np
from timing import say_load, sort

import kueuepy as kq
from kueuepy.rl import QuotaEnv

GPU = "nvidia.com/gpu"
QUEUES = 10
INTERVAL = 600


def jobs_of(seed):
    """A day of jobs, ten an interval, at a load of about 0.8."""
    rng = np.random.Generator(np.random.PCG64(seed))
    n = 10 * 86400 // INTERVAL
    return kq.Jobs(
        {
            "queue": [f"q{i}" for i in rng.integers(0, QUEUES, n)],
            "submit": np.sort(rng.uniform(0, 86400, n)),
            "runtime": rng.exponential(3000, n),
            GPU: rng.integers(1, 4, n),
        }
    )


def main(steps=20_000):
    say_load("rl")
    queues = [kq.ClusterQueue.of(f"q{i}", {"f": {GPU: 12}}, cohort_name="all") for i in range(QUEUES)]
    paths = [f"ClusterQueue/q{i}:quota[f/{GPU}].nominalQuota" for i in range(QUEUES)]
    env = QuotaEnv(kq.Cluster(kq.ResourceFlavor("f"), queues), jobs_of, paths, interval=INTERVAL)
    env.action_space.seed(1)
    actions = [env.action_space.sample() for _ in range(1000)]
    stepped, spent, resets, seed = 0, 0.0, 0.0, 0
    while stepped < steps:
        begin = time.process_time()
        env.reset(seed=seed)
        resets += time.process_time() - begin
        seed += 1
        over = False
        begin = time.process_time()
        while not over:
            *_, over, _ = env.step(actions[stepped % len(actions)])
            stepped += 1
        spent += time.process_time() - begin
    print(
        f"S8 {stepped / spent:,.0f} steps a second of CPU, {stepped / (spent + resets):,.0f} with {seed} resets; "
        f"{spent / stepped / sort().cpu * 1e6:.1f} millionths of a sort a step"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
