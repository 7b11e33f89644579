"""AdmissionCheck: what else must be true before a workload with quota is admitted."""

from typing import Any

from kueuepy.objects.base import Object


class AdmissionCheck(Object, frozen=True, kw_only=True):
    """A check that some controller answers for each workload.

    Source: `apis/kueue/v1beta2/admissioncheck_types.go`.

    Attributes:
        controller_name: The controller that answers, such as `kueue.x-k8s.io/provisioning-request`; it stays. Without
            one, no controller answers.
        parameters: `{"apiGroup": …, "kind": …, "name": …}` of the controller's parameters.
        active: Whether condition `Active` is true. Only then is a ClusterQueue that needs the check active.
    """

    controller_name: str = ""
    parameters: dict[str, Any] | None = None
    active: bool = True
