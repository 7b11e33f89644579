"""What happened, as a tidy table: one row for each event, one meaning for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.engine.inventory import EventKind  # noqa: TC001 - msgspec reads it
from kueuepy.errors.arguments import checked
from kueuepy.objects import Timestamp
from kueuepy.tables import Columns
from kueuepy.tables.columns import times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kueuepy._core import Engine

"""Stands for a time where there is none."""


class SchedulerEvent(msgspec.Struct, frozen=True):
    """Something that happened to a workload.

    | kind | what happened | it ends what began `since` |
    | --- | --- | --- |
    | `Created` | it was submitted | |
    | `QuotaReserved` | a cycle gave it quota | |
    | `Admitted` | it may start | its wait for admission checks, if it has any |
    | `PodsReady` | all its pods are ready, or are so again | its admission |
    | `Evicted` | it has to stop | its pods were ready, if they were |
    | `QuotaReleased` | its quota is free | its eviction, if it was evicted |
    | `Pending` | its condition `QuotaReserved` says anew why it waits | |
    | `PreemptionSkipped` | it could have preempted, but others of the same cycle needed the same | |
    | `TargetsRecomputed` | others of the same cycle have its targets; `underlying_cause` is what came of it | |
    | `Assigned` | it has quota, and its topology assignment has changed | |
    | `UnhealthyNodes` | nodes of its topology assignment have failed, or are ready again | |
    | `Finished` | its job is done | its execution, as if it had been in one piece |
    | `Deleted` | it is gone | |

    Attributes:
        time: When, a datetime.
        cycle: How many scheduling cycles with heads had begun by then.
        kind: What happened.
        workload: Its key, `namespace/name`.
        local_queue: The name of its LocalQueue.
        priority_class: The name of its priority class, if it has one.
        cluster_queue: Where it holds quota, or waits; empty if it finished without quota.
        reason: The reason of the condition that tells of the event.
        underlying_cause: What is behind the reason of an eviction: `WaitForStart` or `WaitForRecovery` behind
            `PodsReadyTimeout`, the second half of `DeactivatedDueTo…`. Of targets: `NewTargets`, `DeferredFit`,
            `Skipped`.
        preemption_reason: Of an eviction by preemption: by which rule.
        message: The message of that condition, word for word as Kueue writes it.
        preemptor: Of an eviction by preemption: who needs the quota.
        preemptor_cluster_queue: And where.
        queued_since: When the workload was created, or last put back into its queue
            (`pkg/workload/workload.go:QueuedWaitTime`).
        since: When that began which the event ends, a datetime; `None` for nothing.
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
    """Events, oldest first: a column for each attribute of `SchedulerEvent`."""


@checked
def event_table(events: Sequence[SchedulerEvent]) -> EventTable:
    """The events as columns."""
    columns: dict[str, Any] = {
        name: [getattr(event, name) for event in events] for name in SchedulerEvent.__struct_fields__
    }
    for name in ("time", "queued_since", "since"):
        columns[name] = times(columns[name])
    return EventTable(columns)


@checked
def drain_events(engine: Engine) -> Iterator[SchedulerEvent]:
    """What happened since the last time; the engine forgets it."""
    for view in engine.drain_events():
        began = None if view[-1] is None else Timestamp.of(view[-1])
        yield SchedulerEvent(Timestamp.of(view[0]), *view[1:-2], Timestamp.of(view[-2]), began)
