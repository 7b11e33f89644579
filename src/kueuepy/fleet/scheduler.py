"""FleetScheduler: a running fleet under manual control."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Dispatch
from kueuepy.errors import StateError, UnsupportedError, checked_methods, expect_known
from kueuepy.fleet.adapters import BATCH, SharedJob, adapter_of, shared_jobs
from kueuepy.fleet.dispatchers import External, chosen_names
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import Session, session_of
from kueuepy.session.store import commit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Never

    from kueuepy.fleet.value import Fleet
    from kueuepy.objects import Duration, FinishReason, TimeLike


class Move(msgspec.Struct, frozen=True):
    """An action of MultiKueue on a worker.

    Attributes:
        what: The action. `created`, `deleted` and `updated` (the priority has changed) concern the copy of a workload.
            `started` (created) and `stopped` (deleted) concern its job, and `opened` concerns its preemption gate.
            `deactivating` is a request to stop.
        cluster: The name of the worker.
        workload: The key of the workload, `namespace/name`.
    """

    what: str
    cluster: str
    workload: str


class CopyStatus(msgspec.Struct, frozen=True):
    """The status of a workload's copy on a worker.

    Attributes:
        cluster: The name of the worker.
        state: The state of the copy: `Pending`, `QuotaReserved`, `Admitted`, `Evicted` or `Finished`.
        has_job: Whether the manager has created the job on the worker.
    """

    cluster: str
    state: str
    has_job: bool


class FleetStatus(msgspec.Struct, frozen=True):
    """The MultiKueue status of a workload.

    Attributes:
        check: The state of the workload's MultiKueue check: `Pending`, `Ready`, `Retry` or `Rejected`; `None` without a
            check.
        message: The message of the check.
        nominated: The names of the clusters that are nominated for the workload.
        cluster: The name of the cluster where the workload was admitted; `None` if there is none.
        copies: The workload's copies on workers.
    """

    check: str | None
    message: str
    nominated: tuple[str, ...]
    cluster: str | None
    copies: tuple[CopyStatus, ...]


@checked_methods
class FleetScheduler:
    """A manager and its workers as separate Schedulers, with MultiKueue's controllers between them.

    Nothing runs automatically. `cycle` and `settle` of a Scheduler run scheduling cycles, and `dispatch` runs the
    controllers of MultiKueue. All clusters share one clock.

    >>> from kueuepy import Cluster, ClusterQueue, Fleet, FleetScheduler, ResourceFlavor
    >>> worker = Cluster(ResourceFlavor("any"), ClusterQueue.of("team", {"any": {"cpu": 4}}))
    >>> step = FleetScheduler(Fleet({"w1": worker}))
    >>> step.manager.submit({"name": "train", "queue": "team", "cpu": 1})
    ('default/train',)
    >>> _ = step.manager.cycle()
    >>> [(move.what, move.cluster) for move in step.dispatch()]
    [('created', 'w1')]
    >>> _ = step["w1"].cycle()
    >>> [(move.what, move.cluster) for move in step.dispatch()]
    [('started', 'w1')]
    >>> step.status("default/train").message
    'The workload was admitted on "w1"'

    Attributes:
        fleet: The initial fleet.
        manager: The Scheduler of the manager.
        workers: The Schedulers of the workers, by name.
    """

    def __init__(self, fleet: Fleet, *, now: TimeLike | None = None) -> None:
        """Start all clusters, with all workers connected.

        Args:
            fleet: The clusters and the dispatcher.
            now: The initial time; the Unix epoch by default.

        Raises:
            InvalidSpecError: An object is invalid.
        """
        self.fleet = fleet
        self.manager = Scheduler(fleet.manager, now=now)
        self.workers = {name: Scheduler(cluster, now=now) for name, cluster in fleet.workers.items()}
        self.restart()

    def restart(self) -> None:
        """Restart MultiKueue's controllers, like a restart of Kueue on the manager; all workers are then connected."""
        self._engines = [session.engine for session in self._sessions]
        workers = list(zip(self.workers, self._engines[1:], strict=True))
        self._dispatch = Dispatch(self._engines[0], workers, self.fleet.numbered_checks(), self.fleet.options())
        # The checks become active with the connections, before the first workload asks for them.
        self._dispatch.refresh_checks()
        self._connected = dict.fromkeys(self.workers, True)

    def __getitem__(self, cluster: str) -> Scheduler:
        """Return the Scheduler of a worker, or of the manager for `"manager"`.

        Raises:
            NotFoundError: The fleet has no cluster with this name.
        """
        if cluster == "manager":
            return self.manager
        expect_known("fleet", cluster, self.workers, "is not a cluster")
        return self.workers[cluster]

    @property
    def now(self) -> float:
        """The time in seconds since the Unix epoch."""
        return self.manager.now

    @property
    def _sessions(self) -> list[Session]:
        return [session_of(scheduler) for scheduler in (self.manager, *self.workers.values())]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the locks of all Schedulers, acquired in a fixed order, and set all clocks to the latest time."""
        with ExitStack() as stack:
            for session in self._sessions:
                stack.enter_context(session.lock)
            engines = [session.engine for session in self._sessions]
            if any(engine is not known for engine, known in zip(engines, self._engines, strict=True)):
                # A change that ended with an exception has replaced an engine by a fork.
                self._dispatch, self._engines = self._dispatch.fork(engines[0], engines[1:]), engines
            # A user can have advanced one Scheduler alone.
            latest = max(engine.now for engine in engines)
            for engine in engines:
                engine.set_now(latest)
            yield

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Execute a change of all clusters and of MultiKueue; after an exception, forks from before it replace them.

        Raises:
            StateError: The dispatcher that this fleet called tries to change it.
        """
        with self._locked():
            for session in self._sessions:
                session.expect_idle()
            before = self.fork()
            try:
                yield
            # Not even Ctrl-C may leave a copy on a worker that the manager does not know.
            except BaseException:
                for session, known in zip(self._sessions, before._sessions, strict=True):  # noqa: SLF001 - same class
                    session.state = known.state
                self._dispatch, self._connected = before._dispatch, before._connected  # noqa: SLF001 - same class
                self._engines = before._engines  # noqa: SLF001 - same class
                raise

    def advance(self, duration: Duration) -> None:
        """Advance the clock of all clusters.

        Args:
            duration: A number of seconds, a string such as `5m`, or a timedelta; 0 or more.

        Raises:
            InvalidSpecError: `duration` is not a duration, or is negative.
        """
        with self._change():
            for scheduler in (self.manager, *self.workers.values()):
                scheduler.advance(duration)

    def dispatch(self) -> tuple[Move, ...]:
        """Run MultiKueue's controllers on all workloads of the manager until nothing changes.

        Each round processes the workloads in the order of their keys.

        Returns:
            The actions on workers, in order.

        Raises:
            NotFoundError: An external dispatcher chose a cluster that does not exist.
            InvalidSpecError: An external dispatcher did not return a list of names.
        """
        with self._change():
            jobs = self._adapt()
            self._choose()
            return self._followed(self._dispatch.look(jobs))

    def collect_garbage(self) -> tuple[Move, ...]:
        """Delete the copies of deleted workloads on connected workers, as Kueue does after each `gcInterval`.

        Returns:
            The actions on workers, in order.
        """
        with self._change():
            return self._followed(self._dispatch.collect())

    def connect(self, *clusters: str) -> None:
        """Restore the connection to workers.

        Args:
            clusters: The names of the workers.

        Raises:
            NotFoundError: The fleet has no worker with one of these names.
        """
        self._set_connected(clusters, connected=True)

    def disconnect(self, *clusters: str) -> None:
        """Interrupt the connection to workers, which continue to work on their own.

        Args:
            clusters: The names of the workers.

        Raises:
            NotFoundError: The fleet has no worker with one of these names.
        """
        self._set_connected(clusters, connected=False)

    def nominate(self, workload: str, clusters: Sequence[str]) -> None:
        """Nominate clusters for a workload, as an external dispatcher does.

        Args:
            workload: The key of the workload, `namespace/name`.
            clusters: The names of the workers.

        Raises:
            NotFoundError: The workload or one of the workers does not exist.
            StateError: The dispatcher of the fleet is not `External`.
        """
        if not isinstance(self.fleet.dispatcher, External):
            raise StateError(
                f"nominate: the dispatcher is {self.fleet.dispatcher!r:.99}; only External leaves it to others"
            )
        with self._change():
            found = session_of(self.manager).state.id_of(workload)
            self._dispatch.nominate(found, [self._number(name) for name in clusters])

    def finish(self, workload: str, *, reason: FinishReason = "Succeeded", message: str = "") -> None:
        """Finish the job of a workload on the worker where it runs.

        Args:
            workload: The key of the workload, `namespace/name`.
            reason: A reason that `Scheduler.finish` accepts, such as `Succeeded` (the default), `Failed` or
                `OutOfSync`, after which MultiKueue dispatches the workload again.
            message: The message of the Finished condition.

        Raises:
            NotFoundError: The manager has no workload with this key.
            StateError: The workload does not run on any worker.
        """
        with self._change():
            key = session_of(self.manager).engine.key(session_of(self.manager).state.id_of(workload))
            running = [copy.cluster for copy in self.status(key).copies if copy.has_job and copy.state == "Admitted"]
            if not running:
                raise StateError(f'Workload "{key}": runs on no worker; finish ends a job that runs')
            self.workers[running[0]].finish(key, reason=reason, message=message)

    def status(self, workload: str) -> FleetStatus:
        """Return the MultiKueue status of a workload of the manager.

        Args:
            workload: The key of the workload, `namespace/name`.

        Raises:
            NotFoundError: The manager has no workload with this key.
        """
        with self._locked():
            found = session_of(self.manager).state.id_of(workload)
            status, names = self._dispatch.status(found), tuple(self.workers)
            copies = tuple(
                CopyStatus(names[cluster], _state(self.workers[names[cluster]], there), has_job)
                for cluster, there, has_job, _ in self._dispatch.copies(found)
            )
        if status is None:
            return FleetStatus(None, "", (), None, copies)
        _, state, message, nominated, cluster = status
        chosen = tuple(names[number] for number in nominated)
        return FleetStatus(state, message, chosen, names[cluster] if cluster >= 0 else None, copies)

    def explain(self, workload: str) -> str:
        """Explain the state of a workload on the manager, and the state of each of its copies on workers.

        Args:
            workload: The key of the workload, `namespace/name`.

        Raises:
            NotFoundError: The manager has no workload with this key.
        """
        status = self.status(workload)
        lines = [f"manager: {self.manager.explain(workload)}"]
        if status.cluster is not None:
            lines.append(f"admitted on {status.cluster}: {status.message}")
        for copy in status.copies:
            there = "not connected" if not self._connected[copy.cluster] else ""
            reported = there or str(self.workers[copy.cluster].explain(workload))
            lines.append(f"{copy.cluster}: {reported}")
        return "\n".join(lines)

    def fork(self) -> FleetScheduler:
        """Return an independent copy with the same state."""
        with self._locked():
            twin = FleetScheduler.__new__(FleetScheduler)
            twin.fleet, twin._connected = self.fleet, dict(self._connected)  # noqa: SLF001 - same class
            twin.manager = self.manager.fork()
            twin.workers = {name: scheduler.fork() for name, scheduler in self.workers.items()}
            twin._engines = [session.engine for session in twin._sessions]  # noqa: SLF001 - of its own class
            twin._dispatch = self._dispatch.fork(twin._engines[0], twin._engines[1:])  # noqa: SLF001 - of its own class
            return twin

    def __copy__(self) -> FleetScheduler:
        """Return a fork."""
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> FleetScheduler:
        """Return a fork."""
        return self.fork()

    def __reduce__(self) -> Never:
        """Reject pickling.

        Raises:
            UnsupportedError: A FleetScheduler cannot be pickled.
        """
        raise UnsupportedError("a FleetScheduler cannot be pickled; pickle its fleet, or its manager and workers")

    def _set_connected(self, clusters: tuple[str, ...], *, connected: bool) -> None:
        with self._change():
            numbers = [self._number(name) for name in clusters]
            for name, number in zip(clusters, numbers, strict=True):
                self._dispatch.set_connected(number, connected)
                self._connected[name] = connected

    def _number(self, name: str) -> int:
        expect_known("fleet", name, self.workers, "is not a worker")
        return list(self.workers).index(name)

    def _adapt(self) -> list[tuple[int, str, SharedJob]]:
        """Reject the workloads whose jobs MultiKueue does not dispatch, and return the properties of the other jobs.

        Batch Jobs that no other workload shares are left out.
        """
        state, jobs = session_of(self.manager).state, []
        shared = shared_jobs(state.store.workloads.values(), state.store.jobs.get, state.configuration)
        for workload in state.store.workloads.values():
            adapter = adapter_of(workload, state.store.jobs.get(workload.key), state.configuration)
            if adapter == BATCH and workload.key not in shared:
                continue
            found = state.engine.find(workload.key)
            if (status := self._dispatch.status(found)) is None or status.state == "Rejected":
                continue
            if isinstance(adapter, str):
                message = f'{adapter}, Previously: "{status.state}"'
                state.engine.set_check(found, status.check, "Rejected", message, -1, "")
            else:
                jobs.append((found, adapter.copies, shared.get(workload.key, SharedJob())))
        return jobs

    def _choose(self) -> None:
        """Call an external dispatcher for each workload that holds quota and has not been admitted by a cluster."""
        dispatcher = self.fleet.dispatcher
        if not isinstance(dispatcher, External) or dispatcher.choose is None:
            return
        reachable = {name: scheduler for name, scheduler in self.workers.items() if self._connected[name]}
        # The queue of a controller has no order that could be repeated.
        for key in sorted(self.manager.keys()):
            workload, status = self.manager.workload(key), self.status(key)
            conditions = {c.type: c.status == "True" for c in workload.status.conditions} if workload.status else {}
            waits = status.check == "Pending" and status.cluster is None and conditions.get("QuotaReserved")
            if not waits or conditions.get("Evicted") or conditions.get("Finished"):
                continue
            # The function gets the Schedulers to read them; a change of one is refused.
            asked = [session.asking.begin() for session in self._sessions]
            try:
                chosen = chosen_names(dispatcher.choose(workload, reachable, self.now))
            finally:
                asked.clear()
            if chosen is None:
                continue
            self._dispatch.nominate(session_of(self.manager).state.id_of(key), [self._number(name) for name in chosen])

    def _followed(self, moves: list[tuple[str, str, str]]) -> tuple[Move, ...]:
        """Return the actions on workers, after adding and removing the copies in the Schedulers of the workers."""
        for what, cluster, key in moves:
            state = session_of(self.workers[cluster]).state
            known = session_of(self.manager).state.store.workloads.get(key)
            if what == "deleted":
                commit(state.own_store().forgetting(key))
            elif what in ("created", "updated") and known is not None:
                # A copy begins without the status that the workload has on the manager.
                state.own_store().workloads.put(key, msgspec.structs.replace(known, status=None))
        return tuple(Move(*move) for move in moves)

    def __repr__(self) -> str:
        """Return the time and the names of the clusters."""
        return f"<FleetScheduler at {self.now:.12g} s: manager, {', '.join(self.workers)}>"


def _state(scheduler: Scheduler, found: int) -> str:
    conditions: dict[str, Any] = session_of(scheduler).engine.conditions(found)
    # An evicted workload keeps its other conditions; the latest state comes first.
    for name in ("Finished", "Evicted", "Admitted", "QuotaReserved"):
        if name in conditions and conditions[name][0]:
            return name
    return "Pending"
