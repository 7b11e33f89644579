"""Objects of Kubernetes itself that decide what a workload asks for, and where it may go."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import field

from kueuepy.objects.base import NamespacedObject, Object, ResourceList, Value

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"


class Namespace(Object, frozen=True, kw_only=True):
    """A namespace; its labels are what a ClusterQueue's namespace selector looks at.

    Every namespace has the label `kubernetes.io/metadata.name` with its name, as an API server sees to it.
    """

    def __post_init__(self) -> None:
        """Adds the label of the name."""
        Object.__post_init__(self)
        if isinstance(self.labels, Mapping) and self.labels.get(NAMESPACE_NAME_LABEL) != self.name:
            msgspec.structs.force_setattr(self, "labels", {**self.labels, NAMESPACE_NAME_LABEL: self.name})


class LimitRangeItem(Value, frozen=True, kw_only=True):
    """Limits and defaults for one type of thing.

    Attributes:
        type: `Container`, `Pod` or `PersistentVolumeClaim`; Kueue reads the first two.
        max: The most that may be asked for.
        min: The least that may be asked for.
        default: Limits of containers that have none.
        default_request: Requests of containers that have none.
        max_limit_request_ratio: Never checked here, as in Kueue.
    """

    type: str
    max: ResourceList = field(default_factory=dict)
    min: ResourceList = field(default_factory=dict)
    default: ResourceList = field(default_factory=dict)
    default_request: ResourceList = field(default_factory=dict)
    max_limit_request_ratio: ResourceList = field(default_factory=dict)


class LimitRange(NamespacedObject, frozen=True, kw_only=True):
    """Limits and defaults for the pods of a namespace.

    Source: `pkg/workload/resources.go:AdjustResources`, `pkg/util/limitrange`.

    Attributes:
        limits: The items, in order.
    """

    limits: Sequence[LimitRangeItem] = ()


class RuntimeClass(Object, frozen=True, kw_only=True):
    """What running a pod costs beyond its containers (`node.k8s.io`).

    Attributes:
        overhead: Resources added to each pod of this class (`overhead.podFixed`).
        handler: The runtime's handler; nothing here reads it.
    """

    overhead: ResourceList = field(default_factory=dict)
    handler: str = ""
