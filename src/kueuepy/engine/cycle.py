"""Cycles in a row, until nothing changes or the same comes again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast, overload

import msgspec

from kueuepy.decisions import Admitted, Decision, Pending, Preempting
from kueuepy.engine.decided import NotModelled, from_record
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.words import counted
from kueuepy.notebook import repr_html

if TYPE_CHECKING:
    from collections.abc import Callable

    from kueuepy._core import Decisions


class _Counts(msgspec.Struct, frozen=True):
    """The numbers of a cycle whose decisions were made in another process."""

    idle: bool
    admitted: int
    evicted: int
    heads: int
    ahead: int = 0

    def __len__(self) -> int:
        return self.heads


@checked_methods
class Cycle(Sequence[Decision]):
    """The decisions of one scheduling cycle, in the order in which Kueue takes the heads: by ClusterQueue name.

    The decisions are made when they are looked at, from facts that the cycle left; a Cycle never changes.
    """

    __slots__ = ("_decided", "_made", "_not_modelled")

    def __init__(self, decided: Decisions, not_modelled: NotModelled | None = None) -> None:
        """Holds what the engine has decided, and what is not modelled of whom, by key, which is not to change."""
        self._decided: Decisions | _Counts = decided
        self._not_modelled: NotModelled = {} if not_modelled is None else not_modelled
        self._made: tuple[Decision, ...] | None = None

    def __reduce__(self) -> tuple[Callable[..., Cycle], tuple[_Counts, tuple[Decision, ...]]]:
        """The numbers and all decisions, for a copy in another process."""
        counts = _Counts(self.idle, self.admitted_count, self.evicted_count, len(self), self.ahead)
        return _made_already, (counts, self.decisions)

    @property
    def idle(self) -> bool:
        """Whether there was no head to decide about."""
        return self._decided.idle

    @property
    def admitted_count(self) -> int:
        """How many workloads got quota."""
        return self._decided.admitted

    @property
    def evicted_count(self) -> int:
        """How many workloads are newly preempted."""
        return self._decided.evicted

    @property
    def ahead(self) -> int:
        """How many workloads of BestEffortFIFO queues are still to be heads; while nobody moves it only falls."""
        return self._decided.ahead

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions."""
        if self._made is None:
            decided = cast("Decisions", self._decided)
            self._made = tuple(from_record(decided[i], self._not_modelled) for i in range(len(decided)))
        return self._made

    @property
    def admitted(self) -> tuple[Admitted, ...]:
        """Those that got quota."""
        return tuple(d for d in self.decisions if isinstance(d, Admitted))

    @property
    def preempting(self) -> tuple[Preempting, ...]:
        """Those that wait for others to leave."""
        return tuple(d for d in self.decisions if isinstance(d, Preempting))

    @property
    def pending(self) -> tuple[Pending, ...]:
        """Those that keep waiting."""
        return tuple(d for d in self.decisions if isinstance(d, Pending))

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        """One decision, or several."""
        return self.decisions[index]

    def __len__(self) -> int:
        """How many heads there were."""
        return len(self._decided)

    def __iter__(self) -> Iterator[Decision]:
        """The decisions in order."""
        return iter(self.decisions)

    def __repr__(self) -> str:
        """What was decided, in numbers."""
        if self.idle:
            return "<Cycle: idle>"
        preempting, pending = len(self.preempting), len(self.pending)
        return f"<Cycle: {self.admitted_count} admitted, {preempting} preempting, {pending} pending>"

    _repr_html_ = repr_html


def _made_already(counts: _Counts, decisions: tuple[Decision, ...]) -> Cycle:
    cycle = Cycle.__new__(Cycle)
    cycle._decided, cycle._made, cycle._not_modelled = counts, decisions, {}  # noqa: SLF001 - of this module
    return cycle


class Loop(msgspec.Struct, frozen=True):
    """Preemption, or admission that a check takes back, that never ends: after `period` cycles all is as it was.

    Kueue has no such notion: its users see workloads preempted again and again (kubernetes-sigs/kueue#14543). Fair
    preemption gets there most easily, classical preemption can as well.

    Attributes:
        period: The smallest number of cycles after which the same state comes again.
        workloads: The keys of those that are admitted or preempted again and again, sorted.
        cycles: One round of it.
    """

    period: int
    workloads: tuple[str, ...]
    cycles: tuple[Cycle, ...]

    def __str__(self) -> str:
        """The loop in one sentence."""
        what = "preemption" if any(cycle.evicted_count for cycle in self.cycles) else "retry"
        return f"endless {what}: every {counted(self.period, 'cycle')} the same of {', '.join(self.workloads)}"


@checked_methods
class Settled(Sequence[Cycle]):
    """The cycles that were run until nothing changed.

    Attributes:
        loops: The endless preemption that was found, one for each tree of cohorts that goes round.
        finished: Whether nothing would change any more; not so with a loop, or when `max_cycles` were run.
    """

    __slots__ = ("_cycles", "finished", "loops")

    def __init__(self, cycles: Sequence[Cycle], loops: Sequence[Loop], *, finished: bool) -> None:
        """Holds the cycles."""
        self._cycles = tuple(cycles)
        self.loops = tuple(loops)
        self.finished = finished

    @property
    def loop(self) -> Loop | None:
        """The first of the loops, or `None`."""
        return self.loops[0] if self.loops else None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions of all cycles, in order."""
        return tuple(decision for cycle in self._cycles for decision in cycle)

    @property
    def admitted(self) -> tuple[Admitted, ...]:
        """All that got quota, in order."""
        return tuple(decision for cycle in self._cycles for decision in cycle.admitted)

    @property
    def preempted(self) -> tuple[str, ...]:
        """The keys of all that were preempted, in order."""
        targets = [t.workload for cycle in self._cycles for d in cycle.preempting for t in d.targets]
        return tuple(targets)

    @overload
    def __getitem__(self, index: int) -> Cycle: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Cycle, ...]: ...
    def __getitem__(self, index: int | slice) -> Cycle | tuple[Cycle, ...]:
        """One cycle, or several."""
        return self._cycles[index]

    def __len__(self) -> int:
        """How many cycles were run."""
        return len(self._cycles)

    def __repr__(self) -> str:
        """What came of it, in numbers."""
        admitted = sum(cycle.admitted_count for cycle in self._cycles)
        evicted = sum(cycle.evicted_count for cycle in self._cycles)
        state = "".join(f"; {loop}" for loop in self.loops) or ("" if self.finished else "; not finished")
        return f"<Settled: {counted(len(self), 'cycle')}, {admitted} admitted, {evicted} preempted{state}>"

    _repr_html_ = repr_html
