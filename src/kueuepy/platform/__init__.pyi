from kueuepy.platform.importer import Import as Import, import_cluster as import_cluster
from kueuepy.platform.journal import Journal as Journal, JournaledScheduler as JournaledScheduler
from kueuepy.platform.metrics import Watch as Watch
from kueuepy.platform.visibility import (
    ClusterQueueStatus as ClusterQueueStatus,
    CohortStatus as CohortStatus,
    EventTable as EventTable,
    Fidelity as Fidelity,
    LocalQueueStatus as LocalQueueStatus,
    PendingWorkload as PendingWorkload,
    PendingWorkloadsSummary as PendingWorkloadsSummary,
    SchedulerEvent as SchedulerEvent,
    cluster_queue_status as cluster_queue_status,
    cohort_status as cohort_status,
    local_queue_status as local_queue_status,
    pending_workloads as pending_workloads,
    state_dump as state_dump,
)
