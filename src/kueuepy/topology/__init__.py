"""A topology as it is now: its racks, what is free in them, who is there, and the largest jobs that have a place."""

from kueuepy.topology.fragments import Fragmentation, fragmentation
from kueuepy.topology.rack import Rack, Use
from kueuepy.topology.rackmap import RackMap, rack_map

__all__ = ["Fragmentation", "Rack", "RackMap", "Use", "fragmentation", "rack_map"]
