"""Removed names, commands, options and formats, each with the sentence that names the new way.

`docs/releases.md` lists the same entries for readers. Add an entry here when you remove something that users could use.
"""

_RECIPE = 'copy the function that reads it from docs/howto.md, section "Read traces of other systems"'
_TRACES = "acme alibaba alibaba2020 alibaba2023 alibaba2025 alibaba2026-spot batsim borg2019 dlrm helios openb pai"

# Classes that programs receive and do not create, by the module that defines them.
_RECEIVED = {
    "kueuepy.engine.cycle": "Cycle Loop Settled",
    "kueuepy.engine.decisions": "FlavorAttempt",
    "kueuepy.engine.tables": "QueueTable QuotaTable ShareTable UsageTable WorkloadTable",
    "kueuepy.explain": "Cause Explanation RootCause",
    "kueuepy.explain.whatif": "Answers Change Difference Outcome",
    "kueuepy.lab.exploration.trial": "Guarantee",
    "kueuepy.lab.exploration.estimate": "Eta Risk",
    "kueuepy.lab.exploration.fragments": "Fragmentation",
    "kueuepy.lab.exploration.grid": "SelectedPolicy Sweep",
    "kueuepy.lab.exploration.measure": "PolicyCheck PolicyVerdict",
    "kueuepy.lab.exploration.plan": "Plan",
    "kueuepy.lab.exploration.statistics": "Estimate PairedDifference",
    "kueuepy.lab.exploration.sweep": "Search SweepProgress",
    "kueuepy.lab.upgrade": "Upgrade",
    "kueuepy.pages": "Page",
    "kueuepy.platform.importer": "Import",
    "kueuepy.platform.journal": "JournaledScheduler",
    "kueuepy.platform.visibility": "ClusterQueueStatus CohortStatus EventTable Fidelity PendingWorkload"
    " PendingWorkloadsSummary SchedulerEvent",
    "kueuepy.session.checks": "CheckController CheckRequest",
    "kueuepy.simulation.figures": "Kpis",
    "kueuepy.simulation.recorded": "PreemptionLoop",
    "kueuepy.simulation.simulate": "Progress",
    "kueuepy.topology": "Rack RackMap",
}

# Questions that are one function now: by name, and by the class of the answer.
_QUESTIONS = "Safety Shrink Starvation limits safety shrink starvation"
_INSTEAD = {
    "import Target from kueuepy, and other classes from the modules that docs/api/answers.md names": "answers",
    "benchmarks/eta_coverage.py in a checkout measures the coverage of eta": "Calibration calibrate",
    "simulate with Recording(cycles=True), whose table cycles has the heads of each cycle": "CycleCost cycle_cost",
    'use kueuepy.lab.guarantee("delays", ...)': "DelayMatrix delay_matrix",
    'use kueuepy.lab.guarantee("limits", ...)': "QuotaLimits",
    "use Scheduler.explain, which lists the preemption candidates and targets of a workload": "VictimSets victim_sets",
    "import it from kueuepy.platform.visibility, or the object's status from kueuepy.objects": "LocalQueueStatus",
    "use Scheduler.save and Scheduler.load": "persist",
    "use hypothesis or a fuzzer; kueuepy's own is tests/fuzz/mutation.py in a checkout": "Mutator",
    "run python tools/replay.py in a checkout": "ScenarioError replay",
    "compare Scheduler.usage with the nominal quota, as docs/testing.md shows": "owed",
}

FORMER: dict[str, dict[str, str]] = {
    # Attributes of the public modules: an old name is answered in whichever of them it is looked up.
    "name": {
        **{name: f"import it from {module}" for module, names in _RECEIVED.items() for name in names.split()},
        **{name: f'use kueuepy.lab.guarantee("{name.lower()}", ...)' for name in _QUESTIONS.split()},
        **{name: text for text, names in _INSTEAD.items() for name in names.split()},
    },
    # Commands of the command line, by their full name.
    "command": {
        "cluster-of": "use kueuepy import --jobs FILE",
        "delays": "use kueuepy guarantee delays",
        "perf": "run python tools/perf.py in a checkout",
        "play": "use kueuepy serve OBJECTS --jobs FILE",
        "rbac": "use kueuepy import --rbac",
        "replay": "run python tools/replay.py in a checkout",
        "risk": "use kueuepy eta --risk WORKLOAD FILE...",
        "serve-metrics": "use kueuepy serve SOURCE... --metrics HOST:PORT --history FILE",
        "shadow": "use kueuepy verify cluster:CONTEXT",
    },
    # Options, as "command --option".
    "option": {
        "--install-completion": "kueuepy no longer writes shell completions",
        "--show-completion": "kueuepy no longer writes shell completions",
    },
    # Formats of job logs and other values of options.
    "format": dict.fromkeys(_TRACES.split(), _RECIPE),
}
