"""Run cycles until nothing changes, and detect preemption loops."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from kueuepy._core import Engine
from kueuepy.engine.cycle import Cycle, Loop, Settled
from kueuepy.engine.nodes import nodes_of, roots

_UNHEEDED = 16  # number of compared states before preempted workloads are counted
_MANY = 64
_PATIENCE = 3  # number of preemptions of one workload after which its cohort tree is examined alone
_LONG = 256  # number of cycles after which repeated decisions count as a loop even if the state differs
_TIMES = 8  # number of repetitions that this requires


def settle(
    engine: Engine,
    run: Callable[[], Cycle],
    max_cycles: int | None = None,
    *,
    apart: bool = True,
    retries: bool = False,
) -> Settled:
    """Run cycles and controllers until no queue has a head, or until a state repeats.

    If no workload is admitted or preempted between two identical states, the heads are blocked and the method returns.
    If a workload is admitted or preempted between two identical states, there is a loop. States after cycles that only
    admitted workloads are not compared, because admissions alone cannot repeat indefinitely. The first state that
    repeats belongs to the loop and repeats after one period, so the detected period is the shortest one.

    Cohort trees are independent of each other. If several trees loop with different periods, the whole state only
    repeats after the least common multiple of these periods. To find the period of each loop, each tree is examined
    separately, on a fork without the workloads of the other trees.

    With admission fair sharing, it is possible that no state ever repeats, because each admission adds to the recorded
    usage of a LocalQueue. After 256 cycles, decisions that repeat 8 times in a row therefore also count as a loop.

    Comparing states takes time proportional to the number of workloads. As long as no workload has been evicted, a
    state cannot repeat while the number of workloads that have not yet been heads decreases. The comparison is skipped
    if no workload has been evicted and many workloads have not yet been heads.

    Args:
        engine: The engine.
        run: A function that runs the controllers and then one cycle.
        max_cycles: The maximum number of cycles to run; `None` for no limit.
        apart: Whether the cohort trees are independent. With `blockAdmission`, cohort trees are not independent,
            because admission in one tree waits for pods of another tree.
        retries: Whether functions that answer admission checks can revoke an admission immediately.
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
    """Detection of decisions that repeat although the state differs.

    The interval between checks doubles after each check.
    """

    def __init__(self) -> None:
        self._next = _LONG

    def loops(self, engine: Engine, cycles: Sequence[Cycle], states: int) -> tuple[Loop, ...]:
        """Return the loop whose decisions have repeated many times; empty if no loop is found or no check is due."""
        if min(len(cycles), states) < self._next:
            return ()
        self._next *= 2
        period = _period(cycles)
        return _round(engine, cycles[-period:], apart=False) if period else ()


def _period(cycles: Sequence[Cycle]) -> int:
    """Return the period, in cycles, of the last decisions if they repeated `_TIMES` times in a row; otherwise 0."""
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
    def run() -> Cycle:
        engine.settle()
        return Cycle(engine.decide())

    return settle(engine, run, apart=apart)


class _Progress:
    """Detection of cycles that cannot lead to a previous state, without computing the state."""

    def __init__(self, *, retries: bool) -> None:
        self._retries = self._evicts = retries
        self._ahead = 0

    def is_made(self, cycle: Cycle) -> bool:
        """Return whether a cycle made progress that cannot be undone.

        A cycle made progress that cannot be undone if it only admitted workloads, or if it made a head inadmissible
        while many other workloads had not been heads yet and no workload had been evicted.
        """
        if cycle.admitted_count and not cycle.evicted_count and not self._retries:
            return True
        self._evicts = self._evicts or cycle.evicted_count > 0
        before, self._ahead = self._ahead, cycle.ahead
        return not self._evicts and _MANY < self._ahead < before


def _round(engine: Engine, cycles: Sequence[Cycle], *, apart: bool) -> tuple[Loop, ...]:
    """Return the loops in one period; the result is empty if the period has no admission or preemption."""
    if not any(cycle.evicted_count or cycle.admitted_count for cycle in cycles):
        return ()
    whole = Loop(len(cycles), _moved(cycles), tuple(cycles))
    trees = _Trees(engine)
    roots = {trees.root_of(key) for key in whole.workloads}
    if not apart or len(roots) == 1:
        return (whole,)
    return _sorted(loop for root in roots for loop in _settle_alone(trees.only({root}), apart=False).loops)


def _moved(cycles: Iterable[Cycle]) -> tuple[str, ...]:
    """Return the keys of the admitted or preempted workloads, sorted."""
    moved: set[str] = set()
    for cycle in cycles:
        moved.update(decision.workload for decision in cycle.admitted)
        moved.update(target.workload for decision in cycle.preempting for target in decision.targets)
    return tuple(sorted(moved))


def _look_apart(engine: Engine, suspects: Iterable[str]) -> tuple[tuple[Loop, ...], int] | None:
    """Return the loops of the suspects' cohort trees, and the number of cycles that the other trees still need.

    The result is `None` if there is no loop. A cohort tree that loops on its own also loops when it runs together with
    other trees. The other trees are run without the looping trees until nothing changes. Running the other trees can
    reveal further loops, and takes as many cycles as the other trees need in a run with all trees.
    """
    trees = _Trees(engine)
    if len(trees.roots) < 2:  # noqa: PLR2004 - with one tree, the whole state repeats
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
        """The roots of all cohort trees that contain workloads."""
        return set(self._keys.values())

    def root_of(self, key: str) -> str:
        """Return the root of a workload's cohort tree."""
        return self._keys.get(key, "")

    def only(self, roots: set[str]) -> Engine:
        """Return a fork with only the workloads of the given cohort trees."""
        fork = self._engine.fork()
        for key, root in self._keys.items():
            if root not in roots:
                fork.delete(fork.find(key))
        return fork
