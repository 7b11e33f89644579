"""Reader of Shanghai AI Laboratory's Acme trace of 2023 (InternLM/AcmeTrace, CC BY 4.0): clusters Seren and Kalos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.read import Source, Table
from kueuepy.simulation.values import TIME, whole

if TYPE_CHECKING:
    from kueuepy.simulation.base import JobColumns


def read_acme(source: Source, queue: str = "type") -> JobColumns:
    """Read `trace_seren.csv` or `trace_kalos.csv`.

    A job has `node_num` pods. The `gpu_num` GPUs (rounded up per pod) and the `cpu_num` CPUs are divided equally among
    the pods. The runtime of a job is the time from `start_time` to `end_time`, because in the Kalos trace, the column
    `duration` is measured from the submission. The time zones of the timestamps are taken into account.

    Args:
        source: The file.
        queue: The column to use as the queue: `type` (the default) or `user`.

    Raises:
        InvalidSpecError: `queue` is neither `type` nor `user`, or the file is invalid.
    """
    if queue not in ("type", "user"):
        raise InvalidSpecError(f"queue: {queue!r}; it must be type or user")
    table = Table(source, source.csv)
    table = table.keep(table.given("submit_time", "start_time", "end_time"), "without submission, start or end")
    start, end = table.column("start_time").integers(TIME), table.column("end_time").integers(TIME)
    table = table.keep(end >= start, "ends before it starts")
    start, end = start[end >= start], end[end >= start]
    gpus = table.column("gpu_num").integers(whole(0, missing=0))
    pods = np.maximum(table.column("node_num").integers(whole(0, missing=1)), 1)
    columns: dict[str, Any] = {
        "queue": table[queue],
        "submit": table.column("submit_time").integers(TIME).view("M8[ns]"),
        "runtime": (end - start).view("m8[ns]"),
        "pods": pods,
        "gpu": -(-gpus // pods),
        "cpu": table.column("cpu_num").integers(whole(0, missing=0)) / pods,
        "state": table["state"],
        "user": table["user"],
        "kind": table["type"],
        "recorded_start": start.view("M8[ns]"),
    }
    if "mem_per_pod_GB" in table.columns:
        columns["memory"] = table.column("mem_per_pod_GB").number() * 10**9
    return table.jobs(columns)
