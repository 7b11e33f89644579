"""Cluster: an immutable, validated collection of the objects of a cluster, which can be read from files."""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
