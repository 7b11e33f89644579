"""Priority classes of workloads and of pods."""

from kueuepy.objects.base import Object


class WorkloadPriorityClass(Object, frozen=True, kw_only=True):
    """A priority for workloads that says nothing about their pods.

    Source: `apis/kueue/v1beta2/workloadpriorityclass_types.go`.

    Attributes:
        value: The priority, a signed 32-bit integer; higher goes first.
        description: Words for people, at most 2048 characters.
    """

    value: int
    description: str = ""


class PriorityClass(Object, frozen=True, kw_only=True):
    """Kubernetes' priority class of pods (`scheduling.k8s.io`), which counts where no other class is named.

    Attributes:
        value: The priority, a signed 32-bit integer; higher goes first.
        global_default: Whether it counts for pods that name no class. Of several, the one of lowest value does.
        description: Words for people.
        preemption_policy: Kubernetes' own policy for pods; nothing here reads it.
    """

    value: int
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None
