"""Access to the sections of an object in Kubernetes' JSON form."""

from collections.abc import Mapping
from typing import Any, TypeAlias

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
