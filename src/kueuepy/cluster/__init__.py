"""Cluster: the objects of a cluster as one immutable value, validated as an API server does, and read from files."""

from kueuepy.cluster.cluster import Cluster, dump, load

__all__ = [
    "Cluster",
    "dump",
    "load",
]
