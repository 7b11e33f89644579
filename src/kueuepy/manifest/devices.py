"""Conversion of device objects between the versions of `resource.k8s.io`.

Version v1beta2 of `resource.k8s.io` has the same form as v1. In v1beta1, the fields of `exactly` belong to the request
itself, and the fields of a device are in the section `basic`.
"""

from collections.abc import Iterator
from typing import Any

from kueuepy.errors.problems import Path
from kueuepy.manifest.body import Body, part, present
from kueuepy.manifest.decoding import hold
from kueuepy.manifest.fields import FieldForm
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.shapes import many, mapping_of, shape

GROUP = "resource.k8s.io"

_Cel = shape("CELDeviceSelector", expression=str)
_Selector = shape("DeviceSelector", cel=_Cel | None)
_Requirements = shape("CapacityRequirements", requests=dict[str, str | int] | None)
_Exact = shape(
    "ExactDeviceRequest",
    deviceClassName=str | None,
    selectors=many(_Selector),
    allocationMode=str | None,
    count=int | None,
    adminAccess=bool | None,
    capacity=_Requirements | None,
    tolerations=many(dict[str, Any]),
)
_Request = shape("DeviceRequest", name=str | None, exactly=_Exact | None, firstAvailable=many(dict[str, Any]))
_Range = shape("CapacityRequestPolicyRange", min=str | int | None, max=str | int | None, step=str | int | None)
_Policy = shape(
    "CapacityRequestPolicy",
    default=str | int | None,
    validValues=many(str | int),
    validRange=_Range | None,
)
_Capacity = shape("DeviceCapacity", value=str | int, requestPolicy=_Policy | None)
_Attribute = shape(
    "DeviceAttribute",
    "strings ints bools versions",
    string=str | None,
    int=int | None,
    bool=bool | None,
    version=str | None,
)
_Counter = shape("Counter", value=str | int)
_Consumption = shape("DeviceCounterConsumption", counterSet=str, counters=mapping_of(_Counter))
_DEVICE_OTHERS = (
    "nodeName nodeSelector allNodes taints bindsToNode bindingConditions bindingFailureConditions "
    "allowMultipleAllocations nodeAllocatableResourceMappings"
)
_Device = shape(
    "Device",
    _DEVICE_OTHERS,
    name=str,
    attributes=mapping_of(_Attribute) | None,
    capacity=mapping_of(_Capacity) | None,
    consumesCounters=many(_Consumption),
)
_SLICE_OTHERS = "nodeName nodeSelector allNodes perDeviceNodeSelection sharedCounters"
_DEVICES: Path = ("devices", "requests")


def _is_beta1(doc: Body) -> bool:
    return str(doc.get("apiVersion")).endswith(("v1beta1", "v1alpha3"))


def _exact(request: Any) -> Any:
    if not isinstance(request, dict) or request.get("firstAvailable") or "exactly" in request:
        return request
    return {"name": request.get("name"), "exactly": {k: v for k, v in request.items() if k != "name"}}


def _requests(doc: Body, devices: Body) -> Any:
    requests = devices.get("requests")
    return [_exact(one) for one in requests] if _is_beta1(doc) and isinstance(requests, list) else requests


def claim_body(doc: Body) -> Body:
    """Return the fields of a ResourceClaim."""
    devices = part(doc, "spec", "devices")
    return present(
        {**{name: devices.get(name) for name in ("constraints", "config")}, "requests": _requests(doc, devices)}
    )


def template_body(doc: Body) -> Body:
    """Return the fields of a ResourceClaimTemplate."""
    body = claim_body({**doc, "spec": part(doc, "spec", "spec")})
    return present({**body, "claimMetadata": part(doc, "spec").get("metadata")})


def claim_spread(body: Body) -> Body:
    """Return the spec of a ResourceClaim."""
    return {"spec": {"devices": present({name: body.get(name) for name in ("requests", "constraints", "config")})}}


def template_spread(body: Body) -> Body:
    """Return the spec of a ResourceClaimTemplate."""
    metadata = {"metadata": body["claimMetadata"]} if body.get("claimMetadata") else {}
    return {"spec": {**metadata, **claim_spread(body)}}


def slice_body(doc: Body) -> Body:
    """Return the fields of a ResourceSlice. Unknown fields in the spec of the ResourceSlice are kept unchanged."""
    spec = part(doc, "spec")
    other = {name: value for name, value in spec.items() if name in _SLICE_OTHERS.split() and value is not None}
    body = {name: value for name, value in spec.items() if name not in other and value is not None}
    devices = body.get("devices")
    if _is_beta1(doc) and isinstance(devices, list):
        body["devices"] = [
            {"name": one.get("name"), **one["basic"]}
            if isinstance(one, dict) and isinstance(one.get("basic"), dict)
            else one
            for one in devices
        ]
    return {**body, **({"other": other} if other else {})}


def slice_spread(body: Body) -> Body:
    """Return the spec of a ResourceSlice."""
    return {"spec": {**body.pop("other", {}), **body}}


def _expressions(raw: Any, path: Path, findings: Findings) -> list[str]:
    expressions = []
    for position, selector in enumerate(raw or ()):
        expression = (selector.get("cel") or {}).get("expression")
        if expression is None:
            findings.problem((*path, position, "cel"), "is required", "Required")
        expressions.append(expression or "")
    return expressions


