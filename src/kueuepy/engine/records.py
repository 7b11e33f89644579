"""Records that the core creates directly. Each record is a NamedTuple with the fields that `_core.RECORDS` lists.

Times are in nanoseconds since the Unix epoch. Amounts are integers, in millicores for cpu and in base units for all
other resources.
"""

from typing import Any, Literal, NamedTuple, TypeAlias

from kueuepy.objects.status import CheckState

# Equal to `_core.EVENT_KINDS` and the table in `kueuepy.platform.visibility.SchedulerEvent`, which a test verifies.
EventKind: TypeAlias = Literal[
    "Created",
    "QuotaReserved",
    "Admitted",
    "PodsReady",
    "Evicted",
    "QuotaReleased",
    "Pending",
    "PreemptionSkipped",
    "TargetsRecomputed",
    "Assigned",
    "UnhealthyNodes",
    "Finished",
    "Deleted",
]
PlaceView: TypeAlias = tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], int], ...]]
"""The levels of a topology assignment; for each domain, its values and number of pods."""


class ConditionView(NamedTuple):
    """A condition of a workload.

    Attributes:
        is_true: Whether the status is `True`; conditions with status `Unknown` are not stored.
        reason: The reason.
        message: The message, as Kueue writes it.
        transition: The time of the last change of the status.
    """

    is_true: bool
    reason: str
    message: str
    transition: int


NO_CONDITION = ConditionView(False, "", "", 0)  # noqa: FBT003 - a value by its place
"""A condition that was never set."""


class CheckView(NamedTuple):
    """An admission check of a workload.

    Attributes:
        name: The name of the AdmissionCheck.
        state: The state of the check.
        message: The message of the check's controller.
        transition: The time of the last change of the state.
        retries: The number of retries.
        retry_after_seconds: The delay after a retry, in seconds.
        updates: The updates to pod sets, as JSON; an empty string if there are none.
    """

    name: str
    state: CheckState
    message: str
    transition: int
    retries: int | None
    retry_after_seconds: int | None
    updates: str


class StatusView(NamedTuple):
    """The status of a workload without its conditions and admission.

    Attributes:
        checks: The admission checks.
        requeue_count: The number of evictions because of pods that were not ready; `None` if they are not counted.
        requeue_at: The end of the back-off period.
        past_execution_seconds: The accumulated execution time that counts towards `maximumExecutionTimeSeconds`.
        reclaimable: The reclaimable pods by pod set.
        pods_ready: Whether the pods were reported as ready.
        active: Whether the workload may run.
        unhealthy_nodes: The failed nodes of the workload's topology assignment.
    """

    checks: list[CheckView]
    requeue_count: int | None
    requeue_at: int | None
    past_execution_seconds: int | None
    reclaimable: dict[str, int]
    pods_ready: bool
    active: bool
    unhealthy_nodes: list[str]


class PodSetAdmissionView(NamedTuple):
    """The admission of a pod set.

    Attributes:
        name: The name of the pod set.
        pods: The admitted number of pods.
        resources: The flavor and amount of each resource.
        place: The topology assignment; `None` without a topology.
        delayed: The state of a topology assignment that is delayed until admission checks are ready; an empty string if
            it is not delayed.
    """

    name: str
    pods: int
    resources: dict[str, tuple[str, int]]
    place: PlaceView | None
    delayed: Literal["", "Pending", "Ready"]


class AdmissionView(NamedTuple):
    """The admission of a workload: its ClusterQueue, and the admission of each pod set."""

    cluster_queue: str
    pod_sets: tuple[PodSetAdmissionView, ...]


class CycleView(NamedTuple):
    """The result of a cycle: the numbers of admitted and evicted workloads, and whether anything else changed."""

    idle: bool
    admitted: int
    evicted: int
    moved: bool


class EventView(NamedTuple):
    """The fields of a `kueuepy.platform.visibility.SchedulerEvent`."""

    time: int
    cycle: int
    kind: EventKind
    workload: str
    local_queue: str
    priority_class: str
    cluster_queue: str
    reason: str
    underlying_cause: str
    preemption_reason: str
    message: str
    preemptor: str
    preemptor_cluster_queue: str
    queued_since: int
    since: int | None


class ChangeView(NamedTuple):
    """The ids of an event's workload and of the preemptor (-1 without a preemptor), and the reasons."""

    kind: EventKind
    workload: int
    preemptor: int
    reason: str
    preemption_reason: str


class PendingView(NamedTuple):
    """A pending workload; `position` is its position in the LocalQueue."""

    namespace: str
    name: str
    local_queue: str
    priority: int
    created: int
    position: int


class ResourceHolding(NamedTuple):
    """The reserved and admitted amounts of a resource in a flavor, with its quota."""

    resource: str
    reserved: int
    admitted: int
    nominal: int
    borrowing_limit: int
    lending_limit: int


class FlavorHolding(NamedTuple):
    """The resources of a flavor, sorted by name."""

    flavor: str
    resources: list[ResourceHolding]


class ConsumedView(NamedTuple):
    """The usage of a LocalQueue divided by its weight, the time of the last update, and quantities by resource."""

    usage: float
    updated: int
    quantities: dict[str, str]


class ClusterQueueView(NamedTuple):
    """The status of a ClusterQueue, and the number of its workloads."""

    name: str
    cohort: str
    why_inactive: str
    message: str
    active: int
    inadmissible: int
    reserving: int
    admitted: int
    share: float
    holdings: list[FlavorHolding]


class LocalQueueView(NamedTuple):
    """The status of a LocalQueue.

    The amounts held by the workloads of the LocalQueue are listed by flavor of its ClusterQueue.
    """

    namespace: str
    name: str
    cluster_queue: str
    runs: bool
    is_found: bool
    is_active: bool
    active: int
    inadmissible: int
    reserving: int
    admitted: int
    finished: int
    consumed: ConsumedView | None
    holdings: list[FlavorHolding]


