"""Reader of Batsim workloads: JSON with jobs and profiles. Only jobs with delay profiles are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.simulation.read import Source, Table
from kueuepy.simulation.values import row_columns, text_of

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
    """Read a Batsim workload.

    A job has `res` pods with one CPU each. The job is submitted at `subtime` and runs for the delay of its profile. The
    maximum execution time of the job is `walltime`.

    Args:
        source: The file.
        queue: The queue for all jobs; `jobs` by default. The format itself has no queues.

    Raises:
        InvalidSpecError: The file is not a Batsim workload.
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
    table = table.keep(table.given("runtime"), "the profile is not a delay")
    columns = {name: table[name] for name in table.columns}
    return table.jobs({**columns, "queue": [queue] * len(table), "cpu": np.ones(len(table))})
