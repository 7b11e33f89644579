"""P2: 1,000 queues in 10 cohorts with 5 workloads each; all workloads fit."""

from callgrind import CYCLE, measure
from shapes import engine, fill, run


def body():
    made, queues = engine(cohorts=10, queues=100, nominal_quota=5)
    fill(made, queues, each=5)
    return run(made)


if __name__ == "__main__":
    measure(
        __file__,
        body,
        lambda parts, did: {"instructions per head": sum(parts) / did["admitted"]},
        functions=[CYCLE],
    )
