from kueuepy.fleet import (
    AllAtOnce,
    Connect,
    Disconnect,
    External,
    Incremental,
)
from kueuepy.session.autoscaler import Provisioning
from kueuepy.session.checks import CheckAnswer
from kueuepy.simulation.distributions import (
    Constant,
    Empirical,
    Exponential,
    LogNormal,
    ShiftedExponential,
    Weibull,
)
from kueuepy.simulation.table import cluster_of
from kueuepy.simulation.model import (
    CheckDelay,
    Clock,
    Delete,
    Edit,
    Event,
    Evict,
    Failures,
    Finish,
    Priority,
    Recording,
    RunModel,
    Startup,
)

__all__ = [
    "AllAtOnce",
    "CheckAnswer",
    "CheckDelay",
    "Clock",
    "Connect",
    "Constant",
    "Delete",
    "Disconnect",
    "Edit",
    "Empirical",
    "Event",
    "Evict",
    "Exponential",
    "External",
    "Failures",
    "Finish",
    "Incremental",
    "LogNormal",
    "Priority",
    "Provisioning",
    "Recording",
    "RunModel",
    "ShiftedExponential",
    "Startup",
    "Weibull",
    "cluster_of",
]
