"""What every object has: a name, and the part of Kubernetes' metadata that Kueue reads."""

from functools import cache
from typing import Annotated, TypeAlias, get_origin

import msgspec
from msgspec import field

QuantityText: TypeAlias = str | int
"""A quantity as written: `9`, `"500m"`, `"64Gi"`. `kueuepy._core.Quantity` parses it exactly."""

ResourceList: TypeAlias = dict[str, QuantityText]
"""Quantities by resource name, as in `resources.requests` of a container."""

Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer of 64 bits, such as a time in nanoseconds: from 1677-09-21 to 2262-04-11 they fit."""


class Value(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A frozen record; its fields are Kueue's, in snake_case here and in camelCase in a manifest."""


class Collection(Value, frozen=True):
    """A record that takes any iterable where it keeps a tuple, so that lists may be typed."""

    def __post_init__(self) -> None:
        """Turns what was given for a tuple into one."""
        for name in _tuple_fields(type(self)):
            value = getattr(self, name)
            if type(value) is not tuple:
                msgspec.structs.force_setattr(self, name, tuple(value))


@cache
def _tuple_fields(cls: type[Collection]) -> tuple[str, ...]:
    """The fields of a record that hold tuples."""
    return tuple(field.name for field in msgspec.structs.fields(cls) if get_origin(field.type) is tuple)


class Named(Collection, frozen=True):
    """A record with a name, the only field that is given by position.

    Attributes:
        name: Kubernetes' `metadata.name`.
    """

    name: str


class Object(Named, frozen=True, kw_only=True):
    """A Kubernetes object without a namespace, `metadata` and `spec` flattened into one record.

    Attributes:
        labels: `metadata.labels`.
        annotations: `metadata.annotations`.
        uid: `metadata.uid`, the last tie-breaker in several of Kueue's orders; empty if unknown.
        creation_timestamp: `metadata.creationTimestamp` in nanoseconds since the Unix epoch.
        deletion_timestamp: `metadata.deletionTimestamp` in the same unit; set while the object is being deleted.
    """

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    uid: str = ""
    creation_timestamp: Int64 | None = None
    deletion_timestamp: Int64 | None = None

    @property
    def key(self) -> str:
        """The name by which Kueue's messages call the object."""
        return self.name


class NamespacedObject(Object, frozen=True, kw_only=True):
    """A Kubernetes object that lives in a namespace.

    Attributes:
        namespace: `metadata.namespace`.
    """

    namespace: str = "default"

    @property
    def key(self) -> str:
        """The object's `namespace/name`, by which Kueue's messages call it."""
        return f"{self.namespace}/{self.name}"
