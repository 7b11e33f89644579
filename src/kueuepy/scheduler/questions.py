"""What one asks a Scheduler: why, what if, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects import SECOND, ResourceFlavor
from kueuepy.session.session import Session
from kueuepy.session.workloads import take_all, valid_submissions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from threading import RLock

    from kueuepy._core import Engine, Question
    from kueuepy.cluster import Cluster
    from kueuepy.decisions import Decision
    from kueuepy.engine.tables import QueueTable, QuotaTable, ShareTable, UsageTable, WorkloadTable
    from kueuepy.explain import Explanation
    from kueuepy.objects import Configuration, Workload
    from kueuepy.session.state import SchedulerState
    from kueuepy.topology import RackMap
    from kueuepy.whatif import Answers


@checked_methods
class SchedulerQuestions:
    """Questions that change nothing."""

    _session: Session

    @property
    def _state(self) -> SchedulerState:
        return self._session.state

    @property
    def _lock(self) -> RLock:
        return self._session.lock

    @property
    def _engine(self) -> Engine:
        return self._session.state.engine

    @property
    def configuration(self) -> Configuration:
        """The policies that it was made with."""
        return self._state.configuration

    @property
    def cluster(self) -> Cluster:
        """The declared objects as they are now, without Workloads."""
        with self._lock:
            return self._state.cluster()

    @property
    def now(self) -> float:
        """The time, in seconds since the Unix epoch."""
        return self._engine.now / SECOND

    def workload(self, key: str) -> Workload:
        """The Workload with the status that it has now: conditions, admission, checks.

        Raises:
            NotFoundError: There is no such workload.
        """
        with self._lock:
            return self._state.workload(key)

    def keys(self) -> tuple[str, ...]:
        """The keys of all workloads, in the order of submission, finished ones included."""
        with self._lock:
            return self._state.keys()

    def fingerprint(self) -> int:
        """Return a number that is equal for two Schedulers in the same state, and almost surely not for others."""
        with self._lock:
            return self._engine.fingerprint()

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

        with self._lock:
            state = self._state
            if not isinstance(item, str):
                new = valid_submissions(state, [item])
                if len(new) != 1:
                    raise InvalidSpecError(f"explain: is {len(new)} workloads; it must be one")
                trial = Session(state.fork())
                item, state = take_all(trial, new)[0], trial.state
            found = state.id_of(item)
            decided = state.store.admitted.get(state.engine.key(found))
            fair = state.configuration.fair_sharing is not None
            return explain(state.engine, found, decided, fair=fair, known=state.store.workloads.get)

    def try_admit(self, item: Any) -> Decision:
        """What a cycle would answer if this workload alone were considered now; nothing changes.

        Args:
            item: A Workload, a job, a row, or the key of a workload that waits.

        Raises:
            InvalidSpecError: It is not valid, or is several workloads.
            NotFoundError: There is no such workload.
        """
        from kueuepy.whatif import ask_one  # noqa: PLC0415 - only on use

        with self._lock:
            return ask_one(self._state, item)

    def try_admit_many(self, items: Iterable[Any]) -> Answers:
        """`try_admit` for each of many workloads, each considered alone; much faster than one by one.

        Args:
            items: Workloads, jobs, rows, keys of workloads that wait, or what `question` has prepared.
        """
        from kueuepy.whatif import ask  # noqa: PLC0415 - only on use

        with self._lock:
            return ask(self._state, items)

    def question(self, item: Any) -> Question:
        """A workload read once, to be asked about again and again."""
        from kueuepy.whatif import question  # noqa: PLC0415 - only on use

        with self._lock:
            return question(self._state, item)

    def largest_count(self, item: Any, *, pod_set: str | None = None, preempting: bool = False) -> int:
        """The largest number of pods with which the workload would be admitted now; 0 if not even one would.

        Why not even one would is the answer of `try_admit`.

        Args:
            item: A Workload, a job or a row; the count that it has doesn't matter.
            pod_set: Which pod set to grow; the first one by default.
            preempting: Whether it counts if others must be preempted.

        Raises:
            InvalidSpecError: It is not valid, or is several workloads.
            NotFoundError: Its queue is not there, or the pod set is not.
        """
        from kueuepy.whatif import largest_count  # noqa: PLC0415 - only on use

        with self._lock:
            return largest_count(self._state, item, pod_set=pod_set, preempting=preempting)

    # Topologies.

    def topology(self, name: str, *, flavor: str | None = None) -> RackMap:
        """A topology as it is now: its domains, what is free in them, and who is there.

        Args:
            name: The Topology.
            flavor: Which ResourceFlavor's nodes, where several have the topology.

        Raises:
            NotFoundError: No flavor has the topology, or it is not there.
            InvalidSpecError: Several flavors have it, and none is named.
        """
        from kueuepy.topology import rack_map  # noqa: PLC0415 - only on use

        with self._lock:
            return rack_map(self._state, name, flavor)

    # Tables.

    @property
    def usage(self) -> UsageTable:
        """What each ClusterQueue and Cohort uses, of each flavor and resource."""
        from kueuepy.engine.tables import usage_table  # noqa: PLC0415 - only on use

        return usage_table(self._engine)

    @property
    def quota(self) -> QuotaTable:
        """The quotas of each ClusterQueue and Cohort, and what follows from them."""
        from kueuepy.engine.tables import quota_table  # noqa: PLC0415 - only on use

        return quota_table(self._engine)

    @property
    def shares(self) -> ShareTable:
        """The dominant resource share of each ClusterQueue and Cohort."""
        from kueuepy.engine.tables import share_table  # noqa: PLC0415 - only on use

        return share_table(self._engine)

    @property
    def queues(self) -> QueueTable:
        """Who waits in each ClusterQueue, in order."""
        from kueuepy.engine.tables import queue_table  # noqa: PLC0415 - only on use

        return queue_table(self._engine)

    @property
    def workloads(self) -> WorkloadTable:
        """Every workload: where it is, since when, and why."""
        from kueuepy.engine.tables import workload_table  # noqa: PLC0415 - only on use

        return workload_table(self._engine)

    @property
    def consumed(self) -> dict[str, dict[str, str]]:
        """Past usage of each LocalQueue by resource, under admission fair sharing; it decays with time."""
        with self._lock:
            return self._engine.consumed()

    # Jobs.

    def start_patch(self, key: str) -> dict[str, Any]:
        """The JSON merge patch by which Kueue starts the workload's job, which it has held back when it came.

        Raises:
            StateError: The workload was not submitted as a job, or is not admitted.
            InvalidSpecError: What the admission adds contradicts the job.
        """
        from kueuepy.jobs import start_patch  # noqa: PLC0415 - only on use

        with self._lock:
            state, flavors = self._state, self._state.store.objects.of(ResourceFlavor)
            held, workload = self._held_job(key), self.workload(key)
            return start_patch(held, workload, flavors, config=state.configuration, related=state.related)

    def stop_patch(self, key: str, *, running: dict[str, Any] | None = None) -> dict[str, Any] | None:
        """The JSON merge patch by which Kueue stops the workload's job; `None` for pods, which it deletes.

        Args:
            key: The workload's.
            running: The job's manifest as it is now. Without it, an admitted workload's job is as `start_patch` starts
                it; any other is held back, and nothing has to change.

        Raises:
            StateError: The workload was not submitted as a job.
        """
        from kueuepy.jobs import apply_patch, stop_patch  # noqa: PLC0415 - only on use

        with self._lock:
            workload = self.workload(key)
            if running is None:
                running = self._held_job(key)
                if workload.status is not None and workload.status.is_true("Admitted"):
                    running = apply_patch(running, self.start_patch(key))
            return stop_patch(running, workload, config=self.configuration, related=self._state.related)

    def _held_job(self, key: str) -> dict[str, Any]:
        from kueuepy.jobs import suspend  # noqa: PLC0415 - only on use

        full = self._engine.key(self._state.id_of(key))
        job = self._state.store.jobs.get(full)
        if job is None:
            raise StateError(f'Workload "{full}": was not submitted as a job; there is no manifest to patch')
        return suspend(job, config=self.configuration, related=self._state.related)
