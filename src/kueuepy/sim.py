"""Descriptions of a simulation: the cost of evictions, delays, failures, events, random times, tables to record.

`simulate` and `Jobs` are in `kueuepy` itself.
"""

from kueuepy import _stubs

__getattr__, __dir__, __all__ = _stubs.facade(__name__)
