"""Scheduler: a cluster that runs, in virtual time, as Kueue would run it."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy import _core
from kueuepy.checks import CheckRequest, answer, check_updates
from kueuepy.decision import Admitted
from kueuepy.errors import InvalidSpecError, NotFoundError, StateError
from kueuepy.loops import Cycle, Settled
from kueuepy.manifest import ManifestError, check, validate_update
from kueuepy.objects import (
    SECOND,
    AdmissionCheck,
    NamespacedObject,
    Object,
    Workload,
)
from kueuepy.scheduler_base import alone
from kueuepy.scheduler_input import Submitted, latest_time, of_jobs, submissions
from kueuepy.scheduler_questions import SchedulerQuestions
from kueuepy.scheduler_status import live_workload
from kueuepy.scheduler_store import PASSIVE, Store
from kueuepy.scheduler_time import Duration, Moment, duration_ns, moment_ns
from kueuepy.settling import settle

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from kueuepy.checks import Check, CheckAnswer
    from kueuepy.cluster import Cluster
    from kueuepy.objects.status import CheckState, FinishReason


class Scheduler(SchedulerQuestions):
    """Kueue on a cluster of its own: it owns a copy, and nothing that happens to it changes the Cluster it came from.

    Time stands still until `advance`. Between cycles Kueue's controllers run: evicted workloads give their quota back
    and queue again, checks and timeouts are acted on. Calls on one Scheduler are serialised by a lock; different
    Schedulers, forks included, may run in different threads.

    >>> from kueuepy import Cluster, ClusterQueue, PodSet, ResourceFlavor, Workload
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

    def __init__(
        self,
        cluster: Cluster,
        *,
        now: Moment | None = None,
        checks: Mapping[str, Check] | None = None,
        stopping: Duration = 0,
    ) -> None:
        """Starts with everything in the cluster: objects, Workloads with their status, jobs.

        Args:
            cluster: What there is.
            now: The time at the start; without it the latest that a Workload of the cluster tells of, or 0 (1970).
            checks: Who answers the admission checks, by controllerName (see `kueuepy.checks`); one that nobody answers
                waits for `set_check`.
            stopping: How long the pods of an evicted job take to end; until then the workload keeps its quota.

        Raises:
            InvalidSpecError: A job is not valid.
            NotFoundError: A job names a priority class that isn't there.
        """
        self.lock = RLock()
        self._checks = dict(checks or {})
        self._configuration = cluster.configuration
        self._related = cluster.manifest.others
        self._store = Store()
        self._count = 0
        self._engine = _core.Engine(self._configuration)
        self._engine.set_now(latest_time(cluster) if now is None else moment_ns(now))
        self._engine.set_stop_delay(duration_ns(stopping))
        for obj in cluster.objects():
            if not isinstance(obj, Workload):
                self._apply(obj)
        self._take(Submitted(workload) for workload in cluster.workloads)
        self._take(self._checked(of_jobs(cluster.jobs, self.surroundings())))

    # What happens to it.

    @alone
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
        return self._take(self._checked(submissions(items, self.surroundings())))

    @alone
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

    @alone
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
            if not isinstance(obj, PASSIVE):
                self._engine.delete_object(type(obj).__name__, namespace, obj.name)
            self._store.objects.drop((type(obj), obj.key))

    @alone
    def finish(self, *keys: str, reason: FinishReason = "Succeeded", message: str = "") -> None:
        """The jobs of these workloads are done; their quota is free.

        Args:
            keys: The workloads.
            reason: `Succeeded`, `Failed`, or `FailedToStart` where `start_patch` found no way to start the job.
            message: What the condition says; the usual words if empty.

        Raises:
            NotFoundError: There is no such workload.
            StateError: It is finished already.
        """
        for key in keys:
            found = self.id_of(key)
            finished = self._engine.condition(found, "Finished")
            if finished is not None and finished[0]:
                raise StateError(f'Workload "{self._engine.key(found)}": is finished already')
            self._engine.finish(found, reason, message)

    @alone
    def delete(self, *keys: str) -> None:
        """The workloads are gone.

        Raises:
            NotFoundError: There is no such workload.
        """
        for key in keys:
            found = self.id_of(key)
            full = self._engine.key(found)
            self._engine.delete(found)
            self._store.forget(full)

    @alone
    def set_check(
        self,
        key: str,
        check_name: str,
        state: CheckState,
        *,
        message: str | None = None,
        requeue_after: Duration | None = None,
        pod_set_updates: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """An admission check's controller says something of a workload.

        Args:
            key: The workload.
            check_name: The AdmissionCheck.
            state: `Ready` lets it start, `Retry` and `Rejected` evict it.
            message: What the status says beside it; unchanged if not given.
            requeue_after: With `Retry`, how long it keeps its quota before it is evicted and queues again.
            pod_set_updates: What the check adds to pod sets when the job starts, as in the manifest:
                `{"name": "main", "nodeSelector": {…}}`. Eviction forgets it.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: There is no such state or pod set, or a check that is Ready changes its updates.
        """
        found = self.id_of(key)
        added = tuple(pod_set_updates)
        check_updates(live_workload(self._engine, found, self._known(found)), check_name, state, added)
        wait = -1 if requeue_after is None else duration_ns(requeue_after) // SECOND
        updates = msgspec.json.encode(added).decode() if added else ""
        self._engine.set_check(found, check_name, state, message, wait, updates)

    @alone
    def answer_checks(self, checks: Mapping[str, Check]) -> None:
        """These answer the admission checks from now on, by controllerName; those of before do no longer."""
        self._checks = dict(checks)

    @alone
    def pods_ready(self, key: str, ready: bool = True) -> None:  # noqa: FBT001, FBT002 - reads well in either form
        """All pods of the workload's job are ready, or not all of them any more.

        Raises:
            NotFoundError: There is no such workload.
        """
        self._engine.set_pods_ready(self.id_of(key), ready)

    @alone
    def reclaim(self, key: str, pods: int | Mapping[str, int]) -> None:
        """Pods of the workload no longer need their quota.

        Args:
            key: The workload.
            pods: How many in all so far, by pod set; a number alone is of the only pod set.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: A pod set is unknown, or has fewer pods; or fewer than before, or none any more, are
                reclaimable while the workload holds quota.
        """
        found = self.id_of(key)
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
        if self._engine.admission(found) is not None:
            for name, before in self._engine.life(found)["reclaimable"].items():
                if by_name.get(name, 0) < before:
                    raise InvalidSpecError(
                        f'Workload "{self._engine.key(found)}": reclaimable pods of "{name}": is '
                        f"{by_name.get(name, 0)}; it must be {before} at least, as before, while quota is held"
                    )
        self._engine.set_reclaimable(found, dict(by_name))

    # Time, and what Kueue does in it.

    @alone
    def advance(self, duration: Duration) -> None:
        """Time passes; what is due then happens with the next `cycle` or `settle`.

        Raises:
            InvalidSpecError: It is no duration, or below 0.
        """
        self._engine.set_now(self._engine.now + duration_ns(duration))

    @alone
    def cycle(self) -> Cycle:
        """Lets the controllers catch up, then runs one scheduling cycle.

        Returns:
            The decision about each head, one for each ClusterQueue where somebody waits.
        """
        self._control()
        return self._noted(Cycle(self._engine.decide()))

    @alone
    def settle(self, *, max_cycles: int | None = None) -> Settled:
        """Runs cycles and controllers until nothing changes any more at this time.

        Kueue can preempt for ever (kubernetes-sigs/kueue#14543). Then the same state comes again, and this returns
        with the loop as data: its shortest period, and who moves in it; one for each tree of cohorts that goes round.

        Args:
            max_cycles: The most cycles to run; none by default.
        """
        waits = self._configuration.wait_for_pods_ready
        apart = not self._checks and (waits is None or not waits.block_admission)
        return settle(
            self._engine, self._noted, max_cycles, control=self._control, apart=apart, retries=bool(self._checks)
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all that it knows to a file, as plain data; one that is there already is replaced at once."""
        from kueuepy.persist import save  # noqa: PLC0415 - only on use

        save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scheduler:
        """The Scheduler that `save` has written: what it decides from now on is what would have been decided.

        Raises:
            NotFoundError: The file cannot be read.
            InvalidSpecError: It is no saved state, or is damaged.
            UnsupportedError: A later version of kueuepy has written it.
        """
        from kueuepy.persist import load  # noqa: PLC0415 - only on use

        return load(path)

    def __repr__(self) -> str:
        """Its time, and how many workloads there are."""
        return f"<Scheduler at {self.now:g} s: {len(self._store.workloads)} workloads>"

    def _repr_html_(self) -> str:
        """The cohort tree with what is used now, for notebooks."""
        from kueuepy.html import scheduler_html  # noqa: PLC0415 - only a notebook asks

        return scheduler_html(self)

    # Inside.

    def _control(self) -> None:
        """Lets Kueue's controllers run, and those of the admission checks, until none has anything more to say."""
        self._engine.settle()
        asks = bool(self._checks)
        while asks and (answers := self._answers()):
            self._controlled()
            asks = any(said.state != "Pending" for _, _, said in answers)
            for found, name, said in answers:
                self.set_check(
                    self._engine.key(found),
                    name,
                    said.state,
                    message=said.message,
                    requeue_after=said.requeue_after,
                    pod_set_updates=said.pod_set_updates,
                )
            self._engine.settle()

    def _answers(self) -> list[tuple[int, str, CheckAnswer]]:
        """What the controllers of admission checks say now that they have not said before."""
        answers = []
        for found, name in self._engine.pending_checks():
            declared = self._store.objects.get((AdmissionCheck, name))
            if not isinstance(declared, AdmissionCheck) or declared.controller_name not in self._checks:
                continue
            controller = self._checks[declared.controller_name]
            workload = live_workload(self._engine, found, self._known(found))
            if (said := answer(controller, CheckRequest(workload, declared, self._engine.now))) is not None:
                answers.append((found, name, said))
        return answers

    def _controlled(self) -> None:
        """Kueue's controllers ran before checks were answered."""

    def _find(self, obj: Object) -> Object | None:
        if isinstance(obj, Workload):
            return self._store.workloads.get(obj.key)
        return self._store.objects.get((type(obj), obj.key))

    def _apply(self, obj: Object) -> None:
        known = self._store.objects.get((type(obj), obj.key))
        if not isinstance(obj, PASSIVE):
            self._engine.apply(obj, known != obj)
        self._store.objects.put((type(obj), obj.key), obj)

    def _apply_workload(self, obj: Workload) -> None:
        known = self._store.workloads.get(obj.key)
        if known is None:
            self._take([Submitted(obj)])
            return
        self._engine.update(self.id_of(obj.key), obj, changed=not obj.has_spec_of(known))
        self._store.workloads.put(obj.key, obj)

    def _noted(self, cycle: Cycle) -> Cycle:
        """Remembers how workloads were admitted, for explanations."""
        if cycle.admitted_count:
            for decision in cycle:
                if isinstance(decision, Admitted):
                    self._store.admitted.put(decision.workload, decision)
        return cycle
