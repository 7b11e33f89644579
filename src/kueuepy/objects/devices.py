"""Devices and claims of Dynamic Resource Allocation (API group `resource.k8s.io`)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import field

from kueuepy.objects.base import Collection, Int64, Named, NamespacedObject, Object, QuantityText, ResourceList, Value


class DeviceRequest(Named, frozen=True):
    """A request of a claim for devices of one class (`spec.devices.requests[]`).

    >>> DeviceRequest("gpu", device_class_name="gpu.example.com", count=2).count
    2

    Attributes:
        device_class_name: Name of the DeviceClass (`exactly.deviceClassName`).
        selectors: CEL expressions that a device must satisfy, in addition to the selectors of its class.
        allocation_mode: `ExactCount`, the default, or `All`, which Kueue rejects.
        count: Number of devices, for `ExactCount`. Default: 1.
        admin_access: Whether the devices are requested for administrative access; Kueue does not count such devices.
            Default: `False`.
        capacity: Requested amounts of shareable devices by name of the capacity (`capacity.requests`).
        tolerations: Tolerations for taints of devices, as written; ignored by Kueue.
        first_available: Prioritised alternatives, used instead of all other fields, as written (`firstAvailable`).
            Kueue rejects requests with alternatives. `None` by default.
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
    """A template from which Kubernetes creates a separate claim for each pod that references it.

    Source: `pkg/dra/claims.go`.

    >>> request = DeviceRequest("gpu", device_class_name="gpu.example.com")
    >>> ResourceClaimTemplate("one-gpu", requests=[request]).key
    'default/one-gpu'

    Attributes:
        requests: Requests for devices, in order.
        constraints: Constraints between devices, as written; ignored by Kueue.
        config: Configuration for drivers, as written; ignored by Kueue.
        claim_metadata: Labels and annotations of the claims, as written.
    """

    requests: Sequence[DeviceRequest] = ()
    constraints: Sequence[dict[str, Any]] = ()
    config: Sequence[dict[str, Any]] = ()
    claim_metadata: dict[str, Any] = field(default_factory=dict)


class ResourceClaim(NamespacedObject, frozen=True, kw_only=True):
    """A claim that several pods can share by name. Kueue rejects workloads that reference a ResourceClaim.

    >>> ResourceClaim("shared", requests=[DeviceRequest("gpu", device_class_name="gpu.example.com")]).key
    'default/shared'

    Attributes:
        requests: Requests for devices, in order.
        constraints: Constraints between devices, as written.
        config: Configuration for drivers, as written.
    """

    requests: Sequence[DeviceRequest] = ()
    constraints: Sequence[dict[str, Any]] = ()
    config: Sequence[dict[str, Any]] = ()


class DeviceClass(Object, frozen=True, kw_only=True):
    """A class of devices that claims can request.

    >>> DeviceClass("gpu.example.com", extended_resource_name="example.com/gpu").extended_resource_name
    'example.com/gpu'

    Attributes:
        selectors: CEL expressions that all devices of the class satisfy.
        extended_resource_name: Name of the extended resource that devices of the class provide
            (`spec.extendedResourceName`); `None`, the default, for no extended resource.
        config: Configuration for drivers, as written; ignored by Kueue.
    """

    selectors: Sequence[str] = ()
    extended_resource_name: str | None = None
    config: Sequence[dict[str, Any]] = ()


class CapacityRange(Value, frozen=True):
    """Range of amounts of a capacity that a request may specify (`validRange`).

    >>> CapacityRange(min="1Gi", max="80Gi", step="1Gi").step
    '1Gi'

    Attributes:
        min: Smallest amount; smaller requests are rounded up to this amount.
        max: Largest amount; larger requests cannot be satisfied by the device. With `max=None`, there is no upper
            limit.
        step: Step size: requests are rounded up to `min` plus a multiple of this amount. With `step=None`, there is no
            rounding to a multiple.
    """

    min: QuantityText | None = None
    max: QuantityText | None = None
    step: QuantityText | None = None


