from kueuepy.engine.decisions.decision import (
    Admitted,
    Decision,
    FlavorAttempt,
    FlavorMode,
    Pending,
    PendingReason,
    Preempting,
    PreemptionReason,
    Target,
)

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
