"""The objects of a running cluster, read with the official Kubernetes client. Only GET requests are sent."""

from kueuepy.platform.apiserver.connection import Connection
from kueuepy.platform.apiserver.reader import ClusterReader
from kueuepy.platform.apiserver.resources import RESOURCES, Resource

__all__ = ["RESOURCES", "ClusterReader", "Connection", "Resource"]
