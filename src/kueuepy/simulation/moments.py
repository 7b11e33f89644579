"""The Scheduler at a point in time of a simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

import kueuepy.objects as kinds
from kueuepy.objects import Timestamp
from kueuepy.scheduler import Scheduler, scheduler_with
from kueuepy.session.session import session_of
from kueuepy.session.store import commit
from kueuepy.simulation.columns import keys_of

if TYPE_CHECKING:
    from kueuepy._core import Engine
    from kueuepy.objects import Workload
    from kueuepy.session.store import Store
    from kueuepy.simulation.prepare import Prepared

_UID = "{:012d}"


def scheduler_of(run: Prepared) -> Scheduler:
    """Return a Scheduler that uses a fork of the simulation's engine, with the current objects and active workloads."""
    engine = run.core.fork()
    engine.set_now(run.reached)
    state = session_of(run.base.fork()).state
    store = state.own_store()
    for key in store.workloads.keys():  # noqa: SIM118 - not a mapping
        if engine.find(key) < 0:
            commit(store.forgetting(key))
    _change_objects(run, store, engine.now)
    for row in np.flatnonzero(np.isin(run.states, (1, 2))).tolist():
        workload = workload_of(run, row)
        if engine.find(workload.key) >= 0 and store.workloads.get(workload.key) is None:
            store.workloads.put(workload.key, workload)
    return scheduler_with(Scheduler, replace(state, engine=engine, count=state.count + len(run.jobs)))


def scheduler_on(run: Prepared, base: Scheduler, engine: Engine) -> Scheduler:
    """Return a Scheduler that uses a fork of the engine of one cluster in a fleet, with the cluster's workloads."""
    engine.set_now(run.reached)
    state = session_of(base.fork()).state
    rows = {key: row for row, key in enumerate(keys_of(run.jobs))}
    for found in engine.ids():
        key = engine.key(found)
        if key in rows:
            state.own_store().workloads.put(key, workload_of(run, rows[key]))
    return scheduler_with(Scheduler, replace(state, engine=engine, count=state.count + len(run.jobs)))


def _change_objects(run: Prepared, store: Store, now: int) -> None:
    for at, what, thing, _ in run.options["changes"]:
        if at > now:
            return
        if what == "apply":
            store.objects.put((type(thing), thing.key), thing)
        elif what == "delete":
            kind, namespace, name = thing
            commit(store.objects.dropping((getattr(kinds, kind), f"{namespace}/{name}" if namespace else name)))


def workload_of(run: Prepared, row: int) -> Workload:
    """Return the Workload of a job as it was submitted."""
    shape = run.shapes[int(run.codes[row])]
    return msgspec.structs.replace(
        shape,
        name=run.jobs.name_of(row),
        uid=_uid_of(run, row),
        creation_timestamp=Timestamp.of(max(int(run.jobs["submit"][row]), run.zero)),
    )


def _uid_of(run: Prepared, row: int) -> str:
    given = str(run.jobs["uid"][row]) if "uid" in run.jobs.names else ""
    return given or _UID.format(row)
