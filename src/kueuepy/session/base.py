"""What every part of a Scheduler builds on: the engine, and what is remembered beside it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.errors import DuplicateError, InvalidSpecError, NotFoundError, StateError
from kueuepy.errors.arguments import checked_methods
from kueuepy.manifest import check
from kueuepy.objects import SECOND, ClusterQueue, LocalQueue, Namespace, PriorityClass, WorkloadPriorityClass
from kueuepy.session import calls
from kueuepy.session.status import live_workload
from kueuepy.session.store import Parts
from kueuepy.session.submission import JobContext, Keys, Submitted, submissions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Self

    from kueuepy import _core
    from kueuepy.engine.cycle import Cycle
    from kueuepy.objects import Configuration, Workload
    from kueuepy.session.checks import Check
    from kueuepy.session.store import Store

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="SchedulerState")

_UID = "00000000-0000-4000-8000-{:012d}"


def alone(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """The method, during which no other thread's call on the same Scheduler runs."""

    @wraps(method)
    def run(self: S, /, *args: P.args, **options: P.kwargs) -> R:
        with self.lock:
            return method(self, *args, **options)

    return run


def changing(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """The same of a method that changes something, which a Journal hears of."""

    @wraps(method)
    def run(self: S, /, *args: P.args, **options: P.kwargs) -> R:
        with self.lock, self._telling():
            return method(self, *args, **options)

    return run


@checked_methods
class SchedulerState:
    """An engine, the objects and Workloads that it was given, and how to find one's way in it.

    Attributes:
        lock: Is held by each call; whoever holds it finds nothing changed between two calls.
    """

    lock: RLock
    _configuration: Configuration
    _related: tuple[dict[str, Any], ...]
    _engine: _core.Engine
    _store: Store
    _count: int
    _checks: Mapping[str, Check]

    @property
    def engine(self) -> _core.Engine:
        """The engine itself, for those who build on it; what it is told is not known to this Scheduler's `cluster`."""
        return self._engine

    @property
    def configuration(self) -> Configuration:
        """The policies that it was made with."""
        return self._configuration

    @property
    @alone
    def cluster(self) -> Cluster:
        """The declared objects as they are now, without Workloads."""
        objects = tuple(self._store.objects.values())
        return Cluster(objects, configuration=self._configuration, names=False)

    @property
    def now(self) -> float:
        """The time, in seconds since the Unix epoch."""
        return self._engine.now / SECOND

    @alone
    def workload(self, key: str) -> Workload:
        """The Workload with the status that it has now: conditions, admission, checks.

        Raises:
            NotFoundError: There is no such workload.
        """
        found = self.id_of(key)
        return live_workload(self._engine, found, self._known(found))

    @alone
    def keys(self) -> tuple[str, ...]:
        """The keys of all workloads, in the order of submission, finished ones included."""
        return self._store.workloads.keys()

    @alone
    def fork(self) -> Self:
        """A Scheduler with the same state, at once; what happens to one of the two is not seen by the other."""
        parts = self.parts
        return self.of_parts(parts._replace(engine=parts.engine.fork(), store=parts.store.fork()))

    # What it is made of.

    @property
    def parts(self) -> Parts:
        """All that it consists of; whoever changes them changes it."""
        return Parts(self._engine, self._configuration, self._related, self._count, self._store, self._checks)

    @classmethod
    def of_parts(cls, parts: Parts) -> Self:
        """The Scheduler that consists of these parts."""
        scheduler = cls.__new__(cls)
        scheduler._consist_of(parts)  # noqa: SLF001 - of its own class
        return scheduler

    def _consist_of(self, parts: Parts) -> None:
        self.lock = RLock()
        self._engine, self._configuration, self._related, self._count, self._store, self._checks = parts

    def id_of(self, key: str) -> int:
        """The engine's id of a workload, by its key or, in the namespace `default`, by its name.

        The name of a job does, too, or the beginning of one that it was generated from, if that is one workload's only.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: The key is no text.
        """
        if not isinstance(key, str):
            raise InvalidSpecError(f"Workload: {key!r} is no key; it must be a text such as namespace/name")
        full = key if "/" in key else f"default/{key}"
        found = self._engine.find(full)
        if found >= 0:
            return found
        jobs = self._store.jobs.keys()
        named = [known for known in jobs if full in self._names_of_job(known)]
        if len(named) == 1:
            return self._engine.find(named[0])
        hint = f"its job has {', '.join(named[:9])}" if named else "a key is namespace/name"
        raise NotFoundError(f'Workload "{key}": there is no such workload; {hint}')

    def job_of(self, key: str) -> dict[str, Any] | None:
        """The manifest of the job of a workload, as it was submitted; `None` of one that came without."""
        return self._store.jobs.get(key)

    def _names_of_job(self, key: str) -> tuple[str, ...]:
        """By what the job of a workload is known, beside the workload's name."""
        metadata = (self.job_of(key) or {}).get("metadata") or {}
        namespace = metadata.get("namespace") or "default"
        return tuple(f"{namespace}/{metadata[part]}" for part in ("name", "generateName") if metadata.get(part))

    def _known(self, found: int) -> Workload:
        known = self._store.workloads.get(self._engine.key(found))
        if known is None:
            raise StateError(f'Workload "{self._engine.key(found)}": was given to the engine directly')
        return known

    def valid_submissions(self, items: Iterable[Any], *, keep_status: bool = False) -> list[Submitted]:
        """The Workloads of what is given to be submitted, or asked about, each found to be valid.

        Raises:
            InvalidSpecError: Something is not valid, or is no workload, job, row or frame.
            NotFoundError: A job names a priority class that isn't there.
        """
        found = submissions(items, self.job_context())
        return self._checked(found if keep_status else map(_without_status, found))

    def _checked(self, new: Iterable[Submitted]) -> list[Submitted]:
        """The same, once each Workload is found to be valid."""
        found = list(new)
        for workload, *_ in found:
            check(workload, feature_gates=self._configuration.gates)
        return found

    def _take(self, new: Iterable[Submitted]) -> Keys:
        submitted = list(new)
        seen: set[str] = set()
        for workload, *_ in submitted:
            if workload.key in seen or self._engine.find(workload.key) >= 0:
                raise DuplicateError(f'Workload "{workload.key}": exists already; delete it first, or apply a change')
            seen.add(workload.key)
        for one in submitted:
            self.take(one)
        keys = Keys(workload.key for workload, *_ in submitted)
        keys.remarks = tuple(self._remarks(workload for workload, *_ in submitted))
        return keys

    def _remarks(self, workloads: Iterable[Workload]) -> Iterator[str]:
        """Of each workload that nobody considers, as its queue is not there, which one; and what is not counted."""
        for workload in workloads:
            missing = self._cluster_queue_of(f"{workload.namespace}/{workload.queue_name}")
            if not workload.queue_name:
                yield f'Workload "{workload.key}": names no queue, and is never considered'
            elif isinstance(missing, str):
                yield f'Workload "{workload.key}": waits for {missing}, which is not there'
            if any(pod_set.asks_for_claims for pod_set in workload.pod_sets):
                yield f'Workload "{workload.key}": asks for devices by resourceClaims, which count nothing here'

    @changing
    def take(self, one: Submitted) -> None:
        """A workload comes as it is, with its status and without checks: what `submit` does after them.

        Raises:
            DuplicateError: A workload of this key exists already.
            InvalidSpecError: The engine cannot read it.
        """
        self._touch()
        count = self._count
        workload = self._identified(one.workload)
        self._engine.submit(workload, one.single_pod)
        self._store.workloads.put(workload.key, workload)
        if one.job is not None:
            self._store.jobs.put(workload.key, one.job)
        self._tell(calls.Submit(workload, count, one.job, one.single_pod))

    def _identified(self, workload: Workload) -> Workload:
        """The workload as an API server would store it: with a uid and a creation time.

        Without the gate PartialAdmission it loses its minCounts (`pkg/webhooks/workload_webhook.go:Default`).
        """
        self._count += 1
        if not self._configuration.enabled("PartialAdmission"):
            workload = workload.without_min_counts()
        if workload.uid and workload.creation_timestamp is not None:
            return workload
        created = self._engine.now if workload.creation_timestamp is None else workload.creation_timestamp
        uid = workload.uid or _UID.format(self._count)
        return msgspec.structs.replace(workload, uid=uid, creation_timestamp=created)

    def job_context(self) -> JobContext:
        """What the reading of a job depends on, as it is now."""
        objects = self._store.objects
        return JobContext(
            self._configuration,
            (*objects.of(WorkloadPriorityClass), *objects.of(PriorityClass)),
            objects.of(Namespace),
            objects.of(LocalQueue),
            self._related,
            self._covered,
            count(self._count + 1),
        )

    def _cluster_queue_of(self, local_queue: str) -> ClusterQueue | str:
        """The ClusterQueue of a LocalQueue; or which of the two is not there."""
        local = self._store.objects.get((LocalQueue, local_queue))
        if not isinstance(local, LocalQueue):
            return f"LocalQueue {local_queue}"
        queue = self._store.objects.get((ClusterQueue, local.cluster_queue))
        return queue if isinstance(queue, ClusterQueue) else f"ClusterQueue {local.cluster_queue}"

    def _covered(self, local_queue: str) -> Collection[str]:
        queue = self._cluster_queue_of(local_queue)
        if isinstance(queue, str):
            return ()
        return {resource for group in queue.resource_groups for resource in group.covered_resources}

    # What a Journal hears of.

    def _telling(self) -> AbstractContextManager[None]:
        """Around each call that changes something."""
        return nullcontext()

    def _touch(self) -> None:
        """All that may be wrong with a call was found: from here on an error would leave something half done."""

    def _tell(self, call: calls.Call, cycles: Sequence[Cycle] = ()) -> None:
        """A call was done, and came to these cycles."""


def _without_status(one: Submitted) -> Submitted:
    if one.workload.status is None:
        return one
    return one._replace(workload=msgspec.structs.replace(one.workload, status=None))
