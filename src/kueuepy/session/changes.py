"""Validate and execute the calls of a Scheduler that change it; `Scheduler` documents them."""

import copyreg
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from kueuepy._core import Engine, Question
from kueuepy.cluster import Cluster
from kueuepy.engine.cycle import Cycle, Settled
from kueuepy.errors import (
    DuplicateError,
    InvalidSpecError,
    NotFoundError,
    Path,
    StateError,
    not_copied,
    path_text,
    shown,
)
from kueuepy.manifest import ManifestError, check, object_name, to_dict, validate_update
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.jobkinds import review_fields
from kueuepy.manifest.validation.update import plain
from kueuepy.objects import SECOND, AdmissionCheck, Object, Timestamp, Workload, duration_ns, later, nanoseconds_of
from kueuepy.objects.times import Duration, TimeLike
from kueuepy.session import calls
from kueuepy.session.checks import Check, CheckAnswer, CheckRequest, answer, check_updates, checks_of
from kueuepy.session.elastic import resized
from kueuepy.session.provisioning import parameters_of
from kueuepy.session.session import Session
from kueuepy.session.settling import settle as _settle
from kueuepy.session.state import SchedulerState
from kueuepy.session.store import PASSIVE, Declared, Step, Store
from kueuepy.session.submission import Keys, SubmittedWorkload, latest_time, of_jobs, submissions, uid_of
from kueuepy.session.submission import plain as copied

# The number of differing fields that a message names.
_SHOWN = 5
copyreg.pickle(Question, not_copied)
W = TypeVar("W", bound=calls.OfWorkload)

# --- a new session --------------------------------------------------------------------------------------------------


def start(
    cluster: Cluster, *, now: TimeLike | None = None, checks: Mapping[str, Check] | None = None, stopping: Duration = 0
) -> Session:
    """Create a session with all objects, Workloads (with their status) and jobs of a cluster.

    Raises:
        InvalidSpecError: `cluster` is not a Cluster, or a job is not valid.
        NotFoundError: A job names a priority class that does not exist.
    """
    if not isinstance(cluster, Cluster):
        raise InvalidSpecError(
            f"Scheduler: {cluster!r:.99} is not a Cluster; kueuepy.load(path) or Cluster(*objects) makes one"
        )
    related = tuple(map(copied, cluster.manifest.others))
    engine = Engine(cluster.configuration)
    state = SchedulerState(engine, cluster.configuration, related, Store(), checks=checks_of(checks or {}))
    engine.set_now(latest_time(cluster) if now is None else nanoseconds_of(now, earliest=0))
    engine.set_stop_delay(duration_ns(stopping))
    session = Session(state)
    # No call of `session` for each object, because the session is not in use yet.
    objects = [obj for obj in cluster.objects() if not isinstance(obj, Workload)]
    for obj in objects:
        if not isinstance(obj, PASSIVE):
            engine.apply(obj, changed=True)
    state.store.objects = Declared(objects)
    take_all(session, (SubmittedWorkload(workload) for workload in cluster.workloads))
    engine.take_up_delayed()
    if cluster.jobs:
        from kueuepy.jobs.convert import Existing  # noqa: PLC0415 - only jobs need it

        take_all(session, valid(state, of_jobs(cluster.jobs, state.job_context(), Existing(cluster.workloads))))
    return session


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
    """Add validated workloads, and then change others, as part of a change. A workload that exists is left as it is.

    Raises:
        DuplicateError: A different workload with this key already exists, or two new workloads have the same key.
    """
    submitted: dict[str, SubmittedWorkload] = {}
    added: list[SubmittedWorkload] = []
    existing: list[str] = []
    find = session.state.engine.find
    for one in new:
        key = one.workload.key
        if key in submitted:
            with one.written():
                raise DuplicateError(f'Workload "{key}": is named twice; name each workload once')
        submitted[key] = one
        if (found := find(key)) < 0:
            added.append(one)
            continue
        with one.written():
            _expect_equal(session.state.live(found), one, _stored(session.state, one.workload))
        existing.append(key)
    add(session, added, changed)
    keys = Keys(submitted)
    keys.remarks, keys.existing = tuple(_remarks(session.state, submitted.values())), tuple(existing)
    return keys


