"""Readers of job files: tables with named columns, and traces of real clusters."""

from __future__ import annotations

import gzip
import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.settings import spelled_out
from kueuepy.simulation.arrays import array_of
from kueuepy.simulation.arrow import parquet_columns
from kueuepy.simulation.base import JobColumns, renamed
from kueuepy.simulation.cells import csv_columns, line_of
from kueuepy.simulation.columns import ALIASES, is_known
from kueuepy.simulation.values import Column
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import NDArray
    from typing_extensions import Unpack

_TABLES = ("csv", "parquet", "jsonl")
_LOGS = ("swf", "philly", "philly-json", "helios", "acme", "borg2019", "batsim")
_ALIBABA = ("alibaba2020", "alibaba2023", "alibaba2025", "alibaba2026-spot")
_OTHER_NAMES = {"openb": "alibaba2023", "pai": "alibaba2020", "dlrm": "alibaba2025"}
"""Aliases of formats; `alibaba` stands for any Alibaba log and is resolved by the header of the file."""
FORMATS = (*_TABLES, *_LOGS, *_ALIBABA, "alibaba", *_OTHER_NAMES)
"""The names of the formats that `read` accepts."""
_BY_SUFFIX = {**{name: name for name in (*_TABLES, "swf")}, "pq": "parquet", "ndjson": "jsonl"}
_BY_HEADER = {
    "philly": {"timestamp", "duration", "num_gpus", "cluster"},
    "helios": {"job_id", "vc", "gpu_num", "cpu_num", "node_num", "submit_time"},
    "acme": {"job_id", "node_num", "gpu_num", "type", "submit_time", "start_time"},
    "alibaba2020": {"job_name", "inst_id", "user", "status", "start_time", "end_time"},
    "alibaba2025": {"instance_sn", "app_name", "gpu_request", "creation_time", "deletion_time"},
    "alibaba2023": {"cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time"},
    "alibaba2026-spot": {"organization", "gpu_model", "gpu_request", "worker_num", "job_type"},
}


class Source:
    """An input file.

    Attributes:
        path: The path of the file, which is not read yet.
        line: A function that returns the number of the line of a row; `None` if rows are not lines.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Store the path."""
        self.path = Path(path)
        self.line: Callable[[int], int] | None = None
        self._csv: dict[str, Any] = {}

    def csv(self) -> dict[str, Any]:
        """Return the columns of a CSV file as text; the file is read only once.

        Raises:
            InvalidSpecError: The file cannot be read, or a line has more or fewer cells than the first line.
        """
        if not self._csv:
            text = self.text()
            self._csv, self.line = csv_columns(text, str(self.path)), lambda row: line_of(text, row)
        return dict(self._csv)

    def jsonl(self) -> dict[str, Any]:
        """Return the columns of a file with a JSON object in each line.

        Raises:
            InvalidSpecError: The file cannot be read, or a line is not a JSON object.
        """
        rows: dict[int, dict[str, Any]] = {}
        for number, line in enumerate(self.text().split("\n"), 1):
            if line.strip():
                rows[number] = self._decoded(line, dict[str, Any], "a line must be a JSON object", f":{number}")
        self.line = list(rows).__getitem__
        return row_columns(list(rows.values()))

    def json(self, kind: Any, what: str) -> Any:
        """Decode the file as JSON of a given type, which `what` describes for error messages.

        Raises:
            InvalidSpecError: The file cannot be read, or its content has a different type.
        """
        return self._decoded(self.text(), kind, f"it must be {what}")

    def _decoded(self, text: str, kind: Any, allowed: str, place: str = "") -> Any:
        try:
            return msgspec.json.decode(text, type=kind)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise InvalidSpecError(f"{self.path}{place}: {error}; {allowed}") from None

    def text(self) -> str:
        """Return the content of the file as UTF-8 text, decompressed if it is gzipped.

        Raises:
            InvalidSpecError: The file cannot be read, or is not UTF-8 text.
        """
        try:
            data = self.path.read_bytes()
            return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
        except (OSError, EOFError, gzip.zlib.error) as error:  # type: ignore[attr-defined]
            raise InvalidSpecError(
                f"{self.path}: cannot be read: {getattr(error, 'strerror', None) or error}"
            ) from None
        except UnicodeDecodeError as error:
            raise InvalidSpecError(f"{self.path}: is not UTF-8 text: {error.reason} at byte {error.start}") from None

    def where(self, row: int, there: int) -> str:
        """Return the description of a row for error messages, given its number in the table and in the file."""
        return f"jobs row {row} ({Path(self.place(there)).name})"

    def place(self, row: int) -> str:
        """Return the path of the file, with the line of a row unless rows are not lines."""
        return f"{self.path}:{self.line(row)}" if self.line else str(self.path)


