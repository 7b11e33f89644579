"""Joined tables of the clusters of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors.arguments import checked_methods
from kueuepy.objects import SECOND
from kueuepy.simulation.gather import run_columns, weights_of
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.load import trees_of
from kueuepy.tables import Categorical
from kueuepy.tables.columns import columns_of, concatenated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kueuepy.simulation.fleets import FleetPrepared
    from kueuepy.tables import Columns

_STATES = ("ToCome", "Waiting", "Running", "Finished", "Deactivated")
_WAITING, _RUNNING, _FINISHED = 1, 2, 3


@checked_methods
class FleetTables:
    """The tables of all clusters, joined; ClusterQueues of workers are named `worker/queue`."""

    def __init__(self, run: FleetPrepared, sites: Sequence[Any]) -> None:
        """Store the simulation of the fleet and the simulations of its clusters."""
        self._run, self._sites = run, sites

    def _name(self, site: int) -> Callable[[str], str]:
        """Return a function that prepends the name of a worker to a given name."""
        return str if site == 0 else lambda name: f"{self._run.names[site]}/{name}"

    def joined(self, table: str, named: tuple[str, ...], *, manager: bool = False) -> dict[str, Any]:
        """Return a table of all clusters in chronological order, with a column `cluster`.

        Args:
            table: The name of the table.
            named: The columns whose values get the name of the worker as a prefix.
            manager: Whether to include the manager.
        """
        parts = []
        for site, core in enumerate(self._sites):
            if site == 0 and not manager:
                continue
            columns = columns_of(getattr(core, table)())
            for name in named:
                columns[name] = _renamed(columns[name], self._name(site))
            parts.append((site, columns))
        return _ordered(_concat(parts, self._run.names))

    def runs(self) -> dict[str, Any]:
        """Return the runs on workers, and the manager's runs of jobs that are not dispatched."""
        parts, offset = [], 0
        for site, core in enumerate(self._sites):
            columns = run_columns(columns_of(core.runs()))
            columns["assignment"] = np.where(columns["assignment"] >= 0, columns["assignment"] + offset, -1)
            offset += len(core.assigned())
            if site == 0:
                local = ~np.isnan(columns["start"])
                columns = {name: column[local] for name, column in columns.items()}
            parts.append((site, columns))
        found = _concat(parts, self._run.names)
        order = np.argsort(np.nan_to_num(found["end"], nan=np.inf), kind="stable")
        return {name: column[order] for name, column in found.items()}

    def jobs(self, fates: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outcome of each job; the outcome of a dispatched job combines the outcomes of its copies."""
        found: dict[str, Any] = {}
        for site, core in enumerate(self._sites):
            columns = columns_of(core.jobs())
            columns["cluster_queue"] = _renamed(columns["cluster_queue"], self._name(site))
            mask = self._run.clusters == site
            for name, column in columns.items():
                found[name] = column if name not in found else _chosen(mask, column, found[name])
        return self._with_fates(found, fates)

    def _with_fates(self, found: dict[str, Any], fates: Mapping[str, Any]) -> dict[str, Any]:
        dispatched = fates["copies"] > 0
        state = np.array(found["state"].codes)
        held_back = dispatched & (state == _RUNNING) & (fates["runs_now"] == 0)
        state[held_back] = np.where(np.isnan(fates["end"][held_back]), _WAITING, _FINISHED)
        state[self._is_dispatched() & ~dispatched & (state == _RUNNING)] = _WAITING
        found["state"] = Categorical(state.astype(np.int32), list(_STATES))
        for name in ("lost", "overhead"):
            found[name] = np.where(self._is_dispatched(), fates[name], found[name])
        for name in ("first_start", "held"):
            found[name] = np.where(self._is_dispatched(), _nanoseconds(fates[name]), found[name])
        end = _nanoseconds(fates["end"])
        found["end"] = np.where(self._is_dispatched() & (end >= 0), end, found["end"])
        found["runs"] = np.where(self._is_dispatched(), fates["starts"], found["runs"]).astype(np.int32)
        return found

    def _is_dispatched(self) -> Any:
        """Return a mask of the jobs that the manager dispatches: the jobs whose ClusterQueue has a MultiKueue check."""
        fleet, queue = self._run.fleet, self._run.jobs["queue"]
        checks = set(fleet.checks)
        queues = {
            q.name
            for q in fleet.manager.cluster_queues
            if any(rule.name in checks for rule in q.admission_checks_strategy)
        }
        keys = {local.key for local in fleet.manager.local_queues if local.cluster_queue in queues}
        codes = [code for code, name in enumerate(queue.names) if name in keys]
        return np.isin(queue.codes, codes) & (self._run.clusters == 0)

    def totals(self, jobs: Columns) -> dict[str, Any]:
        """Return the time integrals of all workers; ClusterQueues of the manager contribute only waits."""
        views: list[dict[str, Any]] = [dict(core.figures()) for core in self._sites]
        queues: dict[str, Any] = {}
        trees, evictions = [], []
        for site, view in enumerate(views):
            name = self._name(site)
            for queue, figures in view["queues"].items():
                queues[name(queue)] = (
                    figures if site else {**figures, "cells": {}, "blocked": 0.0, "somebody_waits": 0.0}
                )
            if site:
                trees += [tree._replace(tree=name(tree.tree)) for tree in view["trees"]]
            evictions += [
                made._replace(victim=name(made.victim), preemptor=made.preemptor and name(made.preemptor))
                for made in view["evictions"]
            ]
        of_workers = views[1:]
        submitted = [view["submitted"] for view in of_workers]
        return {
            "queues": queues,
            "trees": trees,
            "evictions": evictions,
            **{name: sums(item for view in of_workers for item in view[name].items()) for name in _SUMS},
            "submitted": {
                "until": views[0]["submitted"]["until"],
                **{name: sums(item for one in submitted for item in one[name].items()) for name in ("used", "nominal")},
            },
            "waits": float(jobs["waited"][np.asarray(jobs["counted"])].sum()) * SECOND,
            "most_waiting": views[0]["most_waiting"],
            "borrowing": max((view["borrowing"] for view in of_workers), default=0.0),
            "assigned": [given for core in self._sites for given in core.assigned()],
            "copied": [[_amounts(given) for given in core.assigned()] for core in self._sites[1:]],
        }

    def weights(self) -> dict[str, float]:
        """Return the fair sharing weight of each ClusterQueue."""
        return {
            self._name(site)(queue): weight
            for site, cluster in enumerate(self._clusters())
            for queue, weight in weights_of(cluster).items()
        }

    def trees(self) -> dict[str, str]:
        """Return the root of the cohort tree of each ClusterQueue."""
        found: dict[str, str] = {}
        for site, cluster in enumerate(self._clusters()):
            name = self._name(site)
            found |= {name(queue): name(root) for queue, root in trees_of(cluster).items()}
        return found

    def _clusters(self) -> list[Any]:
        return [self._run.fleet.manager, *self._run.fleet.workers.values()]


_SUMS = ("nominal", "lost", "overhead")


def _nanoseconds(seconds: Any) -> Any:
    """Return times in whole nanoseconds; -1 for NaN."""
    absent = np.isnan(seconds)
    return np.where(absent, -1, np.rint(np.where(absent, 0, seconds) * SECOND)).astype(np.int64)


def _amounts(given: Iterable[tuple[str, str, str, int]]) -> dict[str, float]:
    return sums((f"{flavor}/{resource}", amount) for _, resource, flavor, amount in given)


def _renamed(column: Categorical, name: Callable[[str], str]) -> Categorical:
    return Categorical(column.codes, [name(str(one)) for one in column.names])


def _chosen(mask: Any, column: Any, other: Any) -> Any:
    """Return the values of one column where a mask is true, and the values of a second column where it is false."""
    if not isinstance(column, Categorical):
        return np.where(mask, column, other)
    both = concatenated([other, column])
    return Categorical(np.where(mask, both.codes[len(other) :], both.codes[: len(other)]), both.names)


def _concat(parts: Sequence[tuple[int, dict[str, Any]]], names: Sequence[str]) -> dict[str, Any]:
    """Concatenate tables, and add a column with the name of the cluster."""
    found: dict[str, Any] = {}
    for name in parts[0][1]:
        columns = [columns[name] for _, columns in parts]
        found[name] = concatenated(columns) if isinstance(columns[0], Categorical) else np.concatenate(columns)
    sizes = [len(next(iter(columns.values()))) for _, columns in parts]
    codes_of = np.repeat(np.array([site for site, _ in parts], np.int32), sizes)
    found["cluster"] = Categorical(codes_of, list(names))
    return found


def _ordered(columns: dict[str, Any]) -> dict[str, Any]:
    order = np.argsort(columns["seconds"], kind="stable")
    return {name: column[order] for name, column in columns.items()}
