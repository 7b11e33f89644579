"""Validation rules for updates, such as immutable fields.

Source: `pkg/webhooks/workload_webhook.go:ValidateWorkloadUpdate`,
`pkg/webhooks/clusterqueue_webhook.go:ValidateClusterQueueUpdate`, and the CEL rules with `oldSelf` in the CRDs.

Semantic comparison of pod sets and admissions, in which different notations of the same value are equal.

Kueue compares the decoded Go values. Different notations of the same quantity are equal, and absent lists, mappings and
strings are equal to empty ones.

Source: `k8s.io/apimachinery/pkg/api/equality/semantic.go`, `k8s.io/api/core/v1/types.go`.
"""

from collections.abc import Callable
from typing import Any

import msgspec

import kueuepy.objects as api
from kueuepy._core import Quantity
from kueuepy.errors import Path
from kueuepy.manifest.convert import to_dict
from kueuepy.manifest.schema.table import Schema, schema_of
from kueuepy.manifest.validation import queue as queues
from kueuepy.manifest.validation.review import Review
from kueuepy.manifest.validation.workload import admitted_counts, gates_of, is_elastic, is_replacement

# Fields for which Go does not distinguish zero from absent.
_ZEROES = frozenset(
    (
        *("hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly", "hostPort"),
        *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"),
        "terminationMessagePath",
    )
)
_ABSENT: tuple[Any, ...] = (None, "", [], {})


def same_pod_sets(one: list[Any], other: list[Any]) -> list[bool]:
    """Return, for each pair of pod sets in the form of v1beta2, whether the two pod sets are semantically equal."""
    before, after = (plain("Workload", part, "spec", "podSets") for part in (one, other))
    return [a == b for a, b in zip(before, after, strict=True)]


def same_status(field: str, one: Any, other: Any) -> bool:
    """Return whether two values of a field in a Workload's status are semantically equal."""
    before, after = (plain("Workload", part, "status", field) for part in (one, other))
    return bool(before == after)


def plain(kind: str, value: Any, *path: str) -> Any:
    """Normalize a v1beta2 object or the value of a field: remove empty values, and parse quantities."""
    schema = schema_of(kind, "v1beta2")
    assert schema is not None
    for step in path:
        schema = schema.properties[step]
    return _plain(schema, value)


def _plain(schema: Schema | None, value: Any) -> Any:
    """Normalize a value according to its schema."""
    if schema is None:
        return value
    if isinstance(value, dict):
        inner = {name: _plain(schema.properties.get(name, schema.items), part) for name, part in value.items()}
        return {name: part for name, part in inner.items() if not _is_absent(schema, name, part)}
    if isinstance(value, list | tuple):
        return [_plain(schema.items, part) for part in value]
    if schema.type == "integer or string" and isinstance(value, int | str):
        return _amount(value)
    return value


def _is_absent(schema: Schema, name: str, value: Any) -> bool:
    known = schema.properties.get(name)
    if known is None:  # a mapping with arbitrary keys keeps keys with empty values
        return value is None
    if value in _ABSENT and not isinstance(value, bool):
        return True
    default = known.default
    if known.type == "integer or string" and default is not None:
        default = _amount(default)
    return bool(value == default or (name in _ZEROES and not value))


def _amount(value: int | str) -> Quantity | str:
    try:
        return Quantity(value)
    except ValueError:  # the name of a port instead of its number
        return str(value)


_NO_STATUS = api.WorkloadStatus()


def review_update(old: api.Object, new: api.Object, review: Review, rules: Callable[[Any, Review], None]) -> None:
    """Check the new state of an object, and the changes from the old state."""
    match old, new:
        case api.ClusterQueue(), api.ClusterQueue():
            _review_cluster_queue(old, new, review)
            return
        case api.Workload(), api.Workload():
            _review_workload(old, new, review, rules)
            return
        case api.LocalQueue(), api.LocalQueue():
            if old.cluster_queue and new.cluster_queue:
                _same(old.cluster_queue, new.cluster_queue, ("spec", "clusterQueue"), review)
        case api.ResourceFlavor(), api.ResourceFlavor() if old.topology_name is not None:
            _same(old.topology_name, new.topology_name, ("spec", "topologyName"), review)
        case api.AdmissionCheck(), api.AdmissionCheck():
            if old.controller_name and new.controller_name:
                _same(old.controller_name, new.controller_name, ("spec", "controllerName"), review)
        case api.Topology(), api.Topology() if old.levels and new.levels:
            if not old.levels[-1] == new.levels[-1] == api.HOSTNAME_LABEL:
                _same(old.levels, new.levels, ("spec", "levels"), review)
    rules(new, review)


