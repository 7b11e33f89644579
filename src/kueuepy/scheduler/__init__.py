"""Scheduler: a cluster that runs, in virtual time, as Kueue would run it."""

from kueuepy.scheduler.scheduler import Scheduler

__all__ = ["Scheduler"]
