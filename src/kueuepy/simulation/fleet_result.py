"""The result of a simulation of a fleet: joined tables of all clusters, workload copies and dispatching metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np

from kueuepy.cluster.unmodelled import not_modelled
from kueuepy.engine.cached import cached_property
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects import SECOND
from kueuepy.session.session import session_of
from kueuepy.simulation.columns import key_of
from kueuepy.simulation.figures import Kpis, hours, kpis_of
from kueuepy.simulation.fleet_tables import FleetTables
from kueuepy.simulation.gather import facts_of, job_columns, span_of, tables_of
from kueuepy.simulation.recorded import TABLES, PreemptionLoop, UsageSeries
from kueuepy.simulation.result import Result
from kueuepy.simulation.warn import warnings_of
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import columns_of, is_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kueuepy.fleet import FleetScheduler
    from kueuepy.simulation.fleets import FleetPrepared

_OUTCOMES = ("Won", "Lost", "Evicted", "Withdrawn", "Present")
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
        remarks: Descriptions of namespaces and LocalQueues that are missing on workers.
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

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read before the metrics, including namespaces and LocalQueues that are missing on workers."""
        return (*self.remarks, *warnings_of(self, self.kpis))

    @property
    def scheduler(self) -> FleetScheduler:  # type: ignore[override]
        """The fleet at the end of the simulation, as a FleetScheduler."""
        run: Any = self._given()
        return run.fleet_scheduler()  # type: ignore[no-any-return]

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
        run: Any = self._given().until(when)
        return run.fleet_scheduler()  # type: ignore[no-any-return]

    def _more_facts(self) -> dict[str, Any]:
        """Return the data that only the result of a fleet contains: the names of the workers and the remarks."""
        return {"fleet": {"clusters": self.clusters, "remarks": self.remarks}}

    @cached_property
    def waiting(self) -> tuple[Any, ...]:
        """The ten jobs with the longest waits among those that still wait at the end, with an explanation of each."""
        from kueuepy.simulation.waiting import Waiter, longest_waiting  # noqa: PLC0415 - only on use

        if self._run is None:
            return tuple(self._waiting)
        rows, jobs = longest_waiting(self, 10), self.jobs
        if not rows:
            return ()
        step = self.scheduler
        found = []
        for row in rows:
            key = key_of(jobs, row)
            try:
                told = step.explain(key) if not str(jobs["submitted_to"][row] or "") else ""
            except KeyError:
                told = ""
            queue, reason = jobs["cluster_queue"][row] or "", jobs["reason"][row] or ""
            found.append(Waiter(self.name_of(row), queue, float(jobs["waited"][row]), reason, told))
        return tuple(found)


def fleet_kpis(result: FleetResult, kpis: Kpis) -> FleetKpis:
    """Add the dispatching metrics to the given metrics."""
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
    tables = tables_of(
        run,
        {
            "jobs": table,
            "runs": gathered.runs(),
            "decisions": gathered.joined("decisions", ("cluster_queue",), manager=True),
            "usage": gathered.joined("usage", ("cluster_queue",)),
            "consumed": gathered.joined("consumed", ("local_queue",), manager=True),
            "cycles": gathered.joined("cycles", (), manager=True),
            "idle": gathered.joined("idle", ("tree",)),
            "blocked": gathered.joined("blocked", ("cluster_queue",)),
        },
    )
    totals = gathered.totals(tables["jobs"]) | {"dispatch_wait": core.dispatch_wait}
    clusters = dict(zip(run.names, (run.fleet.manager, *run.fleet.workers.values()), strict=True))
    facts = {
        "not_modelled": [
            f"{name}: {text}"
            for (name, given), options in zip(clusters.items(), run.sites, strict=True)
            for text in not_modelled(given, (change[2] for change in options["changes"]))
        ],
        "weights": gathered.weights(),
        "trees": gathered.trees(),
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
    found = [
        PreemptionLoop(at, period, times, tuple(sorted(key_of(run.jobs, row) for row in rows)))
        for core in sites
        for at, period, times, rows in core.loops()
    ]
    found += [PreemptionLoop(0.0, _LOOP_PERIOD, 1, (key_of(run.jobs, row),)) for row in run.core.dispatch_loops()]
    return tuple(found)
