"""Read-only methods of a Scheduler: explanations, what-if questions and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy._core import ask_session
from kueuepy.errors import InvalidSpecError, KueueError, StateError, checked_methods
from kueuepy.errors.arguments import checks_itself, raise_fault
from kueuepy.objects import SECOND, ResourceFlavor
from kueuepy.session.changes import take_all, valid_submissions
from kueuepy.session.session import Session
from kueuepy.session.variants import is_parent

if TYPE_CHECKING:
    from collections.abc import Iterable
    from threading import RLock

    from kueuepy._core import Engine, Question
    from kueuepy.cluster import Cluster
    from kueuepy.engine.decisions import Decision
    from kueuepy.engine.tables import QueueTable, QuotaTable, ShareTable, UsageTable, WorkloadTable
    from kueuepy.explain import Explanation
    from kueuepy.explain.whatif import Answers
    from kueuepy.objects import Configuration, Workload
    from kueuepy.session.state import SchedulerState
    from kueuepy.topology import RackMap


@checked_methods
class SchedulerQuestions:
    """Methods of a Scheduler that do not change its state.

    Attributes:
        session: The session that holds the state and serialises the calls.
    """

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
        """The Kueue Configuration that the Scheduler was created with."""
        return self._state.configuration

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """The parts of the objects and the Configuration that kueuepy does not model and that could change a decision.

        Example:
            >>> from kueuepy import Cluster, Configuration, Scheduler
            >>> gates = Configuration(feature_gates={"SchedulerLibraryIntegration": True})
            >>> Scheduler(Cluster(configuration=gates)).not_modelled[0].partition(" is true")[0]
            'Configuration: featureGates.SchedulerLibraryIntegration:'
        """
        with self._lock:
            return self._state.not_modelled

    @property
    def cluster(self) -> Cluster:
        """The declared objects in their current form, without Workloads."""
        with self._lock:
            return self._state.cluster()

    @property
    def now(self) -> float:
        """The current virtual time, in seconds since the Unix epoch; with a clock, the time of the last change."""
        return self._engine.now / SECOND

    def workload(self, key: str) -> Workload:
        """Return a Workload with its current status: conditions, admission and admission checks.

        Args:
            key: The workload's key, `namespace/name`; the namespace can be omitted if it is `default`. The name of the
                workload's job is also a valid key.

        Returns:
            The Workload as it was submitted, with its current status.

        Raises:
            NotFoundError: No workload has this key.
        """
        with self._lock:
            return self._state.workload(key)

    def keys(self) -> tuple[str, ...]:
        """Return the keys of all workloads, including finished workloads, in the order of submission."""
        with self._lock:
            return self._state.keys()

    def fingerprint(self) -> int:
        """Return a number that is the same for Schedulers in the same state.

        For Schedulers in different states, the numbers are almost certainly different.
        """
        with self._lock:
            return self._engine.fingerprint()

    def explain(self, item: Any) -> Explanation:
        """Explain why a workload is pending, admitted or preempted.

        Args:
            item: The key of a workload; or an unsubmitted Workload, job manifest or row, which is explained as if it
                were submitted now.

        Returns:
            The explanation.

        Raises:
            NotFoundError: No workload has this key.
            InvalidSpecError: The item is not valid, or it stands for several workloads.

        Example:
            >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
            >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
            >>> keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 9})
            >>> settled = scheduler.settle()
            >>> scheduler.explain("job").workload
            'default/job'
        """
        from kueuepy.explain import explain  # noqa: PLC0415 - only on use

        with self._lock:
            state = self._state
            if not isinstance(item, str):
                new = valid_submissions(state, [item])
                if len(new) != 1:
                    raise InvalidSpecError(f"explain: is {len(new)} workloads; it must be one")
                # A workload that is only asked about must not stay.
                trial = Session(state.fork())
                item, state = take_all(trial, new)[0], trial.state
            found = state.id_of(item)
            # The admissions of the last cycles are stored only when a change or a question needs them.
            state.add_admissions()
            decided = state.store.admitted.get(state.engine.key(found))
            fair = state.configuration.fair_sharing is not None
            beside: tuple[str, ...] = ()
            if is_parent(state.known(found)):
                beside = (f"{item}: no cycle considers this workload, but its variants: explain one of them",)
            return explain(
                state.engine,
                found,
                decided,
                fair=fair,
                known=state.store.workloads.get,
                not_modelled=(*state.not_modelled, *beside),
            )

    @checks_itself
    def try_admit(self, item: Any) -> Decision:
        """Return the decision that a cycle would make now if it considered only this workload.

        The Scheduler does not change. With the gate `ConcurrentAdmission`, the workload is treated as one without
        variants.

        Args:
            item: A Workload, a job manifest, a row, a `Question`, or the key of a pending workload.

        Returns:
            `Admitted`, `Preempting` or `Pending`.

        Raises:
            InvalidSpecError: The item is not valid, or it stands for several workloads.
            NotFoundError: No workload has this key.

        Example:
            >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
            >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
            >>> scheduler.try_admit({"name": "job", "queue": "team", "cpu": 9}).reason
            'ExceedsMaxQuota'
        """
        try:
            decision = ask_session(self._session, item)
            if decision is None:  # neither a Question nor a row of plain values
                from kueuepy.explain.whatif import ask_one  # noqa: PLC0415 - only on use

                with self._lock:
                    decision = ask_one(self._state, item)
        except KueueError:
            raise
        except Exception as error:
            raise_fault(SchedulerQuestions.try_admit, (self, item), {}, error)
            raise
        return decision

    def try_admit_many(self, items: Iterable[Any]) -> Answers:
        """Return the decision of `try_admit` for each of several workloads, each considered separately.

        One call with many workloads is much faster than many calls of `try_admit`. The Scheduler does not change.

        Args:
            items: Workloads, job manifests, rows, keys of pending workloads, or results of `question`.

        Returns:
            A sequence with one decision per workload, in the order of the items. A job that results in several
            workloads has several decisions.

        Raises:
            InvalidSpecError: An item is not valid.
            NotFoundError: One of the keys is not the key of a workload.
        """
        from kueuepy.explain.whatif import ask  # noqa: PLC0415 - only on use

        with self._lock:
            return ask(self._state, items)

    def question(self, item: Any) -> Question:
        """Parse a workload once, so that `try_admit` can be called for it repeatedly.

        Args:
            item: A Workload, a job manifest, a row, or the key of a workload.

        Returns:
            The parsed workload, accepted by `try_admit`, `try_admit_many` and `largest_count`.

        Raises:
            InvalidSpecError: The item is not valid, or it stands for several workloads.
            NotFoundError: No workload has this key.
        """
        from kueuepy.explain.whatif import question  # noqa: PLC0415 - only on use

        with self._lock:
            return question(self._state, item)

    def largest_count(self, item: Any, *, pod_set: str | None = None, preempting: bool = False) -> int:
        """Return the largest number of pods with which the workload would be admitted now.

        The number n is found by bisection: the workload would be admitted with n pods but not with n + 1. Call
        `try_admit` to see why even one pod would not be admitted.

        Args:
            item: A Workload, a job manifest, a row, a `Question`, or the key of a workload. The pod count in the item
                is ignored.
            pod_set: The name of the pod set whose count varies. Default: the first pod set.
            preempting: Whether a workload that must preempt other workloads counts as admitted. Default: False.

        Returns:
            The number of pods; 0 if not even one pod would be admitted.

        Raises:
            InvalidSpecError: The item is not valid, or it stands for several workloads.
            NotFoundError: The workload's queue or the pod set does not exist.
        """
        from kueuepy.explain.whatif import largest_count  # noqa: PLC0415 - only on use

        with self._lock:
            return largest_count(self._state, item, pod_set=pod_set, preempting=preempting)

    # Topologies.

    def topology(self, name: str, *, flavor: str | None = None) -> RackMap:
        """Return the current map of a topology: its domains, their free capacity, and the workloads in them.

        Args:
            name: The name of the Topology.
            flavor: The ResourceFlavor whose nodes are shown. `flavor` is required only if several flavors use the
                topology.

        Returns:
            The map.

        Raises:
            NotFoundError: The Topology does not exist, or no flavor uses it.
            InvalidSpecError: Several flavors use the topology, and `flavor` is not given.
        """
        from kueuepy.topology import rack_map  # noqa: PLC0415 - only on use

        with self._lock:
            return rack_map(self._state, name, flavor)

    # Tables.

    @property
    def usage(self) -> UsageTable:
        """The usage of each ClusterQueue and Cohort, for each flavor and resource."""
        from kueuepy.engine.tables import UsageTable  # noqa: PLC0415 - only on use

        return UsageTable(self._engine)

    @property
    def quota(self) -> QuotaTable:
        """The quotas and limits of each ClusterQueue and Cohort, by flavor and resource, and derived values."""
        from kueuepy.engine.tables import QuotaTable  # noqa: PLC0415 - only on use

        return QuotaTable(self._engine)

    @property
    def shares(self) -> ShareTable:
        """The dominant resource share of each ClusterQueue and Cohort."""
        from kueuepy.engine.tables import share_table  # noqa: PLC0415 - only on use

        return share_table(self._engine)

    @property
    def queues(self) -> QueueTable:
        """The pending workloads of each ClusterQueue, in queue order."""
        from kueuepy.engine.tables import queue_table  # noqa: PLC0415 - only on use

        return queue_table(self._engine)

    @property
    def workloads(self) -> WorkloadTable:
        """All workloads with their queue, status, reason and times."""
        from kueuepy.engine.tables import workload_table  # noqa: PLC0415 - only on use

        return workload_table(self._engine)

    @property
    def consumed(self) -> dict[str, dict[str, str]]:
        """Past usage of each LocalQueue by resource, under admission fair sharing; it decays with time."""
        with self._lock:
            return self._engine.consumed()

    # Jobs.

    def start_patch(self, key: str) -> dict[str, Any]:
        """Return the JSON merge patch with which Kueue starts the job of an admitted workload.

        Kueue suspends a job when it is created. The patch resumes the job and adds the node selectors, tolerations and
        other fields of the admission.

        Args:
            key: The key of the workload.

        Returns:
            The patch for the job's manifest.

        Raises:
            NotFoundError: No workload has this key.
            StateError: The workload was not submitted as a job, or it is not admitted.
            InvalidSpecError: A field that the admission adds conflicts with the job.
        """
        from kueuepy.jobs import start_patch  # noqa: PLC0415 - only on use

        with self._lock:
            state, flavors = self._state, self._state.store.objects.of(ResourceFlavor)
            held, workload = self._held_job(key), self.workload(key)
            return start_patch(held, workload, flavors, config=state.configuration, related=state.related)

    def stop_patch(self, key: str, *, running: dict[str, Any] | None = None) -> dict[str, Any] | None:
        """Return the JSON merge patch with which Kueue stops the job of a workload.

        Args:
            key: The key of the workload.
            running: The job's current manifest. Default: if the workload is admitted, the job with the changes of
                `start_patch`; otherwise the suspended job.

        Returns:
            The patch for the job's manifest, or `None` for pods, because Kueue deletes them.

        Raises:
            NotFoundError: No workload has this key.
            StateError: The workload was not submitted as a job.
        """
        from kueuepy.jobs import apply_patch, stop_patch  # noqa: PLC0415 - only on use

        with self._lock:
            workload = self.workload(key)
            if running is None:
                running = self._held_job(key)
                if workload.status is not None and workload.status.is_true("Admitted"):
                    # A job that runs has what its start has added, such as node selectors.
                    running = apply_patch(running, self.start_patch(key))
            return stop_patch(running, workload, config=self.configuration, related=self._state.related)

    def _held_job(self, key: str) -> dict[str, Any]:
        from kueuepy.jobs import suspend  # noqa: PLC0415 - only on use

        full = self._engine.key(self._state.id_of(key))
        job = self._state.store.jobs.get(full)
        if job is None:
            raise StateError(f'Workload "{full}": was not submitted as a job; there is no manifest to patch')
        return suspend(job, config=self.configuration, related=self._state.related)
