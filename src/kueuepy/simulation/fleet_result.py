"""What came of a run of a fleet: the tables of all clusters as one, copies, and figures of dispatching."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy._core import Quantity
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects import SECOND
from kueuepy.simulation.figures import Kpis, hours, kpis_of, unit
from kueuepy.simulation.gather import columns_of, job_columns, run_columns
from kueuepy.simulation.load import trees_of
from kueuepy.simulation.recorded import (
    BlockedTable,
    ConsumedTable,
    CyclesTable,
    DecisionsTable,
    IdleTable,
    JobTable,
    PreemptionLoop,
    RunsTable,
    UsageTable,
)
from kueuepy.simulation.result import Result
from kueuepy.simulation.series import sampled
from kueuepy.simulation.sums import sums
from kueuepy.simulation.warn import warnings_of
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import is_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kueuepy.fleet import FleetScheduler
    from kueuepy.simulation.fleets import FleetPrepared

_OUTCOMES = ("Won", "Lost", "Evicted", "Withdrawn", "Present")
_STATES = ("ToCome", "Waiting", "Running", "Finished", "Deactivated")
_WAITING, _RUNNING, _FINISHED = 1, 2, 3
_LOOP_PERIOD = 0


class CopiesTable(Columns):
    """A row a copy, in the order in which they were removed; those that exist at the end come last.

    `job` is the row of the job. `made`, `reserved`, `admitted` (first times) and `removed` are seconds after the first
    submission. `outcome` is Won (a job ran there), Lost (another copy was admitted first), Evicted (on its worker),
    Withdrawn (the workload lost its quota on the manager) or Present. `preempted` is the number of workloads that the
    copy evicted, `preempted_lost` the seconds of progress that they lost, `held` the seconds for which it held quota.
    """


class FleetKpis(Kpis, frozen=True, kw_only=True):
    """The figures of a run of a fleet. Figures of usage and quota are sums over the workers.

    `waited` counts from submission until a job runs on a worker. Waiting and idle time are those on workers.

    Attributes:
        copies: Number of copies that were created on workers.
        copies_per_start: Copies for each start of a job.
        wasted_reservation_hours: Quota held on workers by copies that never ran, by flavor and resource, in hours.
        unneeded_preemptions: Number of evictions by copies that never ran.
        unneeded_lost_hours: Progress that the victims of these evictions lost, in hours of running time.
        dispatch_wait: Mean time from the reservation on the manager to the start on a worker, in seconds.
        manager_idle: Quota of the manager held by workloads that run nowhere, by resource, in hours.
        retries: Number of evictions by the MultiKueue check.
        won: By worker, its fraction of all starts.
    """

    copies: int = 0
    copies_per_start: float | None = None
    wasted_reservation_hours: dict[str, float] = msgspec.field(default_factory=dict)
    unneeded_preemptions: int = 0
    unneeded_lost_hours: float = 0.0
    dispatch_wait: float | None = None
    manager_idle: dict[str, float] = msgspec.field(default_factory=dict)
    retries: int = 0
    won: dict[str, float] = msgspec.field(default_factory=dict)


@checked_methods
class FleetResult(Result):
    """What came of a run of a fleet; a value.

    Tables of decisions, runs, usage and cycles have a column `cluster`; ClusterQueues of a worker are named
    `worker/queue`. The table of usage has the workers' quota only: that of the manager is an image of it.

    Attributes:
        copies: A row a copy.
        clusters: The names of the workers.
        manager_usage: Usage of the manager's quota.
        remarks: Namespaces and LocalQueues that workers lack.
    """

    copies: CopiesTable
    clusters: tuple[str, ...]
    manager_usage: UsageTable
    remarks: tuple[str, ...] = ()

    @cached_property
    def kpis(self) -> FleetKpis:
        """The figures of the whole run, from the warm-up on."""
        return fleet_kpis(self, kpis_of(self))

    def figures(self, *args: Any, **options: Any) -> Kpis:
        """The figures of a window, or of some jobs; see `Result.figures`. Those of dispatching are of the whole run."""
        return super().figures(*args, **options)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What to know before one trusts a figure, and LocalQueues that workers lack."""
        return (*self.remarks, *warnings_of(self, self.kpis))

    @property
    def scheduler(self) -> FleetScheduler:  # type: ignore[override]
        """The fleet at the end of the run, as a FleetScheduler."""
        run: Any = self._given()
        return run.fleet_scheduler()  # type: ignore[no-any-return]

    def shares_and_usage(self) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
        """The weighted share and the usage by cell of each ClusterQueue of the workers at the end of the run."""
        step = self.scheduler
        shares: dict[str, float] = {}
        usage: dict[str, dict[str, int]] = {}
        for name, worker in step.workers.items():
            shares |= {f"{name}/{queue}": share for queue, share in worker.engine.shares().items()}
            usage |= {f"{name}/{queue}": cells for queue, cells in worker.engine.usage().items()}
        return shares, usage

    def at(self, when: Any) -> FleetScheduler:  # type: ignore[override]
        """The fleet at a moment of the run, as a FleetScheduler: the run is repeated until then.

        Args:
            when: After the first submission, as `2d`, `2d 14:00` or seconds.
        """
        run: Any = self._given().until(when)
        return run.fleet_scheduler()  # type: ignore[no-any-return]

    @cached_property
    def waiting(self) -> tuple[Any, ...]:
        """The ten jobs that have waited for longest at the end, and why."""
        from kueuepy.simulation.waiting import Waiter, longest_waiting  # noqa: PLC0415 - only on use

        rows, jobs = longest_waiting(self, 10), self.jobs
        if not rows or self._run is None:
            return ()
        step = self.scheduler
        found = []
        for row in rows:
            key = f"{str(jobs['queue'][row]).partition('/')[0]}/{self.name_of(row)}"
            try:
                told = step.explain(key) if not str(jobs["submitted_to"][row] or "") else ""
            except KeyError:
                told = ""
            queue, reason = jobs["cluster_queue"][row] or "", jobs["reason"][row] or ""
            found.append(Waiter(self.name_of(row), queue, float(jobs["waited"][row]), reason, told))
        return tuple(found)


