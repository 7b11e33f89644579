"""Reader of Google's cluster trace of 2019 (google/cluster-data): collection events and instance events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.objects.times import LONGEST
from kueuepy.simulation.read import Source, Table
from kueuepy.simulation.values import whole

if TYPE_CHECKING:
    import os

    from kueuepy.simulation.base import JobColumns

_TIERS = ((99, "free"), (115, "best-effort-batch"), (119, "mid"))
_SUBMIT, _SCHEDULE = "SUBMIT", "SCHEDULE"
_ENDS = ("FINISH", "FAIL", "KILL", "EVICT", "LOST")
_MICROSECOND = 1000


def read_borg2019(
    source: Source,
    *,
    instances: str | os.PathLike[str] | None = None,
    machine: tuple[float, float] = (64, 256 * 2**30),
) -> JobColumns:
    """Read collection and instance events; each collection becomes a job.

    A job is submitted at its SUBMIT event. The job runs from the first SCHEDULE event of an instance to the last
    FINISH, FAIL, KILL, EVICT or LOST event. The job has one pod per instance. Requests are fractions of a machine. The
    queue is the tier: `free` up to priority 99, `best-effort-batch` up to priority 115, `mid` up to priority 119, and
    `production` above. Alloc sets are left out.

    Args:
        source: The collection events, with a header: `time` (microseconds), `type`, `collection_id`, `priority`,
            `collection_type`, and optionally `user`.
        instances: The instance events, with a header: `time`, `type`, `collection_id`, `instance_index`,
            `resource_request.cpus`, `resource_request.memory`. Default: `instance_events.csv` in the directory of the
            collection events.
        machine: The number of cores and the bytes of memory of a whole machine; 64 cores and 256 GiB by default.

    Raises:
        InvalidSpecError: A file cannot be read, or is invalid.
    """
    there = Source(source.path.with_name("instance_events.csv") if instances is None else instances)
    collections = _collections(Table(source, source.csv), Table(there, there.csv), machine)
    table = Table(Source(source.path), collections)
    table = table.keep(table["alloc"] == 0, "alloc sets")
    for name, why in (("submit", "no SUBMIT"), ("start", "no SCHEDULE"), ("end", "no end")):
        table = table.keep(table[name] >= 0, why)
    start, end = table["start"] * _MICROSECOND, table["end"] * _MICROSECOND
    return table.jobs(
        {
            **{name: table[name] for name in ("queue", "priority", "pods", "cpu", "memory")},
            "submit": (table["submit"] * _MICROSECOND).view("M8[ns]"),
            "runtime": np.maximum(end - start, 0).view("m8[ns]"),
            "recorded_start": start.view("M8[ns]"),
        }
    )


def _collections(events: Table, instances: Table, machine: tuple[float, float]) -> dict[str, Any]:
    """Return columns with one row per collection, in the order of the first events."""
    found: dict[str, dict[str, Any]] = {}
    priorities, allocs = (events.column(name).integers(whole(0, missing=0)) for name in ("priority", "collection_type"))
    rows = zip(
        _times(events), *_texts(events, "type", "collection_id"), priorities.tolist(), allocs.tolist(), strict=True
    )
    for time, kind, key, priority, alloc in rows:
        job = found.setdefault(key, {"submit": -1, "start": -1, "end": -1, "alloc": alloc, "priority": priority})
        if kind == _SUBMIT and job["submit"] < 0:
            job["submit"] = time
        elif kind in _ENDS:
            job["end"] = time
    asked: dict[str, tuple[float, float]] = {}
    pods: dict[str, set[str]] = {}
    parts = (instances.column(f"resource_request.{name}").number().tolist() for name in ("cpus", "memory"))
    texts = _texts(instances, "type", "collection_id", "instance_index")
    for time, kind, key, index, cpus, memory in zip(_times(instances), *texts, *parts, strict=True):
        if key in found:
            pods.setdefault(key, set()).add(index)
            asked[key] = max(asked.get(key, (0.0, 0.0)), (cpus, memory))
            if kind == _SCHEDULE and not 0 <= found[key]["start"] <= time:
                found[key]["start"] = time
    jobs = [
        {
            **job,
            "queue": next((tier for most, tier in _TIERS if job["priority"] <= most), "production"),
            "pods": max(1, len(pods.get(key, ()))),
            "cpu": asked.get(key, (0.0, 0.0))[0] * machine[0],
            "memory": np.ceil(asked.get(key, (0.0, 0.0))[1] * machine[1]),
        }
        for key, job in found.items()
    ]
    columns = ("submit", "start", "end", "alloc", "priority", "queue", "pods", "cpu", "memory")
    return {name: [row[name] for row in jobs] for name in columns}


def _times(table: Table) -> list[int]:
    found: list[int] = table.column("time").integers(whole(0, missing=0, most=LONGEST // _MICROSECOND)).tolist()
    return found


def _texts(table: Table, *names: str) -> list[list[str]]:
    return [table.column(name).texts() for name in names]
