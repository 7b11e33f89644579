"""Selectors of devices: expressions of the Common Expression Language (CEL), as Kubernetes evaluates them.

Google's CEL library parses, checks and evaluates. Two things differ from the library's own data: a domain that a device
lacks counts as an empty map (`rewriting`), and quantities and versions are kept as maps with one entry (`values`).
"""

from .evaluation import compile_error, evaluate, is_available

__all__ = ["compile_error", "evaluate", "is_available"]
