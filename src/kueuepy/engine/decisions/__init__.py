"""The decisions of a scheduling cycle."""

from kueuepy.engine.decisions.decision import Admitted, Decision, FlavorAttempt, Pending, Preempting, Target
from kueuepy.engine.decisions.kinds import FlavorMode, PendingReason, PreemptionReason

__all__ = [
    "Admitted",
    "Decision",
    "FlavorAttempt",
    "FlavorMode",
    "Pending",
    "PendingReason",
    "Preempting",
    "PreemptionReason",
    "Target",
]
