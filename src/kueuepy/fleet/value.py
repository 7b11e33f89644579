"""Fleet: a manager, its workers, and how workloads are dispatched, as one immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, NotFoundError, UnsupportedError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.problems import suggestion
from kueuepy.errors.words import counted
from kueuepy.fleet.automation import CONTROLLER, automated
from kueuepy.fleet.dispatchers import AllAtOnce, Incremental, dispatcher_of
from kueuepy.fleet.manager import manager_of
from kueuepy.notebook import Sheet, repr_html
from kueuepy.objects.times import Seconds, duration_ns

if TYPE_CHECKING:
    from kueuepy.fleet.dispatchers import Dispatcher, DispatcherName
    from kueuepy.objects import ClusterQueue

_MOST_CLUSTERS = 20
_GATE = "MultiKueueOrchestratedPreemption"


@checked_methods
class Fleet:
    """A manager cluster and the worker clusters to which it dispatches workloads (MultiKueue); a value.

    `simulate` and `compare` take a Fleet where they take a Cluster. `FleetScheduler` steps one by hand.

    >>> from kueuepy import Cluster, ClusterQueue, Fleet, ResourceFlavor
    >>> def worker(cpu):
    ...     return Cluster(ResourceFlavor("any"), ClusterQueue.of("team", {"any": {"cpu": cpu}}))
    >>> fleet = Fleet({"onprem": worker(8), "cloud": worker(64)}, dispatcher="Incremental")
    >>> fleet.clusters
    ('onprem', 'cloud')
    >>> fleet.manager.cluster_queues[0].resource_groups[0].flavors[0].resources[0].nominal_quota
    '72'

    Attributes:
        manager: The cluster to which users submit.
        workers: The clusters that run jobs, by name.
        dispatcher: How the clusters of a workload are chosen.
        sync: By worker, the time until the manager sees a change there, in seconds.
        remarks: Surprises: namespaces and LocalQueues that a worker lacks, where copies wait without end.
    """

    def __init__(
        self,
        workers: Mapping[str, Cluster],
        manager: Cluster | None = None,
        *,
        dispatcher: Dispatcher | DispatcherName | None = None,
        sync: Any = "1s",
        limits: bool = True,
    ) -> None:
        """Check and hold the clusters.

        Args:
            workers: The worker clusters by name. Their order is that of the MultiKueueConfig, unless the manager's
                objects have one.
            manager: The manager cluster. Without it: for each LocalQueue of a worker a ClusterQueue with one flavor,
                the sum of the workers' nominal quotas, and a MultiKueue check.
            dispatcher: `AllAtOnce`, `Incremental` or `External`, or one of these names. Without it, the dispatcher of
                the manager's Configuration, which is AllAtOnce by default.
            sync: Time until the manager sees a change on a worker, by default 1 second, as Kueue batches events; or a
                mapping of such times by worker.
            limits: Whether a MultiKueueConfig of more than 20 clusters, which the API server refuses, is refused.

        Raises:
            InvalidSpecError: A worker has MultiKueue checks itself, the manager has none, or an argument is not valid.
            NotFoundError: A MultiKueueConfig names a cluster that is not a worker.
            UnsupportedError: A MultiKueueConfig has more than 20 clusters.
        """
        self.workers = _workers(workers)
        self.manager = manager_of(self.workers) if manager is None else _cluster("manager", manager)
        self.dispatcher = dispatcher_of(dispatcher, self.manager.configuration)
        self.sync = _sync(sync, self.clusters)
        self.limits = limits
        self._is_made = manager is None
        self.checks = _checks(self.manager, tuple(self.workers))
        for check, clusters in self.checks.items():
            if limits and len(clusters) > _MOST_CLUSTERS:
                raise UnsupportedError(
                    f"MultiKueueConfig of the check {check}: has {len(clusters)} clusters; Kueue allows at most "
                    f"{_MOST_CLUSTERS}: give limits=False to go beyond"
                )
        queues, problems = automated(self.manager, self.workers)
        self.manager = self.manager.replace(*queues)
        self.remarks = (*self._remarks(), *problems)

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names of the workers, in order."""
        return tuple(self.workers)

    def replace(self, **changes: Any) -> Fleet:
        """Return the same fleet with other `workers`, `manager`, `dispatcher`, `sync` or `limits`.

        Raises:
            InvalidSpecError: An argument is unknown or not valid.
        """
        now: dict[str, Any] = {
            "workers": self.workers,
            "manager": None if self._is_made else self.manager,
            "dispatcher": self.dispatcher,
            "sync": dict(self.sync),
            "limits": self.limits,
        }
        for name in changes:
            if name not in now:
                raise InvalidSpecError(f"replace: {name}: {suggestion(name, now)}")
        if "workers" in changes and "sync" not in changes:
            now["sync"] = {name: time for name, time in now["sync"].items() if name in changes["workers"]}
        return Fleet(**(now | changes))

    def gated(self, on: bool = True) -> Fleet:  # noqa: FBT001, FBT002 - reads well in either form
        """Return the same fleet with orchestrated preemption (gate MultiKueueOrchestratedPreemption).

        With it, one worker at a time may preempt for a workload (KEP-8303).
        """
        workers = {name: _with_gate(cluster, on) for name, cluster in self.workers.items()}
        return self.replace(workers=workers, manager=_with_gate(self.manager, on))

    def options(self) -> dict[str, Any]:
        """The dispatcher as the core takes it."""
        settings, dispatcher = self.manager.configuration.multi_kueue, self.dispatcher
        rounds = dispatcher if isinstance(dispatcher, Incremental) else Incremental()
        return {
            "kind": type(dispatcher).__name__,
            "step": rounds.step,
            "round": duration_ns(rounds.round),
            "in_config_order": self.manager.configuration.enabled("MultiKueueIncrementalDispatcherRespectConfigOrder"),
            "worker_lost_timeout": settings.worker_lost_timeout.value,
        }

    def numbered_checks(self) -> list[tuple[str, list[int]]]:
        """The clusters of each MultiKueue check as numbers of workers."""
        number = {name: place for place, name in enumerate(self.workers)}
        return [(check, [number[name] for name in names]) for check, names in self.checks.items()]

    def _remarks(self) -> list[str]:
        dispatched = {queue.name for queue in self.manager.cluster_queues if _is_dispatched(queue, self.checks)}
        keys = [queue.key for queue in self.manager.local_queues if queue.cluster_queue in dispatched]
        return [
            f"{name}: has no LocalQueue {key}; copies of its workloads wait there without end"
            for name, cluster in self.workers.items()
            for key in keys
            if key not in {queue.key for queue in cluster.local_queues}
        ]

    def __eq__(self, other: object) -> bool:
        """Whether both fleets consist of the same parts."""
        if not isinstance(other, Fleet):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        """Fleets that are equal have the same."""
        return hash((self.clusters, tuple(self.sync.values())))

    def _parts(self) -> tuple[Any, ...]:
        return (list(self.workers.items()), self.manager, self.dispatcher, self.sync, self.limits)

    def __repr__(self) -> str:
        """The dispatcher and the clusters."""
        return f"<Fleet: {self.dispatcher!r}; manager and {counted(len(self.workers), 'worker')}: {self._names()}>"

    def _names(self) -> str:
        names = self.clusters
        return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")

    def sheets(self) -> tuple[Sheet, ...]:
        """A row for each cluster, and the remarks."""
        rows = [_row("manager", self.manager), *(_row(name, cluster) for name, cluster in self.workers.items())]
        remarks = [Sheet(("remark",), [(text,) for text in self.remarks])] if self.remarks else []
        return (Sheet(("cluster", "ClusterQueues", "nominal quota"), rows, repr(self.dispatcher)), *remarks)

    _repr_html_ = repr_html


