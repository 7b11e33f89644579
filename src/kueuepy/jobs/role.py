"""The role of a pod in its group: a hash of the fields of its spec that affect scheduling.

Source: `pkg/util/pod/pod.go:GenerateRoleHash,SpecShape`, which hash JSON as encoded by Go.
"""

import hashlib
import json
from typing import Any

from kueuepy.jobs.fields import Document, canonical

_LENGTH = 8

# Fields of Kubernetes' types in the order of their Go structs. "!" marks fields that Go encodes even if they are empty.
_SELECTOR_TERM: Document = {"key!": None, "operator!": None, "values": None}
_LABEL_SELECTOR: Document = {"matchLabels": None, "matchExpressions": _SELECTOR_TERM}
_NODE_TERM: Document = {"matchExpressions": _SELECTOR_TERM, "matchFields": _SELECTOR_TERM}
_POD_TERM: Document = {
    "labelSelector": _LABEL_SELECTOR,
    "namespaces": None,
    "topologyKey!": None,
    "namespaceSelector": _LABEL_SELECTOR,
    "matchLabelKeys": None,
    "mismatchLabelKeys": None,
}
_POD_AFFINITY: Document = {
    "requiredDuringSchedulingIgnoredDuringExecution": _POD_TERM,
    "preferredDuringSchedulingIgnoredDuringExecution": {"weight!": 0, "podAffinityTerm!": _POD_TERM},
}
_AFFINITY: Document = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms!": _NODE_TERM},
        "preferredDuringSchedulingIgnoredDuringExecution": {"weight!": 0, "preference!": _NODE_TERM},
    },
    "podAffinity": _POD_AFFINITY,
    "podAntiAffinity": _POD_AFFINITY,
}
_TOLERATION: Document = {"key": None, "operator": None, "value": None, "effect": None, "tolerationSeconds": None}
_PORT: Document = {"name": None, "hostPort": None, "containerPort!": 0, "protocol": None, "hostIP": None}
_SPREAD: Document = {
    "maxSkew!": 0,
    "topologyKey!": None,
    "whenUnsatisfiable!": None,
    "labelSelector": _LABEL_SELECTOR,
    "minDomains": None,
    "nodeAffinityPolicy": None,
    "nodeTaintsPolicy": None,
    "matchLabelKeys": None,
}
_CLAIM: Document = {"name!": None, "resourceClaimName": None, "resourceClaimTemplateName": None}
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def role_hash(spec: Document) -> str:
    """Return the role of a pod with the given spec, a string of 8 hexadecimal digits.

    Empty lists and mappings count as absent. Default requests, which the API server sets from limits, are taken into
    account. In a cluster, the role also depends on the priority and on the tolerations that admission plugins add.

    >>> role_hash({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]})
    'dc85db45'
    """
    shape = {
        "initContainers": _containers(spec.get("initContainers")),
        "containers": _containers(spec.get("containers")),
        "nodeSelector": _sorted(spec.get("nodeSelector") or None),
        "affinity": _ordered(spec.get("affinity"), _AFFINITY),
        "tolerations": _ordered(spec.get("tolerations") or None, _TOLERATION),
        "runtimeClassName": spec.get("runtimeClassName"),
        "priority": spec.get("priority"),
        "topologySpreadConstraints": _ordered(spec.get("topologySpreadConstraints") or None, _SPREAD),
        "overhead": _resources(spec.get("overhead")),
        "resourceClaims": _ordered(spec.get("resourceClaims") or None, _CLAIM),
    }
    if spec.get("resources") is not None:
        shape["resources"] = _resources(spec["resources"].get("requests"))
    text = _json({"spec": _sorted(shape)})
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def _json(value: Document) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for character, escaped in _HTML.items():
        text = text.replace(character, escaped)
    return text


def _containers(containers: list[Document] | None) -> list[Document] | None:
    if not containers:
        return None
    return [
        {
            "ports": _ordered(container.get("ports") or None, _PORT),
            "resources": {"requests": _resources(_requests(container.get("resources") or {}))},
        }
        for container in containers
    ]


def _requests(resources: Document) -> Document:
    """Return the requests of a container. As in an API server, a missing request defaults to the limit."""
    return {**(resources.get("limits") or {}), **(resources.get("requests") or {})}


def _resources(resources: Document | None) -> Document | None:
    return {name: canonical(resources[name]) for name in sorted(resources)} if resources else None


def _sorted(mapping: Document | None) -> Document | None:
    return None if mapping is None else dict(sorted(mapping.items()))


def _ordered(value: Any, fields: Document | None) -> Any:
    """Order the fields of a Go type as Go encodes them, and omit empty fields."""
    if isinstance(value, list):
        return [_ordered(item, fields) for item in value]
    if not isinstance(value, dict):
        return value
    if fields is None:
        return _sorted(value)
    result = {}
    for name, inner in fields.items():
        is_always_written = name.endswith("!")
        key = name.rstrip("!")
        nested = inner if isinstance(inner, dict) else None
        found = value.get(key)
        # Go does not treat an empty object behind a pointer as empty, for example a selector that matches everything.
        if found is not None and (found or isinstance(found, dict) or is_always_written):
            result[key] = _ordered(found, nested)
        elif is_always_written:
            result[key] = 0 if inner == 0 else {} if nested else ""
    return result
