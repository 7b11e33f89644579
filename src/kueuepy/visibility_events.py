"""What happened, as a tidy table: one row for each event, one meaning for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kueuepy.frames import Columns
from kueuepy.visibility_views import EventKind  # noqa: TC001 - msgspec reads it

if TYPE_CHECKING:
    from collections.abc import Sequence


class Event(msgspec.Struct, frozen=True):
    """Something that happened to a workload.

    Attributes:
        time: When, in nanoseconds since the Unix epoch.
        kind: What: `QuotaReserved`, `Admitted` and `Evicted` as Kueue's events are called; `QuotaReleased` when an
            evicted workload gave its quota back; `Pending` when its condition says anew why it waits.
        workload: Its key, `namespace/name`.
        local_queue: The name of its LocalQueue.
        priority_class: The name of its priority class, if it has one.
        cluster_queue: Where it holds quota, or waits.
        reason: The reason of the condition that tells of the event.
        preemption_reason: Of an eviction by preemption: by which rule.
        message: The message of that condition, word for word as Kueue writes it.
        preemptor: Of an eviction by preemption: who needs the quota.
        preemptor_cluster_queue: And where.
        queued_since: When the workload was created, or last put back into its queue.
    """

    time: int
    kind: EventKind
    workload: str
    local_queue: str
    priority_class: str
    cluster_queue: str
    reason: str
    preemption_reason: str
    message: str
    preemptor: str
    preemptor_cluster_queue: str
    queued_since: int

    @property
    def namespace(self) -> str:
        """The namespace of the workload."""
        return self.workload.partition("/")[0]


class EventTable(Columns):
    """Events, oldest first: a column for each attribute of `Event`."""


def event_table(events: Sequence[Event]) -> EventTable:
    """The events as columns."""
    return EventTable({name: [getattr(event, name) for event in events] for name in Event.__struct_fields__})
