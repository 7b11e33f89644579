"""Dynamically created classes for parts of a manifest that are stored as written but must have a known structure."""

from typing import Any

import msgspec


def shape(title: str, others: str = "", /, **fields: Any) -> type[msgspec.Struct]:
    """Create the class of a mapping.

    Args:
        title: Name of the class.
        others: Names of fields of any type, separated by blanks.
        fields: Types of the other fields. All fields are optional.
    """
    described = [(field, kind, None) for field, kind in fields.items()]
    described += [(field, Any, None) for field in others.split()]
    return msgspec.defstruct(title, described, forbid_unknown_fields=True)


def optional(kind: Any) -> Any:
    """Return the type or null; null means absent."""
    return kind | None


def many(kind: Any) -> Any:
    """Return the type of a list with these items, or null; null means absent."""
    return list[kind] | None


def mapping_of(kind: Any) -> Any:
    """Return the type of a mapping from strings to these values."""
    return dict[str, kind]
