"""The recorded lives of workloads: the decisions of the cluster about each workload, and the runtimes of its job."""

from __future__ import annotations

from collections import defaultdict
from statistics import median_low
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.platform.history import Conditions
from kueuepy.platform.live.recording import (
    RecordedDecision,
    reclaimable_pods,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kueuepy.platform.live.recording import Change


class Answer(msgspec.Struct, eq=False):
    """Recorded answers to the admission checks of a workload.

    Attributes:
        after: The time since the reservation of quota, in nanoseconds.
        old: The Workload before the answers of the check controllers.
        new: The Workload with the answers of the check controllers.
    """

    after: int
    old: dict[str, Any]
    new: dict[str, Any]


class Run(msgspec.Struct, eq=False):
    """A quota reservation and the events that followed it. All times are in nanoseconds.

    Attributes:
        decision: The recorded decision; `None` if the workload had quota when the recording began.
        reserved: The time of the reservation since the Unix epoch.
        admitted: The time of the admission since the Unix epoch; `None` if the workload was not admitted.
        answers: The answers to admission checks.
        ready: For each change of the condition `PodsReady`: the time since the admission, and whether pods are ready.
        reclaimed: For each change of the reclaimable pods: the time since the admission, and the reclaimable pods.
        evicted: The time of the eviction since the Unix epoch; `None` if the workload was not evicted.
        released: The time from the eviction to the release of the quota; `None` if the quota was not released.
    """

    decision: RecordedDecision | None
    reserved: int
    admitted: int | None = None
    answers: list[Answer] = []
    ready: list[tuple[int, bool]] = []
    reclaimed: list[tuple[int, dict[str, int]]] = []
    evicted: int | None = None
    released: int | None = None


class Life(msgspec.Struct, eq=False):
    """A recorded Workload from its submission to its deletion.

    Attributes:
        key: `namespace/name`.
        index: The index of the change that submitted the Workload.
        submitted: The time of the change that submitted the Workload, in nanoseconds since the Unix epoch.
        runs: The reservations of quota.
        runtime: The time from the last admission until the job finished, in nanoseconds; `None` if the job did not
            finish, or finished without an admission.
        reason: The reason of the condition `Finished`; empty if the job did not finish.
        waited: Whether Kueue found at least once that the workload does not fit before Kueue reserved quota for it.
        by_kueue: The indices of changes in which Kueue deactivated the workload.
        deactivated: The index of the last change that deactivated the workload; -1 if there is none.
    """

    key: str
    index: int
    submitted: int
    runs: list[Run] = []
    runtime: int | None = None
    reason: str = ""
    waited: bool = False
    by_kueue: set[int] = set()
    deactivated: int = -1

    def run(self, number: int) -> Run | None:
        """Return the recorded run with the given number, or the last run; `None` if there is no run."""
        return self.runs[min(number, len(self.runs) - 1)] if self.runs else None


def recorded_lives(changes: Sequence[Change], decisions: Iterable[RecordedDecision]) -> dict[int, Life]:
    """Return the life to which each change of a Workload belongs, by the index of the change."""
    reserving = {one.index: one for one in decisions if one.kind == "admission"}
    alive: dict[str, Life] = {}
    found: dict[int, Life] = {}
    for index, change in enumerate(changes):
        if change.kind != "Workload":
            continue
        known = alive.get(change.key)
        if known is None or change.old is None or _uid(change.old) != _uid(change.manifest):
            known = Life(change.key, index, change.time)
        alive[change.key] = found[index] = known
        if change.new is None:
            del alive[change.key]
            continue
        _write(known, change, index, reserving.get(index))
    return found


def _uid(manifest: dict[str, Any]) -> Any:
    return manifest["metadata"].get("uid")


def _write(life: Life, change: Change, index: int, decision: RecordedDecision | None) -> None:
    """Add one write of a Workload to its life."""
    assert change.new is not None, "deletions are no writes"
    old, new, time = change.old or {}, change.new, change.time
    before, after = Conditions(old), Conditions(new)
    if after.true("QuotaReserved") and not before.true("QuotaReserved"):
        life.runs.append(Run(decision, time))
    elif not life.runs and "QuotaReserved" in after:
        life.waited = True
    run = life.runs[-1] if life.runs else None
    if run is not None:
        _continue(run, change, before, after)
    if (old.get("spec") or {}).get("active", True) and not (new.get("spec") or {}).get("active", True):
        life.deactivated = index
    if after.true("Evicted") and after.reason("Evicted").startswith("DeactivatedDueTo") and life.deactivated >= 0:
        life.by_kueue.add(life.deactivated)
    if _is_new(before, after, "Finished"):
        life.reason = after.reason("Finished") or "Succeeded"
        ends = run is not None and run.admitted is not None and run.released is None
        life.runtime = time - run.admitted if ends and run is not None and run.admitted is not None else None


def _continue(run: Run, change: Change, before: Conditions, after: Conditions) -> None:
    old, new, time = change.old or {}, change.manifest, change.time
    if run.admitted is None and after.true("Admitted"):
        run.admitted = time
    if _answers(old) != _answers(new) and run.evicted is None:
        run.answers.append(Answer(time - run.reserved, old, new))
    since = time - (run.admitted if run.admitted is not None else run.reserved)
    if before.true("PodsReady") != after.true("PodsReady") and after.true("QuotaReserved"):
        run.ready.append((since, after.true("PodsReady")))
    pods = reclaimable_pods(new)
    if pods and pods != reclaimable_pods(old):
        run.reclaimed.append((since, pods))
    if _is_new(before, after, "Evicted"):
        run.evicted = time
    if before.true("QuotaReserved") and not after.true("QuotaReserved") and run.released is None:
        run.released = time - (time if run.evicted is None else run.evicted)


def _is_new(before: Conditions, after: Conditions, name: str) -> bool:
    return after.true(name) and not before.true(name)


def _answers(manifest: dict[str, Any]) -> list[tuple[Any, Any]]:
    checks = (manifest.get("status") or {}).get("admissionChecks") or ()
    return [(one.get("name"), one.get("state")) for one in checks if one.get("state") != "Pending"]


def usual_latency(lives: Iterable[Life], changes: Sequence[Change]) -> int:
    """Return the median time from submission to quota, in nanoseconds, of the workloads that did not have to wait.

    A workload did not have to wait if every attempt found that it fits, and if no other workload of its LocalQueue was
    pending when it was submitted.
    """
    pending: dict[str, list[tuple[int, int]]] = defaultdict(list)
    alone: list[int] = []
    for life in sorted(lives, key=lambda one: one.index):
        start = life.runs[0].reserved if life.runs else 2**63 - 1
        manifest = changes[life.index].manifest
        queue = f"{manifest['metadata'].get('namespace')}/{manifest.get('spec', {}).get('queueName')}"
        pending[queue] = [one for one in pending[queue] if one[1] > life.submitted]
        if life.runs and life.runs[0].decision is not None and not life.waited and not pending[queue]:
            alone.append(start - life.submitted)
        pending[queue].append((life.submitted, start))
    return median_low(alone) if alone else 0


def usual_release(lives: Iterable[Life]) -> int:
    """Return the median time that evicted workloads kept their quota, in nanoseconds."""
    times = [
        run.released for life in lives for run in life.runs if run.released is not None and run.evicted is not None
    ]
    return median_low(times) if times else 0
