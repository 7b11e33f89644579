"""Kueue's ProvisioningRequest controller: the request for a workload, and the state of a check by the request's status.

A request exists while its workload has quota, because Kueue deletes the requests of evicted workloads. The number of
its attempt therefore follows from the check's `retryCount`, and no other state is kept.

Source: `pkg/controller/admissionchecks/provisioning/controller.go`,
`pkg/controller/admissionchecks/provisioning/provisioning.go`,
`pkg/controller/admissionchecks/provisioning/admissioncheck_reconciler.go`,
`pkg/workload/admissionchecks.go:UpdateAdmissionCheckRequeueState`, and `pkg/util/wait/backoff.go` without jitter.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

import msgspec

from kueuepy.errors import InvalidSpecError, path_text
from kueuepy.manifest.validation.update import plain
from kueuepy.objects import AdmissionCheck, AdmissionCheckState, PodSet, Workload
from kueuepy.objects.readable import decoding_fault

CONTROLLER = "kueue.x-k8s.io/provisioning-request"
_GROUP = "kueue.x-k8s.io"
_PARAMETERS = "provreq.kueue.x-k8s.io/"
# The defaults of a ProvisioningRequestConfig in the CRD.
_DEFAULT_RETRIES = {"backoffBaseSeconds": 60, "backoffMaxSeconds": 1800, "backoffLimitCount": 3}
# After as many failed attempts, a doubled delay has its maximum, which has 31 bits.
_DOUBLINGS = 32
# A longer name ends with the start of its hash.
_LONGEST_NAME = 247
# The fields of a pod that determine where it can run, for the policy IdenticalWorkloadSchedulingRequirements.
_SCHEDULING = ("resources", "nodeSelector", "tolerations", "affinity", "resourceClaims")


class _Condition(msgspec.Struct):
    type: str
    status: Literal["True", "False", "Unknown"]
    message: str = ""


class _Status(msgspec.Struct, forbid_unknown_fields=True):
    conditions: tuple[_Condition, ...] = ()
    provisioningClassDetails: dict[str, str] = {}  # noqa: N815 - the name in a manifest


def parameters_of(check: AdmissionCheck, related: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the object that a check's `spec.parameters` refers to; `None` if it is not among `related`."""
    named = check.parameters or {}
    of_kind = (doc for doc in related if doc.get("kind") == named.get("kind"))
    return next((doc for doc in of_kind if (doc.get("metadata") or {}).get("name") == named.get("name")), None)


def is_active(check: AdmissionCheck, config: Mapping[str, Any] | None) -> bool:
    """Return whether the parameters of a check of this controller name a ProvisioningRequestConfig that exists."""
    return config is not None and _is_of_kind(check)


