from kueuepy import (
    answers as answers,
    errors as errors,
    jobs as jobs,
    lab as lab,
    manifest as manifest,
    objects as objects,
    platform as platform,
    sim as sim,
)
from kueuepy._core import Quantity as Quantity, Question as Question
from kueuepy.cluster import Cluster as Cluster, dump as dump, load as load
from kueuepy.engine.cycle import Cycle as Cycle, Settled as Settled
from kueuepy.engine.decisions import (
    Admitted as Admitted,
    Decision as Decision,
    Pending as Pending,
    Preempting as Preempting,
)
from kueuepy.errors import KueueError as KueueError
from kueuepy.explain import Explanation as Explanation
from kueuepy.fleet import Fleet as Fleet, FleetScheduler as FleetScheduler
from kueuepy.lab.exploration.grid import Sweep as Sweep
from kueuepy.lab.exploration.plan import Plan as Plan, plan as plan
from kueuepy.lab.exploration.sweep import sweep as sweep
from kueuepy.objects import (
    AdmissionCheck as AdmissionCheck,
    ClusterQueue as ClusterQueue,
    Cohort as Cohort,
    Configuration as Configuration,
    FairSharing as FairSharing,
    FairSharingConfig as FairSharingConfig,
    FlavorQuotas as FlavorQuotas,
    LocalQueue as LocalQueue,
    Namespace as Namespace,
    Node as Node,
    PodSet as PodSet,
    Preemption as Preemption,
    Quota as Quota,
    ResourceFlavor as ResourceFlavor,
    ResourceGroup as ResourceGroup,
    ResourceQuota as ResourceQuota,
    Taint as Taint,
    Toleration as Toleration,
    Topology as Topology,
    Workload as Workload,
    WorkloadPriorityClass as WorkloadPriorityClass,
)
from kueuepy.platform import live as live
from kueuepy.platform.site import page as page
from kueuepy.platform.visibility.fidelity import fidelity as fidelity
from kueuepy.scheduler import Scheduler as Scheduler
from kueuepy.simulation.comparison import Comparison as Comparison, compare as compare
from kueuepy.simulation.report import report as report
from kueuepy.simulation.result import Result as Result
from kueuepy.simulation.simulate import Simulation as Simulation, simulate as simulate
from kueuepy.simulation.fleet_result import load_result as load_result
from kueuepy.simulation.table import Jobs as Jobs

__version__: str
