from kueuepy.platform.visibility.dump import state_dump
from kueuepy.platform.visibility.events import EventTable, SchedulerEvent, drain_events, event_table
from kueuepy.platform.visibility.coverage import Fidelity, fidelity
from kueuepy.platform.visibility.status import (
    ClusterQueueStatus,
    CohortStatus,
    LocalQueueStatus,
    PendingWorkload,
    PendingWorkloadsSummary,
    cluster_queue_status,
    cohort_status,
    local_queue_status,
    pending_workloads,
)

__all__ = [
    "ClusterQueueStatus",
    "CohortStatus",
    "EventTable",
    "Fidelity",
    "LocalQueueStatus",
    "PendingWorkload",
    "PendingWorkloadsSummary",
    "SchedulerEvent",
    "cluster_queue_status",
    "cohort_status",
    "drain_events",
    "event_table",
    "fidelity",
    "local_queue_status",
    "pending_workloads",
    "state_dump",
]