def same_spec(old: api.Workload, new: api.Workload) -> bool:
    """Return whether two Workloads have the same spec, in any notation of their pod templates.

    Source: `pkg/cache/queue/cluster_queue.go:PushOrUpdate`.
    """
    if old.has_spec_of(new):
        return True
    rest = msgspec.structs.replace(new, pod_sets=old.pod_sets)
    if len(old.pod_sets) != len(new.pod_sets) or not rest.has_spec_of(old):
        return False
    before, after = (to_dict(workload)["spec"]["podSets"] for workload in (old, new))
    return all(same_pod_sets(before, after))


def review_old_levels(old: api.Object, new: api.Object, review: Review) -> None:
    """Check the rule of v1beta1 that the levels of a Topology are immutable.

    In v1beta2, the levels can be changed if the lowest level is the host name before and after the change.
    """
    path = ("spec", "levels")
    if not (isinstance(old, api.Topology) and isinstance(new, api.Topology) and old.levels and new.levels):
        return
    if not any(problem.path == path for problem in review.problems):
        _same(old.levels, new.levels, path, review)


def _same(old: object, new: object, path: Path, review: Review) -> None:
    if old != new:
        review.problem(path, "cannot be changed", "Invalid")


def _review_cluster_queue(old: api.ClusterQueue, new: api.ClusterQueue, review: Review) -> None:
    """Check a ClusterQueue.

    The flavors of an admission check are not checked if neither these flavors nor the queue's flavors changed.
    """
    skipped: list[str] = []
    same_flavors = set(queues.flavor_names(old)) == set(queues.flavor_names(new))
    if same_flavors and not review.enabled("RejectUpdatesToCQWithInvalidOnFlavors"):
        before = {rule.name: set(rule.on_flavors) for rule in old.admission_checks_strategy}
        skipped = [r.name for r in new.admission_checks_strategy if before.get(r.name) == set(r.on_flavors)]
    queues.review_cluster_queue(new, review, skipped)
    policy = ("spec", "concurrentAdmissionPolicy")
    _same(old.concurrent_admission_policy, new.concurrent_admission_policy, policy, review)


def _review_workload(
    old: api.Workload, new: api.Workload, review: Review, rules: Callable[[Any, Review], None]
) -> None:
    before, after = old.status or _NO_STATUS, new.status or _NO_STATUS
    stale = before.reclaimable_pods if is_elastic(new, review) else ()
    kept = tuple(pods for pods in after.reclaimable_pods if pods not in stale)
    status = new.status and msgspec.structs.replace(new.status, reclaimable_pods=kept)
    rules(msgspec.structs.replace(new, status=status), review)
    if before.is_true("QuotaReserved"):
        _review_pod_sets(old, new, review)
        _review_class_ref(old, new, review)
        if after.is_true("QuotaReserved"):
            _same(old.queue_name, new.queue_name, ("spec", "queueName"), review)
            _review_reclaimable(new, before, after, review)
    if before.is_true("Admitted") and after.is_true("Admitted"):
        limits = old.maximum_execution_time_seconds or 0, new.maximum_execution_time_seconds or 0
        _same(*limits, ("spec", "maximumExecutionTimeSeconds"), review)
    if before.admission is not None and after.admission is not None:
        lasting = _lasting(before.admission), _lasting(after.admission)
        if not same_status("admission", *map(msgspec.to_builtins, lasting)):
            _same(*lasting, ("status", "admission"), review)
    if before.is_true("QuotaReserved") and before.admission is None:
        # A Workload that already lacked its admission before the update may still lack it.
        review.problems[:] = [p for p in review.problems if (p.path, p.kind) != (("status", "admission"), "Required")]
    _review_check_updates(before, after, review)
    _review_cluster(new, before, after, review)
    _review_gates(old, new, review)


