from kueuepy.explain.whatif import workloads_over_quota as workloads_over_quota
from kueuepy.lab import play as play, rl as rl
from kueuepy.lab.exploration.answer import Guarantee as Guarantee
from kueuepy.lab.exploration.arrivals import Arrivals as Arrivals
from kueuepy.lab.exploration.estimate import Eta as Eta, Risk as Risk, eta as eta, risk as risk
from kueuepy.lab.exploration.gate import (
    PolicyCheck as PolicyCheck,
    PolicyVerdict as PolicyVerdict,
    check_policy as check_policy,
)
from kueuepy.lab.exploration.grid import SelectedPolicy as SelectedPolicy
from kueuepy.lab.exploration.guarantee import guarantee as guarantee
from kueuepy.lab.exploration.search import Search as Search, search as search
from kueuepy.lab.exploration.space import Uniform as Uniform, sample as sample
from kueuepy.lab.exploration.sweep import SweepProgress as SweepProgress
from kueuepy.lab.exploration.waits import estimated_waits as estimated_waits
from kueuepy.lab.upgrade import Upgrade as Upgrade, compare_versions as compare_versions
from kueuepy.topology import Fragmentation as Fragmentation, fragmentation as fragmentation
