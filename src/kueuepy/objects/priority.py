"""Priority classes of workloads and of pods."""

from kueuepy.objects.base import Object


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
