from kueuepy import (
    answers,
    errors,
    jobs,
    lab,
    manifest,
    objects,
    platform,
    sim,
)
from kueuepy._core import Quantity, Question
from kueuepy.cluster import Cluster, dump, load
from kueuepy.engine.cycle import Cycle, Settled
from kueuepy.engine.decisions import (
    Admitted,
    Decision,
    Pending,
    Preempting,
)
from kueuepy.errors import KueueError
from kueuepy.explain import Explanation
from kueuepy.fleet import Fleet, FleetScheduler
from kueuepy.lab.exploration.grid import Sweep
from kueuepy.lab.exploration.plan import Plan, plan
from kueuepy.lab.exploration.sweep import sweep
from kueuepy.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Configuration,
    FairSharing,
    FairSharingConfig,
    FlavorQuotas,
    LocalQueue,
    Namespace,
    Node,
    PodSet,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    ResourceQuota,
    Taint,
    Toleration,
    Topology,
    Workload,
    WorkloadPriorityClass,
)
from kueuepy.platform import live
from kueuepy.platform.site import page
from kueuepy.platform.visibility.fidelity import fidelity
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.comparison import Comparison, compare
from kueuepy.simulation.report import report
from kueuepy.simulation.result import Result
from kueuepy.simulation.simulate import Simulation, simulate
from kueuepy.simulation.fleet_result import load_result
from kueuepy.simulation.table import Jobs

__all__ = [
    "AdmissionCheck",
    "Admitted",
    "Cluster",
    "ClusterQueue",
    "Cohort",
    "Comparison",
    "Configuration",
    "Cycle",
    "Decision",
    "Explanation",
    "FairSharing",
    "FairSharingConfig",
    "FlavorQuotas",
    "Fleet",
    "FleetScheduler",
    "Jobs",
    "KueueError",
    "LocalQueue",
    "Namespace",
    "Node",
    "Pending",
    "Plan",
    "PodSet",
    "Preempting",
    "Preemption",
    "Quantity",
    "Question",
    "Quota",
    "ResourceFlavor",
    "ResourceGroup",
    "ResourceQuota",
    "Result",
    "Scheduler",
    "Settled",
    "Simulation",
    "Sweep",
    "Taint",
    "Toleration",
    "Topology",
    "Workload",
    "WorkloadPriorityClass",
    "answers",
    "compare",
    "dump",
    "errors",
    "fidelity",
    "jobs",
    "lab",
    "live",
    "load",
    "load_result",
    "manifest",
    "objects",
    "page",
    "plan",
    "platform",
    "report",
    "sim",
    "simulate",
    "sweep",
]

__version__: str
