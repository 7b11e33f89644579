"""Events of workloads, and their table with one row for each event."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kueuepy._core import Engine
from kueuepy.engine.records import EventKind, EventView
from kueuepy.errors.arguments import checked
from kueuepy.objects import Timestamp
from kueuepy.tables.columns import Columns, times


class SchedulerEvent(msgspec.Struct, frozen=True):
    """An event of a workload.

    | kind | meaning | `since` is the start of |
    | --- | --- | --- |
    | `Created` | the workload was submitted | |
    | `QuotaReserved` | a scheduling cycle reserved quota | |
    | `Admitted` | the workload was admitted | the wait for admission checks, if the workload has any |
    | `PodsReady` | all pods became ready, or became ready again | the admission |
    | `Evicted` | the workload was evicted | the readiness of its pods, if they were ready |
    | `QuotaReleased` | the quota was released | the eviction, if the workload was evicted |
    | `Pending` | the condition `QuotaReserved` was updated with the reason for waiting | |
    | `PreemptionSkipped` | a preemption was skipped in favour of other heads of the cycle | |
    | `TargetsRecomputed` | targets overlapped with another head's targets; `underlying_cause` contains the result | |
    | `Assigned` | the topology assignment of a workload with quota changed | |
    | `UnhealthyNodes` | nodes of the workload's topology assignment failed or became ready again | |
    | `Finished` | the job finished | the execution, as if it had run without interruption |
    | `Deleted` | the workload was deleted | |

    Attributes:
        time: Time of the event, as a datetime.
        cycle: Number of scheduling cycles with heads that had started by the time of the event.
        kind: Kind of the event.
        workload: Key of the workload, `namespace/name`.
        local_queue: The name of the workload's LocalQueue.
        priority_class: The name of the workload's priority class, if it has one.
        cluster_queue: The ClusterQueue in which the workload holds quota or is pending; empty if the workload finished
            without quota.
        reason: Reason of the condition that reports the event.
        underlying_cause: For an eviction, the cause of the reason: `WaitForStart` or `WaitForRecovery` for
            `PodsReadyTimeout`, and the text after `DueTo` for `DeactivatedDueTo…`. For `TargetsRecomputed`, the result:
            `NewTargets`, `DeferredFit` or `Skipped`.
        preemption_reason: For a preemption, the rule that allowed it.
        message: Message of the condition, exactly as Kueue writes it.
        preemptor: For a preemption, the key of the preempting workload.
        preemptor_cluster_queue: For a preemption, the ClusterQueue of the preempting workload.
        queued_since: Time of the creation or the last requeuing of the workload, as a datetime
            (`pkg/workload/workload.go:QueuedWaitTime`).
        since: Start of the period that ends with the event, as a datetime; `None` if no period ends with the event.
    """

    time: Timestamp
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
    queued_since: Timestamp
    since: Timestamp | None

    @property
    def namespace(self) -> str:
        """The namespace of the workload."""
        return self.workload.partition("/")[0]


class EventTable(Columns):
    """A table of events, oldest first, with a column for each attribute of `SchedulerEvent`."""


@checked
def event_table(events: Sequence[SchedulerEvent]) -> EventTable:
    """Return events as a table."""
    columns: dict[str, Any] = {
        name: [getattr(event, name) for event in events] for name in SchedulerEvent.__struct_fields__
    }
    for name in ("time", "queued_since", "since"):
        columns[name] = times(columns[name])
    return EventTable(columns)


@checked
def drain_events(engine: Engine) -> Iterator[SchedulerEvent]:
    """Return the events since the last call and remove them from the engine."""
    return map(_event, engine.drain_events())


def _event(view: EventView) -> SchedulerEvent:
    since = None if view.since is None else Timestamp.of(view.since)
    return SchedulerEvent(Timestamp.of(view.time), *view[1:-2], Timestamp.of(view.queued_since), since)
