"""Validation rules for device objects and for mappings of device classes, with Kueue's own error messages.

Source: `pkg/config/validation.go:validateDeviceClassMappings`, `k8s.io/api/resource/v1`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import kueuepy.objects as api
from kueuepy.errors.problems import Path
from kueuepy.manifest.formats import DNS_LABEL, DNS_SUBDOMAIN
from kueuepy.manifest.validation.review import Review, parse_lenient
from kueuepy.selectors import compile_error, is_available

_MOST_MAPPINGS, _MOST_CLASSES, _MOST_NAME, _MOST_DRIVER, _MOST_WORD, _MOST_IDENTIFIER = 16, 8, 253, 63, 63, 32
_MAPPINGS: Path = ("resources", "deviceClassMappings")
_WORD = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_WORD.pattern}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{DNS_SUBDOMAIN.pattern}')"
)
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{DNS_LABEL.pattern}')"
)
_IDENTIFIER_RULE = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    f"'{_IDENTIFIER.pattern}')"
)
Fault = tuple[Path, str]


def review_mappings(mappings: Sequence[api.DeviceClassMapping], gates: Mapping[str, bool], review: Review) -> None:
    """Check `deviceClassMappings`. Problems have the wording of Kueue's errors."""
    for path, text in mapping_faults(mappings, gates):
        review.problem(path, text)


def mapping_faults(mappings: Sequence[api.DeviceClassMapping], gates: Mapping[str, bool]) -> Iterator[Fault]:
    """Iterate over all problems of the mappings, in Kueue's order and with Kueue's wording."""
    if len(mappings) > _MOST_MAPPINGS:
        yield _MAPPINGS, f"Too many: {len(mappings)}: must have at most {_MOST_MAPPINGS} items"
    names: set[str] = set()
    classes = _Classes()
    for index, mapping in enumerate(mappings):
        path = (*_MAPPINGS, index)
        yield from _names((*path, "name"), mapping.name)
        if mapping.name in names:
            yield (*path, "name"), f"Duplicate value: {_quoted(mapping.name)}"
        names.add(mapping.name)
        yield from _classes((*path, "deviceClassNames"), mapping, classes)
        yield from _sources((*path, "sources"), mapping.sources, gates)


class _Classes:
    """The device classes found so far: the first mapping of each, and its counters."""

    def __init__(self) -> None:
        self.mapped: dict[str, str] = {}
        self.counters: dict[str, set[str]] = {}

    def conflict(self, name: str, mapping: api.DeviceClassMapping) -> str:
        """Return the reason why a mapping must not name a device class; empty if the mapping is allowed."""
        counter = _first_counter(mapping)
        if name not in self.mapped:
            self.mapped[name] = mapping.name
            self.counters[name] = {counter} if counter else set()
            return ""
        if self.mapped[name] == mapping.name:
            return ""
        if not counter or not self.counters[name]:
            return f"device class already mapped to resource {self.mapped[name]}"
        if counter in self.counters[name]:
            return f"device class already has a counter source for counter {_quoted(counter)}"
        self.counters[name].add(counter)
        return ""


def _first_counter(mapping: api.DeviceClassMapping) -> str:
    first = mapping.sources[0].counter if mapping.sources else None
    return first.name if first is not None else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _invalid(path: Path, text: str, reason: str) -> Fault:
    return path, f"Invalid value: {_quoted(text)}: {reason}"


def _names(path: Path, name: str) -> Iterator[Fault]:
    if reasons := "; ".join(_label_key_faults(name)):
        yield _invalid(path, name, reasons)
    if len(name.encode()) > _MOST_NAME:
        yield _invalid(path, name, f"must not exceed {_MOST_NAME} characters")


def _label_key_faults(key: str) -> Iterator[str]:
    prefix, slash, name = key.partition("/")
    if "/" in name:
        prefixed = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        yield f"a valid label key {_WORD_RULE} {prefixed}"
        return
    if not slash:
        name = prefix
    elif not prefix:
        yield "prefix part must be non-empty"
    else:
        yield from (f"prefix part {fault}" for fault in _faults(prefix, *_SUBDOMAIN))
    if not name:
        yield "name part must be non-empty"
    elif len(name.encode()) > _MOST_WORD:
        yield f"name part must be no more than {_MOST_WORD} bytes"
    if not _WORD.fullmatch(name):
        yield f"name part {_WORD_RULE}"


def _faults(text: str, most: int, pattern: re.Pattern[str], rule: str) -> Iterator[str]:
    if len(text.encode()) > most:
        yield f"must be no more than {most} characters"
    if not pattern.fullmatch(text):
        yield rule


