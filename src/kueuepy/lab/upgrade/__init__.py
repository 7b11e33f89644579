"""Comparison of releases of Kueue: decisions that differ for the same jobs, and the rules that cause them."""

from kueuepy.cluster.early import EARLY, EARLY_RULES, OLDEST, EarlyRule, as_then, is_early
from kueuepy.lab.upgrade.comparing import GateChange, Upgrade, VersionChange, compare_versions, gate_changes

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
