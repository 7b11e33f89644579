from kueuepy.fleet.dispatchers import AllAtOnce, Connect, Disconnect, External, Incremental, On
from kueuepy.fleet.scheduler import CopyStatus, FleetScheduler, FleetStatus, Move
from kueuepy.fleet.value import Fleet

__all__ = [
    "AllAtOnce",
    "Connect",
    "CopyStatus",
    "Disconnect",
    "External",
    "Fleet",
    "FleetScheduler",
    "FleetStatus",
    "Incremental",
    "Move",
    "On",
]
