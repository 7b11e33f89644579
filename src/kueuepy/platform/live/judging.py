"""Verification of kueuepy's decisions against the decisions of a real cluster."""

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from kueuepy.engine.decisions import Admitted, Decision, Preempting
from kueuepy.errors import checked, counted
from kueuepy.objects import SECOND, ClusterQueue, Duration, ResourceFlavor, Timestamp, duration_ns
from kueuepy.platform.live.agreement import RETRY, Agreement, Difference, JudgedDecision, Kind, fault_of_recording
from kueuepy.platform.live.following import Follower
from kueuepy.platform.live.recording import (
    CONFIGURATION,
    Change,
    RecordedDecision,
    decisions_of,
    gap_notes,
    manager_configuration,
    placed_pods,
    read_events,
    recorded_gaps,
)
from kueuepy.session.session import session_of

_MOST_CYCLES = 1000
# The latency of a cluster rarely spans more writes of workloads.
_CHECKPOINTS = 64
# Kueue writes the decisions of a cycle concurrently, so that writes near each other have no known order.
_WRITTEN_TOGETHER = 12
Progress: TypeAlias = Callable[[int, int], None]
_Outcome: TypeAlias = Literal["same", "moment", "tie", "different"]


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
    gaps = recorded_gaps(recording)
    verifier = Verifier(manager_configuration(found), duration_ns(latency), uids, gaps)
    notes = [*gap_notes(gaps)]
    number, ahead = 0, deque(found)
    try:
        for number, change in enumerate(found):
            while ahead and ahead[0].time <= change.time + verifier.latency:
                verifier.add(ahead.popleft())
            verifier.judge(change.time)
            if progress is not None:
                progress(number + 1, len(found))
    except KeyboardInterrupt:
        notes.append(f"interrupted after {number} of {counted(len(found), 'change')}")
    if not verifier.judged:
        notes.append("the recording has no decisions to compare")
    notes = [*notes, *verifier.notes]
    return Agreement(tuple(verifier.judged), tuple(verifier.differences), verifier.domains, tuple(notes))


