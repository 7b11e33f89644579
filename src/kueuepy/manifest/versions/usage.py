"""Resource usage of admissions, which old API versions did not record."""

from typing import Any

import msgspec

from kueuepy._core import Quantity, pod_requests
from kueuepy.objects import Object, PodSetAssignment, Workload

_MOST = 2**63 - 1


def with_usage(obj: Object) -> Object:
    """Add the resource usage of the pod sets, computed from their requests for resources with an assigned flavor."""
    if not isinstance(obj, Workload) or obj.status is None or obj.status.admission is None:
        return obj
    templates = {pod_set.name: pod_set.template for pod_set in obj.pod_sets}
    admission = obj.status.admission
    assignments = tuple(
        _used(assignment, templates.get(assignment.name)) for assignment in admission.pod_set_assignments
    )
    admission = msgspec.structs.replace(admission, pod_set_assignments=assignments)
    return msgspec.structs.replace(obj, status=msgspec.structs.replace(obj.status, admission=admission))


def _used(assignment: PodSetAssignment, template: dict[str, Any] | None) -> PodSetAssignment:
    if template is None or assignment.resource_usage or assignment.count is None:
        return assignment
    try:
        requests = pod_requests(template)
    except ValueError:
        # A quantity is invalid; validation reports it later.
        return assignment
    usage = {
        name: Quantity.format(name, min(amount * assignment.count, _MOST))
        for name, amount in requests.items()
        if name in assignment.flavors
    }
    return msgspec.structs.replace(assignment, resource_usage=usage)
