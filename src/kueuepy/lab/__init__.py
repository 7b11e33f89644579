"""Functions that run many simulations or a search: estimates, proofs, limits, comparisons of releases.

`rl` contains an environment for reinforcement learning, and `play` an interactive page. `sweep`, `plan` and `compare`
are in `kueuepy` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy import _home

if TYPE_CHECKING:
    from kueuepy.explain.whatif import workloads_over_quota
    from kueuepy.lab import play, rl
    from kueuepy.lab.exploration.arrivals import Arrivals
    from kueuepy.lab.exploration.calibration import Calibration, calibrate
    from kueuepy.lab.exploration.cycles import CycleCost, cycle_cost
    from kueuepy.lab.exploration.delays import DelayMatrix, delay_matrix
    from kueuepy.lab.exploration.estimate import Eta, Risk, eta, risk
    from kueuepy.lab.exploration.gate import PolicyCheck, PolicyVerdict, check_policy
    from kueuepy.lab.exploration.grid import SelectedPolicy
    from kueuepy.lab.exploration.limits import QuotaLimits, limits
    from kueuepy.lab.exploration.safety import Safety, safety
    from kueuepy.lab.exploration.search import Search, search
    from kueuepy.lab.exploration.shrink import Shrink, shrink
    from kueuepy.lab.exploration.space import Uniform, sample
    from kueuepy.lab.exploration.starvation import Starvation, starvation
    from kueuepy.lab.exploration.sweep import SweepProgress
    from kueuepy.lab.exploration.victims import VictimSets, victim_sets
    from kueuepy.lab.exploration.waits import estimated_waits
    from kueuepy.lab.upgrade import Upgrade, compare_versions
    from kueuepy.topology import Fragmentation, fragmentation
else:
    __getattr__, __dir__ = _home.facade(__name__)

__all__ = [
    "Arrivals",
    "Calibration",
    "CycleCost",
    "DelayMatrix",
    "Eta",
    "Fragmentation",
    "PolicyCheck",
    "PolicyVerdict",
    "QuotaLimits",
    "Risk",
    "Safety",
    "Search",
    "SelectedPolicy",
    "Shrink",
    "Starvation",
    "SweepProgress",
    "Uniform",
    "Upgrade",
    "VictimSets",
    "calibrate",
    "check_policy",
    "compare_versions",
    "cycle_cost",
    "delay_matrix",
    "estimated_waits",
    "eta",
    "fragmentation",
    "limits",
    "play",
    "risk",
    "rl",
    "safety",
    "sample",
    "search",
    "shrink",
    "starvation",
    "victim_sets",
    "workloads_over_quota",
]
