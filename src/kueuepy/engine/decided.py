"""Conversion of the engine's records to decisions."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING

from kueuepy._core import Quantity
from kueuepy.engine.decisions import Admitted, Decision, FlavorAttempt, Pending, Preempting, Target
from kueuepy.objects import PodSetAssignment, TopologyAssignment, TopologyDomain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kueuepy.engine.records import DecisionView, PlaceView, PodSetAdmissionView


def assignments(
    view: Iterable[PodSetAdmissionView], byte_resources: Collection[str] = ()
) -> tuple[PodSetAssignment, ...]:
    """Return an admission in the form of a Workload's status, with amounts as Kueue writes them.

    Args:
        view: The admission.
        byte_resources: The resources whose amounts are written in the same units as memory.
    """
    return tuple(
        PodSetAssignment(
            pod_set.name,
            {resource: flavor for resource, (flavor, _) in pod_set.resources.items()},
            {
                resource: Quantity.format(resource, amount, resource in byte_resources)
                for resource, (_, amount) in pod_set.resources.items()
            },
            pod_set.pods,
            None if pod_set.place is None else _place(pod_set.place),
            pod_set.delayed or None,
        )
        for pod_set in view
    )


def _place(place: PlaceView) -> TopologyAssignment:
    levels, domains = place
    return TopologyAssignment(levels, tuple(TopologyDomain(*domain) for domain in domains))


def from_record(record: DecisionView, not_modelled: tuple[str, ...] = ()) -> Decision:
    """Convert an engine record to a decision that includes the parts of the input that kueuepy does not model."""
    verdict, workload, cluster_queue, reason, message, admitted, borrowing_level, pod_sets, targets, attempts = record
    tried = tuple(starmap(FlavorAttempt, attempts))
    if verdict == "Admitted":
        return Admitted(
            workload=workload,
            cluster_queue=cluster_queue,
            pod_sets=assignments(pod_sets or ()),
            borrowing_level=borrowing_level,
            admitted=admitted,
            attempts=tried,
            not_modelled=not_modelled,
        )
    if verdict == "Preempting":
        return Preempting(
            workload=workload,
            cluster_queue=cluster_queue,
            targets=tuple(starmap(Target, targets)),
            reason=reason,
            message=message,
            attempts=tried,
            not_modelled=not_modelled,
        )
    return Pending(
        workload=workload,
        cluster_queue=cluster_queue,
        reason=reason,
        message=message,
        attempts=tried,
        not_modelled=not_modelled,
    )
