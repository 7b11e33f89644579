from kueuepy.objects.base import NamespacedObject as NamespacedObject
from kueuepy.objects.base import Object
from kueuepy.objects.base import QuantityText as QuantityText
from kueuepy.objects.base import ResourceList as ResourceList
from kueuepy.objects.base import quantity as quantity
from kueuepy.objects.base import without_numpy as without_numpy
from kueuepy.objects.queue import AdmissionCheck
from kueuepy.objects.queue import Cohort
from kueuepy.objects.configuration import (
    AdmissionFairSharing,
    CapacitySource as CapacitySource,
    Configuration,
    CounterSource as CounterSource,
    DeviceClassMapping as DeviceClassMapping,
    DeviceClassSource as DeviceClassSource,
    FairSharingConfig,
    MultiKueueSettings as MultiKueueSettings,
    RequeuingStrategy as RequeuingStrategy,
    Resources,
    ResourceTransformation as ResourceTransformation,
    WaitForPodsReady,
    WorkloadRetentionPolicy as WorkloadRetentionPolicy,
)
from kueuepy.objects.devices import (
    CapacityRange as CapacityRange,
    CapacityRequestPolicy as CapacityRequestPolicy,
    CounterConsumption as CounterConsumption,
    Device as Device,
    DeviceCapacity as DeviceCapacity,
    DeviceClass,
    DeviceRequest as DeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourcePool as ResourcePool,
    ResourceSlice,
)
from kueuepy.objects.flavor import ResourceFlavor, Taint, Toleration
from kueuepy.objects.namespace import NAMESPACE_NAME_LABEL as NAMESPACE_NAME_LABEL, LimitRange
from kueuepy.objects.namespace import LimitRangeItem as LimitRangeItem, Namespace, RuntimeClass
from kueuepy.objects.node import Node, Pod, nodes
from kueuepy.objects.workload import PriorityClass, WorkloadPriorityClass
from kueuepy.objects.queue import (
    AdmissionCheckStrategyRule,
    BorrowWithinCohort,
    ClusterQueue,
    FairSharing,
    FlavorFungibility,
    LocalQueue,
    LocalQueueStatus as LocalQueueStatus,
    Preemption,
)
from kueuepy.objects.queue import FlavorQuotas, Quota, ResourceGroup, ResourceQuota, quotas_of as quotas_of
from kueuepy.objects.readable import ready as ready
from kueuepy.objects.selector import LabelSelector, LabelSelectorRequirement
from kueuepy.objects.status import (
    CheckState as CheckState,
    FinishReason as FinishReason,
    Admission,
    AdmissionCheckState,
    Condition,
    PodSetAssignment,
    ReclaimablePod as ReclaimablePod,
    RequeueState as RequeueState,
    WorkloadStatus,
)
from kueuepy.objects.times import (
    EPOCH as EPOCH,
    LATEST as LATEST,
    LONGEST as LONGEST,
    NUMBER as NUMBER,
    SECOND as SECOND,
    Duration as Duration,
    Seconds as Seconds,
    TimeLike as TimeLike,
    Timestamp,
    datetime_ns as datetime_ns,
    decode_time as decode_time,
    duration_ns as duration_ns,
    encode_time as encode_time,
    format_time as format_time,
    later as later,
    nanoseconds_of as nanoseconds_of,
    numpy_ns as numpy_ns,
    parse_duration as parse_duration,
    parse_span as parse_span,
    parse_time as parse_time,
)
from kueuepy.objects.topology import (
    HOSTNAME_LABEL,
    Topology,
    TopologyAssignment,
    TopologyDomain as TopologyDomain,
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
    "ClusterQueue",
    "Cohort",
    "Condition",
    "Configuration",
    "DeviceClass",
    "FairSharing",
    "FairSharingConfig",
    "FlavorFungibility",
    "FlavorQuotas",
    "LabelSelector",
    "LabelSelectorRequirement",
    "LimitRange",
    "LocalQueue",
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
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceFlavor",
    "ResourceGroup",
    "ResourceQuota",
    "ResourceSlice",
    "Resources",
    "RuntimeClass",
    "Taint",
    "Timestamp",
    "Toleration",
    "Topology",
    "TopologyAssignment",
    "WaitForPodsReady",
    "Workload",
    "WorkloadPriorityClass",
    "WorkloadStatus",
    "nodes",
    "preferred",
    "required",
    "unconstrained",
]