def _review_pod_sets(old: api.Workload, new: api.Workload, review: Review) -> None:
    """Check that pod sets do not change while quota is reserved. The count of an elastic job may decrease."""
    path = ("spec", "podSets")
    if len(old.pod_sets) != len(new.pod_sets):
        review.problem(path, "cannot be changed while quota is reserved")
        return
    scalable = review.enabled("ElasticJobsViaWorkloadSlices")
    after = [
        msgspec.structs.replace(new_one, count=old_one.count) if scalable and new_one.count < old_one.count else new_one
        for old_one, new_one in zip(old.pod_sets, new.pod_sets, strict=True)
    ]
    if list(old.pod_sets) == after:
        return
    written = (to_dict(msgspec.structs.replace(old, pod_sets=tuple(sets))) for sets in (old.pod_sets, after))
    for position, same in enumerate(same_pod_sets(*(doc["spec"]["podSets"] for doc in written))):
        if not same:
            review.problem((*path, position), "cannot be changed while quota is reserved, but for a lower count")


def _review_class_ref(old: api.Workload, new: api.Workload, review: Review) -> None:
    before, after, path = old.priority_class_ref, new.priority_class_ref, ("spec", "priorityClassRef")
    if before is None or after is None:
        if before is not after:
            review.problem(path, "cannot be added or removed while quota is reserved")
        return
    fixed = ("group", "kind", "name") if after.kind == "PriorityClass" else ("group", "kind")
    for field in fixed:
        _same(getattr(before, field), getattr(after, field), (*path, field), review)


def _review_reclaimable(
    new: api.Workload, before: api.WorkloadStatus, after: api.WorkloadStatus, review: Review
) -> None:
    """Check that reclaimable counts do not decrease, except for pod sets that were scaled down."""
    counts = {pods.name: pods.count for pods in after.reclaimable_pods}
    shrunk = _scaled_down(new, after) if is_elastic(new, review) else set()
    for pods in before.reclaimable_pods:
        path = ("status", "reclaimablePods", pods.name)
        if pods.name in shrunk:
            continue
        if pods.name not in counts:
            review.problem(path, "cannot be removed while quota is reserved", "Required")
        elif counts[pods.name] < pods.count:
            review.problem((*path, "count"), f"is {counts[pods.name]}; it cannot be less than {pods.count}")


def _scaled_down(workload: api.Workload, status: api.WorkloadStatus) -> set[str]:
    sizes = {pod_set.name: pod_set.count for pod_set in workload.pod_sets}
    return {name for name, count in admitted_counts(status).items() if count > sizes.get(name, 0)}


def _lasting(admission: api.Admission) -> api.Admission:
    """Return the immutable fields of an admission: all fields except the topology assignments."""
    assignments = tuple(
        msgspec.structs.replace(assignment, topology_assignment=None, delayed_topology_request=None)
        for assignment in admission.pod_set_assignments
    )
    return msgspec.structs.replace(admission, pod_set_assignments=assignments)


def _review_check_updates(before: api.WorkloadStatus, after: api.WorkloadStatus, review: Review) -> None:
    ready = {check.name: check for check in before.admission_checks if check.state == "Ready"}
    for position, check in enumerate(after.admission_checks):
        if check.state == "Ready" and check.name in ready:
            path = ("status", "admissionChecks", position, "podSetUpdates")
            before_updates = list(ready[check.name].pod_set_updates)
            _same(before_updates, list(check.pod_set_updates), path, review)


def _review_cluster(new: api.Workload, before: api.WorkloadStatus, after: api.WorkloadStatus, review: Review) -> None:
    """Check that the worker cluster of a Workload is one of its nominated clusters.

    A workload slice that replaces another slice may run on any cluster.
    """
    if review.enabled("ElasticJobsViaWorkloadSlices") and is_replacement(new):
        return
    name = after.cluster_name
    if before.cluster_name is None and name is not None and name not in before.nominated_cluster_names:
        path, allowed = ("status", "clusterName"), ", ".join(before.nominated_cluster_names) or "nominated first"
        review.problem(path, f'is "{name}"; it must be one of the nominated clusters: {allowed}')
    if before.cluster_name is not None and name is not None:
        _same(before.cluster_name, name, ("status", "clusterName"), review)


def _review_gates(old: api.Workload, new: api.Workload, review: Review) -> None:
    if review.enabled("AdmissionGatedBy") and not set(gates_of(new)) <= set(gates_of(old)):
        path = ("metadata", "annotations", "kueue.x-k8s.io/admission-gated-by")
        review.problem(path, "may only lose gates after creation", "Forbidden")
