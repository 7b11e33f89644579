"""Cycles until nothing changes, and how preemption that never ends is found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kueuepy.engine.cycle import Cycle, Loop, Settled
from kueuepy.engine.nodes import nodes_of, roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kueuepy._core import Engine

_UNHEEDED = 16  # states to compare before anybody looks at who is preempted
_MANY = 64
_PATIENCE = 3  # how often a workload is preempted from then on before its tree is looked at alone
_LONG = 256  # cycles from which on equal decisions, again and again, are a loop whatever else changes
_TIMES = 8  # how often they must have come


def settle(
    engine: Engine,
    run: Callable[[], Cycle],
    max_cycles: int | None = None,
    *,
    apart: bool = True,
    retries: bool = False,
) -> Settled:
    """Runs cycles and controllers until no queue has a head, or until a state comes again.

    A state that comes again without anybody moving in between is the end: heads that stay blocked. Otherwise it is a
    loop. States are only compared when a cycle did not simply admit: admissions alone cannot go on for ever. The first
    state that comes again is in the loop, and no sooner than after one round, so that the period is the shortest.

    Trees of cohorts know nothing of each other. Where several of them go round, each with a period of its own, the
    whole repeats after their least common multiple only; so each is looked at alone, on a fork without the others.

    Under admission fair sharing no state may ever come again, as each admission adds to what its LocalQueue has used.
    So after many cycles the same decisions, many times in turn, are a loop as well.

    To compare states costs as much as there are workloads. While nobody has been evicted, and ever fewer workloads are
    still to be heads, no state is one of before; where these are many, it is not looked.

    Args:
        engine: The engine.
        run: Lets the controllers run, and then one cycle.
        max_cycles: The most cycles to run; none if `None`.
        apart: Whether trees are independent; not so where one waits for the pods of another (`blockAdmission`).
        retries: Whether admission may be taken back at once, by those who answer admission checks.
    """
    seen: dict[int, int] = {}
    taken: Counter[str] = Counter()
    patience, repeated = _PATIENCE, _Repeated()
    cycles: list[Cycle] = []
    progress = _Progress(retries=retries)
    while max_cycles is None or len(cycles) < max_cycles:
        cycle = run()
        if cycle.idle:
            return Settled(cycles, (), finished=True)
        cycles.append(cycle)
        if progress.is_made(cycle):
            continue
        before = seen.setdefault(engine.fingerprint(), len(cycles))
        if before < len(cycles):
            loops = _round(engine, cycles[before:], apart=apart)
            return Settled(cycles, loops, finished=not loops)
        if loops := repeated.loops(engine, cycles, len(seen)):
            return Settled(cycles, loops, finished=False)
        if not apart or not cycle.evicted_count or len(seen) < _UNHEEDED:
            continue
        new = {target.workload for decision in cycle.preempting for target in decision.targets}
        taken.update(new)
        if max(taken[key] for key in new) >= patience:
            patience *= 2
            found = _look_apart(engine, [key for key, times in taken.items() if times >= _PATIENCE])
            if found is not None:
                loops, more = found
                room = more if max_cycles is None else min(more, max_cycles - len(cycles))
                cycles += [run() for _ in range(room)]
                return Settled(cycles, loops, finished=False)
    return Settled(cycles, (), finished=False)


class _Repeated:
    """Whether the same decisions come again and again, whatever else changes; it is looked ever more seldom."""

    def __init__(self) -> None:
        self._next = _LONG

    def loops(self, engine: Engine, cycles: Sequence[Cycle], states: int) -> tuple[Loop, ...]:
        """The loop that has come many times, if one has, after so many cycles and different states."""
        if min(len(cycles), states) < self._next:
            return ()
        self._next *= 2
        period = _period(cycles)
        return _round(engine, cycles[-period:], apart=False) if period else ()


def _period(cycles: Sequence[Cycle]) -> int:
    """How many cycles ago the last decisions began that came `_TIMES` times in turn; 0 if they did not."""
    looks = [
        tuple((type(decision), decision.workload, getattr(decision, "targets", ())) for decision in cycle)
        for cycle in cycles[-_LONG:]
    ]
    for period in range(1, len(looks) // _TIMES + 1):
        since = len(looks) - _TIMES * period
        if looks[since + period :] == looks[since:-period]:
            return period
    return 0


def _settle_alone(engine: Engine, *, apart: bool = True) -> Settled:
    """The same of a fork that nobody else sees."""

    def run() -> Cycle:
        engine.settle()
        return Cycle(engine.decide())

    return settle(engine, run, apart=apart)


class _Progress:
    """Which cycles lead to no state of before, as is known without a look at it."""

    def __init__(self, *, retries: bool) -> None:
        self._retries = self._evicts = retries
        self._ahead = 0

    def is_made(self, cycle: Cycle) -> bool:
        """Whether it simply admitted; or made one of many heads inadmissible, and nobody has been evicted so far."""
        if cycle.admitted_count and not cycle.evicted_count and not self._retries:
            return True
        self._evicts = self._evicts or cycle.evicted_count > 0
        before, self._ahead = self._ahead, cycle.ahead
        return not self._evicts and _MANY < self._ahead < before


def _round(engine: Engine, cycles: Sequence[Cycle], *, apart: bool) -> tuple[Loop, ...]:
    """The loops of one round of all; none if nobody is admitted or preempted in it."""
    if not any(cycle.evicted_count or cycle.admitted_count for cycle in cycles):
        return ()
    whole = Loop(len(cycles), _moved(cycles), tuple(cycles))
    trees = _Trees(engine)
    roots = {trees.root_of(key) for key in whole.workloads}
    if not apart or len(roots) == 1:
        return (whole,)
    return _sorted(loop for root in roots for loop in _settle_alone(trees.only({root}), apart=False).loops)


def _moved(cycles: Iterable[Cycle]) -> tuple[str, ...]:
    """Who is admitted or preempted, sorted."""
    moved: set[str] = set()
    for cycle in cycles:
        moved.update(decision.workload for decision in cycle.admitted)
        moved.update(target.workload for decision in cycle.preempting for target in decision.targets)
    return tuple(sorted(moved))


def _look_apart(engine: Engine, suspects: Iterable[str]) -> tuple[tuple[Loop, ...], int] | None:
    """The loops of the suspects' trees, and how many cycles all others still need; nothing if there is none.

    A tree that goes round alone goes round among others. Once they are out of the way, the others are run to their end,
    which may be loops as well; it takes them as many cycles as here.
    """
    trees = _Trees(engine)
    if len(trees.roots) < 2:  # noqa: PLR2004 - of one tree, the state itself comes again
        return None
    loops: list[Loop] = []
    looping: set[str] = set()
    for root in sorted({trees.root_of(key) for key in suspects}):
        if found := _settle_alone(trees.only({root}), apart=False).loops:
            loops += found
            looping.add(root)
    if not looping:
        return None
    rest = _settle_alone(trees.only(trees.roots - looping))
    return _sorted([*loops, *rest.loops]), len(rest)


def _sorted(loops: Iterable[Loop]) -> tuple[Loop, ...]:
    return tuple(sorted(loops, key=lambda loop: loop.workloads))


class _Trees:
    """Which workload is in which tree of cohorts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        root_of_queue = roots(nodes_of(engine))
        columns = engine.workload_columns()
        codes, queues = columns["cluster_queue"]
        self._keys: dict[str, str] = {
            key: root_of_queue.get(queues[code], "") if code >= 0 else ""
            for key, code in zip(columns["key"], codes, strict=True)
        }

    @property
    def roots(self) -> set[str]:
        """The roots of all trees in which there are workloads."""
        return set(self._keys.values())

    def root_of(self, key: str) -> str:
        """The root of the tree in which a workload is."""
        return self._keys.get(key, "")

    def only(self, roots: set[str]) -> Engine:
        """A fork with the workloads of these trees alone."""
        fork = self._engine.fork()
        for key, root in self._keys.items():
            if root not in roots:
                fork.delete(fork.find(key))
        return fork
