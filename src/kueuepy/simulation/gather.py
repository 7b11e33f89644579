"""Collection of a result: the columns that the core returns are joined with the input columns of the jobs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.errors import first_of
from kueuepy.objects import SECOND
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.columns import ENDED_BY_LIMIT, EPOCHAL, Note, key_of, remark
from kueuepy.simulation.grouped import BOUND, sampled
from kueuepy.simulation.prepare import Prepared
from kueuepy.simulation.recorded import TABLES, PreemptionLoop, UsageSeries
from kueuepy.simulation.table import too_large
from kueuepy.tables.columns import Columns, concatenated, dates, exact, is_named

_NAMED = 10
_HOPELESS = ("ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured")
_OWN = ("queue", "submit", "runtime", "pods", "priority", "name", "uid")


def loops_of(run: Prepared, core: Any) -> tuple[PreemptionLoop, ...]:
    """Return the preemption loops of a cluster."""
    return tuple(
        PreemptionLoop(at, period, times, tuple(sorted(key_of(run.jobs, row) for row in rows)))
        for at, period, times, rows in core.loops()
    )


def span_of(run: Prepared) -> tuple[int, int, int]:
    """Return the time of the first submission, and the last event and the end after it, in nanoseconds."""
    start, until = run.core.start, run.options["until"]
    now = max(0, run.core.now - start)
    # Without a limit, the run ends with its last event; otherwise the time until the limit counts.
    return start, now, max(now, until - start) if until < 2**62 else now


def tables_of(run: Prepared, columns: Mapping[str, Mapping[str, Any]]) -> dict[str, Columns]:
    """Return the tables of a result; the table of usage is sampled if the simulation has a sampling interval."""
    tables = {name: kind(columns[name]) for name, kind in TABLES.items()}
    # The core records changes only; samples are taken from them.
    if step := run.settings.record.step():
        tables["usage"] = UsageSeries(sampled(exact(tables["usage"]), step / SECOND, span_of(run)[2] / SECOND))
    return tables


def facts_of(run: Prepared, jobs: Columns, tried: str = "evictions") -> dict[str, Any]:
    """Return the facts that results of clusters and of fleets share; see `endless` for `tried`."""
    stats = run.core.stats._asdict()
    del stats["end"]
    return {
        "notes": (*run.notes, *_hopeless(run, jobs), *_limited(jobs), *endless(run.core.fruitless, jobs, tried)),
        "seconds": span_of(run)[2] / SECOND,
        "warmup": run.options["warmup"] / SECOND,
        "settings": run.settings,
        "stats": stats,
    }


def _hopeless(run: Prepared, jobs: Columns) -> Iterator[Note]:
    """Yield notes about waiting jobs that can never be admitted.

    Kueue evaluates one of several equal workloads in a ClusterQueue that cannot be admitted, so that only this one has
    a reason. Quotas that change during the run are no limit to what a job can ever get.
    """
    waits, reason = is_named(jobs["state"], "Waiting"), jobs["reason"]
    if not waits.any():
        return
    large = []
    if len(run.bases) == 1 and not run.options["changes"] and not any(one["capacity"] for one in run.options["checks"]):
        large = [
            (remark("never", f"of {name} {what}"), n) for name, n, what in too_large(run.jobs.take(waits), run.base)
        ]
    yield from large
    for code, name in enumerate(reason.names):
        if name in _HOPELESS[bool(large) :]:
            rows = np.flatnonzero(waits & np.isin(run.codes, run.codes[waits & (reason.codes == code)])).tolist()
            if rows:
                named = first_of(list(map(run.jobs.name_of, rows)), _NAMED)
                yield remark("never", f"can never be admitted: {named} ({name})"), len(rows)


def _limited(jobs: Columns) -> Iterator[Note]:
    """Yield a note about the jobs that their limit ended."""
    if count := int(is_named(jobs["reason"], ENDED_BY_LIMIT).sum()):
        what = "ended by their limit, the maximum execution time in the column limit (Timelimit of Slurm)"
        yield remark("warning", what), count


def weights_of(cluster: Cluster) -> dict[str, float]:
    """Return the fair sharing weight of each ClusterQueue."""
    return {
        queue.name: 1.0 if queue.fair_sharing is None else float(Quantity(queue.fair_sharing.weight))
        for queue in cluster.cluster_queues
    }


def endless(evictions: int, jobs: Columns, tried: str = "evictions") -> tuple[tuple[str, int], ...]:
    """Return a note on repeatedly evicted jobs if the simulation was stopped because these jobs made no progress.

    The note counts the unfinished jobs whose column `tried` is greater than 0.
    """
    if not evictions:
        return ()
    again = (jobs[tried] > 0) & (is_named(jobs["state"], "Waiting") | is_named(jobs["state"], "Running"))
    what = (
        f"never finish: the last {evictions} evictions left no progress, and the run was stopped; set until to bound it"
    )
    return ((remark("warning", what), int(again.sum())),)


def run_columns(core: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of the table of runs, with assignment codes and unique flavor names."""
    found: dict[str, Any] = {}
    for name, column in core.items():
        found[name] = concatenated([column]) if name == "flavors" else column
        if name == "flavors":
            found["assignment"] = column.codes
    return found


