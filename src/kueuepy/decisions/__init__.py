"""What a cycle decides about each workload, and what came of the cycle."""

from kueuepy.decisions.cycle import Cycle, Loop, Settled
from kueuepy.decisions.decision import Admitted, Decision, FlavorAttempt, Pending, Preempting, Target
from kueuepy.decisions.kinds import FlavorMode, PendingReason, PreemptionReason

__all__ = [
    "Admitted",
    "Cycle",
    "Decision",
    "FlavorAttempt",
    "FlavorMode",
    "Loop",
    "Pending",
    "PendingReason",
    "Preempting",
    "PreemptionReason",
    "Settled",
    "Target",
]
