"""Results of a large run: metrics of a window, by ClusterQueue and by a column, and a report."""

import os
import random

from callgrind import MARK, measure

from kueuepy import Cluster, ClusterQueue, ResourceFlavor, report, simulate
from kueuepy._core import Engine

JOBS, QUEUES, COHORTS, USERS = 10_000, 500, 20, 100


def finished_run():
    rng = random.Random(1)  # noqa: S311
    names = [f"queue-{number}" for number in range(QUEUES)]
    queues = [
        ClusterQueue.of(name, {"default": {"cpu": 8}}, cohort_name=f"cohort-{number % COHORTS}")
        for number, name in enumerate(names)
    ]
    jobs = [
        {
            "queue": rng.choice(names),
            "submit": number * 8,
            "runtime": rng.randrange(60, 3600),
            "cpu": rng.randrange(1, 9),
            "user": f"user-{rng.randrange(USERS)}",
        }
        for number in range(JOBS)
    ]
    return simulate(Cluster(ResourceFlavor("default"), *queues), jobs)


def body():
    result = finished_run()
    small = Cluster(ResourceFlavor("default"), ClusterQueue.of("queue", {"default": {"cpu": 1}}))
    job = {"queue": "queue", "submit": 0, "runtime": 60, "cpu": 1, "user": "user"}
    report(simulate(small, [job]), os.devnull)  # imports happen once
    finished = result.kpis.finished
    mark = Engine()
    mark.fingerprint()
    windowed = result.figures("2h", "12h").jobs
    mark.fingerprint()
    queues = len(result.queues["cluster_queue"])
    mark.fingerprint()
    users = len(result.by("user")["user"])
    mark.fingerprint()
    report(result, os.devnull)
    mark.fingerprint()
    return {"finished": finished, "jobs of the window": windowed, "queues": queues, "users": users}


def figures(parts, _):
    _, window, queues, by, page, _ = parts
    return {
        "instructions of figures": window,
        "instructions of queues": queues,
        "instructions of by": by,
        "instructions of report": page,
    }


if __name__ == "__main__":
    measure(__file__, body, figures, functions=[], marks=[MARK])
