"""Conversion of the engine's records to admissions."""

from collections.abc import Collection, Iterable

from kueuepy._core import Quantity
from kueuepy.engine.records import PlaceView, PodSetAdmissionView
from kueuepy.objects import PodSetAssignment, TopologyAssignment, TopologyDomain


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
