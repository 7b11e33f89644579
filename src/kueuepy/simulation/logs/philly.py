"""Readers of Microsoft's Philly trace of 2017 (msr-fiddle/philly-traces, CC BY 4.0): Jeon et al., ATC 2019."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.objects.times import LONGEST
from kueuepy.simulation.read import Source, Table
from kueuepy.simulation.spans import parse_moment, shown
from kueuepy.simulation.values import SPAN, TIME, row_columns, whole

if TYPE_CHECKING:
    from kueuepy.simulation.base import JobColumns


def read_philly(source: Source, per_pod: int = 8) -> JobColumns:
    """Read the extract of the trace in CSV form.

    A job is submitted at `timestamp`, runs for `duration` and needs `num_gpus` GPUs. The column `cluster` contains the
    queue of a job. Jobs that ran for less than one second are left out.

    Args:
        source: The file.
        per_pod: The largest number of GPUs in a pod; 8 by default. Jobs with more GPUs have several pods. If `per_pod`
            is 0, every job has one pod.

    Raises:
        InvalidSpecError: The file cannot be read, or is invalid.
    """
    table = Table(source, source.csv)
    duration = table.column("duration").integers(SPAN)
    gpus = table.column("num_gpus").integers(whole(0, missing=0))
    table = table.keep(duration >= 10**9, "ran for less than 1 s")
    duration, gpus = duration[duration >= 10**9], gpus[duration >= 10**9]
    pods = -(-gpus // per_pod) if per_pod else np.ones_like(gpus)
    columns: dict[str, Any] = {
        "queue": table["cluster"],
        "submit": table.column("timestamp").integers(TIME).view("M8[ns]"),
        "runtime": duration.view("m8[ns]"),
        "pods": np.maximum(pods, 1),
        "gpu": -(-gpus // np.maximum(pods, 1)),
    }
    if (uneven := int((columns["gpu"] * columns["pods"] != gpus).sum())) > 0:
        table.notes.append((f"GPUs that do not divide into pods of {per_pod}, rounded up", uneven))
    return table.jobs(columns)


class _Server(msgspec.Struct):
    gpus: list[Any] | None = None


class _Attempt(msgspec.Struct):
    start_time: str | None = None
    end_time: str | None = None
    detail: list[_Server] | None = None


class _Job(msgspec.Struct):
    jobid: str = ""
    vc: str | None = None
    user: str | None = None
    status: str | None = None
    submitted_time: str | None = None
    attempts: list[_Attempt] | None = None


def read_philly_json(source: Source) -> JobColumns:
    """Read the original `cluster_job_log`.

    The runtime of a job is the sum of the durations of its attempts. The servers and GPUs of the first attempt
    determine the pods. The field `vc` contains the queue of a job.

    Args:
        source: The file.

    Raises:
        InvalidSpecError: The file is not a list of jobs, or a time is not a date and time.
    """
    jobs = source.json(list[_Job], "a JSON list of jobs")
    rows = [_row(job, source.where(number, number)) for number, job in enumerate(jobs)]
    table = Table(source, row_columns(rows))
    table = table.keep(table.given("submit", "runtime"), "no attempt, or one without times")
    table = table.keep(table["gpus"] > 0, "without GPUs")
    gpus, pods = table["gpus"], table["pods"]
    return table.jobs(
        {
            "name": table["name"],
            "queue": table["vc"],
            "submit": _dates(table, "submit"),
            "runtime": table["runtime"],
            "pods": pods,
            "gpu": -(-gpus // pods),
            "user": table["user"],
            "state": table["state"],
            "recorded_start": _dates(table, "start"),
        }
    )


def _dates(table: Table, name: str) -> Any:
    return np.array(table[name].tolist(), np.int64).view("M8[ns]")


def _row(job: _Job, where: str) -> dict[str, Any]:
    attempts = job.attempts or []
    times = [(_time(one.start_time, where), _time(one.end_time, where)) for one in attempts]
    runs = [end - start for start, end in times if start is not None and end is not None]
    whole = bool(times) and len(runs) == len(times)
    if min(runs, default=0) < 0:
        raise InvalidSpecError(f"{where}: attempts: one ends before it starts; end_time must be start_time or later")
    detail = attempts[0].detail or [] if attempts else []
    return {
        "name": job.jobid.replace("_", "-"),
        "vc": job.vc,
        "user": job.user,
        "state": job.status,
        "submit": _time(job.submitted_time, where),
        "runtime": sum(runs) / SECOND if whole else None,
        "start": times[0][0] if whole else None,
        "gpus": sum(len(server.gpus or ()) for server in detail),
        "pods": max(1, len(detail)),
    }


def _time(text: str | None, where: str) -> int | None:
    if text in (None, "None", ""):
        return None
    found = parse_moment(text) if "-" in text[1:] else None
    if found is None or not 0 <= found <= LONGEST:
        raise InvalidSpecError(f"{where}: {shown(text)}; it must be a date and time such as 2017-10-09 07:01:55")
    return found
