"""The public names of each facade module, with the modules that define them; each name is imported on first use."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HOME = {
    "kueuepy": {
        "kueuepy._core": "Quantity Question",
        "kueuepy.cluster": "Cluster dump load",
        "kueuepy.engine.decisions": "Admitted Decision Pending Preempting",
        "kueuepy.engine.cycle": "Cycle Settled",
        "kueuepy.errors": "KueueError",
        "kueuepy.explain": "Explanation",
        "kueuepy.lab.exploration.grid": "Sweep",
        "kueuepy.lab.exploration.plan": "Plan plan",
        "kueuepy.lab.exploration.sweep": "sweep",
        "kueuepy.fleet": "Fleet FleetScheduler",
        "kueuepy.objects": (
            "AdmissionCheck ClusterQueue Cohort Configuration FairSharing FairSharingConfig FlavorQuotas "
            "LocalQueue Namespace Node PodSet Preemption Quota ResourceFlavor ResourceGroup ResourceQuota "
            "Taint Toleration Topology Workload WorkloadPriorityClass"
        ),
        "kueuepy.scheduler": "Scheduler",
        "kueuepy.simulation.comparison": "Comparison compare",
        "kueuepy.simulation.report": "report",
        "kueuepy.simulation.result": "Result",
        "kueuepy.simulation.stored": "load_result",
        "kueuepy.simulation.simulate": "Simulation simulate",
        "kueuepy.simulation.table": "Jobs",
        "kueuepy.platform.site": "page",
        "kueuepy.platform.visibility.fidelity": "fidelity",
    },
    "kueuepy.answers": {
        "kueuepy.engine.decisions": "FlavorAttempt Target",
        "kueuepy.engine.cycle": "Loop",
        "kueuepy.engine.tables": "QueueTable QuotaTable ShareTable UsageTable WorkloadTable",
        "kueuepy.explain": "Cause RootCause",
        "kueuepy.pages": "Page",
        "kueuepy.topology": "Rack RackMap",
        "kueuepy.explain.whatif": "Answers Change Difference Outcome",
    },
    "kueuepy.lab": {
        "kueuepy.lab.exploration.arrivals": "Arrivals",
        "kueuepy.lab.exploration.calibration": "Calibration calibrate",
        "kueuepy.lab.exploration.cycles": "CycleCost cycle_cost",
        "kueuepy.lab.exploration.delays": "DelayMatrix delay_matrix",
        "kueuepy.lab.exploration.estimate": "Eta Risk eta risk",
        "kueuepy.lab.exploration.gate": "PolicyCheck PolicyVerdict check_policy",
        "kueuepy.lab.exploration.grid": "SelectedPolicy",
        "kueuepy.lab.exploration.limits": "QuotaLimits limits",
        "kueuepy.lab.exploration.safety": "Safety safety",
        "kueuepy.lab.exploration.search": "Search search",
        "kueuepy.lab.exploration.shrink": "Shrink shrink",
        "kueuepy.lab.exploration.space": "Uniform sample",
        "kueuepy.lab.exploration.starvation": "Starvation starvation",
        "kueuepy.lab.exploration.sweep": "SweepProgress",
        "kueuepy.lab.exploration.victims": "VictimSets victim_sets",
        "kueuepy.lab.exploration.waits": "estimated_waits",
        "kueuepy.topology": "Fragmentation fragmentation",
        "kueuepy.lab.upgrade": "Upgrade compare_versions",
        "kueuepy.explain.whatif": "workloads_over_quota",
    },
    "kueuepy.platform": {
        "kueuepy.platform.importer": "Import import_cluster",
        "kueuepy.platform.journal": "Journal JournaledScheduler",
        "kueuepy.platform.metrics": "Watch",
        "kueuepy.platform.visibility": (
            "ClusterQueueStatus CohortStatus EventTable Fidelity LocalQueueStatus PendingWorkload "
            "PendingWorkloadsSummary SchedulerEvent cluster_queue_status cohort_status local_queue_status "
            "pending_workloads state_dump"
        ),
    },
    "kueuepy.sim": {
        "kueuepy.lab.exploration.statistics": "Estimate PairedDifference",
        "kueuepy.fleet": "AllAtOnce Connect Disconnect External Incremental",
        "kueuepy.session.checks": "CheckAnswer CheckController CheckRequest Provisioning",
        "kueuepy.simulation.distributions": "Constant Empirical Exponential LogNormal ShiftedExponential Weibull",
        "kueuepy.simulation.figures": "Kpis",
        "kueuepy.simulation.load": "cluster_of",
        "kueuepy.simulation.model": (
            "CheckDelay Clock Delete Edit Event Evict Failures Finish Priority Recording RunModel Startup"
        ),
        "kueuepy.simulation.recorded": "PreemptionLoop",
        "kueuepy.simulation.simulate": "Progress",
    },
}
"""The names that each facade offers, by facade and by the module that defines them."""
_MODULES = ("answers", "errors", "jobs", "lab", "manifest", "objects", "platform", "sim")
ROOMS = {
    "kueuepy": {name: f"kueuepy.{name}" for name in _MODULES} | {"live": "kueuepy.platform.live"},
    "kueuepy.lab": {"play": "kueuepy.lab.play", "rl": "kueuepy.lab.rl"},
}
"""The modules that each facade offers, by facade and by their name in the facade."""
_EAGER = ("kueuepy.objects", "kueuepy.errors")


def check_interpreter() -> None:
    """Raise ImportError in an interpreter that the core does not support: a sub-interpreter, or one without the GIL."""
    # Importing the core in a sub-interpreter would wait indefinitely before Python 3.12, and importing it without the
    # GIL would enable the GIL with only a warning.
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise ImportError("kueuepy needs the GIL; set PYTHON_GIL=1, or use a Python that is not free-threaded")
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    except ModuleNotFoundError:  # a Python built without sub-interpreters
        return
    if interpreters.get_current() != interpreters.get_main():
        raise ImportError("kueuepy does not support sub-interpreters; import it in the main interpreter")


def facade(name: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` for a facade module."""
    home = {public: module for module, names in HOME[name].items() for public in names.split()}
    rooms = ROOMS.get(name, {})

    def load(public: str) -> object:
        """Import a public name and cache it."""
        if public in rooms:
            found: object = import_module(rooms[public])
        elif public in home:
            found = getattr(import_module(home[public]), public)
        else:
            raise AttributeError(_missing(name, public, {*home, *rooms}), name=public, obj=sys.modules[name])
        setattr(sys.modules[name], public, found)
        return found

    def listed() -> list[str]:
        """Return the public names."""
        return sorted((*home, *rooms))

    return load, listed


def _missing(name: str, public: str, known: set[str]) -> str:
    """Return the error message for an unknown name in a facade, with a suggestion: another facade or a similar name."""
    message = f"module {name!r} has no attribute {public!r}"
    if public.startswith("_"):
        return message
    from kueuepy.errors.former import FORMER  # noqa: PLC0415 - only needed for this message

    if new_way := FORMER["name"].get(public):
        return f"{message}: {new_way}"
    others: dict[str, list[str]] = {place: _names(place) for place in HOME if place != name}
    others |= {place: import_module(place).__all__ for place in _EAGER}
    places = [place for place, names in others.items() if public in names]
    close = get_close_matches(public, known, 1)
    guess = f"{places[0]}.{public}" if places else f"{name}.{close[0]}" if close else ""
    return f"{message}; did you mean {guess}?" if guess else message


def _names(place: str) -> list[str]:
    return " ".join(HOME[place].values()).split()
