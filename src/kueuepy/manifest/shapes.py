"""Dynamically created classes for sections of a manifest that are stored as written but must have a known structure."""

from typing import Any

import msgspec


def shape(title: str, others: str = "", /, **fields: Any) -> type[msgspec.Struct]:
    """Create the class of a mapping.

    Args:
        title: Name of the class.
        others: Names of fields that accept any type, separated by spaces.
        fields: Types of all fields that are not in `others`. All fields of the created class are optional.
    """
    described = [(field, kind, None) for field, kind in fields.items()]
    described += [(field, Any, None) for field in others.split()]
    return msgspec.defstruct(title, described, forbid_unknown_fields=True)


def many(kind: Any) -> Any:
    """Return the type "list of these items, or null"; a null value is treated as an absent field."""
    return list[kind] | None


def mapping_of(kind: Any) -> Any:
    """Return the type of a mapping from strings to values of the given type."""
    return dict[str, kind]
