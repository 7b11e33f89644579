"""P4 with fair sharing: the load of `bench_p4_baseline` in virtual time, with preemption by dominant resource share."""

from bench_p4_baseline import CLASSES
from shapes import profile
from sorts import measure_load

if __name__ == "__main__":
    measure_load(__file__, None, profile(cohorts=5, queues=6, classes=CLASSES), fair_sharing=True)
