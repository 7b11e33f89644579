"""Events of workloads, and their table with one row for each event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kueuepy.engine.inventory import EventKind  # noqa: TC001 - msgspec reads it
from kueuepy.errors.arguments import checked
from kueuepy.tables import Columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kueuepy._core import Engine

NEVER = -1
"""The value of a missing time."""


class SchedulerEvent(msgspec.Struct, frozen=True):
    """An event of a workload.

    | kind | meaning | `since` is the start of |
    | --- | --- | --- |
    | `Created` | the workload was submitted | |
    | `QuotaReserved` | a scheduling cycle reserved quota | |
    | `Admitted` | the workload was admitted | the wait for admission checks, if it has any |
    | `PodsReady` | all pods became ready, or became ready again | the admission |
    | `Evicted` | the workload was evicted | the readiness of its pods, if they were ready |
    | `QuotaReleased` | the quota was released | the eviction, if it was evicted |
    | `Pending` | the condition `QuotaReserved` was updated with the reason for waiting | |
    | `PreemptionSkipped` | a preemption was skipped in favour of other heads of the cycle | |
    | `TargetsRecomputed` | preemption targets overlapped with another head; `underlying_cause` has the result | |
    | `Assigned` | the topology assignment of a workload with quota changed | |
    | `UnhealthyNodes` | nodes of its topology assignment failed or became ready again | |
    | `Finished` | the job finished | the execution, as if it had run without interruption |
    | `Deleted` | the workload was deleted | |

    Attributes:
        time: Time of the event, in nanoseconds since the Unix epoch.
        cycle: Number of scheduling cycles with heads that had started by then.
        kind: Kind of the event.
        workload: Key of the workload, `namespace/name`.
        local_queue: The name of its LocalQueue.
        priority_class: The name of its priority class, if it has one.
        cluster_queue: The ClusterQueue in which it holds quota or is pending; empty if it finished without quota.
        reason: Reason of the condition that reports the event.
        underlying_cause: For an eviction, the cause of the reason: `WaitForStart` or `WaitForRecovery` for
            `PodsReadyTimeout`, and the second part of `DeactivatedDueTo…`. For `TargetsRecomputed`, the result:
            `NewTargets`, `DeferredFit` or `Skipped`.
        preemption_reason: For a preemption, the rule that allowed it.
        message: Message of the condition, exactly as Kueue writes it.
        preemptor: For a preemption, the key of the preempting workload.
        preemptor_cluster_queue: For a preemption, the ClusterQueue of the preempting workload.
        queued_since: Time of the creation or the last requeuing of the workload, in nanoseconds since the Unix epoch
            (`pkg/workload/workload.go:QueuedWaitTime`).
        since: Start of the period that the event ends, in nanoseconds since the Unix epoch; -1 without a period.
    """

    time: int
    cycle: int
    kind: EventKind
    workload: str
    local_queue: str
    priority_class: str
    cluster_queue: str
    reason: str
    underlying_cause: str
    preemption_reason: str
    message: str
    preemptor: str
    preemptor_cluster_queue: str
    queued_since: int
    since: int

    @property
    def namespace(self) -> str:
        """The namespace of the workload."""
        return self.workload.partition("/")[0]


class EventTable(Columns):
    """A table of events, oldest first, with a column for each attribute of `SchedulerEvent`."""


@checked
def event_table(events: Sequence[SchedulerEvent]) -> EventTable:
    """Return events as a table."""
    return EventTable({name: [getattr(event, name) for event in events] for name in SchedulerEvent.__struct_fields__})


@checked
def drain_events(engine: Engine) -> Iterator[SchedulerEvent]:
    """Return the events since the last call and remove them from the engine."""
    return (SchedulerEvent(*view[:-1], NEVER if view[-1] is None else view[-1]) for view in engine.drain_events())
