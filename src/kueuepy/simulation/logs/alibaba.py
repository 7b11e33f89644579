"""Readers of the traces of Alibaba's GPU clusters (alibaba/clusterdata).

The traces are PAI (2020), openb (2023), DLRM (2025) and spot GPUs (2026).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.read import Source, Table
from kueuepy.simulation.values import TIME, whole

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from kueuepy.simulation.base import JobColumns

_QOS = {"LS": 100, "Guaranteed": 80, "Burstable": 50, "BE": 0}
_TYPES = {"HP": 100, "Spot": 0}
_PENDING = ("drop", "keep")


def read_alibaba2020(
    source: Source, *, tasks: str | os.PathLike[str] | None = None, share: bool = False, queue: str = "group"
) -> JobColumns:
    """Read the job table and the task table of PAI; each task becomes a job.

    A task has `inst_num` pods. Each pod requests `plan_cpu`/100 cores, `plan_mem` GiB and `plan_gpu`/100 GPUs.

    Args:
        source: The job table, with a header: `job_name`, `inst_id`, `user`, `status`, `start_time`, `end_time`.
        tasks: The task table, with a header; by default, `pai_task_table.csv` in the directory of the job table.
        share: Whether to keep fractional GPUs, as the resource `alibaba.com/gpu-percent`. By default, fractional GPUs
            are rounded up.
        queue: The column to use as the queue: `group` (the default) if the job table has this column, otherwise `user`.

    Raises:
        InvalidSpecError: A file cannot be read, or is invalid.
    """
    jobs = Table(source, source.csv)
    column = queue if queue in jobs.columns else "user"
    users = dict(zip(jobs.column("job_name").texts(), jobs.column(column).texts(), strict=True))
    there = Source(source.path.with_name("pai_task_table.csv") if tasks is None else tasks)
    table = Table(there, there.csv)
    table = table.keep(table.column("status").names() == "Terminated", "status is not Terminated")
    table = table.keep(table.given("start_time", "end_time"), "without start or end")
    of_job = np.array([users.get(name) is not None for name in table.column("job_name").texts()], bool)
    table = table.keep(of_job, "of no job in the job table")
    start, end = table.column("start_time").integers(TIME), table.column("end_time").integers(TIME)
    gpu = _numbers(table, "plan_gpu")
    columns: dict[str, Any] = {
        "queue": [users[name] for name in table.column("job_name").texts()],
        "submit": start.view("M8[ns]"),
        "runtime": np.maximum(end - start, 0).view("m8[ns]"),
        "pods": np.maximum(table.column("inst_num").integers(whole(0, missing=1)), 1),
        "cpu": _numbers(table, "plan_cpu") / 100,
        "memory": _numbers(table, "plan_mem") * 2**30,
        ("alibaba.com/gpu-percent" if share else "gpu"): np.round(gpu) if share else np.ceil(gpu / 100),
        "kind": table["task_name"],
    }
    if "gpu_type" in table.columns:
        columns["flavor"] = _flavors(table, "gpu_type")
    return table.jobs(columns)


def read_alibaba2023(source: Source, *, share: bool = False, pending: str = "drop") -> JobColumns:
    """Read a pod list of the openb trace; each pod becomes a job.

    A pod requests `cpu_milli`, `memory_mib` and `num_gpu` GPUs. The pod runs from `scheduled_time` to `deletion_time`.
    The column `qos` determines the queue and the priority: LS 100, Guaranteed 80, Burstable 50, BE 0.

    Args:
        source: The file `openb_pod_list_*.csv`.
        share: Whether to keep fractional GPUs, in thousandths of a GPU, as the resource `alibaba.com/gpu-milli`;
            `False` by default.
        pending: How to treat pods that were never scheduled: `drop` (the default) excludes them, and `keep` starts them
            at their creation.

    Raises:
        InvalidSpecError: `pending` has an unknown value, or the file is invalid.
    """
    if pending not in _PENDING:
        raise InvalidSpecError(f"pending: {pending!r}; it must be one of {', '.join(_PENDING)}")
    table = Table(source, source.csv)
    if pending == "drop":
        table = table.keep(table.given("scheduled_time"), "never scheduled")
    table, (created, _, start, deleted) = _lives(table)
    gpus = table.column("num_gpu").integers(whole(0, missing=0))
    columns: dict[str, Any] = {
        "name": table["name"],
        "queue": [name.lower() for name in table.column("qos").texts()],
        "submit": created.view("M8[ns]"),
        "runtime": (deleted - start).view("m8[ns]"),
        "cpu": _numbers(table, "cpu_milli") / 1000,
        "memory": _numbers(table, "memory_mib") * 2**20,
        ("alibaba.com/gpu-milli" if share else "gpu"): gpus * _numbers(table, "gpu_milli") if share else gpus,
        "priority": [_QOS.get(name, 0) for name in table.column("qos").texts()],
        "flavor": _flavors(table, "gpu_spec"),
        "recorded_start": start.view("M8[ns]"),
    }
    return table.jobs(columns)


def read_alibaba2025(source: Source, *, unfinished: str = "drop") -> JobColumns:
    """Read instances of recommendation models (DLRM); each instance becomes a job with one pod.

    The queue is the value of `app_name`. An instance requests `cpu_request` cores, `memory_request` and `disk_request`
    GiB and `gpu_request` GPUs. The instance runs from `scheduled_time` to `deletion_time`. The column `kind` contains
    the value of `role`: CN for a node with GPUs, HN for a node without GPUs.

    Args:
        source: The file `disaggregated_DLRM.csv`.
        unfinished: How to treat instances that were created before or deleted after the recorded period. `drop` (the
            default) excludes these instances. `keep` submits instances that were created before the period at its
            beginning, and lets instances that were deleted after the period run indefinitely.

    Raises:
        InvalidSpecError: `unfinished` has an unknown value, or the file is invalid.
    """
    if unfinished not in _PENDING:
        raise InvalidSpecError(f"unfinished: {unfinished!r}; it must be one of {', '.join(_PENDING)}")
    table = Table(source, source.csv)
    if unfinished == "drop":
        table = table.keep(table.given("creation_time"), "created before the recorded time")
        table = table.keep(table.given("deletion_time"), "deleted after the recorded time")
    table, (created, scheduled, start, deleted) = _lives(table, endless=True)
    return table.jobs(
        {
            "name": [name.replace("_", "-") for name in table.column("instance_sn").texts()],
            "queue": [name.replace("_", "-") for name in table.column("app_name").texts()],
            "submit": np.maximum(created, 0).view("M8[ns]"),
            "runtime": np.where(deleted < 0, -1, deleted - start).view("m8[ns]"),
            "gpu": table.column("gpu_request").integers(whole(0, missing=0)),
            "cpu": _numbers(table, "cpu_request"),
            "memory": np.ceil(_numbers(table, "memory_request") * 2**30),
            "ephemeral-storage": np.ceil(_numbers(table, "disk_request") * 2**30),
            "kind": table["role"],
            "recorded_start": scheduled.view("M8[ns]"),
        }
    )


def read_alibaba2026_spot(source: Source, map: Mapping[str, str] | None = None) -> JobColumns:  # noqa: A002
    """Read the trace of jobs on spot GPUs.

    A job has `worker_num` pods, each with `gpu_request` GPUs and `cpu_request` CPUs. The column `organization` contains
    the queue of a job, and the column `gpu_model` contains its flavor. Jobs of type HP have priority 100, and jobs of
    type Spot have priority 0.

    Args:
        source: The file `job_info_df.csv`.
        map: `{"queue": NAME}` uses the column NAME as the queue.

    Raises:
        InvalidSpecError: The file cannot be read, or is invalid.
    """
    table = Table(source, source.csv)
    table = table.keep(table.given("submit_time", "duration"), "without submission or duration")
    columns: dict[str, Any] = {
        "queue": table[(map or {}).get("queue", "organization")],
        "submit": table["submit_time"],
        "runtime": table["duration"],
        "pods": np.maximum(table.column("worker_num").integers(whole(0, missing=1)), 1),
        "gpu": np.ceil(_numbers(table, "gpu_request")),
        "cpu": _numbers(table, "cpu_request"),
        "flavor": _flavors(table, "gpu_model"),
        "priority": [_TYPES.get(kind, 0) for kind in table.column("job_type").texts()],
        "kind": table["job_type"],
    }
    return table.jobs(columns)


def _lives(table: Table, *, endless: bool = False) -> tuple[Table, NDArray[np.int64]]:
    """Return the pods that were not deleted before they started, and an array of their times with shape (4, pods).

    The rows of the array are the times of creation, scheduling, start and deletion. If `endless` is true, pods that
    were never deleted are kept.
    """
    created, scheduled, deleted = (
        table.column(f"{of}_time").integers(TIME) for of in ("creation", "scheduled", "deletion")
    )
    start = np.maximum(np.where(scheduled < 0, created, scheduled), 0)
    keep = (deleted >= start) | (endless & (deleted < 0))
    times = np.array([created, scheduled, start, deleted])[:, keep]
    return table.keep(keep, "deleted before it was scheduled"), times


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    return table.column(name).number()


def _flavors(table: Table, name: str) -> list[str | None]:
    """Return the first GPU model in each value of a column, converted to a valid name of a ResourceFlavor."""
    return [value.partition("|")[0].lower().replace("_", "-") or None for value in table.column(name).texts()]
