"""Create a session from a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy._core import Engine
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError
from kueuepy.objects import Workload
from kueuepy.objects.times import Duration, TimeLike, duration_ns, nanoseconds_of
from kueuepy.session.changes import take_all, valid
from kueuepy.session.checks import checks_of
from kueuepy.session.session import Session
from kueuepy.session.state import SchedulerState
from kueuepy.session.store import PASSIVE, Declared, Store
from kueuepy.session.submission import SubmittedWorkload, latest_time, of_jobs, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kueuepy.session.checks import Check


def start(
    cluster: Cluster, *, now: TimeLike | None = None, checks: Mapping[str, Check] | None = None, stopping: Duration = 0
) -> Session:
    """Create a session with all objects, Workloads (with their status) and jobs of a cluster.

    Raises:
        InvalidSpecError: `cluster` is not a Cluster, or a job is not valid.
        NotFoundError: A job names a priority class that does not exist.
    """
    if not isinstance(cluster, Cluster):
        raise InvalidSpecError(f"Scheduler: {cluster!r:.99} is not a Cluster; make one of objects: Cluster(*objects)")
    related = tuple(map(plain, cluster.manifest.others))
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
