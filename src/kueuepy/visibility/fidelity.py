"""What kueuepy is held against, for programs: the version of Kueue, its feature gates, and what is left out."""

from __future__ import annotations

import msgspec

from kueuepy.errors.arguments import checked
from kueuepy.profiles import DEFAULTS, Rule, open_answers, release_of, rules_of
from kueuepy.version import COMMIT, VERSION, installed

_EFFECTIVE = """
    AdmissionFairSharing AdmissionGatedBy AssignQueueLabelsForPods ElasticJobsViaWorkloadSlices
    ElasticJobsViaWorkloadSlicesWithTAS FairSharingPreemptWithinNominal FairSharingPrioritizeNonBorrowing
    FlavorFungibility FlavorFungibilityPreserveScanProgress LocalQueueMetrics MultiKueueIncrementalDispatcherConfig
    MultiKueueIncrementalDispatcherRespectConfigOrder MultiKueueManagerQuotaAutomation
    MultiKueueOrchestratedPreemption PartialAdmission
    PrioritizePreemptorWorkloads PriorityBoost PrioritySortingWithinCohort QuotaCheckStrategy ReclaimablePods
    RecomputeAssignmentUponPreemptionTargetsOverlap RejectUpdatesToCQWithInvalidOnFlavors SchedulingEquivalenceHashing
    ShortWorkloadNames SkipReassignmentForPodOwnedWorkloads SparkApplicationIntegration TASBalancedPlacement
    TASCacheNodeMatchResults TASFailedNodeReplacement TASFailedNodeReplacementFailFast TASHandleOverlappingFlavors
    TASMultiLayerTopology TASProfileMixed TASRecomputeAssignmentWithinSchedulingCycle
    TASReplaceNodeDueToNotReadyOverFixedTime TASReplaceNodeOnNodeTaints TASReplaceNodeOnPodTermination
    TASRespectNodeAffinityPreferred TopologyAwareScheduling UnadmittedWorkloadsExplicitStatus
    UnadmittedWorkloadsObservability WorkloadIdentifierAnnotations WorkloadPriorityClassDefaulting
    WorkloadValidateResourcesAreNonNegative WorkloadValidationForPodSetMetadata
"""
EFFECTIVE_GATES = frozenset(_EFFECTIVE.split())
"""The feature gates that change something here; the others are known by name."""

LEFT_OUT = {
    "the controllers of admission checks": "not run; a check is as it is set, or answered by `checks`",
    "MultiKueue": "runs in a `Fleet`, for batch Jobs; elastic jobs and groups of workloads are not dispatched",
    "dynamic resource allocation": "resource claims count nothing",
    "concurrent admission and other alpha features": "read and validated; without effect",
    "pods and their failures": "a job's pods are ready, failed or done when they are said to be",
    "retention of finished objects": "they stay until they are deleted",
}
"""What Kueue does and kueuepy does not, and what it does instead."""

_REPLAYED = """
    Q-01 Q-02 Q-05 Q-06 Q-07 Q-08 QT-01 QT-02 QT-03 QT-04 QT-05 QT-06 QT-07 QT-08 QT-09 QT-11 QT-12 QT-13 QT-14 QT-15
    QT-17 QT-18 QT-21 QT-25 FL-01 FL-02 FL-03 FL-05 FL-06 FL-11 FL-12 FL-13 FL-18 PR-03 PR-04 PR-05 PR-06 PR-07 PR-16
    PR-22 FS-02 FS-08 FS-09 FS-10 FS-12 WL-08
"""
REPLAYED = tuple(_REPLAYED.split())
"""The acceptance tests whose numbers were also found by running Kueue's scheduler itself."""


class Gate(msgspec.Struct, frozen=True):
    """A feature gate of Kueue.

    Attributes:
        default: Whether it is on unless a Configuration says otherwise.
        effective: Whether it changes something here.
    """

    default: bool
    effective: bool


class Fidelity(msgspec.Struct, frozen=True):
    """What kueuepy is held against.

    Attributes:
        kueuepy: The version of kueuepy.
        commit: The commit of kubernetes-sigs/kueue whose decisions are right.
        version: Its version.
        api_versions: The versions of Kueue's API that are read; the last one is written.
        feature_gates: Every feature gate of that commit.
        job_kinds: The kinds of jobs that are read, `group/version Kind`.
        left_out: What Kueue does and kueuepy does not, and what it does instead.
        replayed: The rows of acceptance tests whose numbers were found by running Kueue's scheduler itself.
        rules: What the release decides otherwise than that commit, beside the defaults of its feature gates.
        open_answers: Where the release itself answers at random, or does not answer.
    """

    kueuepy: str
    commit: str
    version: str
    api_versions: tuple[str, ...]
    feature_gates: dict[str, Gate]
    job_kinds: tuple[str, ...]
    left_out: dict[str, str]
    replayed: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    open_answers: tuple[str, ...] = ()


@checked
def fidelity(version: str = VERSION) -> Fidelity:
    """What kueuepy is held against, for programs that have to know; as JSON by `msgspec.json.encode`.

    Args:
        version: A release of Kueue, such as `v0.18`; by default the one that is mirrored.

    >>> found = fidelity()
    >>> found.commit, found.api_versions[-1], found.feature_gates["PartialAdmission"].default
    ('ff69552e79', 'v1beta2', True)
    >>> [rule.name for rule in fidelity("v0.18").rules], fidelity("v0.18").version
    ([], 'v0.18.6')

    Raises:
        InvalidSpecError: The release has no profile.
    """
    from kueuepy.jobs import kinds  # noqa: PLC0415 - only on use

    release = release_of(version)
    return Fidelity(
        kueuepy=installed(),
        commit=COMMIT,
        version=release.newest,
        api_versions=("v1alpha1", "v1alpha2", "v1beta1", "v1beta2"),
        feature_gates={name: Gate(on, name in EFFECTIVE_GATES) for name, on in DEFAULTS[release].items()},
        job_kinds=tuple(f"{version} {kind}" for version, kind in kinds()),
        left_out=LEFT_OUT,
        replayed=REPLAYED,
        rules=rules_of(release),
        open_answers=open_answers(release),
    )
