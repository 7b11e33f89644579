"""Immutable Python classes for the objects of Kueue's API and the Kubernetes objects that Kueue reads.

Fields have the same meaning as in API version v1beta2. Field names are Kueue's names in snake_case. `metadata` and
`spec` are flattened into one class: `spec.cohortName` of a ClusterQueue is the field `cohort_name`. Enumerated values
are the strings that Kueue uses.

Times are datetimes in UTC. Durations are numbers of seconds. Constructors also accept strings for times and durations,
seconds since the Unix epoch for times, and timedeltas for durations. Quantities are stored as written, for example
`"500m"`.

Constructors convert times and durations, and do not validate other values. `kueuepy.manifest.check` validates objects,
and every function that accepts objects validates them too.

>>> queue = ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 32}}, cohort_name="research")
>>> queue.cohort_name, queue.preemption.reclaim_within_cohort
('research', 'Never')
"""

from kueuepy.objects.base import NamespacedObject as NamespacedObject
from kueuepy.objects.base import Object
from kueuepy.objects.base import QuantityText as QuantityText
from kueuepy.objects.base import ResourceList as ResourceList
from kueuepy.objects.check import AdmissionCheck
from kueuepy.objects.cohort import Cohort
from kueuepy.objects.configuration import (
    AdmissionFairSharing,
    CapacitySource,
    Configuration,
    CounterSource,
    DeviceClassMapping,
    DeviceClassSource,
    FairSharingConfig,
    MultiKueueSettings,
    RequeuingStrategy,
    Resources,
    ResourceTransformation,
    WaitForPodsReady,
)
from kueuepy.objects.devices import (
    CapacityRange,
    CapacityRequestPolicy,
    CounterConsumption,
    Device,
    DeviceCapacity,
    DeviceClass,
    DeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourcePool,
    ResourceSlice,
)
from kueuepy.objects.flavor import ResourceFlavor, Taint, Toleration
from kueuepy.objects.namespace import LimitRange, LimitRangeItem, Namespace, RuntimeClass
from kueuepy.objects.node import Node, Pod, nodes
from kueuepy.objects.priority import PriorityClass, WorkloadPriorityClass
from kueuepy.objects.queue import (
    AdmissionCheckStrategyRule,
    BorrowWithinCohort,
    ClusterQueue,
    FairSharing,
    FlavorFungibility,
    LocalQueue,
    LocalQueueStatus,
    Preemption,
)
from kueuepy.objects.quota import FlavorQuotas, Quota, ResourceGroup, ResourceQuota
from kueuepy.objects.selector import LabelSelector, LabelSelectorRequirement
from kueuepy.objects.status import (
    Admission,
    AdmissionCheckState,
    Condition,
    PodSetAssignment,
    ReclaimablePod,
    RequeueState,
    WorkloadStatus,
)
from kueuepy.objects.times import SECOND as SECOND
from kueuepy.objects.times import Seconds, Timestamp
from kueuepy.objects.topology import (
    HOSTNAME_LABEL,
    Topology,
    TopologyAssignment,
    TopologyDomain,
    preferred,
    required,
    unconstrained,
)
from kueuepy.objects.workload import PodSet, PriorityClassRef, Workload

__all__ = [
    "HOSTNAME_LABEL",
    "Admission",
    "AdmissionCheck",
    "AdmissionCheckState",
    "AdmissionCheckStrategyRule",
    "AdmissionFairSharing",
    "BorrowWithinCohort",
    "CapacityRange",
    "CapacityRequestPolicy",
    "CapacitySource",
    "ClusterQueue",
    "Cohort",
    "Condition",
    "Configuration",
    "CounterConsumption",
    "CounterSource",
    "Device",
    "DeviceCapacity",
    "DeviceClass",
    "DeviceClassMapping",
    "DeviceClassSource",
    "DeviceRequest",
    "FairSharing",
    "FairSharingConfig",
    "FlavorFungibility",
    "FlavorQuotas",
    "LabelSelector",
    "LabelSelectorRequirement",
    "LimitRange",
    "LimitRangeItem",
    "LocalQueue",
    "LocalQueueStatus",
    "MultiKueueSettings",
    "Namespace",
    "Node",
    "Object",
    "Pod",
    "PodSet",
    "PodSetAssignment",
    "Preemption",
    "PriorityClass",
    "PriorityClassRef",
    "Quota",
    "ReclaimablePod",
    "RequeueState",
    "RequeuingStrategy",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceFlavor",
    "ResourceGroup",
    "ResourcePool",
    "ResourceQuota",
    "ResourceSlice",
    "ResourceTransformation",
    "Resources",
    "RuntimeClass",
    "Seconds",
    "Taint",
    "Timestamp",
    "Toleration",
    "Topology",
    "TopologyAssignment",
    "TopologyDomain",
    "WaitForPodsReady",
    "Workload",
    "WorkloadPriorityClass",
    "WorkloadStatus",
    "nodes",
    "preferred",
    "required",
    "unconstrained",
]
