"""The words that decisions are made of, as Kueue spells them."""

from __future__ import annotations

from typing import Literal, TypeAlias

FlavorMode: TypeAlias = Literal["NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit"]
"""How well a flavor does, from worst to best."""

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
"""Why a workload waits: the reason of its condition `QuotaReserved`."""
