"""Scheduler: a cluster that runs, in virtual time, as Kueue would run it."""

from kueuepy.scheduler.scheduler import Scheduler, scheduler_with

__all__ = ["Scheduler", "scheduler_with"]
