"""The rules that an API server and Kueue's webhooks hold objects to, for objects from manifests and from Python alike.

No rule looks beyond one object: a ClusterQueue may name a flavor, a check or a cohort that doesn't exist.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kueuepy.errors import about
from kueuepy.errors.arguments import checked
from kueuepy.errors.problems import ManifestError, Problem
from kueuepy.manifest.convert import read_object, settled, to_dict
from kueuepy.manifest.kinds import BY_CLASS, Kind
from kueuepy.manifest.validation import devices, flavor, other, queue, update, workload
from kueuepy.manifest.validation.configuration import review_configuration
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Configuration,
    DeviceClass,
    LimitRange,
    LocalQueue,
    Namespace,
    NamespacedObject,
    Node,
    Object,
    Pod,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceFlavor,
    ResourceSlice,
    RuntimeClass,
    Topology,
    Workload,
    WorkloadPriorityClass,
)
from kueuepy.objects.readable import Fault, fault_of

__all__ = ["check", "check_read", "review_object", "validate", "validate_update"]

_RULES: dict[type[Object], Callable[[Any, Review], None]] = {
    ResourceFlavor: flavor.review_flavor,
    ClusterQueue: queue.review_cluster_queue,
    Cohort: queue.review_cohort,
    LocalQueue: queue.review_local_queue,
    Workload: workload.review_workload,
    AdmissionCheck: other.review_check,
    Topology: other.review_topology,
    WorkloadPriorityClass: other.review_workload_priority_class,
    PriorityClass: other.review_priority_class,
    LimitRange: other.review_limit_range,
    RuntimeClass: other.review_runtime_class,
    DeviceClass: devices.review_device_class,
    ResourceClaimTemplate: devices.review_template,
    ResourceClaim: devices.review_claim,
    ResourceSlice: devices.review_slice,
    Node: other.review_node,
    Pod: other.review_pod,
    Namespace: lambda _, __: None,
}


@checked
def validate(obj: Object | Configuration, *, feature_gates: Mapping[str, bool] | None = None) -> list[Problem]:
    """What is wrong with an object, as an API server would refuse it on creation; nothing if it is valid.

    >>> from kueuepy.objects import ClusterQueue, Quota
    >>> queue = ClusterQueue.of("vision", {"h100": {"cpu": Quota(8, borrowing_limit=2)}})
    >>> print(*validate(queue))
    spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: is 2; there must be none without a cohort
    """
    review = Review(gates=feature_gates)
    if isinstance(obj, Configuration):
        if fault := fault_of(obj):
            review.problem(*fault)
        else:
            review_configuration(obj, review)
    elif _has_its_types(obj, review):
        review_object(obj, review)
    return review.problems


@checked
def check(obj: Object | Configuration, *, feature_gates: Mapping[str, bool] | None = None) -> None:
    """Raises the error of an object that is not valid.

    Raises:
        ManifestError: Names the object and every field that is wrong.
    """
    _raise(obj, validate(obj, feature_gates=feature_gates))


def check_read(obj: Object) -> None:
    """Raises the error of an object that was read from a manifest, whose fields so have their types.

    Raises:
        ManifestError: Names the object and every field that is wrong.
    """
    review = Review()
    review_object(obj, review)
    _raise(obj, review.problems)


def _raise(obj: Object | Configuration, problems: list[Problem]) -> None:
    if problems:
        name = called(obj) if isinstance(obj, Object) else "Configuration"
        with about(obj.key if isinstance(obj, Object) else name):
            raise ManifestError([(name, problem) for problem in problems])


@checked
def validate_update(old: Object, new: Object, *, feature_gates: Mapping[str, bool] | None = None) -> list[Problem]:
    """What is wrong with a change of an object, its new state included."""
    review = Review(gates=feature_gates)
    if type(old) is not type(new) or old.key != new.key:
        review.problem(("metadata", "name"), f"changes from {old.key} to {new.key}; it must stay the same object")
    elif _has_its_types(new, review):
        _review_metadata(new, review)
        update.review_update(old, new, review, _RULES[type(new)])
    return review.problems


def review_object(obj: Object, review: Review) -> None:
    """Adds what is wrong with an object whose fields have the types they should have."""
    _review_metadata(obj, review)
    _RULES[type(obj)](obj, review)


def called(obj: Object) -> str:
    """How messages call an object."""
    return f'{type(obj).__name__} "{obj.key}"'


def _review_metadata(obj: Object, review: Review) -> None:
    if isinstance(obj, Namespace):
        review.label(obj.name, ("metadata", "name"))
    else:
        review.subdomain(obj.name, ("metadata", "name"))
    if isinstance(obj, NamespacedObject):
        review.label(obj.namespace, ("metadata", "namespace"))
    review.labels(obj.labels, ("metadata", "labels"))
    review.annotations(obj.annotations, ("metadata", "annotations"))


def _has_its_types(obj: Object, review: Review) -> bool:
    """Whether the fields of an object built in Python have the types that its class gives them."""
    kind = BY_CLASS.get(type(obj))
    if kind is None:
        review.problem((), f"is of the class {type(obj).__name__}; it must be one of Kueue's objects, such as Workload")
        return False
    try:
        found = read_object(kind, to_dict(obj), review)
    except (TypeError, ValueError, AttributeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        fault = fault_of(obj)
        named = fault if fault and fault[0] else ((), f"has a field of a wrong type: {error}")
        _review_fault(kind, named, review)
        return False
    if found is not None:
        _review_fault(kind, fault_of(obj), review)  # a manifest's null counts as absent, a record's None does not
    return not review.problems


def _review_fault(kind: Kind, fault: Fault | None, review: Review) -> None:
    if fault is not None:
        path, detail = fault
        place = (kind.place,) if path and kind.place else ()
        review.problems.append(settled(kind, Problem((*place, *path), "Invalid", detail)))
