"""Kueue's exact admission decisions, without a cluster.

By convention, import the package as `kq`. The names that most programs need are in `kueuepy` itself. Import less common
names from the modules of the package, which the table lists. Each name is loaded when it is first used.

| module | contents |
| --- | --- |
| `kueuepy` | clusters, objects, `Scheduler`, decisions, `Jobs`, `simulate`, `compare`, `sweep`, `plan`, fleets |
| `kueuepy.objects` | every object of Kueue's API, and helpers such as `nodes` and `required` |
| `kueuepy.errors` | `KueueError` and its subclasses |
| `kueuepy.answers` | records that a Scheduler's methods return, and its tables |
| `kueuepy.sim` | descriptions of a simulation: eviction costs, delays, failures, events, distributions |
| `kueuepy.lab` | questions that need many simulations: `search`, `eta`, `risk`, `safety`, `limits`, `rl`, `play`, … |
| `kueuepy.platform` | `Journal`, metrics, statuses, and the import of live clusters |
| `kueuepy.platform.live` | live clusters, recordings of clusters, and comparison of cluster decisions with kueuepy's |
| `kueuepy.jobs`, `kueuepy.manifest` | manifests of jobs and of Kueue's objects |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy import _home
from kueuepy import sources as _sources
from kueuepy.look import notebook as _notebook

if TYPE_CHECKING:
    __version__: str

    import os

    from kueuepy import answers, errors, jobs, lab, manifest, objects, platform, sim
    from kueuepy._core import Quantity, Question
    from kueuepy.cluster import Cluster, dump, load
    from kueuepy.engine.cycle import Cycle, Settled
    from kueuepy.engine.decisions import Admitted, Decision, Pending, Preempting
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
    from kueuepy.simulation.stored import load_result
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


def _html(value: object) -> str:
    from kueuepy.pages.html import html  # noqa: PLC0415 - only a notebook asks

    return html(value)


def _cluster(context: str) -> _sources.LiveSource:
    from kueuepy.platform.apiserver import ClusterReader, Connection  # noqa: PLC0415 - only a running cluster needs it

    return ClusterReader(Connection.open(context))


def _state(name: str) -> _sources.LiveSource:
    from kueuepy.platform.history import RecordedState  # noqa: PLC0415 - imports SQLite

    return RecordedState.open(name)


def _recording(path: str | os.PathLike[str]) -> _sources.RecordedJobs:
    from kueuepy.platform.history import Recording  # noqa: PLC0415 - imports SQLite

    return Recording(path)


_home.check_interpreter()
_notebook.shown_by(_html)
_sources.read_by(_sources.Readers(_cluster, _state, _recording))


if not TYPE_CHECKING:
    _load, __dir__ = _home.facade(__name__)

    def __getattr__(name: str) -> object:
        """Return the version, or import a public name and cache it."""
        if name == "__version__":
            from kueuepy.profiles.version import installed  # noqa: PLC0415 - reads the metadata of the package

            return installed()
        return _load(name)
