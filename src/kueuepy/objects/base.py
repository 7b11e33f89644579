"""Base classes of all API objects: the name and the Kubernetes metadata that Kueue reads."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import field

from kueuepy._core import Quantity
from kueuepy.errors import InvalidSpecError, briefly
from kueuepy.objects.times import OptionalTimeField, Timestamp, convert_times, default, nanoseconds_of, numpy_kind

QuantityText: TypeAlias = str | int
"""A Kubernetes quantity as written: an integer such as `9`, or a string such as `"500m"` or `"64Gi"`.

`kueuepy.Quantity` parses a quantity exactly.
"""

ResourceList: TypeAlias = dict[str, QuantityText]
"""Quantities by resource name, as in a container's `resources.requests`."""

Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A signed 64-bit integer."""


def whole(name: str, value: object) -> int:
    """Return an integer, or a quantity such as `64Gi`, as an integer.

    Raises:
        InvalidSpecError: The value is neither.

    >>> whole("low", 4), whole("low", "64Gi")
    (4, 68719476736)
    """
    with suppress(ValueError, TypeError):
        number = Quantity(str(value)).as_units
        if not isinstance(value, bool) and Quantity(str(number)) == Quantity(str(value)):
            return number
    raise InvalidSpecError(f"{name}: is {value!r:.99}; it must be an integer, or a quantity such as 64Gi")


def is_finite(value: Real | Decimal | float) -> bool:
    """Return whether a number is neither infinite nor NaN. Integers that are too large for a float count as finite.

    >>> is_finite(10**400), is_finite(float("nan")), is_finite(Decimal("sNaN"))
    (True, False, False)
    """
    try:
        return math.isfinite(value)
    except OverflowError:
        return True
    except ValueError:  # a signaling NaN
        return False


def quantity(value: Any, where: str) -> QuantityText:
    """Convert a number to a quantity: an integer for an integral number, otherwise the decimal digits as a string.

    >>> quantity(0.5, "cpu"), quantity(8.0, "cpu"), quantity("64Gi", "memory")
    ('0.5', 8, '64Gi')

    Args:
        value: A number of any numeric type, a `Quantity`, or a string. Strings are returned unchanged.
        where: The name of the field, with which the error message starts.

    Returns:
        The quantity as an integer or a string.

    Raises:
        InvalidSpecError: The value is a boolean, an infinite number or NaN, or is neither a number nor a string.
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
    except OverflowError:  # a fraction that exceeds the range of float, and therefore any quota
        return Decimal(str(math.floor(value)))


def without_numpy(value: Any) -> Any:
    """Replace NumPy numbers, booleans and strings with Python's own types. Structs are changed in place."""
    if kind := numpy_kind(value):
        return Timestamp.of(nanoseconds_of(value)) if kind == "M" else value.item()
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
    """Base class of immutable structs. Fields are in snake_case in Python and in camelCase in manifests."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return the fields that do not have their default."""
        values = ((name, getattr(self, name), usual) for name, usual in _defaults(type(self)))
        return [(name, value) for name, value, usual in values if value != usual]

    def __repr__(self) -> str:
        """Return the class and the fields that do not have their default."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"


@cache
def _defaults(cls: type[Value]) -> list[tuple[str, Any]]:
    """Return the fields of a struct with their defaults; a required field has a default that no value equals."""
    return [
        (one.name, one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory())
        for one in msgspec.structs.fields(cls)
    ]


class Timed(Value, frozen=True):
    """Base class of structs with times or durations. The constructor accepts any form of them."""

    def __post_init__(self) -> None:
        """Convert the times to Timestamps, and the durations to Seconds.

        Raises:
            InvalidSpecError: A value is neither a time nor a duration.
        """
        convert_times(self)


_EMPTY: tuple[()] = ()


class Collection(Timed, frozen=True):
    """Base class of structs with tuple fields. The constructor accepts any iterable for a tuple field."""

    def __post_init__(self) -> None:
        """Convert iterables to tuples, and convert times and durations.

        Raises:
            InvalidSpecError: A value for a tuple field is not iterable, or is a string or a mapping; or a value is
                neither a time nor a duration.
        """
        for name in _tuple_fields(type(self)):
            value = getattr(self, name)
            # msgspec omits a default by identity, and in Python 3.10 not all empty tuples are identical.
            if type(value) is not tuple or (not value and value is not _EMPTY):
                if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
                    raise InvalidSpecError(f"{type(self).__name__}: {name}: is {briefly(value)}; it must be a list")
                msgspec.structs.force_setattr(self, name, tuple(value) or _EMPTY)
        convert_times(self)


@cache
def _tuple_fields(cls: type[Collection]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(cls) if get_origin(field.type) in (tuple, Sequence))


class Worded(Value, frozen=True):
    """Base class of structs with enumerated string fields.

    The constructor raises an error if such a field has a value that is not allowed.
    """

    def __post_init__(self) -> None:
        """Check the values of the enumerated fields.

        Raises:
            InvalidSpecError: A value is not one of the allowed strings.
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
    """Return the enumerated fields of a struct with their allowed values, including `None` for optional fields."""
    found = []
    for known in msgspec.structs.fields(cls):
        parts = get_args(known.type) if get_origin(known.type) in (Union, UnionType) else (known.type,)
        words = [word for part in parts for word in (get_args(part) if get_origin(part) is Literal else ())]
        if words:
            found.append((known.name, (*words, *(None for part in parts if part is type(None)))))
    return tuple(found)


class Named(Collection, frozen=True):
    """Base class of structs with a name, which is the only positional argument of the constructor.

    Attributes:
        name: Name of the object (`metadata.name`).
    """

    name: str


class Object(Named, frozen=True, kw_only=True):
    """A cluster-scoped Kubernetes object, with `metadata` and `spec` flattened into one class.

    >>> from kueuepy.objects import Cohort
    >>> str(Cohort("research", creation_timestamp="1970-01-01T00:00:01Z").creation_timestamp)
    '1970-01-01T00:00:01Z'

    Attributes:
        labels: Labels (`metadata.labels`). Default: none.
        annotations: Annotations (`metadata.annotations`). Default: none.
        uid: UID (`metadata.uid`); empty if unknown. Kueue uses the UID as the last tie-breaker in several orderings.
        creation_timestamp: Creation time (`metadata.creationTimestamp`), a datetime in UTC; `None` if unknown. The
            constructor also accepts an RFC 3339 string or a number of seconds since the Unix epoch.
        deletion_timestamp: Time at which deletion was requested (`metadata.deletionTimestamp`), in the same form as
            `creation_timestamp`; `None` unless the object is being deleted.
    """

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    uid: str = ""
    creation_timestamp: OptionalTimeField = default(None)
    deletion_timestamp: OptionalTimeField = default(None)

    @property
    def key(self) -> str:
        """The name that identifies the object in Kueue's messages."""
        return self.name


class NamespacedObject(Object, frozen=True, kw_only=True):
    """A namespaced Kubernetes object.

    >>> from kueuepy.objects import LocalQueue
    >>> LocalQueue("training", namespace="team-a", cluster_queue="vision").key
    'team-a/training'

    Attributes:
        namespace: Namespace (`metadata.namespace`). Default: `default`.
    """

    namespace: str = "default"

    @property
    def key(self) -> str:
        """The `namespace/name` that identifies the object in Kueue's messages."""
        return f"{self.namespace}/{self.name}"
