"""Explanations of the state of a workload, as a tree of causes and as text."""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
