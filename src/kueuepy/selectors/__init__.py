"""Device selectors: expressions of the Common Expression Language (CEL), as Kubernetes evaluates them.

Google's CEL library parses, checks and evaluates the expressions. Two adaptations are needed: missing domains of a
device evaluate to empty maps (`rewriting`), and quantities and versions are maps with one entry (`values`).
"""

from kueuepy.selectors.evaluation import compile_error, evaluate, is_available

__all__ = ["compile_error", "evaluate", "is_available"]
