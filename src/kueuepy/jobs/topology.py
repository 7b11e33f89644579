"""Topology requests of pod sets, created from the annotations of their pod templates.

Source: `pkg/controller/jobframework/tas.go:Build`.
"""

import json
from dataclasses import dataclass
from typing import Any

from kueuepy.jobs import keys
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.numbers import signed
from kueuepy.manifest.text.text import SURROGATE

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
        what = f"is {text!r}; it must be a JSON list of objects with a topology and a size"
        raise annotations.error(keys.SLICE_CONSTRAINTS, what)
    if not 1 <= len(layers) <= _MAX_LAYERS:
        raise annotations.error(keys.SLICE_CONSTRAINTS, f"has {len(layers)} layers; it must have 1 to {_MAX_LAYERS}")
    return layers


def _layers(text: str) -> list[Document] | None:
    """Return the layers in a JSON string, possibly an empty list; `None` if the string is not a list of layers."""
    try:
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
