"""The validation rules of the API server and of Kueue's webhooks, for objects from manifests and from Python.

Each rule checks only a single object. References to other objects, such as flavors, checks or cohorts, are not checked.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

import kueuepy.objects as api
from kueuepy.errors import ManifestError, Problem, about, checked
from kueuepy.manifest.convert import read_object, to_dict
from kueuepy.manifest.forms import form_of, path_in_manifest
from kueuepy.manifest.kinds import BY_CLASS, KUEUE, Kind
from kueuepy.manifest.schema.structure import structured
from kueuepy.manifest.schema.table import METADATA
from kueuepy.manifest.validation import devices, other, queue, update, workload
from kueuepy.manifest.validation.configuration import review_configuration
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import Configuration, Namespace, NamespacedObject, Object, without_numpy
from kueuepy.objects.readable import Fault, fault_of

__all__ = ["check", "check_read", "review_names", "review_object", "validate", "validate_update"]


# For kinds without rules of their own, the API server checks only the schema.
_RULES: dict[type[Object], Callable[[Any, Review], None]] = {
    api.ResourceFlavor: other.review_flavor,
    api.ClusterQueue: queue.review_cluster_queue,
    api.Cohort: queue.review_cohort,
    api.Workload: workload.review_workload,
    api.Topology: other.review_topology,
    api.PriorityClass: other.review_priority_class,
    api.LimitRange: other.review_limit_range,
    api.RuntimeClass: other.review_runtime_class,
    api.DeviceClass: devices.review_device_class,
    api.ResourceClaimTemplate: devices.review_template,
    api.ResourceClaim: devices.review_claim,
    api.ResourceSlice: devices.review_slice,
    api.Node: other.review_node,
    api.Pod: other.review_pod,
}


@checked
def validate(obj: Object | Configuration, *, feature_gates: Mapping[str, bool] | None = None) -> list[Problem]:
    """Return the problems because of which an API server would reject the creation of an object.

    >>> from kueuepy.objects import ClusterQueue, Quota
    >>> queue = ClusterQueue.of("vision", {"h100": {"cpu": Quota(8, borrowing_limit=2)}})
    >>> print(*validate(queue))
    spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: is 2; there must be none without a cohort

    Args:
        obj: An object or a Configuration.
        feature_gates: Feature gates that differ from their defaults, by name.

    Returns:
        The problems; empty if the object is valid.
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
    """Raise an error if an object is not valid.

    >>> from kueuepy.objects import Cohort
    >>> check(Cohort("org"))

    Args:
        obj: An object or a Configuration.
        feature_gates: Feature gates that differ from their defaults, by name.

    Raises:
        ManifestError: The object is not valid. The message names the object and all invalid fields.
    """
    _raise(obj, validate(obj, feature_gates=feature_gates))


def check_read(obj: Object) -> None:
    """Raise an error if an object read from a manifest is not valid.

    The types of the object's fields have already been checked.

    Raises:
        ManifestError: The object is not valid. The message names the object and all invalid fields.
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
def validate_update(
    old: Object,
    new: Object,
    *,
    feature_gates: Mapping[str, bool] | None = None,
    version: Literal["v1beta1", "v1beta2"] = "v1beta2",
) -> list[Problem]:
    """Return the problems because of which an API server would reject an update of an object.

    >>> from kueuepy.objects import LocalQueue
    >>> print(*validate_update(LocalQueue("q", cluster_queue="a"), LocalQueue("q", cluster_queue="b")))
    spec.clusterQueue: cannot be changed

    Args:
        old: The object before the update.
        new: The object after the update. The new object is also validated on its own, without the old object.
        feature_gates: Feature gates that differ from their defaults, by name.
        version: Version of Kueue's API in which the update is sent. In v1beta1, the levels of a Topology are immutable.
            In v1beta2, the levels of a Topology may change while `kubernetes.io/hostname` is the lowest level.

    Returns:
        The problems; empty if the update is valid.
    """
    review = Review(gates=feature_gates, is_update=True)
    if type(old) is not type(new) or old.key != new.key:
        review.problem(("metadata", "name"), f"changes from {old.key} to {new.key}; it must stay the same object")
    elif _has_its_types(new, review):
        _review_metadata(new, review)
        update.review_update(old, new, review, _rules_of(new))
        if version == "v1beta1":
            update.review_old_levels(old, new, review)
    return review.problems


def review_object(obj: Object, review: Review) -> None:
    """Add the problems of an object to the review. The types of the object's fields must already have been checked."""
    _review_metadata(obj, review)
    _rules_of(obj)(obj, review)


