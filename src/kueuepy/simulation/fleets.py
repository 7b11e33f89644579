"""Simulations of a fleet: a manager and its workers in virtual time."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from kueuepy._core import FleetRun, VirtualRun
from kueuepy.cluster.planned import Planned
from kueuepy.errors import NotFoundError, UnsupportedError, checked_methods, expect_known
from kueuepy.fleet import Connect, Disconnect, External, Fleet, FleetScheduler
from kueuepy.fleet.dispatchers import On, chosen_names
from kueuepy.fleet.value import automated
from kueuepy.objects import SECOND, ResourceFlavor, Workload
from kueuepy.scheduler import Scheduler, scheduler_with
from kueuepy.session.session import session_of
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.columns import keys_of
from kueuepy.simulation.model import Clock, RunModel
from kueuepy.simulation.prepare import Prepared
from kueuepy.simulation.shapes import shapes_of
from kueuepy.tables.columns import as_names

MANAGER = "manager"


@checked_methods
class FleetPrepared(Prepared):
    """A simulation of a fleet and its current state.

    A column `cluster` of the jobs contains the name of the worker to which a job is submitted directly. The settings
    `model`, `clock` and `delays` may be dicts keyed by the name of the cluster.

    Attributes:
        fleet: The clusters and the dispatcher.
        names: The names of the clusters: the manager, then the workers.
        clusters: For each row, the index of the cluster to which the job is submitted.
    """

    def _open(self, cluster: Fleet, base: Scheduler | None) -> list[Scheduler]:  # noqa: ARG002 - as Prepared has it
        """Store the initial objects, and return the initial Scheduler of each cluster."""
        self.fleet, self.declared = cluster, cluster.manager
        self.names = (MANAGER, *cluster.clusters)
        return list(map(Scheduler, (cluster.manager, *cluster.workers.values())))

    def _with_known(self, table: JobColumns) -> JobColumns:
        """Store the clusters of the jobs; the workloads of the clusters are not simulated."""
        self.clusters = self._clusters_of(table)
        return table

    def _clusters_of(self, table: JobColumns) -> Any:
        """Return the index of the cluster to which each job is submitted; 0 (the manager) if the job names no cluster.

        Raises:
            NotFoundError: A job names a cluster that does not exist.
        """
        if "cluster" not in table.names:
            return super()._clusters_of(table)
        values = as_names(table["cluster"])
        # The last entry is for the code -1, a missing value.
        numbers = np.zeros(len(values.names) + 1, np.int32)
        for code, name in enumerate(values.names):
            # The texts of a missing value, if the column was made from numbers or objects.
            if name in ("", "nan", "None"):
                continue
            expect_known("jobs: cluster", str(name), self.names, "is not a cluster")
            numbers[code] = self.names.index(name)
        return numbers[values.codes]

    def _text_of_queue(self, name: str, cluster: int) -> str:
        return f"{name} in {self.names[cluster]}"

    def _shapes_of(self, table: JobColumns) -> tuple[list[Workload], Any]:
        flavors = {
            flavor.name: flavor
            for base in self.bases
            for flavor in session_of(base).state.store.objects.of(ResourceFlavor)
        }
        return shapes_of(table, list(flavors.values()), dict(self.base.configuration.feature_gates or {}))

    def _read_options(self) -> dict[str, Any]:
        settings, common = self.settings, self._common_options()
        common["start"] = self.zero
        self._declared = [self.fleet.manager, *self.fleet.workers.values()]
        changes, self.connections = self._events(self._last())
        self.sites = []
        for number, name in enumerate(self.names):
            model, clock = _of(settings.model, name, RunModel()), _of(settings.clock, name, Clock())
            delays = _of(settings.delays, name, ())
            cluster = self._declared[number]
            found = self._delays(delays, cluster, cluster.manifest.others)
            self.sites.append(
                common
                | model.options()
                | clock.options()
                | found
                | {"site": number, "changes": [change[1:] for change in changes if change[0] == number]}
            )
        return common | {"changes": []}

    def _events(self, last: int) -> tuple[list[tuple[int, Any, Any, Any, Any]], list[tuple[int, int, bool]]]:
        """Return the planned changes to each cluster and to the connections to workers, in chronological order."""
        clusters, lost = [Planned(cluster) for cluster in self._declared], frozenset[str]()
        changes: list[tuple[int, Any, Any, Any, Any]] = []
        connections = []
        for at, thing in self._in_order(last):
            if isinstance(thing, Connect | Disconnect):
                connections.append((self.zero + at, self._number(thing.cluster) - 1, isinstance(thing, Connect)))
                lost = lost - {thing.cluster} if isinstance(thing, Connect) else lost | {thing.cluster}
                reached = {name: worker for name, worker in self.fleet.workers.items() if name not in lost}
                # The manager of a fleet with automated quotas has the sum of the connected workers.
                quotas, _ = automated(clusters[0].cluster, reached)
                then = self.zero + at + self.fleet.sync[thing.cluster].value
                changes += [(0, then, "apply", queue, 0) for queue in quotas]
                continue
            site, what = (self._number(thing.cluster), thing.what) if isinstance(thing, On) else (0, thing)
            for name, value, number in self._steps(what, clusters[site]):
                own = int(self.clusters[self._order[value]]) if isinstance(value, int) else site
                changes.append((own, self.zero + at, name, value, number))
        # The sync delay of a worker can move a change behind later ones.
        return sorted(changes, key=lambda change: change[1]), connections

    def _number(self, name: str) -> int:
        expect_known("events", name, self.names, "is not a cluster")
        return self.names.index(name)

    def _start(self) -> FleetRun:
        """Return the simulation of all clusters in the core."""
        runs = self._runs({"cluster": np.asarray(self.clusters, np.int32)}, self.sites)
        dispatcher = self.fleet.dispatcher
        chooses = isinstance(dispatcher, External) and dispatcher.choose is not None
        options = {
            **self.fleet.options(),
            "checks": self.fleet.numbered_checks(),
            "names": list(self.fleet.clusters),
            "sync": [time.value for time in self.fleet.sync.values()],
            "until": self.options["until"],
            "connections": self.connections,
            "external": self._choose if chooses else None,
        }
        return FleetRun(runs, options)

    def _choose(self, row: int, clusters: list[int], now: int) -> list[int] | None:
        """Call the user's function to choose the clusters of a job.

        The function can access the Schedulers of the clusters.
        """
        assert isinstance(self.fleet.dispatcher, External)
        assert self.fleet.dispatcher.choose is not None
        names = {self.fleet.clusters[number]: number for number in clusters}
        workload, seconds = self.workload_of(row), (now - self.zero) / SECOND
        chosen = chosen_names(self.asking.call(self.fleet.dispatcher.choose, workload, _Clusters(self, names), seconds))
        if chosen is None:
            return None
        for name in chosen:
            if name not in names:
                raise NotFoundError(f'dispatcher: chose {chosen!r:.99}; "{name}" is not one of {", ".join(names)}')
        return [names[name] for name in chosen]

    @property
    def states(self) -> Any:
        """The state of each job, in row order: 0 not yet submitted, 1 waiting, 2 running, 3 finished, 4 deactivated."""
        found = np.zeros(len(self.jobs), np.int32)
        for number, site in enumerate(self.tables()):
            mask = self.clusters == number
            # Each core has all rows; only those submitted to its cluster count.
            found[mask] = site.jobs()["state"][0][mask]
        return found

    def tables(self) -> list[VirtualRun]:
        """Return the simulations of the clusters, for access to their tables."""
        return [VirtualRun.of(site) for site in self.core.sites]

    def apply(self, thing: Any) -> None:
        """Reject a change: changes to a fleet must be events of the simulation.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            f"Simulation of a fleet: apply {type(thing).__name__}: the clusters of a fleet cannot be changed while it "
            "runs; give the change as an event, such as events=[Event(time, On(cluster, change))]"
        )

    def submit(self, given: Any) -> None:  # noqa: ARG002 - as Prepared has it
        """Reject new jobs: all jobs of a fleet must be submitted at the start.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            "Simulation of a fleet: submit: jobs cannot be added while it runs; give all jobs at the start, or use a "
            "FleetScheduler"
        )

    def scheduler(self) -> FleetScheduler:  # type: ignore[override]
        """Return the fleet at the current time as a FleetScheduler; changes to it do not affect the simulation."""
        step = FleetScheduler(self.fleet)
        step.manager, *workers = map(self.scheduler_of, range(len(self.names)))
        step.workers.update(zip(self.fleet.clusters, workers, strict=True))
        # The fleet must see the state of its new Schedulers.
        step.restart()
        return step

    def scheduler_of(self, number: int) -> Scheduler:
        """Return the Scheduler of a cluster at the current time.

        Args:
            number: The index of the cluster; 0 is the manager.
        """
        state = self._state_of(self.bases[number], self.core.fork(number))
        rows = {key: row for row, key in enumerate(keys_of(self.jobs))}
        for key in map(state.engine.key, state.engine.ids()):
            if key in rows:
                state.store.workloads.put(key, self.workload_of(rows[key]))
        return scheduler_with(Scheduler, state)


class _Clusters(Mapping[str, Scheduler]):
    """The Schedulers of clusters by name, created on first access."""

    def __init__(self, run: FleetPrepared, names: Mapping[str, int]) -> None:
        self._numbers, self._scheduler_of = names, cache(run.scheduler_of)

    def __getitem__(self, name: str) -> Scheduler:
        return self._scheduler_of(self._numbers[name] + 1)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def _of(given: Any, cluster: str, default: Any) -> Any:
    """Return the setting for one cluster, given a value for all clusters or a dict by cluster name."""
    return given.get(cluster, default) if isinstance(given, dict) else given
