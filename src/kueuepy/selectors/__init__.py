"""Device selectors: expressions of the Common Expression Language (CEL), as Kubernetes evaluates them.

Google's CEL library parses, checks and evaluates the expressions. The list in `refusals` contains the expressions for
which its result could differ from the result of Kubernetes; such an expression raises an `UnsupportedError`.
"""

from kueuepy.selectors.evaluation import compile_error, evaluate, is_available

__all__ = ["compile_error", "evaluate", "is_available"]