class Verifier:
    """The comparison of recorded decisions with kueuepy's decisions, change by change.

    `add` accepts a change, and `judge` processes the changes whose later decisions are known. Only the data that later
    decisions need is stored, so that a verifier can follow a cluster indefinitely.

    Attributes:
        judged: The compared decisions; the caller may clear the list.
        differences: The decisions that differ; the caller may clear the list.
        domains: The number of admissions with the same topology domains (True) and with different ones (False).
        latency: The longest time between a decision and its write, in nanoseconds.
    """

    def __init__(
        self,
        configuration: Iterable[dict[str, Any]],
        latency: int,
        uids: dict[Any, str],
        gaps: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Create a verifier of an empty cluster.

        Args:
            configuration: The ConfigMap of Kueue's manager, if it is known.
            latency: The longest time between a decision and its write, in nanoseconds.
            uids: The keys of known workloads by UID.
            gaps: The periods in which changes might be missing, in nanoseconds since the Unix epoch.
        """
        self.latency, self._gaps = latency, gaps
        self._follower = Follower.start(configuration)
        # Only follows the writes, in case the cluster decided before it had made the decisions that kueuepy made ahead.
        self._written = self._follower.fork()
        self._uids = uids
        self._changes: dict[int, Change] = {}
        self._added = self._next = self._configured = 0
        # Few, and in the order of their writes: old decisions are deleted, and `verify` adds no change early.
        self._at: dict[int, list[RecordedDecision]] = {}
        self._made: set[RecordedDecision] = set()
        self.judged: list[JudgedDecision] = []
        self.domains: Counter[bool] = Counter()
        self.differences: list[Difference] = []
        self._doubted: dict[tuple[Kind, str], tuple[int, Decision]] = {}
        self._reported: set[tuple[Kind, str]] = set()
        # The states before the last changes of workloads, each with the time of the change.
        self._checkpoints: deque[tuple[int, Follower]] = deque(maxlen=_CHECKPOINTS)

    @property
    def notes(self) -> list[str]:
        """The changes that could not be applied, with reasons."""
        return self._follower.notes

    def add(self, change: Change) -> None:
        """Add the next change."""
        if change.kind == "Workload":
            self._uids[change.manifest["metadata"].get("uid")] = change.key
        elif change.kind not in CONFIGURATION:
            return
        index = self._added
        self._changes[index] = change
        self._added += 1
        if decisions := list(decisions_of(change, index, self._uids)):
            self._at[index] = decisions

    def _recorded(self) -> Iterator[RecordedDecision]:
        """Yield the known decisions of the cluster."""
        return (one for decisions in self._at.values() for one in decisions)

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
        self._wait(change.time, index)
        for decision in self._at.get(index, ()):
            self._judge(decision)
        if change.kind == "Workload":
            self._checkpoints.append((change.time, self._written.fork()))
        self._written.tick(change.time)
        self._written.apply(change, status=True)
        matters = self._follower.apply(change, status=True, is_ahead=self._is_ahead(change.key, index))
        if matters and change.kind != "Workload":
            self._configured = change.time
        if matters or self._doubted:
            self._follower.notice()
            self._decide(index + 1)
        self._report_doubts(index)
        if index % _CHECKPOINTS == 0:
            self._forget(index)

    def _is_ahead(self, key: str, index: int) -> bool:
        """Return whether kueuepy has made a decision about a workload that the cluster writes after a change."""
        return any(one.workload == key and one.index > index and one in self._made for one in self._recorded())

    def _forget(self, index: int) -> None:
        """Delete the data that no later decision needs."""
        # A recording of months must not fill the memory.
        for old in [one for one in self._changes if one < index - _CHECKPOINTS]:
            change = self._changes.pop(old)
            self._made.difference_update(self._at.pop(old, ()))
            if change.new is None:
                self._uids.pop(change.manifest["metadata"].get("uid"), None)

    def _wait(self, time: int, index: int) -> None:
        """Advance the clock to a change; retry inadmissible workloads whenever a retry is due."""
        while self._follower.due and (first := min(self._follower.due.values())) <= time:
            self._follower.tick(first)
            self._follower.retry(first)
            self._decide(index)
        self._follower.tick(time)

    def _decide(self, index: int) -> None:
        """Run cycles while the recording contains their decisions within the latency.

        Args:
            index: The index of the next change.
        """
        ahead = None
        for _ in range(_MOST_CYCLES):
            before = self._follower.fork()
            cycle = self._follower.cycle()
            found = list(_decided(before, cycle))
            if cycle.idle or (not found and cycle.ahead == ahead):
                break
            ahead = cycle.ahead if not found else None
            known = [self._expected(index, *one) for one in found]
            if not all(known):
                for (kind, key, decision), one in zip(found, known, strict=True):
                    if one is None:
                        self._doubted.setdefault((kind, key), (self._follower.now, decision))
                self._follower = before
                break
            self._made.update(filter(None, known))
        self._follower.notice()

    def _expected(self, index: int, kind: Kind, key: str, decision: Decision) -> RecordedDecision | None:
        """Return the matching recorded decision if the cluster made it within the latency; otherwise return `None`.

        The recorded decisions about one head are matched in the order of their writes.
        """
        for known in self._recorded():
            if (known.kind, known.workload) == (kind, key) and known.index >= index and known not in self._made:
                soon = known.time - self._follower.now <= self.latency
                if not soon or not known.is_same(decision) or not known.is_placed(decision):
                    return None
                return None if kind == "admission" and self._is_preceded(known, index) else known
        return None

    def _is_preceded(self, known: RecordedDecision, index: int) -> bool:
        """Return whether the cluster preempted workloads for a head before it made another decision about the head."""
        return any(
            one.head == known.head and index <= one.index < known.index and one not in self._made
            for one in self._recorded()
        )

    def _judge(self, decision: RecordedDecision) -> None:
        outcome: _Outcome = "same"
        there = True
        # Kueue preempts a workload again if two writes conflict.
        is_repeated = decision.kind == "preemption" and self._follower.is_true(decision.workload, "Evicted")
        if decision not in self._made and not is_repeated:
            before = self._follower.fork()
            outcome, there = self._search(decision)
            if outcome == "different":
                self.differences.append(self._difference(before, decision))
            elif not there:
                self.differences.append(self._misplaced(before, decision))
        if any(decision.domains):
            self.domains[there] += 1
        self.judged.append(JudgedDecision(Timestamp.of(decision.time), decision.kind, decision.workload, outcome))
        if decision.kind == "preemption":
            self._follower.await_victims(decision.head)
        self._made.add(decision)
        self._doubted.pop((decision.kind, decision.workload), None)
        self._reported.discard((decision.kind, decision.workload))

    def _search(self, decision: RecordedDecision) -> tuple[_Outcome, bool]:
        """Find a state within the latency in which kueuepy makes the decision.

        Returns:
            The outcome, and whether the topology domains are the same.
        """
        elsewhere: _Outcome = "different"
        for position, (state, tried) in enumerate(self._variants(decision)):
            found = self._makes(state, decision, tried)
            if found is None:
                continue
            outcome: _Outcome = "same" if position == 0 else "moment"
            if decision.is_placed(found):
                return outcome, True
            elsewhere = outcome if elsewhere == "different" else elsewhere
        if decision.kind == "preemption" and self._makes_in_tie(decision):
            return "tie", True
        if elsewhere == "different" and any(self._makes_among(state, decision) for state in self._states(decision)):
            return "moment", True
        return elsewhere, elsewhere == "different" and not any(decision.domains)

    def _makes_in_tie(self, decision: RecordedDecision) -> bool:
        """Return whether kueuepy makes a decision if equal shares are ordered differently.

        Kueue chooses one of several cohorts with the same share at random
        (pkg/scheduler/preemption/fairsharing/ordering.go:nextTarget).
        """
        return any(
            self._is_made(state, decision, state.ask(decision.head, (obj,)))
            for state in (self._follower, self._written)
            for obj in state.tilted()
        )

    def _makes_among(self, state: Follower, decision: RecordedDecision) -> bool:
        """Return whether a Follower makes a decision in a cycle with the heads of the decisions written near it.

        The heads of a cycle influence each other, for example if they need the same victims.
        """
        near = [
            one.head for one in self._recorded() if -_WRITTEN_TOGETHER <= one.index - decision.index < _WRITTEN_TOGETHER
        ]
        return any(
            (kind, key) == (decision.kind, decision.workload) and decision.is_same(one) and decision.is_placed(one)
            for kind, key, one in _decided(state, state.fork().consider([*near, decision.head]))
        )

    def _variants(self, decision: RecordedDecision) -> Iterator[tuple[Follower, Sequence[ResourceFlavor]]]:
        """Yield the states, first with all flavors, then without those that the scheduler can have tried before."""
        for tried in ((), *self._follower.tried(decision.head)):
            for state in self._states(decision):
                yield state, tried

    def _states(self, decision: RecordedDecision) -> Iterator[Follower]:
        """Yield the states in which the cluster can have made a decision, the most likely state first."""
        yield self._follower
        # The scheduler makes a decision before it writes the decision, and writes several decisions at a time.
        yield self._written
        for time, written in reversed(self._checkpoints):
            if time < decision.time - self.latency:
                return
            yield written

    def _makes(self, state: Follower, decision: RecordedDecision, tried: Sequence[ResourceFlavor]) -> Decision | None:
        """Return the decision of a Follower about the head of a recorded decision; `None` if it differs."""
        if decision.kind == "replacement":
            # Kueue looks for other nodes after a second; a write in between starts this second anew only here.
            runs = (state.fork(), state.fork())
            runs[1].tick(state.now + SECOND)
            cycles = (one for run in runs for one in run.cycle())
            return next((one for one in cycles if one.workload == decision.head and decision.is_same(one)), None)
        found = state.ask(decision.head, tried)
        return found if self._is_made(state, decision, found) else None

    def _is_made(self, state: Follower, decision: RecordedDecision, found: Decision | None) -> bool:
        """Return whether a decision of a Follower equals a recorded decision, apart from the topology domains."""
        if found is None or not decision.is_same(found):
            return False
        if decision.kind == "admission":
            return isinstance(found, Admitted)
        if not isinstance(found, Preempting):
            return False
        targets = {one.workload for one in found.targets if not state.is_true(one.workload, "Evicted")}
        victims = {one.workload for one in self._recorded() if (one.head, one.kind) == (decision.head, "preemption")}
        return decision.workload in targets and targets <= victims

    def _difference(self, before: Follower, decision: RecordedDecision) -> Difference:
        explanation = before.explanation(decision.head)
        state = explanation.partition("\n")[0] or "kueuepy has no such workload"
        here = before.ask(decision.head)
        what = f"kueuepy does not consider it: {state}" if here is None else _in_words(here)
        cause = self._cause(before, decision, here)
        return Difference(Timestamp.of(decision.time), decision.kind, decision.workload, what, cause, explanation)

    def _cause(self, before: Follower, decision: RecordedDecision, here: Decision | None) -> str:
        if cause := fault_of_recording(decision.time, decision.workload, self._gaps, self.notes, self.latency):
            return cause
        if session_of(before.scheduler).state.store.objects.get((ClusterQueue, decision.cluster_queue)) is None:
            return "the recording does not contain the ClusterQueue"
        if decision.time - self._configured <= self.latency:
            return "the configuration changed at that time"
        if here is None:
            return "kueuepy does not consider the workload"
        if isinstance(here, Admitted):
            return "kueuepy assigns other flavors or another number of pods"
        if isinstance(here, Preempting):
            return "kueuepy preempts other workloads"
        return "kueuepy finds no capacity for the workload"

    def _misplaced(self, before: Follower, decision: RecordedDecision) -> Difference:
        here = next((one for one in before.fork().cycle() if one.workload == decision.workload), None)
        placed = placed_pods(here.pod_sets) if isinstance(here, Admitted) else "at another time"
        what = f"recorded: {decision.domains}; here: {placed}"
        cause = "kueuepy assigns other topology domains"
        return Difference(Timestamp.of(decision.time), "domains", decision.workload, what, cause)

    def _report_doubts(self, index: int) -> None:
        """Report decisions that kueuepy makes and the cluster does not make within the latency.

        A decision that was reported is not reported again until the cluster makes a decision of the same kind about the
        workload.
        """
        now = self._changes[index].time
        for (kind, key), (time, decision) in list(self._doubted.items()):
            if now - time <= self.latency:
                continue
            del self._doubted[kind, key]
            if (kind, key) in self._reported:
                continue
            again = self._follower.fork()
            if any(one[:2] == (kind, key) for one in _decided(self._follower, again.cycle())):
                self._reported.add((kind, key))
                what = f"only kueuepy decides this: {_in_words(decision)}"
                explanation = self._follower.explanation(decision.workload)
                waits = decision.workload in self._follower.refused
                cause = RETRY if waits else "only kueuepy makes the decision"
                self.differences.append(Difference(Timestamp.of(time), kind, key, what, cause, explanation))


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


def _in_words(decision: Decision) -> str:
    if isinstance(decision, Admitted):
        flavors = {flavor for one in decision.pod_sets for flavor in one.flavors.values()}
        return f"admitted on {', '.join(sorted(flavors))}"
    if isinstance(decision, Preempting):
        return f"preempts {', '.join(target.workload for target in decision.targets)}"
    return f"pending: {decision.reason}: {decision.message}"
