"""Journal: a file that records every call of a Scheduler, so that its state survives a crash."""

from kueuepy.platform.journal.journal import Journal, JournaledScheduler, OnChange

__all__ = ["Journal", "JournaledScheduler", "OnChange"]
