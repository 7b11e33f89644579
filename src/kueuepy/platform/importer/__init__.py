"""Import of a live cluster's state into a Scheduler, equivalent to Kueue's importer."""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
