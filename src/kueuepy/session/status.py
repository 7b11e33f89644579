"""Build the status of a Workload from the engine's data.

Conversion of the engine's records to admissions.
"""

from collections.abc import Collection, Iterable
from typing import Any, Literal

import msgspec

import kueuepy.objects as api
from kueuepy._core import Engine, Quantity
from kueuepy.engine.records import CheckView, PlaceView, PodSetAdmissionView
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
            None if pod_set.place is None else _placement(pod_set.place),
            pod_set.delayed or None,
        )
        for pod_set in view
    )


def _placement(placement: PlaceView) -> TopologyAssignment:
    levels, domains = placement
    return TopologyAssignment(levels, tuple(TopologyDomain(*domain) for domain in domains))


def live_workload(engine: Engine, found: int, known: api.Workload) -> api.Workload:
    """Return a Workload as submitted, with its current status."""
    admission, status = engine.admission(found), engine.status_details(found)
    again = status.requeue_count
    until = None if status.requeue_at is None else api.Timestamp.of(status.requeue_at)
    held = None
    if admission is not None:
        held = api.Admission(admission.cluster_queue, assignments(admission.pod_sets, engine.byte_resources))
    shown = msgspec.structs.replace(
        known.status or api.WorkloadStatus(),
        conditions=conditions(engine, found),
        admission=held,
        requeue_state=None if again is None else api.RequeueState(again, until),
        reclaimable_pods=tuple(api.ReclaimablePod(name, count) for name, count in status.reclaimable.items()),
        admission_checks=tuple(_check(check) for check in status.checks),
        accumulated_past_execution_time_seconds=status.past_execution_seconds,
        unhealthy_nodes=status.unhealthy_nodes,
    )
    return msgspec.structs.replace(known, status=shown, active=status.active)


def _check(view: CheckView) -> api.AdmissionCheckState:
    added = msgspec.json.decode(view.updates, type=tuple[dict[str, Any], ...]) if view.updates else ()
    return api.AdmissionCheckState(*view[:3], api.Timestamp.of(view.transition), *view[4:6], added)


def conditions(engine: Engine, found: int) -> tuple[api.Condition, ...]:
    """Return the conditions of a workload."""
    return tuple(
        api.Condition(name, _status(view.is_true), view.reason, view.message, api.Timestamp.of(view.transition))
        for name, view in engine.conditions(found).items()
    )


def _status(is_true: bool) -> Literal["True", "False"]:  # noqa: FBT001 - a value, not a switch
    return "True" if is_true else "False"
