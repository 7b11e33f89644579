"""Conversion of the engine's records to decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy._core import Quantity
from kueuepy.engine.decisions import Admitted, Decision, FlavorAttempt, Pending, Preempting, Target
from kueuepy.objects import PodSetAssignment, TopologyAssignment, TopologyDomain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kueuepy.engine.facts import DecisionRecord, PodSetAdmissionRecord


def assignments(
    view: Iterable[PodSetAdmissionRecord], byte_resources: Collection[str] = ()
) -> tuple[PodSetAssignment, ...]:
    """Return an admission in the form of a Workload's status, with amounts as Kueue writes them.

    Args:
        view: The admission.
        byte_resources: The resources whose amounts are written in the same units as memory.
    """
    return tuple(
        PodSetAssignment(
            name,
            {resource: flavor for resource, (flavor, _) in resources.items()},
            {
                resource: Quantity.format(resource, amount, resource in byte_resources)
                for resource, (_, amount) in resources.items()
            },
            count,
            None if place is None else TopologyAssignment(place[0], tuple(TopologyDomain(*one) for one in place[1])),
            delayed or None,
        )
        for name, count, resources, place, delayed in view
    )


def from_record(record: DecisionRecord, not_modelled: tuple[str, ...] = ()) -> Decision:
    """Return the decision of the engine's record, with the parts of the input that kueuepy does not model."""
    verdict, workload, queue, reason, message, admitted, borrowing, admission, targets, attempts = record
    tried = tuple(FlavorAttempt(*attempt) for attempt in attempts)
    if verdict == "Admitted":
        return Admitted(
            workload=workload,
            cluster_queue=queue,
            pod_sets=assignments(admission or ()),
            borrowing_level=borrowing,
            admitted=admitted,
            attempts=tried,
            not_modelled=not_modelled,
        )
    if verdict == "Preempting":
        return Preempting(
            workload=workload,
            cluster_queue=queue,
            targets=tuple(Target(*target) for target in targets),
            reason=reason,
            message=message,
            attempts=tried,
            not_modelled=not_modelled,
        )
    return Pending(
        workload=workload,
        cluster_queue=queue,
        reason=reason,
        message=message,
        attempts=tried,
        not_modelled=not_modelled,
    )
