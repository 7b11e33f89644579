"""Validate and execute calls that submit, finish, delete and update workloads; `Scheduler` documents them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from kueuepy._core import Question
from kueuepy.engine.rows import from_plain_row
from kueuepy.errors import DuplicateError, InvalidSpecError, StateError
from kueuepy.manifest import check
from kueuepy.objects import SECOND
from kueuepy.objects.times import later
from kueuepy.session import calls
from kueuepy.session.checks import check_updates
from kueuepy.session.submission import Keys, SubmittedWorkload, question_of_row, submissions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kueuepy.objects import Workload
    from kueuepy.objects.times import Duration
    from kueuepy.session.checks import CheckAnswer
    from kueuepy.session.session import Session
    from kueuepy.session.state import SchedulerState
    from kueuepy.session.store import Step

W = TypeVar("W", bound=calls.OfWorkload)

# --- submission ------------------------------------------------------------------------------------------------------


def valid_submissions(
    state: SchedulerState, items: Iterable[Any], *, keep_status: bool = False
) -> list[SubmittedWorkload]:
    """Return the validated Workloads of submitted items.

    Raises:
        InvalidSpecError: An item is not valid, or is not a Workload, job, row or data frame.
        NotFoundError: A job names a priority class that does not exist.
    """
    found = submissions(items, state.job_context())
    return valid(state, found if keep_status else map(_without_status, found))


def plain_row(state: SchedulerState, items: Sequence[Any]) -> SubmittedWorkload | None:
    """Return the next Workload from a single row that requires no further validation; `None` for any other items."""
    if len(items) != 1 or type(items[0]) is not dict:
        return None
    prepared = question_of_row(items[0], state.covered)
    if prepared is None:
        return None
    return SubmittedWorkload(from_plain_row(items[0], _uid(state.count), state.now()), prepared=prepared)


def valid(state: SchedulerState, new: Iterable[SubmittedWorkload]) -> list[SubmittedWorkload]:
    """Validate Workloads, and return them as a list."""
    found = list(new)
    unchecked = [one for one in found if one.prepared is None]
    if unchecked:
        gates = state.configuration.gates
        for one in unchecked:
            with one.written():
                check(one.workload, feature_gates=gates)
    return found


def take_all(session: Session, new: Iterable[SubmittedWorkload], changed: Sequence[Workload] = ()) -> Keys:
    """Add validated workloads, and then change others, as part of a change.

    Raises:
        DuplicateError: A workload with this key already exists.
    """
    submitted: dict[str, SubmittedWorkload] = {}
    find = session.state.engine.find
    for one in new:
        key = one.workload.key
        if key in submitted or find(key) >= 0:
            with one.written():
                raise DuplicateError(f'Workload "{key}": exists already; delete it first, or apply a change')
        submitted[key] = one
    add(session, list(submitted.values()), changed)
    keys = Keys(submitted)
    keys.remarks = tuple(_remarks(session.state, submitted.values()))
    return keys


def take(session: Session, one: SubmittedWorkload) -> None:
    """Add a workload with its status and without validation.

    Raises:
        DuplicateError: A workload with this key already exists.
        InvalidSpecError: The engine cannot read the workload.
    """
    with session.change():
        add(session, [one])


def add(session: Session, new: Sequence[SubmittedWorkload], changed: Sequence[Workload] = ()) -> None:
    """Add workloads, and then change others, as part of a change; one execution, unless a new workload has a status.

    Raises:
        InvalidSpecError: The engine cannot read a workload.
    """
    state = session.state
    if any(one.workload.status is not None for one in new):
        for one in new:  # the engine reads a status only when it adds the workload, so each of them may raise
            with one.written():
                session.do(_submit(state, one, state.count))
        session.do(*map(calls.Apply, changed))
        return
    pairs: list[tuple[calls.Call, Sequence[Step]]] = []
    for count, one in enumerate(new, state.count):
        with one.written():
            call = _submit(state, one, count)
            pairs.append((call, call.steps(state, one.prepared or Question(call.workload))))
    for obj in changed:
        Question(obj)  # raises the error of an unreadable workload before anything changes
        apply = calls.Apply(obj)
        pairs.append((apply, apply.steps(state)))
    session.execute(pairs)


def _submit(state: SchedulerState, one: SubmittedWorkload, count: int) -> calls.Submit:
    """Return the call that submits a workload as an API server stores it, with a uid and a creation time.

    Without the feature gate PartialAdmission, minCounts are removed (`pkg/webhooks/workload_webhook.go:Default`).
    """
    workload = one.workload
    if (plain := workload.without_min_counts()) is not workload and not state.configuration.enabled("PartialAdmission"):
        workload = plain
    if not workload.uid or workload.creation_timestamp is None:
        created, uid = workload.creation_timestamp or state.now(), workload.uid or _uid(count)
        workload = msgspec.structs.replace(workload, uid=uid, creation_timestamp=created)
    return calls.Submit(workload, count, one.job, one.single_pod)


def _uid(count: int) -> str:
    """Return the uid of a workload that is submitted without a uid, after the given number of workloads."""
    return f"00000000-0000-4000-8000-{count + 1:012d}"


def _without_status(one: SubmittedWorkload) -> SubmittedWorkload:
    if one.workload.status is None:
        return one
    return one._replace(workload=msgspec.structs.replace(one.workload, status=None))


def _remarks(state: SchedulerState, submitted: Iterable[SubmittedWorkload]) -> Iterator[str]:
    """Yield a warning for each workload whose queue is missing."""
    for one in submitted:
        workload = one.workload
        missing = state.cluster_queue_of(f"{workload.namespace}/{workload.queue_name}")
        if not workload.queue_name:
            yield f'Workload "{workload.key}": names no queue, and is never considered'
        elif isinstance(missing, str):
            yield f'Workload "{workload.key}": waits for {missing}, which does not exist'


# --- changes of existing workloads -----------------------------------------------------------------------------------


def finish(session: Session, wanted: Sequence[calls.Finish]) -> None:
    """Execute `Scheduler.finish`."""
    with session.change():
        done = [_resolved(session.state, call) for call in wanted]
        calls.each_once("finish", (f'Workload "{call.workload}"' for _, call in done))
        for found, call in done:
            finished = session.state.engine.condition(found, "Finished")
            if finished is not None and finished[0]:
                raise StateError(f'Workload "{call.workload}": is finished already')
        session.do(*(call for _, call in done))


def delete(session: Session, keys: Sequence[str]) -> None:
    """Execute `Scheduler.delete`."""
    with session.change():
        deleted = [_resolved(session.state, calls.Delete(key))[1] for key in keys]
        calls.each_once("delete", (f'Workload "{call.workload}"' for call in deleted))
        session.do(*deleted)


def set_check(session: Session, key: str, name: str, said: CheckAnswer) -> None:
    """Execute `Scheduler.set_check`."""
    with session.change():
        state, now, after = session.state, session.state.engine.now, said.requeue_after
        seconds = None if after is None else (later(now, after) - now) // SECOND
        updates: Any = said.pod_set_updates  # `checked` converts it to a tuple of dicts
        found, call = _resolved(state, calls.SetCheck(key, name, said.state, said.message, seconds, updates))
        check_updates(state.live(found), call.check, call.state, call.pod_set_updates)
        session.do(call)


def pods_ready(session: Session, key: str, ready: bool) -> None:  # noqa: FBT001 - a value, not a switch
    """Execute `Scheduler.pods_ready`."""
    with session.change():
        session.do(_resolved(session.state, calls.PodsReady(key, ready))[1])


def job_stopped(session: Session, key: str, after: Duration = 0) -> None:
    """Execute `Scheduler.job_stopped`."""
    with session.change():
        state = session.state
        found, call = _resolved(state, calls.StopJob(key, later(state.engine.now, after)))
        if not is_stopping(state, found):
            raise StateError(f'Workload "{call.workload}": is not an evicted workload that holds quota')
        session.do(call)


def is_stopping(state: SchedulerState, found: int) -> bool:
    """Return whether a workload is evicted and still holds quota because the pods of its job have not terminated."""
    evicted, reserved = (state.engine.condition(found, name) for name in ("Evicted", "QuotaReserved"))
    return evicted is not None and evicted[0] and reserved is not None and reserved[0]


def await_victims(session: Session, key: str) -> None:
    """Mark a pending workload as waiting for workloads that it preempted, so that its queue considers it first.

    Raises:
        NotFoundError: No workload has this key.
    """
    with session.change():
        session.do(_resolved(session.state, calls.AwaitVictims(key))[1])


def reclaim(session: Session, key: str, pods: int | Mapping[str, int]) -> None:
    """Execute `Scheduler.reclaim`."""
    with session.change():
        counted: Any = pods  # `checked` converts a mapping to a dict
        found, call = _resolved(session.state, calls.Reclaim(key, counted))
        _check_reclaimable(session.state, found, call)
        session.do(call)


def _check_reclaimable(state: SchedulerState, found: int, call: calls.Reclaim) -> None:
    counts = {pod_set.name: pod_set.count for pod_set in state.known(found).pod_sets}
    by_name = {next(iter(counts)): call.pods} if isinstance(call.pods, int) and len(counts) == 1 else call.pods
    if isinstance(by_name, int):
        raise InvalidSpecError(f'Workload "{call.workload}": has {len(counts)} pod sets; name them')
    for name, count in by_name.items():
        if not 0 <= count <= counts.get(name, -1):
            raise InvalidSpecError(
                f'Workload "{call.workload}": reclaimable pods of "{name}": is {count}; '
                f"it must be a pod set's name and 0 to its count, of {counts}"
            )
    if state.engine.admission(found) is None:
        return
    for name, before in state.engine.status_details(found).reclaimable.items():
        if by_name.get(name, 0) < before:
            raise InvalidSpecError(
                f'Workload "{call.workload}": reclaimable pods of "{name}": is '
                f"{by_name.get(name, 0)}; it must be {before} at least, as before, while quota is held"
            )


def _resolved(state: SchedulerState, call: W) -> tuple[int, W]:
    """Return the engine id of a call's workload, and the type-checked call with the full key."""
    call = call.checked()
    found = state.id_of(call.workload)
    return found, msgspec.structs.replace(call, workload=state.engine.key(found))