def _rules_of(obj: Object) -> Callable[[Any, Review], None]:
    return _RULES.get(type(obj), lambda _, __: None)


def called(obj: Object) -> str:
    """Return the name of an object in error messages."""
    return f'{type(obj).__name__} "{obj.key}"'


def _review_metadata(obj: Object, review: Review) -> None:
    if isinstance(obj, Namespace):
        review.label(obj.name, ("metadata", "name"))
    else:
        review.subdomain(obj.name, ("metadata", "name"))
    if isinstance(obj, NamespacedObject):
        review.label(obj.namespace, ("metadata", "namespace"))
    if obj.labels:
        review.labels(obj.labels, ("metadata", "labels"))
    review.annotations(obj.annotations, ("metadata", "annotations"))


def review_names(metadata: dict[str, Any], review: Review) -> None:
    """Check the name, labels and annotations of a cluster-scoped object without a Python class."""
    if not metadata.get("name"):
        review.problem(("metadata", "name"), "is required", "Required")
    else:
        review.subdomain(metadata["name"], ("metadata", "name"))
    review.labels(metadata.get("labels") or {}, ("metadata", "labels"))
    review.annotations(metadata.get("annotations") or {}, ("metadata", "annotations"))


# What the conversion of an object with a value of a wrong type can raise.
_FAULTS = (TypeError, ValueError, LookupError, AttributeError, OverflowError, RecursionError, msgspec.MsgspecError)


def _has_its_types(obj: Object, review: Review) -> bool:
    """Return whether the fields of an object created in Python have the declared types."""
    kind = BY_CLASS.get(type(obj))
    if kind is None:
        review.problem((), f"is of the class {type(obj).__name__}; it must be one of Kueue's objects, such as Workload")
        return False
    try:
        found = _read_again(kind, _to_dict(obj), review)
    except _FAULTS as error:
        fault = fault_of(obj)
        named = fault if fault and fault[0] else ((), f"has a field of a wrong type: {error}")
        _review_fault(kind, named, review)
        return False
    if found is not None:
        _review_fault(kind, fault_of(obj), review)  # null in a manifest means absent; None in a Python object does not
    return not review.problems


def _read_again(kind: Kind, doc: dict[str, Any], review: Review) -> Object | None:
    """Return the Python object for an encoded object, after validation against the schema of its kind.

    Objects created in Python may omit some fields that the API server requires but that do not affect decisions: the
    reason of a condition, fields of containers, and the API version and UID of an owner. Containers may share a name,
    and a template may contain any metadata, such as the metadata of the job that it was copied from.
    """
    if kind.group == KUEUE:
        doc = structured(kind.name, kind.version, doc, review)
        review.problems[:] = [problem for problem in review.problems if not _may_be_absent(problem)]
        if review.problems:
            return None
    return read_object(kind, doc, review)


def _may_be_absent(problem: Problem) -> bool:
    path = problem.path
    in_template = path[:2] == ("spec", "podSets") and "template" in path
    in_condition = path[:2] == ("status", "conditions") and path[-1:] == ("reason",)
    in_metadata = in_template and path[4:5] == ("metadata",) and path[5:] in _METADATA_FIELDS
    is_known = in_template or in_condition or path == ("metadata", "ownerReferences")
    if problem.kind == "Duplicate":
        return in_template
    return in_metadata if problem.kind == "Unknown" else problem.kind == "Required" and is_known


_METADATA_FIELDS = {(name,) for name in METADATA.properties}


def _to_dict(obj: Object) -> Any:
    """Convert an object to a dict for a manifest. NumPy values become Python values."""
    try:
        return to_dict(obj)
    except TypeError:
        return to_dict(without_numpy(obj))


def _review_fault(kind: Kind, fault: Fault | None, review: Review) -> None:
    if fault is not None:
        path, detail = fault
        review.problem(path_in_manifest(form_of(kind.cls), path), detail)
