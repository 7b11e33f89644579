"""A Scheduler whose every call is kept in a file and survives a crash."""

from kueuepy.journal.declared import OnChange
from kueuepy.journal.journal import Journal
from kueuepy.journal.scheduler import JournaledScheduler

__all__ = [
    "Journal",
    "JournaledScheduler",
    "OnChange",
]
