"""Verification of kueuepy's decisions against the decisions of a real cluster."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from kueuepy.engine.decisions import Admitted, Preempting
from kueuepy.errors.arguments import checked
from kueuepy.objects import ClusterQueue
from kueuepy.objects.times import Duration, Timestamp, duration_ns
from kueuepy.platform.live.agreement import Agreement, Difference, JudgedDecision
from kueuepy.platform.live.following import CONFIGURATION, Follower
from kueuepy.platform.live.recorded import RecordedDecision, decisions_of, placed_pods
from kueuepy.platform.live.recording import Change, manager_configuration, read_events
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from kueuepy.engine.decisions import Decision
    from kueuepy.platform.live.agreement import Kind

_MOST_CYCLES = 1000
_CHECKPOINTS = 64
_BETWEEN = 8
Progress: TypeAlias = "Callable[[int, int], None]"
_Outcome: TypeAlias = Literal["", "same", "moment", "different"]


class _Run(msgspec.Struct, eq=False):
    """A Follower, and the numbers of the recorded decisions that it has made."""

    follower: Follower
    made: frozenset[int] = frozenset()

    def fork(self) -> _Run:
        return _Run(self.follower.fork(), self.made)


@checked
def verify(
    recording: str | os.PathLike[str],
    *,
    latency: Duration = "1.2s",
    progress: Progress | None = None,
) -> Agreement:
    """Compare each decision of a cluster's scheduler with the decision of kueuepy in the same state.

    A Scheduler follows the recording in the order of its writes. The Scheduler applies all recorded changes except the
    decisions of Kueue's scheduler: submissions, changes of objects, completions of jobs, answers of checks, evictions
    by other controllers, and the termination of evicted pods. The Scheduler makes the decisions of Kueue's scheduler
    itself. If a recorded decision differs, the Scheduler is set to the recorded state, so that each decision is
    compared independently.

    Kueue decides some time before it writes a decision, and no object contains the time of the decision. A recorded
    decision also counts as matched if kueuepy makes the same decision at a different time within `latency`, or after
    retrying inadmissible workloads at a different time. Decisions that kueuepy makes only at a different time are
    counted separately.

    Args:
        recording: A file of watch events (see `kueuepy.platform.live.recording.read_events`).
        latency: The longest time between a decision and its write: seconds, a string or a timedelta; 1.2 seconds by
            default.
        progress: A function that is called with the number of applied changes and the total number of changes.

    Returns:
        The agreement: the counts, a table of all decisions, and the differences with their likely causes.

    Raises:
        NotFoundError: The recording cannot be read.
        InvalidSpecError: The recording is invalid, or `latency` is not a duration.
    """
    found = read_events(recording)
    uids = {one.manifest["metadata"].get("uid"): one.key for one in found if one.kind == "Workload"}
    verifier = Verifier(manager_configuration(found), duration_ns(latency), uids)
    for change in found:
        verifier.add(change)
    for number, change in enumerate(found):
        verifier.judge(change.time)
        if progress is not None:
            progress(number + 1, len(found))
    notes = verifier.notes if verifier.judged else [*verifier.notes, "the recording has no decisions to compare"]
    return Agreement(verifier.judged, verifier.differences, dict(verifier.domains), tuple(notes))


class Verifier:
    """The comparison of recorded decisions with kueuepy's decisions, change by change.

    `add` accepts a change, and `judge` processes the changes whose later decisions are known. Only the data that later
    decisions need is stored, so that a verifier can follow a cluster indefinitely.

    Attributes:
        judged: The compared decisions; the caller may clear the list.
        differences: The decisions that differ; the caller may clear the list.
        domains: The number of admissions with the same topology domains (True) and with different ones (False).
    """

    def __init__(self, configuration: Iterable[dict[str, Any]], latency: int, uids: dict[Any, str]) -> None:
        """Create a verifier of an empty cluster.

        Args:
            configuration: The ConfigMap of Kueue's manager, if it is known.
            latency: The longest time between a decision and its write, in nanoseconds.
            uids: The keys of known workloads by UID.
        """
        self._latency = latency
        self._run = _Run(Follower.start(configuration))
        self._uids = uids
        self._changes: dict[int, Change] = {}
        self._added = self._next = self._oldest = 0
        self._found = 0
        self._first: deque[tuple[int, RecordedDecision]] = deque()
        self._at: dict[int, list[RecordedDecision]] = defaultdict(list)
        self._of: dict[tuple[Kind, str], deque[RecordedDecision]] = defaultdict(deque)
        self.judged: list[JudgedDecision] = []
        self.domains: Counter[bool] = Counter()
        self.differences: list[Difference] = []
        self._corrected: set[int] = set()
        self._doubted: dict[tuple[Kind, str], tuple[int, Decision]] = {}
        self._reported: set[tuple[Kind, str]] = set()
        self._checkpoints: deque[tuple[int, _Run]] = deque(maxlen=_CHECKPOINTS)

    @property
    def notes(self) -> list[str]:
        """The changes that could not be applied, with reasons."""
        return self._run.follower.notes

    def add(self, change: Change) -> None:
        """Add the next change."""
        if change.kind == "Workload":
            self._uids[change.manifest["metadata"].get("uid")] = change.key
        elif change.kind not in CONFIGURATION:
            return
        index = self._added
        self._changes[index] = change
        self._added += 1
        for decision in decisions_of(change, index, self._found, self._uids):
            self._found += 1
            self._first.append((index, decision))
            self._at[index].append(decision)
            self._of[decision.kind, decision.workload].append(decision)

    def judge(self, until: int) -> None:
        """Process the changes up to a time at which all decisions within the latency are known.

        Args:
            until: The time in nanoseconds since the Unix epoch.
        """
        while self._next < self._added and self._changes[self._next].time <= until:
            self._process(self._next)
            self._next += 1

    def _process(self, index: int) -> None:
        change = self._changes[index]
        self._wait(self._run, change.time, index)
        for decision in self._at.get(index, ()):
            self._judge(decision)
        if change.kind == "Workload" or index in self._at:
            self._checkpoints.append((index, self._run.fork()))
        self._step(self._run, index)
        self._report_doubts(index)
        if index % _CHECKPOINTS == 0:
            self._forget(index)

    def _forget(self, index: int) -> None:
        """Delete the data that no later decision needs."""
        oldest = min(self._checkpoints[0][0] if self._checkpoints else index, index - _CHECKPOINTS)
        for old in range(self._oldest, oldest):
            change = self._changes.pop(old)
            if change.new is None:
                self._uids.pop(change.manifest["metadata"].get("uid"), None)
        self._oldest = max(self._oldest, oldest)
        while self._first and self._first[0][0] < oldest:
            _, decision = self._first.popleft()
            self._at.pop(decision.index, None)
            own = self._of[decision.kind, decision.workload]
            own.remove(decision)
            if not own:
                del self._of[decision.kind, decision.workload]
        first = self._first[0][1].number if self._first else self._found
        self._run.made = frozenset(number for number in self._run.made if number >= first)
        self._corrected = {number for number in self._corrected if number >= first}

    def _wait(self, run: _Run, time: int, index: int) -> None:
        """Advance the clock to a change; retry inadmissible workloads whenever a retry is due."""
        follower = run.follower
        while follower.due and (first := min(follower.due.values())) <= time:
            follower.tick(first)
            follower.retry(first)
            self._decide(run, index)
        follower.tick(time)

    def _step(self, run: _Run, index: int) -> None:
        if self._apply(run, index) or self._doubted:
            self._decide(run, index + 1)

    def _apply(self, run: _Run, index: int) -> bool:
        matters = run.follower.apply(self._changes[index])
        run.follower.notice()
        return matters

    def _decide(self, run: _Run, index: int, most: int = _MOST_CYCLES) -> None:
        """Run cycles while the recording contains their decisions within the latency.

        Args:
            run: The Follower and its decisions.
            index: The index of the next change.
            most: The maximum number of cycles.
        """
        for before, found in _cycles(run, most):
            expected = [self._expected(run, index, kind, key, decision) for kind, key, decision in found]
            if not all(expected):
                for (kind, key, decision), known in zip(found, expected, strict=True):
                    if known is None:
                        self._doubted.setdefault((kind, key), (run.follower.now, decision))
                run.follower = before
                break
            run.made |= {known.number for known in expected if known is not None}
        run.follower.notice()

    def _expected(self, run: _Run, index: int, kind: Kind, key: str, decision: Decision) -> RecordedDecision | None:
        """Return the matching recorded decision if the cluster made it within the latency; otherwise return `None`."""
        for known in self._of.get((kind, key), ()):
            if known.index >= index and known.number not in run.made:
                soon = known.time - run.follower.now <= self._latency
                return known if soon and known.is_same(decision) and known.is_placed(decision) else None
        return None

    def _judge(self, decision: RecordedDecision) -> None:
        outcome: _Outcome = "same"
        there = True
        if decision.number not in self._run.made and not self._repeats(decision):
            before = self._run.follower.fork()
            outcome, there = self._at_another_moment(decision)
            if outcome == "different":
                self.differences.append(self._difference(before, decision))
            elif not there:
                self.differences.append(self._misplaced(before, decision))
        if any(decision.domains):
            self.domains[there] += 1
        self.judged.append(
            JudgedDecision(Timestamp.of(decision.time), decision.kind, decision.workload, outcome or "different")
        )
        self._doubted.pop((decision.kind, decision.workload), None)
        self._reported.discard((decision.kind, decision.workload))

    def _correct(self, run: _Run, decision: RecordedDecision) -> None:
        run.made |= {decision.number}
        self._corrected.add(decision.number)
        run.follower.correct(self._changes[decision.index])

    def _repeats(self, decision: RecordedDecision) -> bool:
        """Return whether kueuepy has already preempted a workload; Kueue preempts it again if two writes conflict."""
        return decision.kind == "preemption" and self._run.follower.is_true(decision.workload, "Evicted")

    def _at_another_moment(self, decision: RecordedDecision) -> tuple[_Outcome, bool]:
        """Find a time within the latency at which kueuepy makes the decision, and continue from that time.

        Returns:
            The outcome, and whether the topology domains are the same.
        """
        elsewhere: _Outcome = "different"
        moments = self._moments(decision) if _has_queue(self._run.follower, decision.cluster_queue) else ()
        for position, run in enumerate(moments):
            outcome: _Outcome = "same" if position == 0 else "moment"
            found = None if decision.number in run.made else self._makes(run, decision)
            if decision.number not in run.made:
                if found is None:
                    continue
                if not decision.is_placed(found[0]):
                    elsewhere = outcome if elsewhere == "different" else elsewhere
                    continue
            if found is not None and found[1]:  # the cycle also makes decisions that the cluster did not make
                self._correct(self._run, decision)
            else:
                run.made |= {decision.number}
                self._run = run
            return outcome, True
        self._correct(self._run, decision)
        return elsewhere, elsewhere == "different" and not any(decision.domains)

    def _moments(self, decision: RecordedDecision) -> Iterator[_Run]:
        """Yield Followers with the same input up to the decision, but with different times of cycles and retries."""
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
            self._follow(run, index, decision.index, self._step)
            yield run
            # Changes may also occur between cycles that consider several heads one after the other.
            for cycles in range(_BETWEEN):
                run = checkpoint.fork()
                run.follower.retry()
                self._decide(run, index, most=cycles)
                self._follow(run, index, decision.index, self._apply)
                yield run

    def _follow(self, run: _Run, start: int, end: int, step: Callable[[_Run, int], object]) -> None:
        """Apply the changes with indices from `start` to `end - 1`, and the recorded decisions among them."""
        for index in range(start, end):
            self._wait(run, self._changes[index].time, index)
            for known in self._at.get(index, ()):
                if known.number not in run.made or known.number in self._corrected:
                    self._correct(run, known)
            step(run, index)

    def _makes(self, run: _Run, decision: RecordedDecision) -> tuple[Decision, bool] | None:
        """Run cycles until a Follower makes a recorded decision.

        Returns:
            The decision, and whether the Follower also makes decisions that the cluster did not make; `None` if the
            Follower does not make the recorded decision.
        """
        for _, found in _cycles(run):
            made, other = None, False
            for kind, key, one in found:
                if (kind, key) == (decision.kind, decision.workload) and decision.is_same(one):
                    made = one
                elif known := self._expected(run, decision.index, kind, key, one):
                    run.made |= {known.number}
                else:
                    other = True
            run.follower.notice()
            if made is not None:
                return made, other
            if other:
                return None
        return None

    def _difference(self, before: Follower, decision: RecordedDecision) -> Difference:
        here = next((one for one in before.fork().scheduler.cycle() if one.workload == decision.head), None)
        explanation = before.explanation(decision.head)
        state = explanation.partition("\n")[0] or "no such workload here"
        what = f"kueuepy does not consider it: {state}" if here is None else _in_words(here)
        cause = "a moment that no object shows" if decision.workload in self._recent(decision) else "unknown"
        if not _has_queue(before, decision.cluster_queue):
            cause = f"the recording does not contain ClusterQueue {decision.cluster_queue}"
        return Difference(Timestamp.of(decision.time), decision.kind, decision.workload, what, cause, explanation)

    def _misplaced(self, before: Follower, decision: RecordedDecision) -> Difference:
        here = next((one for one in before.fork().scheduler.cycle() if one.workload == decision.workload), None)
        placed = placed_pods(here.pod_sets) if isinstance(here, Admitted) else "at another moment"
        what = f"recorded: {decision.domains}; here: {placed}"
        return Difference(Timestamp.of(decision.time), "domains", decision.workload, what, "other domains")

    def _recent(self, decision: RecordedDecision) -> set[str]:
        """Return the keys of the objects that changed within the latency before the decision."""
        return {
            change.key
            for change in map(self._changes.get, range(decision.index - _CHECKPOINTS, decision.index))
            if change is not None and change.time >= decision.time - self._latency
        }

    def _report_doubts(self, index: int) -> None:
        """Report decisions that kueuepy makes and the cluster does not make within the latency.

        A decision that was reported is not reported again until the cluster makes a decision of the same kind about the
        workload.
        """
        now = self._changes[index].time
        for (kind, key), (time, decision) in list(self._doubted.items()):
            if now - time <= self._latency:
                continue
            del self._doubted[kind, key]
            if (kind, key) in self._reported:
                continue
            again = self._run.follower.fork()
            if any(one[:2] == (kind, key) for one in _decided(self._run.follower, again.scheduler.cycle())):
                self._reported.add((kind, key))
                what = f"only kueuepy decides this: {_in_words(decision)}"
                explanation = self._run.follower.explanation(decision.workload)
                self.differences.append(Difference(Timestamp.of(time), kind, key, what, "only here", explanation))


def _cycles(run: _Run, most: int = _MOST_CYCLES) -> Iterator[tuple[Follower, list[tuple[Kind, str, Decision]]]]:
    """Run cycles until a cycle is idle or changes nothing; yield the state before each cycle, and its decisions."""
    ahead = None
    for _ in range(most):
        before = run.follower.fork()
        cycle = run.follower.scheduler.cycle()
        found = list(_decided(before, cycle))
        if cycle.idle or (not found and cycle.ahead == ahead):
            return
        ahead = cycle.ahead if not found else None
        yield before, found


def _decided(before: Follower, cycle: Iterable[Decision]) -> Iterator[tuple[Kind, str, Decision]]:
    """Yield the effective decisions of a cycle, each with its kind and the workload that it changes."""
    for decision in cycle:
        if isinstance(decision, Admitted):
            had_quota = before.is_true(decision.workload, "QuotaReserved")
            yield "replacement" if had_quota else "admission", decision.workload, decision
        elif isinstance(decision, Preempting):
            for target in decision.targets:
                if not before.is_true(target.workload, "Evicted"):
                    yield "preemption", target.workload, decision


def _has_queue(follower: Follower, name: str) -> bool:
    return session_of(follower.scheduler).state.store.objects.get((ClusterQueue, name)) is not None


def _in_words(decision: Decision) -> str:
    if isinstance(decision, Admitted):
        flavors = {flavor for one in decision.pod_sets for flavor in one.flavors.values()}
        return f"admitted on {', '.join(sorted(flavors))}"
    if isinstance(decision, Preempting):
        return f"preempts {', '.join(target.workload for target in decision.targets)}"
    return f"pending: {decision.reason}: {decision.message}"
