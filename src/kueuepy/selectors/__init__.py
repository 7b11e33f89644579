"""Device selectors: expressions of the Common Expression Language (CEL), as Kubernetes evaluates them.

Google's CEL library parses, checks and evaluates the expressions. Two adaptations are needed: a domain that a device
lacks is an empty map (`rewriting`), and quantities and versions are represented as maps with one entry (`values`).
"""

from .evaluation import compile_error, evaluate, is_available

__all__ = ["compile_error", "evaluate", "is_available"]
