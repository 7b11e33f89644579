"""What has come of a run, gathered: the core's columns as tables, beside what was given of each job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy._core import Quantity
from kueuepy.objects import SECOND
from kueuepy.simulation.figures import BOUND
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
from kueuepy.tables import Categorical
from kueuepy.tables.columns import is_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kueuepy.simulation.base import JobColumns
    from kueuepy.simulation.prepare import Prepared

_OWN = ("queue", "submit", "runtime", "pods", "priority", "name")


def columns_of(view: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table of the core: arrays, and codes with their names."""
    return {name: Categorical(*column) if isinstance(column, tuple) else column for name, column in view.items()}


def result_of(run: Prepared) -> Result:
    """What came of a run until now; it ends here."""
    core = run.core
    core.close()
    stats = core.stats
    start, now = stats["start"], max(0, stats["now"] - stats["start"]) / SECOND
    table = run.jobs
    warmup = run.options["warmup"] / SECOND
    until = run.options["until"]
    seconds = max(now, (until - start) / SECOND) if until < 2**62 else now
    tables = {
        "jobs": JobTable(job_columns(table, columns_of(core.jobs()), start, (now, seconds), warmup)),
        "runs": RunsTable(run_columns(columns_of(core.runs()))),
        "decisions": DecisionsTable(columns_of(core.decisions())),
        "usage": _usage(UsageTable(columns_of(core.usage())), run.settings.record.step() / SECOND, seconds),
        "consumed": ConsumedTable(columns_of(core.consumed())),
        "cycles": CyclesTable(columns_of(core.cycles())),
        "idle": IdleTable(columns_of(core.idle())),
        "blocked": BlockedTable(columns_of(core.blocked())),
    }
    loops = tuple(
        PreemptionLoop(at, period, times, tuple(sorted(_key_of(table, row) for row in rows)))
        for at, period, times, rows in core.loops()
    )
    cluster = run.declared
    weights = {
        q.name: 1.0 if q.fair_sharing is None else float(Quantity(q.fair_sharing.weight))
        for q in cluster.cluster_queues
    }
    facts = {
        "notes": run.notes,
        "seconds": seconds,
        "warmup": warmup,
        "settings": run.settings,
        "stats": {name: stats[name] for name in ("workloads", "cycles", "admissions", "evictions", "finished")},
        "weights": weights,
        "trees": trees_of(cluster),
    }
    return Result(tables, {**core.figures(), "assigned": core.assigned()}, loops, facts, run)


def _key_of(jobs: JobColumns, row: int) -> str:
    return f"{str(jobs['queue'][row]).partition('/')[0]}/{jobs.name_of(row)}"


def _usage(table: UsageTable, step: float, end: float) -> UsageTable:
    """The table as it is, or what holds after each step."""
    return table if not step else UsageTable(sampled(table, step, end))


def run_columns(core: dict[str, Any]) -> dict[str, Any]:
    """The table of runs: the code of what was given, and the flavors of it, each name once."""
    flavors = core["flavors"]
    known: dict[str, int] = {}
    codes = np.array([*(known.setdefault(name, len(known)) for name in flavors.names), -1], np.int32)
    found: dict[str, Any] = {}
    for name, column in core.items():
        found[name] = Categorical(codes[flavors.codes], list(known)) if name == "flavors" else column
        if name == "flavors":
            found["assignment"] = flavors.codes
    return found


def job_columns(
    jobs: JobColumns, core: dict[str, Any], start: int, times: tuple[float, float], warmup: float
) -> dict[str, Any]:
    """The table of jobs: what was given of each, and what became of it until the end; nothing happened since `now`."""
    now, seconds = times
    submit = np.maximum(jobs["submit"] - start, 0) / SECOND
    runtime = np.where(jobs["runtime"] < 0, np.nan, jobs["runtime"] / SECOND)
    runs_on = is_named(core["state"], "Running")
    held = core["held"] + np.where(runs_on, seconds - now, 0.0)
    ended = ~np.isnan(core["end"])
    life = np.where(ended, core["end"], seconds) - submit
    # Differences of whole nanoseconds: a rounding of the seconds must not show.
    waited = np.round(np.maximum(life - held, 0) * SECOND) / SECOND
    done = ended & is_named(core["state"], "Finished")
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = np.where(done & (runtime > 0), life / runtime, np.nan)
        bounded = np.where(done, np.maximum(1.0, life / np.maximum(runtime, BOUND)), np.nan)
    found: dict[str, Any] = {"job": np.arange(len(jobs), dtype=np.int32)}
    if "name" in jobs.names:
        found["name"] = jobs["name"]
    found |= {
        "queue": jobs["queue"],
        "cluster_queue": core["cluster_queue"],
        "priority": jobs.column("priority", 0).astype(np.int32),
        "pods": jobs.column("pods", 1).astype(np.int32),
        "submit": submit,
        "first_start": core["first_start"],
        "end": core["end"],
        "runtime": runtime,
        "waited": np.where(core["state"].codes == 0, 0.0, waited),
        "first_wait": np.round((core["first_start"] - submit) * SECOND) / SECOND,
        "held": held,
        "runs": core["runs"],
        "evictions": core["evictions"],
        "lost": core["lost"],
        "overhead": core["overhead"],
        "borrowed": core["borrowed"],
        "promised": core["promised"],
        "flavor": core["flavor"],
        "slowdown": slowdown,
        "bounded_slowdown": bounded,
        "state": core["state"],
        "reason": core["reason"],
        "counted": submit >= warmup,
    }
    if "recorded_start" in jobs.names:
        began = jobs["recorded_start"].view(np.int64)
        found["recorded_start"] = np.where(began < 0, np.nan, (began - start) / SECOND)
    for name in jobs.names:
        if name not in (*_OWN, "template", "recorded_start"):
            found[f"recorded_{name}" if name in found else name] = jobs[name]
    return found
