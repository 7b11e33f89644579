"""Execute calls. The arguments have already been validated, so this module only changes the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kueuepy.engine.cycle import Cycle
from kueuepy.engine.decisions import Admitted
from kueuepy.objects import Workload
from kueuepy.session import calls
from kueuepy.session.settling import settle
from kueuepy.session.store import PASSIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kueuepy.objects import Object
    from kueuepy.session.state import SchedulerState


def do(state: SchedulerState, call: calls.Call) -> Sequence[Cycle]:
    """Execute a validated call, for the first time or when a journal is replayed.

    Returns:
        The cycles that the call ran. For a `Settle`, the function returns a `Settled`.
    """
    match call:
        case calls.Submit():
            _submit(state, call)
        case calls.Apply(obj):
            _apply(state, obj)
        case calls.Remove(_, name, namespace):
            _remove(state, call, f"{namespace}/{name}" if namespace else name)
        case calls.Controllers():
            state.engine.settle()
        case calls.Advance(now):
            state.engine.set_now(now)
        case calls.Cycle():
            return [_cycle(state)]
        case calls.Settle(max_cycles):
            waits = state.configuration.wait_for_pods_ready
            apart = waits is None or not waits.block_admission
            return settle(state.engine, lambda: _cycle(state), max_cycles, apart=apart)
        case _:
            _do_of_workload(state, state.engine.find(call.workload), call)
    return ()


def _do_of_workload(state: SchedulerState, found: int, call: calls.OfWorkload) -> None:
    engine = state.engine
    match call:
        case calls.Finish(_, reason, message):
            engine.finish(found, reason, message)
        case calls.Delete(key):
            engine.delete(found)
            state.store.forget(key)
        case calls.SetCheck(_, check, said, message, after):
            updates = msgspec.json.encode(call.pod_set_updates).decode() if call.pod_set_updates else ""
            engine.set_check(found, check, said, message, -1 if after is None else after, updates)
        case calls.PodsReady(_, ready):
            engine.set_pods_ready(found, ready)
        case calls.StopJob(_, at):
            engine.set_job_stop(found, at)
        case calls.AwaitVictims():
            engine.set_preemptor(found)
        case calls.Reclaim(_, pods):
            names = [pod_set.name for pod_set in state.known(found).pod_sets]
            engine.set_reclaimable(found, {names[0]: pods} if isinstance(pods, int) else pods)


def _is_of_single_pod(workload: Workload) -> bool:
    """Return whether one Pod without a group owns the workload (`pkg/workload/workload.go:OwnedBySinglePod`)."""
    if len(workload.owner_references) != 1:
        return False
    from kueuepy.jobs import keys  # noqa: PLC0415 - only Workloads of live clusters need it

    (owner,) = workload.owner_references
    grouped = workload.annotations.get(keys.IS_GROUP_WORKLOAD) == "true"
    return (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Pod") and not grouped


def _submit(state: SchedulerState, call: calls.Submit) -> None:
    state.count = call.count + 1  # counts rejected workloads as well
    workload = call.workload
    state.engine.submit(workload, call.single_pod or _is_of_single_pod(workload))
    store = state.store.for_change()
    store.workloads.put(workload.key, workload)
    if call.job is not None:
        store.jobs.put(workload.key, call.job)


def _apply(state: SchedulerState, obj: Object) -> None:
    known = state.find(obj)
    if isinstance(obj, Workload):
        assert isinstance(known, Workload)
        changed = with_status_of(known, obj)
        state.engine.update(state.id_of(obj.key), changed, changed=not changed.has_spec_of(known))
        state.store.for_change().workloads.put(obj.key, changed)
        return
    if not isinstance(obj, PASSIVE):
        state.engine.apply(obj, known != obj)
    state.store.for_change().objects.put((type(obj), obj.key), obj)


def with_status_of(known: Workload, obj: Workload) -> Workload:
    """Return a changed Workload with the previous status and creation time, as an API server stores it."""
    created = known.creation_timestamp
    return msgspec.structs.replace(obj, uid=obj.uid or known.uid, creation_timestamp=created, status=known.status)


def _remove(state: SchedulerState, call: calls.Remove, key: str) -> None:
    cls = call.cls
    if not issubclass(cls, PASSIVE):
        state.engine.delete_object(call.kind, call.namespace, call.name)
    state.store.for_change().objects.drop((cls, key))


def _cycle(state: SchedulerState) -> Cycle:
    """Run Kueue's controllers and one cycle, and store the admissions for later explanations."""
    state.engine.settle()
    cycle = Cycle(state.engine.decide(), state.not_modelled)
    if cycle.admitted_count:
        store = state.store.for_change()
        for decision in cycle:
            if isinstance(decision, Admitted):
                store.admitted.put(decision.workload, decision)
    return cycle
