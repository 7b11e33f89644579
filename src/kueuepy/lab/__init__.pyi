from kueuepy.explain.whatif import workloads_over_quota
from kueuepy.lab import play, rl
from kueuepy.lab.exploration.remaining import Arrivals
from kueuepy.lab.exploration.estimate import estimated_waits, eta, risk
from kueuepy.lab.exploration.fragments import fragmentation
from kueuepy.lab.exploration.measure import check_policy
from kueuepy.lab.exploration.guarantee import guarantee
from kueuepy.lab.exploration.sweep import search
from kueuepy.lab.exploration.policy import Uniform, sample
from kueuepy.lab.upgrade import compare_versions

__all__ = [
    "Arrivals",
    "Uniform",
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