def fleet_kpis(result: FleetResult, kpis: Kpis) -> FleetKpis:
    """The figures with those of dispatching."""
    copies, jobs = result.copies, result.jobs
    never = ~is_named(copies["outcome"], "Won") & np.isnan(copies["started"])
    wasted: dict[str, float] = {}
    for code, site in enumerate(result.totals["copied"]):
        mask = never & (copies["cluster"].codes == code)
        held = np.bincount(copies["assigned"][mask] + 1, weights=copies["held"][mask], minlength=len(site) + 1)[1:]
        for place, amounts in enumerate(site):
            for cell, amount in amounts.items():
                if place < len(held) and held[place]:
                    wasted[cell] = wasted.get(cell, 0.0) + amount * float(held[place]) * SECOND
    starts = int(jobs["starts"].sum())
    wins = np.bincount(copies["cluster"].codes[is_named(copies["outcome"], "Won")], minlength=len(result.clusters))
    resources = [name for name in jobs.names if "/" in name or name in ("cpu", "memory")]
    idle = {
        name: float((jobs[name] * jobs["pods"] * jobs["manager_idle"]).sum()) / unit(f"/{name}") / 3600
        for name in resources
    }
    found = FleetKpis(
        **{name: getattr(kpis, name) for name in Kpis.__struct_fields__},
        copies=len(copies),
        copies_per_start=len(copies) / starts if starts else None,
        wasted_reservation_hours=hours(wasted),
        unneeded_preemptions=int(copies["preempted"][never].sum()),
        unneeded_lost_hours=float(copies["preempted_lost"][never].sum()) / 3600,
        dispatch_wait=result.totals["dispatch_wait"] / SECOND / starts if starts else None,
        manager_idle={name: value for name, value in idle.items() if value},
        retries=int(jobs["retries"].sum()),
        won={name: float(n) / max(1, int(wins.sum())) for name, n in zip(result.clusters, wins, strict=True)},
    )
    found.__dict__["run"] = result
    return found


def fleet_result_of(run: FleetPrepared) -> FleetResult:
    """What came of a run of a fleet until now; it ends here."""
    core = run.core
    core.close()
    stats, sites = core.stats, run.tables()
    start, now = stats["start"], max(0, stats["now"] - stats["start"]) / SECOND
    until = run.options["until"]
    seconds = max(now, (until - start) / SECOND) if until < 2**62 else now
    step = run.settings.record.step() / SECOND
    gathered = _Gathered(run, sites)
    fates = core.fates()
    jobs = gathered.jobs(fates)
    table = job_columns(run.jobs, jobs, start, (now, seconds), run.options["warmup"] / SECOND)
    table |= _dispatch_columns(run, fates, table.pop("cluster", None))
    usage = UsageTable(gathered.joined("usage", ("cluster_queue",)))
    tables = {
        "jobs": JobTable(table),
        "runs": RunsTable(gathered.runs()),
        "decisions": DecisionsTable(gathered.joined("decisions", ("cluster_queue",), manager=True)),
        "usage": UsageTable(sampled(usage, step, seconds)) if step else usage,
        "consumed": ConsumedTable(gathered.joined("consumed", ("local_queue",), manager=True)),
        "cycles": CyclesTable(gathered.joined("cycles", (), manager=True)),
        "idle": IdleTable(gathered.joined("idle", ("tree",))),
        "blocked": BlockedTable(gathered.joined("blocked", ("cluster_queue",))),
    }
    totals = gathered.totals(tables["jobs"]) | {"dispatch_wait": stats["dispatch_wait"]}
    facts = {
        "notes": run.notes,
        "seconds": seconds,
        "warmup": run.options["warmup"] / SECOND,
        "settings": run.settings,
        "stats": {name: stats[name] for name in ("workloads", "cycles", "admissions", "evictions", "finished")},
        "weights": gathered.weights(),
        "trees": gathered.trees(),
    }
    result = FleetResult(tables, totals, _loops(run, sites), facts, run)
    result.clusters, result.remarks = run.fleet.clusters, run.fleet.remarks
    result.copies = _copies(run)
    result.manager_usage = UsageTable(columns_of(sites[0].usage()))
    return result


