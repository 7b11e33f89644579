"""Feature gates: their names, and their defaults in each release.

Source: `pkg/features/kube_features.go` of each release, `pkg/config/validation.go` for the requirements of gates.
"""

from collections.abc import Mapping

from kueuepy.profiles.releases import RELEASES, Release

_HISTORY = """
AdmissionFairSharing +15
AdmissionGatedBy -17 +19
AssignQueueLabelsForPods +17
CleanupProvisioningRequestsOnEviction +17
ConcurrentAdmission -18
ConfigurablePreemptions -20
ConfigurableResourceTransformations !15 x16
CustomMetricLabels -17
DRAExtendedResources -17 ?18 x19
DeferRayServiceFinalizationForRedisCleanup +17
DisableWaitForPodsReady -19
DynamicQuotaOrchestration -20
DynamicResourceAllocation -15 ?18 x19
ElasticJobsViaWorkloadSlices -15 +18
ElasticJobsViaWorkloadSlicesWithPartialReplicaScaleUp -20
ElasticJobsViaWorkloadSlicesWithTAS -17
FailureRecoveryPolicy -15
FairSharingPreemptWithinNominal +15
FairSharingPrioritizeNonBorrowing +15
FairSharingReevaluatePreemptionCandidates -20
FastQuotaReleaseInPodIntegration -17
FinishOrphanedWorkloads -16 +18
FlavorFungibility +15
FlavorFungibilityImplicitPreferenceDefault -15 x17
FlavorFungibilityPreserveScanProgress +18
HierarchicalCohorts +15 !17 x20
KueueDRAIntegration +18
KueueDRAIntegrationConsumableCapacity -19
KueueDRAIntegrationExtendedResource -18 +19
KueueDRAIntegrationPartitionableDevices -18 +19
KueueDRARejectWorkloadsWhenDRADisabled +18
LWSImmutableGroupSize +18
LendingLimit +15 !17 x19
LocalQueueDefaulting +15 !17 x19
LocalQueueMetrics -15 +17
ManagedJobsNamespaceSelectorAlwaysRespected +15 !19
MetricForWorkloadCreationLatency +18
MetricsForCohorts +18
MultiKueue +15
MultiKueueAdaptersForCustomJobs +15
MultiKueueAllowInsecureKubeconfigs -15 ?19 x20
MultiKueueBatchJobWithManagedBy +15 !17 x19
MultiKueueClusterProfile -15
MultiKueueIncrementalDispatcherConfig +19
MultiKueueIncrementalDispatcherRespectConfigOrder +19
MultiKueueKubeConfigPathValidation -19 +20
MultiKueueManagerQuotaAutomation -18
MultiKueueOrchestratedPreemption -17
MultiKueueRedoAdmissionOnEvictionInWorker +16 !18 x20
MultiKueueRemoteSpecSync +18
MultiKueueWaitForWorkloadAdmitted +15 !18 x20
ObjectRetentionPolicies +15 !17 x20
PartialAdmission +15
PodIntegrationValidateGroupOwner +18
PrioritizePreemptorWorkloads -18
PriorityBoost -17
PrioritySortingWithinCohort +15
PropagateBatchJobLabelsToWorkload +15 !17 x20
QuotaCheckStrategy -18 +19
ReclaimablePods +15
RecomputeAssignmentUponPreemptionTargetsOverlap -18 +20
RejectUpdatesToCQWithInvalidOnFlavors -16
RemoveFinalizersWithStrictPatch +15
SanitizePodSets +15 !17 x19
SchedulerLibraryIntegration -19
SchedulerLongRequeueInterval -15 x20
SchedulerTimestampPreemptionBuffer -15 x20
SchedulingEquivalenceHashing -15 +18
ShortWorkloadNames -15
SkipAncestorCheckForDeletedWorkloads +18
SkipFinalizersForPodsSuspendedByParent +15 !18 x20
SkipReassignmentForPodOwnedWorkloads -17 +19
SparkApplicationIntegration -17
TASAssignmentsEncodingByHostnamePrefix +19
TASBalancedPlacement -15
TASCacheNodeMatchResults +17
TASCacheTopologyTree -18 +20
TASCachingRemainingResources +17
TASFailedNodeReplacement +15
TASFailedNodeReplacementFailFast +15
TASHandleOverlappingFlavors -16 +18
TASMultiLayerTopology -17 +19
TASProfileLeastFreeCapacity -15 x17
TASProfileMixed +15
TASRecomputeAssignmentWithinSchedulingCycle +17
TASReplaceNodeDueToNotReadyOverFixedTime +17 -19
TASReplaceNodeOnNodeTaints -15 +17
TASReplaceNodeOnPodTermination +15
TASRespectNodeAffinityPreferred -18
TASValidateWorkloadSliceSize +18
TLSOptions +16 !20
TopologyAwareScheduling +15
UnadmittedWorkloadsExplicitStatus -18
UnadmittedWorkloadsObservability -18 +20
ValidateRayAndSparkJobUpdates +18
VectorizedResourceRequests +17
VisibilityOnDemand +15
WorkloadIdentifierAnnotations -17 +18
WorkloadPriorityClassDefaulting -18 +20
WorkloadRequestUseMergePatch -15
WorkloadValidateResourcesAreNonNegative +18
WorkloadValidationForPodSetMetadata +18
"""
"""One gate per line, with its states by minor release: on (+), off (-), locked on (!), locked off (?), removed (x)."""

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
    "DRAExtendedResources": ("DynamicResourceAllocation",),
    "FlavorFungibilityPreserveScanProgress": ("FlavorFungibility",),
}
"""The gates that must be on while a gate is on."""


def _tables() -> tuple[dict[Release, dict[str, bool]], dict[Release, frozenset[str]]]:
    """Return the defaults of the gates, and the locked gates, by release."""
    defaults: dict[Release, dict[str, bool]] = {release: {} for release in RELEASES}
    locked: dict[Release, set[str]] = {release: set() for release in RELEASES}
    for line in _HISTORY.split("\n"):
        name, *events = line.split() or [""]
        for event in events:
            sign, minor = event[0], int(event[1:])
            for release in RELEASES:
                if release.minor < minor:
                    continue
                defaults[release].pop(name, None)
                locked[release].discard(name)
                if sign != "x":
                    defaults[release][name] = sign in "+!"
                if sign in "!?":
                    locked[release].add(name)
    return defaults, {release: frozenset(names) for release, names in locked.items()}


DEFAULTS, LOCKED = _tables()
"""By release: the default of each gate, and the gates whose state can no longer be changed."""


_BECAME = {
    "DynamicResourceAllocation": "KueueDRAIntegration",
    "DRAExtendedResources": "KueueDRAIntegrationExtendedResource",
}
"""Feature gates of earlier releases that have been renamed, with their current names."""


def effective(release: Release, settings: Mapping[str, bool]) -> dict[str, bool]:
    """Return whether each gate of the mirrored commit is on in a release with these settings.

    A gate that does not exist in the release is off. A renamed gate is included under both names.
    """
    gates = {**dict.fromkeys(DEFAULTS[RELEASES[-1]], False), **DEFAULTS[release], **settings}
    return {**gates, **{new: True for old, new in _BECAME.items() if gates.get(old)}}
