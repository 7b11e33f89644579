"""Test your own policies: random clusters, workloads and histories for Hypothesis, and the promises you make.

It needs the extra `testing` (`pip install 'kueuepy[testing]'`).

| name | is |
| --- | --- |
| `clusters`, `workloads`, `jobs`, `traces`, `edits` | strategies |
| `Arrival`, `drive` | one line of a trace; running a trace on a Scheduler |
| `SchedulerMachine` | a state machine that does everything a cluster's users and administrators do |
| `Mutator` | texts that are nearly manifests, for readers of them |
| `owed` | who waits in a ClusterQueue that has nominal quota left for them |

>>> from hypothesis import given
>>> from kueuepy import Scheduler
>>> from kueuepy.testing import clusters, owed, workloads
>>> @given(clusters(cohorts=0), workloads())
... def test_a_queue_of_its_own_gets_its_quota(cluster, waiting):
...     scheduler = Scheduler(cluster)
...     scheduler.submit(waiting)
...     scheduler.settle()
...     assert not any(owed(scheduler, queue.name) for queue in cluster.cluster_queues)
"""

from kueuepy.testing.machine import SchedulerMachine
from kueuepy.testing.mutation import Mutator
from kueuepy.testing.promises import owed
from kueuepy.testing.strategies import clusters, edits, jobs, workloads
from kueuepy.testing.traces import Arrival, drive, traces

__all__ = [
    "Arrival",
    "Mutator",
    "SchedulerMachine",
    "clusters",
    "drive",
    "edits",
    "jobs",
    "owed",
    "traces",
    "workloads",
]
