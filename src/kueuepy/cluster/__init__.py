"""Cluster: an immutable, validated collection of the objects of a cluster, which can be read from files."""

from kueuepy.cluster.cluster import Cluster, dump, load

__all__ = [
    "Cluster",
    "dump",
    "load",
]