class CohortCell(NamedTuple):
    """The quota of a Cohort's subtree for one flavor and resource, and the usage of the queues in this subtree."""

    flavor: str
    resource: str
    subtree_quota: int
    reserved: int


class CohortView(NamedTuple):
    """A Cohort. `root` is empty if Cohorts form a cycle."""

    name: str
    parent: str
    root: str
    is_declared: bool
    share: float
    cells: list[CohortCell]


class BacklogView(NamedTuple):
    """The requests of the pending workloads of a ClusterQueue, and the number of its finished workloads.

    `active`, `inadmissible` and `every` count equivalence classes of workloads. The scheduler treats all workloads of
    one class identically.
    """

    name: str
    finished: int
    asked: list[tuple[str, int]]
    """The resource and the requested amount."""
    active: int
    inadmissible: int
    every: int


class UnadmittedView(NamedTuple):
    """The number of workloads of a LocalQueue that are not admitted for a given reason."""

    namespace: str
    local_queue: str
    cluster_queue: str
    reason: str
    underlying_cause: str
    count: int  # type: ignore[assignment]


class NodeRow(NamedTuple):
    """A Cohort or a ClusterQueue.

    Attributes:
        name: The name.
        kind: `ClusterQueue` or `Cohort`.
        parent: The row of the parent Cohort; -1 for a root.
        exists: Whether the object exists. The row of an object remains after the object is deleted.
        is_active: Whether the row is an active ClusterQueue.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    parent: int
    exists: bool
    is_active: bool


class TreeDomain(NamedTuple):
    """A domain of a topology; `parent` is the row of the domain above, or -1."""

    level: int
    parent: int
    value: str


class TreeUse(NamedTuple):
    """The number of a workload's pods in a leaf, and the requests of one pod."""

    leaf: int
    workload: str
    pods: int
    requests: dict[str, int]


class TreeView(NamedTuple):
    """The topology tree of a flavor.

    In the lists of amounts, each row is a leaf and each column a resource.

    Attributes:
        topology: The name of the Topology.
        levels: The levels of the Topology.
        resources: The resources of the nodes.
        domains: The domains, level by level.
        leaves: For each leaf, the row of its domain.
        capacity: For each leaf, the total capacity of its nodes.
        free: The capacity minus the requests of pods that Kueue does not manage.
        used: For each leaf, the amounts that workloads use.
        uses: For each workload and leaf, the number of pods and the requests of one pod.
        absent: Nodes with the flavor's labels that belong to no domain, and the reason.
    """

    topology: str
    levels: tuple[str, ...]
    resources: list[str]
    domains: list[TreeDomain]
    leaves: list[int]
    capacity: list[list[int]]
    free: list[list[int]]
    used: list[list[int]]
    uses: list[TreeUse]
    absent: list[tuple[str, str]]


class ItemView(NamedTuple):
    """An item of a list in a manifest: its offsets in the text, its first line, and its value."""

    start: int
    stop: int
    line: int
    value: Any


class AssignedFlavor(NamedTuple):
    """The flavor and amount of one resource of an admitted pod set."""

    pod_set: str
    resource: str
    flavor: str
    amount: int


class SimulationStats(NamedTuple):
    """The numbers of events of a simulation.

    Attributes:
        workloads: The number of submitted workloads.
        cycles: The number of scheduling cycles.
        admissions: The number of admissions.
        evictions: The number of evictions.
        finished: The number of finished jobs.
        end: The time of the last arrival or completion, in nanoseconds.
    """

    workloads: int
    cycles: int
    admissions: int
    evictions: int
    finished: int
    end: int


class CellTotals(NamedTuple):
    """The integrals of a ClusterQueue for one flavor and resource, and its usage at the end (`last_used`)."""

    used: float
    nominal: float
    borrowed: float
    last_used: int


class TreeTotals(NamedTuple):
    """The integrals of a cohort tree for one flavor and resource.

    Attributes:
        tree: The root Cohort, or the ClusterQueue if it has no Cohort.
        flavor_resource: The flavor and the resource, as `flavor/resource`.
        idle: Unused quota, up to the amount requested by pending jobs.
        lent: Borrowed amount, up to the unused nominal quota of other queues.
    """

    tree: str
    flavor_resource: str
    idle: float
    lent: float


class EvictionTotals(NamedTuple):
    """The evictions of the jobs of one ClusterQueue that have the same cause.

    Attributes:
        victim: The ClusterQueue of the evicted jobs.
        preemptor: The ClusterQueue of the preemptors; empty without preemption.
        rule: The reason of the preemption; empty without preemption.
        count: The number of evictions.
        lost: The lost work in amounts times nanoseconds, by `flavor/resource`.
    """

    victim: str
    preemptor: str
    rule: str
    count: int  # type: ignore[assignment]
    lost: dict[str, float]


class DetectedLoop(NamedTuple):
    """A preemption loop.

    Attributes:
        seconds: The time at which the loop was first detected, in seconds after the start of the simulation.
        period: The number of cycles after which the loop repeats.
        times: The number of times that the loop was detected.
        jobs: The rows of the jobs in the loop.
    """

    seconds: float
    period: int
    times: int
    jobs: list[int]


class DispatchView(NamedTuple):
    """The MultiKueue check of a workload, its nominated clusters, and the chosen cluster (-1 if none is chosen)."""

    check: str
    state: CheckState
    message: str
    nominated: list[int]
    cluster: int


class CopyView(NamedTuple):
    """A workload's copy on a cluster: the id of the copy, whether it has a job, and whether the job has pods."""

    cluster: int
    workload: int
    has_job: bool
    is_active: bool
