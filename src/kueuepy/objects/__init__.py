"""The objects of Kueue's API, as frozen records with the meaning of version v1beta2.

Each record flattens `metadata` and `spec`; its fields have Kueue's names in snake_case, and enumerated values are the
texts that Kueue uses. Times are given as text, datetimes or seconds since 1970, and read as datetimes; durations are
given as text, timedeltas or seconds, and read as seconds. Quantities are kept as written. Nothing else is checked on
construction: `kueuepy.manifest.check` does that, and so does every call that takes objects.
"""

from kueuepy.objects.base import NamespacedObject, Object, QuantityText, ResourceList
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
from kueuepy.objects.times import SECOND, Seconds, Timestamp
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
    "SECOND",
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
    "NamespacedObject",
    "Node",
    "Object",
    "Pod",
    "PodSet",
    "PodSetAssignment",
    "Preemption",
    "PriorityClass",
    "PriorityClassRef",
    "QuantityText",
    "Quota",
    "ReclaimablePod",
    "RequeueState",
    "RequeuingStrategy",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceFlavor",
    "ResourceGroup",
    "ResourceList",
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
