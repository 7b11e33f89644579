"""Readers of job files: tables with named columns, and traces of real clusters."""

from __future__ import annotations

import gzip
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
from kueuepy.simulation.cells import csv_columns
from kueuepy.simulation.columns import ALIASES
from kueuepy.simulation.values import Column
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import NDArray
    from typing_extensions import Unpack

_LOGS = {
    "swf": "swf",
    "philly": "philly",
    "philly-json": "philly",
    "helios": "helios",
    "acme": "acme",
    "alibaba2020": "alibaba",
    "alibaba2023": "alibaba",
    "alibaba2025": "alibaba",
    "alibaba2026-spot": "alibaba",
    "borg2019": "borg",
    "batsim": "batsim",
}
_OTHER_NAMES = {"openb": "alibaba2023", "pai": "alibaba2020", "dlrm": "alibaba2025"}
"""Aliases of formats; `alibaba` stands for any Alibaba log and is resolved by the header of the file."""
FORMATS = ("csv", "parquet", "jsonl", *_LOGS, "alibaba", *_OTHER_NAMES)
"""The names of the formats that `read` accepts."""
_BY_SUFFIX = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".swf": "swf",
}
_BY_HEADER = {
    "philly": {"timestamp", "duration", "num_gpus", "cluster"},
    "helios": {"job_id", "vc", "gpu_num", "cpu_num", "node_num", "submit_time"},
    "acme": {"job_id", "node_num", "gpu_num", "type", "submit_time", "start_time"},
    "alibaba2020": {"job_name", "inst_id", "user", "status", "start_time", "end_time"},
    "alibaba2025": {"instance_sn", "app_name", "gpu_request", "creation_time", "deletion_time"},
    "alibaba2023": {"cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time"},
    "alibaba2026-spot": {"organization", "gpu_model", "gpu_request", "worker_num", "job_type"},
}
_NEEDED = ("queue", "submit", "runtime")


class Source:
    """An input file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Store the path; the file is not read yet."""
        self.path = Path(path)
        self._csv: dict[str, Any] | None = None

    def csv(self) -> dict[str, Any]:
        """Return the columns of a CSV file as text; the file is read only once.

        Raises:
            InvalidSpecError: The file cannot be read, or a line has more or fewer cells than the first line.
        """
        if self._csv is None:
            self._csv = csv_columns(self.text(), str(self.path))
        return dict(self._csv)

    def bytes(self) -> bytes:
        """Return the content of the file, decompressed if it is gzipped.

        Raises:
            InvalidSpecError: The file cannot be read.
        """
        try:
            data = self.path.read_bytes()
            return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        except (OSError, EOFError, gzip.zlib.error) as error:  # type: ignore[attr-defined]
            raise InvalidSpecError(
                f"{self.path}: cannot be read: {getattr(error, 'strerror', None) or error}"
            ) from None

    def text(self) -> str:
        """Return the content of the file as UTF-8 text, decompressed if it is gzipped.

        Raises:
            InvalidSpecError: The file cannot be read, or is not UTF-8 text.
        """
        try:
            return self.bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidSpecError(f"{self.path}: is not UTF-8 text: {error.reason} at byte {error.start}") from None

    def json(self, kind: Any, what: str) -> Any:
        """Decode the file as JSON of a given type.

        Args:
            kind: The type.
            what: A description of the expected content, for error messages.

        Raises:
            InvalidSpecError: The file cannot be read, or its content has a different type.
        """
        try:
            return msgspec.json.decode(self.text(), type=kind)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise InvalidSpecError(f"{self.path}: {error}; it must be {what}") from None

    def beside(self, name: str) -> Source:
        """Return the source for a file with the given name in the same directory."""
        return Source(self.path.with_name(name))

    def where(self, rows: NDArray[np.int64] | None = None, first: int = 2) -> Callable[[int], str]:
        """Return a function that describes the position of a row in the file, for error messages.

        Args:
            rows: The original row numbers, if only some rows were kept.
            first: The line number of the first row.
        """
        name = self.path.name
        return lambda row: f"jobs row {row} ({name}:{(row if rows is None else int(rows[row])) + first})"


