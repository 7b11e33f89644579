"""S8: steps of the learning environment a second, on 10 queues at 10 arrivals a step.

    python benchmarks/time_rl.py [STEPS]

Asked for: 10,000 steps a second on one core. The agent moves quota at random; what it costs to choose is not counted.
Then the same of 16 environments at once, on one thread and on two, in turns: others may use the machine.
"""

import sys

import numpy as np
from timing import Took, middle, say_load, sort, taking

import kueuepy as kq
from kueuepy.rl import QuotaEnv, vector

GPU = "nvidia.com/gpu"
QUEUES = 10
INTERVAL = 600
EPISODE = 144
ENVIRONMENTS = 16
PAIRS = 5


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


def game():
    """What is played: all quota of a cohort may be moved."""
    queues = [kq.ClusterQueue.of(f"q{i}", {"f": {GPU: 12}}, cohort_name="all") for i in range(QUEUES)]
    paths = [f"ClusterQueue/q{i}:quota[f/{GPU}].nominalQuota" for i in range(QUEUES)]
    return kq.Cluster(kq.ResourceFlavor("f"), queues), jobs_of, paths


def alone(steps):
    env = QuotaEnv(*game(), interval=INTERVAL)
    env.action_space.seed(1)
    actions = [env.action_space.sample() for _ in range(1000)]
    stepping, resetting = [], []
    for seed in range(max(1, steps // EPISODE)):
        with taking(resetting):
            env.reset(seed=seed)
        with taking(stepping):
            for number in range(EPISODE):
                env.step(actions[(seed * EPISODE + number) % len(actions)])
    stepped = EPISODE * len(stepping)
    spent, begun = (sum(took.cpu for took in times) for times in (stepping, resetting))
    print(
        f"S8 {stepped / spent:,.0f} steps a second of CPU, {stepped / (spent + begun):,.0f} with {len(resetting)} "
        f"resets; {spent / stepped / sort().cpu * 1e6:.1f} millionths of a sort a step"
    )


def at_once():
    known: dict[int, list[Took]] = {1: [], 2: []}
    envs = {threads: vector(ENVIRONMENTS, *game(), interval=INTERVAL, threads=threads) for threads in known}
    envs[1].action_space.seed(1)
    actions = [envs[1].action_space.sample() for _ in range(EPISODE)]
    for seed in range(PAIRS):
        for threads, times in known.items():
            envs[threads].reset(seed=seed)
            with taking(times):
                for action in actions:
                    envs[threads].step(action)
    steps = EPISODE * ENVIRONMENTS
    for threads, times in known.items():
        print(
            f"   {ENVIRONMENTS} at once on {threads} threads: {middle([steps / took.wall for took in times])} steps a "
            f"second by the clock, {middle([steps / took.cpu for took in times])} of CPU"
        )
    pairs = [one.wall / two.wall for one, two in zip(*known.values(), strict=True)]
    print(f"   two threads are {middle(pairs)} times as fast as one")


def main(steps=20_000):
    say_load("rl")
    alone(steps)
    at_once()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
