from kueuepy.explain.whatif import workloads_over_quota
from kueuepy.lab import play, rl
from kueuepy.lab.exploration.answer import Guarantee
from kueuepy.lab.exploration.arrivals import Arrivals
from kueuepy.lab.exploration.estimate import Eta, Risk, eta, risk
from kueuepy.lab.exploration.gate import (
    check_policy,
)
from kueuepy.lab.exploration.guarantee import guarantee
from kueuepy.lab.exploration.search import Search, search
from kueuepy.lab.exploration.space import Uniform, sample
from kueuepy.lab.exploration.waits import estimated_waits
from kueuepy.lab.upgrade import Upgrade, compare_versions
from kueuepy.topology import Fragmentation, fragmentation

__all__ = [
    "Arrivals",
    "Eta",
    "Fragmentation",
    "Guarantee",
    "Risk",
    "Search",
    "Uniform",
    "Upgrade",
    "check_policy",
    "compare_versions",
    "estimated_waits",
    "eta",
    "fragmentation",
    "guarantee",
    "play",
    "risk",
    "rl",
    "sample",
    "search",
    "workloads_over_quota",
]
