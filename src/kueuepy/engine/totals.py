"""Types of the integrals over time that a simulation returns, with the fields of `_core.RECORDS`.

Integrals are in amounts times nanoseconds, or in nanoseconds. A flavor and resource is the text `flavor/resource`.
"""

from typing import TypedDict

from kueuepy.engine.records import CellTotals, EvictionTotals, TreeTotals


class QueueTotals(TypedDict):
    """The integrals of a ClusterQueue.

    `waits` is the integral of the number of pending jobs, and `most_waiting` the maximum of this number. While jobs are
    pending, `somebody_waits` is the integral of 1, and `blocked` that of the used fraction of the quota that the queue
    is entitled to.
    """

    waits: float
    most_waiting: int
    blocked: float
    somebody_waits: float
    cells: dict[str, CellTotals]


class SubmittedTotals(TypedDict):
    """The integrals of usage and nominal quota until the last submission, by flavor and resource.

    `until` is the time of the last submission after the start, in nanoseconds; -1 if not all jobs have arrived.
    """

    until: int
    used: dict[str, float]
    nominal: dict[str, float]


class Totals(TypedDict):
    """The integrals of a simulation.

    `queues` contains the ClusterQueues that have quota or had pending jobs. `nominal`, `lost` and `overhead` are
    integrals of quota, lost work and overhead by flavor and resource. `waits` is the integral of the number of pending
    jobs, and `most_waiting` the maximum of this number. `borrowing` is the time during which any queue borrows.
    """

    submitted: SubmittedTotals
    queues: dict[str, QueueTotals]
    trees: list[TreeTotals]
    evictions: list[EvictionTotals]
    nominal: dict[str, float]
    lost: dict[str, float]
    overhead: dict[str, float]
    waits: float
    most_waiting: int
    borrowing: float
