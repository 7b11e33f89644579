from kueuepy.objects.base import NamespacedObject as NamespacedObject
from kueuepy.objects.base import Object
from kueuepy.objects.base import QuantityText as QuantityText
from kueuepy.objects.base import ResourceList as ResourceList
from kueuepy.objects.queue import AdmissionCheck
from kueuepy.objects.queue import Cohort
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
from kueuepy.objects.workload import PriorityClass, WorkloadPriorityClass
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
