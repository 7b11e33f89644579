"""Scheduler: a cluster that runs, in virtual time, as Kueue would run it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy import _core
from kueuepy.cluster import Cluster
from kueuepy.decision import Admitted
from kueuepy.errors import DuplicateError, InvalidSpecError, NotFoundError, StateError
from kueuepy.loops import Cycle, Settled, settle
from kueuepy.manifest import ManifestError, check, validate_update
from kueuepy.objects import (
    SECOND,
    Configuration,
    LocalQueue,
    Namespace,
    NamespacedObject,
    Node,
    Object,
    PriorityClass,
    ResourceFlavor,
    Workload,
    WorkloadPriorityClass,
)
from kueuepy.scheduler_input import Submitted, Surroundings, of_jobs, submissions
from kueuepy.scheduler_status import live_workload
from kueuepy.scheduler_store import Store
from kueuepy.scheduler_time import Duration, Moment, duration_ns, moment_ns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kueuepy.decision import Decision
    from kueuepy.explain import Explanation
    from kueuepy.frames import QueueTable, QuotaTable, ShareTable, UsageTable, WorkloadTable
    from kueuepy.objects.status import CheckState
    from kueuepy.whatif import Difference, Edit

_PASSIVE = (Node, PriorityClass, WorkloadPriorityClass)
_UID = "00000000-0000-4000-8000-{:012d}"


class Scheduler:
    """Kueue on a cluster of its own: it owns a copy, and nothing that happens to it changes the Cluster it came from.

    Time stands still until `advance`. Between cycles Kueue's controllers run: evicted workloads give their quota back
    and queue again, checks and timeouts are acted on. Calls on one Scheduler are serialised by a lock; different
    Schedulers, forks included, may run in different threads.

    >>> from kueuepy import ClusterQueue, PodSet, ResourceFlavor, Workload
    >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("vision", {"default": {"cpu": 9}}))
    >>> scheduler = Scheduler(cluster)
    >>> scheduler.submit(Workload("train", queue_name="vision", pod_sets=(PodSet.of(requests={"cpu": 6}),)))
    ('default/train',)
    >>> for decision in scheduler.cycle():
    ...     match decision:
    ...         case Admitted(workload):
    ...             print(workload, decision.flavors)
    default/train {'main': {'cpu': 'default'}}
    """

    def __init__(self, cluster: Cluster, *, now: Moment | None = None) -> None:
        """Starts with everything in the cluster: objects, Workloads with their status, jobs.

        Args:
            cluster: What there is.
            now: The time at the start; without it the latest that a Workload of the cluster tells of, or 0 (1970).

        Raises:
            InvalidSpecError: A job is not valid.
            NotFoundError: A job names a priority class that isn't there.
        """
        self._configuration = cluster.configuration
        self._related = cluster.manifest.others
        self._store = Store()
        self._count = 0
        self._engine = _core.Engine(self._configuration)
        self._engine.set_now(_latest(cluster) if now is None else moment_ns(now))
        for obj in cluster.objects():
            if not isinstance(obj, Workload):
                self._apply(obj)
        self._take(Submitted(workload) for workload in cluster.workloads)
        self._take(of_jobs(cluster.jobs, self._surroundings()))

    # What there is.

    @property
    def engine(self) -> _core.Engine:
        """The engine itself, for those who build on it; what it is told is not known to this Scheduler's `cluster`."""
        return self._engine

    @property
    def configuration(self) -> Configuration:
        """The policies that it was made with."""
        return self._configuration

    @property
    def cluster(self) -> Cluster:
        """The declared objects as they are now, without Workloads."""
        objects = tuple(self._store.objects.values())
        return Cluster(objects, configuration=self._configuration, names=False)

    @property
    def now(self) -> float:
        """The time, in seconds since the Unix epoch."""
        return self._engine.now / SECOND

    def workload(self, key: str) -> Workload:
        """The Workload with the status that it has now: conditions, admission, checks.

        Raises:
            NotFoundError: There is no such workload.
        """
        found = self._id(key)
        return live_workload(self._engine, found, self._known(found))

    def keys(self) -> tuple[str, ...]:
        """The keys of all workloads, in the order of submission, finished ones included."""
        return tuple(workload.key for workload in self._store.workloads.values())

    # What happens to it.

    def submit(self, *items: Any) -> tuple[str, ...]:
        """New workloads; either all of them are taken, or none.

        Args:
            items: Workloads; manifests of jobs of every kind that Kueue knows, or of Workloads; rows as dicts (see
                `kueuepy.jobs.from_row`); frames of pandas or polars; or lists of these. A workload without a creation
                time is created now; one without a uid, which breaks ties, gets one in the order of submission.

        Returns:
            The key of each workload, `namespace/name`.

        Raises:
            DuplicateError: A workload of this key exists already.
            InvalidSpecError: Something is not valid.
            NotFoundError: A job names a priority class that isn't there.
        """
        new = list(submissions(items, self._surroundings()))
        for workload, _ in new:
            check(workload, feature_gates=self._configuration.feature_gates)
        return self._take(new)

    def apply(self, *objects: Object) -> None:
        """Creates the objects, or changes those of the same kind and name, as `kubectl apply` does.

        Raises:
            InvalidSpecError: An object, or the change of it, is not valid.
        """
        for obj in objects:
            known = self._find(obj)
            gates = self._configuration.feature_gates
            if known is None:
                check(obj, feature_gates=gates)
            elif problems := validate_update(known, obj, feature_gates=gates):
                raise ManifestError([(f'{type(obj).__name__} "{obj.key}"', problem) for problem in problems])
        for obj in objects:
            if isinstance(obj, Workload):
                self._apply_workload(obj)
            else:
                self._apply(obj)

    def remove(self, *objects: Object) -> None:
        """Deletes the objects of these kinds and names.

        Raises:
            NotFoundError: There is no such object.
        """
        for obj in objects:
            if isinstance(obj, Workload):
                self.delete(obj.key)
                continue
            if self._store.objects.get((type(obj), obj.key)) is None:
                raise NotFoundError(f'{type(obj).__name__} "{obj.key}": there is no such object')
            namespace = obj.namespace if isinstance(obj, NamespacedObject) else ""
            self._store.objects.drop((type(obj), obj.key))
            if not isinstance(obj, _PASSIVE):
                self._engine.delete_object(type(obj).__name__, namespace, obj.name)

    def finish(self, *keys: str) -> None:
        """The jobs of these workloads are done; their quota is free.

        Raises:
            NotFoundError: There is no such workload.
            StateError: It is finished already.
        """
        for key in keys:
            found = self._id(key)
            finished = self._engine.condition(found, "Finished")
            if finished is not None and finished[0]:
                raise StateError(f'Workload "{self._engine.key(found)}": is finished already')
            self._engine.finish(found)

    def delete(self, *keys: str) -> None:
        """The workloads are gone.

        Raises:
            NotFoundError: There is no such workload.
        """
        for key in keys:
            found = self._id(key)
            self._store.forget(self._engine.key(found))
            self._engine.delete(found)

    def set_check(
        self,
        key: str,
        check_name: str,
        state: CheckState,
        *,
        message: str | None = None,
        requeue_after: Duration | None = None,
    ) -> None:
        """An admission check's controller says something of a workload.

        Args:
            key: The workload.
            check_name: The AdmissionCheck.
            state: `Ready` lets it start, `Retry` and `Rejected` evict it.
            message: What the status says beside it; unchanged if not given.
            requeue_after: With `Retry`, how long it waits before it queues again.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: There is no such state.
        """
        wait = None if requeue_after is None else duration_ns(requeue_after) // SECOND
        self._engine.set_check(self._id(key), check_name, state, message, wait)

    def pods_ready(self, key: str, ready: bool = True) -> None:  # noqa: FBT001, FBT002 - reads well in either form
        """All pods of the workload's job are ready, or not all of them any more.

        Raises:
            NotFoundError: There is no such workload.
        """
        self._engine.set_pods_ready(self._id(key), ready)

    def reclaim(self, key: str, pods: int | Mapping[str, int]) -> None:
        """Pods of the workload no longer need their quota.

        Args:
            key: The workload.
            pods: How many in all so far, by pod set; a number alone is of the only pod set.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: A pod set is unknown, or has fewer pods.
        """
        found = self._id(key)
        counts = {pod_set.name: pod_set.count for pod_set in self._known(found).pod_sets}
        by_name = {next(iter(counts)): pods} if isinstance(pods, int) and len(counts) == 1 else pods
        if isinstance(by_name, int):
            raise InvalidSpecError(f'Workload "{self._engine.key(found)}": has {len(counts)} pod sets; name them')
        for name, count in by_name.items():
            if not 0 <= count <= counts.get(name, -1):
                raise InvalidSpecError(
                    f'Workload "{self._engine.key(found)}": reclaimable pods of "{name}": is {count}; '
                    f"it must be a pod set's name and 0 to its count, of {counts}"
                )
        self._engine.set_reclaimable(found, dict(by_name))

    # Time, and what Kueue does in it.

    def advance(self, duration: Duration) -> None:
        """Time passes; what is due then happens with the next `cycle` or `settle`.

        Raises:
            InvalidSpecError: It is no duration, or below 0.
        """
        self._engine.set_now(self._engine.now + duration_ns(duration))

    def cycle(self) -> Cycle:
        """Lets the controllers catch up, then runs one scheduling cycle.

        Returns:
            The decision about each head, one for each ClusterQueue where somebody waits.
        """
        self._engine.settle()
        return self._noted(Cycle(self._engine.decide()))

    def settle(self, *, max_cycles: int | None = None) -> Settled:
        """Runs cycles and controllers until nothing changes any more at this time.

        Kueue can preempt for ever (kubernetes-sigs/kueue#14543). Then the same state comes again, and this returns
        with the loop as data, after its first round.

        Args:
            max_cycles: The most cycles to run; none by default.
        """
        return settle(self._engine, self._noted, max_cycles)

    def fork(self) -> Scheduler:
        """A Scheduler with the same state, at once; what happens to one of the two is not seen by the other."""
        twin = Scheduler.__new__(Scheduler)
        twin._configuration, twin._related = self._configuration, self._related
        twin._count = self._count
        twin._engine, twin._store = self._engine.fork(), self._store.fork()
        return twin

    # Questions.

    def explain(self, item: Any) -> Explanation:
        """Why the workload waits, is admitted, or was preempted.

        Args:
            item: The key of a workload; or a Workload, a job or a row that is not there yet, which is explained as if
                it were.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: It is not valid, or is several workloads.
        """
        from kueuepy.explain import explain  # noqa: PLC0415 - only on use

        if not isinstance(item, str):
            trial = self.fork()
            keys = trial.submit(item)
            return trial.explain(keys[0])
        found = self._id(item)
        decided = self._store.admitted.get(self._engine.key(found))
        return explain(self._engine, found, decided, fair=self._configuration.fair_sharing is not None)

    def try_admit(self, item: Any) -> Decision:
        """What a cycle would answer if this workload alone were considered now; nothing changes.

        Args:
            item: A Workload, a job, a row, or the key of a workload that waits.

        Raises:
            InvalidSpecError: It is not valid, or is several workloads.
            NotFoundError: There is no such workload.
        """
        from kueuepy.whatif import one  # noqa: PLC0415 - only on use

        return one(self.try_admit_many([item]))

    def try_admit_many(self, items: Iterable[Any]) -> list[Decision]:
        """`try_admit` for each of many workloads, each considered alone; much faster than one by one."""
        from kueuepy.whatif import ask  # noqa: PLC0415 - only on use

        return ask(self, items)

    def question(self, item: Any) -> _core.Question:
        """A workload read once, to be asked about again and again."""
        from kueuepy.whatif import question  # noqa: PLC0415 - only on use

        return question(self, item)

    def largest_count(self, item: Any, *, pod_set: str | None = None, preempting: bool = False) -> int:
        """The largest number of pods with which the workload would be admitted now; 0 if not even one would.

        Args:
            item: A Workload, a job or a row; the count that it has doesn't matter.
            pod_set: Which pod set to grow; the first one by default.
            preempting: Whether it counts if others must be preempted.
        """
        from kueuepy.whatif import largest_count  # noqa: PLC0415 - only on use

        return largest_count(self, item, pod_set=pod_set, preempting=preempting)

    def whatif(self, *edits: Edit) -> Difference:
        """What would be decided otherwise after edits, both sides settled; nothing changes here.

        Args:
            edits: Objects to apply, a Configuration, or functions that change the Scheduler which they are given.
        """
        from kueuepy.whatif import difference  # noqa: PLC0415 - only on use

        return difference(self, edits)

    # Tables.

    @property
    def usage(self) -> UsageTable:
        """What each ClusterQueue and Cohort uses, of each flavor and resource."""
        from kueuepy.frames import usage_table  # noqa: PLC0415 - only on use

        return usage_table(self._engine)

    @property
    def quota(self) -> QuotaTable:
        """The quotas of each ClusterQueue and Cohort, and what follows from them."""
        from kueuepy.frames import quota_table  # noqa: PLC0415 - only on use

        return quota_table(self._engine)

    @property
    def shares(self) -> ShareTable:
        """The dominant resource share of each ClusterQueue and Cohort."""
        from kueuepy.frames import share_table  # noqa: PLC0415 - only on use

        return share_table(self._engine)

    @property
    def queues(self) -> QueueTable:
        """Who waits in each ClusterQueue, in order."""
        from kueuepy.frames import queue_table  # noqa: PLC0415 - only on use

        return queue_table(self._engine)

    @property
    def workloads(self) -> WorkloadTable:
        """Every workload: where it is, since when, and why."""
        from kueuepy.frames import workload_table  # noqa: PLC0415 - only on use

        return workload_table(self._engine)

    # Jobs.

    def start_patch(self, key: str) -> dict[str, Any]:
        """The JSON merge patch by which Kueue starts the workload's job.

        Raises:
            StateError: The workload was not submitted as a job, or is not admitted.
        """
        from kueuepy.jobs import start_patch  # noqa: PLC0415 - only on use

        flavors = [obj for obj in self._store.objects.values() if isinstance(obj, ResourceFlavor)]
        job, workload = self._job(key), self.workload(key)
        return start_patch(job, workload, flavors, config=self._configuration, related=self._related)

    def stop_patch(self, key: str) -> dict[str, Any] | None:
        """The JSON merge patch by which Kueue stops the workload's job; `None` for pods, which it deletes.

        Raises:
            StateError: The workload was not submitted as a job.
        """
        from kueuepy.jobs import stop_patch  # noqa: PLC0415 - only on use

        return stop_patch(self._job(key), self.workload(key), config=self._configuration, related=self._related)

    def __repr__(self) -> str:
        """Its time, and how many workloads there are."""
        return f"<Scheduler at {self.now:g} s: {len(self._store.workloads)} workloads>"

    def _repr_html_(self) -> str:
        """The cohort tree with what is used now, for notebooks."""
        from kueuepy.html import scheduler_html  # noqa: PLC0415 - only a notebook asks

        return scheduler_html(self)

    # Inside.

    def _id(self, key: str) -> int:
        found = self._engine.find(key if "/" in key else f"default/{key}")
        if found < 0:
            raise NotFoundError(f'Workload "{key}": there is no such workload; a key is namespace/name')
        return found

    def _known(self, found: int) -> Workload:
        known = self._store.workloads.get(self._engine.key(found))
        if known is None:
            raise StateError(f'Workload "{self._engine.key(found)}": was given to the engine directly')
        return known

    def _job(self, key: str) -> dict[str, Any]:
        full = self._engine.key(self._id(key))
        job = self._store.jobs.get(full)
        if job is None:
            raise StateError(f'Workload "{full}": was not submitted as a job; there is no manifest to patch')
        return job

    def _find(self, obj: Object) -> Object | None:
        if isinstance(obj, Workload):
            return self._store.workloads.get(obj.key)
        return self._store.objects.get((type(obj), obj.key))

    def _apply(self, obj: Object) -> None:
        known = self._store.objects.get((type(obj), obj.key))
        self._store.objects.put((type(obj), obj.key), obj)
        if not isinstance(obj, _PASSIVE):
            self._engine.apply(obj, known != obj)

    def _apply_workload(self, obj: Workload) -> None:
        if self._store.workloads.get(obj.key) is None:
            self._take([Submitted(obj)])
            return
        self._store.workloads.put(obj.key, obj)
        self._engine.update(self._id(obj.key), obj)

    def _take(self, new: Iterable[Submitted]) -> tuple[str, ...]:
        submitted = list(new)
        seen: set[str] = set()
        for workload, _ in submitted:
            if workload.key in seen or self._engine.find(workload.key) >= 0:
                raise DuplicateError(f'Workload "{workload.key}": exists already; delete it first, or apply a change')
            seen.add(workload.key)
        for given, job in submitted:
            workload = self._identified(given)
            self._engine.submit(workload)
            self._store.workloads.put(workload.key, workload)
            if job is not None:
                self._store.jobs.put(workload.key, job)
        return tuple(workload.key for workload, _ in submitted)

    def _identified(self, workload: Workload) -> Workload:
        """The workload as an API server would store it: with a uid and a creation time."""
        self._count += 1
        if workload.uid and workload.creation_timestamp is not None:
            return workload
        created = self._engine.now if workload.creation_timestamp is None else workload.creation_timestamp
        uid = workload.uid or _UID.format(self._count)
        return msgspec.structs.replace(workload, uid=uid, creation_timestamp=created)

    def _surroundings(self) -> Surroundings:
        objects = tuple(self._store.objects.values())
        return Surroundings(
            self._configuration,
            tuple(obj for obj in objects if isinstance(obj, WorkloadPriorityClass | PriorityClass)),
            tuple(obj for obj in objects if isinstance(obj, Namespace)),
            tuple(obj for obj in objects if isinstance(obj, LocalQueue)),
            self._related,
        )

    def _noted(self, cycle: Cycle) -> Cycle:
        """Remembers how workloads were admitted, for explanations."""
        if cycle.admitted_count:
            for decision in cycle:
                if isinstance(decision, Admitted):
                    self._store.admitted.put(decision.workload, decision)
        return cycle


def _latest(cluster: Cluster) -> int:
    """The latest time that a Workload of the cluster tells of."""
    times = [0]
    for workload in cluster.workloads:
        times.append(workload.creation_timestamp or 0)
        if workload.status is not None:
            times += [condition.last_transition_time for condition in workload.status.conditions]
    return max(times)
