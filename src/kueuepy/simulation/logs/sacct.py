"""Reader of Slurm's accounting log, as `sacct --parsable2` prints it (https://slurm.schedmd.com/sacct.html)."""

from __future__ import annotations

import csv
import math
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.read import Source, Table
from kueuepy.simulation.values import row_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kueuepy.simulation.base import JobColumns

_UNKNOWN = ("", "Unknown", "None", "UNLIMITED", "Partition_Limit", "INVALID")
_UNFINISHED = ("PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "CONFIGURING", "COMPLETING", "RESIZING")
_SIZES = {unit: 1024**power for power, unit in enumerate("KMGTP", 1)}
_AMOUNT = re.compile(r"([0-9.]+)([KMGTP]?)([cn]?)")
_TASKS = re.compile(r"(.+)_\[([0-9,-]+)(?::(\d+))?(?:%\d+)?\]")


def read_sacct(source: Source, map: Mapping[str, str] | None = None) -> JobColumns:  # noqa: A002
    """Read the output of `sacct -a -P -o JobID,User,Account,Submit,Start,End,Elapsed,NNodes,AllocTRES,ReqTRES,State`.

    | column | field |
    | --- | --- |
    | `name` | JobID; `1002_1` becomes `1002-1`. Each waiting task of an array is one job |
    | `queue` | Account; `map={"queue": "Partition"}` uses another field |
    | `submit`, `recorded_start`, `runtime` | Submit, Start, ElapsedRaw or Elapsed; times without a zone are in UTC |
    | `pods` | NNodes: one pod per node |
    | `cpu`, `memory`, `gpu` | AllocTRES or ReqTRES, or NCPUS and ReqMem, divided by the number of nodes |
    | `limit`, `user`, `state` | Timelimit, User, first word of State |
    | `censored` | whether the job is pending or running |

    Memory is in units of 1024: `64G` is 64 GiB. Steps such as `1001.batch` and jobs that ended before they started are
    left out.

    Args:
        source: The file.
        map: The field that contains the queue.

    Raises:
        InvalidSpecError: The file cannot be read, a field is missing, or a value is invalid; the message names the row.
    """
    chosen = dict(map or {})
    queue = chosen.pop("queue", "Account")
    lines = csv.DictReader(source.text().splitlines(), delimiter="|", quoting=csv.QUOTE_NONE)
    if missing := [name for name in ("JobID", "State", "Submit", queue) if name not in (lines.fieldnames or ())]:
        raise InvalidSpecError(f"{source.path}: has no field {missing[0]}; sacct prints the fields of its option -o")
    if chosen:
        raise InvalidSpecError(f'map: "{next(iter(chosen))}" is set by the format sacct; only the queue can be chosen')
    entries = list(lines)
    steps = sum("." in entry["JobID"] for entry in entries)
    rows = list(chain.from_iterable(_jobs(entry, queue, source, at) for at, entry in enumerate(entries)))
    table = Table(source, row_columns(rows))
    table.notes += [("steps of jobs; left out", steps)] * bool(steps)
    table = table.keep(table["has_run"], "ended before it started")
    return table.jobs({name: table[name] for name in table.columns if name != "has_run"})


def _jobs(entry: dict[str, str | None], queue: str, source: Source, at: int) -> Iterator[dict[str, Any]]:
    """Yield the jobs of a line: none for a step, and one for each task of an array that waits as a whole."""
    # Slurm writes several words for unknown values; a line may have fewer fields than the first one.
    given = {name: value for name, value in entry.items() if value is not None and value not in _UNKNOWN}
    job, state = given.get("JobID", ""), (given.get("State") or "UNKNOWN").split()[0]
    if "." in job:
        return
    where = source.where(at, at)
    nodes = int(_amount(given.get("NNodes", "1"), where, 1, 1)) or 1
    is_open = state in _UNFINISHED
    row: dict[str, Any] = {
        "queue": given.get(queue),
        "submit": given.get("Submit"),
        "runtime": given.get("ElapsedRaw") or given.get("Elapsed"),
        "pods": nodes,
        **_requests(given, nodes, where),
        "limit": given.get("Timelimit"),
        "user": given.get("User"),
        "state": state,
        "censored": is_open,
        "recorded_start": given.get("Start"),
        "has_run": is_open or "Start" in given,
    }
    for name in _tasks(job):
        yield {"name": re.sub(r"[^a-z0-9.]", "-", name.lower()), **row}


def _tasks(job: str) -> Iterator[str]:
    """Yield the names of the tasks of an array such as `7_[1-3,5%2]`; for any other job, its own name."""
    array = _TASKS.fullmatch(job)
    if array is None:
        yield job
        return
    for part in array[2].split(","):
        first, _, last = part.partition("-")
        yield from (f"{array[1]}_{task}" for task in range(int(first), int(last or first) + 1, int(array[3] or 1)))


def _requests(given: dict[str, str], nodes: int, where: str) -> dict[str, Any]:
    """Return the requests of one pod, rounded up."""
    found = dict(part.partition("=")[::2] for part in (given.get("AllocTRES") or given.get("ReqTRES") or "").split(","))
    # Slurm lists the GPUs in total and by type, or by type only.
    typed = [amount for name, amount in found.items() if name.startswith("gres/gpu:")]
    gpus = [found["gres/gpu"]] if "gres/gpu" in found else typed
    cpus = _amount(found.get("cpu") or given.get("NCPUS") or "0", where, 1, 1)
    memory = _amount(found.get("mem") or given.get("ReqMem") or "0", where, nodes, int(cpus))
    return {
        "cpu": cpus / nodes,
        "memory": math.ceil(memory / nodes),
        "gpu": math.ceil(sum(_amount(amount, where, 1, 1) for amount in gpus) / nodes),
    }


def _amount(text: str, where: str, nodes: int, cpus: int) -> float:
    """Return an amount; memory without a unit is in MiB, and may be given per node (`n`) or per CPU (`c`)."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise InvalidSpecError(f'{where}: is "{text}"; it must be an amount such as 16, 4000M or 64G')
    return float(float(found[1]) * _SIZES.get(found[2], 1) * {"n": nodes, "c": cpus}.get(found[3], 1))
