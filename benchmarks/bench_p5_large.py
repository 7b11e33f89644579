"""P5: the load of Kueue's large-scale performance test in virtual time: 1,000 queues, 50,000 workloads."""

from shapes import LARGE, profile
from sorts import measure_load

if __name__ == "__main__":
    measure_load(__file__, reference_sorts=33, profile=profile(**LARGE))
