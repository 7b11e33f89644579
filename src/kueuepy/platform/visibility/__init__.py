"""Views of a running Scheduler for programs: pending workloads, statuses, events and the whole state."""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
