"""The current state of a topology: its domains, their free capacity and workloads, and the largest jobs that fit."""

from kueuepy.topology.fragments import Fragmentation, fragmentation
from kueuepy.topology.rack import Rack, Use
from kueuepy.topology.rackmap import RackMap, rack_map

__all__ = ["Fragmentation", "Rack", "RackMap", "Use", "fragmentation", "rack_map"]
