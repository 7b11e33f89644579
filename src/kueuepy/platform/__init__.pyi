from kueuepy.platform.importer import import_cluster
from kueuepy.platform.journal import Journal
from kueuepy.platform.metrics import Watch
from kueuepy.platform.visibility import (
    cluster_queue_status,
    cohort_status,
    local_queue_status,
    pending_workloads,
    state_dump,
)

__all__ = [
    "Journal",
    "Watch",
    "cluster_queue_status",
    "cohort_status",
    "import_cluster",
    "local_queue_status",
    "pending_workloads",
    "state_dump",
]
