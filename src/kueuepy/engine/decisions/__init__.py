"""The decisions of a scheduling cycle."""

from kueuepy import _stubs

__getattr__, __dir__, __all__ = _stubs.facade(__name__)
