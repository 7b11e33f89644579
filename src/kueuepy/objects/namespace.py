"""Kubernetes objects that affect the requests of a workload and the queues that it may use."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import field

from kueuepy.objects.base import NamespacedObject, Object, ResourceList, Value

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"


class Namespace(Object, frozen=True, kw_only=True):
    """A namespace. The namespace selectors of ClusterQueues match the labels of the namespace.

    The constructor adds the label `kubernetes.io/metadata.name` with the namespace's name, as the API server does.

    >>> Namespace("team-a").labels
    {'kubernetes.io/metadata.name': 'team-a'}
    """

    def __post_init__(self) -> None:
        """Add the label with the namespace's name."""
        Object.__post_init__(self)
        if isinstance(self.labels, Mapping) and self.labels.get(NAMESPACE_NAME_LABEL) != self.name:
            msgspec.structs.force_setattr(self, "labels", {**self.labels, NAMESPACE_NAME_LABEL: self.name})


class LimitRangeItem(Value, frozen=True, kw_only=True):
    """Limits and defaults for one type of resource consumer (`spec.limits[]` of a LimitRange).

    >>> LimitRangeItem(type="Container", default_request={"cpu": "100m"}).default_request
    {'cpu': '100m'}

    Attributes:
        type: `Container`, `Pod` or `PersistentVolumeClaim`. Kueue ignores items of type `PersistentVolumeClaim`.
        max: Largest amount that may be requested, by resource.
        min: Smallest amount that may be requested, by resource.
        default: Limits for containers that do not specify limits.
        default_request: Requests for containers that do not specify requests (`defaultRequest`).
        max_limit_request_ratio: Largest allowed ratio of limit to request (`maxLimitRequestRatio`). Neither Kueue nor
            this library enforces the ratio of limit to request.
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

    >>> LimitRange("limits", limits=[LimitRangeItem(type="Pod", max={"cpu": 8})]).key
    'default/limits'

    Attributes:
        limits: The items, in order (`spec.limits`).
    """

    limits: Sequence[LimitRangeItem] = ()


class RuntimeClass(Object, frozen=True, kw_only=True):
    """A container runtime (`node.k8s.io`) with its overhead per pod.

    >>> RuntimeClass("kata", overhead={"memory": "120Mi"}).overhead
    {'memory': '120Mi'}

    Attributes:
        overhead: Resources added to the requests of each pod that uses the RuntimeClass (`overhead.podFixed`).
        handler: Handler of the runtime. This library ignores the handler of the runtime.
    """

    overhead: ResourceList = field(default_factory=dict)
    handler: str = ""
