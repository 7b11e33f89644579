"""Workload: a set of pod sets that are admitted together, and the priority classes of workloads and of pods."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import convert, field, to_builtins
from msgspec.structs import replace

from kueuepy.errors import checked_methods
from kueuepy.objects.base import NamespacedObject, Object, QuantityText, Value, quantity
from kueuepy.objects.flavor import Toleration
from kueuepy.objects.status import WorkloadStatus


class PriorityClassRef(Value, frozen=True):
    """Reference to the class that determines a Workload's priority (`spec.priorityClassRef`).

    >>> PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "high").name
    'high'

    Attributes:
        group: API group of the class: `kueue.x-k8s.io` or `scheduling.k8s.io`.
        kind: Kind of the class: `WorkloadPriorityClass` if `group` is `kueue.x-k8s.io`, and `PriorityClass` if `group`
            is `scheduling.k8s.io`.
        name: Name of the class.
    """

    group: str
    kind: str
    name: str


@checked_methods
class PodSet(Value, frozen=True):
    """A set of identical pods of a Workload (`spec.podSets[]`).

    Source: `apis/kueue/v1beta2/workload_types.go:PodSet`.

    >>> PodSet.of("worker", 8, requests={"cpu": 1}, min_count=4).min_count
    4

    Attributes:
        name: Name of the pod set, unique within its Workload. Default: `main`.
        count: Number of pods, 0 or more. Default: 1.
        min_count: Smallest number of pods with which the pod set may be admitted (partial admission, `minCount`);
            `None`, the default, to admit all pods or none.
        template: PodTemplateSpec of the pods as written in the manifest: `{"metadata": {…}, "spec": {…}}`.
        topology_request: Topology request as written in the manifest (`topologyRequest`), for example `{"required":
            "rack"}`. The functions `required`, `preferred` and `unconstrained` create topology requests. `None` by
            default.
    """

    name: str = "main"
    count: int = 1
    min_count: int | None = None
    template: dict[str, Any] = field(default_factory=dict)
    topology_request: dict[str, Any] | None = None

    @classmethod
    def of(
        cls,
        name: str = "main",
        count: int = 1,
        *,
        requests: Mapping[str, QuantityText] | None = None,
        limits: Mapping[str, QuantityText] | None = None,
        node_selector: Mapping[str, str] | None = None,
        tolerations: Iterable[Toleration | str] = (),
        min_count: int | None = None,
        topology_request: Mapping[str, Any] | None = None,
        priority_class_name: str | None = None,
    ) -> "PodSet":
        """Create a pod set whose pods have one container with the given requests and limits.

        >>> PodSet.of("worker", 8, requests={"cpu": 1}).template["spec"]["containers"][0]["resources"]
        {'requests': {'cpu': 1}}

        Args:
            name: Name of the pod set.
            count: Number of pods, 0 or more.
            requests: Resource requests of each pod, by resource.
            limits: Resource limits of each pod, by resource.
            node_selector: Node labels that the pods require.
            tolerations: Tolerations, as objects or as strings: for example `"spot=true:NoSchedule"`, or `"spot"` for
                every value and effect.
            min_count: Smallest number of pods with which the pod set may be admitted; `None` to admit all pods or none.
            topology_request: Topology request, such as the result of `required("rack")`.
            priority_class_name: PriorityClass of the pods.

        Returns:
            The pod set.

        Raises:
            InvalidSpecError: A request or a limit is not a quantity, or a toleration cannot be parsed.
        """
        given = {"requests": requests or {}, "limits": limits or {}}
        resources = {
            kind: {resource: quantity(amount, f"PodSet.of: {kind}: {resource}") for resource, amount in amounts.items()}
            for kind, amounts in given.items()
        }
        spec: dict[str, Any] = {
            "containers": [{"name": "main", "resources": {key: value for key, value in resources.items() if value}}],
            "nodeSelector": dict(node_selector or {}),
            "tolerations": [
                to_builtins(Toleration.of(t) if isinstance(t, str) else convert(t, Toleration)) for t in tolerations
            ],
            "priorityClassName": priority_class_name,
        }
        return cls(
            name,
            count,
            min_count,
            {"spec": {key: value for key, value in spec.items() if value}},
            None if topology_request is None else dict(topology_request),
        )


class Workload(NamespacedObject, frozen=True, kw_only=True):
    """A unit of work that waits in a LocalQueue until all of its pod sets can be admitted.

    Source: `apis/kueue/v1beta2/workload_types.go`, `pkg/webhooks/workload_webhook.go`.

    >>> pod_set = PodSet.of(count=2, requests={"cpu": 4})
    >>> Workload("train", namespace="team-a", queue_name="training", pod_sets=[pod_set]).key
    'team-a/train'

    Attributes:
        queue_name: Name of the LocalQueue in the Workload's namespace (`spec.queueName`). A Workload with an empty
            queue name, the default, is never considered for admission.
        pod_sets: The pod sets, 1 to 18 (`spec.podSets`).
        priority: Priority, a signed 32-bit integer (`spec.priority`); workloads with a higher priority are considered
            first. A priority of `None`, the default, means 0.
        priority_class_ref: Class that determines the priority (`spec.priorityClassRef`); if it is set, `priority` must
            be set too. `None` by default.
        active: Whether the Workload may be admitted (`spec.active`). Setting `active` to `False` evicts an admitted
            Workload. Default: `True`.
        maximum_execution_time_seconds: Total time in seconds, over all admissions, after which Kueue deactivates the
            Workload (`spec.maximumExecutionTimeSeconds`); `None`, the default, for no limit.
        preemption_gates: Names of the gates that must be open before the Workload may preempt other Workloads, at most
            8 (`spec.preemptionGates`). Default: none.
        owner_references: Owner references as written in the manifest (`metadata.ownerReferences`). A Workload owned by
            a single Pod outside a group keeps its topology assignment when a node fails, and is not requeued after an
            eviction caused by the node failure (feature gate `SkipReassignmentForPodOwnedWorkloads`). Default: none.
        status: Decisions made about the Workload so far (`status`); `None`, the default, for no decisions.
    """

    queue_name: str = ""
    pod_sets: Sequence[PodSet] = ()
    priority: int | None = None
    priority_class_ref: PriorityClassRef | None = None
    active: bool = True
    maximum_execution_time_seconds: int | None = None
    preemption_gates: Sequence[str] = ()
    owner_references: Sequence[dict[str, Any]] = ()
    status: WorkloadStatus | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the condition `Finished` is true."""
        return self.status is not None and self.status.is_true("Finished")

    def without_min_counts(self) -> "Workload":
        """Return the Workload without partial admission: every `min_count` is `None`."""
        if all(pod_set.min_count is None for pod_set in self.pod_sets):
            return self
        return replace(self, pod_sets=tuple(replace(pod_set, min_count=None) for pod_set in self.pod_sets))

    def has_spec_of(self, other: "Workload") -> bool:
        """Return whether this Workload has the same spec as another Workload.

        Args:
            other: The other Workload; its metadata and status may differ.
        """
        return all(getattr(self, name) == getattr(other, name) for name in _SPEC)


