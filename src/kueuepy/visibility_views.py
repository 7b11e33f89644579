"""The shapes in which the core tells what a platform shows; every amount is the scheduler's integer."""

from __future__ import annotations

from typing import Literal, TypeAlias

EventKind: TypeAlias = Literal[
    "QuotaReserved", "Admitted", "Evicted", "QuotaReleased", "Pending", "Finished", "Deleted", "Requeued"
]

ResourceHolding: TypeAlias = tuple[str, int, int, int, int, int]
"""resource, reserved, admitted, nominal quota, borrowing limit, lending limit"""
FlavorHoldings: TypeAlias = list[tuple[str, list[ResourceHolding]]]
"""By flavor, in the order of the ClusterQueue."""
ConsumedView: TypeAlias = tuple[float, int, dict[str, str]]
"""usage over weight, last update, consumed quantity by resource"""
ClusterQueueView: TypeAlias = tuple[str, str, str, str, int, int, int, int, float, FlavorHoldings]
"""name, cohort, why inactive, its message, active, inadmissible, reserving, admitted, share, holdings"""
LocalQueueView: TypeAlias = tuple[
    str, str, str, bool, bool, bool, int, int, int, int, ConsumedView | None, FlavorHoldings
]
"""namespace, name, ClusterQueue, runs, ClusterQueue exists, is active, then as above from active on"""
CohortView: TypeAlias = tuple[str, str, str, bool, float, list[tuple[str, str, int, int]]]
"""name, parent, root, declared, share, (flavor, resource, subtree quota, usage)"""
PendingView: TypeAlias = tuple[str, str, str, int, int, int]
"""namespace, name, LocalQueue, priority, creation, position in the LocalQueue"""
EventView: TypeAlias = tuple[int, EventKind, str, str, str, str, str, str, str, str, str, int]
"""The fields of `kueuepy.visibility_events.Event`."""
