"""The Scheduler class: a cluster on which Kueue's scheduler and controllers run in virtual time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from kueuepy.cluster import Cluster
from kueuepy.engine.threads import for_cycles
from kueuepy.errors import checked_methods, counted
from kueuepy.look.notebook import repr_html, repr_text
from kueuepy.objects import Object, Workload
from kueuepy.scheduler.questions import SchedulerQuestions
from kueuepy.session import calls, changes
from kueuepy.session.checks import CheckAnswer, checks_of
from kueuepy.session.session import Session, session_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from typing_extensions import Self

    from kueuepy.engine.cycle import Cycle, Settled
    from kueuepy.explain.whatif import Difference, Edit
    from kueuepy.objects import CheckState, Configuration, Duration, FinishReason, TimeLike
    from kueuepy.session.checks import Check
    from kueuepy.session.session import Log
    from kueuepy.session.state import SchedulerState
    from kueuepy.session.submission import Keys


S = TypeVar("S", bound="Scheduler")


@checked_methods
class Scheduler(SchedulerQuestions):
    """A cluster on which Kueue's scheduler and controllers run in virtual time.

    The Scheduler works on its own copy of the objects, so the Cluster from which it was created never changes. Virtual
    time passes only when you call `advance`; with `clock="system"`, the Scheduler has the current time instead. Kueue's
    controllers run between cycles: they release the quota of evicted workloads, requeue these workloads, process
    admission checks, and enforce timeouts.

    A lock serialises the calls on one Scheduler. Different Schedulers, including forks, can be used by different
    threads at the same time.

    Example:
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
        now: TimeLike | None = None,
        checks: Mapping[str, Check] | None = None,
        stopping: Duration = 0,
        threads: int | None = None,
        clock: Literal["system"] | None = None,
    ) -> None:
        """Create a Scheduler with all objects, Workloads (with their status) and jobs of a cluster.

        Args:
            cluster: The cluster to start from.
            now: The initial virtual time: seconds since the Unix epoch, an RFC 3339 string or a datetime with a time
                zone. Default: the latest time recorded in a Workload of the cluster, or 0 if there is none; with a
                clock, the current time if it is later.
            checks: The functions or controllers that answer the admission checks, keyed by controllerName (see
                `kueuepy.session.checks`). A check without a function stays `Pending` until you call `set_check`.
            stopping: The time that the pods of an evicted job take to terminate, as seconds or a string such as
                `"30s"`. Until its pods terminate, the workload keeps its quota. Default: 0.
            threads: The number of threads on which cycles with at least 64 heads nominate the heads of different
                cohort trees. Default: the number of available cores. No decision depends on the number of threads, and
                a saved state does not contain it.
            clock: `"system"` for a service: each call that changes the Scheduler begins with the current time, which
                the calls record. Forks, and a Scheduler that is loaded without a clock, have virtual time. Default:
                virtual time, which only `advance` changes.

        Raises:
            InvalidSpecError: `cluster` is not a Cluster, or a job is not valid.
            NotFoundError: A job names a priority class that does not exist.
        """
        self._session = changes.start(cluster, now=now, checks=checks, stopping=stopping)
        self._session.engine.set_threads(*for_cycles(threads))
        self._session.follow(clock)

    # Calls that change the cluster.

    def submit(self, *items: Any, keep_status: bool = False) -> Keys:
        """Submit new workloads. The call is atomic: it accepts all workloads or none.

        The status of a submitted Workload is ignored, as an API server ignores the status of a created object. A
        workload that exists already is left as it is, so a call can be repeated if its answer was lost.

        If an elastic job with the name of a submitted job exists, the existing job is resized. If the Workload of the
        job holds quota and the job grows, a second Workload (a slice) is created, which replaces the first Workload
        when Kueue reserves quota for the slice. If no slice is needed, the number of pods of the existing Workload
        changes.

        Args:
            items: Workloads; manifests of Workloads or of any kind of job that Kueue manages; rows as dicts (see
                `kueuepy.jobs.from_row`); pandas or polars data frames; or iterables of these. A workload without a
                creation time receives the current virtual time. A workload without a uid receives one in the order of
                submission, because the uid breaks ties in the queue order.
            keep_status: Whether to keep the status of the Workloads: admission, conditions and admission checks. Use
                `keep_status=True` for Workloads dumped from another cluster. Default: False.

        Returns:
            The key of each workload, `namespace/name`. The attribute `remarks` lists the workloads whose queue does not
            exist, and `existing` the keys of the workloads that existed already.

        Raises:
            DuplicateError: A different workload with this key already exists; the message names the fields that differ.
            InvalidSpecError: An item is not valid.
            NotFoundError: A job names a priority class that does not exist.
        """
        return changes.submit(self._session, items, keep_status=keep_status)

    def apply(self, *declared: Object) -> None:
        """Create objects, or change the objects of the same kind and name, as `kubectl apply` does.

        The status of a Workload in `declared` is ignored. The current status of the existing Workload determines which
        changes are allowed. Source: `pkg/webhooks/workload_webhook.go:ValidateWorkloadUpdate`.

        Args:
            declared: The complete objects.

        Raises:
            InvalidSpecError: An object or a change is not valid. All objects are validated before the first one is
                changed.
        """
        changes.apply(self._session, declared)

    def patch(self, *manifests: Mapping[str, Any]) -> None:
        """Change the fields that partial manifests contain, as `kubectl apply` does; see `Cluster.patch`.

        The call is atomic.

        Args:
            manifests: Partial manifests, each with `kind`, `metadata.name` and the fields to change; `None` removes a
                field. A manifest of an object that does not exist must be complete, and creates the object.

        Raises:
            InvalidSpecError: An object or a change is not valid.
            NotFoundError: The object of a manifest without `apiVersion` does not exist.
        """
        from kueuepy.cluster.patch import patched  # noqa: PLC0415 - only on use
        from kueuepy.explain.whatif import existing_in  # noqa: PLC0415

        with self._session.change():
            # All manifests are merged first, so that an error in one of them changes nothing.
            there = existing_in(self)
            changes.apply(self._session, [patched(there, manifest).object for manifest in manifests])

    def remove(self, *declared: Object) -> None:
        """Delete the objects of the given kinds and names. The call is atomic.

        Args:
            declared: The objects; only their kind, namespace and name are used.

        Raises:
            NotFoundError: An object to delete does not exist.
            InvalidSpecError: An argument is not an object, or an object is named twice.
        """
        changes.remove(self._session, declared)

    def answer_checks(self, checks: Mapping[str, Check]) -> None:
        """Replace the functions and controllers that answer admission checks.

        Args:
            checks: The functions or controllers, keyed by controllerName. Previous functions and controllers are no
                longer called.

        Raises:
            InvalidSpecError: `checks` is not a mapping of strings to functions or controllers.
        """
        with self._lock:
            self._state.checks = checks_of(checks)

    def finish(self, *keys: str, reason: FinishReason = "Succeeded", message: str = "") -> None:
        """Mark workloads as finished and release their quota. The call is atomic.

        Args:
            keys: The keys of the workloads.
            reason: The reason of the condition `Finished`: `Succeeded`, `Failed`, `FailedToStart` if `start_patch`
                could not start the job, `OutOfSync` if a prebuilt Workload does not match its job, or `OwnerNotFound`
                if the owner of the workload no longer exists. Default: `Succeeded`.
            message: The message of the condition. Default: Kueue's message.

        Raises:
            NotFoundError: No workload has this key.
            StateError: A workload is already finished.
            InvalidSpecError: An argument has a wrong type, the reason does not exist, or a workload is named twice.
        """
        changes.finish(self._session, [calls.Finish(key, reason, message) for key in keys])

    def delete(self, *keys: str) -> None:
        """Delete workloads. The call is atomic.

        Args:
            keys: The keys of the workloads.

        Raises:
            NotFoundError: No workload has this key.
            InvalidSpecError: A key is not a string, or a workload is named twice.
        """
        changes.delete(self._session, keys)

    def set_check(
        self,
        key: str,
        check_name: str,
        state: CheckState | Mapping[str, Any],
        *,
        message: str | None = None,
        requeue_after: Duration | None = None,
        pod_set_updates: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """Set the state of an admission check of a workload, as the check's controller does.

        Args:
            key: The key of the workload.
            check_name: The name of the AdmissionCheck.
            state: The new state. The workload can start once all its checks are `Ready`. `Retry` evicts and requeues
                the workload, `Rejected` evicts and deactivates it, and `Pending` leaves it waiting. For a check of the
                controller `kueue.x-k8s.io/provisioning-request`, you can pass the status of the workload's
                ProvisioningRequest instead, as in a manifest: `{"conditions": [{"type": "Failed", "status": "True",
                "message": "…"}]}`. The state, the message, the delay and the updates then follow from the status.
            message: The message of the check in the workload's status. Default: the previous message.
            requeue_after: With `Retry`, the time for which the workload keeps its quota before it is evicted and
                requeued, as seconds or a string such as `"5m"`. Default: no delay.
            pod_set_updates: Changes to pod sets that apply when the job starts, written as in a manifest: `{"name":
                "main", "nodeSelector": {…}}`. The changes to pod sets are removed when the workload is evicted.

        Raises:
            NotFoundError: No workload has this key.
            StateError: The workload has no quota, and therefore no ProvisioningRequest.
            InvalidSpecError: An argument has a wrong type, the state or a pod set does not exist, or the updates of a
                check that is already `Ready` would change.
        """
        if isinstance(state, Mapping):
            changes.report_request(self._session, key, check_name, state)
            return
        said = CheckAnswer(state, message, requeue_after, tuple(pod_set_updates))
        changes.set_check(self._session, key, check_name, said)

    def pods_ready(self, key: str, ready: bool = True) -> None:  # noqa: FBT001, FBT002 - reads well in either form
        """Set whether all pods of a workload's job are ready.

        Args:
            key: The key of the workload.
            ready: Whether all pods are ready. Default: True.

        Raises:
            NotFoundError: No workload has this key.
            InvalidSpecError: `ready` is not a boolean.
        """
        changes.pods_ready(self._session, key, ready)

    def job_stopped(self, key: str, after: Duration = 0) -> None:
        """Record that the pods of an evicted workload's job have terminated, or when they will terminate.

        The first `settle` or `cycle` at or after the time of termination releases the workload's quota. The argument
        `after` overrides the Scheduler's `stopping` delay.

        Args:
            key: The key of the workload.
            after: The time from now until the pods terminate, as seconds or a string such as `"30s"`. Default: 0.

        Raises:
            NotFoundError: No workload has this key.
            StateError: The workload is not evicted, or it holds no quota.
            InvalidSpecError: `after` is not a duration.
        """
        changes.job_stopped(self._session, key, after)

    def reclaim(self, key: str, pods: int | Mapping[str, int]) -> None:
        """Set the number of reclaimable pods of a workload: pods that no longer need their quota.

        Args:
            key: The key of the workload.
            pods: The total number of reclaimable pods by pod set. For a workload with one pod set, the number can be
                passed without the name of the pod set.

        Raises:
            NotFoundError: No workload has this key.
            InvalidSpecError: A count is not a number, exceeds the size of the pod set, or decreases while the workload
                holds quota; or a pod set does not exist.
        """
        changes.reclaim(self._session, key, pods)

    # Time and scheduling cycles.

    def advance(self, duration: Duration) -> None:
        """Advance the virtual time. Timeouts that expire take effect in the next `cycle` or `settle`.

        A workload whose retention is over (`objectRetentionPolicies`) is also deleted by the next `cycle` or `settle`.

        Args:
            duration: The time to pass, as seconds or a string such as `"2h"`; at least 0.

        Raises:
            InvalidSpecError: The duration is not valid or is negative, or the new time is later than the year 2262 (the
                limit of 64-bit nanoseconds).
            StateError: The Scheduler has the time of a clock.
        """
        changes.advance(self._session, duration)

    def cycle(self) -> Cycle:
        """Run the controllers until nothing changes, then run one scheduling cycle.

        Returns:
            The decisions of the cycle: one for the head of each ClusterQueue that has pending workloads.
        """
        return changes.cycle(self._session)

    def settle(self, *, max_cycles: int | None = None) -> Settled:
        """Run cycles and controllers until nothing changes at the current time.

        Preemption in Kueue can loop indefinitely (kubernetes-sigs/kueue#14543). If a state repeats, the method stops
        and returns the loop, with its shortest period and its workloads. There is at most one loop per cohort tree.

        Args:
            max_cycles: The maximum number of cycles to run. Default: no limit.

        Returns:
            The cycles that were run, and the loops that were found.

        Raises:
            InvalidSpecError: `max_cycles` is not an integer.
        """
        return changes.settle(self._session, max_cycles)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the complete state to a file. An existing file is replaced atomically and keeps its mode.

        Only the owner can read a new file. Functions that answer admission checks are not saved.

        Args:
            path: The file.

        Raises:
            StateError: The file cannot be written.
            InvalidSpecError: An object contains a number that does not fit into 64 bits.
        """
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        saved.save(self._session, path)

    @staticmethod
    def load(path: str | os.PathLike[str], *, clock: Literal["system"] | None = None) -> Scheduler:
        """Read a Scheduler from a file written by `save`.

        The loaded Scheduler makes the same decisions as the saved Scheduler would have made. Functions that answer
        admission checks are not saved in the file; pass them to `answer_checks` after loading.

        Args:
            path: The file.
            clock: The clock of the Scheduler, as for a new one.

        Returns:
            The Scheduler.

        Raises:
            NotFoundError: The file cannot be read.
            InvalidSpecError: The file is not a saved state, or it is damaged.
            UnsupportedError: A later version of kueuepy wrote the file.
        """
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        loaded = scheduler_with(Scheduler, saved.load(path))
        session_of(loaded).follow(clock)
        return loaded

    def whatif(self, *edits: Edit) -> Difference[Scheduler]:
        """Compare the settled state with and without a set of edits. This Scheduler does not change.

        Args:
            edits: Objects to apply; partial manifests as dicts, which change only the fields they contain; values by
                path, such as `{"ClusterQueue/team-a:quota[h100/nvidia.com/gpu].nominalQuota": 16}`; a Configuration; or
                functions that change the Scheduler passed to them.

        Returns: The workloads whose outcome differs, and both Schedulers after they have settled.

        Raises:
            NotFoundError: A path does not match any object or field.
            InvalidSpecError: An edit is not valid.
        """
        from kueuepy.explain.whatif import difference  # noqa: PLC0415 - only on use

        with self._lock:
            return difference(self, edits)

    def with_configuration(self, configuration: Configuration) -> Scheduler:
        """Return a copy of this Scheduler with a different Configuration. Workloads keep their current status.

        Args:
            configuration: The new Configuration.

        Returns: A new Scheduler; this Scheduler does not change.

        Raises:
            InvalidSpecError: An object or workload is not valid under the new Configuration.
        """
        with self._lock:
            declared = [obj for obj in self.cluster.objects() if not isinstance(obj, Workload)]
            cluster = Cluster(declared, configuration=configuration, names=False)
            fresh = Scheduler(cluster, now=0, checks=self._state.checks)
            fresh._state.related = self._state.related
            fresh._engine.set_now(self._engine.now)
            # With their status, what is admitted stays admitted under the new settings.
            fresh.submit(*map(self.workload, self.keys()), keep_status=True)
            return fresh

    def fork(self) -> Self:
        """Return an independent copy of this Scheduler.

        Forking does not copy the state: both Schedulers share the state until one of them changes it (copy on write).
        """
        session = self._session
        with session.lock:
            return scheduler_with(type(self), session.state.fork())

    def __copy__(self) -> Scheduler:
        """Return a fork."""
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> Scheduler:
        """Return a fork."""
        return self.fork()

    def __reduce__(self) -> tuple[Callable[[bytes], Scheduler], tuple[bytes]]:
        """Pickle the data that `save` writes; functions that answer admission checks are not included."""
        from kueuepy.session import saved  # noqa: PLC0415 - only on use

        return _unpickled, (saved.to_bytes(self._session),)

    def __repr__(self) -> str:
        """Return the virtual time and the number of workloads."""
        return f"<Scheduler at {self.now:.12g} s: {counted(len(self._state.store.workloads), 'workload')}>"

    def __str__(self) -> str:
        """Return the number of workloads by status, and the usage of each Cohort and ClusterQueue as a table."""
        from kueuepy.scheduler.shown import sheet_of, title_of  # noqa: PLC0415 - only on use

        title = title_of(self.now, len(self._state.store.workloads))
        return repr_text([sheet_of(self.usage, self.workloads, title, self.now)], self)

    _repr_html_ = repr_html


def scheduler_with(kind: type[S], state: SchedulerState, log: Log | None = None) -> S:
    """Return a Scheduler with a given state; each call that changes the state is written to the log."""
    scheduler = kind.__new__(kind)
    scheduler._session = Session(state, log)  # noqa: SLF001 - it is being made
    return scheduler


def _unpickled(data: bytes) -> Scheduler:
    from kueuepy.session import saved  # noqa: PLC0415 - only on use

    return scheduler_with(Scheduler, saved.from_bytes(data, name="pickle"))
