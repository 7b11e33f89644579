"""The parts of Kueue's API that kueuepy models: each feature gate and each field, with its effect.

Source: `pkg/features/kube_features.go`, `apis/kueue/v1beta2`, `apis/config/v1beta2/configuration_types.go`; for the
gates and fields that are newer than the mirrored commit, kubernetes-sigs/kueue #13396 and #12382.
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

_NOTES = {
    ("ClusterQueue", "not modelled"): "Kueue would try several flavors of a workload at the same time",
    ("ProvisioningRequestConfig", "not modelled"): "no controller runs; the caller sets the state of the check",
}

_LATER_FIELDS = {
    ("ClusterQueue", f"metadata.annotations[{PREEMPTION_CONFIG}]"): LATER_GATES["ConfigurablePreemptions"],
    ("ClusterQueue", "status.effectiveQuotas"): "Kueue would use this field instead of spec.resourceGroups",
    ("Cohort", "status.effectiveQuotas"): "Kueue would use this field instead of spec.resourceGroups",
}

_FIELDS = """
Configuration modelled:
    namespace metrics.localQueueMetrics.enable metrics.localQueueMetrics.localQueueSelector
    manageJobsWithoutQueueName managedJobsNamespaceSelector waitForPodsReady.timeout waitForPodsReady.blockAdmission
    waitForPodsReady.requeuingStrategy.timestamp waitForPodsReady.requeuingStrategy.backoffLimitCount
    waitForPodsReady.requeuingStrategy.backoffBaseSeconds waitForPodsReady.requeuingStrategy.backoffMaxSeconds
    waitForPodsReady.recoveryTimeout integrations.frameworks[] multiKueue.gcInterval multiKueue.origin
    multiKueue.workerLostTimeout multiKueue.dispatcherName multiKueue.incrementalDispatcherConfig.stepSize
    fairSharing.preemptionStrategies[] admissionFairSharing.usageHalfLifeTime
    admissionFairSharing.usageSamplingInterval admissionFairSharing.resourceWeights resources.quotaCheckStrategy
    resources.excludeResourcePrefixes[] resources.transformations[].input resources.transformations[].strategy
    resources.transformations[].multiplyBy resources.transformations[].outputs resources.deviceClassMappings[].name
    resources.deviceClassMappings[].deviceClassNames[] resources.deviceClassMappings[].sources[].counter.name
    resources.deviceClassMappings[].sources[].counter.driver
    resources.deviceClassMappings[].sources[].counter.deviceSelector
    resources.deviceClassMappings[].sources[].capacity.name
    resources.deviceClassMappings[].sources[].capacity.driver
    resources.deviceClassMappings[].sources[].capacity.deviceSelector featureGates
Configuration no effect:
    webhook.port webhook.host webhook.certDir leaderElection metrics.bindAddress metrics.enableClusterQueueResources
    metrics.customLabels[].name metrics.customLabels[].sourceLabelKey metrics.customLabels[].sourceAnnotationKey
    metrics.customLabels[].sourceKind metrics.customLabels[].trackedValues[] health.healthProbeBindAddress
    health.readinessEndpointName health.livenessEndpointName pprofBindAddress controller.groupKindConcurrency
    controller.cacheSyncTimeout tls.minVersion tls.cipherSuites[] tls.curvePreferences[]
    internalCertManagement.enable internalCertManagement.webhookServiceName internalCertManagement.webhookSecretName
    clientConnection.qps clientConnection.burst integrations.externalFrameworks[] integrations.labelKeysToCopy[]
    multiKueue.externalFrameworks[].name multiKueue.clusterProfile.accessProviders[].name
    multiKueue.clusterProfile.accessProviders[].execConfig multiKueue.clusterProfile.credentialsProviders[]
    objectRetentionPolicies.workloads.afterFinished objectRetentionPolicies.workloads.afterDeactivatedByKueue
    visibilityServer.bindAddress visibilityServer.bindPort
AdmissionCheck modelled:
    spec.controllerName spec.parameters.apiGroup spec.parameters.kind spec.parameters.name
    status.conditions[].status status.conditions[].type
AdmissionCheck no effect:
    status.conditions[].lastTransitionTime status.conditions[].message status.conditions[].observedGeneration
    status.conditions[].reason
