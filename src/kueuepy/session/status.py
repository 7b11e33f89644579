"""A workload's status, read off the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kueuepy.engine.decided import assignments
from kueuepy.objects import (
    Admission,
    AdmissionCheckState,
    Condition,
    ReclaimablePod,
    RequeueState,
    WorkloadStatus,
)

if TYPE_CHECKING:
    from kueuepy import _core
    from kueuepy.engine.facts import CheckView
    from kueuepy.objects import Workload


def live_workload(engine: _core.Engine, found: int, known: Workload) -> Workload:
    """The Workload as submitted, with the status that it has now."""
    view, life = engine.admission(found), engine.life(found)
    again = life["requeue_count"]
    status = msgspec.structs.replace(
        known.status or WorkloadStatus(),
        conditions=conditions(engine, found),
        admission=None if view is None else Admission(view[0], assignments(view[1])),
        requeue_state=None if again is None else RequeueState(again, life["requeue_at"]),
        reclaimable_pods=tuple(ReclaimablePod(name, count) for name, count in life["reclaimable"].items()),
        admission_checks=tuple(_check(check) for check in life["checks"]),
        accumulated_past_execution_time_seconds=life["past_execution_seconds"],
        unhealthy_nodes=tuple(life["unhealthy_nodes"]),
    )
    return msgspec.structs.replace(known, status=status, active=life["active"])


def _check(view: CheckView) -> AdmissionCheckState:
    """One check, with what it adds to pod sets."""
    added = msgspec.json.decode(view[6], type=tuple[dict[str, Any], ...]) if view[6] else ()
    return AdmissionCheckState(*view[:6], added)


def conditions(engine: _core.Engine, found: int) -> tuple[Condition, ...]:
    """The workload's conditions."""
    return tuple(
        Condition(name, _status(is_true), reason, message, transition)
        for name, (is_true, reason, message, transition) in engine.conditions(found).items()
    )


def _status(is_true: bool) -> Literal["True", "False"]:  # noqa: FBT001 - a value, not a switch
    return "True" if is_true else "False"
