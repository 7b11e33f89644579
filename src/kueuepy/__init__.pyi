from kueuepy import (
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
from kueuepy.engine.decisions import (
    Admitted,
    Decision,
    Pending,
    Preempting,
    Target,
)
from kueuepy.errors import KueueError
from kueuepy.fleet import Fleet, FleetScheduler
from kueuepy.lab.exploration.plan import plan
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
from kueuepy.platform.visibility.coverage import fidelity
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
    "Decision",
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
    "Simulation",
    "Taint",
    "Target",
    "Toleration",
    "Topology",
    "Workload",
    "WorkloadPriorityClass",
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