ClusterQueue modelled:
    spec.admissionChecksStrategy.admissionChecks[].name spec.admissionChecksStrategy.admissionChecks[].onFlavors[]
    spec.admissionScope.admissionMode spec.cohortName spec.fairSharing.weight spec.flavorFungibility.preference
    spec.flavorFungibility.whenCanBorrow spec.flavorFungibility.whenCanPreempt
    spec.namespaceSelector.matchExpressions[].key spec.namespaceSelector.matchExpressions[].operator
    spec.namespaceSelector.matchExpressions[].values[] spec.namespaceSelector.matchLabels
    spec.preemption.borrowWithinCohort.maxPriorityThreshold spec.preemption.borrowWithinCohort.policy
    spec.preemption.reclaimWithinCohort spec.preemption.withinClusterQueue spec.queueingStrategy
    spec.resourceGroups[].coveredResources[] spec.resourceGroups[].flavors[].name
    spec.resourceGroups[].flavors[].resources[].borrowingLimit
    spec.resourceGroups[].flavors[].resources[].lendingLimit spec.resourceGroups[].flavors[].resources[].name
    spec.resourceGroups[].flavors[].resources[].nominalQuota spec.stopPolicy status.admittedWorkloads
    status.conditions[].lastTransitionTime status.conditions[].message status.conditions[].reason
    status.conditions[].status status.conditions[].type status.fairSharing.weightedShare
    status.flavorsReservation[].name status.flavorsReservation[].resources[].borrowed
    status.flavorsReservation[].resources[].name status.flavorsReservation[].resources[].total
    status.flavorsUsage[].name status.flavorsUsage[].resources[].borrowed status.flavorsUsage[].resources[].name
    status.flavorsUsage[].resources[].total status.pendingWorkloads status.reservingWorkloads
ClusterQueue no effect:
    status.conditions[].observedGeneration
ClusterQueue not modelled:
    spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName
    spec.concurrentAdmissionPolicy.migration.mode
Cohort modelled:
    spec.fairSharing.weight spec.parentName spec.resourceGroups[].coveredResources[]
    spec.resourceGroups[].flavors[].name spec.resourceGroups[].flavors[].resources[].borrowingLimit
    spec.resourceGroups[].flavors[].resources[].lendingLimit spec.resourceGroups[].flavors[].resources[].name
    spec.resourceGroups[].flavors[].resources[].nominalQuota status.fairSharing.weightedShare
LocalQueue modelled:
    spec.clusterQueue spec.fairSharing.weight spec.stopPolicy status.admittedWorkloads
    status.conditions[].lastTransitionTime status.conditions[].message status.conditions[].reason
    status.conditions[].status status.conditions[].type
    status.fairSharing.admissionFairSharingStatus.consumedResources status.fairSharing.weightedShare
    status.flavorsReservation[].name status.flavorsReservation[].resources[].name
    status.flavorsReservation[].resources[].total status.flavorsUsage[].name status.flavorsUsage[].resources[].name
    status.flavorsUsage[].resources[].total status.pendingWorkloads status.reservingWorkloads
LocalQueue no effect:
    status.conditions[].observedGeneration status.fairSharing.admissionFairSharingStatus.lastUpdate
MultiKueueCluster no effect:
    spec.clusterSource.clusterProfileRef.name spec.clusterSource.kubeConfig.location
    spec.clusterSource.kubeConfig.locationType status.conditions[].lastTransitionTime status.conditions[].message
    status.conditions[].observedGeneration status.conditions[].reason status.conditions[].status
    status.conditions[].type
MultiKueueConfig modelled:
    spec.clusters[] spec.quotaManagement
ProvisioningRequestConfig not modelled:
    spec.managedResources[] spec.parameters spec.podSetMergePolicy spec.podSetUpdates.nodeSelector[].key
    spec.podSetUpdates.nodeSelector[].valueFromProvisioningClassDetail spec.provisioningClassName
    spec.retryStrategy.backoffBaseSeconds spec.retryStrategy.backoffLimitCount spec.retryStrategy.backoffMaxSeconds
ResourceFlavor modelled:
    spec.nodeLabels spec.nodeTaints[].effect spec.nodeTaints[].key spec.nodeTaints[].value spec.tolerations[].effect
    spec.tolerations[].key spec.tolerations[].operator spec.tolerations[].value spec.topologyName
ResourceFlavor no effect:
    spec.nodeTaints[].timeAdded spec.tolerations[].tolerationSeconds
Topology modelled:
    spec.levels[].nodeLabel
WorkloadPriorityClass modelled:
    value
WorkloadPriorityClass no effect:
    description
