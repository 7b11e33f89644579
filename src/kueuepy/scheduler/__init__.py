"""Scheduler: runs Kueue's scheduling cycles on a cluster in virtual time."""

from kueuepy.scheduler.scheduler import Scheduler, scheduler_with

__all__ = ["Scheduler", "scheduler_with"]