class Table:
    """The columns of a file as text."""

    def __init__(
        self, source: Source, columns: Mapping[str, Any], rows: NDArray[np.int64] | None = None, first: int = 2
    ) -> None:
        """Create a table from columns of equal length.

        Args:
            source: The file.
            columns: The columns by name.
            rows: The original row numbers; all rows by default.
            first: The line number of the first row.
        """
        self.source, self._first = source, first
        self.columns: dict[str, Any] = {name: array_of(name, values) for name, values in columns.items()}
        size = len(next(iter(self.columns.values()), ()))
        self.rows = np.arange(size) if rows is None else rows
        self.notes: list[tuple[str, int]] = []
        self.where = source.where(self.rows, first)

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
        """Return the rows for which the mask is true, with a note about the rows left out.

        Args:
            mask: A boolean mask with one value per row.
            why: The reason for leaving out the other rows, for the note.
        """
        chosen = np.asarray(mask, bool)
        if chosen.all():
            return self
        rows = np.flatnonzero(chosen)
        found = Table(
            self.source,
            {
                name: (values[rows] if isinstance(values, Categorical) else values.take(rows))
                for name, values in self.columns.items()
            },
            self.rows[rows],
            self._first,
        )
        found.notes = [*self.notes, (why, int(len(chosen) - len(rows)))]
        return found

    def given(self, *names: str) -> Any:
        """Return a mask of the rows that have a value in all of the given columns."""
        found = np.ones(len(self), bool)
        for name in names:
            found &= ~self.column(name).missing()
        return found

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
    columns: Mapping[str, Any] | None = None
    if format == "auto":
        suffixes = [suffix for suffix in source.path.suffixes if suffix != ".gz"]
        format = _BY_SUFFIX.get(suffixes[-1] if suffixes else "", "")  # noqa: A001
        if not format:
            raise InvalidSpecError(
                f"{source.path}: its name has no known suffix; format= must be one of {', '.join(FORMATS)}"
            )
        if format == "csv":
            columns = source.csv()
            if not map:
                format = next((log for log, names in _BY_HEADER.items() if names <= columns.keys()), "csv")  # noqa: A001
    format = _OTHER_NAMES.get(format, format)  # noqa: A001
    if format == "alibaba":
        format = _of_alibaba(source)  # noqa: A001
    if format not in FORMATS:
        raise InvalidSpecError(f"format: {format!r}; it must be auto or one of {', '.join(FORMATS)}")
    if format in _LOGS:
        module = import_module(f"kueuepy.simulation.logs.{_LOGS[format]}")
        more: dict[str, Any] = {**options} if map is None else {**options, "map": map}
        read_log = getattr(module, "read_" + format.replace("-", "_"))
        _expect_options(format, more, signature(read_log).parameters)
        found: JobColumns = read_log(source, **more)
        return found
    _expect_options(format, options, ())
    if columns is None:
        columns = {"csv": Source.csv, "parquet": lambda own: parquet_columns(own.path), "jsonl": _jsonl_columns}[
            format
        ](source)
    return _by_name(source, columns, map)


def _of_alibaba(source: Source) -> str:
    """Determine from the header of a file which Alibaba trace it contains.

    Raises:
        InvalidSpecError: The header does not match a known Alibaba trace.
    """
    header = source.csv().keys()
    known = {log: names for log, names in _BY_HEADER.items() if log.startswith("alibaba")}
    found = next((log for log, names in known.items() if names <= header), None)
    if found is None:
        wanted = "; ".join(f"{log}: {', '.join(sorted(names))}" for log, names in known.items())
        raise InvalidSpecError(f"{source.path}: its first line names {', '.join(header)}; it must have all of {wanted}")
    return found


def _expect_options(format: str, options: Collection[str], known: Collection[str]) -> None:  # noqa: A002 - as in read
    if unknown := sorted(set(options) - set(known)):
        raise InvalidSpecError(f"format {format}: takes no option {unknown[0]!r}")


def _by_name(source: Source, columns: Mapping[str, Any], names: Mapping[str, str] | None) -> JobColumns:
    table = Table(source, {ALIASES.get(name, name): values for name, values in renamed(columns, names).items()})
    present = [name for name in _NEEDED if name in table.columns]
    return (kept := table.keep(table.given(*present), "without queue, submit or runtime")).jobs(kept.columns)


def _jsonl_columns(source: Source) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(source.text().split("\n"), 1):
        if line.strip():
            try:
                rows.append(msgspec.json.decode(line, type=dict[str, Any]))
            except (msgspec.MsgspecError, RecursionError, ValueError) as error:
                raise InvalidSpecError(f"{source.path}:{number}: {error}; a line must be a JSON object") from None
    return row_columns(rows)


def row_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Convert rows to columns; a value is `None` if the row does not contain it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
