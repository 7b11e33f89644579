"""Property-based tests of policies with Hypothesis: random clusters, workloads and histories.

Requires the extra `testing` (`pip install 'kueuepy[testing]'`).

| name | purpose |
| --- | --- |
| `clusters`, `workloads`, `jobs`, `traces`, `edits` | Hypothesis strategies |
| `Arrival`, `drive` | one arrival of a trace, and a function that runs a trace on a Scheduler |
| `SchedulerMachine` | a Hypothesis state machine with the actions of users and administrators |
| `Mutator` | a generator of malformed manifests, for testing parsers |
| `owed` | the pending workloads of a ClusterQueue that would fit into its unused nominal quota |

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
