"""FleetScheduler: a fleet that runs, stepped by hand."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Dispatch
from kueuepy.errors import InvalidSpecError, NotFoundError, StateError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.problems import suggestion
from kueuepy.fleet.dispatchers import External
from kueuepy.objects import SECOND
from kueuepy.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kueuepy.fleet.value import Fleet
    from kueuepy.objects.status import FinishReason
    from kueuepy.objects.times import Duration, Moment


class Move(msgspec.Struct, frozen=True):
    """What the dispatcher did on a worker.

    Attributes:
        what: A copy was `created`, `deleted` or `updated` (its priority); its job was `started` (created) or `stopped`
            (deleted); its preemption gate was `opened`; or it was asked to stop (`deactivating`).
        cluster: The worker.
        workload: The key of the workload, `namespace/name`.
    """

    what: str
    cluster: str
    workload: str


class CopyStatus(msgspec.Struct, frozen=True):
    """The copy of a workload on a worker.

    Attributes:
        cluster: The worker.
        state: `Pending`, `QuotaReserved`, `Admitted`, `Evicted` or `Finished` there.
        has_job: Whether the manager has created its job.
    """

    cluster: str
    state: str
    has_job: bool


class FleetStatus(msgspec.Struct, frozen=True):
    """What MultiKueue records of a workload.

    Attributes:
        check: State of the workload's MultiKueue check: `Pending`, `Ready`, `Retry` or `Rejected`; `None` without one.
        message: Message of the check.
        nominated: The clusters that are nominated for it.
        cluster: The cluster where it was admitted; `None` if there is none.
        copies: Its copies on workers.
    """

    check: str | None
    message: str
    nominated: tuple[str, ...]
    cluster: str | None
    copies: tuple[CopyStatus, ...]


@checked_methods
class FleetScheduler:
    """A manager and its workers as Schedulers of their own, with MultiKueue's controllers between them.

    Nothing happens by itself: cycles run where `cycle` or `settle` of a Scheduler is called, and MultiKueue acts in
    `dispatch`. All clusters have one clock.

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
        fleet: The fleet at the start.
        manager: The Scheduler of the manager.
        workers: The Schedulers of the workers, by name.
    """

    def __init__(self, fleet: Fleet, *, now: Moment | None = None) -> None:
        """Start all clusters; all workers are connected.

        Args:
            fleet: The clusters and the dispatcher.
            now: The time at the start; 0 (1970) without it.

        Raises:
            InvalidSpecError: An object is not valid.
        """
        self.fleet = fleet
        self.manager = Scheduler(fleet.manager, now=now)
        self.workers = {name: Scheduler(cluster, now=now) for name, cluster in fleet.workers.items()}
        self.restart()

    def restart(self) -> None:
        """Restart MultiKueue's controllers, as with the manager's Kueue: all workers count as connected then."""
        engines = [(name, scheduler.engine) for name, scheduler in self.workers.items()]
        checks = self.fleet.numbered_checks()
        self._dispatch = Dispatch(self.manager.engine, engines, checks, self.fleet.options())
        self._dispatch.refresh_checks()
        self._connected = dict.fromkeys(self.workers, True)

    def __getitem__(self, cluster: str) -> Scheduler:
        """Return the Scheduler of a worker, or that of the `manager`.

        Raises:
            NotFoundError: There is no such cluster.
        """
        if cluster == "manager":
            return self.manager
        if cluster not in self.workers:
            raise NotFoundError(f'fleet: "{cluster}" is not a cluster; {suggestion(cluster, self.workers)}')
        return self.workers[cluster]

    @property
    def now(self) -> float:
        """Time in seconds since the Unix epoch."""
        return self.manager.now

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the locks of all Schedulers, in one order, with their clocks set to the latest of them."""
        with ExitStack() as stack:
            schedulers = (self.manager, *self.workers.values())
            for scheduler in schedulers:
                stack.enter_context(scheduler.lock)
            latest = max(scheduler.engine.now for scheduler in schedulers)
            for scheduler in schedulers:
                scheduler.engine.set_now(latest)
            yield

    def advance(self, duration: Duration) -> None:
        """Let time pass in all clusters.

        Raises:
            InvalidSpecError: It is not a duration, or is below 0.
        """
        with self._locked():
            for scheduler in (self.manager, *self.workers.values()):
                scheduler.advance(duration)

    def dispatch(self) -> tuple[Move, ...]:
        """Run MultiKueue's controllers on all workloads of the manager until nothing changes.

        They look at the workloads in the order of their keys, round after round.

        Returns:
            What they did on workers, in order.

        Raises:
            NotFoundError: An external dispatcher chose a cluster that does not exist.
        """
        with self._locked():
            self._choose()
            return self._followed(self._dispatch.look())

    def collect_garbage(self) -> tuple[Move, ...]:
        """Delete the copies of deleted workloads on connected workers, as Kueue does each `gcInterval`."""
        with self._locked():
            return self._followed(self._dispatch.collect())

    def connect(self, *clusters: str) -> None:
        """Restore the connection to workers.

        Raises:
            NotFoundError: There is no such worker.
        """
        self._set_connected(clusters, connected=True)

    def disconnect(self, *clusters: str) -> None:
        """Lose the connection to workers, which go on by themselves.

        Raises:
            NotFoundError: There is no such worker.
        """
        self._set_connected(clusters, connected=False)

    def nominate(self, workload: str, clusters: Sequence[str]) -> None:
        """Nominate clusters for a workload, as an external dispatcher does.

        Raises:
            NotFoundError: There is no such workload or worker.
            StateError: The fleet has another dispatcher.
        """
        if not isinstance(self.fleet.dispatcher, External):
            raise StateError(
                f"nominate: the dispatcher is {self.fleet.dispatcher!r}; only External leaves it to others"
            )
        with self._locked():
            found = self.manager.state.id_of(workload)
            self._dispatch.nominate(found, [self._number(name) for name in clusters])

    def finish(self, workload: str, *, reason: FinishReason = "Succeeded", message: str = "") -> None:
        """Finish the job of a workload on the worker where it runs.

        Raises:
            NotFoundError: There is no such workload.
            StateError: It runs on no worker.
        """
        with self._locked():
            key = self.manager.engine.key(self.manager.state.id_of(workload))
            running = [copy.cluster for copy in self.status(key).copies if copy.has_job and copy.state == "Admitted"]
            if not running:
                raise StateError(f'Workload "{key}": runs on no worker; finish ends a job that runs')
            self.workers[running[0]].finish(key, reason=reason, message=message)

    def status(self, workload: str) -> FleetStatus:
        """Return what MultiKueue records of a workload of the manager.

        Raises:
            NotFoundError: There is no such workload.
        """
        with self._locked():
            found = self.manager.state.id_of(workload)
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
        """Explain where a workload is: on the manager, and for each copy on its worker.

        Raises:
            NotFoundError: There is no such workload.
        """
        status = self.status(workload)
        lines = [f"manager: {self.manager.explain(workload)}"]
        if status.cluster is not None:
            lines.append(f"admitted on {status.cluster}: {status.message}")
        for copy in status.copies:
            there = "not connected" if not self._connected[copy.cluster] else ""
            told = there or str(self.workers[copy.cluster].explain(workload))
            lines.append(f"{copy.cluster}: {told}")
        return "\n".join(lines)

    def fork(self) -> FleetScheduler:
        """Return a fleet with the same state; what happens to one of the two does not change the other."""
        with self._locked():
            twin = FleetScheduler.__new__(FleetScheduler)
            twin.fleet, twin._connected = self.fleet, dict(self._connected)  # noqa: SLF001 - of its own class
            twin.manager = self.manager.fork()
            twin.workers = {name: scheduler.fork() for name, scheduler in self.workers.items()}
            engines = [scheduler.engine for scheduler in twin.workers.values()]
            twin._dispatch = self._dispatch.fork(twin.manager.engine, engines)  # noqa: SLF001 - of its own class
            return twin

    def _set_connected(self, clusters: tuple[str, ...], *, connected: bool) -> None:
        with self._locked():
            numbers = [self._number(name) for name in clusters]
            for name, number in zip(clusters, numbers, strict=True):
                self._dispatch.set_connected(number, connected)
                self._connected[name] = connected

    def _number(self, name: str) -> int:
        if name not in self.workers:
            raise NotFoundError(f'fleet: "{name}" is not a worker; {suggestion(name, self.workers)}')
        return list(self.workers).index(name)

    def _choose(self) -> None:
        """Ask an external dispatcher for the clusters of each workload that waits for some."""
        dispatcher = self.fleet.dispatcher
        if not isinstance(dispatcher, External) or dispatcher.choose is None:
            return
        reachable = {name: scheduler for name, scheduler in self.workers.items() if self._connected[name]}
        for key in sorted(self.manager.keys()):
            workload, status = self.manager.workload(key), self.status(key)
            conditions = {c.type: c.status == "True" for c in workload.status.conditions} if workload.status else {}
            waits = status.check == "Pending" and status.cluster is None and conditions.get("QuotaReserved")
            if not waits or conditions.get("Evicted") or conditions.get("Finished"):
                continue
            chosen = dispatcher.choose(workload, reachable, self.now)
            if chosen is None:
                continue
            if isinstance(chosen, str):
                raise InvalidSpecError(f"dispatcher: chose {chosen!r}; it must be a list of names of clusters, or None")
            self._dispatch.nominate(self.manager.state.id_of(key), [self._number(name) for name in chosen])

    def _followed(self, moves: list[tuple[str, str, str]]) -> tuple[Move, ...]:
        """The moves, once the workers' Schedulers know the copies that came and went."""
        for what, cluster, key in moves:
            store = self.workers[cluster].state.store
            known = self.manager.state.store.workloads.get(key)
            if what == "deleted":
                store.forget(key)
            elif what in ("created", "updated") and known is not None:
                store.workloads.put(key, msgspec.structs.replace(known, status=None))
        return tuple(Move(*move) for move in moves)

    def __repr__(self) -> str:
        """Its time and its clusters."""
        return f"<FleetScheduler at {self.manager.engine.now / SECOND:g} s: manager, {', '.join(self.workers)}>"


def _state(scheduler: Scheduler, found: int) -> str:
    conditions: dict[str, Any] = scheduler.engine.conditions(found)
    for name in ("Finished", "Evicted", "Admitted", "QuotaReserved"):
        if name in conditions and conditions[name][0]:
            return name
    return "Pending"
