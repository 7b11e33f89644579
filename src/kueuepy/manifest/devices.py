"""Device objects of `resource.k8s.io`: older versions, and fields whose values differ from those of the classes.

Version v1beta2 of `resource.k8s.io` has the same form as v1. In v1beta1, the fields of `exactly` belong to the request
itself, and the fields of a device are in the section `basic`.
"""

from typing import Any

from kueuepy.manifest.body import Body, changed, part

GROUP = "resource.k8s.io"
_OLD = ("v1beta1", "v1alpha3")


_REQUESTS = {
    "ResourceClaim": ("spec", "devices", "requests", "*"),
    "ResourceClaimTemplate": ("spec", "spec", "devices", "requests", "*"),
}
_ATTRIBUTES = ("spec", "devices", "*", "attributes")


def to_v1(version: str, doc: Body) -> Body:
    """Convert an object to the form of v1."""
    if version not in _OLD:
        return doc
    kind = str(doc.get("kind"))
    change, path = (_device, _ATTRIBUTES[:-1]) if kind == "ResourceSlice" else (_request, _REQUESTS.get(kind))
    return changed(doc, path, change) if path else doc


def _request(request: Any) -> Any:
    if not isinstance(request, dict) or request.get("firstAvailable") or "exactly" in request:
        return request
    return {"name": request.get("name"), "exactly": {k: v for k, v in request.items() if k != "name"}}


def _device(device: Any) -> Any:
    basic = device.get("basic") if isinstance(device, dict) else None
    return {"name": device.get("name"), **basic} if isinstance(basic, dict) else device


def read_claim(doc: Body) -> Body:
    """Return a claim, or a template of claims, with the defaults of its requests."""
    return changed(doc, _REQUESTS[doc["kind"]], _with_defaults)


def write_claim(doc: Body) -> Body:
    """Return a claim, or a template of claims, with the section `devices` that the API requires."""
    spec = part(doc, "spec")
    if doc["kind"] == "ResourceClaimTemplate":
        return {**doc, "spec": {**spec, "spec": {"devices": {}, **part(spec, "spec")}}}
    return {**doc, "spec": {"devices": {}, **spec}}


def _with_defaults(request: Body) -> Body:
    exact = request.get("exactly", {})
    mode = exact.get("allocationMode") or "ExactCount"
    count = exact.get("count") or int(mode == "ExactCount")
    is_exact = not request.get("firstAvailable")
    first = {} if is_exact else {"firstAvailable": request["firstAvailable"]}
    exact = {**exact, "allocationMode": mode, **({"count": count} if is_exact else {})}
    return {"name": request.get("name", ""), "exactly": exact, **first}


def read_slice(doc: Body) -> Body:
    """Return a ResourceSlice whose attributes are plain values, except for versions."""
    return changed(doc, _ATTRIBUTES, lambda found: {name: _read_attribute(one) for name, one in found.items()})


def write_slice(doc: Body) -> Body:
    """Return a ResourceSlice whose attributes have their types."""
    doc = changed(doc, ("spec", "devices", "*", "consumesCounters", "*"), lambda one: {"counters": {}, **one})
    return changed(doc, _ATTRIBUTES, lambda found: {name: _write_attribute(one) for name, one in found.items()})


def _read_attribute(attribute: Body) -> Any:
    plain = next((name for name in ("string", "int", "bool") if set(attribute) == {name}), None)
    return attribute if plain is None else attribute[plain]


def _write_attribute(value: Any) -> Body:
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int | str):
        return {"int" if isinstance(value, int) else "string": value}
    return dict(value)
