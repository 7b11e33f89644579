"""A Hypothesis state machine that performs the actions of a cluster's users and administrators in random order."""

import pickle
from typing import ClassVar

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import DataObject, SearchStrategy

from kueuepy.cluster import Cluster
from kueuepy.engine.decisions import Admitted
from kueuepy.engine.records import NO_CONDITION
from kueuepy.errors import InvalidSpecError, nearest
from kueuepy.objects import Workload
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.testing.strategies import clusters, edits, workloads

_MOST_WORKLOADS = 12
_MOST_CYCLES = 60


class SchedulerMachine(RuleBasedStateMachine):
    """A Hypothesis state machine that runs random actions on a Scheduler.

    The actions submit, finish and delete workloads, change quotas and policies, run cycles, ask questions, fork, save
    and load. Derive a class and add `@hypothesis.stateful.invariant()` methods that check `self.scheduler`, or override
    `settled`, which is called whenever the Scheduler has settled. pytest runs `YourMachine.TestCase`.

    Attributes:
        clusters: The strategy for the initial cluster.
        workload_lists: A method that returns the strategy for the workloads of one submission, given the cluster and a
            name prefix.
        scheduler: The Scheduler.

    Example:
        >>> class WithoutBorrowing(SchedulerMachine):
        ...     clusters = clusters(cohorts=0, preemption=False)
        ...     def settled(self):
        ...         assert all(row["usage"] <= row["nominal_quota"] for row in self.scheduler.usage)
        >>> TestWithoutBorrowing = WithoutBorrowing.TestCase
    """

    clusters: ClassVar[SearchStrategy[Cluster]] = clusters()
    scheduler: Scheduler

    def __init_subclass__(cls) -> None:
        """Check that a derived class has no attribute that nothing reads, such as `cluster` for `clusters`.

        Raises:
            InvalidSpecError: An attribute is not used, but similar to one that is.
        """
        super().__init_subclass__()
        known = [name for name in dir(SchedulerMachine) if not name.startswith("_")]
        for name, value in vars(cls).items():
            is_own = name.startswith("_") or name in known or callable(value) or isinstance(value, Bundle)
            if not is_own and (meant := nearest(name, known)):
                raise InvalidSpecError(f'{cls.__name__}: "{name}" has no effect; did you mean "{meant}"?')

    def workload_lists(self, cluster: Cluster, prefix: str) -> SearchStrategy[list[Workload]]:
        """Return the strategy for one submission: 1 to 3 workloads for any LocalQueue of the cluster."""
        return workloads(cluster, min_size=1, max_size=3, prefix=prefix)

    def settled(self) -> None:
        """Check assertions about the settled Scheduler; override this method to add assertions."""

    @initialize(data=st.data())
    def start(self, data: DataObject) -> None:
        """Create the Scheduler."""
        self.scheduler = Scheduler(data.draw(self.clusters, label="cluster"), now=0)
        self._submissions = 0

    @precondition(lambda self: len(self.scheduler.keys()) < _MOST_WORKLOADS)
    @rule(data=st.data())
    def submit(self, data: DataObject) -> None:
        """Submit workloads."""
        self._submissions += 1
        made = self.workload_lists(self.scheduler.cluster, f"w{self._submissions}")
        self.scheduler.submit(data.draw(made, label="workloads"))

    @precondition(lambda self: self._running())
    @rule(data=st.data())
    def finish(self, data: DataObject) -> None:
        """Finish an admitted workload."""
        self.scheduler.finish(data.draw(st.sampled_from(self._running()), label="finished"))

    @precondition(lambda self: self.scheduler.keys())
    @rule(data=st.data())
    def delete(self, data: DataObject) -> None:
        """Delete a workload in any state."""
        self.scheduler.delete(data.draw(st.sampled_from(self.scheduler.keys()), label="deleted"))

    @precondition(lambda self: self.scheduler.keys())
    @rule(data=st.data(), priority=st.integers(-2, 2))
    def prioritize(self, data: DataObject, priority: int) -> None:
        """Change the priority of a workload."""
        key = data.draw(st.sampled_from(self.scheduler.keys()), label="workload")
        self.scheduler.apply(msgspec.structs.replace(self.scheduler.workload(key), priority=priority))

    @rule(data=st.data())
    def edit(self, data: DataObject) -> None:
        """Change a queue or a cohort."""
        self.scheduler.apply(data.draw(edits(self.scheduler.cluster), label="edit"))

    @rule(seconds=st.integers(1, 60))
    def wait(self, seconds: int) -> None:
        """Advance the virtual time."""
        self.scheduler.advance(seconds)

    @rule()
    def cycle(self) -> None:
        """Run one scheduling cycle."""
        self.scheduler.cycle()

    @rule()
    def settle(self) -> None:
        """Run cycles until nothing changes, or until a preemption loop is found."""
        if self.scheduler.settle(max_cycles=_MOST_CYCLES).finished:
            self.settled()

    @rule()
    def fork(self) -> None:
        """Fork the Scheduler, check that changes to the original do not affect the fork, and continue with the fork."""
        # The fingerprint covers the whole state, also what no query shows.
        before = session_of(self.scheduler).engine.fingerprint()
        twin = self.scheduler.fork()
        self.scheduler.cycle()
        assert session_of(twin).engine.fingerprint() == before, "a fork changed with its original"
        # The original has changed, so that the twin is the one whose history is known.
        self.scheduler = twin

    @precondition(lambda self: self.scheduler.keys())
    @rule(data=st.data())
    def ask(self, data: DataObject) -> None:
        """Ask for an explanation and a decision, and check that the Scheduler does not change."""
        before = session_of(self.scheduler).engine.fingerprint()
        key = data.draw(st.sampled_from(self.scheduler.keys()), label="asked about")
        explanation = self.scheduler.explain(key)
        if explanation.verdict == "Fits":
            assert isinstance(self.scheduler.try_admit(key), Admitted), "what fits would not be admitted"
        assert session_of(self.scheduler).engine.fingerprint() == before, "a question changed something"

    @rule()
    def restart(self) -> None:
        """Save and load the Scheduler, and continue with the loaded Scheduler."""
        data = pickle.dumps(self.scheduler)
        self.scheduler = pickle.loads(data)  # noqa: S301 - written in the line before
        assert pickle.dumps(self.scheduler) == data, "the loaded state differs from the saved one"

    @invariant()
    def sound(self) -> None:
        """Check the engine's internal invariants."""
        problems = session_of(self.scheduler).engine.check()
        assert not problems, problems

    def _running(self) -> list[str]:
        """Return the keys of the workloads that are admitted and not finished."""
        engine, running = session_of(self.scheduler).engine, []
        for key in self.scheduler.keys():  # noqa: SIM118 - a Scheduler is not a mapping
            conditions = engine.conditions(engine.find(key))
            if "Finished" not in conditions and conditions.get("Admitted", NO_CONDITION).is_true:
                running.append(key)
        return running
