"""Fleet: a manager, its workers and a dispatcher, as one immutable value.

The default manager of a fleet, created from its workers.

Paths for edits to a fleet: fields of objects in its clusters, and settings of the fleet.

Automated quota of the manager's ClusterQueues (feature gate MultiKueueManagerQuotaAutomation).
Source: `pkg/controller/admissionchecks/multikueue/clusterqueue.go`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec

import kueuepy.objects as api
from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.cluster.edit import edited_all
from kueuepy.errors import (
    InvalidSpecError,
    NotFoundError,
    UnsupportedError,
    checked_methods,
    counted,
    expect_known,
    first_of,
    suggestion,
)
from kueuepy.fleet.dispatchers import AllAtOnce, Dispatcher, DispatcherName, Incremental, dispatcher_of
from kueuepy.look.notebook import Sheet, listed, repr_html
from kueuepy.objects import ClusterQueue, Cohort, FlavorQuotas, ResourceQuota, Seconds, duration_ns, quotas_of

CONTROLLER = "kueue.x-k8s.io/multikueue"


def automated(manager: Cluster, workers: Mapping[str, Cluster]) -> tuple[list[ClusterQueue], list[str]]:
    """Return the manager's ClusterQueues with automated quota.

    Args:
        manager: The manager.
        workers: The connected workers.

    Returns:
        The ClusterQueues with their new quotas, and the reasons why other ClusterQueues have no automated quota.
    """
    if not manager.configuration.enabled("MultiKueueManagerQuotaAutomation"):
        return [], []
    configs = configs_of(manager)
    spec_of = {
        check.name: configs.get(str((check.parameters or {}).get("name")), {})
        for check in manager.admission_checks
        if check.controller_name == CONTROLLER
    }
    found, problems = [], []
    for queue in manager.cluster_queues:
        # Kueue makes a ClusterQueue with several MultiKueue checks inactive, so one rule decides.
        rules = [rule.name for rule in queue.admission_checks_strategy if rule.name in spec_of]
        if not rules or spec_of[rules[0]].get("quotaManagement") != "Automated":
            continue
        names = [name for name in spec_of[rules[0]].get("clusters") or () if name in workers]
        totals = totals_of(
            {local.key for local in manager.local_queues if local.cluster_queue == queue.name}, names, workers
        )
        changed = _changed(queue, totals)
        if isinstance(changed, str):
            problems.append(f"manager: ClusterQueue {queue.name}: UnsupportedConfiguration: {changed}")
        else:
            found.append(changed)
    return found, problems


def configs_of(manager: Cluster) -> dict[str, dict[str, Any]]:
    """Return the specs of the manager's MultiKueueConfigs by name."""
    return {
        doc["metadata"]["name"]: doc.get("spec") or {}
        for doc in manager.manifest.others
        if doc.get("kind") == "MultiKueueConfig"
    }


def totals_of(keys: set[str], names: list[str], workers: Mapping[str, Cluster]) -> dict[str, int]:
    """Return the total nominal quota by resource of the ClusterQueues to which LocalQueues point.

    Each ClusterQueue is counted once, even if several LocalQueues point to it.

    Args:
        keys: The keys of the LocalQueues, `namespace/name`.
        names: The names of the workers to consider.
        workers: The workers by name.
    """
    queues: list[ClusterQueue] = []
    for name in names:
        # A set, because several LocalQueues can lead to one ClusterQueue.
        behind = {local.cluster_queue for local in workers[name].local_queues if local.key in keys}
        queues += (queue for queue in workers[name].cluster_queues if queue.name in behind)
    return nominal_of(*queues)


def nominal_of(*owners: ClusterQueue | Cohort) -> dict[str, int]:
    """Return the total nominal quota of ClusterQueues and Cohorts by resource, over all flavors."""
    totals = Counter[str]()
    for _, quota in quotas_of(*owners):
        totals[quota.name] += Quantity(quota.nominal_quota).quota(quota.name)
    return totals


