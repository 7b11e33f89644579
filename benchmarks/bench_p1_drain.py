"""P1: 30 queues in 5 cohorts with 50 workloads each; all workloads fit."""

from callgrind import CYCLE, measure
from shapes import engine, fill, run


def body():
    made, queues = engine(cohorts=5, queues=6, nominal_quota=50)
    fill(made, queues, each=50)
    return run(made)


if __name__ == "__main__":
    measure(
        __file__,
        body,
        lambda parts, did: {"instructions per head": sum(parts) / did["admitted"]},
        functions=[CYCLE],
    )
