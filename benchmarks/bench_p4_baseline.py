"""P4: the load of Kueue's baseline performance test in virtual time: 30 queues, 15,000 workloads, with preemption."""

from shapes import profile
from sorts import measure_load

CLASSES = {
    "small": (350, 100, 200, 50, 1),
    "medium": (100, 500, 500, 100, 5),
    "large": (50, 1200, 1000, 200, 20),
}

if __name__ == "__main__":
    measure_load(__file__, reference_sorts=22, profile=profile(cohorts=5, queues=6, classes=CLASSES))
