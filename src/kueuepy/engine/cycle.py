"""The results of scheduling cycles: a single cycle, a sequence of cycles, and preemption loops."""

from collections.abc import Iterator, Sequence
from typing import cast, overload

import msgspec

from kueuepy._core import Decisions
from kueuepy.engine.decisions import Admitted, Decision, Pending, Preempting
from kueuepy.errors import checked_methods, counted
from kueuepy.look.notebook import repr_html


class _Counts(msgspec.Struct, frozen=True):
    """The counts of a cycle that was read from a pickle."""

    idle: bool
    admitted: int
    evicted: int
    heads: int
    ahead: int = 0

    def __len__(self) -> int:
        return self.heads


@checked_methods
class Cycle(Sequence[Decision]):
    """The decisions of one scheduling cycle, ordered by ClusterQueue name. Kueue collects the heads in random order.

    A Cycle is immutable. The decision objects are created on first access.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
        >>> keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 1})
        >>> scheduler.cycle()
        <Cycle: 1 admitted, 0 preempting, 0 pending>
    """

    __slots__ = ("_decided", "_made")

    def __init__(self, decided: Decisions | _Counts, made: tuple[Decision, ...] | None = None) -> None:
        """Create a Cycle from the engine's decisions, or from the counts and all decisions of a pickle."""
        self._decided, self._made = decided, made

    def __reduce__(self) -> "tuple[type[Cycle], tuple[_Counts, tuple[Decision, ...]]]":
        """Pickle the counts and all decisions."""
        # The decisions of the core cannot be pickled, but the Python objects made from them can.
        counts = _Counts(self.idle, self.admitted_count, self.evicted_count, len(self), self.ahead)
        return Cycle, (counts, self.decisions)

    @property
    def idle(self) -> bool:
        """Whether the cycle had no heads."""
        return self._decided.idle

    @property
    def admitted_count(self) -> int:
        """The number of workloads for which quota was reserved."""
        return self._decided.admitted

    @property
    def evicted_count(self) -> int:
        """The number of workloads that this cycle newly preempted."""
        return self._decided.evicted

    @property
    def ahead(self) -> int:
        """The number of workloads in BestEffortFIFO queues that have not been heads yet.

        While no workload is admitted, evicted or requeued, this number never increases.
        """
        return self._decided.ahead

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions."""
        if self._made is None:
            self._made = cast("Decisions", self._decided).all()
        return self._made

    @property
    def admitted(self) -> tuple[Admitted, ...]:
        """The decisions that reserved quota."""
        return tuple(d for d in self.decisions if isinstance(d, Admitted))

    @property
    def preempting(self) -> tuple[Preempting, ...]:
        """The decisions that preempt other workloads."""
        return tuple(d for d in self.decisions if isinstance(d, Preempting))

    @property
    def pending(self) -> tuple[Pending, ...]:
        """The decisions that keep workloads waiting."""
        return tuple(d for d in self.decisions if isinstance(d, Pending))

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        """Return one decision, or a tuple of decisions for a slice."""
        return self.decisions[index]

    def __len__(self) -> int:
        """Return the number of heads."""
        return len(self._decided)

    def __iter__(self) -> Iterator[Decision]:
        """Iterate over the decisions in order."""
        return iter(self.decisions)

    def __repr__(self) -> str:
        """Return the number of decisions of each kind."""
        if self.idle:
            return "<Cycle: idle>"
        preempting, pending = len(self.preempting), len(self.pending)
        return f"<Cycle: {self.admitted_count} admitted, {preempting} preempting, {pending} pending>"

    _repr_html_ = repr_html


class Loop(msgspec.Struct, frozen=True):
    """A preemption loop: after `period` cycles, the same state repeats.

    An admission that is repeatedly revoked by an admission check is also a loop. In Kueue, the workloads of a loop are
    preempted again and again (kubernetes-sigs/kueue#14543). Loops are most common with fair sharing, but classical
    preemption can cause them as well.

    Attributes:
        period: The smallest number of cycles after which the same state repeats.
        workloads: The keys of the workloads that are repeatedly admitted or preempted, sorted.
        cycles: The cycles of one period.

    Example:
        >>> str(Loop(2, ("default/a", "default/b"), ()))
        'endless retry: the same decisions every 2 cycles for default/a, default/b'
    """

    period: int
    workloads: tuple[str, ...]
    cycles: tuple[Cycle, ...]

    def __str__(self) -> str:
        """Return a description of the loop in one sentence."""
        what = "preemption" if any(cycle.evicted_count for cycle in self.cycles) else "retry"
        names = ", ".join(self.workloads)
        return f"endless {what}: the same decisions every {counted(self.period, 'cycle')} for {names}"


@checked_methods
class Settled(Sequence[Cycle]):
    """The cycles that were run until nothing changed.

    Attributes:
        loops: The preemption loops that were found, at most one per cohort tree.
        finished: Whether further cycles would change nothing. `finished` is False if there is a loop or `max_cycles`
            was reached.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
        >>> keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 1})
        >>> scheduler.settle()
        <Settled: 1 cycle, 1 admitted, 0 preempted>
    """

    __slots__ = ("_cycles", "finished", "loops")

    def __init__(self, cycles: Sequence[Cycle], loops: Sequence[Loop], *, finished: bool) -> None:
        """Create the result from the cycles that were run and the preemption loops that were found."""
        self._cycles = tuple(cycles)
        self.loops = tuple(loops)
        self.finished = finished

    @property
    def loop(self) -> Loop | None:
        """The first loop; `None` if there is no loop."""
        return self.loops[0] if self.loops else None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions of all cycles, in order."""
        return tuple(decision for cycle in self._cycles for decision in cycle)

    @property
    def admitted(self) -> tuple[Admitted, ...]:
        """The decisions that reserved quota, in order."""
        return tuple(decision for cycle in self._cycles for decision in cycle.admitted)

    @property
    def preempted(self) -> tuple[str, ...]:
        """The keys of the preempted workloads, in order."""
        return tuple(t.workload for cycle in self._cycles for d in cycle.preempting for t in d.targets)

    @overload
    def __getitem__(self, index: int) -> Cycle: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Cycle, ...]: ...
    def __getitem__(self, index: int | slice) -> Cycle | tuple[Cycle, ...]:
        """Return one cycle, or a tuple of cycles for a slice."""
        return self._cycles[index]

    def __len__(self) -> int:
        """Return the number of cycles."""
        return len(self._cycles)

    def __repr__(self) -> str:
        """Return a summary: the numbers of cycles, admissions and preemptions, and each preemption loop."""
        admitted = sum(cycle.admitted_count for cycle in self._cycles)
        evicted = sum(cycle.evicted_count for cycle in self._cycles)
        state = "".join(f"; {loop}" for loop in self.loops) or ("" if self.finished else "; not finished")
        return f"<Settled: {counted(len(self), 'cycle')}, {admitted} admitted, {evicted} preempted{state}>"

    _repr_html_ = repr_html
