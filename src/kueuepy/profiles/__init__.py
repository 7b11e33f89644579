"""The supported releases of Kueue, and the differences between them."""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
