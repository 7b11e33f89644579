"""Topology requests of pod sets, created from the annotations of their pod templates, and the rules for annotations.

Of several problems in a job, only the first one is reported.

Source: `pkg/controller/jobframework/tas.go:Build`, `pkg/controller/jobframework/tas_validation.go`.
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import keys
from kueuepy.jobs.numbers import signed, unsigned
from kueuepy.jobs.template import Document, Section
from kueuepy.manifest import SURROGATE, is_label_key
from kueuepy.objects import PodSet

_TRUE = {"1", "t", "T", "TRUE", "true", "True"}
_FALSE = {"0", "f", "F", "FALSE", "false", "False"}
_MAX_LAYERS = 3


@dataclass(frozen=True)
class PodIndex:
    """Labels with which a kind of job numbers the pods of a pod set.

    >>> PodIndex("batch.kubernetes.io/job-completion-index").sub_group_count is None
    True

    Attributes:
        label: Label that holds a pod's index in its pod set or sub-group; `None` if there is no such label.
        sub_group_label: Label that holds the index of the pod's sub-group; `None` if there is no such label.
        sub_group_count: Number of sub-groups; `None` if there are no sub-groups.
    """

    label: str | None = None
    sub_group_label: str | None = None
    sub_group_count: int | None = None

    def request(self) -> Document:
        """Return the fields of a topology request that name the index labels."""
        fields = {
            "podIndexLabel": self.label,
            "subGroupIndexLabel": self.sub_group_label,
            "subGroupCount": self.sub_group_count,
        }
        return {key: value for key, value in fields.items() if value is not None}


def topology_request(metadata: Section, index: PodIndex, *, multi_layer: bool) -> Document | None:
    """Return the topology request of a pod template; `None` if there is none.

    The annotations for required, preferred and unconstrained topologies are read in this order, and the first one found
    is used. A kind that numbers its pods has an implicit topology request even without a topology annotation.

    Raises:
        InvalidSpecError: An annotation cannot be parsed.
    """
    annotations = metadata.texts("annotations")
    required, preferred = annotations.get(keys.REQUIRED_TOPOLOGY), annotations.get(keys.PREFERRED_TOPOLOGY)
    request: dict[str, Any] = {}
    if required is not None:
        request["required"] = required
    elif preferred is not None:
        request["preferred"] = preferred
    elif keys.UNCONSTRAINED_TOPOLOGY in annotations:
        request["unconstrained"] = parse_bool(metadata, keys.UNCONSTRAINED_TOPOLOGY)
    # If the feature gate is off, the annotation for layers still causes a request, but the layers are not part of it.
    elif not (_has_slice(annotations) or keys.SLICE_CONSTRAINTS in annotations or index.request()):
        return None
    request |= index.request()
    group = annotations.get(keys.POD_SET_GROUP_NAME)
    if group is not None and not (required is None and preferred is None):
        request["podSetGroupName"] = group
    return request | _slices(metadata, annotations, multi_layer=multi_layer)


def parse_bool(metadata: Section, key: str) -> bool:
    """Return the boolean in an annotation, in any form that Go accepts.

    Raises:
        InvalidSpecError: The annotation is not a boolean.
    """
    text = metadata.section("annotations").text(key)
    if text not in _TRUE | _FALSE:
        raise metadata.section("annotations").error(key, f'is "{text}"; it must be a boolean value, "true" or "false"')
    return text in _TRUE


def parse_count(metadata: Section, key: str, *, bits: int = 32) -> int:
    """Return the integer in an annotation.

    Raises:
        InvalidSpecError: The annotation is not an integer, or needs more than `bits` bits.
    """
    annotations = metadata.section("annotations")
    text = annotations.text(key)
    number = signed(text, bits)
    if number is None:
        raise annotations.error(key, f'is "{text}"; it must be a whole number of {bits} bits')
    return number


def parse_layers(metadata: Section) -> list[Document]:
    """Return the layers of slices in an annotation, outermost first.

    The annotation is parsed like Go's `encoding/json`: unknown fields are ignored, names of fields are
    case-insensitive, and absent fields have Go's zero value.

    Raises:
        InvalidSpecError: The annotation is not a JSON list of 1 to 3 layers.
    """
    annotations = metadata.section("annotations")
    text = annotations.text(keys.SLICE_CONSTRAINTS)
    layers = _layers(text)
    if layers is None:
        what = f"is {text!r:.99}; it must be a JSON list of objects with a topology and a size"
        raise annotations.error(keys.SLICE_CONSTRAINTS, what)
    if not 1 <= len(layers) <= _MAX_LAYERS:
        raise annotations.error(keys.SLICE_CONSTRAINTS, f"has {len(layers)} layers; it must have 1 to {_MAX_LAYERS}")
    return layers


def _layers(text: str) -> list[Document] | None:
    """Return the layers in a JSON string, possibly an empty list; `None` if the string is not a list of layers."""
    try:
        # Go matches field names without regard to case, and the last of several wins.
        found = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if found is None:  # Go reads null as an empty list
        return []
    layers = [_layer(item) for item in found] if isinstance(found, list) and not isinstance(found, _Pairs) else [None]
    return None if None in layers else [layer for layer in layers if layer is not None]


class _Pairs(list[tuple[str, Any]]):
    """The fields of a JSON object in order. A field name may occur twice."""


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _layer(item: Any) -> Document | None:
    """Return one layer of slices; `None` if a field has a wrong type."""
    layer: Document = {"topology": "", "size": 0}
    if item is not None and not isinstance(item, _Pairs):
        return None
    for name, value in item or ():
        field = name.casefold()
        if field not in layer or value is None:
            continue
        if field == "topology" and isinstance(value, str):
            # Go replaces half of a surrogate pair in the same way.
            layer[field] = SURROGATE.sub("\ufffd", value)
        elif field == "size" and type(value) is int and -(2**31) <= value < 2**31:
            layer[field] = value
        else:
            return None
    return layer


def _slices(metadata: Section, annotations: dict[str, str], *, multi_layer: bool) -> Document:
    if multi_layer and keys.SLICE_CONSTRAINTS in annotations:
        return {"podsetSliceRequiredTopologyConstraints": parse_layers(metadata)}
    if _has_slice(annotations):
        return {
            "podSetSliceRequiredTopology": annotations[keys.SLICE_REQUIRED_TOPOLOGY],
            "podSetSliceSize": parse_count(metadata, keys.SLICE_SIZE),
        }
    return {}


def _has_slice(annotations: dict[str, str]) -> bool:
    return keys.SLICE_REQUIRED_TOPOLOGY in annotations and keys.SLICE_SIZE in annotations


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
