"""AttributeErrors that suggest the correct attribute for wrong names that users commonly try."""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound="type[Any]")


def guessed(**names: str) -> Callable[[T], T]:
    """Return a class decorator that adds a hint to the AttributeError for each of the given names.

    Args:
        names: For each wrong name, the correct attribute.

    Example:
        >>> @guessed(tried="curve")
        ... class Plan:
        ...     pass
        >>> Plan().tried
        Traceback (most recent call last):
        AttributeError: Plan has no attribute 'tried'; use .curve
    """

    def missing(self: object, name: str) -> Any:
        kind = type(self).__name__
        if name in names:
            raise AttributeError(f"{kind} has no attribute {name!r}; use .{names[name]}", name=name, obj=self)
        raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)

    def decorate(cls: T) -> T:
        cls.__getattr__ = missing
        return cls

    return decorate
