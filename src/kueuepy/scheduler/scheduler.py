"""Scheduler: a cluster that runs, in virtual time, as Kueue would run it."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from kueuepy import _core
from kueuepy.cluster import Cluster
from kueuepy.decisions import Admitted
from kueuepy.engine.cycle import Cycle, Settled
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked_methods
from kueuepy.jobs.places import jobs_placed
from kueuepy.manifest import ManifestError, check, validate_update
from kueuepy.notebook import repr_html
from kueuepy.objects import AdmissionCheck, Object, Workload
from kueuepy.scheduler.workloads import SchedulerWorkloads, each_once, expect_object
from kueuepy.session import calls
from kueuepy.session.base import alone, changing
from kueuepy.session.checks import CheckRequest, answer, checks_of, parameters_of
from kueuepy.session.elastic import resized
from kueuepy.session.settling import settle
from kueuepy.session.status import live_workload
from kueuepy.session.store import PASSIVE, Store
from kueuepy.session.submission import Keys, Submitted, latest_time, of_jobs, plain
from kueuepy.session.time import Duration, Moment, duration_ns, later, moment_ns

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from kueuepy.objects import Configuration
    from kueuepy.session.checks import Check, CheckAnswer
    from kueuepy.whatif import Difference, Edit

T = TypeVar("T", bound=Object)


@checked_methods
class Scheduler(SchedulerWorkloads):
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
            checks: Who answers the admission checks, by controllerName (see `kueuepy.session.checks`); one that nobody
                answers waits for `set_check`.
            stopping: How long the pods of an evicted job take to end; until then the workload keeps its quota.

        Raises:
            InvalidSpecError: This is no Cluster, or a job is not valid.
            NotFoundError: A job names a priority class that isn't there.
        """
        if not isinstance(cluster, Cluster):
            raise InvalidSpecError(f"Scheduler: {cluster!r} is no Cluster; make one of objects: Cluster(*objects)")
        self.lock = RLock()
        self._checks = checks_of(checks or {})
        self._configuration = cluster.configuration
        self._related = tuple(map(plain, cluster.manifest.others))
        self._store = Store()
        self._count = 0
        self._engine = _core.Engine(self._configuration)
        self._engine.set_now(latest_time(cluster) if now is None else moment_ns(now))
        self._engine.set_stop_delay(duration_ns(stopping))
        for obj in cluster.objects():
            if not isinstance(obj, Workload):
                self._apply(obj)
        self._take(Submitted(workload) for workload in cluster.workloads)
        with jobs_placed(cluster.manifest):
            self._take(self._checked(of_jobs(cluster.jobs, self.job_context())))

    # What happens to it.

    @changing
    def submit(self, *items: Any, keep_status: bool = False) -> Keys:
        """New workloads; either all of them are taken, or none.

        Nobody admits their own: as for an API server, the status of a Workload that is created doesn't count.

        Args:
            items: Workloads; manifests of jobs of every kind that Kueue knows, or of Workloads; rows as dicts (see
                `kueuepy.jobs.from_row`); frames of pandas or polars; or lists of these. A workload without a creation
                time is created now; one without a uid, which breaks ties, gets one in the order of submission.
            keep_status: Whether Workloads come as they are elsewhere, such as in a dump: with their quota, their
                conditions and checks.

        An elastic job that is there is resized: one that holds quota and wants more gets a second Workload, a slice
        that replaces the first as soon as it has its quota; any other keeps its Workload, with the new number of pods.

        Returns:
            The key of each workload, `namespace/name`; `remarks` name those that wait for a queue that is not there.

        Raises:
            DuplicateError: A workload of this key exists already.
            InvalidSpecError: Something is not valid.
            NotFoundError: A job names a priority class that isn't there.
        """
        found = [resized(self, one) for one in self.valid_submissions(items, keep_status=keep_status)]
        taken = self._take(one.new for one in found if one.new is not None)
        self.apply(*(one.changed for one in found if one.changed is not None))
        keys = Keys(one.key for one in found)
        keys.remarks = taken.remarks
        return keys

    @changing
    def apply(self, *objects: Object) -> None:
        """Creates the objects, or changes those of the same kind and name, as `kubectl apply` does.

        The status of a Workload doesn't count; what it has by now decides which changes Kueue allows
        (`pkg/webhooks/workload_webhook.go:ValidateWorkloadUpdate`).

        Raises:
            InvalidSpecError: An object, or the change of it, is not valid.
        """
        for obj in objects:
            expect_object("apply", obj)
            known = self._live(obj)
            gates = self._configuration.gates
            if known is None:
                check(obj, feature_gates=gates)
            elif problems := validate_update(known, _changed(known, obj), feature_gates=gates):
                raise ManifestError([(f'{type(obj).__name__} "{obj.key}"', problem) for problem in problems])
        self._touch()
        for obj in objects:
            if isinstance(obj, Workload):
                self._apply_workload(obj)
            else:
                self._apply(obj)

    @changing
    def remove(self, *objects: Object) -> None:
        """Deletes the objects of these kinds and names; either all of them, or none.

        Raises:
            NotFoundError: There is no such object.
            InvalidSpecError: One is no object, or is named twice.
        """
        for obj in objects:
            expect_object("remove", obj)
            if self._find(obj) is None:
                raise NotFoundError(f'{type(obj).__name__} "{obj.key}": there is no such object')
        each_once("remove", (f'{type(obj).__name__} "{obj.key}"' for obj in objects))
        self._touch()
        for obj in objects:
            if isinstance(obj, Workload):
                self.delete(obj.key)
            else:
                self._remove(obj)

    @alone
    def answer_checks(self, checks: Mapping[str, Check]) -> None:
        """These answer the admission checks from now on, by controllerName; those of before do no longer.

        Raises:
            InvalidSpecError: They are no mapping of names to functions or controllers.
        """
        self._checks = checks_of(checks)

    # Time, and what Kueue does in it.

    @changing
    def advance(self, duration: Duration) -> None:
        """Time passes; what is due then happens with the next `cycle` or `settle`.

        Raises:
            InvalidSpecError: It is no duration, is below 0, or goes beyond the last time that fits 64 bits.
        """
        call = calls.Advance(later(self._engine.now, duration))
        self._touch()
        self._engine.set_now(call.now)
        self._tell(call)

    @changing
    def cycle(self) -> Cycle:
        """Lets the controllers catch up, then runs one scheduling cycle.

        Returns:
            The decision about each head, one for each ClusterQueue where somebody waits.
        """
        self._touch()
        self._control()
        cycle = self._noted(Cycle(self._engine.decide()))
        self._tell(calls.Cycle(), [cycle])
        return cycle

    @changing
    def settle(self, *, max_cycles: int | None = None) -> Settled:
        """Runs cycles and controllers until nothing changes any more at this time.

        Kueue can preempt for ever (kubernetes-sigs/kueue#14543). Then the same state comes again, and this returns
        with the loop as data: its shortest period, and who moves in it; one for each tree of cohorts that goes round.

        Args:
            max_cycles: The most cycles to run; none by default.

        Raises:
            InvalidSpecError: `max_cycles` is no integer.
        """
        max_cycles = calls.Settle(max_cycles).checked().max_cycles
        self._touch()
        waits = self._configuration.wait_for_pods_ready
        apart = not self._checks and (waits is None or not waits.block_admission)
        return settle(
            self._engine, self._noted, max_cycles, control=self._control, apart=apart, retries=bool(self._checks)
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all that it knows to a file, as plain data; one that is there already is replaced at once.

        Raises:
            StateError: The file cannot be written.
        """
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        saved.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scheduler:
        """The Scheduler that `save` has written: what it decides from now on is what would have been decided.

        Raises:
            NotFoundError: The file cannot be read.
            InvalidSpecError: It is no saved state, or is damaged.
            UnsupportedError: A later version of kueuepy has written it.
        """
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        return Scheduler.of_parts(saved.load(path))

    @alone
    def whatif(self, *edits: Edit) -> Difference[Scheduler]:
        """What would be decided otherwise after edits, both sides settled; nothing changes here.

        Args:
            edits: Objects to apply, a Configuration, or functions that change the Scheduler which they are given.
        """
        from kueuepy.whatif import difference  # noqa: PLC0415 - only on use

        return difference(self, edits)

    @alone
    def under(self, configuration: Configuration) -> Scheduler:
        """A Scheduler under another Configuration: the same objects, and the workloads with the status they have now.

        Raises:
            InvalidSpecError: Something is not valid under it.
        """
        objects = [obj for obj in self.cluster.objects() if not isinstance(obj, Workload)]
        cluster = Cluster(objects, configuration=configuration, names=False)
        fresh = Scheduler(cluster, now=0, checks=self._checks)
        fresh.engine.set_now(self._engine.now)
        fresh.submit(*map(self.workload, self.keys()), keep_status=True)
        return fresh

    def __copy__(self) -> Scheduler:
        """A fork."""
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> Scheduler:
        """A fork: it shares nothing that either side changes."""
        return self.fork()

    def __reduce__(self) -> tuple[Callable[[bytes], Scheduler], tuple[bytes]]:
        """What `save` writes; so functions that answer admission checks are not in a pickle."""
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        return _unpickled, (saved.to_bytes(self),)

    def __repr__(self) -> str:
        """Its time, and how many workloads there are."""
        return f"<Scheduler at {self.now:g} s: {len(self._store.workloads)} workloads>"

    _repr_html_ = repr_html

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
            request = CheckRequest(workload, declared, self._engine.now, parameters_of(declared, self._related))
            if (said := answer(controller, request)) is not None:
                answers.append((found, name, said))
        return answers

    def _controlled(self) -> None:
        """Kueue's controllers ran before checks were answered."""

    def _live(self, obj: Object) -> Object | None:
        """The object of the same kind and name as it is now, if there is one."""
        known = self._find(obj)
        return self.workload(obj.key) if isinstance(known, Workload) else known

    def _find(self, obj: Object) -> Object | None:
        if isinstance(obj, Workload):
            return self._store.workloads.get(obj.key)
        return self._store.objects.get((type(obj), obj.key))

    def _apply(self, obj: Object) -> None:
        known = self._store.objects.get((type(obj), obj.key))
        if not isinstance(obj, PASSIVE):
            self._engine.apply(obj, known != obj)
        self._store.objects.put((type(obj), obj.key), obj)

    def _remove(self, obj: Object) -> None:
        call = calls.Remove.of(obj)
        if not isinstance(obj, PASSIVE):
            self._engine.delete_object(call.kind, call.namespace, call.name)
        self._store.objects.drop((type(obj), obj.key))
        self._tell(call)

    def _apply_workload(self, obj: Workload) -> None:
        known = self._store.workloads.get(obj.key)
        if known is None:
            self._take([Submitted(msgspec.structs.replace(obj, status=None))])
            return
        obj = _changed(known, obj)
        self._engine.update(self.id_of(obj.key), obj, changed=not obj.has_spec_of(known))
        self._store.workloads.put(obj.key, obj)

    def _noted(self, cycle: Cycle) -> Cycle:
        """Remembers how workloads were admitted, for explanations."""
        if cycle.admitted_count:
            for decision in cycle:
                if isinstance(decision, Admitted):
                    self._store.admitted.put(decision.workload, decision)
        return cycle


def _changed(known: Object, obj: T) -> T:
    """What an API server makes of a change: a Workload keeps the status of the one that is there, and its creation."""
    if not (isinstance(known, Workload) and isinstance(obj, Workload)):
        return obj
    created = known.creation_timestamp
    return msgspec.structs.replace(obj, uid=obj.uid or known.uid, creation_timestamp=created, status=known.status)


def _unpickled(data: bytes) -> Scheduler:
    from kueuepy.session import saved  # noqa: PLC0415 - only on use

    return Scheduler.of_parts(saved.from_bytes(data, name="pickle"))
