"""Validate and execute calls that submit workloads or change objects; `Scheduler` documents them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.manifest import ManifestError, check, validate_update
from kueuepy.objects import Object, Workload
from kueuepy.session import calls
from kueuepy.session.elastic import resized
from kueuepy.session.session import Session
from kueuepy.session.state import SchedulerState
from kueuepy.session.submission import Keys, SubmittedWorkload
from kueuepy.session.workloads import plain_row, take_all, valid_submissions


def submit(session: Session, items: Sequence[Any], *, keep_status: bool = False) -> Keys:
    """Execute `Scheduler.submit`."""
    with session.lock:
        if (row := plain_row(session.state, items)) is not None:
            with session.change():
                return take_all(session, (row,))
        new = valid_submissions(session.state, items, keep_status=keep_status)
        found = [resized(session.state, one) for one in new]
        changed = [one.changed for one in found if one.changed is not None]
        with session.change(several=keep_status and len(found) > 1):
            for obj in changed:
                _check(session.state, obj)
            taken = take_all(session, (one.new for one in found if one.new is not None), changed)
        keys = Keys([one.key for one in found])
        keys.remarks = taken.remarks
        return keys


def apply(session: Session, objects: Sequence[Object]) -> None:
    """Execute `Scheduler.apply`."""
    with session.change(several=len(objects) > 1):
        state = session.state
        for obj in objects:
            expect_object("apply", obj)
            _check(state, obj)
        for obj in objects:
            if isinstance(obj, Workload) and state.find(obj) is None:
                take_all(session, [SubmittedWorkload(msgspec.structs.replace(obj, status=None))])
            else:
                session.do(calls.Apply(obj))


def _check(state: SchedulerState, obj: Object) -> None:
    known, gates = state.find(obj), state.configuration.gates
    if known is None:
        check(obj, feature_gates=gates)
        return
    changed = obj
    if isinstance(known, Workload) and isinstance(obj, Workload):
        known = state.workload(obj.key)
        changed = calls.with_status_of(known, obj)
    if problems := validate_update(known, changed, feature_gates=gates):
        raise ManifestError([(f'{type(obj).__name__} "{obj.key}"', problem) for problem in problems])


def remove(session: Session, objects: Sequence[Object]) -> None:
    """Execute `Scheduler.remove`."""
    with session.change():
        for obj in objects:
            expect_object("remove", obj)
            if session.state.find(obj) is None:
                raise NotFoundError(f'{type(obj).__name__} "{obj.key}": there is no such object')
        calls.each_once("remove", (f'{type(obj).__name__} "{obj.key}"' for obj in objects))
        session.do(*(calls.Delete(obj.key) if isinstance(obj, Workload) else calls.Remove.of(obj) for obj in objects))


def expect_object(method: str, obj: object) -> None:
    """Check that an argument is an object with a name.

    Raises:
        InvalidSpecError: The argument is not an object, or its name is not a string.
    """
    if not isinstance(obj, Object):
        raise InvalidSpecError(f"{method}: {obj!r:.99} is not an object; it must be one, such as a LocalQueue")
    if not isinstance(obj.name, str):
        raise InvalidSpecError(f"{method}: {type(obj).__name__}: name: is {obj.name!r:.99}; it must be a string")
