"""Import of a live cluster's state into a Scheduler, equivalent to Kueue's importer."""

from kueuepy import _stubs

__getattr__, __dir__, __all__ = _stubs.facade(__name__)
