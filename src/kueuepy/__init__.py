"""Kueue's admission decisions, exactly, without a cluster.

Import it as `kq`. Everything public is here; it is loaded when it is first used.

| group | names |
| --- | --- |
| a cluster | `Cluster`, `load`, `dump` |
| amounts | `Quantity` |
| its objects | `ClusterQueue`, `Cohort`, `LocalQueue`, `ResourceFlavor`, `Workload`, `PodSet`, `Configuration`, … |
| its topology | `Topology`, `Node`, `nodes`, `Pod`, `required`, `preferred`, `unconstrained`, `TopologyAssignment` |
| running it | `Scheduler`, `Cycle`, `Settled`, `Loop` |
| fleets (MultiKueue) | `Fleet`, `FleetScheduler`, `AllAtOnce`, `Incremental`, `External`, `Connect`, `Disconnect` |
| admission checks | `CheckAnswer`, `CheckRequest`, `CheckController`, `Provisioning` |
| decisions | `Admitted`, `Preempting`, `Pending`, `Target`, `FlavorAttempt` |
| questions | `Explanation`, `Cause`, `Answers`, `Question`, `Difference`, `Change`, `Outcome`, `who_must_leave` |
| racks | `RackMap`, `Rack`, `fragmentation`, `Fragmentation` |
| simulation | `Jobs`, `simulate`, `Simulation`, `Result`, `RunModel`, `Clock`, `At`, `Record`, `cluster_of`, … |
| policies | `compare`, `Comparison`, `report` |
| exploration | `sweep`, `sample`, `plan`, `search`, `eta`, `calibrate`, `risk`, `delays`, `gate`, … |
| proofs and limits | `safety`, `limits`, `starvation`, `shrink`, `victims` |
| versions of Kueue | `compare_versions`, `Upgrade` |
| what it is held against | `fidelity`, `Fidelity` |
| errors | `KueueError` and its kinds |
| rooms | `kueuepy.jobs`, `kueuepy.manifest`, `kueuepy.objects`, `kueuepy.errors` |
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from kueuepy import _home, _renamed, notebook

if TYPE_CHECKING:
    from types import ModuleType

    __version__: str

    from kueuepy import errors, jobs, manifest, objects
    from kueuepy._core import Quantity, Question
    from kueuepy.cluster import Cluster, dump, load
    from kueuepy.decisions import Admitted, Decision, FlavorAttempt, Pending, Preempting, Target
    from kueuepy.engine.cycle import Cycle, Loop, Settled
    from kueuepy.errors import (
        DuplicateError,
        InternalError,
        InvalidSpecError,
        KueueError,
        NotFoundError,
        StateError,
        UnsupportedError,
    )
    from kueuepy.explain import Cause, Explanation
    from kueuepy.exploration.calibration import Calibration, calibrate
    from kueuepy.exploration.cycles import CycleCost, cycle_cost
    from kueuepy.exploration.delays import Delays, delays
    from kueuepy.exploration.estimate import Eta, Risk, eta, risk
    from kueuepy.exploration.gate import Gate, Verdict, gate
    from kueuepy.exploration.grid import Chosen, Sweep
    from kueuepy.exploration.limits import QuotaLimits, limits
    from kueuepy.exploration.plan import Plan, plan
    from kueuepy.exploration.safety import Safety, safety
    from kueuepy.exploration.search import Search, search
    from kueuepy.exploration.shrink import Shrink, shrink
    from kueuepy.exploration.space import Uniform, sample
    from kueuepy.exploration.starvation import Starvation, starvation
    from kueuepy.exploration.statistics import Estimate, PairedDifference
    from kueuepy.exploration.sweep import SweepProgress, sweep
    from kueuepy.exploration.victims import VictimSets, victims
    from kueuepy.fleet import AllAtOnce, Connect, Disconnect, External, Fleet, FleetScheduler, Incremental
    from kueuepy.objects import (
        Admission,
        AdmissionCheck,
        AdmissionCheckState,
        AdmissionCheckStrategyRule,
        AdmissionFairSharing,
        BorrowWithinCohort,
        CapacityRange,
        CapacityRequestPolicy,
        CapacitySource,
        ClusterQueue,
        Cohort,
        Condition,
        Configuration,
        CounterConsumption,
        CounterSource,
        Device,
        DeviceCapacity,
        DeviceClass,
        DeviceClassMapping,
        DeviceClassSource,
        DeviceRequest,
        FairSharing,
        FairSharingConfig,
        FlavorFungibility,
        FlavorQuotas,
        LabelSelector,
        LabelSelectorRequirement,
        LimitRange,
        LimitRangeItem,
        LocalQueue,
        Namespace,
        Node,
        Pod,
        PodSet,
        PodSetAssignment,
        Preemption,
        PriorityClass,
        PriorityClassRef,
        Quota,
        ReclaimablePod,
        RequeueState,
        RequeuingStrategy,
        ResourceClaim,
        ResourceClaimTemplate,
        ResourceFlavor,
        ResourceGroup,
        ResourcePool,
        ResourceQuota,
        Resources,
        ResourceSlice,
        ResourceTransformation,
        RuntimeClass,
        Taint,
        Toleration,
        Topology,
        TopologyAssignment,
        TopologyDomain,
        WaitForPodsReady,
        Workload,
        WorkloadPriorityClass,
        WorkloadStatus,
        nodes,
        preferred,
        required,
        unconstrained,
    )
    from kueuepy.scheduler import Scheduler
    from kueuepy.session.checks import CheckAnswer, CheckController, CheckRequest, Provisioning
    from kueuepy.simulation.comparison import Comparison, compare
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
        At,
        CheckDelay,
        Clock,
        Delete,
        Edit,
        Evict,
        Failures,
        Finish,
        Priority,
        Record,
        RunModel,
        Startup,
    )
    from kueuepy.simulation.recorded import PreemptionLoop
    from kueuepy.simulation.report import report
    from kueuepy.simulation.result import Result, load_result
    from kueuepy.simulation.simulate import LoopError, Progress, Simulation, simulate
    from kueuepy.simulation.table import Jobs
    from kueuepy.topology import Fragmentation, Rack, RackMap, fragmentation
    from kueuepy.upgrade import Upgrade, compare_versions
    from kueuepy.visibility.fidelity import Fidelity, fidelity
    from kueuepy.whatif import Answers, Change, Difference, Outcome, who_must_leave

__all__ = [
    "Admission",
    "AdmissionCheck",
    "AdmissionCheckState",
    "AdmissionCheckStrategyRule",
    "AdmissionFairSharing",
    "Admitted",
    "AllAtOnce",
    "Answers",
    "At",
    "BorrowWithinCohort",
    "Calibration",
    "CapacityRange",
    "CapacityRequestPolicy",
    "CapacitySource",
    "Cause",
    "Change",
    "CheckAnswer",
    "CheckController",
    "CheckDelay",
    "CheckRequest",
    "Chosen",
    "Clock",
    "Cluster",
    "ClusterQueue",
    "Cohort",
    "Comparison",
    "Condition",
    "Configuration",
    "Connect",
    "Constant",
    "CounterConsumption",
    "CounterSource",
    "Cycle",
    "CycleCost",
    "Decision",
    "Delays",
    "Delete",
    "Device",
    "DeviceCapacity",
    "DeviceClass",
    "DeviceClassMapping",
    "DeviceClassSource",
    "DeviceRequest",
    "Difference",
    "Disconnect",
    "DuplicateError",
    "Edit",
    "Empirical",
    "Estimate",
    "Eta",
    "Evict",
    "Explanation",
    "Exponential",
    "External",
    "Failures",
    "FairSharing",
    "FairSharingConfig",
    "Fidelity",
    "Finish",
    "FlavorAttempt",
    "FlavorFungibility",
    "FlavorQuotas",
    "Fleet",
    "FleetScheduler",
    "Fragmentation",
    "Gate",
    "Incremental",
    "InternalError",
    "InvalidSpecError",
    "Jobs",
    "Kpis",
    "KueueError",
    "LabelSelector",
    "LabelSelectorRequirement",
    "LimitRange",
    "LimitRangeItem",
    "LocalQueue",
    "LogNormal",
    "Loop",
    "LoopError",
    "Namespace",
    "Node",
    "NotFoundError",
    "Outcome",
    "PairedDifference",
    "Pending",
    "Plan",
    "Pod",
    "PodSet",
    "PodSetAssignment",
    "Preempting",
    "Preemption",
    "PreemptionLoop",
    "Priority",
    "PriorityClass",
    "PriorityClassRef",
    "Progress",
    "Provisioning",
    "Quantity",
    "Question",
    "Quota",
    "QuotaLimits",
    "Rack",
    "RackMap",
    "ReclaimablePod",
    "Record",
    "RequeueState",
    "RequeuingStrategy",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceFlavor",
    "ResourceGroup",
    "ResourcePool",
    "ResourceQuota",
    "ResourceSlice",
    "ResourceTransformation",
    "Resources",
    "Result",
    "Risk",
    "RunModel",
    "RuntimeClass",
    "Safety",
    "Scheduler",
    "Search",
    "Settled",
    "ShiftedExponential",
    "Shrink",
    "Simulation",
    "Startup",
    "Starvation",
    "StateError",
    "Sweep",
    "SweepProgress",
    "Taint",
    "Target",
    "Toleration",
    "Topology",
    "TopologyAssignment",
    "TopologyDomain",
    "Uniform",
    "UnsupportedError",
    "Upgrade",
    "Verdict",
    "VictimSets",
    "WaitForPodsReady",
    "Weibull",
    "Workload",
    "WorkloadPriorityClass",
    "WorkloadStatus",
    "calibrate",
    "cluster_of",
    "compare",
    "compare_versions",
    "cycle_cost",
    "delays",
    "dump",
    "errors",
    "eta",
    "fidelity",
    "fragmentation",
    "gate",
    "jobs",
    "limits",
    "load",
    "load_result",
    "manifest",
    "nodes",
    "objects",
    "plan",
    "preferred",
    "report",
    "required",
    "risk",
    "safety",
    "sample",
    "search",
    "shrink",
    "simulate",
    "starvation",
    "sweep",
    "unconstrained",
    "victims",
    "who_must_leave",
]

_MODULE_OF = {name: module for module, names in _home.HOME.items() for name in names.split()}
_ROOMS = ("errors", "jobs", "manifest", "objects")

assert {*_MODULE_OF, *_ROOMS} == {*__all__}, {*_MODULE_OF, *_ROOMS} ^ {*__all__}

sys.meta_path.append(_renamed.OldNames())


def _html(value: object) -> str:
    from kueuepy.display.html import html  # noqa: PLC0415 - only a notebook asks

    return html(value)


notebook.shown_by(_html)


def __getattr__(name: str) -> object:
    """A public name, loaded now and kept."""
    if name == "__version__":
        from kueuepy.version import installed  # noqa: PLC0415 - reads the metadata of the package

        return installed()
    if name in _ROOMS:
        room: ModuleType = import_module(f"kueuepy.{name}")
        return room
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'kueuepy' has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
