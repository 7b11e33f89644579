"""Calls of platforms: questions, submissions, forks and first writes, with 1,000 ClusterQueues and 9,000 workloads."""

import gc
from collections import Counter

from callgrind import MARK, measure
from shapes import PREEMPTION

from kueuepy import Cluster, ClusterQueue, LocalQueue, ResourceFlavor, Scheduler
from kueuepy._core import Engine

COHORTS, QUEUES, HELD = 10, 100, 10
CALLS = 500
FIRST_WRITES = 50


def busy():
    """Return a Scheduler in which nine of ten cohorts use all their quota, and half of their workloads wait."""
    names = [f"queue-{number}" for number in range(COHORTS * QUEUES)]
    objects = [ResourceFlavor("default")]
    for number, name in enumerate(names):
        quotas = {"default": {"cpu": HELD // 2}}
        objects.append(ClusterQueue.of(name, quotas, cohort_name=f"cohort-{number % COHORTS}", preemption=PREEMPTION))
        objects.append(LocalQueue(name, cluster_queue=name))
    scheduler = Scheduler(Cluster(*objects), now=0)
    scheduler.submit(
        {"name": f"{name}-{held}", "queue": name, "cpu": 1}
        for number, name in enumerate(names)
        if number % COHORTS
        for held in range(HELD)
    )
    scheduler.settle()
    return scheduler, names


def rows(names, prefix):
    """Return one row per call: some would be admitted, some would preempt, and the others would wait."""
    asked = ((1, 0), (1, 1), (10_000, 0))
    return [
        {"name": f"{prefix}-{i}", "queue": name, "cpu": cpu, "priority": priority}
        for i, name in enumerate(names[:CALLS])
        for cpu, priority in [asked[i % len(asked)]]
    ]


def body():
    scheduler, names = busy()
    asked, submitted = rows(names, "asked"), rows(names, "submitted")
    prepared = [scheduler.question(row) for row in asked]
    scheduler.try_admit(asked[0])  # imports happen once
    writer = scheduler.fork()
    writer.submit({"name": "first", "queue": names[0], "cpu": 1})
    gc.collect()
    gc.freeze()  # a collection in one of the parts visits the objects of the calls, not those of the whole state
    mark = Engine()
    mark.fingerprint()
    by_row = [type(scheduler.try_admit(row)).__name__ for row in asked]
    mark.fingerprint()
    by_question = [type(scheduler.try_admit(question)).__name__ for question in prepared]
    mark.fingerprint()
    at_once = list(scheduler.try_admit_many(prepared).verdicts)
    mark.fingerprint()
    for row in submitted:
        writer.submit(row)
    mark.fingerprint()
    forks = [scheduler.fork() for _ in range(CALLS)]
    mark.fingerprint()
    for fork, row in zip(forks[:FIRST_WRITES], submitted, strict=False):
        fork.submit(row)
    mark.fingerprint()
    assert by_row == by_question == at_once
    return {**dict(sorted(Counter(by_row).items())), "submitted": len(writer.keys()) - len(scheduler.keys())}


def figures(parts, _):
    *_, row, question, many, submission, fork, first_write, _ = parts
    return {
        "instructions per question from a row": row / CALLS,
        "instructions per prepared question": question / CALLS,
        "instructions per prepared question of many": many / CALLS,
        "instructions per submission of a row": submission / CALLS,
        "instructions per fork": fork / CALLS,
        "instructions per first write after a fork": first_write / FIRST_WRITES,
    }


if __name__ == "__main__":
    measure(__file__, body, figures, functions=[], marks=[MARK])