_SHOWN = 5


def _cluster(where: str, given: object) -> Cluster:
    if not isinstance(given, Cluster):
        raise InvalidSpecError(f"Fleet: {where}: is {given!r}; it must be a Cluster")
    if given.workloads or given.jobs:
        raise UnsupportedError(f"Fleet: {where}: has workloads; a fleet starts without any, give them as jobs")
    return given


def _workers(given: Mapping[str, Cluster]) -> dict[str, Cluster]:
    if not isinstance(given, Mapping) or not given:
        raise InvalidSpecError(f"Fleet: workers: is {given!r}; it must be a mapping of names to Clusters, not empty")
    found = {}
    for name, cluster in given.items():
        if not isinstance(name, str) or not name or name == "manager":
            raise InvalidSpecError(f'Fleet: workers: {name!r}: it must be the name of a cluster, and not "manager"')
        found[name] = _cluster(f"worker {name}", cluster)
        for check in cluster.admission_checks:
            if check.controller_name == CONTROLLER:
                raise InvalidSpecError(
                    f"Fleet: worker {name}: AdmissionCheck {check.name}: is a MultiKueue check; a worker must not "
                    "dispatch itself"
                )
    return found


def _sync(given: Any, workers: tuple[str, ...]) -> dict[str, Seconds]:
    """By worker, the time until the manager sees a change there."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(workers, Seconds.of(duration_ns(given)))
    for name in given:
        if name not in workers:
            raise NotFoundError(f'Fleet: sync: "{name}" is not a worker; {suggestion(name, workers)}')
    return {name: Seconds.of(duration_ns(given.get(name, "1s"))) for name in workers}


def _checks(manager: Cluster, workers: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The clusters of each MultiKueue check of the manager, in the order of its MultiKueueConfig."""
    configs = {
        doc["metadata"]["name"]: tuple((doc.get("spec") or {}).get("clusters") or ())
        for doc in manager.manifest.others
        if doc.get("kind") == "MultiKueueConfig"
    }
    for config, names in configs.items():
        for name in names:
            if name not in workers:
                hint = suggestion(name, workers)
                raise NotFoundError(f'MultiKueueConfig "{config}": clusters: "{name}" is not a worker; {hint}')
    found = {}
    for check in manager.admission_checks:
        if check.controller_name != CONTROLLER:
            continue
        wanted = (check.parameters or {}).get("name")
        found[check.name] = configs.get(str(wanted), ()) if configs else workers
    if not found:
        raise InvalidSpecError(
            f"Fleet: manager: has no AdmissionCheck with controllerName {CONTROLLER}; add one to its ClusterQueues, or "
            "leave the manager out"
        )
    return found


def _is_dispatched(queue: ClusterQueue, checks: Mapping[str, Any]) -> bool:
    return any(rule.name in checks for rule in queue.admission_checks_strategy)


def _with_gate(cluster: Cluster, on: bool) -> Cluster:  # noqa: FBT001 - a value
    configuration = cluster.configuration
    gates = {**configuration.feature_gates, _GATE: on}
    return cluster.replace(configuration=msgspec.structs.replace(configuration, feature_gates=gates))


def _row(name: str, cluster: Cluster) -> tuple[str, str, str]:
    totals: dict[str, int] = {}
    for queue in cluster.cluster_queues:
        for group in queue.resource_groups:
            for flavor in group.flavors:
                for quota in flavor.resources:
                    cell = f"{flavor.name}/{quota.name}"
                    totals[cell] = totals.get(cell, 0) + Quantity(quota.nominal_quota).quota(quota.name)
    shown = ", ".join(f"{cell} {Quantity.format(cell.rpartition('/')[2], n)}" for cell, n in totals.items())
    return name, str(len(cluster.cluster_queues)), shown


__all__ = ["AllAtOnce", "Fleet", "Incremental"]
