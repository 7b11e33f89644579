"""A whole cluster as one value: its objects, held to the rules of an API server, and its files."""

from kueuepy.cluster.cluster import Cluster, dump, load

__all__ = [
    "Cluster",
    "dump",
    "load",
]
