"""Running clusters, recordings of clusters, and the agreement of kueuepy's decisions with a cluster's decisions."""

from kueuepy._stubs import facade

__getattr__, __dir__, __all__ = facade(__name__)
