"""Readers of files of jobs: tables with named columns, and logs of real clusters."""

import contextlib
import csv
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, expect_one_of
from kueuepy.errors.former import FORMER
from kueuepy.objects import LONGEST, SECOND
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.columns import (
    UNFINISHED,
    by_name,
    expect_columns,
    is_known,
    misspelled,
    remark,
    renamed,
    with_defaults,
)
from kueuepy.simulation.grouped import Floats, Ints
from kueuepy.simulation.read import Source, Table
from kueuepy.simulation.recorded import read_parquet
from kueuepy.simulation.values import row_columns
from kueuepy.tables.columns import Categorical, frame_columns
from kueuepy.tables.kinds import SPAN, TIME, number_of, parse_timestamp, shown, whole

ROW = "kueuepy:row"
"""The column with the number of each row in its file, if `read` has defaults."""

# --- tables with named columns ----------------------------------------------------------------------------------------


def _read_table(
    format_: str,
    source: Source,
    map: Mapping[str, str] | None = None,  # noqa: A002
    defaults: str | None = None,
) -> JobColumns:
    """Read a file with one job per row.

    Args:
        format_: The format.
        source: The file.
        map: The names of columns in the file, by their names in `Jobs`.
        defaults: The namespace of queues without one, if `submit` and `runtime` are optional, as for `Jobs.of`.
    """
    if is_csv := format_ == "csv":
        columns = source.csv
    else:
        columns = source.jsonl() if format_ == "jsonl" else frame_columns(read_parquet(source.path))
    table = Table(source, by_name(renamed(columns, map)))
    if defaults is not None:
        _expect_columns(table)
        table.columns = with_defaults({name: table[name] for name in table.columns}, defaults) | {ROW: table.rows}
    else:
        expect_columns(table.columns, columns)
        table = table.keep(table.given("queue", "submit"), "without queue or submit")
    # Only CSV has no types of its own.
    own = [name for name in table.columns if is_csv and not is_known(name)]
    return table.jobs({name: table.column(name).typed() if name in own else table[name] for name in table.columns})


def _expect_columns(table: Table) -> None:
    """Check that a table has the column `queue`, and no column whose name is probably misspelled.

    Raises:
        InvalidSpecError: The column is missing, or a name is misspelled.
    """
    for column in table.columns:
        if meant := misspelled(column):
            raise InvalidSpecError(f'{table.source.path}:1: "{column}" is not a column; did you mean "{meant}"?')
    if "queue" not in table.columns:
        there = ", ".join(table.columns)
        raise InvalidSpecError(f'{table.source.path}:1: column "queue" is missing; there are {there}')


# --- the Standard Workload Format of the Parallel Workloads Archive ---------------------------------------------------

_FIELDS = 18
_MOST_ID = 2.0**53
_QUEUES = {13: "group", 15: "queue", 16: "partition"}
# 2 to 4 are the parts of a job that stopped and went on.
_STATUS = {0: "failed", 1: "completed", 2: "partial", 3: "partial", 4: "partial", 5: "cancelled"}


def _read_swf(source: Source, map: Mapping[str, int] | None = None) -> JobColumns:  # noqa: A002
    """Read a log with 18 fields per job.

    | column | field |
    | --- | --- |
    | `submit`, `runtime` | 2, 4; a runtime of 0 s becomes 1 s |
    | `pods` | 5 (allocated processors), or 8 if 5 is unknown; each pod requests one CPU |
    | `memory` | 10 (requested), or 7 (used) if 10 is unknown, in KB per processor |
    | `limit` | 9 |
    | `queue` | 15; if it is unknown for all jobs, their queue is `jobs` |
    | `user`, `state` | 12, 11 |

    Args:
        source: The file.
        map: `{"queue": 13}` uses the group as the queue, and `{"queue": 16}` the partition.

    Raises:
        InvalidSpecError: A line does not have 18 numbers, or `map` is invalid.
    """
    chosen = dict(map or {}).pop("queue", 15)
    if chosen not in _QUEUES or set(map or {}) - {"queue"}:
        raise InvalidSpecError(f"map: {dict(map or {})}; of a log in SWF it must be the queue, from field 13, 15 or 16")
    header, numbers = _numbers(source)
    field = {number: numbers[:, number - 1] for number in range(1, _FIELDS + 1)}
    columns_of = {str(number): values for number, values in field.items()}
    table = Table(source, columns_of).keep(field[4] >= 0, "without a run time")
    table = table.keep(_known(table, "5", "8") > 0, "without processors")
    runtime = table["4"]
    table.note(runtime == 0, "ran for 0 s, taken for 1 s")
    memory = _known(table, "10", "7")
    columns: dict[str, Any] = {
        "queue": _names(table[str(chosen)], _QUEUES[chosen]),
        "submit": table["2"],
        # The archive rounds to seconds; a job of 0 s would never hold quota.
        "runtime": np.maximum(runtime, 1),
        "pods": _known(table, "5", "8"),
        "cpu": np.ones(len(table)),
        "limit": np.where(table["9"] > 0, table["9"], np.nan),
        "user": _names(table["12"], "user", "user"),
        "state": _states(table["11"]),
    }
    if (memory > 0).any():
        columns["memory"] = np.maximum(memory, 0) * 1024
    return table.jobs(columns, header=header)


