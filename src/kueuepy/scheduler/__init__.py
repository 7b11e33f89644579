"""Scheduler: runs Kueue's scheduling cycles on a cluster in virtual time."""

from kueuepy.scheduler.scheduler import Scheduler

__all__ = ["Scheduler"]
