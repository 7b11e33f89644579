"""The status of a Workload: conditions, admission and admission checks."""

from typing import Any, Literal, TypeAlias

from msgspec import field

from kueuepy.objects.base import Collection, Int64, ResourceList, Timed, Value
from kueuepy.objects.times import EPOCH, OptionalTimeField, TimeField, default
from kueuepy.objects.topology import TopologyAssignment

ConditionStatus: TypeAlias = Literal["True", "False", "Unknown"]
CheckState: TypeAlias = Literal["Pending", "Ready", "Retry", "Rejected"]
FinishReason: TypeAlias = Literal["Succeeded", "Failed", "FailedToStart", "OutOfSync", "OwnerNotFound"]


class Condition(Timed, frozen=True):
    """A condition of a Workload, such as `QuotaReserved`, `Admitted`, `Evicted` or `Finished` (`status.conditions[]`).

    >>> Condition("Admitted", "True", reason="Admitted").status
    'True'

    Attributes:
        type: Type of the condition, unique within the Workload.
        status: `"True"`, `"False"` or `"Unknown"`, as a string.
        reason: Machine-readable reason in CamelCase. Default: empty.
        message: Human-readable message. Default: empty.
        last_transition_time: Time of the last change of `status`, a datetime (`lastTransitionTime`). Default: the Unix
            epoch.
    """

    type: str
    status: ConditionStatus
    reason: str = ""
    message: str = ""
    last_transition_time: TimeField = default(EPOCH)


class PodSetAssignment(Value, frozen=True):
    """Flavors, quota and topology domains assigned to one pod set (`status.admission.podSetAssignments[]`).

    >>> PodSetAssignment("main", flavors={"cpu": "spot"}, resource_usage={"cpu": "3"}, count=3).flavors
    {'cpu': 'spot'}

    Attributes:
        name: Name of the pod set. Default: `main`.
        flavors: Assigned flavor by resource.
        resource_usage: Quota that all pods of the pod set use together, by resource (`resourceUsage`).
        count: Number of admitted pods; `None`, the default, for all pods of the pod set.
        topology_assignment: Topology domains of the pods (`topologyAssignment`); `None`, the default, without a
            topology.
        delayed_topology_request: `Pending` until Kueue assigns topology domains in a second scheduling pass, then
            `Ready` (`delayedTopologyRequest`); `None`, the default, if the assignment is not delayed.
    """

    name: str = "main"
    flavors: dict[str, str] = field(default_factory=dict)
    resource_usage: ResourceList = field(default_factory=dict)
    count: int | None = None
    topology_assignment: TopologyAssignment | None = None
    delayed_topology_request: Literal["Pending", "Ready"] | None = None


class Admission(Collection, frozen=True):
    """The quota that a Workload holds (`status.admission`).

    >>> Admission("vision", (PodSetAssignment(flavors={"cpu": "spot"}),)).cluster_queue
    'vision'

    Attributes:
        cluster_queue: Name of the ClusterQueue that provides the quota (`clusterQueue`).
        pod_set_assignments: One assignment per pod set (`podSetAssignments`).
    """

    cluster_queue: str
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()


class RequeueState(Timed, frozen=True):
    """State of the retries after an eviction (`status.requeueState`).

    Kueue counts evictions of Workloads whose pods were not ready in time, and retries that an admission check
    requested.

    >>> RequeueState(count=2).count
    2

    Attributes:
        count: Number of times that the Workload was requeued. Default: 0.
        requeue_at: Time until which the Workload waits, a datetime (`requeueAt`); `None`, the default, if it does not
            wait.
    """

    count: int = 0
    requeue_at: OptionalTimeField = default(None)


class ReclaimablePod(Value, frozen=True):
    """Pods of a pod set that no longer need their quota (`status.reclaimablePods[]`).

    >>> ReclaimablePod("worker", 2).count
    2

    Attributes:
        name: Name of the pod set.
        count: Number of pods whose quota can be released.
    """

    name: str
    count: int


class AdmissionCheckState(Collection, frozen=True):
    """State of an admission check of a Workload (`status.admissionChecks[]`).

    >>> AdmissionCheckState("provisioning", "Retry", requeue_after_seconds=60).state
    'Retry'

    Attributes:
        name: Name of the AdmissionCheck.
        state: `Pending`, `Ready`, `Retry` or `Rejected`. The Workload is admitted when all checks are `Ready`. The
            states `Retry` and `Rejected` evict the Workload, and `Rejected` also deactivates it.
        message: Human-readable message. Default: empty.
        last_transition_time: Time of the last change of `state`, a datetime (`lastTransitionTime`). Default: the Unix
            epoch.
        retry_count: Number of retries that the check has requested (`retryCount`); `None` if unknown.
        requeue_after_seconds: Waiting time in seconds after a retry (`requeueAfterSeconds`); `None`, the default, for
            no waiting time.
        pod_set_updates: Changes to the pod sets requested by the check, as written in the manifest (`podSetUpdates`).
    """

    name: str
    state: CheckState
    message: str = ""
    last_transition_time: TimeField = default(EPOCH)
    retry_count: Int64 | None = None
    requeue_after_seconds: Int64 | None = None
    pod_set_updates: tuple[dict[str, Any], ...] = ()


class WorkloadStatus(Collection, frozen=True, kw_only=True):
    """Decisions of the scheduler and the controllers about a Workload (`status`).

    Source: `apis/kueue/v1beta2/workload_types.go:WorkloadStatus`.

    >>> WorkloadStatus(conditions=(Condition("Finished", "True"),)).is_true("Finished")
    True

    Attributes:
        conditions: Conditions, at most 16, with unique types.
        admission: Quota that the Workload holds; `None`, the default, if the Workload holds no quota.
        requeue_state: State of the retries (`requeueState`); `None`, the default, before the first retry.
        reclaimable_pods: Pods whose quota has been released (`reclaimablePods`).
        admission_checks: States of the admission checks, at most 8 (`admissionChecks`).
        accumulated_past_execution_time_seconds: Total duration in seconds of the Workload's earlier admissions
            (`accumulatedPastExecutionTimeSeconds`); `None` means 0.
        unhealthy_nodes: Names of failed nodes that the topology assignment uses (`unhealthyNodes`).
        cluster_name: Name of the MultiKueue worker cluster that runs the Workload (`clusterName`). The cluster name has
            no effect on admission.
        nominated_cluster_names: Names of the MultiKueue worker clusters that may run the Workload
            (`nominatedClusterNames`). The nominated cluster names have no effect on admission.
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
        """Return whether a condition is present with status `"True"`.

        Args:
            condition_type: Type of the condition, such as `Admitted`.
        """
        return any(c.type == condition_type and c.status == "True" for c in self.conditions)
