"""Batsim's workloads: JSON with jobs and profiles, of which those that are delays can be run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.simulation.read import Source, Table, row_columns
from kueuepy.simulation.values import text_of

if TYPE_CHECKING:
    from kueuepy.simulation.base import JobColumns


class _Job(msgspec.Struct):
    id: str | int
    subtime: float
    profile: str
    res: int = 1
    walltime: float | None = None


class _Profile(msgspec.Struct):
    type: str
    delay: float | None = None


class _Workload(msgspec.Struct):
    jobs: list[_Job]
    profiles: dict[str, _Profile]


def read_batsim(source: Source, queue: str = "jobs") -> JobColumns:
    """`res` pods of one cpu, submitted at `subtime`, for the delay of its profile; `walltime` is its limit.

    Args:
        source: The file.
        queue: The queue of all jobs: the format knows none.

    Raises:
        InvalidSpecError: The file is no workload of Batsim.
    """
    found: _Workload = source.json(_Workload, "a workload of Batsim")
    rows: list[dict[str, Any]] = [
        {
            "name": f"j{text_of(job.id)}".replace("!", "-").replace("_", "-").lower(),
            "submit": job.subtime,
            "runtime": profile.delay if (profile := found.profiles.get(job.profile)) is not None else None,
            "pods": job.res,
            "limit": job.walltime if job.walltime and job.walltime > 0 else None,
            "profile": job.profile,
        }
        for job in found.jobs
    ]
    table = Table(source, row_columns(rows))
    table = table.keep(table.given("runtime"), "of a profile that is no delay")
    return table.jobs({**table.columns, "queue": [queue] * len(table), "cpu": np.ones(len(table))})
