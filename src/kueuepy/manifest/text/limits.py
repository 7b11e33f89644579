"""Limits that prevent a malicious file from using excessive time or memory."""

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on the size of a manifest. Exceeding a limit raises a `LimitError`.

    >>> Limits(depth=20).depth
    20

    Attributes:
        document_bytes: Maximum number of bytes in one file or string.
        depth: Maximum depth of nested mappings and lists.
        nodes: Maximum number of keys, values and list items in a document. Before parsing, the number of nodes is
            estimated by counting the characters that can start a node.
        alias_nodes: Maximum number of nodes to which the YAML aliases in a document expand.
        alias_ratio: Maximum number of nodes to which YAML aliases expand, per node in the text. An expansion to 1,000
            nodes is always allowed.
        scalar_bytes: Maximum number of bytes in one key or value.
    """

    document_bytes: int = 256 * 2**20
    depth: int = 512
    nodes: int = 50_000_000
    alias_nodes: int = 1_000_000
    alias_ratio: int = 10
    scalar_bytes: int = 2**20
