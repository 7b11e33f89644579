from kueuepy.testing.machine import SchedulerMachine
from kueuepy.testing.strategies import clusters, edits, jobs, workload, workloads
from kueuepy.testing.arrivals import Arrival as Arrival
from kueuepy.testing.arrivals import drive, traces

__all__ = [
    "SchedulerMachine",
    "clusters",
    "drive",
    "edits",
    "jobs",
    "traces",
    "workload",
    "workloads",
]