class Table:
    """The columns of a file as text."""

    def __init__(self, source: Source, columns: Mapping[str, Any], rows: NDArray[np.int64] | None = None) -> None:
        """Create a table from columns of equal length; `rows` are their row numbers in the file, by default all."""
        self.source = source
        self.columns: dict[str, Any] = {name: array_of(name, values) for name, values in columns.items()}
        self.rows = np.arange(len(next(iter(self.columns.values()), ()))) if rows is None else rows
        self.notes: list[tuple[str, int]] = []

    def where(self, row: int) -> str:
        """Return the description of a row for error messages."""
        return self.source.where(row, int(self.rows[row]))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def column(self, name: str) -> Column:
        """Return one column.

        Raises:
            InvalidSpecError: The file does not have the column.
        """
        if name not in self.columns:
            raise InvalidSpecError(
                f'{self.source.path.name}: column "{name}" is missing; there are {", ".join(self.columns)}'
            )
        return Column(name, self.columns[name], self.where)

    def keep(self, mask: Any, why: str) -> Table:
        """Return the rows for which the mask is true, with a note about the rows left out, which gives the reason."""
        chosen = np.asarray(mask, bool)
        if chosen.all():
            return self
        rows = np.flatnonzero(chosen)
        columns = {
            name: values[rows] if isinstance(values, Categorical) else values.take(rows)
            for name, values in self.columns.items()
        }
        found = Table(self.source, columns, self.rows[rows])
        found.notes = [*self.notes, (why, len(chosen) - len(rows))]
        return found

    def given(self, *names: str) -> Any:
        """Return a mask of the rows that have a value in all of the given columns."""
        return ~np.any([self.column(name).missing() for name in names], axis=0)

    def jobs(self, columns: Mapping[str, Any], **other: Any) -> JobColumns:
        """Return a table of jobs with the given columns, sorted by submission time."""
        found = JobColumns(columns, where=self.where, notes=self.notes)
        found = found._with({name: found[name] for name in found.names}, **other)  # noqa: SLF001 - same package
        submit = found["submit"]
        return found if (submit[1:] >= submit[:-1]).all() else found.sort()


class LogOptions(TypedDict, total=False):
    """Options of log formats; the modules in `kueuepy.simulation.logs` document them in detail.

    Attributes:
        queue: The column to use as the queue (`acme`, `alibaba2020`), or the name of the queue (`batsim`).
        tasks: The path of the task table, for `alibaba2020`.
        share: Whether to keep fractional GPUs, for `alibaba2020` and `alibaba2023`.
        pending: How to treat pods that never ran, for `alibaba2023`.
        unfinished: How to treat instances without a start or an end, for `alibaba2025`.
        instances: The path of the instance table, for `borg2019`.
        machine: The number of cores and the bytes of memory of a whole machine, for `borg2019`.
        cpu_jobs: Whether to keep jobs without GPUs, for `helios`.
        gpu_numbers: The path of a table with the number of GPUs of each queue, for `helios`.
        per_pod: The largest number of GPUs of a pod, for `philly`.
    """

    queue: str
    tasks: str | os.PathLike[str] | None
    share: bool
    pending: str
    unfinished: str
    instances: str | os.PathLike[str] | None
    machine: tuple[float, float]
    cpu_jobs: bool
    gpu_numbers: str | os.PathLike[str] | None
    per_pod: int