def spec_of(config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the spec of a ProvisioningRequestConfig."""
    return (config or {}).get("spec") or {}


def config_of(
    name: str, checks: Iterable[AdmissionCheck], related: Iterable[Mapping[str, Any]]
) -> tuple[tuple[str, ...], list[int], int] | None:
    """Return the managed resources, the delays after each failure, and the number of retries; `None` without a config.

    The last delay also applies to all later failures.
    """
    for check in checks:
        config = parameters_of(check, related)
        if (check.name, check.controller_name) == (name, CONTROLLER) and is_active(check, config):
            spec, limit = spec_of(config), _retries_of(spec_of(config), 1)[1]
            waits = [_retries_of(spec, attempt)[0] for attempt in range(1, min(limit, _DOUBLINGS + 1) + 1)]
            return tuple(spec.get("managedResources") or ()), waits, limit
    return None


def _retries_of(spec: Mapping[str, Any], attempt: int) -> tuple[int, int]:
    """Return the delay in seconds after a failed attempt, and the number of retries, of a config's spec."""
    given = spec.get("retryStrategy") or {}
    base, longest, limit = (
        default if given.get(name) is None else given[name] for name, default in _DEFAULT_RETRIES.items()
    )
    # Kueue limits the doubled delays only: a base above the maximum counts in full.
    doubled = min(base * 2 ** min(attempt - 1, _DOUBLINGS), longest or 2**31 - 1)
    return max(0, base if attempt == 1 else doubled), limit


def request_of(workload: Workload, state: AdmissionCheckState, spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the manifest of the request for a workload with quota; `None` if the workload needs no request.

    Args:
        workload: The workload, with its admission in the status.
        state: The state of the check.
        spec: The spec of the check's ProvisioningRequestConfig.
    """
    required = _required(workload, spec)
    if not required:
        return None
    policy = spec.get("podSetMergePolicy")
    merged: list[tuple[str, Any, int]] = []
    for pod_set, count in required:
        alike = None if policy is None else _compared(pod_set, policy)
        same = next((i for i, (_, other, _) in enumerate(merged) if policy is not None and other == alike), None)
        if same is None:
            merged.append((pod_set.name, alike, count))
        else:
            name, _, before = merged[same]
            merged[same] = (name, alike, before + count)
    name = _limited(_name_of(workload, state))
    annotated = {key: value for key, value in workload.annotations.items() if key.startswith(_PARAMETERS)}
    parameters = (spec.get("parameters") or {}) | {key[len(_PARAMETERS) :]: annotated[key] for key in annotated}
    owner = {"apiVersion": f"{_GROUP}/v1beta2", "kind": "Workload", "name": workload.name, "uid": workload.uid}
    return {
        "apiVersion": "autoscaling.x-k8s.io/v1",
        "kind": "ProvisioningRequest",
        "metadata": {
            "name": name,
            "namespace": workload.namespace,
            "labels": {"kueue.x-k8s.io/managed": "true"},
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {
            "provisioningClassName": spec["provisioningClassName"],
            **({"parameters": parameters} if parameters else {}),
            "podSets": [
                {"podTemplateRef": {"name": _limited(f"ppt-{name}-{pod_set}")}, "count": count}
                for pod_set, _, count in merged
            ],
        },
    }


def reconciled(
    workload: Workload,
    state: AdmissionCheckState,
    check: AdmissionCheck,
    config: Mapping[str, Any] | None,
    status: Mapping[str, Any],
) -> AdmissionCheckState:
    """Return the new state of a check.

    Args:
        workload: The workload, with its admission in the status.
        state: The previous state of the check.
        check: The check.
        config: The object that the parameters of the check refer to; `None` if it does not exist.
        status: The status of the workload's request, with its `conditions` and `provisioningClassDetails`.

    Raises:
        InvalidSpecError: The status is not the status of a ProvisioningRequest.
    """
    changed = msgspec.structs.replace
    if not is_active(check, config):
        # A reference to another kind is an error, which leaves the check as it is.
        return changed(state, state="Pending", message="the check is not active") if _is_of_kind(check) else state
    spec = spec_of(config)
    request = request_of(workload, state, spec)
    if request is None:
        if state.state == "Ready":
            return state
        return changed(state, state="Ready", message="the provisioning request is not needed", pod_set_updates=())
    given = _read(status, state.name)
    messages = {one.type: one.message for one in given.conditions}
    true = {one.type for one in given.conditions if one.status == "True"}
    # Kueue does not find a request again whose name it shortened, or whose parameters an annotation changed: it deletes
    # and creates the request without end, and the check does not change.
    own = request["spec"].get("parameters") or {}
    if request["metadata"]["name"] != _name_of(workload, state) or own != own | (spec.get("parameters") or {}):
        return state
    if "Failed" in true:
        return _retried(state, spec, "failure", messages["Failed"])
    if "CapacityRevoked" in true:
        # Rejecting the check deactivates the workload, whose pods could not start on the nodes that are gone.
        return changed(state, state="Rejected", message=messages["CapacityRevoked"]) if workload.active else state
    if "BookingExpired" in true:
        is_admitted = workload.status is not None and workload.status.is_true("Admitted")
        return state if is_admitted else _retried(state, spec, "booking expired", messages["BookingExpired"])
    if "Provisioned" in true:
        if state.state == "Ready":
            return state
        updates = _updates(workload, request, spec, given.provisioningClassDetails)
        return changed(state, state="Ready", message=messages["Provisioned"], pod_set_updates=updates)
    if "Accepted" in true:  # the message of Provisioned then has the expected time
        known = messages.get("Provisioned")
        return state if known is None else changed(state, state="Pending", message=known)
    return changed(state, state="Pending", message="")


def _read(status: Mapping[str, Any], check: str) -> _Status:
    try:
        return msgspec.convert({key: value for key, value in status.items() if value is not None}, _Status)
    except msgspec.ValidationError as error:
        path, detail = decoding_fault(error, _Status)
        where = f'AdmissionCheck "{check}": status of the ProvisioningRequest'
        raise InvalidSpecError(": ".join(filter(None, (where, path_text(path), detail)))) from None


def _is_of_kind(check: AdmissionCheck) -> bool:
    named = check.parameters or {}
    return (named.get("apiGroup"), named.get("kind")) == (_GROUP, "ProvisioningRequestConfig")


def _retried(state: AdmissionCheckState, spec: Mapping[str, Any], cause: str, message: str) -> AdmissionCheckState:
    """Return the state after a failed attempt."""
    attempt = (state.retry_count or 0) + 1
    wait, limit = _retries_of(spec, attempt)
    if attempt > limit:
        return msgspec.structs.replace(state, state="Rejected", message=message)
    text = f"Retrying after {cause}: {message}"
    return msgspec.structs.replace(state, state="Retry", message=text, requeue_after_seconds=wait)


def _required(workload: Workload, spec: Mapping[str, Any]) -> list[tuple[PodSet, int]]:
    """Return the pod sets that use a managed resource, with their numbers of admitted pods."""
    managed = spec.get("managedResources") or ()
    admission = workload.status.admission if workload.status else None
    counts = {one.name: one.count for one in admission.pod_set_assignments} if admission else {}
    found = []
    for pod_set in workload.pod_sets:
        admitted = counts.get(pod_set.name)
        count = pod_set.count if admitted is None else admitted
        is_used = pod_set.count > 0 and count > 0  # an admission may have no pod of a pod set
        if is_used and (not managed or _uses(pod_set.template.get("spec") or {}, managed)):
            found.append((pod_set, count))
    return found


def _uses(pod: Mapping[str, Any], resources: Collection[str]) -> bool:
    """Return whether a container has a request or a limit for one of the resources."""
    asked = (one.get("resources") or {} for part in ("initContainers", "containers") for one in pod.get(part) or ())
    return any(name in resources for one in asked for part in ("requests", "limits") for name in one.get(part) or ())


def _compared(pod_set: PodSet, policy: str) -> Any:
    """Return the part of a pod set that must be equal to that of another pod set to merge both."""
    (form,) = plain("Workload", [{"template": pod_set.template}], "spec", "podSets")
    template = form.get("template") or {}
    if policy == "IdenticalPodTemplates":
        return template
    pod = template.get("spec") or {}
    requests = [
        [(one.get("resources") or {}).get("requests") for one in pod.get(part) or ()]
        for part in ("containers", "initContainers")
    ]
    return [requests, [pod.get(name) for name in _SCHEDULING]]


def _updates(
    workload: Workload, request: dict[str, Any], spec: Mapping[str, Any], details: Mapping[str, str]
) -> tuple[dict[str, Any], ...]:
    """Return the updates to the pod sets of a request, so that their pods run on the provisioned nodes."""
    name, class_name = request["metadata"]["name"], request["spec"]["provisioningClassName"]
    named = {_limited(f"ppt-{name}-{pod_set.name}"): pod_set.name for pod_set in workload.pod_sets}
    selectors = (spec.get("podSetUpdates") or {}).get("nodeSelector") or ()
    labels = {
        one["key"]: details[one["valueFromProvisioningClassDetail"]]
        for one in selectors
        if one["valueFromProvisioningClassDetail"] in details
    }
    annotations = {
        "autoscaling.x-k8s.io/consume-provisioning-request": name,
        "autoscaling.x-k8s.io/provisioning-class-name": class_name,
    }
    return tuple(
        {"name": named[part["podTemplateRef"]["name"]], "annotations": annotations}
        | ({"nodeSelector": labels} if labels else {})
        for part in request["spec"]["podSets"]
    )


def _name_of(workload: Workload, state: AdmissionCheckState) -> str:
    """Return the name of a request before it is shortened, which ends with the number of the attempt."""
    return f"{workload.name}-{state.name}-{(state.retry_count or 0) + 1}"


def _limited(name: str) -> str:
    """Shorten a name to the longest that Kubernetes allows."""
    if len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
    return f"{name[:_LONGEST_NAME]}-{digest[:5]}"
