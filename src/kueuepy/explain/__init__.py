"""Why a workload waits or runs, as a tree of causes and in words."""

from kueuepy.explain.cause import Cause
from kueuepy.explain.explanation import Explanation, explain

__all__ = [
    "Cause",
    "Explanation",
    "explain",
]