Workload modelled:
    spec.active spec.maximumExecutionTimeSeconds spec.podSets[].count spec.podSets[].minCount spec.podSets[].name
    spec.podSets[].template spec.podSets[].topologyRequest.podSetGroupName
    spec.podSets[].topologyRequest.podSetSliceRequiredTopology spec.podSets[].topologyRequest.podSetSliceSize
    spec.podSets[].topologyRequest.podsetSliceRequiredTopologyConstraints[].size
    spec.podSets[].topologyRequest.podsetSliceRequiredTopologyConstraints[].topology
    spec.podSets[].topologyRequest.preferred spec.podSets[].topologyRequest.required
    spec.podSets[].topologyRequest.unconstrained spec.preemptionGates[].name spec.priority
    spec.priorityClassRef.kind spec.priorityClassRef.name spec.queueName status.accumulatedPastExecutionTimeSeconds
    status.admission.clusterQueue status.admission.podSetAssignments[].count
    status.admission.podSetAssignments[].delayedTopologyRequest status.admission.podSetAssignments[].flavors
    status.admission.podSetAssignments[].name status.admission.podSetAssignments[].resourceUsage
    status.admission.podSetAssignments[].topologyAssignment.levels[]
    status.admission.podSetAssignments[].topologyAssignment.slices[].domainCount
    status.admission.podSetAssignments[].topologyAssignment.slices[].podCounts.individual[]
    status.admission.podSetAssignments[].topologyAssignment.slices[].podCounts.universal
    status.admission.podSetAssignments[].topologyAssignment.slices[].valuesPerLevel[].individual.prefix
    status.admission.podSetAssignments[].topologyAssignment.slices[].valuesPerLevel[].individual.roots[]
    status.admission.podSetAssignments[].topologyAssignment.slices[].valuesPerLevel[].individual.suffix
    status.admission.podSetAssignments[].topologyAssignment.slices[].valuesPerLevel[].universal
    status.admissionChecks[].lastTransitionTime status.admissionChecks[].message status.admissionChecks[].name
    status.admissionChecks[].podSetUpdates[].annotations status.admissionChecks[].podSetUpdates[].labels
    status.admissionChecks[].podSetUpdates[].name status.admissionChecks[].podSetUpdates[].nodeSelector
    status.admissionChecks[].podSetUpdates[].tolerations[].effect
    status.admissionChecks[].podSetUpdates[].tolerations[].key
    status.admissionChecks[].podSetUpdates[].tolerations[].operator
    status.admissionChecks[].podSetUpdates[].tolerations[].value status.admissionChecks[].requeueAfterSeconds
    status.admissionChecks[].retryCount status.admissionChecks[].state status.clusterName
    status.conditions[].lastTransitionTime status.conditions[].message status.conditions[].reason
    status.conditions[].status status.conditions[].type status.nominatedClusterNames[] status.preemptionGates[].name
    status.preemptionGates[].position status.reclaimablePods[].count status.reclaimablePods[].name
    status.requeueState.count status.requeueState.requeueAt status.unhealthyNodes[].name
Workload no effect:
    spec.podSets[].topologyRequest.podIndexLabel spec.podSets[].topologyRequest.subGroupCount
    spec.podSets[].topologyRequest.subGroupIndexLabel spec.priorityClassRef.group
    status.admissionChecks[].podSetUpdates[].tolerations[].tolerationSeconds status.conditions[].observedGeneration
    status.preemptionGates[].lastTransitionTime status.resourceRequests[].name status.resourceRequests[].resources
    status.schedulingStats.evictions[].count status.schedulingStats.evictions[].reason
    status.schedulingStats.evictions[].underlyingCause
"""
"""For each kind and effect, the paths of the fields in v1beta2. A pod template counts as one field."""


def _gate(name: str) -> Coverage:
    if name in GATES_MODELLED:
        return Coverage("modelled")
    if name in _NO_EFFECT:
        return Coverage("no effect", _NO_EFFECT[name])
    return Coverage("not modelled", _NOT_MODELLED.get(name) or LATER_GATES.get(name, ""))


def _fields() -> dict[str, dict[str, Coverage]]:
    found: dict[str, dict[str, Coverage]] = {}
    paths, coverage = {}, Coverage("modelled")
    for line in _FIELDS.strip().split("\n"):
        if line.endswith(":"):
            kind, _, effect = line[:-1].partition(" ")
            paths = found.setdefault(kind, {})
            coverage = Coverage(effect, _NOTES.get((kind, effect), ""))  # type: ignore[arg-type]
        else:
            paths |= dict.fromkeys(line.split(), coverage)
    for (kind, path), note in _LATER_FIELDS.items():
        found[kind][path] = Coverage("not modelled", note)
    return found


GATES_MODELLED = frozenset(_MODELLED.split())
"""Names of the feature gates that kueuepy models."""

GATES: dict[str, Coverage] = {name: _gate(name) for gates in DEFAULTS.values() for name in gates}
"""Every feature gate of every release."""

FIELDS: dict[str, dict[str, Coverage]] = _fields()
"""The fields of Kueue's API, by kind and path."""