def _changed(queue: ClusterQueue, totals: Mapping[str, int]) -> ClusterQueue | str:
    """Return the ClusterQueue with `totals` as its nominal quotas, or the reason why Kueue does not change it."""
    if len(queue.resource_groups) != 1 or len(queue.resource_groups[0].flavors) != 1:
        return "Quota automation requires that the manager-side ClusterQueue has exactly one ResourceFlavor"
    (group,) = queue.resource_groups
    if missing := sorted(set(totals) - set(group.covered_resources)):
        return f"manager-side coveredResources is missing resources configured on workers: [{' '.join(missing)}]"
    resources = tuple(
        ResourceQuota(name, nominal_quota=Quantity.format(name, totals.get(name, 0)))
        for name in group.covered_resources
    )
    flavor = FlavorQuotas(group.flavors[0].name, resources)
    return msgspec.structs.replace(queue, resource_groups=(msgspec.structs.replace(group, flavors=(flavor,)),))


MANAGER = "manager"
_FLEET = "fleet"
_SETTINGS = ("dispatcher", "step", "round", "sync", "gated")


def sorted_edits(values: Mapping[str, Any], workers: Iterable[str]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the values for each cluster, keyed by path in the cluster, and the values for the fleet's settings.

    Args:
        values: The values by path; see `Fleet.edit_all`.
        workers: The names of the workers.

    Raises:
        NotFoundError: A path does not match any cluster or setting.
        InvalidSpecError: A path is malformed.
    """
    of_clusters: dict[str, dict[str, Any]] = {}
    settings: dict[str, Any] = {}
    for path, value in values.items():
        names, rest = _target(path, tuple(workers))
        if not names:
            settings[rest] = value
        for name in names:
            of_clusters.setdefault(name, {})[rest] = value
    return of_clusters, settings


def check_path(cluster: Cluster, path: str, prefix: str = "") -> None:
    """Check that a path of `Cluster.edit_all` exists, without validating values.

    Args:
        cluster: The cluster.
        path: The path.
        prefix: The beginning of the message if the path does not match anything.

    Raises:
        NotFoundError: The path does not match anything.
        InvalidSpecError: The path is malformed.
    """
    try:
        # Any value shows whether the field exists.
        edited_all(cluster.objects(), cluster.configuration, {path: ""})
    except NotFoundError as error:
        raise NotFoundError(f"{prefix}{error.args[0]}") from None
    except InvalidSpecError:
        if not path.partition(":")[2]:
            raise


def _target(path: str, workers: tuple[str, ...]) -> tuple[list[str], str]:
    """Return the clusters that a path selects, and the remaining path; the list is empty for a setting of the fleet."""
    target, colon, rest = path.partition(":")
    known = (MANAGER, *workers)
    if target == _FLEET and _FLEET not in known:
        expect_known(f'edit: "{path}"', rest, _SETTINGS, "is not a setting of a fleet")
        return [], rest
    if not colon or "/" in target or (target == "Configuration" and target not in known):
        raise InvalidSpecError(
            f'edit: "{path}"; a path of a fleet must begin with a cluster, such as "{known[-1]}:{path}"; the clusters '
            f'are {", ".join(known)}, and "*" selects all workers'
        )
    names = [target] if target in known else [name for name in workers if fnmatchcase(name, target)]
    if not names:
        raise NotFoundError(f'edit: "{path}": "{target}" is not a cluster; {suggestion(target, known)}')
    return names, rest


_CHECK, _FLAVOR = "multikueue", "any"


def manager_of(workers: Mapping[str, Cluster]) -> Cluster:
    """Return a manager with one ClusterQueue for each LocalQueue of the workers.

    The quota of a ClusterQueue is the sum of the nominal quotas of the workers' ClusterQueues to which the LocalQueue
    points. The quota automation of MultiKueue computes the same total quotas
    (`pkg/controller/admissionchecks/multikueue/clusterqueue.go`).
    """
    keys = dict.fromkeys(local.key for cluster in workers.values() for local in cluster.local_queues)
    queues = {key: totals_of({key}, list(workers), workers) for key in keys}
    names = {key.partition("/")[2] for key in queues}
    is_unique = len(names) == len(queues)
    objects: list[api.Object] = [api.ResourceFlavor(_FLAVOR), api.AdmissionCheck(_CHECK, controller_name=CONTROLLER)]
    objects += [api.Namespace(name) for name in dict.fromkeys(key.partition("/")[0] for key in queues)]
    for key, totals in queues.items():
        namespace, _, name = key.partition("/")
        # LocalQueues are unique within their namespace only, ClusterQueues everywhere. A namespace has no dots, so that
        # the names differ, too, where a-b/c and a/b-c are both queues.
        queue = name if is_unique else f"{namespace}.{name}"
        objects += [_queue(queue, totals), api.LocalQueue(name, namespace=namespace, cluster_queue=queue)]
    gates = {gate for cluster in workers.values() for gate in cluster.configuration.feature_gates.items()}
    first = next(iter(workers.values())).configuration  # the workers usually have one release
    # The manager runs nothing itself; of the gates, only those of MultiKueue act on it. A gate that is on in any worker
    # is on in the manager, because True sorts after False.
    shared = {name: on for name, on in sorted(gates) if name.startswith("MultiKueue")}
    return Cluster(objects, configuration=api.Configuration(feature_gates=shared, version=first.version))


def _queue(name: str, totals: Mapping[str, int]) -> api.ClusterQueue:
    resources = tuple(
        api.ResourceQuota(resource, nominal_quota=Quantity.format(resource, amount))
        for resource, amount in totals.items()
    )
    group = api.ResourceGroup(tuple(totals), (api.FlavorQuotas(_FLAVOR, resources),))
    return api.ClusterQueue(
        name,
        # A group without resources would not be valid.
        resource_groups=(group,) if totals else (),
        namespace_selector=api.LabelSelector(),
        admission_checks_strategy=(api.AdmissionCheckStrategyRule(_CHECK),),
    )


_MOST_CLUSTERS = 20
_GATE = "MultiKueueOrchestratedPreemption"


@checked_methods
class Fleet:
    """A manager cluster and the worker clusters to which it dispatches workloads (MultiKueue); an immutable value.

    `simulate`, `compare`, `sweep`, `search` and `plan` accept a Fleet in place of a Cluster. `FleetScheduler` runs a
    fleet under manual control.

    >>> from kueuepy import Cluster, ClusterQueue, Fleet, ResourceFlavor
    >>> def worker(cpu):
    ...     return Cluster(ResourceFlavor("any"), ClusterQueue.of("team", {"any": {"cpu": cpu}}))
    >>> fleet = Fleet({"onprem": worker(8), "cloud": worker(64)}, dispatcher="Incremental")
    >>> fleet.clusters
    ('onprem', 'cloud')
    >>> fleet.manager.cluster_queues[0].resource_groups[0].flavors[0].resources[0].nominal_quota
    '72'

    Attributes:
        manager: The cluster to which users submit workloads.
        workers: The clusters that run jobs, by name.
        dispatcher: The dispatcher, which chooses the clusters for a workload.
        sync: For each worker, the time until the manager sees a change on this worker, in seconds.
        remarks: Likely mistakes, such as LocalQueues that are missing on a worker, where copies then wait indefinitely.
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
        """Validate and store the clusters.

        Args:
            workers: The worker clusters by name. The order of `workers` becomes the order of the clusters in the
                MultiKueueConfig, unless the manager contains one.
            manager: The manager cluster. The default manager has one ClusterQueue for each LocalQueue of a worker. Each
                of these ClusterQueues has a MultiKueue check and one flavor, whose quota is the sum of the workers'
                nominal quotas.
            dispatcher: An `AllAtOnce`, `Incremental` or `External` object, or the name of one of these classes. The
                default is the dispatcher in the manager's Configuration, or `AllAtOnce` if the Configuration does not
                name one.
            sync: The time until the manager sees a change on a worker, or a mapping of such times by worker. The
                default is 1 second, because Kueue batches events.
            limits: Whether to reject a MultiKueueConfig with more than 20 clusters, as the API server does; `True` by
                default.

        Raises:
            InvalidSpecError: A worker has a MultiKueue check, the manager has none, or another argument is invalid.
            NotFoundError: A MultiKueueConfig names a cluster that is not a worker.
            UnsupportedError: A MultiKueueConfig has more than 20 clusters, or a cluster contains workloads.
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

    @property
    def members(self) -> tuple[Cluster, ...]:
        """The manager and the workers, in order."""
        return (self.manager, *self.workers.values())

    def replace(self, **changes: Any) -> "Fleet":
        """Return a fleet with some arguments replaced.

        Args:
            changes: New values for `workers`, `manager`, `dispatcher`, `sync` or `limits`.

        Raises:
            InvalidSpecError: An argument is unknown or invalid.
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
        # The time of a worker that is gone would be refused.
        if "workers" in changes and "sync" not in changes:
            now["sync"] = {name: time for name, time in now["sync"].items() if name in changes["workers"]}
        return Fleet(**(now | changes))

    def edit_all(self, values: Mapping[str, Any]) -> "Fleet":
        """Return a fleet with new values in several fields.

        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> worker = Cluster(ResourceFlavor("any"), ClusterQueue.of("team", {"any": {"cpu": 4}}))
        >>> fleet = Fleet({"w1": worker, "w2": worker})
        >>> fleet = fleet.edit_all({"w*:ClusterQueue/team:quota[any/cpu].nominalQuota": 6, "fleet:step": 1})
        >>> fleet.dispatcher, fleet.manager.cluster_queues[0].resource_groups[0].flavors[0].resources[0].nominal_quota
        (Incremental(step=1, round='5m'), '12')

        Args:
            values: The values by path. A path is the name of a cluster (`manager`, a worker, or a pattern such as `*`
                that selects workers), a colon, and a path as `Cluster.edit` accepts it. The paths `fleet:dispatcher`,
                `fleet:step`, `fleet:round`, `fleet:sync` and `fleet:gated` change the fleet itself; `step` and `round`
                are settings of the dispatcher Incremental. If the fleet was created without a manager, its default
                manager is computed again from the changed workers.

        Raises:
            NotFoundError: A path does not match any cluster, object or field.
            InvalidSpecError: A path is malformed, or an object would not be valid.
        """
        of_clusters, settings = sorted_edits(values, self.workers)
        changes: dict[str, Any] = {name: settings[name] for name in ("dispatcher", "sync") if name in settings}
        if any(name != MANAGER for name in of_clusters):
            changes["workers"] = {name: one.edit_all(of_clusters.get(name, {})) for name, one in self.workers.items()}
        if MANAGER in of_clusters:
            changes["manager"] = self.manager.edit_all(of_clusters[MANAGER])
        made = self.replace(**changes) if changes else self
        rounds = {name: settings[name] for name in ("step", "round") if name in settings}
        if rounds:
            # A sweep may set the step of a fleet that has another dispatcher.
            before = made.dispatcher if isinstance(made.dispatcher, Incremental) else Incremental()
            made = made.replace(dispatcher=msgspec.structs.replace(before, **rounds))
        return made.gated(bool(settings["gated"])) if "gated" in settings else made

    def check_path(self, path: str) -> None:
        """Check that a path of `edit_all` exists, without validating values.

        Args:
            path: The path.

        Raises:
            NotFoundError: The path does not match anything.
            InvalidSpecError: The path is malformed.
        """
        names, rest = _target(path, tuple(self.workers))
        for name in names:
            check_path(self.manager if name == MANAGER else self.workers[name], rest, f"{name}: ")

    def gated(self, on: bool = True) -> "Fleet":  # noqa: FBT001, FBT002 - reads well in either form
        """Return a fleet with orchestrated preemption (feature gate MultiKueueOrchestratedPreemption).

        With orchestrated preemption, only one worker at a time may preempt for a workload (KEP-8303).

        Args:
            on: Whether to enable the feature gate; `True` by default.
        """
        workers = {name: _with_gate(cluster, on) for name, cluster in self.workers.items()}
        return self.replace(workers=workers, manager=_with_gate(self.manager, on))

    def options(self) -> dict[str, Any]:
        """Return the options of the dispatcher for the core."""
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
        """Return the clusters of each MultiKueue check, as indices of workers."""
        number = {name: index for index, name in enumerate(self.workers)}
        return [(check, [number[name] for name in names]) for check, names in self.checks.items()]

    def _remarks(self) -> list[str]:
        return [
            f"{name}: has no LocalQueue {key}; copies of its workloads wait there without end"
            for name, cluster in self.workers.items()
            for key in dispatched_keys(self.manager, self.checks)
            if key not in {queue.key for queue in cluster.local_queues}
        ]

    def __eq__(self, other: object) -> bool:
        """Return whether both fleets have equal clusters and settings."""
        if not isinstance(other, Fleet):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        """Return a hash; equal fleets have equal hashes."""
        return hash((self.clusters, tuple(self.sync.values())))

    def _parts(self) -> tuple[Any, ...]:
        return (list(self.workers.items()), self.manager, self.dispatcher, self.sync, self.limits)

    def __repr__(self) -> str:
        """Return the dispatcher and the names of the clusters."""
        names = first_of(self.clusters, _SHOWN)
        return f"<Fleet: {self.dispatcher!r}; manager and {counted(len(self.workers), 'worker')}: {names}>"

    def sheets(self) -> tuple[Sheet, ...]:
        """Return one row per cluster, and the remarks, as tables for display."""
        rows = [_row("manager", self.manager), *(_row(name, cluster) for name, cluster in self.workers.items())]
        sheet = Sheet(("cluster", "ClusterQueues", "nominal quota"), rows, repr(self.dispatcher))
        return (sheet, *listed("remark", self.remarks))

    _repr_html_ = repr_html


_SHOWN = 5


def _cluster(where: str, given: object) -> Cluster:
    if not isinstance(given, Cluster):
        raise InvalidSpecError(f"Fleet: {where}: is {given!r:.99}; it must be a Cluster")
    if given.workloads or given.jobs:
        raise UnsupportedError(f"Fleet: {where}: has workloads; a fleet starts without any, give them as jobs")
    return given


def _workers(given: Mapping[str, Cluster]) -> dict[str, Cluster]:
    if not isinstance(given, Mapping) or not given:
        raise InvalidSpecError(
            f"Fleet: workers: is {given!r:.99}; it must be a mapping of names to Clusters, not empty"
        )
    found = {}
    for name, cluster in given.items():
        # Paths, events and tables use this name for the manager itself.
        if not isinstance(name, str) or not name or name == "manager":
            raise InvalidSpecError(f'Fleet: workers: {name!r:.99}: it must be the name of a cluster, and not "manager"')
        found[name] = _cluster(f"worker {name}", cluster)
        for check in cluster.admission_checks:
            if check.controller_name == CONTROLLER:
                raise InvalidSpecError(
                    f"Fleet: worker {name}: AdmissionCheck {check.name}: is a MultiKueue check; a worker must not "
                    "dispatch itself"
                )
    return found


def _sync(given: Any, workers: tuple[str, ...]) -> dict[str, Seconds]:
    """Return the time until the manager sees a change, by worker, in nanoseconds."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(workers, Seconds.of(duration_ns(given)))
    for name in given:
        expect_known("Fleet: sync", name, workers, "is not a worker")
    return {name: Seconds.of(duration_ns(given.get(name, "1s"))) for name in workers}


def _checks(manager: Cluster, workers: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the clusters of each MultiKueue check of the manager, in the order of its MultiKueueConfig."""
    if not manager.configuration.enabled("MultiKueue"):
        raise UnsupportedError(
            "Fleet: manager: Configuration: featureGates.MultiKueue: is false; Kueue then dispatches no workload"
        )
    configs = {name: tuple(spec.get("clusters") or ()) for name, spec in configs_of(manager).items()}
    for config, names in configs.items():
        for name in names:
            expect_known(f'MultiKueueConfig "{config}": clusters', name, workers, "is not a worker")
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


def dispatched_keys(manager: Cluster, checks: Iterable[str]) -> list[str]:
    """Return the keys of the manager's LocalQueues whose ClusterQueue has one of the MultiKueue checks."""
    queues = {q.name for q in manager.cluster_queues if any(r.name in checks for r in q.admission_checks_strategy)}
    return [local.key for local in manager.local_queues if local.cluster_queue in queues]


def _with_gate(cluster: Cluster, on: bool) -> Cluster:  # noqa: FBT001 - a value
    configuration = cluster.configuration
    gates = {**configuration.feature_gates, _GATE: on}
    return cluster.replace(configuration=msgspec.structs.replace(configuration, feature_gates=gates))


def _row(name: str, cluster: Cluster) -> tuple[str, str, str]:
    totals = Counter[str]()
    for flavor, quota in quotas_of(*cluster.cluster_queues):
        totals[f"{flavor}/{quota.name}"] += Quantity(quota.nominal_quota).quota(quota.name)
    shown = ", ".join(f"{pair} {Quantity.format(pair.rpartition('/')[2], n)}" for pair, n in totals.items())
    return name, str(len(cluster.cluster_queues)), shown


__all__ = ["AllAtOnce", "Fleet", "Incremental"]
