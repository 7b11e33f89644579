"""Property-based tests of policies with Hypothesis: random clusters, workloads and histories.

Requires the extra `testing`.

| name | purpose |
| --- | --- |
| `clusters`, `workload`, `workloads`, `jobs`, `traces`, `edits` | Hypothesis strategies |
| `Arrival`, `drive` | one arrival of a trace, and a function that runs a trace on a Scheduler |
| `SchedulerMachine` | a Hypothesis state machine with the actions of users and administrators |

>>> from hypothesis import given
>>> from kueuepy import Scheduler
>>> from kueuepy.testing import clusters, workloads
>>> @given(clusters(cohorts=0), workloads())
... def test_a_queue_without_a_cohort_does_not_borrow(cluster, waiting):
...     scheduler = Scheduler(cluster)
...     scheduler.submit(waiting)
...     scheduler.settle()
...     assert all(row["usage"] <= row["nominal_quota"] for row in scheduler.usage)
"""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
