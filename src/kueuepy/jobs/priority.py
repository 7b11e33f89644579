"""Priority of the Workload of a job.

Source: `pkg/controller/jobframework/reconciler.go:ExtractPriority` and `pkg/util/priority/priority.go`.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from kueuepy.errors import checked, expect_known
from kueuepy.objects import PodSet, PriorityClass, PriorityClassRef, WorkloadPriorityClass

AnyPriorityClass: TypeAlias = WorkloadPriorityClass | PriorityClass
"""A WorkloadPriorityClass or a PriorityClass."""

DEFAULT_PRIORITY = 0
DEFAULT_CLASS = "default"

SYSTEM_CLASSES = (
    PriorityClass("system-cluster-critical", value=2_000_000_000),
    PriorityClass("system-node-critical", value=2_000_001_000),
)
"""Priority classes that exist in every cluster."""


class Priority(NamedTuple):
    """A priority and the class that determines it.

    >>> Priority(100, None).value
    100

    Attributes:
        value: The priority; workloads with a higher value are considered first.
        ref: Reference to the class; `None` if no class determines the priority.
    """

    value: int
    ref: PriorityClassRef | None


@checked
def resolve_priority(
    label: str,
    pod_sets: Iterable[PodSet],
    classes: Iterable[AnyPriorityClass],
    *,
    own_class: str | None = None,
    owner: str = "job",
) -> Priority:
    """Determine the priority of a job.

    The first existing class determines the priority: the job's WorkloadPriorityClass, then the PriorityClass of its
    pods, then the default PriorityClass of the cluster.

    >>> resolve_priority("high", (), [WorkloadPriorityClass("high", value=100)]).value
    100

    Args:
        label: Value of the job's label `kueue.x-k8s.io/priority-class`; empty if the label is absent.
        pod_sets: Pod sets of the job. The first `priorityClassName` in the pod templates of the pod sets is used.
        classes: WorkloadPriorityClasses and PriorityClasses of the cluster.
        own_class: PriorityClass from the kind's own rule, which replaces the search in the pod sets; empty if the rule
            finds none. Default: `None`, for kinds without such a rule.
        owner: Name of the job in error messages.

    Returns:
        The priority and its class. If no class applies, the priority is 0.

    Raises:
        NotFoundError: The job or its pods name a class that is not in `classes`.
    """
    known = (*classes, *SYSTEM_CLASSES)
    if label:
        found = _find(label, [c for c in known if isinstance(c, WorkloadPriorityClass)], "WorkloadPriorityClass", owner)
        return Priority(found.value, PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", found.name))
    name = _pods_class(pod_sets) if own_class is None else own_class
    pod_classes = [c for c in known if isinstance(c, PriorityClass)]
    if name:
        return _of_pods(_find(name, pod_classes, "PriorityClass", owner))
    # Several defaults can exist after a race; `min` takes the first of equal values, as Kueue does.
    default = min((c for c in pod_classes if c.global_default), key=lambda c: c.value, default=None)
    return Priority(DEFAULT_PRIORITY, None) if default is None else _of_pods(default)


def has_default_class(classes: Iterable[AnyPriorityClass]) -> bool:
    """Return whether there is a WorkloadPriorityClass named `default`, the class of jobs that name no class."""
    return any(isinstance(c, WorkloadPriorityClass) and c.name == DEFAULT_CLASS for c in classes)


def _of_pods(found: AnyPriorityClass) -> Priority:
    return Priority(found.value, PriorityClassRef("scheduling.k8s.io", "PriorityClass", found.name))


def _pods_class(pod_sets: Iterable[PodSet]) -> str:
    names = (str(pod_set.template.get("spec", {}).get("priorityClassName") or "") for pod_set in pod_sets)
    return next(filter(None, names), "")


def _find(name: str, classes: Iterable[AnyPriorityClass], kind: str, owner: str) -> AnyPriorityClass:
    by_name = {c.name: c for c in reversed(list(classes))}
    expect_known(owner, name, by_name, f"names no {kind}")
    return by_name[name]
