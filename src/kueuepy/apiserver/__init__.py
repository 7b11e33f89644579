"""The objects of a running cluster, read with the official Kubernetes client. Only GET requests are sent."""

from kueuepy.apiserver.connection import Connection
from kueuepy.apiserver.reader import ClusterReader, LiveSource
from kueuepy.apiserver.resources import RESOURCES, Resource

__all__ = ["RESOURCES", "ClusterReader", "Connection", "LiveSource", "Resource"]
