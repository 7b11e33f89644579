"""The recorded history of a cluster: writes of objects in their order, the decisions and the lives of workloads."""

import heapq
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

import msgspec

from kueuepy.engine.decisions import Admitted, Decision
from kueuepy.errors import InvalidSpecError, KueueError, NotFoundError, counted
from kueuepy.files import uncompressed
from kueuepy.jobs.numbers import unsigned
from kueuepy.manifest import is_recording, load
from kueuepy.objects import LONGEST, Timestamp, parse_time
from kueuepy.platform.apiserver import RESOURCES
from kueuepy.platform.history import Conditions, Recording, key_of, reduced
from kueuepy.platform.live.agreement import Kind

# Kueue names the preemptor only in the message of the condition Evicted.
_PREEMPTOR = re.compile(r"\(UID: ([^,)]*)")
_MANAGER = "kueue-manager-config"
_HINT = ", as `kubectl get --watch -o json --output-watch-events` prints it; a dump has no history to verify"
_WRITES = {"ADDED", "MODIFIED", "DELETED"}
# The kinds that only controllers of admission checks read.
_OF_CONTROLLERS = {"MultiKueueConfig", "MultiKueueCluster", "ProvisioningRequestConfig"}
CONFIGURATION = frozenset(resource.kind for resource in RESOURCES) - _OF_CONTROLLERS - {"Workload"}
"""The kinds of objects, besides Workload, that influence decisions."""
# The ConfigMap has the Configuration of Kueue's manager.
_READ = CONFIGURATION | {"Workload", "ConfigMap"}


class Change(NamedTuple):
    """One recorded write to one object.

    Attributes:
        revision: The object's resourceVersion, which orders the writes of all kinds.
        time: The time at which the watch received the write, in nanoseconds since the Unix epoch; this time never
            decreases within a recording.
        kind: The kind of the object.
        key: `namespace/name`, or the name of a cluster-scoped object.
        old: The previous version; `None` for a new object.
        new: The version that was written; `None` if the object was deleted.
    """

    revision: int
    time: int
    kind: str
    key: str
    old: dict[str, Any] | None
    new: dict[str, Any] | None

    @property
    def manifest(self) -> dict[str, Any]:
        """The new version of the object, or the old version if the object was deleted."""
        found = self.old if self.new is None else self.new
        assert found is not None, "a change has a version before or after it"
        return found


def read_events(path: str | os.PathLike[str]) -> list[Change]:
    """Read the changes in a recording of `kueuepy record`, or in a file of watch events.

    A file of watch events contains JSON lines `{"received", "type", "kind", "object"}`; gzip compression is detected.

    Args:
        path: The file.

    Raises:
        NotFoundError: The file cannot be read.
        InvalidSpecError: A line is not a watch event.
    """
    if is_recording(os.fspath(path)):
        return changes(Recording(path).events())
    try:
        data = uncompressed(Path(path).read_bytes())
    except OSError as error:
        raise NotFoundError(f"{path}: cannot be read: {error.strerror or error}") from error
    return changes(_events(str(path), data))


def recorded_gaps(path: str | os.PathLike[str]) -> list[tuple[int, int]]:
    """Return the periods in which changes might be missing from a recording, in nanoseconds since the Unix epoch."""
    if not is_recording(os.fspath(path)):
        return []
    return [(gap["since"], gap["until"]) for gap in Recording(path).gaps()]


def gap_notes(gaps: Sequence[tuple[int, int]]) -> list[str]:
    """Return a note about the periods in which changes might be missing; empty if there are none."""
    if not gaps:
        return []
    longest = max(gaps, key=lambda gap: gap[1] - gap[0])
    span = " to ".join(str(Timestamp.of(time)) for time in longest)
    return [f"changes might be missing in {counted(len(gaps), 'period')} of the recording; the longest is {span}"]


def manager_configuration(found: Iterable[Change]) -> list[dict[str, Any]]:
    """Return the last version of the ConfigMap of Kueue's manager; an empty list if there is none."""
    versions = [one.new for one in found if one.kind == "ConfigMap" and one.key.endswith(f"/{_MANAGER}")]
    return [one for one in versions if one is not None][-1:]


