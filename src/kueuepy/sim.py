"""Descriptions of a simulation: the cost of evictions, delays, failures, events, random times, tables to record.

`simulate` and `Jobs` are in `kueuepy` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy import _home

if TYPE_CHECKING:
    from kueuepy.fleet import AllAtOnce, Connect, Disconnect, External, Incremental
    from kueuepy.lab.exploration.statistics import Estimate, PairedDifference
    from kueuepy.session.checks import CheckAnswer, CheckController, CheckRequest, Provisioning
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
    from kueuepy.simulation.simulate import Progress
else:
    __getattr__, __dir__ = _home.facade(__name__)

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
    "Progress",
    "Provisioning",
    "Recording",
    "RunModel",
    "ShiftedExponential",
    "Startup",
    "Weibull",
    "cluster_of",
]
