"""Arrow tables and Parquet files, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.errors.libraries import imported
from kueuepy.files import write_files
from kueuepy.simulation.arrays import array_of
from kueuepy.simulation.columns import SPANS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from kueuepy.files import Write
    from kueuepy.simulation.base import JobColumns
    from kueuepy.tables import Columns


def parquet_columns(path: Path) -> dict[str, Any]:
    """Return the columns of a Parquet file.

    Raises:
        InvalidSpecError: The file cannot be read, or is not a Parquet file that contains a table.
        UnsupportedError: pyarrow is not installed.
    """
    return _read_parquet(path, "logs", array_of)


def _read_parquet(path: Path, extra: str, convert: Callable[[str, Any], Any]) -> dict[str, Any]:
    """Read a file with the optional dependency group `extra`, and convert each column from its name and values."""
    parquet, failures = _pyarrow("pyarrow.parquet", extra), _pyarrow("pyarrow", extra).ArrowException
    try:
        if path.is_dir():
            return _from_pyarrow(parquet.read_table(path), convert)
        with path.open("rb") as file:  # pyarrow opens no path that is not UTF-8
            return _from_pyarrow(parquet.read_table(file), convert)
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, OverflowError, NotImplementedError, failures) as error:
        raise InvalidSpecError(f"{path}: is not a Parquet file of a table: {error}") from None


def arrow_columns(table: Any) -> dict[str, Any]:
    """Return the columns of an object with an Arrow stream.

    Raises:
        InvalidSpecError: The object is not an Arrow table.
        UnsupportedError: pyarrow is not installed.
    """
    pyarrow = _pyarrow("pyarrow")
    try:
        found = pyarrow.table(table)
    except (TypeError, ValueError) as error:
        raise InvalidSpecError(f"jobs: {table!r} is not an Arrow table: {error}") from None
    return _from_pyarrow(found, array_of)


def frame_columns(frame: Any) -> dict[str, Any]:
    """Return the columns of a DataFrame of pandas or polars, or of an Arrow table; a polars LazyFrame is collected.

    Raises:
        InvalidSpecError: The object is not a DataFrame or table, or two columns have the same name.
        UnsupportedError: The object is an Arrow table, and pyarrow is not installed.
    """
    frame = frame.collect() if type(frame).__name__ == "LazyFrame" else frame
    if hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "to_dict"):
        return arrow_columns(frame)
    names = getattr(frame, "columns", None)
    if names is None or isinstance(frame, type):
        raise InvalidSpecError(f"Jobs.from_frame: frame: is {frame!r}; it must be a DataFrame of pandas or polars")
    return {text: frame[name] for text, name in zip(_distinct(map(str, names)), names, strict=True)}


def _from_pyarrow(table: Any, convert: Callable[[str, Any], Any]) -> dict[str, Any]:
    return {name: convert(name, table.column(name)) for name in _distinct(table.column_names)}


def _distinct(names: Iterable[str]) -> list[str]:
    found = list(names)
    if twice := [name for place, name in enumerate(found) if name in found[:place]]:
        raise InvalidSpecError(f'jobs: column "{twice[0]}" is there twice; each must have its own name')
    return found


def write_parquet(jobs: JobColumns, path: str | os.PathLike[str]) -> None:
    """Write a table of jobs so that `read` can read it: times are timestamps and durations, and CPU is in cores.

    Raises:
        StateError: The file cannot be written, or the jobs contain Workloads with several pod sets.
        UnsupportedError: pyarrow is not installed.
    """
    if jobs.templates:
        raise StateError(
            f"{path}: cannot be written: the jobs have Workloads of their own, for which there are no columns"
        )
    parquet = _pyarrow("pyarrow.parquet")
    table = jobs.to_arrow()
    for place, name in enumerate(table.column_names):
        if name in ("submit", "recorded_start", "cpu", *SPANS):
            table = table.set_column(place, name, _arrow(name, jobs[name]))
    write_files({path: lambda file: parquet.write_table(table, file)})


def _arrow(name: str, column: NDArray[Any]) -> Any:
    """Return a column of timestamps, durations or cores as an Arrow array."""
    array = _pyarrow("pyarrow").array
    if name == "cpu":
        return array(column / 1000)
    if name in ("submit", "recorded_start"):
        return array(column.view("M8[ns]"), mask=column < 0)
    return array(column.view("m8[ns]"), mask=None if name == "runtime" else column < 0)


def _pyarrow(module: str, extra: str = "arrow") -> Any:
    return imported(module, "Parquet and Arrow tables", f'"kueuepy[{extra}]"')


def write_table(table: Columns, path: str | os.PathLike[str]) -> None:
    """Write a table to a Parquet file.

    Raises:
        StateError: The file cannot be written.
        UnsupportedError: pyarrow is not installed.
    """
    write_files({path: table_writer(table)})


def table_writer(table: Columns) -> Write:
    """Return a function that writes a table to a file object in the format Parquet.

    Raises:
        UnsupportedError: pyarrow is not installed.
    """
    parquet = _pyarrow("pyarrow.parquet")
    return lambda file: parquet.write_table(table.to_arrow(), file)


def read_table(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the columns of a file that `write_table` wrote.

    Raises:
        InvalidSpecError: The file cannot be read.
        UnsupportedError: pyarrow is not installed.
    """
    return _read_parquet(Path(path), "arrow", _stored_column)


def _stored_column(name: str, values: Any) -> Any:
    """Return a column as written: as names with codes only if it was written so."""
    found = array_of(name, values)
    is_coded = str(values.type).startswith("dictionary")
    return found if is_coded or isinstance(found, np.ndarray) else np.array(found.tolist(), object)
