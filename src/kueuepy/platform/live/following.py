"""A Scheduler that follows a recording: it applies the recorded changes but makes its own decisions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from kueuepy._core import Engine, Quantity
from kueuepy.cluster import Cluster
from kueuepy.engine.cycle import Cycle
from kueuepy.engine.decisions import Decision
from kueuepy.errors import KueueError
from kueuepy.manifest import load
from kueuepy.objects import SECOND, ClusterQueue, Cohort, FairSharing, Object, ResourceFlavor, Taint
from kueuepy.platform.history import Conditions
from kueuepy.platform.live.recording import CONFIGURATION, Change, reclaimable_pods
from kueuepy.scheduler import Scheduler
from kueuepy.session.changes import await_victims, is_stopping, job_stopped, take
from kueuepy.session.session import session_of
from kueuepy.session.state import SchedulerState
from kueuepy.session.submission import SubmittedWorkload

RETRY_PERIOD = SECOND
"""The time for which Kueue collects notifications before it retries the inadmissible workloads of a cohort tree.

Source: `pkg/cache/queue/inadmissible_workloads.go:requeueBatchPeriod`.
"""
# A taint that no workload tolerates.
_TRIED = Taint("kueuepy.example.com/tried", "true", "NoSchedule")
# The relative change of a weight that breaks a tie of two shares, but not an inequality.
_TILT = 1e-6
# The time after which pods of an evicted job terminate, unless the recording terminates them earlier.
_UNTIL_RECORDED = "87600h"


class Follower:
    """A Scheduler that applies the changes of a recording.

    Attributes:
        scheduler: The cluster after the applied changes and the Scheduler's own decisions.
        due: The time at which each notified cohort tree is retried, in nanoseconds since the Unix epoch.
        notes: The changes that could not be applied, with reasons.
        refused: The keys of the pending workloads that the cluster has tried to admit.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        """Store a Scheduler, which the methods modify."""
        self.scheduler = scheduler
        self.due: dict[str, int] = {}
        self.notes: list[str] = []
        self.refused: set[str] = set()

    @classmethod
    def start(cls, configuration: Iterable[dict[str, Any]]) -> "Follower":
        """Return a Follower with an empty cluster and with the Configuration in the given objects, if they contain one.

        Args:
            configuration: The manifests of the recorded configuration objects.
        """
        manifest = load(list(configuration), strict=False)
        scheduler = Scheduler(Cluster.from_manifest(manifest, names=False), now=0, stopping=_UNTIL_RECORDED)
        # The follower retries pending workloads itself, at the times at which Kueue does.
        session_of(scheduler).engine.hold_retries(hold=True)
        state = session_of(scheduler).state  # The recording contains the deletions.
        state.configuration = replace(state.configuration, object_retention_policies=None)
        return cls(scheduler)

    def fork(self) -> "Follower":
        """Return an independent copy, except for `notes`, which are shared."""
        twin = type(self)(self.scheduler.fork())
        twin.due, twin.notes, twin.refused = dict(self.due), self.notes, self.refused
        return twin

    @property
    def _state(self) -> SchedulerState:
        return session_of(self.scheduler).state

    @property
    def _engine(self) -> Engine:
        return session_of(self.scheduler).engine

    @property
    def now(self) -> int:
        """The time in nanoseconds since the Unix epoch."""
        return self._engine.now

    def has(self, key: str) -> bool:
        """Return whether a workload exists."""
        return self._engine.find(key) >= 0

    def is_true(self, key: str, condition: str) -> bool:
        """Return whether a condition of a workload is True; False if the workload does not exist."""
        found = self._engine.condition(self._engine.find(key), condition) if self.has(key) else None
        return found is not None and bool(found[0])

    def explanation(self, key: str) -> str:
        """Return the explanation of a workload's state; an empty string if the workload does not exist."""
        return str(self.scheduler.explain(key)) if self.has(key) else ""

    def tick(self, time: int) -> None:
        """Set the clock to a time, in nanoseconds since the Unix epoch."""
        self._engine.set_now(time)

    def notice(self) -> None:
        """Schedule a retry of each notified cohort tree that has no scheduled retry."""
        for tree in self._engine.notified_trees():
            self.due.setdefault(tree, self.now + RETRY_PERIOD)

    def retry(self, until: int) -> None:
        """Retry the inadmissible workloads of the cohort trees that are due.

        Args:
            until: The time in nanoseconds since the Unix epoch.
        """
        ready = {tree for tree, due in self.due.items() if due <= until}
        for tree in ready:
            del self.due[tree]
        self._engine.retry(ready)

    def apply(self, change: Change, *, status: bool = False, is_ahead: bool = False) -> bool:
        """Apply a change of an object.

        Args:
            change: The change.
            status: Whether to take over the whole state of a Workload, in every field that a later decision reads, and
                not only its specification. State that no object contains is kept: which workloads are inadmissible, the
                scan progress, and the preemptors.
            is_ahead: Whether this Follower has made a decision about the Workload that the cluster writes later; the
                outcome of this decision is kept.

        Returns:
            Whether the change can influence decisions.
        """
        try:
            if change.kind != "Workload":
                return self._object(change)
            if change.new is None:
                if self.has(change.key):
                    self.scheduler.delete(change.key)
            elif change.old is None or not self.has(change.key):
                self.set_to(change.new)
            elif status:
                return self._adopt(change.key, change.old, change.new, is_ahead=is_ahead)
            else:
                return self._spec(change.old, change.new)
        except KueueError as error:
            self.notes.append(f"{change.kind} {change.key} at revision {change.revision}: {error}")
        return True

    def _adopt(self, key: str, old: dict[str, Any], new: dict[str, Any], *, is_ahead: bool) -> bool:
        before, after = Conditions(old), Conditions(new)
        if after.true("Finished"):
            if not self.is_true(key, "Finished"):
                self.finish(key, after.reason("Finished"))
            return not before.true("Finished")
        if after.reason("QuotaReserved").startswith("WaitingFor"):
            self.refused.add(key)
        elif after.true("QuotaReserved"):
            self.refused.discard(key)
        matters = self._spec(old, new)
        if is_ahead:
            return matters
        # A workload that stays pending keeps its position in the queue, unless Kueue itself would add it again
        # (pkg/cache/queue/cluster_queue.go:PushOrUpdate).
        holds = after.true("QuotaReserved") or before.true("QuotaReserved") or self.is_true(key, "QuotaReserved")
        if holds or _queueing(old) != _queueing(new):
            self.set_to(new)
            return True
        return matters

    def cycle(self) -> Cycle:
        """Run one scheduling cycle without the controllers, whose writes the recording contains."""
        return Cycle(self._engine.decide(self._state.not_modelled))

    def ask(self, key: str, changed: Sequence[Object] = ()) -> Decision | None:
        """Return the decision of a cycle whose only head is a workload, without changing anything.

        In a BestEffortFIFO queue, the position of the workload has no influence, because no object shows which of the
        workloads before it are inadmissible. `None` if the workload does not exist, has quota, or is not the first
        workload of a StrictFIFO queue.

        Args:
            key: The key of the workload.
            changed: Objects that replace the objects of the same names.
        """
        found = self._engine.find(key)
        if found < 0 or self.is_true(key, "QuotaReserved") or self.is_true(key, "Finished"):
            return None
        queue = self._queue_of(key)
        if queue is not None and queue.queueing_strategy == "StrictFIFO":
            active, _ = self._engine.queues().get(queue.name, ([], []))  # only queues with workloads are listed
            # Kueue considers only the head of a StrictFIFO queue.
            if active[:1] != [key]:
                return None
        engine = self._engine.fork() if changed else self._engine
        for obj in changed:
            engine.apply(obj, True)  # noqa: FBT003 - as changed
        return engine.ask([found], self._state.not_modelled)[0]

    def _queue_of(self, key: str) -> ClusterQueue | None:
        workload = self._state.known(self._engine.find(key))
        queue = self._state.cluster_queue_of(f"{workload.namespace}/{workload.queue_name}")
        return queue if isinstance(queue, ClusterQueue) else None

    def consider(self, keys: Iterable[str]) -> Cycle:
        """Retry all inadmissible workloads, and run a cycle in which workloads are the heads of their ClusterQueues.

        Args:
            keys: The keys of the workloads; the last one of a ClusterQueue is its head.
        """
        for queue in self._state.store.objects.of(ClusterQueue):
            self._engine.apply(queue, True)  # noqa: FBT003 - as changed, which schedules a retry
        self._engine.retry(set(self._engine.notified_trees()))
        for key in keys:
            self.await_victims(key)
        return self.cycle()

    def tried(self, key: str) -> Iterator[list[ResourceFlavor]]:
        """Yield the flavors that the scheduler can have tried before, with a taint so that `ask` skips them.

        After a refusal, Kueue continues with the next flavor, and no object shows which one that is
        (pkg/scheduler/flavorassigner/flavorassigner.go:LastTriedFlavorIdx).
        """
        queue = self._queue_of(key) if key in self.refused and self.has(key) else None
        for group in () if queue is None else queue.resource_groups:
            found = (self._state.store.objects.get((ResourceFlavor, one.name)) for one in group.flavors)
            flavors = [one for one in found if isinstance(one, ResourceFlavor)]
            for count in range(1, len(flavors)):
                yield [replace(one, node_taints=(*one.node_taints, _TRIED)) for one in flavors[:count]]

    def tilted(self) -> Iterator[Object]:
        """Yield each Cohort and ClusterQueue with a slightly higher and a slightly lower weight, which breaks ties."""
        if self._state.configuration.fair_sharing is None:
            return
        objects = self._state.store.objects
        nodes: tuple[Cohort | ClusterQueue, ...] = (*objects.of(Cohort), *objects.of(ClusterQueue))
        for node in nodes:
            weight = float(Quantity(node.fair_sharing.weight)) if node.fair_sharing is not None else 1.0
            for factor in (1 + _TILT, 1 - _TILT):
                yield replace(node, fair_sharing=FairSharing(f"{weight * factor:.9f}"))

    def await_victims(self, key: str) -> None:
        """Mark a pending workload as the preemptor of its ClusterQueue."""
        if self.has(key):
            await_victims(session_of(self.scheduler), key)

    def set_to(self, manifest: dict[str, Any]) -> None:
        """Replace a Workload with its recorded state.

        Args:
            manifest: The recorded Workload.
        """
        (workload,) = load(manifest, strict=False).workloads
        if self.has(workload.key):
            self.scheduler.delete(workload.key)
        take(session_of(self.scheduler), SubmittedWorkload(workload))

    def _object(self, change: Change) -> bool:
        if change.kind not in CONFIGURATION:
            return False
        differs = False
        for obj in load(change.manifest, strict=False).objects():
            known = self._state.find(obj)
            if change.new is None and known is not None:
                self.scheduler.remove(known)
            elif change.new is not None and known != obj:
                self.scheduler.apply(obj)
            else:
                continue
            differs = True
        return differs

    def _spec(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        if old.get("spec") == new.get("spec"):
            return False
        self.scheduler.apply(*load(new, strict=False).workloads)
        return True

    def finish(self, key: str, reason: str) -> None:
        """Finish a workload.

        Args:
            key: The key of the workload.
            reason: The recorded reason of the condition `Finished`.
        """
        self.scheduler.finish(key, reason="Succeeded" if reason == "Succeeded" else "Failed")

    def answer(self, key: str, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Set admission checks to their recorded states.

        The state `Pending` is skipped, because the Scheduler itself resets checks to `Pending`.

        Args:
            key: The key of the workload.
            old: The Workload before the answers of the check controllers.
            new: The Workload with the answers of the check controllers.
        """
        before = {check["name"]: check for check in (old.get("status") or {}).get("admissionChecks") or ()}
        for check in (new.get("status") or {}).get("admissionChecks") or ():
            state = check.get("state")
            if state == "Pending" or state == before.get(check["name"], {}).get("state"):
                continue
            self.scheduler.set_check(
                key,
                check["name"],
                state,
                message=check.get("message"),
                requeue_after=check.get("requeueAfterSeconds"),
                pod_set_updates=tuple(check.get("podSetUpdates") or ()),
            )

    def release(self, key: str) -> None:
        """Release the quota of an evicted workload whose pods have terminated; another workload is not changed."""
        session, engine = session_of(self.scheduler), self._engine
        engine.settle()
        if not is_stopping(session.state, engine.find(key)):
            return
        job_stopped(session, key)
        engine.settle()


def _queueing(manifest: dict[str, Any]) -> Any:
    """Return the fields of the status that determine whether and when a pending workload is active."""
    status, conditions = manifest.get("status") or {}, Conditions(manifest)
    names = ("Evicted", "Requeued", "DeactivationTarget")
    checks = [(one.get("name"), one.get("state")) for one in status.get("admissionChecks") or ()]
    return [conditions.get(name) for name in names], checks, status.get("requeueState"), reclaimable_pods(manifest)
