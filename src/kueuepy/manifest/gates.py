"""Feature gates: their names, defaults and dependencies.

Source: `pkg/features/kube_features.go`, as of version 0.20.
"""

from collections.abc import Mapping

_ON = """
AdmissionFairSharing AdmissionGatedBy AssignQueueLabelsForPods CleanupProvisioningRequestsOnEviction
DeferRayServiceFinalizationForRedisCleanup ElasticJobsViaWorkloadSlices FairSharingPreemptWithinNominal
FairSharingPrioritizeNonBorrowing FinishOrphanedWorkloads FlavorFungibility FlavorFungibilityPreserveScanProgress
KueueDRAIntegration KueueDRAIntegrationExtendedResource KueueDRAIntegrationPartitionableDevices
KueueDRARejectWorkloadsWhenDRADisabled LWSImmutableGroupSize LocalQueueMetrics
ManagedJobsNamespaceSelectorAlwaysRespected MetricForWorkloadCreationLatency MetricsForCohorts MultiKueue
MultiKueueAdaptersForCustomJobs MultiKueueIncrementalDispatcherConfig
MultiKueueIncrementalDispatcherRespectConfigOrder MultiKueueKubeConfigPathValidation MultiKueueRemoteSpecSync
PartialAdmission PodIntegrationValidateGroupOwner PrioritySortingWithinCohort QuotaCheckStrategy ReclaimablePods
RecomputeAssignmentUponPreemptionTargetsOverlap RemoveFinalizersWithStrictPatch SchedulingEquivalenceHashing
SkipAncestorCheckForDeletedWorkloads SkipReassignmentForPodOwnedWorkloads TASAssignmentsEncodingByHostnamePrefix
TASCacheNodeMatchResults TASCacheTopologyTree TASCachingRemainingResources TASFailedNodeReplacement
TASFailedNodeReplacementFailFast TASHandleOverlappingFlavors TASMultiLayerTopology TASProfileMixed
TASRecomputeAssignmentWithinSchedulingCycle TASReplaceNodeOnNodeTaints TASReplaceNodeOnPodTermination
TASValidateWorkloadSliceSize TLSOptions TopologyAwareScheduling UnadmittedWorkloadsObservability
ValidateRayAndSparkJobUpdates VectorizedResourceRequests VisibilityOnDemand WorkloadIdentifierAnnotations
WorkloadPriorityClassDefaulting WorkloadValidateResourcesAreNonNegative WorkloadValidationForPodSetMetadata
"""
_OFF = """
ConcurrentAdmission CustomMetricLabels DisableWaitForPodsReady ElasticJobsViaWorkloadSlicesWithTAS
FailureRecoveryPolicy FastQuotaReleaseInPodIntegration KueueDRAIntegrationConsumableCapacity
MultiKueueClusterProfile MultiKueueManagerQuotaAutomation MultiKueueOrchestratedPreemption
PrioritizePreemptorWorkloads PriorityBoost RejectUpdatesToCQWithInvalidOnFlavors SchedulerLibraryIntegration
ShortWorkloadNames SparkApplicationIntegration TASBalancedPlacement TASReplaceNodeDueToNotReadyOverFixedTime
TASRespectNodeAffinityPreferred UnadmittedWorkloadsExplicitStatus WorkloadRequestUseMergePatch
"""

FEATURE_GATES: dict[str, bool] = {**dict.fromkeys(_ON.split(), True), **dict.fromkeys(_OFF.split(), False)}
"""Every feature gate and whether it is on by default."""

LOCKED = frozenset(("ManagedJobsNamespaceSelectorAlwaysRespected", "TLSOptions"))
"""Gates that can no longer be changed."""

_TAS = ("TopologyAwareScheduling",)
DEPENDENCIES: dict[str, tuple[str, ...]] = {
    "TASFailedNodeReplacement": _TAS,
    "TASFailedNodeReplacementFailFast": (*_TAS, "TASFailedNodeReplacement"),
    "TASReplaceNodeOnPodTermination": (*_TAS, "TASFailedNodeReplacement"),
    "TASReplaceNodeDueToNotReadyOverFixedTime": (*_TAS, "TASFailedNodeReplacement"),
    "TASBalancedPlacement": _TAS,
    "TASReplaceNodeOnNodeTaints": _TAS,
    "TASMultiLayerTopology": _TAS,
    "TASRespectNodeAffinityPreferred": _TAS,
    "TASHandleOverlappingFlavors": _TAS,
    "TASProfileMixed": _TAS,
    "TASRecomputeAssignmentWithinSchedulingCycle": _TAS,
    "UnadmittedWorkloadsExplicitStatus": ("UnadmittedWorkloadsObservability",),
    "ElasticJobsViaWorkloadSlicesWithTAS": ("ElasticJobsViaWorkloadSlices", *_TAS),
    "KueueDRAIntegrationExtendedResource": ("KueueDRAIntegration",),
    "KueueDRAIntegrationPartitionableDevices": ("KueueDRAIntegration",),
    "KueueDRAIntegrationConsumableCapacity": ("KueueDRAIntegration",),
    "FlavorFungibilityPreserveScanProgress": ("FlavorFungibility",),
}
"""Gates that a gate needs to be on while it is on."""


def enabled(gates: Mapping[str, bool], name: str) -> bool:
    """Whether a gate is on, with these settings for what differs from the defaults.

    >>> enabled({}, "PartialAdmission")
    True
    """
    return gates.get(name, FEATURE_GATES[name])
