"""Access to the sections of an object in Kubernetes' JSON form."""

from collections.abc import Callable, Mapping
from operator import is_
from typing import Any, TypeAlias, TypeVar, cast

T = TypeVar("T")
Body: TypeAlias = dict[str, Any]
"""An object, or one of its sections."""


def part(doc: Mapping[str, Any], *path: str) -> Body:
    """Return a nested mapping of an object; an empty mapping if it is absent or not a mapping."""
    found: Any = doc
    for step in path:
        found = found.get(step)
        if not isinstance(found, dict):
            return {}
    return found  # type: ignore[no-any-return]


def present(body: Mapping[str, Any]) -> Body:
    """Return a copy without the fields that are null."""
    return {name: value for name, value in body.items() if value is not None}


def changed(value: T, path: tuple[str, ...], change: Callable[[Any], Any]) -> T:
    """Return an object in which the values at a path are replaced.

    Absent fields, and values of a wrong type, stay as they are. If nothing changes, the object itself is returned.

    Args:
        value: The object.
        path: Names of nested fields; `*` stands for all items of a list.
        change: Function that returns the replacement of a value.
    """
    if not path:
        return cast("T", change(value))
    if path[0] == "*":
        if not isinstance(value, list | tuple):
            return value
        items = [changed(item, path[1:], change) for item in value]
        return value if all(map(is_, items, value)) else cast("T", items)
    if not isinstance(value, dict) or value.get(path[0]) is None:
        return value
    inner = changed(value[path[0]], path[1:], change)
    return value if inner is value[path[0]] else cast("T", {**value, path[0]: inner})
