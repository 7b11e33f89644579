"""A fleet: a manager cluster that dispatches workloads to worker clusters (MultiKueue)."""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