def _numbers(source: Source) -> tuple[str, Floats]:
    lines = source.text.splitlines()
    header = "".join(f"{line}\n" for line in lines if line.startswith(";"))
    body = {number: line for number, line in enumerate(lines, 1) if line.strip() and not line.startswith(";")}
    source.line = list(body).__getitem__
    try:
        # One conversion of the whole log is much faster than one for each line.
        found = np.array(" ".join(body.values()).split(), np.float64)
    except ValueError:
        found = np.zeros(1)
    # Only now are the lines examined one by one, to name the first bad one.
    if len(found) != len(body) * _FIELDS:
        for number, line in body.items():
            if not _is_job(line):
                raise InvalidSpecError(f"{source.path}:{number}: {line.strip()!r:.99}; a job must be {_FIELDS} numbers")
    return header, found.reshape(-1, _FIELDS)


def _is_job(line: str) -> bool:
    parts = line.split()
    try:
        return len(list(map(float, parts))) == _FIELDS
    except ValueError:
        return False


def _known(table: Table, first: str, second: str) -> Floats:
    one, other = table[first], table[second]
    found: Floats = np.where(one > 0, one, other)
    return found


def _names(values: Any, word: str, alone: str = "jobs") -> Categorical:
    known, codes = np.unique(_whole(values), return_inverse=True)
    names = [f"{word}-{number}" if number >= 0 else f"{word}-unknown" for number in known.tolist()]
    return Categorical(codes.astype(np.int32), [alone] if names == [f"{word}-unknown"] else names)


def _states(values: Any) -> Categorical:
    known, codes = np.unique(_whole(values), return_inverse=True)
    return Categorical(codes.astype(np.int32), [_STATUS.get(number, "unknown") for number in known.tolist()])


def _whole(values: Any) -> Ints:
    """Return identifiers as integers; a value that is not finite or is too large becomes -1 (unknown)."""
    # Larger floats are not exact, so that two ids could become one.
    known = np.isfinite(values) & (np.abs(values) < _MOST_ID)
    return np.where(known, values, -1).astype(np.int64)


# --- Microsoft's Philly trace of 2017 (msr-fiddle/philly-traces, CC BY 4.0): Jeon et al., ATC 2019 --------------------


def _read_philly(source: Source, per_pod: int = 8) -> JobColumns:
    """Read the extract of the trace in CSV form.

    A job is submitted at `timestamp`, runs for `duration` and needs `num_gpus` GPUs. The column `cluster` contains the
    queue of a job. Jobs that ran for less than one second are left out.

    Args:
        source: The file.
        per_pod: See `LogOptions`.

    Raises:
        InvalidSpecError: The file cannot be read, or is invalid.
    """
    table = Table(source, source.csv)
    table = table.keep(table.given("cluster", "timestamp"), "without queue or submit")
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
    uneven = columns["gpu"] * columns["pods"] != gpus
    table.note(uneven, f"GPUs that do not divide into pods of {per_pod}, rounded up")
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


