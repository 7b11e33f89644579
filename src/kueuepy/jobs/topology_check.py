"""Validation rules for the topology annotations of a job, as in Kueue's webhooks.

Only the first problem found is reported.

Source: `pkg/controller/jobframework/tas_validation.go`.
"""

from itertools import pairwise

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import keys
from kueuepy.jobs.fields import Section
from kueuepy.jobs.numbers import unsigned
from kueuepy.jobs.topology import parse_bool, parse_count, parse_layers
from kueuepy.manifest.formats import is_label_key
from kueuepy.objects import PodSet

_GROUP_SIZE = 2


def check_template(metadata: Section, *, multi_layer: bool) -> None:
    """Validate the topology annotations of one pod template.

    Raises:
        InvalidSpecError: The annotations conflict, or an annotation cannot be parsed.
    """
    annotations = metadata.texts("annotations")
    if not annotations:
        return
    at = metadata.section("annotations")
    chosen = [
        k for k in (keys.REQUIRED_TOPOLOGY, keys.PREFERRED_TOPOLOGY, keys.UNCONSTRAINED_TOPOLOGY) if k in annotations
    ]
    if len(chosen) > 1:
        raise metadata.error("annotations", f"has {' and '.join(chosen)}; it must not contain more than one of them")
    for key in (keys.REQUIRED_TOPOLOGY, keys.PREFERRED_TOPOLOGY, keys.SLICE_REQUIRED_TOPOLOGY):
        if key in annotations and not is_label_key(annotations[key]):
            raise at.error(key, f'is "{annotations[key]}"; it must be the name of a node label')
    if keys.POD_SET_GROUP_NAME in annotations:
        _check_group_name(at, annotations)
    if keys.UNCONSTRAINED_TOPOLOGY in annotations:
        parse_bool(metadata, keys.UNCONSTRAINED_TOPOLOGY)
    if keys.SLICE_SIZE in annotations and parse_count(metadata, keys.SLICE_SIZE) < 1:
        raise at.error(keys.SLICE_SIZE, f'is "{annotations[keys.SLICE_SIZE]}"; it must be 1 or more')
    if (keys.SLICE_REQUIRED_TOPOLOGY in annotations) != (keys.SLICE_SIZE in annotations):
        raise metadata.error(
            "annotations", f"has only one of {keys.SLICE_REQUIRED_TOPOLOGY} and {keys.SLICE_SIZE}; give both or none"
        )
    if keys.SLICE_CONSTRAINTS in annotations:
        _check_layers(metadata, at, annotations, multi_layer=multi_layer)


def check_slice_size(metadata: Section, count: int, *, multi_layer: bool) -> None:
    """Check that the outermost slice is not larger than the pod set.

    Raises:
        InvalidSpecError: The outermost slice is larger than the pod set.
    """
    annotations = metadata.texts("annotations")
    size = 0
    key = keys.SLICE_SIZE
    if key in annotations:
        size = parse_count(metadata, key)
    elif multi_layer and keys.SLICE_CONSTRAINTS in annotations:
        key = keys.SLICE_CONSTRAINTS
        size = parse_layers(metadata)[0].get("size", 0)
    if size > count:
        raise metadata.section("annotations").error(
            key, f"is {size}; it must not be greater than the pod set's count, {count}"
        )


def check_groups(owner: str, pod_sets: tuple[PodSet, ...]) -> None:
    """Check groups of pod sets.

    A group must consist of exactly two pod sets with identical topology requests, and at least one of the pod sets must
    have exactly one pod.

    Raises:
        InvalidSpecError: A group is not valid.
    """
    groups: dict[str, list[PodSet]] = {}
    for pod_set in pod_sets:
        name = (pod_set.topology_request or {}).get("podSetGroupName")
        if name is not None:
            groups.setdefault(name, []).append(pod_set)
    for name, members in groups.items():
        where = f'{owner}: {keys.POD_SET_GROUP_NAME} "{name}" of {", ".join(member.name for member in members)}'
        _check_group(where, members)


def _check_group(where: str, members: list[PodSet]) -> None:
    if len(members) != _GROUP_SIZE:
        raise InvalidSpecError(f"{where}: has {len(members)} pod sets; a group must have exactly {_GROUP_SIZE}")
    if all(member.count != 1 for member in members):
        raise InvalidSpecError(f"{where}: has several pods in each; at least one of them must have 1 pod")
    first, second = (member.topology_request or {} for member in members)
    if any(first.get(key) != second.get(key) for key in ("required", "preferred")):
        raise InvalidSpecError(f"{where}: asks for different topologies; its pod sets must ask for the same")


def _check_group_name(at: Section, annotations: dict[str, str]) -> None:
    group = annotations[keys.POD_SET_GROUP_NAME]
    if unsigned(group) is not None:
        raise at.error(keys.POD_SET_GROUP_NAME, f'is "{group}"; it must not be a number')
    for key in (keys.SLICE_SIZE, keys.SLICE_REQUIRED_TOPOLOGY, keys.SLICE_CONSTRAINTS):
        if key in annotations:
            raise at.error(keys.POD_SET_GROUP_NAME, f"is given together with {key}; leave one of them out")
    if not annotations.keys() & {keys.REQUIRED_TOPOLOGY, keys.PREFERRED_TOPOLOGY}:
        raise at.error(
            keys.POD_SET_GROUP_NAME, f"needs {keys.REQUIRED_TOPOLOGY} or {keys.PREFERRED_TOPOLOGY}; give one of them"
        )


def _check_layers(metadata: Section, at: Section, annotations: dict[str, str], *, multi_layer: bool) -> None:
    if not multi_layer:
        raise at.error(
            keys.SLICE_CONSTRAINTS, "needs the feature gate TASMultiLayerTopology; turn it on or leave it out"
        )
    if annotations.keys() & {keys.SLICE_SIZE, keys.SLICE_REQUIRED_TOPOLOGY}:
        raise at.error(
            keys.SLICE_CONSTRAINTS,
            f"is given with {keys.SLICE_REQUIRED_TOPOLOGY} or {keys.SLICE_SIZE}; use only one form",
        )
    layers = parse_layers(metadata)
    names = [layer.get("topology", "") for layer in layers]
    sizes = [layer.get("size", 0) for layer in layers]
    for name, size in zip(names, sizes, strict=True):
        if not is_label_key(name) or size < 1:
            raise at.error(
                keys.SLICE_CONSTRAINTS,
                f'has topology "{name}" with size {size}; it must be a node label, with 1 or more',
            )
    if len(set(names)) < len(names):
        raise at.error(keys.SLICE_CONSTRAINTS, "names a topology twice; each layer must have its own")
    for outer, inner in pairwise(sizes):
        if outer % inner:
            raise at.error(
                keys.SLICE_CONSTRAINTS, f"has size {inner} within {outer}; it must evenly divide the layer above it"
            )