class _Gathered:
    """The tables of all clusters under one set of names."""

    def __init__(self, run: FleetPrepared, sites: Sequence[Any]) -> None:
        self._run, self._sites = run, sites

    def _name(self, site: int) -> Callable[[str], str]:
        """How names of a cluster are shown: those of a worker after its own."""
        return str if site == 0 else lambda name: f"{self._run.names[site]}/{name}"

    def joined(self, table: str, named: tuple[str, ...], *, manager: bool = False) -> dict[str, Any]:
        """A table of all clusters in the order of time, with a column `cluster`."""
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
        """The runs on workers; what the manager reserves is no run."""
        parts, offset = [], 0
        for site, core in enumerate(self._sites):
            columns = run_columns(columns_of(core.runs()))
            columns["assignment"] = np.where(columns["assignment"] >= 0, columns["assignment"] + offset, -1)
            offset += len(core.assigned())
            if site == 0:
                local = ~np.isnan(columns["start"])
                columns = {name: _where(column, local) for name, column in columns.items()}
            parts.append((site, columns))
        found = _concat(parts, self._run.names)
        order = np.argsort(np.nan_to_num(found["end"], nan=np.inf), kind="stable")
        return {name: _where(column, order) for name, column in found.items()}

    def jobs(self, fates: Mapping[str, Any]) -> dict[str, Any]:
        """What became of each job: of one that the manager dispatches, over all its copies."""
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
        for name in ("first_start", "held", "lost", "overhead"):
            found[name] = np.where(self._is_dispatched(), fates[name], found[name])
        end = np.where(np.isnan(fates["end"]) & ~np.isnan(found["end"]), found["end"], fates["end"])
        found["end"] = np.where(self._is_dispatched(), end, found["end"])
        found["runs"] = np.where(self._is_dispatched(), fates["starts"], found["runs"]).astype(np.int32)
        return found

    def _is_dispatched(self) -> Any:
        """By row, whether the manager dispatches the job: its ClusterQueue has a MultiKueue check."""
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
        """The integrals of all workers; queues of the manager have waits only."""
        views = [core.figures() for core in self._sites]
        queues: dict[str, Any] = {}
        trees, evictions = [], []
        for site, view in enumerate(views):
            name = self._name(site)
            for queue, figures in view["queues"].items():
                queues[name(queue)] = (
                    figures if site else {**figures, "cells": {}, "blocked": 0.0, "somebody_waits": 0.0}
                )
            if site:
                trees += [(name(tree), cell, idle, lent) for tree, cell, idle, lent in view["trees"]]
            evictions += [
                (name(victim), name(by) if by else by, rule, count, lost)
                for victim, by, rule, count, lost in view["evictions"]
            ]
        of_workers = views[1:]
        return {
            "queues": queues,
            "trees": trees,
            "evictions": evictions,
            **{name: sums(item for view in of_workers for item in view[name].items()) for name in _SUMS},
            "waits": float(jobs["waited"][np.asarray(jobs["counted"])].sum()) * SECOND,
            "most_waiting": views[0]["most_waiting"],
            "borrowing": max((view["borrowing"] for view in of_workers), default=0.0),
            "assigned": [given for core in self._sites for given in core.assigned()],
            "copied": [[_amounts(given) for given in core.assigned()] for core in self._sites[1:]],
        }

    def weights(self) -> dict[str, float]:
        """By ClusterQueue, its fair sharing weight."""
        return {
            self._name(site)(q.name): 1.0 if q.fair_sharing is None else float(Quantity(q.fair_sharing.weight))
            for site, cluster in enumerate(self._clusters())
            for q in cluster.cluster_queues
        }

    def trees(self) -> dict[str, str]:
        """By ClusterQueue, the root of its tree of Cohorts."""
        found: dict[str, str] = {}
        for site, cluster in enumerate(self._clusters()):
            name = self._name(site)
            found |= {name(queue): name(root) for queue, root in trees_of(cluster).items()}
        return found

    def _clusters(self) -> list[Any]:
        return [self._run.fleet.manager, *self._run.fleet.workers.values()]


