"""A fleet: a manager cluster that dispatches workloads to worker clusters (MultiKueue)."""

from kueuepy import _stubs

__getattr__, __dir__, __all__ = _stubs.facade(__name__)
