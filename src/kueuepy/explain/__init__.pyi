from kueuepy.explain.cause import Cause, RootCause
from kueuepy.explain.explanation import Explanation, explain

__all__ = [
    "Cause",
    "Explanation",
    "RootCause",
    "explain",
]
