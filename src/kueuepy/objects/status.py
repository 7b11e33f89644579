"""The status of a Workload: its conditions, its admission, its checks."""

from typing import Any, Literal, TypeAlias

from msgspec import field

from kueuepy.objects.base import Collection, Int64, ResourceList, Value
from kueuepy.objects.times import EPOCH, OptionalTimeField, TimeField, convert_times, default
from kueuepy.objects.topology import TopologyAssignment

ConditionStatus: TypeAlias = Literal["True", "False", "Unknown"]
CheckState: TypeAlias = Literal["Pending", "Ready", "Retry", "Rejected"]
FinishReason: TypeAlias = Literal["Succeeded", "Failed", "FailedToStart"]


class Condition(Value, frozen=True):
    """One of a Workload's conditions: `QuotaReserved`, `Admitted`, `Evicted`, `Finished` and others.

    Attributes:
        type: The condition's type; each occurs once.
        status: `"True"`, `"False"` or `"Unknown"`, as text.
        reason: A word for programs.
        message: A sentence for people.
        last_transition_time: When the status last changed, a datetime (or text, or seconds since 1970).
    """

    type: str
    status: ConditionStatus
    reason: str = ""
    message: str = ""
    last_transition_time: TimeField = default(EPOCH)

    def __post_init__(self) -> None:
        """Turns the time into a Timestamp.

        Raises:
            InvalidSpecError: It is not a time.
        """
        convert_times(self, "last_transition_time")


class PodSetAssignment(Value, frozen=True):
    """What one pod set was given.

    Attributes:
        name: The pod set's name.
        flavors: The flavor of each resource.
        resource_usage: The quota that all its pods together hold, by resource.
        count: How many pods were admitted; `None` for all that the pod set has.
        topology_assignment: Where the pods go, if a topology places them.
        delayed_topology_request: `Pending` while a topology is still to be assigned, then `Ready`.
    """

    name: str = "main"
    flavors: dict[str, str] = field(default_factory=dict)
    resource_usage: ResourceList = field(default_factory=dict)
    count: int | None = None
    topology_assignment: TopologyAssignment | None = None
    delayed_topology_request: Literal["Pending", "Ready"] | None = None


class Admission(Collection, frozen=True):
    """The quota that a Workload holds.

    Attributes:
        cluster_queue: The ClusterQueue that gave it.
        pod_set_assignments: One for each pod set.
    """

    cluster_queue: str
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()


class RequeueState(Value, frozen=True):
    """How often a Workload was put back after its pods did not become ready in time, or a check asked for a retry.

    Attributes:
        count: How often.
        requeue_at: Until when it waits, a datetime (text, or seconds since 1970); `None` if it doesn't.
    """

    count: int = 0
    requeue_at: OptionalTimeField = default(None)

    def __post_init__(self) -> None:
        """Turns the time into a Timestamp.

        Raises:
            InvalidSpecError: It is not a time.
        """
        convert_times(self, "requeue_at")


class ReclaimablePod(Value, frozen=True):
    """Pods of a pod set that no longer need their quota.

    Attributes:
        name: The pod set's name.
        count: How many of its pods.
    """

    name: str
    count: int


class AdmissionCheckState(Collection, frozen=True):
    """What an admission check says of a Workload.

    Attributes:
        name: The AdmissionCheck's name.
        state: `Retry` and `Rejected` evict; all checks `Ready` admit.
        message: A sentence for people.
        last_transition_time: When the state last changed, a datetime (or text, or seconds since 1970).
        retry_count: How often the check asked for a retry.
        requeue_after_seconds: For how long the Workload waits after a retry.
        pod_set_updates: What the check adds to pod sets, as in the manifest.
    """

    name: str
    state: CheckState
    message: str = ""
    last_transition_time: TimeField = default(EPOCH)
    retry_count: Int64 | None = None
    requeue_after_seconds: Int64 | None = None
    pod_set_updates: tuple[dict[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """Turns the time into a Timestamp, and lists into tuples.

        Raises:
            InvalidSpecError: The time is not a time, or a list is none.
        """
        super().__post_init__()
        convert_times(self, "last_transition_time")


class WorkloadStatus(Collection, frozen=True, kw_only=True):
    """What the scheduler and the controllers have decided about a Workload so far.

    Source: `apis/kueue/v1beta2/workload_types.go:WorkloadStatus`.

    Attributes:
        conditions: At most 16, each type once.
        admission: The quota that it holds, or `None`.
        requeue_state: Its retries, or `None`.
        reclaimable_pods: Pods whose quota is free again.
        admission_checks: The states of its checks, at most 8.
        accumulated_past_execution_time_seconds: For how long it ran in earlier admissions.
        unhealthy_nodes: Names of the failed nodes that its topology assignment uses.
        cluster_name: The MultiKueueCluster that runs the Workload; read and written, without effect on admission.
        nominated_cluster_names: The MultiKueueClusters that may run it; likewise.
    """

    conditions: tuple[Condition, ...] = ()
    admission: Admission | None = None
    requeue_state: RequeueState | None = None
    reclaimable_pods: tuple[ReclaimablePod, ...] = ()
    admission_checks: tuple[AdmissionCheckState, ...] = ()
    accumulated_past_execution_time_seconds: Int64 | None = None
    unhealthy_nodes: tuple[str, ...] = ()
    cluster_name: str | None = None
    nominated_cluster_names: tuple[str, ...] = ()

    def is_true(self, condition_type: str) -> bool:
        """Whether this condition is present with status `"True"`."""
        return any(c.type == condition_type and c.status == "True" for c in self.conditions)
