"""The literal types used in decisions, in Kueue's spelling."""

from typing import Literal, TypeAlias

FlavorMode: TypeAlias = Literal["NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit"]
"""The result of evaluating a flavor, from worst to best."""

PreemptionReason: TypeAlias = Literal[
    "InClusterQueue", "InCohortReclamation", "InCohortFairSharing", "InCohortReclaimWhileBorrowing"
]
"""The rule by which a workload is preempted."""

PendingReason: TypeAlias = Literal[
    "WaitingForQuota",
    "NoMatchingFlavor",
    "ExceedsMaxQuota",
    "TopologyPlacementFailed",
    "WaitingForPreemptedWorkloads",
    "WaitingForPodsReady",
    "PendingEvaluation",
    "Misconfigured",
    "Suspended",
    "Deactivated",
    "AdmissionGated",
    "OnHold",
    "Inadmissible",
    "Pending",
    "",
]
"""The reason of the condition `QuotaReserved` of a pending workload."""
