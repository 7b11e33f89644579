"""The feature gates of Kueue, each with its effect in kueuepy.

Source: `pkg/features/kube_features.go`; for the gates that are newer than the mirrored commit, kubernetes-sigs/kueue
#13396 and #12382.
"""

from typing import Literal, NamedTuple, TypeAlias

from kueuepy.profiles.gates import DEFAULTS

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


_MODELLED = """
    AdmissionFairSharing AdmissionGatedBy AssignQueueLabelsForPods DRAExtendedResources DisableWaitForPodsReady
    DynamicResourceAllocation ElasticJobsViaWorkloadSlices ElasticJobsViaWorkloadSlicesWithTAS
    FairSharingPreemptWithinNominal FairSharingPrioritizeNonBorrowing FlavorFungibility
    FlavorFungibilityPreserveScanProgress KueueDRAIntegration KueueDRAIntegrationConsumableCapacity
    KueueDRAIntegrationExtendedResource KueueDRAIntegrationPartitionableDevices KueueDRARejectWorkloadsWhenDRADisabled
    LocalQueueMetrics MultiKueueIncrementalDispatcherConfig MultiKueueIncrementalDispatcherRespectConfigOrder
    MultiKueueManagerQuotaAutomation MultiKueueOrchestratedPreemption MultiKueueRedoAdmissionOnEvictionInWorker
    MultiKueueWaitForWorkloadAdmitted PartialAdmission PrioritizePreemptorWorkloads PriorityBoost
    PrioritySortingWithinCohort QuotaCheckStrategy ReclaimablePods RecomputeAssignmentUponPreemptionTargetsOverlap
    RejectUpdatesToCQWithInvalidOnFlavors SchedulingEquivalenceHashing ShortWorkloadNames
    SkipReassignmentForPodOwnedWorkloads SparkApplicationIntegration TASBalancedPlacement TASCacheNodeMatchResults
    TASFailedNodeReplacement TASFailedNodeReplacementFailFast TASHandleOverlappingFlavors TASMultiLayerTopology
    TASProfileMixed TASRecomputeAssignmentWithinSchedulingCycle TASReplaceNodeDueToNotReadyOverFixedTime
    TASReplaceNodeOnNodeTaints TASReplaceNodeOnPodTermination TASRespectNodeAffinityPreferred
    TASValidateWorkloadSliceSize TopologyAwareScheduling UnadmittedWorkloadsExplicitStatus
    UnadmittedWorkloadsObservability WorkloadIdentifierAnnotations WorkloadPriorityClassDefaulting
    WorkloadValidateResourcesAreNonNegative WorkloadValidationForPodSetMetadata
"""

_NO_EFFECT = {
    "CleanupProvisioningRequestsOnEviction": "kueuepy creates no ProvisioningRequests",
    "CustomMetricLabels": "affects only metrics",
    "DeferRayServiceFinalizationForRedisCleanup": "affects only the deletion of jobs",
    "FailureRecoveryPolicy": "kueuepy does not simulate pods that are stuck while terminating",
    "FinishOrphanedWorkloads": "kueuepy keeps a workload until it is deleted",
    "LWSImmutableGroupSize": "affects only updates of jobs",
    "MetricForWorkloadCreationLatency": "affects only metrics",
    "MetricsForCohorts": "affects only metrics",
    "MultiKueueAdaptersForCustomJobs": "a Fleet dispatches only batch Jobs, which this gate does not affect",
    "MultiKueueAllowInsecureKubeconfigs": "affects only credentials",
    "MultiKueueClusterProfile": "affects only credentials",
    "MultiKueueKubeConfigPathValidation": "affects only credentials",
    "MultiKueueRemoteSpecSync": "a Fleet dispatches only batch Jobs, which this gate does not affect",
    "ObjectRetentionPolicies": "finished objects remain until they are deleted",
    "PodIntegrationValidateGroupOwner": "affects only the ownership of existing objects",
    "PropagateBatchJobLabelsToWorkload": "no decision depends on these labels",
    "RemoveFinalizersWithStrictPatch": "affects only writes to the API server",
    "SkipAncestorCheckForDeletedWorkloads": "affects only the deletion of jobs",
    "SkipFinalizersForPodsSuspendedByParent": "affects only writes to the API server",
    "TASAssignmentsEncodingByHostnamePrefix": "affects only the encoding of assignments",
    "TASCacheTopologyTree": "affects only Kueue's speed",
    "TASCachingRemainingResources": "affects only Kueue's speed",
    "TLSOptions": "affects only connections",
    "ValidateRayAndSparkJobUpdates": "affects only updates of jobs",
    "VectorizedResourceRequests": "affects only Kueue's speed",
    "VisibilityOnDemand": "affects only an API endpoint",
    "WorkloadRequestUseMergePatch": "affects only writes to the API server",
}

_NOT_MODELLED = {
    "ConcurrentAdmission": "Kueue would try several flavors of a workload at the same time",
    "FastQuotaReleaseInPodIntegration": "Kueue would release the quota of a pod before the pod has stopped",
    "ManagedJobsNamespaceSelectorAlwaysRespected": "kueuepy decides as if this gate were on",
    "MultiKueue": "a Fleet dispatches workloads as if this gate were on",
    "SchedulerLibraryIntegration": "Kueue would use another library to test whether pods fit on nodes",
}

LATER_GATES = {
    "ConfigurablePreemptions": "Kueue would also use a PreemptionConfig to choose victims",
    "DynamicQuotaOrchestration": "Kueue would use status.effectiveQuotas instead of spec.resourceGroups",
    "ElasticJobsViaWorkloadSlicesWithPartialReplicaScaleUp": "Kueue would scale up elastic jobs partially",
    "FairSharingReevaluatePreemptionCandidates": "Kueue would search for fair-sharing victims again",
}
"""Alpha feature gates of v0.20 that are newer than the mirrored commit. These feature gates are off by default."""

PREEMPTION_CONFIG = "kueue.x-k8s.io/preemption-config-name"
"""Annotation of a ClusterQueue that names its PreemptionConfig."""


def _gate(name: str) -> Coverage:
    if name in GATES_MODELLED:
        return Coverage("modelled")
    if name in _NO_EFFECT:
        return Coverage("no effect", _NO_EFFECT[name])
    return Coverage("not modelled", _NOT_MODELLED.get(name) or LATER_GATES.get(name, ""))


GATES_MODELLED = frozenset(_MODELLED.split())
"""Names of the feature gates that kueuepy models."""

GATES: dict[str, Coverage] = {name: _gate(name) for gates in DEFAULTS.values() for name in gates}
"""Every feature gate of every release."""
