"""Records made on the fly, for parts of a manifest that are kept as they are written but must have a known shape."""

from typing import Any

import msgspec


def shape(title: str, others: str = "", /, **fields: Any) -> type[msgspec.Struct]:
    """The record of a mapping with these optional typed fields, and others of any type."""
    described = [(field, kind, None) for field, kind in fields.items()]
    described += [(field, Any, None) for field in others.split()]
    return msgspec.defstruct(title, described, forbid_unknown_fields=True)


def optional(kind: Any) -> Any:
    """The kind, or null, which counts as absent."""
    return kind | None


def many(kind: Any) -> Any:
    """A list of the kind, or null, which counts as absent."""
    return list[kind] | None


def mapping_of(kind: Any) -> Any:
    """A mapping of texts to the kind."""
    return dict[str, kind]
