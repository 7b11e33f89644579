"""The current state of a topology: its domains, their free capacity and workloads."""

from kueuepy.topology.drawing import Rack, Use
from kueuepy.topology.rackmap import RackMap, rack_map

__all__ = ["Rack", "RackMap", "Use", "rack_map"]
