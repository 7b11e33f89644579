"""P7: one cohort of 50 queues holds 5,000 workloads; 500 of higher priority arrive and evict 4 to 10 of them each.

Half of the queues use more than their nominal quota. Arrivals in these queues preempt within their own queue; arrivals
in the other queues reclaim quota first.
"""

from callgrind import CYCLE, MARK, measure
from shapes import engine, job, run

QUOTA, LENT, ARRIVALS = 100, 50, 10


def body():
    made, queues = engine(cohorts=1, queues=50, nominal_quota=QUOTA)
    borrowers = queues[::2]
    for queue in queues:
        for i in range(QUOTA + LENT if queue in borrowers else QUOTA - LENT):
            made.submit(job(f"{queue}-low-{i}", queue, 1, created=i))
    held = run(made)
    made.set_now(10**9)
    for i in range(ARRIVALS):
        for number, queue in enumerate(queues):
            made.submit(job(f"{queue}-high-{i}", queue, 4 + (i + number) % 7, priority=10, created=10**9 + i))
    made.fingerprint()
    return {"held": held["admitted"]} | run(made)


if __name__ == "__main__":
    measure(
        __file__,
        body,
        lambda parts, _: {"instructions per preemptor": parts[-1] / (50 * ARRIVALS)},
        functions=[CYCLE],
        marks=[MARK],
    )
