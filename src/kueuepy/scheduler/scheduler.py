"""Scheduler: a cluster that runs, in virtual time, as Kueue would run it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.cluster import Cluster
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.words import counted
from kueuepy.notebook import repr_html
from kueuepy.objects import Object, Workload
from kueuepy.scheduler.questions import SchedulerQuestions
from kueuepy.session import calls, cycles, objects, workloads
from kueuepy.session.checks import CheckAnswer, checks_of
from kueuepy.session.session import Session
from kueuepy.session.starting import start

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from typing_extensions import Self

    from kueuepy.engine.cycle import Cycle, Settled
    from kueuepy.objects import Configuration
    from kueuepy.objects.status import CheckState, FinishReason
    from kueuepy.session.checks import Check
    from kueuepy.session.session import Log
    from kueuepy.session.state import SchedulerState
    from kueuepy.session.submission import Keys, SubmittedWorkload
    from kueuepy.session.time import Duration, Moment
    from kueuepy.whatif import Difference, Edit


@checked_methods
class Scheduler(SchedulerQuestions):
    """Kueue on a cluster of its own: it owns a copy, and nothing that happens to it changes the Cluster it came from.

    Time stands still until `advance`. Between cycles Kueue's controllers run: evicted workloads give their quota back
    and queue again, checks and timeouts are acted on. Calls on one Scheduler are serialised by a lock; different
    Schedulers, forks included, may run in different threads.

    >>> from kueuepy import Admitted, Cluster, ClusterQueue, PodSet, ResourceFlavor, Workload
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
        self.session = start(cluster, now=now, checks=checks, stopping=stopping)

    # What happens to it.

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
        return objects.submit(self.session, items, keep_status=keep_status)

    def apply(self, *declared: Object) -> None:
        """Creates the objects, or changes those of the same kind and name, as `kubectl apply` does.

        The status of a Workload doesn't count; what it has by now decides which changes Kueue allows
        (`pkg/webhooks/workload_webhook.go:ValidateWorkloadUpdate`).

        Raises:
            InvalidSpecError: An object, or the change of it, is not valid.
        """
        objects.apply(self.session, declared)

    def patch(self, *manifests: Mapping[str, Any]) -> None:
        """Changes the fields that partial manifests have, as `kubectl apply` does; see `Cluster.patch`.

        Args:
            manifests: Each has `kind`, `metadata.name` and the fields to change; `None` removes a field. An object that
                is not there is created, and must be complete.

        Raises:
            InvalidSpecError: An object, or the change of it, is not valid; then nothing changes.
        """
        from kueuepy.cluster.patch import patched  # noqa: PLC0415 - only on use
        from kueuepy.whatif import objects_of  # noqa: PLC0415

        with self.lock:
            there = objects_of(self)
            objects.apply(self.session, [patched(there, manifest).object for manifest in manifests])

    def remove(self, *declared: Object) -> None:
        """Deletes the objects of these kinds and names; either all of them, or none.

        Raises:
            NotFoundError: There is no such object.
            InvalidSpecError: One is no object, or is named twice.
        """
        objects.remove(self.session, declared)

    def answer_checks(self, checks: Mapping[str, Check]) -> None:
        """These answer the admission checks from now on, by controllerName; those of before do no longer.

        Raises:
            InvalidSpecError: They are no mapping of names to functions or controllers.
        """
        with self.lock:
            self.state.checks = checks_of(checks)

    def finish(self, *keys: str, reason: FinishReason = "Succeeded", message: str = "") -> None:
        """The jobs of these workloads are done, and their quota is free; either all of them, or none.

        Args:
            keys: The workloads.
            reason: `Succeeded`, `Failed`, or `FailedToStart` where `start_patch` found no way to start the job.
            message: What the condition says; the usual words if empty.

        Raises:
            NotFoundError: There is no such workload.
            StateError: It is finished already.
            InvalidSpecError: An argument has a wrong type, there is no such reason, or a workload is named twice.
        """
        workloads.finish(self.session, [calls.Finish(key, reason, message) for key in keys])

    def delete(self, *keys: str) -> None:
        """The workloads are gone; either all of them, or none.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: A key is no text, or a workload is named twice.
        """
        workloads.delete(self.session, keys)

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
            InvalidSpecError: An argument has a wrong type, there is no such state or pod set, or a check that is Ready
                changes its updates.
        """
        said = CheckAnswer(state, message, requeue_after, tuple(pod_set_updates))
        workloads.set_check(self.session, key, check_name, said)

    def pods_ready(self, key: str, ready: bool = True) -> None:  # noqa: FBT001, FBT002 - reads well in either form
        """All pods of the workload's job are ready, or not all of them any more.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: `ready` is neither true nor false.
        """
        workloads.pods_ready(self.session, key, ready)

    def job_stopped(self, key: str, after: Duration = 0) -> None:
        """Record that the pods of an evicted workload's job have ended, or when they will.

        The workload gives its quota back with the next `settle` or `cycle` from that time on, whatever `stopping` says.

        Args:
            key: The workload.
            after: The time until the pods end, from now.

        Raises:
            NotFoundError: There is no such workload.
            StateError: The workload is not evicted, or holds no quota.
            InvalidSpecError: `after` is not a duration.
        """
        workloads.job_stopped(self.session, key, after)

    def reclaim(self, key: str, pods: int | Mapping[str, int]) -> None:
        """Pods of the workload no longer need their quota.

        Args:
            key: The workload.
            pods: How many in all so far, by pod set; a number alone is of the only pod set.

        Raises:
            NotFoundError: There is no such workload.
            InvalidSpecError: A number is none, a pod set is unknown, or has fewer pods; or fewer than before, or none
                any more, are reclaimable while the workload holds quota.
        """
        workloads.reclaim(self.session, key, pods)

    # Time, and what Kueue does in it.

    def advance(self, duration: Duration) -> None:
        """Time passes; what is due then happens with the next `cycle` or `settle`.

        Raises:
            InvalidSpecError: It is no duration, is below 0, or goes beyond the last time that fits 64 bits.
        """
        cycles.advance(self.session, duration)

    def cycle(self) -> Cycle:
        """Lets the controllers catch up, then runs one scheduling cycle.

        Returns:
            The decision about each head, one for each ClusterQueue where somebody waits.
        """
        return cycles.cycle(self.session)

    def settle(self, *, max_cycles: int | None = None) -> Settled:
        """Runs cycles and controllers until nothing changes any more at this time.

        Kueue can preempt for ever (kubernetes-sigs/kueue#14543). Then the same state comes again, and this returns
        with the loop as data: its shortest period, and who moves in it; one for each tree of cohorts that goes round.

        Args:
            max_cycles: The most cycles to run; none by default.

        Raises:
            InvalidSpecError: `max_cycles` is no integer.
        """
        return cycles.settle(self.session, max_cycles)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all that it knows to a file, as plain data; one that is there already is replaced at once.

        Raises:
            StateError: The file cannot be written.
        """
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        saved.save(self.session, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scheduler:
        """The Scheduler that `save` has written: what it decides from now on is what would have been decided.

        Raises:
            NotFoundError: The file cannot be read.
            InvalidSpecError: It is no saved state, or is damaged.
            UnsupportedError: A later version of kueuepy has written it.
        """
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        return Scheduler.of_state(saved.load(path))

    def whatif(self, *edits: Edit) -> Difference[Scheduler]:
        """What would be decided otherwise after edits, both sides settled; nothing changes here.

        Args:
            edits: Objects to apply; manifests as dicts, of which only the fields that they have are changed; values by
                path, such as `{"ClusterQueue/team-a:quota[h100/nvidia.com/gpu].nominalQuota": 16}`; a Configuration; or
                functions that change the Scheduler which they are given.
        """
        from kueuepy.whatif import difference  # noqa: PLC0415 - only on use

        with self.lock:
            return difference(self, edits)

    def with_configuration(self, configuration: Configuration) -> Scheduler:
        """A Scheduler under another Configuration: the same objects, and the workloads with the status they have now.

        Raises:
            InvalidSpecError: Something is not valid under it.
        """
        with self.lock:
            declared = [obj for obj in self.cluster.objects() if not isinstance(obj, Workload)]
            cluster = Cluster(declared, configuration=configuration, names=False)
            fresh = Scheduler(cluster, now=0, checks=self.state.checks)
            fresh.engine.set_now(self.engine.now)
            fresh.submit(*map(self.workload, self.keys()), keep_status=True)
            return fresh

    def fork(self) -> Self:
        """A Scheduler with the same state, at once; what happens to one of the two is not seen by the other."""
        with self.lock:
            return self.of_state(self.state.fork())

    @classmethod
    def of_state(cls, state: SchedulerState, log: Log | None = None) -> Self:
        """The Scheduler that consists of this state; a log hears of each call that changes it."""
        scheduler = cls.__new__(cls)
        scheduler.session = Session(state, log)
        return scheduler

    def take(self, one: SubmittedWorkload) -> None:
        """A workload comes as it is, with its status and without checks: what `submit` does after them.

        Raises:
            DuplicateError: A workload of this key exists already.
            InvalidSpecError: The engine cannot read it.
        """
        workloads.take(self.session, one)

    def __copy__(self) -> Scheduler:
        """A fork."""
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> Scheduler:
        """A fork: it shares nothing that either side changes."""
        return self.fork()

    def __reduce__(self) -> tuple[Callable[[bytes], Scheduler], tuple[bytes]]:
        """What `save` writes; so functions that answer admission checks are not in a pickle."""
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        return _unpickled, (saved.to_bytes(self.session),)

    def __repr__(self) -> str:
        """Its time, and how many workloads there are."""
        return f"<Scheduler at {self.now:g} s: {counted(len(self.state.store.workloads), 'workload')}>"

    _repr_html_ = repr_html


def _unpickled(data: bytes) -> Scheduler:
    from kueuepy.session import saved  # noqa: PLC0415 - only on use

    return Scheduler.of_state(saved.from_bytes(data, name="pickle"))
