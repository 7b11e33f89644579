"""P6: the load of Kueue's topology performance test in virtual time: 640 nodes, 30 queues, 15,000 workloads."""

from itertools import product

from shapes import load
from sorts import measure_load

from load_profile import FlavorShape, Level, TopologyShape, WorkloadsSet, WorkloadTemplate

RACK = "example.com/rack"
HALL = TopologyShape(
    name="hall",
    levels=(
        Level("block", 1, "example.com/block"),
        Level("rack", 10, RACK),
        Level("node", 64, "kubernetes.io/hostname", {"cpu": "96", "memory": "256Gi"}),
    ),
)
SIZES = {
    "small": ((120, 120, 110), 100, 200, 50, 2, "500m", 1),
    "medium": ((34, 33, 33), 500, 500, 100, 4, "1250m", 2),
    "large": ((17, 17, 16), 1200, 1000, 200, 8, "2500m", 4),
}
"""For each size: counts by kind, interval and run time in milliseconds, priority, pods, CPU request, slice size."""


def arrivals():
    for (size, (counts, interval, runtime, priority, pods, request, slice_size)), (kind, constraint) in product(
        SIZES.items(), enumerate(("required", "preferred", "balanced"))
    ):
        template = WorkloadTemplate(
            class_name=f"{size}-{constraint}",
            runtime_ms=runtime,
            request=request,
            priority=priority,
            pod_count=pods,
            tas_constraint=constraint,
            tas_level=RACK,
            slice_size=slice_size,
        )
        yield WorkloadsSet(count=counts[kind], creation_interval_ms=interval, workloads=(template,))


if __name__ == "__main__":
    flavor = FlavorShape("placed", "example.com/pool", "hall")
    placed = load(5, 6, tuple(arrivals()), topology=HALL, resource_flavor=flavor)
    measure_load(__file__, reference_sorts=22, profile=placed)