def _read_philly_json(source: Source) -> JobColumns:
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
    table = table.keep(table.given("vc"), "without queue")
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
    found = parse_timestamp(text) if "-" in text[1:] else None
    if found is None or not 0 <= found <= LONGEST:
        raise InvalidSpecError(f"{where}: {shown(text)}; it must be a date and time such as 2017-10-09 07:01:55")
    return found


# --- Slurm, as `sacct --parsable2` prints it (https://slurm.schedmd.com/sacct.html) -----------------------------------

_UNKNOWN = ("", "Unknown", "None", "UNLIMITED", "Partition_Limit", "INVALID")
_UNFINISHED = ("PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "CONFIGURING", "COMPLETING", "RESIZING")
_SIZES = {unit: 1024**power for power, unit in enumerate("KMGTP", 1)}
_AMOUNT = re.compile(r"([0-9.]+)([KMGTP]?)([cn]?)")
_CPUS = ("NCPUS", "AllocCPUS", "ReqCPUS")
_TASKS = re.compile(r"(.+)_\[([0-9,-]+)(?::(\d+))?(?:%\d+)?\]", re.ASCII)


def _read_sacct(source: Source, map: Mapping[str, str] | None = None) -> JobColumns:  # noqa: A002
    """Read the output of `sacct -a -P` or `sacct -a --json`, whose fields `Jobs.read` documents.

    Args:
        source: The file.
        map: The field that contains the queue.

    Raises:
        InvalidSpecError: The file cannot be read, a field is missing, or a value is invalid; the message names the row.
    """
    chosen = dict(map or {})
    queue = chosen.pop("queue", "Account")
    if chosen:
        raise InvalidSpecError(
            f'map: "{next(iter(chosen))}" is set by the format sacct; only the queue can be chosen, and the columns '
            "account and partition are kept"
        )
    if source.text.lstrip()[:1] == "{":
        entries = [_entry(job) for job in source.json(_Slurm, "the output of sacct --json").jobs]
        fields: Iterable[str] = _entry({})
        lines = [f" JobID {entry['JobID']}" for entry in entries]
    else:
        reader = csv.DictReader(source.text.splitlines(), delimiter="|", quoting=csv.QUOTE_NONE)
        numbered = [(entry, reader.line_num) for entry in reader]
        entries, lines = [entry for entry, _ in numbered], [str(line) for _, line in numbered]
        fields = reader.fieldnames or ()
    if missing := [name for name in ("JobID", "State", "Submit", queue) if name not in fields]:
        raise InvalidSpecError(
            f"{source.path}: has no field {', '.join(missing)}; sacct prints the fields of its option -o"
        )
    source.line = lines.__getitem__
    jobs = [(job, at) for at, entry in enumerate(entries) for job in _jobs(entry, queue, source, at)]
    if not jobs:
        raise InvalidSpecError(f"{source.path}: contains no job")
    source.line = lambda row: lines[jobs[row][1]]
    table = Table(source, row_columns([job for job, _ in jobs]))
    steps = sum("." in (entry["JobID"] or "") for entry in entries)
    table.notes += [("steps of jobs; left out", steps)] * bool(steps)
    table = table.keep(table.given("queue", "submit"), f"without {queue} or Submit")
    table = table.keep(table["has_run"], "ended before it started")
    left = int(np.sum(table["censored"]))
    table.notes += [(remark("runtime", UNFINISHED), left)] * bool(left)
    table.note(table["is_empty"], "no CPU, memory or GPU in AllocTRES or ReqTRES; treated as 0")
    hidden = {"has_run", "is_empty", *({"account", "partition"} - {name.lower() for name in fields})}
    return table.jobs({name: table[name] for name in table.columns if name not in hidden})


class _Slurm(msgspec.Struct):
    jobs: list[dict[str, Any]]
    kind: str = ""


def _entry(job: dict[str, Any]) -> dict[str, str | None]:
    """Return a job of `sacct --json` with the fields of `sacct -P`."""
    time, array, state = (_mapping(job.get(name)) for name in ("time", "array", "state"))
    task = _number(array.get("task_id")) or (f"[{array['task']}]" if array.get("task") else "")
    limit, words = _number(time.get("limit")), state.get("current")
    first = words[0] if isinstance(words, list) and words else words
    tres = _mapping(job.get("tres"))
    found = {
        "JobID": f"{_number(array.get('job_id'))}_{task}" if task else _number(job.get("job_id")),
        "Account": job.get("account"),
        "Partition": job.get("partition"),
        "QOS": job.get("qos"),
        "User": job.get("user"),
        "State": first,
        **{name: _number(time.get(key)) for name, key in (("Submit", "submission"), ("Start", "start"))},
        "ElapsedRaw": _number(time.get("elapsed")),
        "Timelimit": f"{limit} min" if limit else "",
        "NNodes": _number(job.get("allocation_nodes")) or "1",
        "AllocTRES": _tres(tres.get("allocated")),
        "ReqTRES": _tres(tres.get("requested")),
    }
    return {name: None if value is None else str(value) for name, value in found.items()}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> str:
    """Return a number as text; Slurm writes some numbers as mappings, and 0 for unknown times and ids."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else 0
    return str(value) if value else ""


def _tres(value: Any) -> str:
    """Return trackable resources in the form of AllocTRES; memory is in MiB."""
    found = []
    for one in map(_mapping, value if isinstance(value, list) else ()):
        name = "/".join(filter(None, (one.get("type"), one.get("name"))))
        found.append(f"{name}={one.get('count', 0)}{'M' if name == 'mem' else ''}")
    return ",".join(found)


def _jobs(entry: dict[str, str | None], queue: str, source: Source, at: int) -> Iterator[dict[str, Any]]:
    """Yield the jobs of a line: none for a step, and one for each task of an array that waits as a whole."""
    # Slurm writes several words for unknown values; a line may have fewer fields than the first one.
    given = {name: value for name, value in entry.items() if value is not None and value not in _UNKNOWN}
    job, state = given.get("JobID", ""), (given.get("State") or "UNKNOWN").split()[0]
    if "." in job:
        return
    where = source.where(at, at)
    nodes = int(_amount(given.get("NNodes", "1"), f"{where}, field NNodes")) or 1
    is_open = state in _UNFINISHED
    runtime, requests = _runtime(given, is_open=is_open), _requests(given, nodes, where)
    row: dict[str, Any] = {
        "queue": given.get(queue),
        "submit": given.get("Submit"),
        "runtime": runtime,
        "pods": nodes,
        **requests,
        "limit": given.get("Timelimit"),
        "user": given.get("User"),
        "account": given.get("Account"),
        "partition": given.get("Partition"),
        "state": state,
        "censored": is_open,
        "recorded_start": given.get("Start"),
        "has_run": is_open or ("Start" in given and not (isinstance(runtime, float) and runtime < 0)),
        "is_empty": not any(requests.values()),
    }
    for name in _tasks(job):
        yield {"name": re.sub(r"[^a-z0-9.]", "-", name.lower()), **row}


def _runtime(given: dict[str, str], *, is_open: bool) -> str | float | None:
    """Return the elapsed time as Slurm writes it, or the seconds from Start to End, or so far."""
    if elapsed := given.get("ElapsedRaw") or given.get("Elapsed"):
        return elapsed
    start, end = (parse_timestamp(given[name]) if name in given else None for name in ("Start", "End"))
    if start is not None and end is not None:
        return (end - start) / SECOND
    # Any lower bound is correct for a job that has not finished.
    return 0.0 if is_open else None


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
    tres = "AllocTRES" if "AllocTRES" in given else "ReqTRES"
    found = dict(part.partition("=")[::2] for part in given.get(tres, "").split(","))
    # Slurm lists the GPUs in total and by type, or by type only.
    gpus = ["gres/gpu"] if "gres/gpu" in found else [name for name in found if name.startswith("gres/gpu:")]

    def amount(name: str, other: str = "", *, cpus: int = 1) -> float:
        field, text = (f"{tres}, {name}", found[name]) if name in found else (other, given.get(other, "0"))
        return _amount(text, f"{where}, field {field}", nodes, cpus)

    # Slurm writes 0 for what it has not allocated yet.
    cpu = amount("cpu", next((name for name in _CPUS if given.get(name, "0") != "0"), _CPUS[0]))
    return {
        "cpu": cpu / nodes,
        "memory": math.ceil(amount("mem", "ReqMem", cpus=int(cpu)) / nodes),
        "gpu": math.ceil(sum(map(amount, gpus)) / nodes),
    }


def _amount(text: str, where: str, nodes: int = 1, cpus: int = 1) -> float:
    """Return an amount; memory without a unit is in MiB, and may be given per node (`n`) or per CPU (`c`)."""
    found = _AMOUNT.fullmatch(text)
    number = number_of(found[1]) if found else None
    if found is None or number is None:
        raise InvalidSpecError(f'{where}: is "{text}"; it must be an amount such as 16, 4000M or 64G')
    return float(number * _SIZES.get(found[2], 1) * {"n": nodes, "c": cpus}.get(found[3], 1))


# --- all formats ------------------------------------------------------------------------------------------------------

# The function that reads each format; its further arguments are the options of the format.
_READERS: dict[str, Callable[..., JobColumns]] = {
    **{name: partial(_read_table, name) for name in ("csv", "parquet", "jsonl")},
    "swf": _read_swf,
    "philly": _read_philly,
    "philly-json": _read_philly_json,
    "sacct": _read_sacct,
}
_SUFFIXES = {**{name: name for name in ("csv", "parquet", "jsonl", "swf")}, "pq": "parquet", "ndjson": "jsonl"}
TABLE_SUFFIXES = tuple(_SUFFIXES)
"""The suffixes of names of tables and logs; a log of Slurm can have any other suffix."""
# The columns by which a CSV file is recognized as an extract of Philly's trace.
_PHILLY = {"timestamp", "duration", "num_gpus", "cluster"}


class LogOptions(TypedDict, total=False):
    """Options of log formats.

    Attributes:
        per_pod: The largest number of GPUs of a pod, for `philly`; 8 by default. A job with more GPUs has several pods.
            If `per_pod` is 0, every job has one pod.
    """

    per_pod: int


def read(
    path: str | os.PathLike[str] | Source,
    name: str,
    columns: Mapping[str, str] | None,
    options: Mapping[str, Any],
    defaults: str | None = None,
) -> JobColumns:
    """Read jobs from a file, as described at `Jobs.read`.

    Args:
        path: The file.
        name: The format.
        columns: The argument `map`.
        options: The options of the format.
        defaults: As for `_read_table`; logs have all columns.
    """
    source = path if isinstance(path, Source) else Source(path)
    if name in FORMER["format"]:
        raise InvalidSpecError(f"format: {name!r:.99} no longer exists: {FORMER['format'][name]}")
    expect_one_of("format", name, ("auto", *_READERS))
    format_ = _format_of(source, columns) if name == "auto" else name
    more, reader = {**options, **({} if columns is None else {"map": columns})}, _READERS[format_]
    if unknown := sorted(set(more) - set(signature(reader).parameters)):
        raise InvalidSpecError(f"format {format_}: takes no option {unknown[0]!r:.99}")
    if defaults is not None and "defaults" in signature(reader).parameters:
        more["defaults"] = defaults
    return reader(source, **more)


def is_log(path: str | os.PathLike[str]) -> bool:
    """Return whether a file contains jobs as a table or a log, rather than manifests or a saved state."""
    with contextlib.suppress(InvalidSpecError):
        return bool(_known_format(Source(path)))
    return False


def _format_of(source: Source, columns: Mapping[str, str] | None) -> str:
    """Return the format of a file, from the suffix of its name and its content."""
    found = _known_format(source)
    if not found:
        known = ", ".join(_READERS)
        raise InvalidSpecError(f"{source.path}: its name has no known suffix; format= must be one of {known}")
    return "philly" if found == "csv" and not columns and {*source.csv} >= _PHILLY else found


def _known_format(source: Source) -> str:
    suffix = Path(source.path.name.removesuffix(".gz")).suffix[1:]
    if suffix in ("", "txt", "log", "psv", "csv"):
        first = source.text.partition("\n")[0].strip()
        if {"JobID", "State"} <= {*first.split("|")}:
            return "sacct"
    if suffix == "json":
        with contextlib.suppress(InvalidSpecError):  # JSON of another kind
            return "" if source.json(_Slurm, "").kind else "sacct"
    return _SUFFIXES.get(suffix, "")
