from kueuepy.fleet import (
    AllAtOnce,
    Connect,
    Disconnect,
    External,
    Incremental,
)
from kueuepy.lab.exploration.statistics import Estimate, PairedDifference
from kueuepy.session.checks import (
    CheckAnswer,
    CheckController,
    CheckRequest,
    Provisioning,
)
from kueuepy.simulation.distributions import (
    Constant,
    Empirical,
    Exponential,
    LogNormal,
    ShiftedExponential,
    Weibull,
)
from kueuepy.simulation.figures import Kpis
from kueuepy.simulation.load import cluster_of
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
from kueuepy.simulation.recorded import PreemptionLoop

__all__ = [
    "AllAtOnce",
    "CheckAnswer",
    "CheckController",
    "CheckDelay",
    "CheckRequest",
    "Clock",
    "Connect",
    "Constant",
    "Delete",
    "Disconnect",
    "Edit",
    "Empirical",
    "Estimate",
    "Event",
    "Evict",
    "Exponential",
    "External",
    "Failures",
    "Finish",
    "Incremental",
    "Kpis",
    "LogNormal",
    "PairedDifference",
    "PreemptionLoop",
    "Priority",
    "Provisioning",
    "Recording",
    "RunModel",
    "ShiftedExponential",
    "Startup",
    "Weibull",
    "cluster_of",
]
