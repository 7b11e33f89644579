"""Journal: a file that records every call of a Scheduler, so that its state survives a crash."""

from kueuepy.platform.journal.declared import OnChange
from kueuepy.platform.journal.journal import Journal
from kueuepy.platform.journal.scheduler import JournaledScheduler

__all__ = ["Journal", "JournaledScheduler", "OnChange"]
