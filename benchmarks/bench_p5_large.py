"""P5: the load of Kueue's large-scale performance test in virtual time: 1,000 queues, 50,000 workloads."""

from sorts import measure_load

if __name__ == "__main__":
    measure_load(
        __file__,
        reference_sorts=33,
        cohorts=10,
        queues=100,
        classes={
            "small": (35, 60, 150, 50, 1),
            "medium": (11, 300, 350, 100, 5),
            "large": (4, 700, 700, 200, 20),
        },
    )