_SUMS = ("nominal", "lost", "overhead")


def _amounts(given: Iterable[tuple[str, str, str, int]]) -> dict[str, float]:
    return sums((f"{flavor}/{resource}", amount) for _, resource, flavor, amount in given)


def _dispatch_columns(run: FleetPrepared, fates: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """The columns of jobs that a fleet adds."""
    names, own = run.names, run.clusters
    cluster = np.where(own > 0, own, fates["cluster"] + 1)
    cluster = np.where((own == 0) & (fates["cluster"] < 0), -1, cluster).astype(np.int32)
    columns = {name: fates[name] for name in ("dispatched", "admitted_on_worker", "closed")}
    columns |= {name: fates[name] for name in ("copies", "starts", "retries", "rounds")}
    submitted = Categorical(np.where(own > 0, own, -1).astype(np.int32), list(names))
    return columns | {
        "manager_idle": fates["idle"],
        "cluster": Categorical(cluster, list(names)),
        "submitted_to": submitted if given is None else given,
    }


def _copies(run: FleetPrepared) -> CopiesTable:
    table = run.core.copies()
    won = np.asarray(table["outcome"]) == 0
    return CopiesTable(
        {
            "job": table["job"],
            "cluster": Categorical(table["cluster"], list(run.fleet.clusters)),
            **{name: table[name] for name in ("made", "reserved", "admitted", "removed")},
            "outcome": Categorical(table["outcome"], list(_OUTCOMES)),
            "started": np.where(won, table["admitted"], np.nan),
            **{name: table[name] for name in ("preempted", "preempted_lost", "held", "assigned")},
        }
    )


def _loops(run: FleetPrepared, sites: Sequence[Any]) -> tuple[PreemptionLoop, ...]:
    """Endless preemption in any cluster, and workloads that are dispatched again and again."""
    from kueuepy.simulation.moments import workload_key  # noqa: PLC0415 - they use each other's kinds

    found = [
        PreemptionLoop(at, period, times, tuple(sorted(workload_key(run, row) for row in rows)))
        for core in sites
        for at, period, times, rows in core.loops()
    ]
    found += [PreemptionLoop(0.0, _LOOP_PERIOD, 1, (workload_key(run, row),)) for row in run.core.dispatch_loops()]
    return tuple(found)


def _renamed(column: Categorical, name: Callable[[str], str]) -> Categorical:
    return Categorical(column.codes, [name(str(one)) for one in column.names])


def _where(column: Any, rows: Any) -> Any:
    return Categorical(column.codes[rows], column.names) if isinstance(column, Categorical) else column[rows]


def _chosen(mask: Any, column: Any, other: Any) -> Any:
    """One column where a mask holds, and the other one elsewhere."""
    if not isinstance(column, Categorical):
        return np.where(mask, column, other)
    names = list(dict.fromkeys([*other.names, *column.names]))
    place = {name: code for code, name in enumerate(names)}
    to = np.array([*(place[name] for name in column.names), -1], np.int32)
    of = np.array([*(place[name] for name in other.names), -1], np.int32)
    return Categorical(np.where(mask, to[column.codes], of[other.codes]).astype(np.int32), names)


def _concat(parts: Sequence[tuple[int, dict[str, Any]]], names: Sequence[str]) -> dict[str, Any]:
    """Tables below each other, with a column that names the cluster of each row."""
    found: dict[str, Any] = {}
    for name in parts[0][1]:
        columns = [columns[name] for _, columns in parts]
        if not isinstance(columns[0], Categorical):
            found[name] = np.concatenate(columns)
            continue
        known: dict[str, int] = {}
        codes = []
        for column in columns:
            to = np.array([*(known.setdefault(str(one), len(known)) for one in column.names), -1], np.int32)
            codes.append(to[column.codes])
        found[name] = Categorical(np.concatenate(codes).astype(np.int32), list(known))
    sizes = [len(next(iter(columns.values()))) for _, columns in parts]
    codes_of = np.repeat(np.array([site for site, _ in parts], np.int32), sizes)
    found["cluster"] = Categorical(codes_of, list(names))
    return found


def _ordered(columns: dict[str, Any]) -> dict[str, Any]:
    order = np.argsort(columns["seconds"], kind="stable")
    return {name: _where(column, order) for name, column in columns.items()}