_SUBDOMAIN = (_MOST_NAME, DNS_SUBDOMAIN, _SUBDOMAIN_RULE)
_LABEL = (_MOST_WORD, DNS_LABEL, _LABEL_RULE)


def _classes(path: Path, mapping: api.DeviceClassMapping, classes: _Classes) -> Iterator[Fault]:
    names = mapping.device_class_names
    if not names:
        yield path, "Required value: at least one device class name is required"
    if len(names) > _MOST_CLASSES:
        yield path, f"Too many: {len(names)}: must have at most {_MOST_CLASSES} items"
    for index, name in enumerate(names):
        location = (*path, index)
        yield from _names(location, name)
        if name in names[:index]:
            yield location, f"Duplicate value: {_quoted(name)}"
        if reason := classes.conflict(name, mapping):
            yield _invalid(location, name, reason)


def _sources(path: Path, sources: Sequence[api.DeviceClassSource], gates: Mapping[str, bool]) -> Iterator[Fault]:
    alone = "exactly one source type must be set per entry"
    for index, source in enumerate(sources):
        location = (*path, index)
        if source.counter is None and source.capacity is None:
            yield location, f"Required value: {alone}"
        elif source.counter is not None and source.capacity is not None:
            yield _invalid(location, "counter+capacity", alone)
        elif source.counter is not None:
            yield from _source((*location, "counter"), source.counter, gates, _counter_name)
        elif source.capacity is not None:
            yield from _source((*location, "capacity"), source.capacity, gates, _qualified)
    single = [s for s in sources if (s.counter is None) != (s.capacity is None)]
    if any(s.counter for s in single) and any(s.capacity for s in single):
        yield path, f"Invalid value: {len(sources)}: cannot mix counter and capacity sources in the same mapping"


_GATES = {
    "counter": "KueueDRAIntegrationPartitionableDevices",
    "capacity": "KueueDRAIntegrationConsumableCapacity",
}


def _source(
    path: Path,
    source: api.CounterSource | api.CapacitySource,
    gates: Mapping[str, bool],
    name_faults: Callable[[Path, str], Iterator[Fault]],
) -> Iterator[Fault]:
    kind = str(path[-1])
    if not gates.get(_GATES[kind]):
        yield path, f"Invalid value: true: {kind} sources require {_GATES[kind]} to be enabled"
        return
    yield from name_faults((*path, "name"), source.name)
    if not source.driver:
        yield (*path, "driver"), "Required value"
    elif len(source.driver.encode()) > _MOST_DRIVER:
        yield _invalid((*path, "driver"), source.driver, f"must not exceed {_MOST_DRIVER} characters")
    elif reasons := ",".join(_faults(source.driver, *_SUBDOMAIN)):
        yield _invalid((*path, "driver"), source.driver, reasons)
    selector = (*path, "deviceSelector", "cel", "expression")
    if not source.device_selector:
        yield selector, "Required value"
    elif error := compile_error(source.device_selector):
        yield _invalid(selector, source.device_selector, f"CEL compilation failed: {error}")


def _counter_name(path: Path, name: str) -> Iterator[Fault]:
    if not name:
        yield path, "Required value"
    elif reasons := ",".join(_faults(name, *_LABEL)):
        yield _invalid(path, name, reasons)


def _qualified(path: Path, name: str) -> Iterator[Fault]:
    domain, slash, identifier = name.partition("/")
    if "/" in identifier:
        return
    if not slash:
        yield from _identifier(path, domain)
        return
    if not domain:
        yield _invalid(path, "", "the domain must not be empty")
    else:
        if len(domain.encode()) > _MOST_DRIVER:
            yield path, f"Too long: may not be more than {_MOST_DRIVER} bytes"
        for reason in _faults(domain.lower(), *_SUBDOMAIN):
            yield _invalid(path, domain, reason)
    if not identifier:
        yield _invalid(path, "", "the name must not be empty")
    else:
        yield from _identifier(path, identifier)


def _identifier(path: Path, text: str) -> Iterator[Fault]:
    if len(text.encode()) > _MOST_IDENTIFIER:
        yield path, f"Too long: may not be more than {_MOST_IDENTIFIER} bytes"
    if not _IDENTIFIER.fullmatch(text):
        yield _invalid(path, text, _IDENTIFIER_RULE)


# --- objects ---------------------------------------------------------------------------------------------------------


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
        if isinstance(found := parse_lenient(amount), str):
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
