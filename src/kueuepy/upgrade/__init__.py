"""Comparison of the decisions of two releases of Kueue, including the earliest releases."""

from kueuepy.upgrade.comparing import GateChange, Upgrade, VersionChange, compare_versions, gate_changes
from kueuepy.upgrade.early import EARLY, EARLY_RULES, OLDEST, EarlyRule, as_then, is_early

__all__ = [
    "EARLY",
    "EARLY_RULES",
    "OLDEST",
    "EarlyRule",
    "GateChange",
    "Upgrade",
    "VersionChange",
    "as_then",
    "compare_versions",
    "gate_changes",
    "is_early",
]