def _events(path: str, data: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            event = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidSpecError(f"{path}:{number}: {error}; a line must be a watch event{_HINT}") from None
        what, obj = event.get("type"), event.get("object")
        if what not in (*_WRITES, "BOOKMARK", "ERROR"):
            raise InvalidSpecError(f"{path}:{number}: type: is {what!r:.99}; a line must be a watch event{_HINT}")
        kind = str(event.get("kind") or (obj.get("kind") if isinstance(obj, dict) else None) or "")
        if what in _WRITES and (not kind or kind in _READ):
            if fault := _fault(event):
                raise InvalidSpecError(f"{path}:{number}: {fault}")
            yield {**event, "kind": kind}


def _fault(event: Mapping[str, Any]) -> str:
    """Return the reason why an event is invalid; an empty string if the event is valid."""
    obj = event.get("object")
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return "object: metadata.name: is missing; an event has the whole object"
    if unsigned(str(metadata.get("resourceVersion", ""))) is None:
        return f"object: metadata.resourceVersion: is {metadata.get('resourceVersion')!r:.99}; it must be a number"
    if _received(event) is None:
        return f"received: is {event.get('received')!r:.99}; it must be a time such as 2026-08-01T12:00:00.5Z"
    return ""


def _received(event: Mapping[str, Any]) -> int | None:
    """Return the time of receipt in nanoseconds since the Unix epoch; `None` if the time is invalid."""
    text = event.get("received")
    return parse_time(text) if isinstance(text, str) else None


class WatchEvent(NamedTuple):
    """A version of an object; events are ordered by their revisions."""

    revision: int
    number: int
    time: int
    kind: str
    key: str
    obj: dict[str, Any] | None


class ChangeStream:
    """The changes that the events of several watches describe, in the order of their writes.

    All kinds of one API server share one sequence of revisions, which orders the events of several watches. Times of
    receipt cannot determine the order of events, because each watch has its own delay. A version that is received twice
    is processed once.
    """

    def __init__(self) -> None:
        """Create an empty stream."""
        self._events: list[WatchEvent] = []
        self._known: dict[tuple[str, str], dict[str, Any]] = {}
        self._numbers = count()
        self._time = 0

    def add(self, kind: str, obj: dict[str, Any], time: int, *, deleted: bool = False) -> str:
        """Add an event.

        Args:
            kind: The kind of the object.
            obj: The whole object.
            time: The time of receipt, in nanoseconds since the Unix epoch.
            deleted: Whether the object was deleted.

        Returns:
            The key of the object.
        """
        event = self._event(kind, obj, time, deleted=deleted)
        heapq.heappush(self._events, event)
        return event.key

    def _event(self, kind: str, obj: dict[str, Any], time: int, *, deleted: bool = False) -> WatchEvent:
        found = {"kind": kind, **reduced(obj, kind)}
        metadata = found["metadata"]
        revision, key = int(metadata["resourceVersion"]), key_of(metadata)
        return WatchEvent(revision, next(self._numbers), time, kind, key, None if deleted else found)

    def changes(self, until: int = LONGEST) -> Iterator[Change]:
        """Yield the changes in the order of their revisions, up to one that was received after a given time."""
        while self._events and self._events[0].time <= until:
            yield from self._change(heapq.heappop(self._events))

    def _change(self, event: WatchEvent) -> Iterator[Change]:
        old = self._known.get((event.kind, event.key))
        # A list repeats versions that a watch has sent.
        if old is not None and int(old["metadata"]["resourceVersion"]) >= event.revision:
            return
        if event.obj is not None:
            self._known[event.kind, event.key] = event.obj
        elif self._known.pop((event.kind, event.key), None) is None:
            return
        # Watches have different delays; time must not go back within a recording.
        self._time = max(self._time, event.time)
        yield Change(event.revision, self._time, event.kind, event.key, old, event.obj)


def changes(events: Iterable[Mapping[str, Any]]) -> list[Change]:
    """Return the changes that watch events record, in the order of their writes."""
    stream = ChangeStream()
    for event in events:
        kind = str(event.get("kind") or event["object"].get("kind"))
        stream.add(kind, event["object"], _received(event) or 0, deleted=event["type"] == "DELETED")
    return list(stream.changes())


def assignments(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the pod set assignments in the admission of a Workload's manifest."""
    admission = (manifest.get("status") or {}).get("admission") or {}
    return list(admission.get("podSetAssignments") or ())


def reclaimable_pods(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return, for each pod set, the number of pods that no longer need their quota."""
    found = (manifest.get("status") or {}).get("reclaimablePods") or ()
    return {str(one["name"]): int(one.get("count") or 0) for one in found if "name" in one}


class RecordedDecision(msgspec.Struct, eq=False):
    """A decision of the cluster's scheduler.

    Attributes:
        index: The index of the change that records the decision.
        time: The time at which the change that records the decision was received, in nanoseconds since the Unix epoch.
        kind: The kind of the decision.
        workload: The workload that was admitted, preempted or moved, `namespace/name`.
        head: The workload that the scheduler considered: the preemptor for a preemption, otherwise the workload itself.
        assigned: For each pod set, the number of pods and the flavor of each resource.
        domains: For each pod set, the topology domains and their numbers of pods; `None` without a topology.
        cluster_queue: The ClusterQueue in which the workload has or had quota.
    """

    index: int
    time: int
    kind: Kind
    workload: str
    head: str
    assigned: dict[str, tuple[int | None, dict[str, str]]] = {}
    domains: list[Any] = []
    cluster_queue: str = ""

    def is_same(self, decision: Decision) -> bool:
        """Return whether a decision equals the recorded decision, regardless of the topology domains."""
        if self.head != decision.workload:
            return False
        return self.assigns(decision.pod_sets) if isinstance(decision, Admitted) else True

    def assigns(self, pod_sets: Iterable[Any]) -> bool:
        """Return whether pod set assignments have the recorded numbers of pods and flavors."""
        assigned = {one.name: (one.count, dict(one.flavors)) for one in pod_sets}
        return all(
            name in assigned and flavors == assigned[name][1] and count in (None, assigned[name][0])
            for name, (count, flavors) in self.assigned.items()
        )

    def is_placed(self, decision: Decision) -> bool:
        """Return whether a decision assigns the recorded topology domains."""
        return not any(self.domains) or (isinstance(decision, Admitted) and self.places(decision.pod_sets))

    def places(self, pod_sets: Iterable[Any]) -> bool:
        """Return whether pod set assignments have the recorded topology domains."""
        return not any(self.domains) or placed_pods(pod_sets) == self.domains


def decisions_of(change: Change, index: int, uids: Mapping[Any, str]) -> Iterator[RecordedDecision]:
    """Yield the decisions of the scheduler that one change records.

    Args:
        change: The change.
        index: The index of the change.
        uids: The keys of the workloads by UID.
    """
    if change.kind != "Workload" or change.new is None or change.old is None:
        return
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
    domains = _recorded_domains(change.new) if found and found[0][0] != "preemption" else []
    queue = str(((change.new.get("status") or {}).get("admission") or {}).get("clusterQueue") or "")
    assigned = {one["name"]: (one.get("count"), dict(one.get("flavors") or {})) for one in assignments(change.new)}
    for kind, head in found:
        yield RecordedDecision(index, change.time, kind, change.key, head, assigned, domains, queue)


def _placed(manifest: dict[str, Any]) -> list[Any]:
    return [one.get("topologyAssignment") for one in assignments(manifest)]


def _recorded_domains(manifest: dict[str, Any]) -> list[Any]:
    if not any(_placed(manifest)):
        return []
    try:
        (workload,) = load(manifest, strict=False).workloads
    except KueueError:  # the follower notes it
        return []
    assert workload.status is not None, "it has an admission"
    assert workload.status.admission is not None, "it has an admission"
    return placed_pods(workload.status.admission.pod_set_assignments)


def placed_pods(pod_sets: Iterable[Any]) -> list[Any]:
    """Return the topology domains of each pod set with their numbers of pods; `None` without a topology."""
    placed = [one.topology_assignment for one in pod_sets]
    return [None if one is None else [(domain.values, domain.count) for domain in one.domains] for one in placed]


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
        _add_write(known, change, index, reserving.get(index))
    return found


def _uid(manifest: dict[str, Any]) -> Any:
    return manifest["metadata"].get("uid")


def _add_write(life: Life, change: Change, index: int, decision: RecordedDecision | None) -> None:
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
    # A workload that found another one pending in its queue may have waited for it.
    for life in sorted(lives, key=lambda one: one.index):
        start = life.runs[0].reserved if life.runs else LONGEST
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
