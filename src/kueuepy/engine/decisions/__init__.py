"""The decisions of a scheduling cycle."""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
