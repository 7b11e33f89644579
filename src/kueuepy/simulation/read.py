"""Files of jobs: tables of columns that say what they are, and logs of real clusters by the name of their format."""

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
from kueuepy.simulation.arrow import parquet_columns
from kueuepy.simulation.base import JobColumns, renamed
from kueuepy.simulation.cells import csv_columns
from kueuepy.simulation.columns import ALIASES
from kueuepy.simulation.values import Column, missing_of, raw
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
"""Other names of logs; `alibaba` is any of Alibaba's, by the header of the file."""
FORMATS = ("csv", "parquet", "jsonl", *_LOGS, "alibaba", *_OTHER_NAMES)
"""The formats that `read` knows by name."""
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
    """A file to read, and the places in it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Takes the path; nothing is read yet."""
        self.path = Path(path)
        self._csv: dict[str, Any] | None = None

    def csv(self) -> dict[str, Any]:
        """The columns of a CSV file as texts; they are read once, though its header is looked at first.

        Raises:
            InvalidSpecError: The file cannot be read, or a line has more or fewer cells than the first.
        """
        if self._csv is None:
            self._csv = csv_columns(self.text(), str(self.path))
        return dict(self._csv)

    def bytes(self) -> bytes:
        """What is in the file, unpacked if it is gzipped.

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
        """The same as text of UTF-8.

        Raises:
            InvalidSpecError: The file cannot be read, or is no text.
        """
        try:
            return self.bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidSpecError(f"{self.path}: is no text in UTF-8: {error.reason} at byte {error.start}") from None

    def json(self, kind: Any, what: str) -> Any:
        """Decode the file as JSON of a type.

        Raises:
            InvalidSpecError: The file cannot be read, or holds something else; `what` says what it must hold.
        """
        try:
            return msgspec.json.decode(self.text(), type=kind)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise InvalidSpecError(f"{self.path}: {error}; it must be {what}") from None

    def beside(self, name: str) -> Source:
        """Another file of the same folder."""
        return Source(self.path.with_name(name))

    def where(self, rows: NDArray[np.int64] | None = None, first: int = 2) -> Callable[[int], str]:
        """The place of a row; of those kept, if only some were, and `first` the line of the first."""
        name = self.path.name
        return lambda row: f"jobs row {row} ({name}:{(row if rows is None else int(rows[row])) + first})"


class Table:
    """The columns of a file as texts, before they mean anything."""

    def __init__(
        self, source: Source, columns: Mapping[str, Any], rows: NDArray[np.int64] | None = None, first: int = 2
    ) -> None:
        """Takes columns of equal length; `rows` are their places in the file, whose first is on line `first`."""
        self.source, self._first = source, first
        self.columns: dict[str, Any] = {name: raw(values) for name, values in columns.items()}
        size = len(next(iter(self.columns.values()), ()))
        self.rows = np.arange(size) if rows is None else rows
        self.notes: list[tuple[str, int]] = []
        self.where = source.where(self.rows, first)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def column(self, name: str) -> Column:
        """One column.

        Raises:
            InvalidSpecError: The file has no such column.
        """
        if name not in self.columns:
            raise InvalidSpecError(
                f'{self.source.path.name}: column "{name}" is missing; there are {", ".join(self.columns)}'
            )
        return Column(name, self.columns[name], self.where)

    def has(self, name: str) -> bool:
        """Whether there is such a column."""
        return name in self.columns

    def keep(self, mask: Any, why: str) -> Table:
        """The rows for which the mask is true; the others are noted."""
        chosen = np.asarray(mask, bool)
        if chosen.all():
            return self
        rows = np.flatnonzero(chosen)
        found = Table(
            self.source,
            {
                name: Categorical(values.codes[rows], values.names) if isinstance(values, Categorical) else values[rows]
                for name, values in self.columns.items()
            },
            self.rows[rows],
            self._first,
        )
        found.notes = [*self.notes, (why, int(len(chosen) - len(rows)))]
        return found

    def given(self, *names: str) -> Any:
        """By row, whether all of these columns have a value."""
        found = np.ones(len(self), bool)
        for name in names:
            values = self.column(name).values
            if isinstance(values, Categorical):
                found &= values.codes >= 0
            elif values.dtype.kind == "O":
                found &= ~missing_of(values.tolist())
            elif values.dtype.kind in "fmM":
                found &= values == values  # noqa: PLR0124 - NaN and NaT are not
        return found

    def jobs(self, columns: Mapping[str, Any], **other: Any) -> JobColumns:
        """The table of jobs with these columns, sorted by submission."""
        found = JobColumns(columns, where=self.where, notes=self.notes)
        found = found._with({name: found[name] for name in found.names}, **other)  # noqa: SLF001 - of one room
        submit = found["submit"]
        return found if (submit[1:] >= submit[:-1]).all() else found.sort()


class LogOptions(TypedDict, total=False):
    """Options of the logs that `read` knows; each log's module in `kueuepy.simulation.logs` explains its own.

    Attributes:
        queue: The column, or the name, that becomes the queue: `acme`, `alibaba2020` and `batsim`.
        tasks: The path of the task table: `alibaba2020`.
        share: Whether fractions of a GPU count as such: `alibaba2020` and `alibaba2023`.
        pending: How to treat pods that never ran: `alibaba2023`.
        unfinished: How to treat instances without an end: `alibaba2025`.
        instances: The path of the instance table: `borg2019`.
        machine: The cores and the bytes of memory of the largest machine: `borg2019`.
        cpu_jobs: Whether to keep jobs without GPUs: `helios`.
        gpu_numbers: The path of a table of GPU numbers: `helios`.
        per_pod: The largest number of GPUs of a pod: `philly`.
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
    """The jobs of a file, sorted by submission; of equal ones the earlier row first.

    | format | a row becomes |
    | --- | --- |
    | `csv`, `parquet`, `jsonl` | a job by the names of the columns of `Jobs`; others are kept |
    | `swf` | the Standard Workload Format of the Parallel Workloads Archive; `map={"queue": 13}` takes another field |
    | `philly`, `philly-json` | Microsoft's log of 2017, as the CSV extract and as `cluster_job_log` |
    | `helios`, `acme` | SenseTime's log of 2020 and Shanghai AI Laboratory's of 2023 |
    | `alibaba2020` (`pai`), `alibaba2023` (`openb`) | PAI's job and task tables, openb's pods |
    | `alibaba2025` (`dlrm`), `alibaba2026-spot` | instances of recommendation models, the jobs on spot GPUs |
    | `alibaba` | any of these four, by the header of the file |
    | `borg2019` | Google's collections of 2019 |
    | `batsim` | a workload of Batsim, whose profiles are delays |

    `auto` goes by the name and, of a CSV, by its header. What is left out is told by `notes`. A gzipped file is
    unpacked. Each log's module in `kueuepy.simulation.logs` tells its options.

    Args:
        path: The file.
        format: The format, or `auto`.
        map: For columns of other names: what is meant, and what it is called in the file.
        options: Of a log.

    Raises:
        InvalidSpecError: The file cannot be read, the format is unknown, or a row is not valid.
        UnsupportedError: The format needs a library that is not installed.
    """
    source = Source(path)
    columns: Mapping[str, Any] | None = None
    if format == "auto":
        suffixes = [suffix for suffix in source.path.suffixes if suffix != ".gz"]
        format = _BY_SUFFIX.get(suffixes[-1] if suffixes else "", "")  # noqa: A001
        if not format:
            raise InvalidSpecError(f"{source.path}: its name tells no format; say format=, one of {', '.join(FORMATS)}")
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
    """Return the format of one of Alibaba's logs, by its header.

    Raises:
        InvalidSpecError: The header is that of none of them.
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
    present = [name for name in _NEEDED if table.has(name)]
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
    """The columns of rows; what a row does not say is missing there."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
