"""Devices of Dynamic Resource Allocation (API group `resource.k8s.io`), and the claims that ask for them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import field

from kueuepy.objects.base import Collection, Int64, Named, NamespacedObject, Object, QuantityText, ResourceList, Value


class DeviceRequest(Named, frozen=True):
    """One request of a claim: devices of one class.

    Attributes:
        device_class_name: The DeviceClass of the devices.
        selectors: CEL expressions that a device must match, beside those of its class.
        allocation_mode: `ExactCount`; Kueue refuses `All`.
        count: The number of devices, for `ExactCount`.
        admin_access: Whether the devices are for administration; Kueue counts none of them.
        capacity: Amounts of shareable devices by name of the capacity (`capacity.requests`).
        tolerations: Taints of devices that are tolerated, as written; Kueue does not read them.
        first_available: Alternatives instead of all of the above, as written; Kueue refuses them.
    """

    device_class_name: str = ""
    selectors: Sequence[str] = ()
    allocation_mode: str = "ExactCount"
    count: Int64 = 1
    admin_access: bool = False
    capacity: ResourceList = field(default_factory=dict)
    tolerations: Sequence[dict[str, Any]] = ()
    first_available: list[dict[str, Any]] | None = None


class ResourceClaimTemplate(NamespacedObject, frozen=True, kw_only=True):
    """A template from which each pod that names it gets a claim of its own.

    Source: `pkg/dra/claims.go`.

    Attributes:
        requests: The requests for devices, in order.
        constraints: Constraints between devices, as written; Kueue does not read them.
        config: Configuration for drivers, as written; Kueue does not read it.
        claim_metadata: Labels and annotations of the claims, as written.
    """

    requests: Sequence[DeviceRequest] = ()
    constraints: Sequence[dict[str, Any]] = ()
    config: Sequence[dict[str, Any]] = ()
    claim_metadata: dict[str, Any] = field(default_factory=dict)


class ResourceClaim(NamespacedObject, frozen=True, kw_only=True):
    """A claim of devices that pods share by name. Kueue refuses workloads that name one.

    Attributes:
        requests: The requests for devices, in order.
        constraints: Constraints between devices, as written.
        config: Configuration for drivers, as written.
    """

    requests: Sequence[DeviceRequest] = ()
    constraints: Sequence[dict[str, Any]] = ()
    config: Sequence[dict[str, Any]] = ()


class DeviceClass(Object, frozen=True, kw_only=True):
    """A class of devices, which claims ask for.

    Attributes:
        selectors: CEL expressions that a device of the class matches.
        extended_resource_name: The extended resource that stands for devices of the class; `None` for none.
        config: Configuration for drivers, as written; Kueue does not read it.
    """

    selectors: Sequence[str] = ()
    extended_resource_name: str | None = None
    config: Sequence[dict[str, Any]] = ()


class CapacityRange(Value, frozen=True):
    """Amounts of a capacity that may be requested.

    Attributes:
        min: The least amount; smaller requests are rounded up to it.
        max: The most; a device that cannot give more does not serve a larger request.
        step: Requests are rounded up to `min` plus a multiple of this.
    """

    min: QuantityText | None = None
    max: QuantityText | None = None
    step: QuantityText | None = None


class CapacityRequestPolicy(Collection, frozen=True):
    """How requests for a capacity of a shareable device are rounded.

    Attributes:
        default: The amount where a request names none.
        valid_values: The allowed amounts, ascending.
        valid_range: The allowed range, where there are no `valid_values`.
    """

    default: QuantityText | None = None
    valid_values: Sequence[QuantityText] = ()
    valid_range: CapacityRange | None = None


class DeviceCapacity(Value, frozen=True):
    """A capacity of a device.

    Attributes:
        value: All of it.
        request_policy: How requests are rounded; `None` for requests as they are.
    """

    value: QuantityText
    request_policy: CapacityRequestPolicy | None = None


class CounterConsumption(Value, frozen=True):
    """What a partition of a device takes of the counters that it shares with others.

    Attributes:
        counter_set: The name of the counter set.
        counters: Amounts by counter.
    """

    counter_set: str
    counters: ResourceList = field(default_factory=dict)


class Device(Named, frozen=True):
    """A device that a driver offers.

    Attributes:
        attributes: Values by name, with or without a domain: a text, a whole number, a truth value, or a version as
            `{"version": "1.2.3"}`.
        capacity: Capacities by name; a plain quantity stands for one without a policy.
        consumes_counters: What it takes of shared counters.
        other: Its other fields, as written; Kueue does not read them.
    """

    attributes: dict[str, Any] = field(default_factory=dict)
    capacity: dict[str, Any] = field(default_factory=dict)
    consumes_counters: Sequence[CounterConsumption] = ()
    other: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Turns plain quantities into capacities.

        Raises:
            InvalidSpecError: `consumes_counters` is not a list.
        """
        super().__post_init__()
        if isinstance(self.capacity, Mapping):
            msgspec.structs.force_setattr(self, "capacity", {k: _capacity(v) for k, v in self.capacity.items()})


def _capacity(value: Any) -> Any:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return DeviceCapacity(value)
    return msgspec.convert(value, DeviceCapacity) if isinstance(value, Mapping) else value


class ResourcePool(Value, frozen=True):
    """The pool of devices that a slice belongs to.

    Attributes:
        name: The pool's name.
        generation: Only slices of the highest generation count.
        resource_slice_count: The number of slices of the pool; with more or fewer of them, the pool is incomplete.
    """

    name: str
    generation: Int64 = 1
    resource_slice_count: Int64 = 1


class ResourceSlice(Object, frozen=True, kw_only=True):
    """Devices that a driver publishes.

    Source: `pkg/dra/resourceslice_cache.go`, `pkg/dra/counters.go:groupSlicesByPool`.

    Attributes:
        driver: The driver's name.
        pool: The pool that the devices belong to.
        devices: The devices, in order.
        other: The other fields of its spec, as written; Kueue does not read them.
    """

    driver: str
    pool: ResourcePool
    devices: Sequence[Device] = ()
    other: dict[str, Any] = field(default_factory=dict)

    @property
    def subjects(self) -> tuple[str, ...]:
        """Each device as selectors see it, as JSON: its driver, and attributes and capacities by domain."""
        return tuple(
            json.dumps(
                {
                    "driver": self.driver,
                    "attributes": _by_domain(device.attributes.items(), self.driver),
                    "capacity": _by_domain(((k, str(c.value)) for k, c in device.capacity.items()), self.driver),
                },
                sort_keys=True,
            )
            for device in self.devices
        )


def _by_domain(items: Iterable[tuple[str, Any]], driver: str) -> dict[str, dict[str, Any]]:
    """Values by domain and identifier; a name without a domain is of the driver's."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in items:
        domain, slash, identifier = name.partition("/")
        found.setdefault(domain if slash else driver, {})[identifier if slash else name] = value
    return found
