"""What came of a run of a fleet: the tables of all clusters as one, copies, and figures of dispatching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.engine.cached import cached_property
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects import SECOND
from kueuepy.simulation.figures import Kpis, hours, kpis_of, unit
from kueuepy.simulation.fleet_tables import FleetTables
from kueuepy.simulation.gather import columns_of, job_columns
from kueuepy.simulation.recorded import (
    BlockedTable,
    ConsumedTable,
    CyclesTable,
    DecisionsTable,
    IdleTable,
    JobTable,
    PreemptionLoop,
    RunsTable,
    UsageSeries,
)
from kueuepy.simulation.result import Result
from kueuepy.simulation.series import sampled
from kueuepy.simulation.warn import warnings_of
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import is_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kueuepy.fleet import FleetScheduler
    from kueuepy.simulation.fleets import FleetPrepared

_OUTCOMES = ("Won", "Lost", "Evicted", "Withdrawn", "Present")
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
    manager_usage: UsageSeries
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
    start, now = stats["start"], max(0, stats["now"] - stats["start"])
    until = run.options["until"]
    last = max(now, until - start) if until < 2**62 else now
    seconds = last / SECOND
    step = run.settings.record.step() / SECOND
    gathered = FleetTables(run, sites)
    fates = core.fates()
    jobs = gathered.jobs(fates)
    table = job_columns(run.jobs, jobs, start, (now, last), run.options["warmup"] / SECOND)
    table |= _dispatch_columns(run, fates, table.pop("cluster", None))
    usage = UsageSeries(gathered.joined("usage", ("cluster_queue",)))
    tables = {
        "jobs": JobTable(table),
        "runs": RunsTable(gathered.runs()),
        "decisions": DecisionsTable(gathered.joined("decisions", ("cluster_queue",), manager=True)),
        "usage": UsageSeries(sampled(usage, step, seconds)) if step else usage,
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
    result.manager_usage = UsageSeries(columns_of(sites[0].usage()))
    return result


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
