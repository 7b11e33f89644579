"""Validation rules for device objects and for mappings of device classes.

Source: `pkg/config/validation.go:validateDeviceClassMappings`, `k8s.io/api/resource/v1`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import kueuepy.objects as api
from kueuepy.errors import Path, shown
from kueuepy.manifest.formats import SUBDOMAIN_FORM, SUBDOMAIN_LENGTH, is_subdomain, read_quantity
from kueuepy.manifest.validation.review import Review
from kueuepy.selectors import compile_error, is_available

_MOST_MAPPINGS, _MOST_CLASSES, _MOST_DRIVER, _MOST_IDENTIFIER = 16, 8, 63, 32
_MAPPINGS: Path = ("resources", "deviceClassMappings")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GATES = {
    "counter": "KueueDRAIntegrationPartitionableDevices",
    "capacity": "KueueDRAIntegrationConsumableCapacity",
}


def review_mappings(mappings: Sequence[api.DeviceClassMapping], gates: Mapping[str, bool], review: Review) -> None:
    """Check `deviceClassMappings`."""
    review.at_most(mappings, _MOST_MAPPINGS, _MAPPINGS)
    review.unique((mapping.name for mapping in mappings), _MAPPINGS, "name")
    classes = _Classes()
    for index, mapping in enumerate(mappings):
        path = (*_MAPPINGS, index)
        _review_key(mapping.name, (*path, "name"), review)
        _review_classes(mapping, classes, (*path, "deviceClassNames"), review)
        _review_sources(mapping.sources, gates, (*path, "sources"), review)


class _Classes:
    """The device classes found so far: the first mapping of each, and its counters."""

    def __init__(self) -> None:
        self.mapped: dict[str, str] = {}
        self.counters: dict[str, set[str]] = {}

    def conflict(self, name: str, mapping: api.DeviceClassMapping) -> str:
        """Return the reason why a mapping must not name a device class; empty if the mapping is allowed."""
        first = mapping.sources[0].counter if mapping.sources else None
        counter = first.name if first is not None else ""
        if name not in self.mapped:
            self.mapped[name] = mapping.name
            self.counters[name] = {counter} if counter else set()
        elif self.mapped[name] != mapping.name:
            if not counter or not self.counters[name]:
                return f"{shown(name)} is mapped to resource {self.mapped[name]} already"
            if counter in self.counters[name]:
                return f"{shown(name)} is mapped with counter {shown(counter)} already"
            self.counters[name].add(counter)
        return ""


def _review_key(name: str, path: Path, review: Review) -> None:
    review.label_key(name, path)
    _at_most(name, SUBDOMAIN_LENGTH, path, review)


def _at_most(text: str, most: int, path: Path, review: Review) -> None:
    if (length := len(text.encode())) > most:
        review.problem(path, f"has {length} bytes; at most {most} are allowed")


def _review_classes(mapping: api.DeviceClassMapping, classes: _Classes, path: Path, review: Review) -> None:
    names = mapping.device_class_names
    if not names:
        review.problem(path, "is empty; it must have at least one item", "Required")
    review.at_most(names, _MOST_CLASSES, path)
    review.unique(names, path)
    for index, name in enumerate(names):
        _review_key(name, (*path, index), review)
        if reason := classes.conflict(name, mapping):
            review.problem((*path, index), reason)


def _review_sources(
    sources: Sequence[api.DeviceClassSource], gates: Mapping[str, bool], path: Path, review: Review
) -> None:
    kinds = set()
    for index, source in enumerate(sources):
        location = (*path, index)
        if (source.counter is None) == (source.capacity is None):
            what = "must have either counter or capacity"
            review.problem(location, what, "Required" if source.counter is None else "Invalid")
        elif source.counter is not None:
            kinds.add("counter")
            _review_source(source.counter, gates, _review_counter, (*location, "counter"), review)
        elif source.capacity is not None:
            kinds.add("capacity")
            _review_source(source.capacity, gates, _review_qualified, (*location, "capacity"), review)
    if len(kinds) > 1:
        review.problem(path, "have counters and capacities; a mapping must have only one of the two")


def _review_source(
    source: api.CounterSource | api.CapacitySource,
    gates: Mapping[str, bool],
    review_name: Callable[[str, Path, Review], None],
    path: Path,
    review: Review,
) -> None:
    gate = _GATES[str(path[-1])]
    if not gates.get(gate):
        review.problem(path, f"needs the feature gate {gate}; turn it on")
        return
    review_name(source.name, (*path, "name"), review)
    if not source.driver:
        review.problem((*path, "driver"), "is required", "Required")
    elif len(source.driver.encode()) > _MOST_DRIVER:
        _at_most(source.driver, _MOST_DRIVER, (*path, "driver"), review)
    else:
        _review_domain(source.driver, (*path, "driver"), review)
    selector = (*path, "deviceSelector", "cel", "expression")
    if not source.device_selector:
        review.problem(selector, "is required", "Required")
    elif error := compile_error(source.device_selector):
        review.problem(selector, f"is {shown(source.device_selector)}, which is not CEL: {error}")


def _review_domain(name: str, path: Path, review: Review) -> None:
    if not is_subdomain(name):
        review.problem(path, f"is {shown(name)}; it must be {SUBDOMAIN_FORM}")


def _review_counter(name: str, path: Path, review: Review) -> None:
    if not name:
        review.problem(path, "is required", "Required")
    else:
        review.label(name, path)


def _review_qualified(name: str, path: Path, review: Review) -> None:
    """Check the name of a capacity: an identifier, after a domain and `/` if need be."""
    domain, slash, identifier = name.rpartition("/")
    if "/" in domain:  # Kueue checks no name with two slashes
        return
    if slash:
        _at_most(domain, _MOST_DRIVER, path, review)
        _review_domain(domain.lower(), path, review)
    _at_most(identifier, _MOST_IDENTIFIER, path, review)
    if not _IDENTIFIER.fullmatch(identifier):
        review.problem(path, f"is {shown(name)}; it must end with a word of letters, digits and _ after a letter or _")


def review_template(template: api.ResourceClaimTemplate, review: Review) -> None:
    """Check a ResourceClaimTemplate."""
    _review_requests(template.requests, ("spec", "spec", "devices", "requests"), review)


def review_claim(claim: api.ResourceClaim, review: Review) -> None:
    """Check a ResourceClaim."""
    _review_requests(claim.requests, ("spec", "devices", "requests"), review)


def _require_evaluable(expressions: Iterable[str]) -> None:
    """Check that selectors use only supported CEL expressions. Without the extra `dra`, nothing is checked.

    Raises:
        UnsupportedError: A selector uses an unsupported expression, which the message names.
    """
    if is_available():
        for expression in expressions:
            compile_error(expression)


def _review_requests(requests: Iterable[api.DeviceRequest], path: Path, review: Review) -> None:
    for index, request in enumerate(requests):
        location = (*path, index)
        if not request.name:
            review.problem((*location, "name"), "is required", "Required")
        if request.first_available is not None:
            continue
        exactly = (*location, "exactly")
        _require_evaluable(request.selectors)
        if not request.device_class_name:
            review.problem((*exactly, "deviceClassName"), "is required", "Required")
        else:
            review.subdomain(request.device_class_name, (*exactly, "deviceClassName"))
        if request.allocation_mode == "ExactCount" and request.count < 1:
            review.problem((*exactly, "count"), f"is {request.count}; it must be 1 or more")
        review.one_of(request.allocation_mode, ("ExactCount", "All"), (*exactly, "allocationMode"))
        _review_amounts(request.capacity, (*exactly, "capacity", "requests"), review)


def _review_amounts(amounts: Mapping[str, str | int], path: Path, review: Review) -> None:
    for name, amount in amounts.items():
        if isinstance(found := read_quantity(amount), str):
            review.problem((*path, name), found)


def review_device_class(device_class: api.DeviceClass, review: Review) -> None:
    """Check a DeviceClass."""
    _require_evaluable(device_class.selectors)
    name = device_class.extended_resource_name
    if name is not None and ("/" not in name or name.startswith(("kubernetes.io/", "requests."))):
        review.problem(
            ("spec", "extendedResourceName"), f'is "{name}"; it must be the name of an extended resource, with a domain'
        )


def review_slice(published: api.ResourceSlice, review: Review) -> None:
    """Check a ResourceSlice."""
    if not published.driver:
        review.problem(("spec", "driver"), "is required", "Required")
    else:
        review.subdomain(published.driver, ("spec", "driver"))
    pool = ("spec", "pool")
    if not published.pool.name:
        review.problem((*pool, "name"), "is required", "Required")
    if published.pool.resource_slice_count < 1:
        detail = f"is {published.pool.resource_slice_count}; it must be 1 or more"
        review.problem((*pool, "resourceSliceCount"), detail)
    review.unique((device.name for device in published.devices), ("spec", "devices"), "name")
    for index, device in enumerate(published.devices):
        location = ("spec", "devices", index)
        amounts = {name: capacity.value for name, capacity in device.capacity.items()}
        _review_amounts(amounts, (*location, "capacity"), review)
        for consumption in device.consumes_counters:
            _review_amounts(consumption.counters, (*location, "consumesCounters"), review)
