"""Where each public name is at home: names by module, loaded when one of them is first used."""

HOME = {
    "kueuepy.session.checks": "CheckAnswer CheckController CheckRequest Provisioning",
    "kueuepy.cluster": "Cluster dump load",
    "kueuepy.scheduler": "Scheduler",
    "kueuepy.fleet": "AllAtOnce Connect Disconnect External Fleet FleetScheduler Incremental",
    "kueuepy.decisions": "Admitted Decision FlavorAttempt Pending Preempting Target",
    "kueuepy.engine.cycle": "Cycle Loop Settled",
    "kueuepy.explain": "Cause Explanation",
    "kueuepy.topology": "Fragmentation Rack RackMap fragmentation",
    "kueuepy.upgrade": "Upgrade compare_versions",
    "kueuepy.whatif": "Answers Change Difference Outcome who_must_leave",
    "kueuepy.visibility.fidelity": "Fidelity fidelity",
    "kueuepy._core": "Quantity Question",
    "kueuepy.exploration.cycles": "CycleCost cycle_cost",
    "kueuepy.exploration.delays": "Delays delays",
    "kueuepy.exploration.estimate": "Eta Risk eta risk",
    "kueuepy.exploration.gate": "Gate Verdict gate",
    "kueuepy.exploration.plan": "Plan plan",
    "kueuepy.exploration.calibration": "Calibration calibrate",
    "kueuepy.exploration.limits": "QuotaLimits limits",
    "kueuepy.exploration.safety": "Safety safety",
    "kueuepy.exploration.shrink": "Shrink shrink",
    "kueuepy.exploration.starvation": "Starvation starvation",
    "kueuepy.exploration.victims": "VictimSets victims",
    "kueuepy.exploration.search": "Search search",
    "kueuepy.exploration.grid": "Chosen Sweep",
    "kueuepy.exploration.space": "Uniform sample",
    "kueuepy.exploration.statistics": "Estimate PairedDifference",
    "kueuepy.exploration.sweep": "SweepProgress sweep",
    "kueuepy.simulation.comparison": "Comparison compare",
    "kueuepy.simulation.distributions": "Constant Empirical Exponential LogNormal ShiftedExponential Weibull",
    "kueuepy.simulation.figures": "Kpis",
    "kueuepy.simulation.load": "cluster_of",
    "kueuepy.simulation.model": (
        "At CheckDelay Clock Delete Edit Evict Failures Finish Priority Record RunModel Startup"
    ),
    "kueuepy.simulation.report": "report",
    "kueuepy.simulation.result": "Result load_result",
    "kueuepy.simulation.recorded": "PreemptionLoop",
    "kueuepy.simulation.simulate": "LoopError Progress Simulation simulate",
    "kueuepy.simulation.table": "Jobs",
    "kueuepy.errors": (
        "DuplicateError InternalError InvalidSpecError KueueError NotFoundError StateError UnsupportedError"
    ),
    "kueuepy.objects": (
        "Admission AdmissionCheck AdmissionCheckState AdmissionCheckStrategyRule AdmissionFairSharing "
        "BorrowWithinCohort CapacityRange CapacityRequestPolicy CapacitySource ClusterQueue Cohort Condition "
        "Configuration CounterConsumption CounterSource Device DeviceCapacity DeviceClass DeviceClassMapping "
        "DeviceClassSource DeviceRequest FairSharing FairSharingConfig FlavorFungibility FlavorQuotas "
        "LabelSelector LabelSelectorRequirement LimitRange LimitRangeItem LocalQueue Namespace Node Pod PodSet "
        "PodSetAssignment Preemption PriorityClass PriorityClassRef Quota ReclaimablePod RequeueState "
        "RequeuingStrategy ResourceClaim ResourceClaimTemplate ResourceFlavor ResourceGroup ResourcePool "
        "ResourceQuota ResourceSlice ResourceTransformation Resources RuntimeClass Taint Toleration Topology "
        "TopologyAssignment TopologyDomain WaitForPodsReady Workload WorkloadPriorityClass WorkloadStatus nodes "
        "preferred required unconstrained"
    ),
}
