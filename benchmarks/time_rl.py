"""S8: steps of the learning environment per second, with 10 queues and 10 arrivals per step.

    python benchmarks/time_rl.py [STEPS]

The target is 10,000 steps per second on one core. The actions are random, and the time to choose them is excluded. The
script then measures 16 environments at once, on one thread and on two. It alternates between them, because other
processes may use the machine.
"""

import sys

import numpy as np
from timing import Took, middle, say_load, sort, taking

import kueuepy as kq
from kueuepy.lab.rl import QuotaEnv, vector

GPU = "nvidia.com/gpu"
QUEUES = 10
INTERVAL = 600
EPISODE = 144
ENVIRONMENTS = 16
PAIRS = 5


def jobs_of(seed):
    """Return the jobs of a day, ten per interval on average, at a load of about 0.8."""
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
    """Return cluster, jobs and paths; the paths are the nominal quotas of all queues of a cohort."""
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
        f"S8 {stepped / spent:,.0f} steps per second of CPU time, {stepped / (spent + begun):,.0f} with "
        f"{len(resetting)} resets; {spent / stepped / sort().cpu * 1e6:.1f} millionths of a sort per step"
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
            f"   {ENVIRONMENTS} at once on {threads} threads: {middle([steps / took.wall for took in times])} steps "
            f"per second, {middle([steps / took.cpu for took in times])} per second of CPU time"
        )
    pairs = [one.wall / two.wall for one, two in zip(*known.values(), strict=True)]
    print(f"   two threads are {middle(pairs)} times as fast as one")


def main(steps=20_000):
    say_load("rl")
    alone(steps)
    at_once()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
