from kueuepy.cluster.cluster import Cluster, dump, load

__all__ = [
    "Cluster",
    "dump",
    "load",
]
