"""P3: 30 queues in 5 cohorts with 500 workloads each; all workloads fit and stay.

The cost of a head must not increase with the number of admitted workloads.
"""

import sys

from callgrind import CYCLE, MARK, measure
from shapes import engine, fill, run

ROUNDS = 500
TENTH = ROUNDS // 10
MOST_GROWTH = 1.3


def body():
    made, queues = engine(cohorts=5, queues=6, nominal_quota=ROUNDS)
    fill(made, queues, each=ROUNDS)
    first = run(made, TENTH)
    made.fingerprint()
    run(made, ROUNDS - 2 * TENTH)
    made.fingerprint()
    last = run(made)
    return {"first_tenth": first["admitted"], "last_tenth": last["admitted"]}


def figures(parts, did):
    first, middle, last = parts[-3:]
    heads = did["first_tenth"]
    growth = (last / did["last_tenth"]) / (first / heads)
    if growth > MOST_GROWTH:
        sys.exit(f"a head of the last tenth costs {growth:.2f} times one of the first; {MOST_GROWTH} is the most")
    return {
        "instructions per head": (first + middle + last) / (heads * 10),
        "last tenth to first tenth": growth,
    }


if __name__ == "__main__":
    measure(__file__, body, figures, functions=[CYCLE], marks=[MARK])