@spelled_out(LogOptions)
def read(
    path: str | os.PathLike[str],
    format: str = "auto",  # noqa: A002
    map: Mapping[str, str] | None = None,  # noqa: A002
    **options: Unpack[LogOptions],
) -> JobColumns:
    """Read jobs from a file; they are sorted by submission time, and jobs with equal times keep their order.

    | format | content |
    | --- | --- |
    | `csv`, `parquet`, `jsonl` | one job per row, with the column names of `Jobs`; other columns are kept |
    | `swf` | Standard Workload Format of the Parallel Workloads Archive; `map={"queue": 13}` uses field 13 as queue |
    | `philly`, `philly-json` | Microsoft's Philly trace of 2017: the CSV extract, and the original `cluster_job_log` |
    | `helios`, `acme` | SenseTime's trace of 2020, and Shanghai AI Laboratory's trace of 2023 |
    | `alibaba2020` (`pai`), `alibaba2023` (`openb`) | tasks in PAI's job and task tables; pods in the openb trace |
    | `alibaba2025` (`dlrm`), `alibaba2026-spot` | instances of recommendation models; jobs on spot GPUs |
    | `alibaba` | any of the four Alibaba traces, detected from the header of the file |
    | `borg2019` | collections in Google's cluster trace of 2019 |
    | `batsim` | a Batsim workload with delay profiles |

    The `notes` of the result report the number of rows that were left out. The modules in `kueuepy.simulation.logs`
    document the options of each log.

    Args:
        path: The file; gzip compression is detected.
        format: The format. `auto` (the default) detects the format from the name of the file and, for CSV, from its
            header.
        map: The names of columns in the file, by the corresponding names in `Jobs`: `{"queue": "team"}`.
        options: Options of the format.

    Returns:
        The jobs.

    Raises:
        InvalidSpecError: The file cannot be read, the format is unknown, or a row is invalid.
        NotFoundError: `map` names a column that does not exist.
        UnsupportedError: The format needs a library that is not installed.
    """
    source = Source(path)
    if format == "auto":
        suffix = Path(source.path.name.removesuffix(".gz")).suffix[1:]
        if suffix not in _BY_SUFFIX:
            raise InvalidSpecError(
                f"{source.path}: its name has no known suffix; format= must be one of {', '.join(FORMATS)}"
            )
        format = _BY_SUFFIX[suffix]  # noqa: A001
        if format == "csv" and not map:
            format = _log_of(source) or format  # noqa: A001
    format = _OTHER_NAMES.get(format, format)  # noqa: A001
    if format == "alibaba":
        format = _log_of(source, format) or _refuse_header(source)  # noqa: A001
    if format not in FORMATS:
        raise InvalidSpecError(f"format: {format!r}; it must be auto or one of {', '.join(FORMATS)}")
    if format in _TABLES:
        _expect_options(format, options, ())
        return _by_name(source, format, map)
    (module,) = re.findall("^[a-z]+", format)
    read_log = getattr(import_module(f"kueuepy.simulation.logs.{module}"), "read_" + format.replace("-", "_"))
    more: dict[str, Any] = {**options} if map is None else {**options, "map": map}
    _expect_options(format, more, signature(read_log).parameters)
    found: JobColumns = read_log(source, **more)
    return found


def _log_of(source: Source, family: str = "") -> str | None:
    """Return the log of a family whose columns a CSV file has; `None` if there is none."""
    header = source.csv().keys()
    return next((log for log, names in _BY_HEADER.items() if log.startswith(family) and names <= header), None)


def _refuse_header(source: Source) -> str:
    wanted = "; ".join(f"{log}: {', '.join(sorted(_BY_HEADER[log]))}" for log in _ALIBABA)
    names = ", ".join(source.csv())
    raise InvalidSpecError(f"{source.path}: its first line names {names}; it must have all of {wanted}")


def _expect_options(format: str, options: Collection[str], known: Collection[str]) -> None:  # noqa: A002 - as in read
    if unknown := sorted(set(options) - set(known)):
        raise InvalidSpecError(f"format {format}: takes no option {unknown[0]!r}")


def _by_name(source: Source, format: str, names: Mapping[str, str] | None) -> JobColumns:  # noqa: A002 - as in read
    columns = parquet_columns(source.path) if format == "parquet" else getattr(source, format)()
    table = Table(source, {ALIASES.get(name, name): values for name, values in renamed(columns, names).items()})
    needed = [name for name in ("queue", "submit", "runtime") if name in table.columns]
    table = table.keep(table.given(*needed), "without queue, submit or runtime")
    # Only CSV has no types of its own.
    own = [name for name in table.columns if format == "csv" and not is_known(name)]
    return table.jobs({**table.columns, **{name: table.column(name).typed() for name in own}})


def row_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Convert rows to columns; a value is `None` if the row does not contain it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
