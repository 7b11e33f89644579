"""What every object has: a name, and the part of Kubernetes' metadata that Kueue reads."""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import field

from kueuepy._core import Quantity
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import briefly
from kueuepy.objects.times import OptionalTimeField, Timestamp, convert_times, default, moment_ns, numpy_kind

QuantityText: TypeAlias = str | int
"""A quantity as written: `9`, `"500m"`, `"64Gi"`. `kueuepy._core.Quantity` parses it exactly."""

ResourceList: TypeAlias = dict[str, QuantityText]
"""Quantities by resource name, as in `resources.requests` of a container."""

Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer of 64 bits."""


def is_finite(value: Real | Decimal | float) -> bool:
    """Whether a number is neither infinite nor NaN, be it larger than any float.

    >>> is_finite(10**400), is_finite(float("nan")), is_finite(Decimal("sNaN"))
    (True, False, False)
    """
    try:
        return math.isfinite(value)
    except OverflowError:
        return True
    except ValueError:  # a NaN that signals
        return False


def quantity(value: Any, where: str) -> QuantityText:
    """An amount as quantities are written: a number of any kind becomes a whole one, or the text of its decimals.

    >>> quantity(0.5, "cpu"), quantity(8.0, "cpu"), quantity("64Gi", "memory")
    ('0.5', 8, '64Gi')

    Raises:
        InvalidSpecError: It is no amount: a truth value, NaN, or no number and no text at all.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Quantity):
        return str(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real | Decimal) and not isinstance(value, bool) and is_finite(value):
        number = value if isinstance(value, Decimal) else _decimal(value)
        return int(number) if number == number.to_integral_value() else format(number, "f")
    raise InvalidSpecError(f'{where}: is {briefly(value)}; it must be a quantity, such as 8, "500m" or "64Gi"')


def _decimal(value: Real) -> Decimal:
    try:
        return Decimal(repr(float(value)))
    except OverflowError:  # a fraction beyond all floats, and so beyond all quotas
        return Decimal(str(math.floor(value)))


def without_numpy(value: Any) -> Any:
    """The same with Python's own numbers, truth values and texts where NumPy's are; records are changed in place."""
    if kind := numpy_kind(value):
        return Timestamp.of(moment_ns(value)) if kind == "M" else value.item()
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            before = getattr(value, name)
            if (after := without_numpy(before)) is not before:
                msgspec.structs.force_setattr(value, name, after)
        return value
    if type(value) is dict:
        found = {without_numpy(key): without_numpy(item) for key, item in value.items()}
        same = all(a is b and value[a] is found[b] for a, b in zip(value, found, strict=False))
        return value if same and len(found) == len(value) else found
    if type(value) in (list, tuple):
        items = [without_numpy(item) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else type(value)(items)
    return value


class Value(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A frozen record; its fields are Kueue's, in snake_case here and in camelCase in a manifest."""


class Collection(Value, frozen=True):
    """A record that takes any iterable where it keeps a tuple, so that lists may be typed."""

    def __post_init__(self) -> None:
        """Turns what was given for a tuple into one.

        Raises:
            InvalidSpecError: It is no list.
        """
        for name in _tuple_fields(type(self)):
            value = getattr(self, name)
            if type(value) is not tuple:
                if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
                    raise InvalidSpecError(f"{type(self).__name__}: {name}: is {briefly(value)}; it must be a list")
                msgspec.structs.force_setattr(self, name, tuple(value))


@cache
def _tuple_fields(cls: type[Collection]) -> tuple[str, ...]:
    """The fields of a record that hold tuples."""
    return tuple(field.name for field in msgspec.structs.fields(cls) if get_origin(field.type) in (tuple, Sequence))


class Worded(Value, frozen=True):
    """A record of policies, each one of some words, which are looked at when it is made."""

    def __post_init__(self) -> None:
        """Refuses what is none of the words.

        Raises:
            InvalidSpecError: A policy is none of those that there are.
        """
        for name, words in _words(type(self)):
            value = getattr(self, name)
            if value not in words:
                allowed = ", ".join(str(word) for word in words)
                raise InvalidSpecError(
                    f"{type(self).__name__}: {name}: is {briefly(value)}; it must be one of {allowed}"
                )


@cache
def _words(cls: type[Worded]) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """The fields of a record that hold one of some words, with these; `None` is one where the field may be absent."""
    found = []
    for known in msgspec.structs.fields(cls):
        parts = get_args(known.type) if get_origin(known.type) in (Union, UnionType) else (known.type,)
        words = [word for part in parts for word in (get_args(part) if get_origin(part) is Literal else ())]
        if words:
            found.append((known.name, (*words, *(None for part in parts if part is type(None)))))
    return tuple(found)


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
        creation_timestamp: `metadata.creationTimestamp`, a datetime in UTC; it may be given as RFC 3339 text, as any
            datetime with a time zone, or in seconds since the Unix epoch.
        deletion_timestamp: `metadata.deletionTimestamp` likewise; set while the object is being deleted.
    """

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    uid: str = ""
    creation_timestamp: OptionalTimeField = default(None)
    deletion_timestamp: OptionalTimeField = default(None)

    def __post_init__(self) -> None:
        """Turns times into Timestamps, and what was given for a tuple into one.

        Raises:
            InvalidSpecError: A time is none, or a list is none.
        """
        super().__post_init__()
        convert_times(self, "creation_timestamp", "deletion_timestamp")

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
