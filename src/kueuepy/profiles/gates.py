"""Feature gates: their names, and their defaults in each release.

Source: `pkg/features/kube_features.go` of each release, `pkg/config/validation.go` for the requirements of gates.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from kueuepy.profiles.rules import RELEASES, Release

_GATES = """
AdmissionFairSharing +15
AdmissionGatedBy -17 +19
AssignQueueLabelsForPods +17
CleanupProvisioningRequestsOnEviction +17 ~ Kueue would keep the request of an evicted workload, whose status \
counts again once the workload has quota again
ConcurrentAdmission -18
ConfigurablePreemptions -20 ~ Kueue would also use a PreemptionConfig to choose victims
ConfigurableResourceTransformations !15 x16 ~
CustomMetricLabels -17 | affects only metrics
DRAExtendedResources -17 ?18 x19
DeferRayServiceFinalizationForRedisCleanup +17 | affects only the deletion of jobs
DisableWaitForPodsReady -19
DynamicQuotaOrchestration -20 ~ Kueue would use status.effectiveQuotas instead of spec.resourceGroups
DynamicResourceAllocation -15 ?18 x19
ElasticJobsViaWorkloadSlices -15 +18
ElasticJobsViaWorkloadSlicesWithPartialReplicaScaleUp -20 ~ Kueue would scale up elastic jobs partially
ElasticJobsViaWorkloadSlicesWithTAS -17
FailureRecoveryPolicy -15 | kueuepy does not simulate pods that are stuck while terminating
FairSharingPreemptWithinNominal +15
FairSharingPrioritizeNonBorrowing +15
FairSharingReevaluatePreemptionCandidates -20 ~ Kueue would search for fair-sharing victims again
FastQuotaReleaseInPodIntegration -17 | the caller reports when the pods of an evicted job no longer use quota
FinishOrphanedWorkloads -16 +18 | kueuepy keeps a workload until it is deleted
FlavorFungibility +15
FlavorFungibilityImplicitPreferenceDefault -15 x17 ~
FlavorFungibilityPreserveScanProgress +18
HierarchicalCohorts +15 !17 x20 ~
KueueDRAIntegration +18
KueueDRAIntegrationConsumableCapacity -19
KueueDRAIntegrationExtendedResource -18 +19
KueueDRAIntegrationPartitionableDevices -18 +19
KueueDRARejectWorkloadsWhenDRADisabled +18
LWSImmutableGroupSize +18 | affects only updates of jobs
LendingLimit +15 !17 x19 ~
LocalQueueDefaulting +15 !17 x19 ~
LocalQueueMetrics -15 +17
ManagedJobsNamespaceSelectorAlwaysRespected +15 !19
MetricForWorkloadCreationLatency +18 | affects only metrics
MetricsForCohorts +18 | affects only metrics
MultiKueue +15 | a Scheduler runs no controllers of checks, and a Fleet requires this gate
MultiKueueAdaptersForCustomJobs +15
MultiKueueAllowInsecureKubeconfigs -15 ?19 x20 | affects only credentials
MultiKueueBatchJobWithManagedBy +15 !17 x19 ~
MultiKueueClusterProfile -15 | affects only credentials
MultiKueueIncrementalDispatcherConfig +19
MultiKueueIncrementalDispatcherRespectConfigOrder +19
MultiKueueKubeConfigPathValidation -19 +20 | affects only credentials
MultiKueueManagerQuotaAutomation -18
MultiKueueOrchestratedPreemption -17
MultiKueueRedoAdmissionOnEvictionInWorker +16 !18 x20
MultiKueueRemoteSpecSync +18 | copies only the serve config of a RayService to its worker
MultiKueueWaitForWorkloadAdmitted +15 !18 x20
ObjectRetentionPolicies +15 !17 x20
PartialAdmission +15
PodIntegrationValidateGroupOwner +18 | affects only the ownership of existing objects
PrioritizePreemptorWorkloads -18
PriorityBoost -17
PrioritySortingWithinCohort +15
PropagateBatchJobLabelsToWorkload +15 !17 x20 | no decision depends on these labels
QuotaCheckStrategy -18 +19
ReclaimablePods +15
RecomputeAssignmentUponPreemptionTargetsOverlap -18 +20
RejectUpdatesToCQWithInvalidOnFlavors -16
RemoveFinalizersWithStrictPatch +15 | affects only writes to the API server
SanitizePodSets +15 !17 x19 ~
SchedulerLibraryIntegration -19 ~ plugins of kube-scheduler would test whether pods fit on nodes: host ports \
count, tolerations of flavors do not, nodes that are not ready need a taint, and messages give no reason per node
SchedulerLongRequeueInterval -15 x20 ~
SchedulerTimestampPreemptionBuffer -15 x20 ~
SchedulingEquivalenceHashing -15 +18
ShortWorkloadNames -15
SkipAncestorCheckForDeletedWorkloads +18 | affects only the deletion of jobs
SkipFinalizersForPodsSuspendedByParent +15 !18 x20 | affects only writes to the API server
SkipReassignmentForPodOwnedWorkloads -17 +19
SparkApplicationIntegration -17
TASAssignmentsEncodingByHostnamePrefix +19 | affects only the encoding of assignments
TASBalancedPlacement -15
TASCacheNodeMatchResults +17
TASCacheTopologyTree -18 +20 | affects only Kueue's speed
TASCachingRemainingResources +17 | affects only Kueue's speed
TASFailedNodeReplacement +15
TASFailedNodeReplacementFailFast +15
TASHandleOverlappingFlavors -16 +18
TASMultiLayerTopology -17 +19
TASProfileLeastFreeCapacity -15 x17 ~
TASProfileMixed +15
TASRecomputeAssignmentWithinSchedulingCycle +17
TASReplaceNodeDueToNotReadyOverFixedTime +17 -19
TASReplaceNodeOnNodeTaints -15 +17
TASReplaceNodeOnPodTermination +15
TASRespectNodeAffinityPreferred -18
TASValidateWorkloadSliceSize +18
TLSOptions +16 !20 | affects only connections
TopologyAwareScheduling +15
UnadmittedWorkloadsExplicitStatus -18
UnadmittedWorkloadsObservability -18 +20
ValidateRayAndSparkJobUpdates +18 | affects only updates of jobs
VectorizedResourceRequests +17 | affects only Kueue's speed
VisibilityOnDemand +15 | affects only an API endpoint
WorkloadIdentifierAnnotations -17 +18
WorkloadPriorityClassDefaulting -18 +20
WorkloadRequestUseMergePatch -15 | affects only writes to the API server
WorkloadValidateResourcesAreNonNegative +18
WorkloadValidationForPodSetMetadata +18
"""
"""One gate per line, with its states by minor release: on (+), off (-), locked on (!), locked off (?), removed (x).

