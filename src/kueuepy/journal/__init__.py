"""Journal: a file that records every call of a Scheduler, so that its state survives a crash."""

from kueuepy.journal.declared import OnChange
from kueuepy.journal.journal import Journal
from kueuepy.journal.scheduler import JournaledScheduler

__all__ = [
    "Journal",
    "JournaledScheduler",
    "OnChange",
]
