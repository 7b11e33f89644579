"""AdmissionCheck: an additional condition for the admission of workloads."""

from typing import Any

from kueuepy.objects.base import Object


class AdmissionCheck(Object, frozen=True, kw_only=True):
    """A check that a controller performs for each workload after its quota is reserved.

    Source: `apis/kueue/v1beta2/admissioncheck_types.go`.

    >>> AdmissionCheck("provisioning", controller_name="kueue.x-k8s.io/provisioning-request").active
    True

    Attributes:
        controller_name: Name of the controller that performs the check, such as `kueue.x-k8s.io/provisioning-request`
            (`spec.controllerName`); immutable. If `controller_name` is empty, the default, no controller performs the
            check.
        parameters: Reference to the controller's parameters: `{"apiGroup": …, "kind": …, "name": …}`
            (`spec.parameters`); `None` by default.
        active: Whether the condition `Active` is true. A ClusterQueue is active only if all checks that it requires are
            active. Default: `True`.
    """

    controller_name: str = ""
    parameters: dict[str, Any] | None = None
    active: bool = True