A gate that kueuepy does not model has a note: after `|`, why no decision depends on the gate; after `~`, what Kueue
would do with another setting.
"""

# Most gates of topology-aware scheduling depend on it.
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
    for line in _GATES.strip().split("\n"):
        name, *events = re.split(r"[|~]", line)[0].split()
        for event in events:
            sign, minor = event[0], int(event[1:])
            for release in RELEASES:
                if release.minor < minor:
                    continue
                # Each event holds until the next one of the same gate.
                defaults[release].pop(name, None)
                locked[release].discard(name)
                if sign != "x":
                    defaults[release][name] = sign in "+!"
                if sign in "!?":
                    locked[release].add(name)
    return defaults, {release: frozenset(names) for release, names in locked.items()}


DEFAULTS, LOCKED = _tables()
"""By release: the default of each gate, and the gates whose state can no longer be changed."""

FEATURE_GATES: dict[str, bool] = DEFAULTS[RELEASES[-1]]
"""Default of every feature gate of the development version of Kueue, by name."""


_BECAME = {
    "DynamicResourceAllocation": "KueueDRAIntegration",
    "DRAExtendedResources": "KueueDRAIntegrationExtendedResource",
}
"""Feature gates of earlier releases that have been renamed, with their current names."""


def effective(release: Release, settings: Mapping[str, bool]) -> dict[str, bool]:
    """Return whether each gate of the mirrored commit is on in a release with these settings.

    A gate that does not exist in the release is off. A renamed gate is included under both names.
    """
    # Later settings win: absent gates are off, then the defaults, then the Configuration.
    gates = {**dict.fromkeys(DEFAULTS[RELEASES[-1]], False), **DEFAULTS[release], **settings}
    return {**gates, **{new: True for old, new in _BECAME.items() if gates.get(old)}}


Effect: TypeAlias = Literal["modelled", "no effect", "not modelled"]
"""`modelled`: as in Kueue. `no effect`: no decision depends on it. `not modelled`: a decision may depend on it."""


class Coverage(NamedTuple):
    """Whether kueuepy models a feature gate or a field.

    Attributes:
        effect: `modelled`, `no effect` if no decision depends on the gate or field, or `not modelled`.
        note: The reason or the consequence; empty if `effect` is sufficient.
    """

    effect: Effect
    note: str = ""


def _coverage() -> dict[str, Coverage]:
    """Return the effect of every gate of every release."""
    effects: dict[str, Effect] = {"": "modelled", "|": "no effect", "~": "not modelled"}
    parts = [re.split(r" ?([|~]) ?", line) for line in _GATES.strip().split("\n")]
    return {head.split()[0]: Coverage(effects["".join(rest[:1])], "".join(rest[1:])) for head, *rest in parts}


COVERAGE = _coverage()
"""The effect of every feature gate of every release."""

LATER = (
    "ConfigurablePreemptions",
    "DynamicQuotaOrchestration",
    "ElasticJobsViaWorkloadSlicesWithPartialReplicaScaleUp",
    "FairSharingReevaluatePreemptionCandidates",
)
"""Alpha gates of v0.20 that are newer than the mirrored commit (kubernetes-sigs/kueue #13396 and #12382)."""
