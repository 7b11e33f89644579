"""A state machine that does to a cluster what its users and administrators do, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kueuepy.decisions import Admitted
from kueuepy.engine.workloads import NO_CONDITION, conditions_of
from kueuepy.persist import from_bytes, to_bytes
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.testing.strategies import clusters, edits, workloads

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject, SearchStrategy

    from kueuepy.cluster import Cluster
    from kueuepy.objects import Workload

_MOST_WORKLOADS = 12
_MOST_CYCLES = 60


class SchedulerMachine(RuleBasedStateMachine):
    """Submits, finishes and deletes workloads, edits quotas and policies, lets cycles run, asks, forks, saves, loads.

    Derive from it and add `@hypothesis.stateful.invariant()` methods that look at `self.scheduler`, or override
    `settled`, which is called where nothing changes any more. `YourMachine.TestCase` is what pytest runs:

    >>> class Promises(SchedulerMachine):
    ...     clusters = clusters(cohorts=0, preemption=False)
    ...     def settled(self):
    ...         assert all(not owed(self.scheduler, queue.name) for queue in self.scheduler.cluster.cluster_queues)
    >>> TestPromises = Promises.TestCase

    Attributes:
        clusters: The strategy of the clusters that it starts from.
        workload_lists: Given the cluster and a prefix of names, the strategy of what one submission brings.
        scheduler: The Scheduler.
    """

    clusters: ClassVar[SearchStrategy[Cluster]] = clusters()
    scheduler: Scheduler

    def workload_lists(self, cluster: Cluster, prefix: str) -> SearchStrategy[list[Workload]]:
        """What one submission brings: one to three workloads for any of the cluster's LocalQueues (see `workloads`)."""
        return workloads(cluster, min_size=1, max_size=3, prefix=prefix)

    def settled(self) -> None:
        """Called whenever nothing changes any more; assert here what you promise."""

    @initialize(data=st.data())
    def start(self, data: DataObject) -> None:
        """Makes the Scheduler."""
        self.scheduler = Scheduler(data.draw(self.clusters, label="cluster"), now=0)
        self._submissions = 0

    @precondition(lambda self: len(self.scheduler.keys()) < _MOST_WORKLOADS)
    @rule(data=st.data())
    def submit(self, data: DataObject) -> None:
        """Submits some workloads."""
        self._submissions += 1
        made = self.workload_lists(self.scheduler.cluster, f"w{self._submissions}")
        self.scheduler.submit(data.draw(made, label="workloads"))

    @precondition(lambda self: self._running())
    @rule(data=st.data())
    def finish(self, data: DataObject) -> None:
        """The job of an admitted workload completes."""
        self.scheduler.finish(data.draw(st.sampled_from(self._running()), label="finished"))

    @precondition(lambda self: self.scheduler.keys())
    @rule(data=st.data())
    def delete(self, data: DataObject) -> None:
        """A workload is deleted, whatever its state."""
        self.scheduler.delete(data.draw(st.sampled_from(self.scheduler.keys()), label="deleted"))

    @precondition(lambda self: self.scheduler.keys())
    @rule(data=st.data(), priority=st.integers(-2, 2))
    def prioritize(self, data: DataObject, priority: int) -> None:
        """A workload's priority changes."""
        key = data.draw(st.sampled_from(self.scheduler.keys()), label="workload")
        self.scheduler.apply(msgspec.structs.replace(self.scheduler.workload(key), priority=priority))

    @rule(data=st.data())
    def edit(self, data: DataObject) -> None:
        """An administrator changes a queue or a cohort."""
        self.scheduler.apply(data.draw(edits(self.scheduler.cluster), label="edit"))

    @rule(seconds=st.integers(1, 60))
    def wait(self, seconds: int) -> None:
        """Time goes by."""
        self.scheduler.advance(seconds)

    @rule()
    def cycle(self) -> None:
        """One scheduling cycle."""
        self.scheduler.cycle()

    @rule()
    def settle(self) -> None:
        """Cycles until nothing changes, or until preemption turns out to go on for ever."""
        if self.scheduler.settle(max_cycles=_MOST_CYCLES).finished:
            self.settled()

    @rule()
    def fork(self) -> None:
        """A fork goes its own way, and the original doesn't notice; the machine goes on with the fork."""
        before = session_of(self.scheduler).engine.fingerprint()
        twin = self.scheduler.fork()
        self.scheduler.cycle()
        assert session_of(twin).engine.fingerprint() == before, "a fork changed with its original"
        self.scheduler = twin

    @precondition(lambda self: self.scheduler.keys())
    @rule(data=st.data())
    def ask(self, data: DataObject) -> None:
        """Somebody asks why a workload is where it is, and what would be decided; that changes nothing."""
        before = session_of(self.scheduler).engine.fingerprint()
        key = data.draw(st.sampled_from(self.scheduler.keys()), label="asked about")
        explanation = self.scheduler.explain(key)
        if explanation.verdict == "Fits":
            assert isinstance(self.scheduler.try_admit(key), Admitted), "what fits would not be admitted"
        assert session_of(self.scheduler).engine.fingerprint() == before, "a question changed something"

    @rule()
    def restart(self) -> None:
        """The Scheduler is saved and loaded again; the machine goes on with what was loaded."""
        saved = to_bytes(self.scheduler)
        self.scheduler = from_bytes(saved)
        assert to_bytes(self.scheduler) == saved, "what was saved is not what was loaded"

    @invariant()
    def sound(self) -> None:
        """The engine's numbers and lists are what they are by definition."""
        problems = session_of(self.scheduler).engine.check()
        assert not problems, problems

    def _running(self) -> list[str]:
        """The workloads that are admitted and not finished."""
        engine, running = session_of(self.scheduler).engine, []
        for key in self.scheduler.keys():  # noqa: SIM118 - a Scheduler is no mapping
            conditions = conditions_of(engine, engine.find(key))
            if "Finished" not in conditions and conditions.get("Admitted", NO_CONDITION).is_true:
                running.append(key)
        return running
