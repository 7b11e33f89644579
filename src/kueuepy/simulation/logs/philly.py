"""Microsoft's Philly log of 2017 (msr-fiddle/philly-traces, CC BY 4.0): Jeon et al., ATC 2019."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.read import Source, Table, row_columns

if TYPE_CHECKING:
    from kueuepy.simulation.base import JobColumns


def read_philly(source: Source, per_pod: int = 8) -> JobColumns:
    """The CSV extract: submitted at `timestamp`, runs for `duration`, `num_gpus` GPUs, the queue is `cluster`.

    Args:
        source: The file.
        per_pod: How many GPUs a pod has at most; more become pods of so many. 0: always one pod.
    """
    table = Table(source, source.csv())
    duration = table.column("duration").spans()
    gpus = table.column("num_gpus").whole(0, missing=0)
    table = table.keep(duration >= 10**9, "ran for less than 1 s")
    duration, gpus = duration[duration >= 10**9], gpus[duration >= 10**9]
    pods = -(-gpus // per_pod) if per_pod else np.ones_like(gpus)
    columns: dict[str, Any] = {
        "queue": table.column("cluster").values,
        "submit": table.column("timestamp").times().view("M8[ns]"),
        "runtime": duration.view("m8[ns]"),
        "pods": np.maximum(pods, 1),
        "gpu": -(-gpus // np.maximum(pods, 1)),
    }
    if (uneven := int((columns["gpu"] * columns["pods"] != gpus).sum())) > 0:
        table.notes.append((f"GPUs that do not divide into pods of {per_pod}, rounded up", uneven))
    return table.jobs(columns)


def read_philly_json(source: Source) -> JobColumns:
    """`cluster_job_log`: runs for the sum of its attempts, on the servers and GPUs of the first one; the queue is `vc`.

    Raises:
        InvalidSpecError: The file is no list of jobs.
    """
    try:
        jobs = msgspec.json.decode(source.bytes(), type=list[dict[str, Any]])
    except msgspec.DecodeError as error:
        raise InvalidSpecError(f"{source.path}: {error}; it must be a JSON list of jobs") from None
    table = Table(source, row_columns([_row(job) for job in jobs]))
    table = table.keep(table.given("submit", "runtime"), "no attempt, or one without times")
    table = table.keep(np.array([gpus > 0 for gpus in table.column("gpus").values.tolist()], bool), "without GPUs")
    gpus = np.array(table.column("gpus").values.tolist(), np.int64)
    pods = np.array(table.column("pods").values.tolist(), np.int64)
    return table.jobs(
        {
            "name": table.column("name").values,
            "queue": table.column("vc").values,
            "submit": table.column("submit").values,
            "runtime": table.column("runtime").values,
            "pods": pods,
            "gpu": -(-gpus // pods),
            "user": table.column("user").values,
            "state": table.column("state").values,
            "recorded_start": table.column("start").times().view("M8[ns]"),
        }
    )


def _row(job: dict[str, Any]) -> dict[str, Any]:
    attempts = job.get("attempts") or []
    times = [(_time(attempt.get("start_time")), _time(attempt.get("end_time"))) for attempt in attempts]
    whole = bool(times) and all(start is not None and end is not None for start, end in times)
    detail = attempts[0].get("detail") or [] if attempts else []
    return {
        "name": str(job.get("jobid", "")).replace("_", "-"),
        "vc": job.get("vc"),
        "user": job.get("user"),
        "state": job.get("status"),
        "submit": _time(job.get("submitted_time")),
        "runtime": float(sum((end - start) / np.timedelta64(1, "s") for start, end in times)) if whole else None,
        "start": times[0][0] if whole else None,
        "gpus": sum(len(server.get("gpus") or ()) for server in detail),
        "pods": max(1, len(detail)),
    }


def _time(text: Any) -> Any:
    return None if text in (None, "None", "") else np.datetime64(text)
