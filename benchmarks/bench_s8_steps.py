"""S8: a day of the learning environment: 144 steps with 10 queues and 10 arrivals per step.

Each step sets the quota of all queues.
"""

from callgrind import measure
from time_rl import EPISODE, INTERVAL, game

from kueuepy.lab.rl import QuotaEnv


def body():
    env = QuotaEnv(*game(), interval=INTERVAL)
    env.action_space.seed(1)
    env.reset(seed=0)
    for _ in range(EPISODE):
        *_, info = env.step(env.action_space.sample())
    kpis = info["kpis"]
    return {
        "steps": EPISODE,
        "jobs": kpis.jobs,
        "finished": kpis.finished,
        "first": next(iter(info["values"].values())),
    }


def figures(parts, did):
    return {"instructions per step": sum(parts) / did["steps"], "instructions per job": sum(parts) / did["jobs"]}


if __name__ == "__main__":
    measure(__file__, body, figures, functions=[f"kueue::python::Fleet::{name}(*)" for name in ("Plan", "Start", "Go")])
