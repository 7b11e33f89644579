"""Device selectors: expressions of the Common Expression Language (CEL), as Kubernetes evaluates them.

Google's CEL library parses, checks and evaluates the expressions. Two adaptations are needed: missing domains of a
device evaluate to empty maps, and quantities and versions are maps with one entry (`values`). The syntax tree of a
checked expression (`syntax`) is therefore rewritten (`rewriting`), so that functions of `operations` evaluate what the
library would evaluate differently.
"""

from kueuepy.selectors.evaluation import compile_error, evaluate, is_available

__all__ = ["compile_error", "evaluate", "is_available"]