class CapacityRequestPolicy(Collection, frozen=True):
    """Rules for rounding requests for a capacity of a shareable device (`requestPolicy`).

    >>> CapacityRequestPolicy(default="10Gi", valid_values=["10Gi", "20Gi"]).valid_values
    ('10Gi', '20Gi')

    Attributes:
        default: Amount used if a request does not specify one.
        valid_values: Allowed amounts in ascending order (`validValues`).
        valid_range: Allowed range, used if there are no `valid_values` (`validRange`).
    """

    default: QuantityText | None = None
    valid_values: Sequence[QuantityText] = ()
    valid_range: CapacityRange | None = None


class DeviceCapacity(Value, frozen=True):
    """A capacity of a device (`capacity`).

    >>> DeviceCapacity("80Gi").value
    '80Gi'

    Attributes:
        value: Total amount.
        request_policy: Rules for rounding requests (`requestPolicy`); with `None`, the default, requests are not
            rounded.
    """

    value: QuantityText
    request_policy: CapacityRequestPolicy | None = None


class CounterConsumption(Value, frozen=True):
    """Amounts that a partition of a device consumes from counters shared with other partitions (`consumesCounters[]`).

    >>> CounterConsumption("gpu-0", counters={"memory": "10Gi"}).counters
    {'memory': '10Gi'}

    Attributes:
        counter_set: Name of the counter set (`counterSet`).
        counters: Amounts by counter.
    """

    counter_set: str
    counters: ResourceList = field(default_factory=dict)


class Device(Named, frozen=True):
    """A device published by a driver (`spec.devices[]` of a ResourceSlice).

    >>> Device("gpu-0", attributes={"model": "h100"}, capacity={"memory": "80Gi"}).capacity["memory"].value
    '80Gi'

    Attributes:
        attributes: Attributes by name, with or without a domain. The value of an attribute is a string, an integer, a
            boolean, or a version such as `{"version": "1.2.3"}`.
        capacity: Capacities by name. The constructor converts a plain quantity to a `DeviceCapacity` without a policy.
        consumes_counters: Amounts taken from shared counters (`consumesCounters`).
        other: The other fields of the device, as written; ignored by Kueue.
    """

    attributes: dict[str, Any] = field(default_factory=dict)
    capacity: dict[str, Any] = field(default_factory=dict)
    consumes_counters: Sequence[CounterConsumption] = ()
    other: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Convert plain quantities to capacities.

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
    """The pool of devices to which a ResourceSlice belongs (`spec.pool`).

    >>> ResourcePool("node-1", generation=2).resource_slice_count
    1

    Attributes:
        name: Name of the pool.
        generation: Generation of the pool; only slices of the highest generation are valid. Default: 1.
        resource_slice_count: Number of slices in the pool (`resourceSliceCount`). If the number of existing slices
            differs from this value, the pool is incomplete. Default: 1.
    """

    name: str
    generation: Int64 = 1
    resource_slice_count: Int64 = 1


class ResourceSlice(Object, frozen=True, kw_only=True):
    """A set of devices published by a driver.

    Source: `pkg/dra/resourceslice_cache.go`, `pkg/dra/counters.go:groupSlicesByPool`.

    >>> ResourceSlice("node-1", driver="gpu.example.com", pool=ResourcePool("node-1"), devices=[Device("gpu-0")]).driver
    'gpu.example.com'

    Attributes:
        driver: Name of the driver.
        pool: Pool to which the devices belong.
        devices: The devices, in order.
        other: The other fields of the spec, as written; ignored by Kueue.
    """

    driver: str
    pool: ResourcePool
    devices: Sequence[Device] = ()
    other: dict[str, Any] = field(default_factory=dict)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The devices as JSON strings for the evaluation of selectors.

        Each string contains the driver, and the attributes and capacities of the device, grouped by domain.
        """
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
    """Group values by domain and identifier. The default domain is the name of the driver."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in items:
        domain, slash, identifier = name.partition("/")
        found.setdefault(domain if slash else driver, {})[identifier if slash else name] = value
    return found
