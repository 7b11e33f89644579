"""The result of a simulation of a fleet: joined tables of all clusters, workload copies and dispatching metrics."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from kueuepy.cluster.unmodelled import not_modelled
from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, checked, checked_methods
from kueuepy.files import is_file
from kueuepy.fleet import FleetScheduler
from kueuepy.fleet.value import dispatched_keys
from kueuepy.objects import SECOND
from kueuepy.session.session import session_of
from kueuepy.simulation.columns import is_resource, key_of, remark
from kueuepy.simulation.figures import Kpis, hours, kpis_of
from kueuepy.simulation.fleets import FleetPrepared
from kueuepy.simulation.gather import facts_of, job_columns, loops_of, run_columns, span_of, tables_of, weights_of
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.read import Source
from kueuepy.simulation.recorded import TABLES, PreemptionLoop, UsageSeries, read_facts, read_table
from kueuepy.simulation.result import Result
from kueuepy.simulation.table import trees_of
from kueuepy.tables.columns import Categorical, Columns, columns_of, concatenated, is_named

_STATES = ("ToCome", "Waiting", "Running", "Finished", "Deactivated")
_WAITING, _RUNNING, _FINISHED = 1, 2, 3


# For each table, the column whose names get the name of the worker, and whether the table includes the manager.
_JOINED = {
    "decisions": ("cluster_queue", True),
    "usage": ("cluster_queue", False),
    "consumed": ("local_queue", True),
    "cycles": ("", True),
    "idle": ("tree", False),
    "blocked": ("cluster_queue", False),
}
_SUMS = ("nominal", "lost", "overhead")


class FleetTables:
    """The tables of all clusters, joined; ClusterQueues of workers are named `worker/queue`."""

    def __init__(self, run: FleetPrepared, sites: Sequence[Any]) -> None:
        """Store the simulation of the fleet and the simulations of its clusters."""
        self._run, self._sites = run, sites

    def name(self, site: int, name: str) -> str:
        """Prepend the name of a worker to a name; names of the manager (site 0) are unchanged."""
        return f"{self._run.names[site]}/{name}" if site else name

    def _renamed(self, site: int, column: Categorical) -> Categorical:
        return Categorical(column.codes, [self.name(site, name) for name in column.names])

    def joined(self, table: str) -> dict[str, Any]:
        """Return a table of all clusters in chronological order, with a column `cluster`."""
        named, has_manager = _JOINED[table]
        parts = []
        for site, core in enumerate(self._sites):
            if site or has_manager:
                columns = columns_of(getattr(core, table)())
                if named:
                    columns[named] = self._renamed(site, columns[named])
                parts.append((site, columns))
        return self._concatenated(parts, "seconds")

    def runs(self) -> dict[str, Any]:
        """Return the runs on workers, and the manager's runs of jobs that are not dispatched."""
        parts, offset = [], 0
        for site, core in enumerate(self._sites):
            columns = run_columns(columns_of(core.runs()))
            # Assignments of all clusters become one list, so the codes of later clusters move.
            columns["assignment"] = np.where(columns["assignment"] >= 0, columns["assignment"] + offset, -1)
            offset += len(core.assigned())
            # On the manager, the run of a dispatched job never starts; its copy runs on a worker.
            if site == 0:
                local = ~np.isnan(columns["start"])
                columns = {name: column[local] for name, column in columns.items()}
            parts.append((site, columns))
        return self._concatenated(parts, "end")

    def _concatenated(self, parts: Sequence[tuple[int, dict[str, Any]]], by: str) -> dict[str, Any]:
        """Concatenate tables, add a column with the name of the cluster, and sort the rows by a time."""
        found: dict[str, Any] = {}
        for name, sample in parts[0][1].items():
            columns = [columns[name] for _, columns in parts]
            found[name] = concatenated(columns) if isinstance(sample, Categorical) else np.concatenate(columns)
        sites = np.repeat(np.array([site for site, _ in parts], np.int32), [len(columns[by]) for _, columns in parts])
        found["cluster"] = Categorical(sites, list(self._run.names))
        order = np.argsort(found[by], kind="stable")  # the NaN of a run without an end comes last
        return {name: column[order] for name, column in found.items()}

    def jobs(self, fates: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outcome of each job; the outcome of a dispatched job combines the outcomes of its copies."""
        found: dict[str, Any] = {}
        for site, core in enumerate(self._sites):
            columns = columns_of(core.jobs())
            columns["cluster_queue"] = self._renamed(site, columns["cluster_queue"])
            mask = self._run.clusters == site
            for name, column in columns.items():
                found[name] = column if name not in found else _chosen(mask, column, found[name])
        own, has_copies, state = self._is_dispatched(), fates["copies"] > 0, np.array(found["state"].codes)
        # On the manager a dispatched job runs from its admission; the job itself may still wait on a worker.
        held_back = has_copies & (state == _RUNNING) & (fates["runs_now"] == 0)
        state[held_back] = np.where(np.isnan(fates["end"][held_back]), _WAITING, _FINISHED)
        state[own & ~has_copies & (state == _RUNNING)] = _WAITING
        end = _nanoseconds(fates["end"])
        return found | {
            "state": Categorical(state.astype(np.int32), list(_STATES)),
            **{name: np.where(own, fates[name], found[name]) for name in ("lost", "overhead")},
            **{name: np.where(own, _nanoseconds(fates[name]), found[name]) for name in ("first_start", "held")},
            "end": np.where(own & (end >= 0), end, found["end"]),
            "runs": np.where(own, fates["starts"], found["runs"]).astype(np.int32),
        }

    def _is_dispatched(self) -> Any:
        """Return a mask of the jobs that the manager dispatches: the jobs whose ClusterQueue has a MultiKueue check."""
        fleet, queue = self._run.fleet, self._run.jobs["queue"]
        keys = dispatched_keys(fleet.manager, fleet.checks)
        codes = [code for code, name in enumerate(queue.names) if name in keys]
        return np.isin(queue.codes, codes) & (self._run.clusters == 0)

    def totals(self, jobs: Columns) -> dict[str, Any]:
        """Return the time integrals of all workers; ClusterQueues of the manager contribute only waits."""
        manager, *workers = (dict(core.figures()) for core in self._sites)
        queues = {
            # The manager reserves the same quota again; counted with the workers, usage would be doubled.
            name: {**figures, "cells": {}, "blocked": 0.0, "somebody_waits": 0.0}
            for name, figures in manager["queues"].items()
        }
        trees, evictions = [], list(manager["evictions"])
        for site, view in enumerate(workers, 1):
            name = partial(self.name, site)
            queues |= {name(queue): figures for queue, figures in view["queues"].items()}
            trees += [tree._replace(tree=name(tree.tree)) for tree in view["trees"]]
            evictions += [
                made._replace(victim=name(made.victim), preemptor=made.preemptor and name(made.preemptor))
                for made in view["evictions"]
            ]
        submitted = [view["submitted"] for view in workers]
        return {
            "queues": queues,
            "trees": trees,
            "evictions": evictions,
            **_added(workers, _SUMS),
            "submitted": {"until": manager["submitted"]["until"], **_added(submitted, ("used", "nominal"))},
            # A job waits until it runs on a worker, not until the manager reserves quota.
            "waits": float(jobs["waited"][np.asarray(jobs["counted"])].sum()) * SECOND,
            "most_waiting": manager["most_waiting"],
            # Periods in which workers borrow overlap, so their sum has no meaning.
            "borrowing": max((view["borrowing"] for view in workers), default=0.0),
            "assigned": [given for core in self._sites for given in core.assigned()],
            "copied": [[_amounts(given) for given in core.assigned()] for core in self._sites[1:]],
        }


def _added(views: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the sums of integrals by flavor and resource over clusters."""
    return {name: sums(item for view in views for item in view[name].items()) for name in names}


def _nanoseconds(seconds: Any) -> Any:
    """Return times in whole nanoseconds; -1 for NaN."""
    absent = np.isnan(seconds)
    return np.where(absent, -1, np.rint(np.where(absent, 0, seconds) * SECOND)).astype(np.int64)


def _amounts(given: Iterable[tuple[str, str, str, int]]) -> dict[str, float]:
    return sums((f"{flavor}/{resource}", amount) for _, resource, flavor, amount in given)


def _chosen(mask: Any, column: Any, other: Any) -> Any:
    """Return the values of one column where a mask is true, and the values of a second column where it is false."""
    if not isinstance(column, Categorical):
        return np.where(mask, column, other)
    both = concatenated([other, column])
    return Categorical(np.where(mask, both.codes[len(other) :], both.codes[: len(other)]), both.names)


_OUTCOMES = ("Won", "Lost", "Evicted", "Withdrawn", "Present")
# A loop of dispatching repeats by time, not by cycles.
_LOOP_PERIOD = 0


class CopiesTable(Columns):
    """One row per copy of a workload, in the order of removal; copies that still exist at the end come last.

    | column | meaning |
    | --- | --- |
    | `job` | row number of the job |
    | `cluster` | name of the worker |
    | `made`, `removed` | time of creation and removal, in seconds after the first submission |
    | `reserved`, `admitted` | time of the first quota reservation and admission |
    | `started` | time at which the job started on the worker; NaN if the job did not start there |
    | `outcome` | see below |
    | `preempted`, `preempted_lost` | number of workloads that the copy preempted; the progress they lost, in seconds |
    | `held` | time for which the copy held quota, in seconds |
    | `assigned` | code of the assignment |

    The outcome is `Won` (the job ran on this worker), `Lost` (another copy was admitted first), `Evicted` (the worker
    evicted the copy), `Withdrawn` (the workload lost its quota on the manager) or `Present` (the copy still existed at
    the end).
    """


class FleetKpis(Kpis, frozen=True, kw_only=True):
    """The metrics of a simulation of a fleet; metrics of usage and quota are sums over the workers.

    Waiting times are measured from submission until the job runs on a worker. Numbers of waiting jobs and idle quota
    refer to the workers.

    Attributes:
        copies: Number of copies created on workers.
        copies_per_start: Number of copies divided by the number of job starts; `None` if no job started.
        wasted_reservation_hours: Quota held on workers by copies that never ran, by `flavor/resource`, in hours.
        unneeded_preemptions: Number of preemptions by copies that never ran.
        unneeded_lost_hours: Progress lost to preemptions by copies that never ran, in hours.
        dispatch_wait: Mean time from the quota reservation on the manager to the start on a worker, in seconds; `None`
            if no job started.
        manager_idle: Quota of the manager held by workloads that do not run, by resource, in hours.
        retries: Number of evictions by the MultiKueue admission check.
        won: Fraction of all job starts that took place on each worker.
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
    """The result of a simulation of a fleet.

    The tables `decisions`, `runs`, `usage` and `cycles` have a column `cluster`. ClusterQueues of workers are named
    `worker/queue`. The table `usage` contains only the workers, because the manager's quota represents the resources of
    the workers.

    >>> from kueuepy import Cluster, ClusterQueue, Fleet, ResourceFlavor, simulate
    >>> worker = Cluster(ResourceFlavor("any"), ClusterQueue.of("team", {"any": {"cpu": 4}}))
    >>> result = simulate(Fleet({"w1": worker}), [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}])
    >>> result.copies["outcome"][0], result.kpis.copies
    ('Won', 1)

    Attributes:
        copies: One row per copy of a workload; see `CopiesTable`.
        clusters: The names of the workers.
        manager_usage: Usage of the manager's quota over time.
        remarks: Descriptions of namespaces and LocalQueues that are missing on workers; also part of `warnings`.
    """

    _tables: ClassVar[tuple[str, ...]] = (*TABLES, "copies", "manager_usage")
    copies: CopiesTable
    clusters: tuple[str, ...]
    manager_usage: UsageSeries
    remarks: tuple[str, ...] = ()

    @cached_property
    def kpis(self) -> FleetKpis:
        """The metrics of the whole simulation after the warm-up."""
        return fleet_kpis(self, kpis_of(self))

    @property
    def scheduler(self) -> FleetScheduler:  # type: ignore[override]
        """The fleet at the end of the simulation, as a FleetScheduler."""
        return self._given().scheduler()  # type: ignore[return-value]

    def shares_and_usage(self) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
        """Return the weighted share and the usage of each ClusterQueue of the workers at the end of the simulation."""
        step = self.scheduler
        shares: dict[str, float] = {}
        usage: dict[str, dict[str, int]] = {}
        for name, worker in step.workers.items():
            shares |= {f"{name}/{queue}": share for queue, share in session_of(worker).engine.shares().items()}
            usage |= {f"{name}/{queue}": cells for queue, cells in session_of(worker).engine.usage().items()}
        return shares, usage

    def at(self, when: Any) -> FleetScheduler:  # type: ignore[override]
        """Return the fleet at a given time in the simulation as a FleetScheduler.

        The method repeats the simulation up to this time.

        Args:
            when: A time after the first submission, such as `2d`, `2d 14:00` or a number of seconds.
        """
        return self._given().until(when).scheduler()  # type: ignore[return-value]

    def _more_facts(self) -> dict[str, Any]:
        """Return the data that only the result of a fleet contains: the names of the workers and the remarks."""
        return {"fleet": {"clusters": self.clusters, "remarks": self.remarks}}

    def _explanation(self, scheduler: Any, row: int) -> str:
        """Return the explanation why a job of the manager waits; empty for a job that was submitted to a worker."""
        with suppress(KeyError):
            return "" if self.jobs["submitted_to"][row] else super()._explanation(scheduler, row)
        return ""


def fleet_kpis(result: FleetResult, kpis: Kpis) -> FleetKpis:
    """Add the dispatching metrics to the given metrics."""
    copies, jobs = result.copies, result.jobs
    never = ~is_named(copies["outcome"], "Won") & np.isnan(copies["started"])
    wasted: dict[str, float] = {}
    for code, site in enumerate(result.totals["copied"]):
        mask = never & (copies["cluster"].codes == code)
        held = np.bincount(copies["assigned"][mask] + 1, weights=copies["held"][mask], minlength=len(site) + 1)[1:]
        for index, amounts in enumerate(site):
            for pair, amount in amounts.items():
                if index < len(held) and held[index]:
                    wasted[pair] = wasted.get(pair, 0.0) + amount * float(held[index]) * SECOND
    starts = int(jobs["starts"].sum())
    wins = np.bincount(copies["cluster"].codes[is_named(copies["outcome"], "Won")], minlength=len(result.clusters))
    resources = filter(is_resource, jobs.names)
    idle = {name: float((jobs[name] * jobs["pods"] * jobs["manager_idle"]).sum()) / 3600 for name in resources}
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
    found.__dict__.update(kpis.__dict__)  # the data behind the metrics, for confidence intervals
    return found


def fleet_result_of(run: FleetPrepared) -> FleetResult:
    """Return the result of a simulation of a fleet and end the simulation."""
    core = run.core
    core.close()
    sites = run.tables()
    start, now, last = span_of(run)
    gathered = FleetTables(run, sites)
    fates = core.fates()
    table = job_columns(run.jobs, gathered.jobs(fates), start, (now, last), run.options["warmup"] / SECOND)
    table |= _dispatch_columns(run, fates, table.pop("cluster", None))
    columns = {name: gathered.joined(name) for name in _JOINED}
    tables = tables_of(run, {"jobs": table, "runs": gathered.runs(), **columns})
    totals = gathered.totals(tables["jobs"]) | {"dispatch_wait": core.dispatch_wait}
    clusters = list(enumerate(run.fleet.members))
    name = gathered.name
    facts = {
        "not_modelled": [
            f"{run.names[site]}: {text}"
            for site, cluster in clusters
            for text in not_modelled(cluster, (change[2] for change in run.sites[site]["changes"]))
        ],
        "weights": {name(site, queue): own for site, cluster in clusters for queue, own in weights_of(cluster).items()},
        "trees": {
            name(site, queue): name(site, root) for site, own in clusters for queue, root in trees_of(own).items()
        },
        **facts_of(run, tables["jobs"], "copies"),
    }
    result = FleetResult(tables, totals, _loops(run, sites), facts, run)
    result.clusters, result.remarks = run.fleet.clusters, run.fleet.remarks
    result.copies = _copies(run)
    result.manager_usage = UsageSeries(columns_of(sites[0].usage()))
    return result


def _dispatch_columns(run: FleetPrepared, fates: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """Return the additional columns of the table of jobs."""
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
    """Return the preemption loops of all clusters, and the workloads that are dispatched repeatedly in a loop."""
    found = [loop for core in sites for loop in loops_of(run, core)]
    found += [PreemptionLoop(0.0, _LOOP_PERIOD, 1, (key_of(run.jobs, row),)) for row in run.core.dispatch_loops()]
    return tuple(found)


@checked
def load_result(directory: str | os.PathLike[str]) -> Result:
    """Load a result that was saved with `Result.save`.

    >>> from tempfile import TemporaryDirectory
    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> result = simulate(cluster, [{"queue": "team", "submit": 0, "runtime": "1h", "gpu": 1}])
    >>> with TemporaryDirectory() as directory:
    ...     result.save(directory)
    ...     load_result(directory).fingerprint == result.fingerprint
    True

    Args:
        directory: The directory that was passed to `Result.save`.

    Returns:
        The result; methods that need a Scheduler raise StateError.

    Raises:
        InvalidSpecError: A file is missing or damaged.
        UnsupportedError: pyarrow is not installed.
    """
    folder = Path(directory)
    if not is_file(folder / "result.json"):
        wanted = "it must be a directory of Result.save or kueuepy simulate --out"
        raise InvalidSpecError(f"{folder}: cannot be read: it has no result.json; {wanted}")
    facts: Any = read_facts(folder, Source(folder / "result.json").text)
    facts["notes"] = [(remark("".join(kind), what), rows) for what, rows, *kind in facts["notes"]]
    tables = {name: kind(read_table(folder / f"{name}.parquet")) for name, kind in TABLES.items()}
    cls = FleetResult if "fleet" in facts else Result
    found = cls(tables, facts["totals"], tuple(facts["loops"]), facts)
    if isinstance(found, FleetResult):
        found.clusters, found.remarks = tuple(facts["fleet"]["clusters"]), tuple(facts["fleet"]["remarks"])
        found.copies = CopiesTable(read_table(folder / "copies.parquet"))
        found.manager_usage = UsageSeries(read_table(folder / "manager_usage.parquet"))
    if found.fingerprint != facts["fingerprint"]:
        raise InvalidSpecError(f"{folder}: is damaged: its fingerprint does not match")
    return found
