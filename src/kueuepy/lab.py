"""Questions that need many simulations or a search: estimates, proofs, limits, comparisons of releases.

`rl` is an environment for reinforcement learning, `play` an interactive page. `sweep`, `plan` and `compare` are in
`kueuepy` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy import _home

if TYPE_CHECKING:
    from kueuepy import play, rl
    from kueuepy.exploration.arrivals import Arrivals
    from kueuepy.exploration.calibration import Calibration, calibrate
    from kueuepy.exploration.cycles import CycleCost, cycle_cost
    from kueuepy.exploration.delays import DelayMatrix, delay_matrix
    from kueuepy.exploration.estimate import Eta, Risk, eta, risk
    from kueuepy.exploration.gate import PolicyCheck, PolicyVerdict, check_policy
    from kueuepy.exploration.grid import SelectedPolicy
    from kueuepy.exploration.limits import QuotaLimits, limits
    from kueuepy.exploration.safety import Safety, safety
    from kueuepy.exploration.search import Search, search
    from kueuepy.exploration.shrink import Shrink, shrink
    from kueuepy.exploration.space import Uniform, sample
    from kueuepy.exploration.starvation import Starvation, starvation
    from kueuepy.exploration.sweep import SweepProgress
    from kueuepy.exploration.victims import VictimSets, victim_sets
    from kueuepy.exploration.waits import estimated_waits
    from kueuepy.topology import Fragmentation, fragmentation
    from kueuepy.upgrade import Upgrade, compare_versions
    from kueuepy.whatif import workloads_over_quota
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
