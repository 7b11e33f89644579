"""Workload: the pod sets that are admitted together or not at all."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import field
from msgspec.structs import replace

from kueuepy.errors.arguments import checked_methods
from kueuepy.objects.base import NamespacedObject, QuantityText, Value, quantity
from kueuepy.objects.flavor import Toleration
from kueuepy.objects.status import WorkloadStatus


class PriorityClassRef(Value, frozen=True):
    """Where a Workload's priority came from.

    Attributes:
        group: `kueue.x-k8s.io` or `scheduling.k8s.io`.
        kind: `WorkloadPriorityClass` or `PriorityClass`.
        name: The class's name.
    """

    group: str
    kind: str
    name: str


@checked_methods
class PodSet(Value, frozen=True):
    """Pods that are alike: how many, and what each asks for.

    Source: `apis/kueue/v1beta2/workload_types.go:PodSet`.

    Attributes:
        name: The pod set's name, unique in its Workload.
        count: How many pods, 0 or more.
        min_count: The fewest pods that may be admitted instead (partial admission); `None` for all or nothing.
        template: The pods' PodTemplateSpec as in the manifest: `{"metadata": {…}, "spec": {…}}`.
        topology_request: `topologyRequest` as in the manifest, such as `{"required": "rack"}`.
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
        """The pod set whose pods have one container with these requests and limits.

        A toleration may be written as text: `"spot=true:NoSchedule"`, or `"spot"` for every value and effect.

        >>> PodSet.of("worker", 8, requests={"cpu": 1}).template["spec"]["containers"][0]["resources"]
        {'requests': {'cpu': 1}}

        Raises:
            InvalidSpecError: A request or a limit is no amount.
        """
        given = {"requests": requests or {}, "limits": limits or {}}
        resources = {
            kind: {resource: quantity(amount, f"PodSet.of: {kind}: {resource}") for resource, amount in amounts.items()}
            for kind, amounts in given.items()
        }
        spec: dict[str, Any] = {
            "containers": [{"name": "main", "resources": {key: value for key, value in resources.items() if value}}],
            "nodeSelector": dict(node_selector or {}),
            "tolerations": [_toleration_dict(t) for t in tolerations],
            "priorityClassName": priority_class_name,
        }
        return cls(
            name,
            count,
            min_count,
            {"spec": {key: value for key, value in spec.items() if value}},
            None if topology_request is None else dict(topology_request),
        )


def _toleration_dict(toleration: Toleration | str) -> dict[str, Any]:
    if isinstance(toleration, str):
        toleration = Toleration.of(toleration)
    fields = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.toleration_seconds,
    }
    return {key: value for key, value in fields.items() if value not in ("", None)}


class Workload(NamespacedObject, frozen=True, kw_only=True):
    """A unit of work that waits in a LocalQueue until all of its pod sets have quota.

    Source: `apis/kueue/v1beta2/workload_types.go`, `pkg/webhooks/workload_webhook.go`.

    Attributes:
        queue_name: The LocalQueue in its namespace; empty for none, and then it is never considered.
        pod_sets: 1 to 18 of them.
        priority: A signed 32-bit integer; `None` counts as 0. Higher goes first.
        priority_class_ref: Where the priority came from; it needs a priority.
        active: `False` evicts it and keeps it out.
        maximum_execution_time_seconds: After how long in all it is deactivated; `None` for never.
        preemption_gates: Gates that must open before it may preempt, at most 8.
        owner_references: `metadata.ownerReferences`, as in the manifest. A node's failure takes the Workload of a
            single Pod, and of no group, along.
        status: What was decided so far; `None` for nothing.
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
    def not_modelled(self) -> tuple[str, ...]:
        """What it asks for that is not modelled, a sentence each: nothing, since devices are counted."""
        return ()

    def without_min_counts(self) -> "Workload":
        """The Workload whose pod sets are admitted in full or not at all."""
        if all(pod_set.min_count is None for pod_set in self.pod_sets):
            return self
        return replace(self, pod_sets=tuple(replace(pod_set, min_count=None) for pod_set in self.pod_sets))

    def has_spec_of(self, other: "Workload") -> bool:
        """Whether the two differ in metadata and status at most."""
        return all(getattr(self, name) == getattr(other, name) for name in _SPEC)


_SPEC = (
    "queue_name",
    "pod_sets",
    "priority",
    "priority_class_ref",
    "active",
    "maximum_execution_time_seconds",
    "preemption_gates",
)