_SPEC = {*Workload.__struct_fields__} - {*NamespacedObject.__struct_fields__, "owner_references", "status"}


class WorkloadPriorityClass(Object, frozen=True, kw_only=True):
    """A priority class for workloads, which does not affect the priority of their pods.

    Source: `apis/kueue/v1beta2/workloadpriorityclass_types.go`.

    >>> WorkloadPriorityClass("high", value=100).value
    100

    Attributes:
        value: The priority, a signed 32-bit integer; workloads with a higher priority are considered first.
        description: Human-readable description, at most 2048 characters.
    """

    value: int
    description: str = ""


class PriorityClass(Object, frozen=True, kw_only=True):
    """Kubernetes' priority class for pods (`scheduling.k8s.io`).

    Kueue uses the value of a PriorityClass as the priority of workloads without a WorkloadPriorityClass.

    >>> PriorityClass("batch", value=10, global_default=True).global_default
    True

    Attributes:
        value: The priority, a signed 32-bit integer; workloads with a higher priority are considered first.
        global_default: Whether the PriorityClass applies to pods that name no PriorityClass (`globalDefault`). If
            several classes are defaults, the class with the lowest value applies. Default: `False`.
        description: Human-readable description.
        preemption_policy: Preemption policy of kube-scheduler (`preemptionPolicy`). This library ignores the preemption
            policy.
    """

    value: int
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None
