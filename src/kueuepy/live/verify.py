"""How far the decisions of kueuepy agree with those that a cluster's own Kueue made."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from kueuepy.decisions import Admitted, Preempting
from kueuepy.errors.arguments import checked
from kueuepy.live.agreement import Agreement, Difference, JudgedDecision
from kueuepy.live.following import CONFIGURATION, Follower
from kueuepy.live.recording import Change, Conditions, assignments, read_events
from kueuepy.manifest import load
from kueuepy.objects import SECOND
from kueuepy.session.time import Duration, duration_ns

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kueuepy.decisions import Decision
    from kueuepy.live.agreement import Kind

_PREEMPTOR = re.compile(r"\(UID: ([^,)]*)")
_MOST_CYCLES = 1000
_CHECKPOINTS = 64
_MANAGER = "kueue-manager-config"
Progress: TypeAlias = "Callable[[int, int], None]"
_Outcome: TypeAlias = Literal["", "same", "moment", "different"]


class _Recorded(msgspec.Struct, eq=False):
    """A decision of the cluster's scheduler.

    Attributes:
        number: Its place among the recorded decisions.
        index: The place of the change that wrote it.
        time: When that change was received, in nanoseconds.
        kind: What was decided.
        workload: The workload that was admitted, preempted or placed anew.
        queue: The workload that was decided about: the preemptor of a preemption, else the workload itself.
        assigned: By pod set, the number of pods and the flavor of each resource.
    """

    number: int
    index: int
    time: int
    kind: Kind
    workload: str
    head: str
    assigned: dict[str, tuple[int | None, dict[str, str]]] = {}


class _Run:
    """A follower, and which of the recorded decisions it has made."""

    def __init__(self, follower: Follower, made: frozenset[int] = frozenset()) -> None:
        self.follower = follower
        self.made = made

    def fork(self) -> _Run:
        return _Run(self.follower.fork(), self.made)


@checked
def verify(
    recording: str | os.PathLike[str],
    *,
    latency: Duration = "1.2s",
    progress: Progress | None = None,
) -> Agreement:
    """Compare each decision that a cluster's scheduler made with the decision of kueuepy in the same state.

    A Scheduler follows the recording in the order of its writes. Everything but the decisions of Kueue's scheduler
    happens to it as recorded: submissions, changes of objects, ends of jobs, answers of checks, evictions by others, the
    end of evicted pods. The Scheduler decides by itself. After each recorded decision it is put into the recorded state if
    the two differ, so that each decision is judged by itself.

    Kueue decides some time before it writes a decision. Within `latency`, a recorded decision therefore also agrees if
    kueuepy makes it at another moment, or if inadmissible workloads are retried at another moment; such decisions are
    counted apart. No object shows either moment.

    Args:
        recording: A file of watch events (see `kueuepy.live.recording.read_events`).
        latency: The longest time between a decision and its write.
        progress: Is called with the number of changes that were followed, and of all changes.

    Returns:
        The agreement: figures, a table of all decisions, and the differences with their likely causes.

    Raises:
        NotFoundError: The recording cannot be read.
        InvalidSpecError: The recording is not valid, or the latency is not a duration.
    """
    return _Verifier(read_events(recording), duration_ns(latency)).run(progress)


class _Verifier:
    def __init__(self, changes: Sequence[Change], latency: int) -> None:
        relevant = [change for change in changes if change.kind == "Workload" or change.kind in CONFIGURATION]
        self._changes = relevant
        self._latency = latency
        manager = [change.new for change in changes if change.kind == "ConfigMap" and change.key.endswith(f"/{_MANAGER}")]
        self._run = _Run(Follower.start([found for found in manager if found is not None][-1:]))
        self._uids = {
            change.manifest["metadata"].get("uid"): change.key for change in relevant if change.kind == "Workload"
        }
        self._recorded = list(_recorded(relevant, self._uids))
        self._at: dict[int, list[_Recorded]] = defaultdict(list)
        self._of: dict[tuple[Kind, str], deque[_Recorded]] = defaultdict(deque)
        for decision in self._recorded:
            self._at[decision.index].append(decision)
            self._of[decision.kind, decision.workload].append(decision)
        self._outcomes: dict[int, _Outcome] = {}
        self._domains: Counter[bool] = Counter()
        self._differences: list[Difference] = []
        self._corrected: set[int] = set()
        self._doubted: dict[tuple[Kind, str], tuple[int, Decision]] = {}
        self._checkpoints: deque[tuple[int, _Run]] = deque(maxlen=_CHECKPOINTS)

    def run(self, progress: Progress | None) -> Agreement:
        for index, change in enumerate(self._changes):
            self._wait(self._run, change.time, index)
            for decision in self._at.get(index, ()):
                self._judge(decision)
            if change.kind == "Workload" or index in self._at:
                self._checkpoints.append((index, self._run.fork()))
            self._step(self._run, index)
            self._report_doubts(index)
            if progress is not None:
                progress(index + 1, len(self._changes))
        return self._agreement()

    # Following.

    def _wait(self, run: _Run, time: int, index: int) -> None:
        """Let time pass until a change; inadmissible workloads are retried when their time has come."""
        follower = run.follower
        while follower.due and (first := min(follower.due.values())) <= time:
            follower.tick(first)
            follower.retry(first)
            self._decide(run, index)
        follower.tick(time)

    def _step(self, run: _Run, index: int) -> None:
        matters = run.follower.apply(self._changes[index])
        if matters or self._doubted:
            self._decide(run, index + 1)
        run.follower.notice()

    def _decide(self, run: _Run, index: int) -> None:
        """Run cycles for as long as the recording has their decisions soon; `index` is that of the next change."""
        ahead = None
        for _ in range(_MOST_CYCLES):
            before = run.follower.fork()
            cycle = run.follower.scheduler.cycle()
            if cycle.idle:
                break
            found = list(_decided(before, cycle))
            expected = [self._expected(run, index, kind, key, decision) for kind, key, decision in found]
            if not all(expected):
                for (kind, key, decision), known in zip(found, expected, strict=True):
                    if known is None:
                        self._doubted.setdefault((kind, key), (run.follower.now, decision))
                run.follower = before
                break
            run.made |= {known.number for known in expected if known is not None}
            if not found and cycle.ahead == ahead:
                break
            ahead = cycle.ahead if not found else None
        run.follower.notice()

    def _expected(self, run: _Run, index: int, kind: Kind, key: str, decision: Decision) -> _Recorded | None:
        """The recorded decision that is written soon and is the same; `None` if there is none."""
        for known in self._of.get((kind, key), ()):
            if known.index >= index and known.number not in run.made:
                soon = known.time - run.follower.now <= self._latency
                return known if soon and self._same(known, decision) else None
        return None

    def _same(self, known: _Recorded, decision: Decision) -> bool:
        if known.head != decision.workload:
            return False
        if not isinstance(decision, Admitted):
            return True
        assigned = {one.name: (one.count, dict(one.flavors)) for one in decision.pod_sets}
        return all(
            name in assigned and flavors == assigned[name][1] and count in (None, assigned[name][0])
            for name, (count, flavors) in known.assigned.items()
        )

    # Judging.

    def _judge(self, decision: _Recorded) -> None:
        outcome: _Outcome = "same"
        if decision.number not in self._run.made:
            outcome = self._at_another_moment(decision)
        self._outcomes[decision.number] = outcome
        self._doubted.pop((decision.kind, decision.workload), None)
        if outcome == "different":
            self._differences.append(self._difference(decision))
        has_domains = decision.kind == "preemption" or self._has_domains(decision)
        if outcome == "different" or not has_domains:
            self._correct(self._run, decision)

    def _correct(self, run: _Run, decision: _Recorded) -> None:
        """Put the workload of a decision into its recorded state."""
        run.made |= {decision.number}
        self._corrected.add(decision.number)
        run.follower.set_to(self._written(decision))

    def _written(self, decision: _Recorded) -> dict[str, Any]:
        manifest = self._changes[decision.index].new
        assert manifest is not None, "a decision is written to a Workload"
        return manifest

    def _at_another_moment(self, decision: _Recorded) -> _Outcome:
        """Look for a moment within the latency at which kueuepy makes the decision, and go on from there."""
        for position, run in enumerate(self._moments(decision)):
            made, other = self._makes(run, decision)
            if not made:
                continue
            if other:  # it decides more in that cycle than the cluster did: only this decision counts
                self._correct(self._run, decision)
            else:
                run.made |= {decision.number}
                self._run = run
            return "same" if position == 0 else "moment"
        return "different"

    def _moments(self, decision: _Recorded) -> Iterator[_Run]:
        """Runs that have the same inputs up to the decision, and differ in the moments of cycles and retries."""
        yield self._run.fork()
        early = self._run.fork()
        early.follower.retry()
        yield early
        for index, checkpoint in reversed(self._checkpoints):
            if self._changes[index].time < decision.time - self._latency:
                break
            run = checkpoint.fork()
            run.follower.retry()
            self._decide(run, index)
            for later in range(index, decision.index):
                self._wait(run, self._changes[later].time, later)
                for known in self._at.get(later, ()):
                    if known.number not in run.made or known.number in self._corrected:
                        self._correct(run, known)
                self._step(run, later)
            yield run

    def _makes(self, run: _Run, decision: _Recorded) -> tuple[bool, bool]:
        """Whether a run makes a decision in its next cycles, and whether it then decides more than the cluster."""
        if decision.number in run.made:
            return True, False
        ahead = None
        for _ in range(_MOST_CYCLES):
            before = run.follower.fork()
            cycle = run.follower.scheduler.cycle()
            if cycle.idle:
                return False, False
            made, other = False, False
            found = list(_decided(before, cycle))
            for kind, key, one in found:
                if (kind, key) == (decision.kind, decision.workload) and self._same(decision, one):
                    made = True
                elif known := self._expected(run, decision.index, kind, key, one):
                    run.made |= {known.number}
                else:
                    other = True
            if made or other:
                run.follower.notice()
                return made, other
            if not found and cycle.ahead == ahead:
                return False, False
            ahead = cycle.ahead if not found else None
        return False, False

    def _has_domains(self, decision: _Recorded) -> bool:
        """Whether the workload has the recorded topology domains here; counted where the recording has any."""
        manifest = self._written(decision)
        if not any(one.get("topologyAssignment") for one in assignments(manifest)):
            return True
        (recorded,) = load(manifest, strict=False).workloads
        here = self._run.follower.scheduler.workload(decision.workload).status
        same = _domains(recorded.status) == _domains(here)
        self._domains[same] += 1
        if not same and self._outcomes[decision.number] != "different":
            change = self._changes[decision.index]
            where = f"recorded: {_domains(recorded.status)}; here: {_domains(here)}"
            self._differences.append(Difference(change.time, "domains", decision.workload, where, "other domains"))
        return same

    # What differs.

    def _difference(self, decision: _Recorded) -> Difference:
        follower = self._run.follower.fork()
        cycle = follower.scheduler.cycle()
        here = next((one for one in cycle if one.workload == decision.head), None)
        what = "kueuepy does not consider it here" if here is None else _in_words(here)
        cause = "a moment that no object shows" if decision.workload in self._recent(decision) else "unknown"
        return Difference(decision.time, decision.kind, decision.workload, what, cause)

    def _recent(self, decision: _Recorded) -> set[str]:
        """The workloads whose own changes were written shortly before the decision."""
        return {
            change.key
            for change in self._changes[max(0, decision.index - _CHECKPOINTS) : decision.index]
            if change.time >= decision.time - self._latency
        }

    def _report_doubts(self, index: int) -> None:
        """Report decisions of kueuepy that the cluster did not make within the latency, once each."""
        now = self._changes[index].time
        for (kind, key), (time, decision) in list(self._doubted.items()):
            if now - time <= self._latency:
                continue
            del self._doubted[kind, key]
            again = self._run.follower.fork()
            if any(one[:2] == (kind, key) for one in _decided(self._run.follower, again.scheduler.cycle())):
                what = f"only kueuepy decides this: {_in_words(decision)}"
                self._differences.append(Difference(time, kind, key, what, "only here"))

    def _agreement(self) -> Agreement:
        rows = [
            JudgedDecision(one.time, one.kind, one.workload, self._outcomes.get(one.number) or "different")
            for one in self._recorded
        ]
        return Agreement(rows, self._differences, dict(self._domains), tuple(self._run.follower.notes))


def _recorded(changes: Sequence[Change], uids: dict[Any, str]) -> Iterator[_Recorded]:
    """The decisions of the scheduler in a recording: quota reserved, preemptions, pods placed on other nodes."""
    number = 0
    for index, change in enumerate(changes):
        if change.kind != "Workload" or change.new is None or change.old is None:
            continue
        before, after = Conditions(change.old), Conditions(change.new)
        found: list[tuple[Kind, str]] = []
        if after.true("QuotaReserved"):
            if not before.true("QuotaReserved"):
                found.append(("admission", change.key))
            elif _placed(change.old) != _placed(change.new):
                found.append(("replacement", change.key))
        if after.true("Evicted") and not before.true("Evicted") and after.reason("Evicted") == "Preempted":
            by = _PREEMPTOR.search(after["Evicted"].get("message", ""))
            found.append(("preemption", uids.get(by[1], "") if by else ""))
        for kind, head in found:
            yield _Recorded(number, index, change.time, kind, change.key, head, _assigned(change.new))
            number += 1


def _assigned(manifest: dict[str, Any]) -> dict[str, tuple[int | None, dict[str, str]]]:
    return {one["name"]: (one.get("count"), dict(one.get("flavors") or {})) for one in assignments(manifest)}


def _placed(manifest: dict[str, Any]) -> list[Any]:
    return [one.get("topologyAssignment") for one in assignments(manifest)]


def _domains(status: Any) -> list[Any]:
    """The topology domains of each pod set, with their number of pods."""
    if status is None or status.admission is None:
        return []
    placed = [one.topology_assignment for one in status.admission.pod_set_assignments]
    return [None if one is None else [(domain.values, domain.count) for domain in one.domains] for one in placed]


def _decided(before: Follower, cycle: Iterable[Decision]) -> Iterator[tuple[Kind, str, Decision]]:
    """The decisions of a cycle that change something, each with the workload that it changes."""
    engine = before.scheduler.engine

    def has(key: str, condition: str) -> bool:
        found = engine.condition(engine.find(key), condition)
        return found is not None and bool(found[0])

    for decision in cycle:
        if isinstance(decision, Admitted):
            yield "replacement" if has(decision.workload, "QuotaReserved") else "admission", decision.workload, decision
        elif isinstance(decision, Preempting):
            for target in decision.targets:
                if not has(target.workload, "Evicted"):
                    yield "preemption", target.workload, decision


def _in_words(decision: Decision) -> str:
    if isinstance(decision, Admitted):
        return f"admitted on {', '.join(sorted({flavor for one in decision.pod_sets for flavor in one.flavors.values()}))}"
    if isinstance(decision, Preempting):
        return f"preempts {', '.join(target.workload for target in decision.targets)}"
    return f"pending: {decision.reason}: {decision.message}"