def job_columns(
    jobs: JobColumns, core: dict[str, Any], start: int, times: tuple[int, int], warmup: float
) -> dict[str, Any]:
    """Return the columns of the table of jobs.

    Args:
        jobs: The input.
        core: The columns that the core returned.
        start: The time of the first submission, in nanoseconds.
        times: The time of the last event and the end of the simulation, in nanoseconds after the start.
        warmup: The length of the warm-up, in seconds.
    """
    now, last = times
    # Subtract whole nanoseconds, which is exact, so that a job without a wait has a wait of exactly 0 s.
    submit_at = submit = np.maximum(jobs["submit"] - start, 0)
    runtime = np.where(jobs["runtime"] < 0, np.nan, jobs["runtime"] / SECOND)
    # The core adds the time with quota at the end of a run; running jobs still hold theirs.
    held = core["held"] + np.where(is_named(core["state"], "Running"), last - now, 0)
    ended = core["end"] >= 0
    life = np.where(ended, core["end"], last) - submit
    waited = np.where(core["state"].codes == 0, 0, np.maximum(life - held, 0)) / SECOND
    first_wait = np.where(core["first_start"] < 0, np.nan, (core["first_start"] - submit) / SECOND)
    submit, held, life = submit / SECOND, held / SECOND, life / SECOND
    done = ended & is_named(core["state"], "Finished")
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = np.where(done & (runtime > 0), life / runtime, np.nan)
        bounded = np.where(done, np.maximum(1.0, life / np.maximum(runtime, BOUND)), np.nan)
    found: dict[str, Any] = {"job": np.arange(len(jobs), dtype=np.int32)}
    found |= jobs.having("name", "uid")
    found |= {
        "queue": jobs["queue"],
        "cluster_queue": core["cluster_queue"],
        "priority": jobs.column("priority", 0).astype(np.int32),
        "pods": jobs.column("pods", 1).astype(np.int32),
        "submit": submit,
        "first_start": np.where(core["first_start"] < 0, np.nan, core["first_start"] / SECOND),
        "end": np.where(ended, core["end"] / SECOND, np.nan),
        "runtime": runtime,
        "waited": waited,
        "first_wait": first_wait,
        "held": held,
        **{name: core[name] for name in ("runs", "evictions", "lost", "overhead", "borrowed", "promised", "flavor")},
        "slowdown": slowdown,
        "bounded_slowdown": bounded,
        **{name: core[name] for name in ("state", "reason")},
        "counted": submit >= warmup,
    }
    if "recorded_start" in jobs.names:
        began = jobs["recorded_start"].view(np.int64)
        found["recorded_start"] = np.where(began < 0, np.nan, (began - start) / SECOND)
    for name in jobs.names:
        if name not in (*_OWN, "template", "recorded_start"):
            found[_free(name, found, jobs.names)] = jobs[name]
    if start >= EPOCHAL:
        times_of = {"submit": submit_at, "first_start": core["first_start"], "end": core["end"]}
        found |= {_free(f"{name}_time", found, ()): dates(at + start, at < 0) for name, at in times_of.items()}
    return found


def _free(name: str, found: Mapping[str, Any], given: Sequence[str]) -> str:
    """Return an unused name for a user's column: `recorded_` is prepended until no other column has the name."""
    free = name
    while free in found or (free != name and free in given):
        free = f"recorded_{free}"
    return free