def _expect_equal(known: Workload, one: SubmittedWorkload, stored: Workload) -> None:
    """Check that a submitted workload is the known one, as when a client repeats a call whose answer was lost.

    Raises:
        DuplicateError: The workloads differ.
    """
    # Rows have no uid and no creation time of their own.
    is_row = one.prepared is not None
    uid, created = ("", None) if is_row else (stored.uid, stored.creation_timestamp)
    again = msgspec.structs.replace(
        stored,
        uid=uid or known.uid,
        creation_timestamp=created or known.creation_timestamp,
        status=stored.status or known.status,
    )
    if again == known:
        return
    old, new = to_dict(known), to_dict(again)
    if paths := list(_between(plain("Workload", old), plain("Workload", new))):
        parts = [
            f"{path_text(path)} is {shown(_at(old, path))}, not {shown(_at(new, path))}" for path in paths[:_SHOWN]
        ]
        error = DuplicateError(
            f'Workload "{known.key}": exists already, and differs: {"; ".join(parts)}; '
            "delete it first, or choose another name"
        )
        error.about = known.key
        raise error


def _between(old: Any, new: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of the fields in which two manifests differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _between(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for position, pair in enumerate(zip(old, new, strict=True)):
            yield from _between(*pair, (*path, position))
    elif old != new:
        yield path


def _at(manifest: Any, path: Path) -> Any:
    """Return the value of a field; `None` if a manifest has no such field."""
    for step in path:
        if manifest is not None:
            manifest = manifest.get(step) if isinstance(manifest, dict) else manifest[int(step)]
    return manifest


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
    submits = [_submit(state, one, count) for count, one in enumerate(new, state.count)]
    prepared = [one.prepared or _read(one, call.workload) for one, call in zip(new, submits, strict=True)]
    groups: list[tuple[Sequence[calls.Call], Sequence[Step]]] = []
    if submits:
        groups.append((submits, calls.submitting(state, submits, prepared)))
    for obj in changed:
        Question(obj)  # raises the error of an unreadable workload before anything changes
        apply = calls.Apply(obj)
        groups.append(((apply,), apply.steps(state)))
    session.execute(groups)


def _read(one: SubmittedWorkload, workload: Workload) -> Question:
    with one.written():
        return Question(workload)


def _submit(state: SchedulerState, one: SubmittedWorkload, count: int) -> calls.Submit:
    """Return the call that submits a workload as an API server stores it, with a uid and a creation time."""
    workload = _stored(state, one.workload)
    # A row has its uid already, unless the workload of a row before it exists.
    uid = (one.prepared is None and workload.uid) or uid_of(count)
    if uid != workload.uid or workload.creation_timestamp is None:
        created = workload.creation_timestamp or state.now()
        workload = msgspec.structs.replace(workload, uid=uid, creation_timestamp=created)
    return calls.Submit(workload, count, one.job, one.single_pod)


def _stored(state: SchedulerState, workload: Workload) -> Workload:
    """Return a workload with Kueue's defaults.

    Without the feature gate PartialAdmission, minCounts are removed (`pkg/webhooks/workload_webhook.go:Default`).
    """
    plain = workload.without_min_counts()
    return workload if plain is workload or state.configuration.enabled("PartialAdmission") else plain


def _without_status(one: SubmittedWorkload) -> SubmittedWorkload:
    if one.workload.status is None:
        return one
    return one._replace(workload=msgspec.structs.replace(one.workload, status=None))


def _remarks(state: SchedulerState, submitted: Iterable[SubmittedWorkload]) -> Iterator[str]:
    """Yield a warning for each workload whose queue is missing, and for each unknown field of a job."""
    for one in submitted:
        if one.job is not None:
            findings = Findings(strict=False)
            review_fields(one.job, findings)
            yield from (f"{object_name(one.job)}: {note}" for note in findings.notes)
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


def report_request(session: Session, key: str, name: str, status: Mapping[str, Any]) -> None:
    """Set a check by the status of its ProvisioningRequest, as part of `Scheduler.set_check`."""
    with session.change():
        request = request_to(session.state, key, name)
        if request is None:
            raise StateError(f'Workload "{key}": has no quota, or no check "{name}", and so no ProvisioningRequest')
        if (said := request.answer_for(status)) is not None:
            set_check(session, key, name, said)


def request_to(state: SchedulerState, key: str, name: str) -> CheckRequest | None:
    """Return the request to answer a check of a workload; `None` if the workload has no quota or no such check."""
    declared, workload = state.store.objects.get((AdmissionCheck, name)), state.workload(key)
    status = workload.status
    if status is None or not isinstance(declared, AdmissionCheck):
        return None
    holds = status.is_true("QuotaReserved") and not (status.is_true("Evicted") or status.is_true("Finished"))
    if not holds or all(one.name != name for one in status.admission_checks):
        return None
    return CheckRequest(workload, declared, Timestamp.of(state.engine.now), parameters_of(declared, state.related))


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


# --- objects ---------------------------------------------------------------------------------------------------------


def submit(session: Session, items: Sequence[Any], *, keep_status: bool = False) -> Keys:
    """Execute `Scheduler.submit`."""
    # One change, not one within another, which an exception at its very end would undo after the other is recorded.
    several = keep_status and (len(items) != 1 or not isinstance(items[0], Workload))
    with session.change(several=several):
        new = valid_submissions(session.state, items, keep_status=keep_status)
        if all(one.job is None for one in new) and not keep_status:
            return take_all(session, new)
        found = [resized(session.state, one) for one in new]
        changed = [one.changed for one in found if one.changed is not None]
        for obj in changed:
            _check(session.state, obj)
        taken = take_all(session, (one.new for one in found if one.new is not None), changed)
        keys = Keys([one.key for one in found])
        keys.remarks, keys.existing = taken.remarks, taken.existing
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


# --- cycles ----------------------------------------------------------------------------------------------------------


def advance(session: Session, duration: Duration) -> None:
    """Execute `Scheduler.advance`."""
    if session.is_timed:
        raise StateError('advance: this Scheduler has the time of its clock; create it without clock="system" instead')
    with session.change():
        session.do(calls.Advance(later(session.state.engine.now, duration)))


def cycle(session: Session) -> Cycle:
    """Execute `Scheduler.cycle`."""
    with session.change(several=bool(session.state.checks)):
        return _cycle(session)


def _cycle(session: Session) -> Cycle:
    _answer_checks(session)
    (done,) = session.do(calls.Cycle())
    return done


def settle(session: Session, max_cycles: int | None) -> Settled:
    """Execute `Scheduler.settle`."""
    with session.change(several=True):
        call = calls.Settle(max_cycles).checked()
        if session.state.checks:  # answers are given between cycles and recorded as calls of their own
            return _settle(session.state.engine, lambda: _cycle(session), call.max_cycles, apart=False, retries=True)
        settled = session.do(call)
        assert isinstance(settled, Settled)
        return settled


def _answer_checks(session: Session) -> None:
    """Run Kueue's controllers and the controllers of admission checks until no check changes."""
    asks = bool(session.state.checks)
    _set_active(session)
    # An answer can lead to the next question, as after an eviction; a check that still waits ends the round.
    while asks:
        session.do(calls.Controllers())
        answers = _answers(session)
        asks = any(said.state != "Pending" for _, _, said in answers)
        for key, name, said in answers:
            set_check(session, key, name, said)


def _set_active(session: Session) -> None:
    """Set whether checks are active, as far as their controllers determine it."""
    state = session.state
    for one in state.store.objects.of(AdmissionCheck) if state.checks else ():
        is_active = getattr(state.checks.get(one.controller_name), "is_active", None)
        active = one.active if is_active is None else is_active(one, parameters_of(one, state.related))
        if active != one.active:
            session.do(calls.Apply(msgspec.structs.replace(one, active=active)))


def _answers(session: Session) -> list[tuple[str, str, CheckAnswer]]:
    """Return the answers that change a check, with the key of the workload and the name of the check."""
    state, answers = session.state, []
    for key, name in [(state.engine.key(id), name) for id, name in state.engine.pending_checks()]:  # noqa: A001
        declared = state.store.objects.get((AdmissionCheck, name))
        if not isinstance(declared, AdmissionCheck) or declared.controller_name not in state.checks:
            continue
        controller, request = state.checks[declared.controller_name], request_to(state, key, name)
        said = None if request is None else session.asking.call(answer, controller, request)
        if said is not None:
            answers.append((key, name, said))
    return answers
