"""The file `result.json`, which contains the data of a result that is not in tables, and a checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import numpy as np

from kueuepy.engine.totals import Totals
from kueuepy.errors import InvalidSpecError, imported
from kueuepy.files import write_files
from kueuepy.simulation.columns import SPANS
from kueuepy.simulation.recorded import (
    PreemptionLoop,  # noqa: TC001 - msgspec looks it up
    Waiter,  # noqa: TC001 - msgspec looks it up
)
from kueuepy.tables.columns import Categorical, from_arrow

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from kueuepy.files import Write
    from kueuepy.tables import Columns


_FORMAT = "kueuepy-result"
_VERSION = 3
# Versions of the format that are read; version 2 has neither fleets nor `not_modelled`.
_READ = (2, _VERSION)


class _Totals(Totals, total=False):
    """The integrals of a simulation, and what the result of a fleet has besides."""

    assigned: list[list[tuple[str, str, str, int]]]
    dispatch_wait: int
    copied: list[list[dict[str, float]]]


class FleetFacts(TypedDict):
    """The additional data of a simulation of a fleet."""

    clusters: list[str]
    remarks: list[str]


class _FactsOfAll(TypedDict):
    seconds: float
    warmup: float
    notes: list[tuple[str, int]]
    settings: dict[str, Any]
    stats: dict[str, int]
    weights: dict[str, float]
    trees: dict[str, str]
    totals: _Totals
    loops: list[PreemptionLoop]
    waiting: list[Waiter]
    fingerprint: str


class Facts(_FactsOfAll, total=False):
    """The content of `result.json`, except the format and the checksum."""

    not_modelled: list[str]
    policy: str
    fleet: FleetFacts


FACTS = (*_FactsOfAll.__annotations__, "not_modelled")
"""The attributes of each result that `result.json` contains."""


def plain(value: Any) -> Any:
    """Convert a setting to a value that JSON can represent."""
    if isinstance(value, msgspec.Struct):
        return {"kind": type(value).__name__, **{name: plain(getattr(value, name)) for name in value.__struct_fields__}}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):  # a NumPy array or number, or a column of a DataFrame
        return plain(value.tolist())
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def text_of_facts(facts: dict[str, Any]) -> str:
    """Return the text of `result.json`: JSON with a checksum of all other fields."""
    # The checksum is of what a reader gets: keys as texts, and tuples as lists.
    plain = json.loads(json.dumps(facts, default=msgspec.to_builtins))
    return json.dumps({"format": _FORMAT, "version": _VERSION, **plain, "checksum": _checksum(plain)}, indent=1)


def read_facts(folder: Path, text: str) -> Facts:
    """Read the text of `result.json`.

    Raises:
        InvalidSpecError: The text is not a saved result, was changed after it was written, or lacks a field.
    """
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSpecError(f"{folder}: result.json: {error}") from None
    if not isinstance(facts, dict) or facts.pop("format", None) != _FORMAT:
        raise InvalidSpecError(f"{folder}: result.json is not of a result; save one with Result.save")
    if (version := facts.pop("version", None)) not in _READ:
        raise InvalidSpecError(
            f"{folder}: result.json: version: is {version!r:.99}; it must be one of {_READ}: run and save again"
        )
    if facts.pop("checksum", None) != _checksum(facts):
        raise InvalidSpecError(f"{folder}: is damaged: result.json was changed after it was written")
    try:
        return msgspec.convert(facts, Facts)
    except msgspec.ValidationError as error:
        raise InvalidSpecError(f"{folder}: is damaged: result.json: {error}") from None


def _checksum(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


_TIMES = ("submit", "recorded_start")


def read_parquet(path: str | os.PathLike[str]) -> Any:
    """Return the pyarrow table of a Parquet file, or of a directory of Parquet files.

    Args:
        path: The file or the directory.

    Raises:
        InvalidSpecError: The file cannot be read, or is not a Parquet file that contains a table.
        UnsupportedError: pyarrow is not installed.
    """
    path = Path(path)
    parquet, failures = _pyarrow("pyarrow.parquet"), _pyarrow("pyarrow").ArrowException
    try:
        if path.is_dir():
            return parquet.read_table(path)
        with path.open("rb") as file:  # pyarrow opens no path that is not UTF-8
            return parquet.read_table(file)
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, OverflowError, NotImplementedError, failures) as error:
        raise InvalidSpecError(f"{path}: is not a Parquet file of a table: {error}") from None


def write_jobs(jobs: Columns, path: str | os.PathLike[str]) -> None:
    """Write the internal columns of a table of jobs, so that `read` can read them.

    Times become timestamps and durations, and CPU is in cores.

    Raises:
        StateError: The file cannot be written.
        UnsupportedError: pyarrow is not installed.
    """
    parquet = _pyarrow("pyarrow.parquet")
    table = jobs.to_arrow()
    for index, name in enumerate(table.column_names):
        if name in (*_TIMES, "cpu", *SPANS):
            table = table.set_column(index, name, _arrow(name, jobs[name]))
    write_files({path: lambda file: parquet.write_table(table, file)})


def _arrow(name: str, column: NDArray[Any]) -> Any:
    """Return a column of timestamps, durations or cores as an Arrow array."""
    array = _pyarrow("pyarrow").array
    if name == "cpu":
        return array(column / 1000)
    if name in _TIMES:
        return array(column.view("M8[ns]"), mask=column < 0)
    return array(column.view("m8[ns]"), mask=None if name == "runtime" else column < 0)


def _pyarrow(module: str) -> Any:
    return imported(module, "Parquet and Arrow tables")


def table_writer(table: Columns) -> Write:
    """Return a function that writes a table to a file object in the format Parquet.

    Raises:
        UnsupportedError: pyarrow is not installed.
    """
    parquet = _pyarrow("pyarrow.parquet")
    return lambda file: parquet.write_table(table.to_arrow(), file)


def read_table(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the columns of a file that `table_writer` wrote; a column of names has the same codes.

    Raises:
        InvalidSpecError: The file cannot be read.
        UnsupportedError: pyarrow is not installed.
    """
    table = read_parquet(path).combine_chunks()
    return {name: _stored_column(table.column(name)) for name in table.column_names}


def _stored_column(column: Any) -> Any:
    if not str(column.type).startswith("dictionary"):
        found = column.to_numpy()
        return found.astype(object) if found.dtype.kind in "OUT" else found
    return from_arrow(column)


def fingerprint_of(tables: Mapping[str, Columns]) -> str:
    """Return the SHA-256 of the names, the columns and the values of tables."""
    digest = hashlib.sha256()
    for name, table in tables.items():
        for column in table.names:
            digest.update(f"{name}.{column}".encode())
            digest.update(b"".join(_bytes_of(table[column])))
    return digest.hexdigest()


def _bytes_of(values: Any) -> tuple[bytes, ...]:
    """Return the bytes of a column for the fingerprint; they do not depend on unused names or on the order of names."""
    if not isinstance(values, Categorical):
        texts = values.dtype == object
        return ("\0".join(map(str, values.tolist())).encode() if texts else values.tobytes(),)
    # Equal tables can number their names differently, for example after they were saved.
    used = np.unique(values.codes)
    names = sorted({str(values.names[code]) for code in used if code >= 0})
    indices = {name: index for index, name in enumerate(names)}
    table = np.array([*(indices.get(str(name), -1) for name in values.names), -1], np.int32)
    return ("\0".join(names).encode(), table[values.codes].tobytes())
