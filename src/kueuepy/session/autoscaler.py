"""A model of a cluster autoscaler, which answers admission checks of Kueue's ProvisioningRequest controller."""

from collections.abc import Callable, Mapping
from typing import Any

from kueuepy.objects import SECOND, AdmissionCheck, Duration, Workload, duration_ns
from kueuepy.session.changes import request_to
from kueuepy.session.checks import CheckRequest
from kueuepy.session.provisioning import CONTROLLER, is_active
from kueuepy.session.session import session_of


class Provisioning:
    """A model of a cluster autoscaler: provides nodes after a delay, or fails.

    Kueue creates a ProvisioningRequest for each workload with quota, according to the ProvisioningRequestConfig that
    the check's `parameters` name, and sets the check by the status of the request. By default, Kueue retries after
    60 s, 120 s and 240 s, and rejects the workload at the next failure. A check whose ProvisioningRequestConfig does
    not exist is not active, and neither are the ClusterQueues that require the check.

    >>> from kueuepy import Scheduler, load
    >>> cluster = load('''
    ... apiVersion: kueue.x-k8s.io/v1beta2
    ... kind: ProvisioningRequestConfig
    ... metadata: {name: gke}
    ... spec: {provisioningClassName: queued-provisioning.gke.io, managedResources: [nvidia.com/gpu]}
    ... ---
    ... apiVersion: kueue.x-k8s.io/v1beta2
    ... kind: AdmissionCheck
    ... metadata: {name: nodes}
    ... spec:
    ...   controllerName: kueue.x-k8s.io/provisioning-request
    ...   parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: gke}
    ... ---
    ... apiVersion: kueue.x-k8s.io/v1beta2
    ... kind: ResourceFlavor
    ... metadata: {name: default}
    ... ---
    ... apiVersion: kueue.x-k8s.io/v1beta2
    ... kind: ClusterQueue
    ... metadata: {name: team}
    ... spec:
    ...   namespaceSelector: {}
    ...   admissionChecksStrategy: {admissionChecks: [{name: nodes}]}
    ...   resourceGroups:
    ...   - coveredResources: [nvidia.com/gpu]
    ...     flavors: [{name: default, resources: [{name: nvidia.com/gpu, nominalQuota: 9}]}]
    ... ---
    ... apiVersion: kueue.x-k8s.io/v1beta2
    ... kind: LocalQueue
    ... metadata: {name: team, namespace: default}
    ... spec: {clusterQueue: team}
    ... ''')
    >>> scheduler = Scheduler(cluster, checks={"kueue.x-k8s.io/provisioning-request": Provisioning("5m")})
    >>> keys = scheduler.submit({"name": "job", "queue": "team", "nvidia.com/gpu": 1})
    >>> settled = scheduler.settle()
    >>> [request["metadata"]["name"] for request in Provisioning.requests(scheduler)]
    ['job-nodes-1']
    >>> scheduler.advance("5m")
    >>> settled = scheduler.settle()
    >>> scheduler.workload("job").status.is_true("Admitted")
    True
    """

    def __init__(
        self,
        delay: Duration,
        *,
        fails: Callable[[Workload, int], bool] | None = None,
        details: Mapping[str, str] | None = None,
    ) -> None:
        """Create the model.

        Args:
            delay: The time from the quota reservation until the nodes are ready or the attempt fails, as seconds or a
                string such as `"5m"`.
            fails: A function of the workload and the attempt (from 1) that returns whether the attempt fails. Default:
                no attempt fails.
            details: The `provisioningClassDetails` of the requests, to which `podSetUpdates` of a
                ProvisioningRequestConfig refer. Default: none.

        Raises:
            InvalidSpecError: A duration is not valid or negative.
        """
        self._delay = duration_ns(delay) / SECOND
        self._fails = fails
        self._details = dict(details or {})

    def review(self, request: CheckRequest) -> Mapping[str, Any]:
        """Return the status of the request: empty before the delay, then `Provisioned` or `Failed`."""
        if request.elapsed < self._delay:
            return {}
        attempt = (request.state.retry_count or 0) + 1
        failed = self._fails is not None and self._fails(request.workload, attempt)
        one = ("Failed", "Not provisioned") if failed else ("Provisioned", "Provisioned")
        conditions = [{"type": one[0], "status": "True", "message": one[1]}]
        return {"conditions": conditions, "provisioningClassDetails": self._details}

    @staticmethod
    def is_active(check: AdmissionCheck, parameters: Mapping[str, Any] | None) -> bool:
        """Return whether a check is active: whether its ProvisioningRequestConfig exists."""
        return is_active(check, parameters)

    @staticmethod
    def requests(scheduler: Any) -> tuple[dict[str, Any], ...]:
        """Return the manifests of the ProvisioningRequests that Kueue has created for the workloads of a Scheduler.

        Only workloads with quota have requests. Without this model, report the status of a request with
        `Scheduler.set_check`.
        """
        session = session_of(scheduler)
        with session.lock:
            state = session.state
            checks = [one.name for one in state.store.objects.of(AdmissionCheck) if one.controller_name == CONTROLLER]
            asked = (request_to(state, key, name) for key in (state.keys() if checks else ()) for name in checks)
            made = (request.provisioning_request for request in asked if request is not None)
            return tuple(one for one in made if one is not None)
