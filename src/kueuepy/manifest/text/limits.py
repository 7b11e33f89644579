"""Limits that keep a hostile file from taking all time or memory."""

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a manifest may contain; more is a `LimitError`.

    Attributes:
        document_bytes: Bytes in one file or text.
        depth: Nested mappings and lists.
        nodes: Keys, values and list items in a document, counted before parsing by the characters that can start one.
        alias_nodes: Nodes that YAML aliases stand for, in a document.
        alias_ratio: The same, for each node that is written; 1,000 are always allowed.
        scalar_bytes: Bytes in one key or value.
    """

    document_bytes: int = 256 * 2**20
    depth: int = 512
    nodes: int = 50_000_000
    alias_nodes: int = 1_000_000
    alias_ratio: int = 10
    scalar_bytes: int = 2**20
