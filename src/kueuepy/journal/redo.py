"""A written call done again: what it did then is done now, without the checks that it has passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kueuepy.objects.kinds import kind_of
from kueuepy.objects.ready import ready
from kueuepy.session import calls
from kueuepy.session.submission import Submitted

if TYPE_CHECKING:
    from kueuepy.journal.scheduler import JournaledScheduler


def redo(scheduler: JournaledScheduler, call: calls.Call) -> None:
    """Does a call again."""
    match call:
        case calls.Submit(workload, count, job, single_pod):
            scheduler.resubmit(Submitted(workload, job, single_pod), count)
        case calls.Apply(kind, raw):
            scheduler.reapply(msgspec.json.decode(raw, type=ready(kind_of(kind))))
        case calls.Remove(kind, name, namespace):
            scheduler.remove(scheduler.declared(kind_of(kind), f"{namespace}/{name}" if namespace else name))
        case calls.Controllers():
            scheduler.engine.settle()
        case calls.Advance(now):
            scheduler.engine.set_now(now)
        case calls.Cycle():
            scheduler.cycle()
        case calls.Settle(max_cycles):
            scheduler.settle(max_cycles=max_cycles)
        case _:
            _redo_of_workload(scheduler, call)


def _redo_of_workload(scheduler: JournaledScheduler, call: calls.OfWorkload) -> None:
    match call:
        case calls.Finish(key, reason, message):
            scheduler.finish(key, reason=reason, message=message)
        case calls.Delete(key):
            scheduler.delete(key)
        case calls.SetCheck(key, check, state):
            scheduler.set_check(
                key,
                check,
                state,
                message=call.message,
                requeue_after=call.requeue_after_seconds,
                pod_set_updates=call.pod_set_updates,
            )
        case calls.PodsReady(key, is_ready):
            scheduler.pods_ready(key, is_ready)
        case calls.Reclaim(key, pods):
            scheduler.reclaim(key, pods)
