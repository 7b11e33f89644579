"""Reader of SenseTime's Helios trace of 2020 (S-Lab-System-Group/HeliosData, CC BY 4.0)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.simulation.read import Source, Table
from kueuepy.simulation.values import TIME, whole

if TYPE_CHECKING:
    import os

    from kueuepy.simulation.base import JobColumns


def read_helios(
    source: Source, *, cpu_jobs: bool = False, gpu_numbers: str | os.PathLike[str] | None = None
) -> JobColumns:
    """Read `cluster_log.csv`.

    A job has `node_num` pods. The `gpu_num` GPUs (rounded up per pod) and the `cpu_num` CPUs are divided equally among
    the pods. The job is submitted at `submit_time`, and the column `vc` contains its queue.

    Args:
        source: The file.
        cpu_jobs: Whether to keep jobs without GPUs; `False` by default.
        gpu_numbers: The file `cluster_gpu_number.csv` with the GPUs of each queue by day, for `quota_events`; optional.

    Raises:
        InvalidSpecError: A file cannot be read, or is invalid.
    """
    table = Table(source, source.csv)
    table = table.keep(table.given("submit_time", "duration"), "without submission or duration")
    if not cpu_jobs:
        table = table.keep(table.column("gpu_num").integers(whole(0, missing=0)) > 0, "without GPUs")
    gpus = table.column("gpu_num").integers(whole(0, missing=0))
    pods = np.maximum(table.column("node_num").integers(whole(0, missing=1)), 1)
    columns: dict[str, Any] = {
        "queue": table["vc"],
        "submit": table.column("submit_time").integers(TIME).view("M8[ns]"),
        "runtime": table["duration"],
        "pods": pods,
        "gpu": -(-gpus // pods),
        "cpu": table.column("cpu_num").integers(whole(0, missing=0)) / pods,
        "user": table["user"],
        "state": table["state"],
        "recorded_start": table.column("start_time").integers(TIME).view("M8[ns]"),
    }
    jobs = table.jobs(columns)
    if gpu_numbers is None or not len(jobs):
        return jobs
    events = _quota_events(Source(gpu_numbers), int(jobs["submit"].min()))
    return jobs._with(quota_events=events)  # noqa: SLF001 - same package


def _quota_events(source: Source, first: int) -> tuple[tuple[float, str, str, int], ...]:
    """Return the changes to each queue's number of GPUs from one day to the next."""
    table = Table(source, source.csv)
    days = table.column("date").integers(TIME)
    known: dict[str, int] = {}
    found = []
    names = [name for name in table.columns if name not in ("date", "total")]
    if not names:
        raise InvalidSpecError(f"{source.path}: has no column of a queue beside date and total")
    amounts = {name: table.column(name).integers(whole(0, missing=0)) for name in names}
    for row in np.argsort(days, kind="stable"):
        for name in names:
            amount = int(amounts[name][row])
            if known.get(name) != amount:
                found.append(((int(days[row]) - first) / SECOND, name, "nvidia.com/gpu", amount))
            known[name] = amount
    return tuple(found)