def _selectors(expressions: Any) -> list[Body] | None:
    return [{"cel": {"expression": expression}} for expression in expressions] or None


def _read_request(request: Body, path: Path, findings: Findings) -> Body:
    first, exact = request.get("firstAvailable") or None, request.get("exactly")
    if first is None and exact is None:
        findings.problem((*path, "exactly"), "is required, unless there is firstAvailable", "Required")
    exact = present(exact or {})
    exact["selectors"] = _expressions(exact.get("selectors"), (*path, "exactly", "selectors"), findings)
    exact["capacity"] = (exact.get("capacity") or {}).get("requests")
    exact["allocationMode"] = exact.get("allocationMode") or "ExactCount"
    if first is None and not exact.get("count"):
        exact["count"] = int(exact["allocationMode"] == "ExactCount")
    return present({"name": request.get("name") or "", "firstAvailable": first, **exact})


def _requests_form(*base: str) -> FieldForm:
    """Return the converter for the requests of a claim whose spec is at the given path."""
    path = (*base, *_DEVICES)

    def read(raw: Any, _: Path, findings: Findings) -> Any:
        held = hold(list[_Request], raw, path, findings)  # type: ignore[valid-type]
        if held is None:
            return None
        return [_read_request(one, (*path, i), findings) for i, one in enumerate(held)]

    return FieldForm(read, lambda requests: [_write_request(one) for one in requests])


def _write_request(request: Body) -> Body:
    rest = dict(request)
    name, first = rest.pop("name", ""), rest.pop("firstAvailable", None)
    if first is not None:
        return {"name": name, "firstAvailable": first}
    if "selectors" in rest:
        rest["selectors"] = _selectors(rest["selectors"])
    if rest.get("capacity"):
        rest["capacity"] = {"requests": rest["capacity"]}
    return {"name": name, "exactly": rest}


def _read_attribute(attribute: Body) -> Any:
    values = present(attribute)
    for plain in ("string", "int", "bool"):
        if set(values) == {plain}:
            return values[plain]
    return values


def _write_attribute(value: Any) -> Body:
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int | str):
        return {"int" if isinstance(value, int) else "string": value}
    return dict(value)


def _read_device(device: Body) -> Body:
    device = present(device)
    read: Body = {"name": device["name"]}
    read["attributes"] = {name: _read_attribute(one) for name, one in (device.get("attributes") or {}).items()}
    read["consumesCounters"] = [
        {**one, "counters": {name: counter["value"] for name, counter in one["counters"].items()}}
        for one in device.get("consumesCounters") or ()
    ]
    read["other"] = {name: device[name] for name in _DEVICE_OTHERS.split() if name in device}
    read["capacity"] = {name: _policy_free(one) for name, one in (device.get("capacity") or {}).items()}
    return read


def _policy_free(capacity: Body) -> Body:
    """Return a capacity without null fields."""
    kept = present(capacity)
    if "requestPolicy" in kept:
        kept["requestPolicy"] = present(kept["requestPolicy"])
        if "validRange" in kept["requestPolicy"]:
            kept["requestPolicy"]["validRange"] = present(kept["requestPolicy"]["validRange"])
    return kept


def _write_device(device: Body) -> Body:
    written = {"name": device["name"], **device.get("other", {})}
    if device.get("attributes"):
        written["attributes"] = {name: _write_attribute(value) for name, value in device["attributes"].items()}
    if device.get("capacity"):
        written["capacity"] = device["capacity"]
    if device.get("consumesCounters"):
        written["consumesCounters"] = [
            {
                "counterSet": one["counterSet"],
                "counters": {name: {"value": value} for name, value in one.get("counters", {}).items()},
            }
            for one in device["consumesCounters"]
        ]
    return written


def _absent_fields(device: Body) -> Iterator[Path]:
    """Iterate over the paths of the required fields that a device of a ResourceSlice lacks."""
    if device.get("name") is None:
        yield ("name",)
    for name, capacity in (device.get("capacity") or {}).items():
        if capacity.get("value") is None:
            yield ("capacity", name, "value")
    for position, consumed in enumerate(device.get("consumesCounters") or ()):
        for field in ("counterSet", "counters"):
            if consumed.get(field) is None:
                yield ("consumesCounters", position, field)
        for name, counter in (consumed.get("counters") or {}).items():
            if counter.get("value") is None:
                yield ("consumesCounters", position, "counters", name, "value")


def _read_devices(raw: Any, path: Path, findings: Findings) -> Any:
    held = hold(list[_Device], raw, path, findings)  # type: ignore[valid-type]
    if held is None:
        return None
    absent = [(*path, position, *steps) for position, device in enumerate(held) for steps in _absent_fields(device)]
    for one in absent:
        findings.problem(one, "is required", "Required")
    return None if absent else [_read_device(one) for one in held]


def _read_selectors(raw: Any, path: Path, findings: Findings) -> Any:
    held = hold(list[_Selector], raw, path, findings)  # type: ignore[valid-type]
    return None if held is None else _expressions(held, path, findings)


DEVICES = FieldForm(_read_devices, lambda devices: [_write_device(one) for one in devices])
SELECTORS = FieldForm(_read_selectors, _selectors)
CLAIM_REQUESTS = _requests_form("spec")
TEMPLATE_REQUESTS = _requests_form("spec", "spec")
